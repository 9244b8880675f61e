#include "tools/dma/io/csv_cells.h"

#include <algorithm>

namespace dma {

CsvCells::End CsvCells::split(std::string_view record) {
  cells_.clear();
  at_ = 0;
  in_quotes_ = false;
  record_ = record;
  skip_blanks();
  return go_on(record);
}

CsvCells::End CsvCells::go_on(std::string_view longer) {
  record_ = longer;
  for (;;) {
    if (in_quotes_ || (at_ < record_.size() && record_[at_] == '"')) {
      if (const End end = read_quoted_cell(); end != End::whole) return end;
    } else {
      read_plain_cell();
    }
    if (separator_ == ' ') skip_blanks();
    if (at_ >= record_.size()) return End::whole;
    if (separator_ != ' ') {
      ++at_;
      skip_blanks();
    }
  }
}

void CsvCells::skip_blanks() {
  while (at_blank() && (separator_ == ' ' || !at_separator())) ++at_;
}

void CsvCells::read_plain_cell() {
  begin_ = at_;
  std::size_t end = at_;
  for (; at_ < record_.size() && !at_separator(); ++at_)
    if (!at_blank()) end = at_ + 1;
  cells_.push_back({begin_, end - begin_});
}

CsvCells::End CsvCells::read_quoted_cell() {
  if (!in_quotes_) begin_ = at_++;
  in_quotes_ = true;
  for (;;) {
    at_ = std::min(record_.size(), record_.find('"', at_));
    if (at_ == record_.size()) return End::open;
    const bool doubled = at_ + 1 < record_.size() && record_[at_ + 1] == '"';
    at_ += doubled ? 2 : 1;
    if (!doubled) break;
  }
  in_quotes_ = false;
  const std::size_t size = at_ - begin_;
  if (separator_ != ' ') skip_blanks();
  if (at_ < record_.size() && !at_separator()) return End::text_on;
  cells_.push_back({begin_, size});
  return End::whole;
}

}  // namespace dma
