// One record of a table of text, cut into cells.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace dma {

class CsvCells {
 public:
  // The separator of cells; ' ' stands for any white space.
  explicit CsvCells(char separator = ',') : separator_(separator) {}

  enum class End {
    whole,    // all cells are found
    open,     // the record ends inside quotes: it may go on
    text_on,  // something stands behind the quote that closes a cell
  };
  // Only a quote at the beginning of a cell opens it. Inside, a doubled quote stands for one.
  End split(std::string_view record);
  // The same record with more behind it, after End::open. It goes on where it stopped.
  End go_on(std::string_view longer);

  std::size_t size() const { return cells_.size(); }
  // Without the white space around the cell, with its quotes.
  std::string_view operator[](std::size_t i) const { return record_.substr(cells_[i].begin, cells_[i].size); }

  char separator() const { return separator_; }

 private:
  struct Cell {
    std::size_t begin, size;
  };
  bool at_blank() const { return at_ < record_.size() && (record_[at_] == ' ' || record_[at_] == '\t'); }
  bool at_separator() const {
    return separator_ == ' ' ? at_blank() : at_ < record_.size() && record_[at_] == separator_;
  }
  void skip_blanks();
  void read_plain_cell();
  End read_quoted_cell();

  char separator_;
  std::string_view record_;
  std::size_t at_ = 0, begin_ = 0;  // next character, and start of its cell
  bool in_quotes_ = false;
  std::vector<Cell> cells_;
};

}  // namespace dma
