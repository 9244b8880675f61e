#include "tools/dma/io/csv_plain.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "engine/support/parallel.h"

namespace dma {

namespace {

// The end of the number; nullptr: no finite number.
const char* read_number(const char* at, const char* end, double& value) {
  const auto [stop, code] = std::from_chars(at, end, value);
  return code == std::errc{} && std::isfinite(value) ? stop : nullptr;
}

}  // namespace

PlainReader::PlainReader(char separator, std::size_t width, std::span<const std::size_t> columns)
    : separator_(separator), columns_(columns.begin(), columns.end()), is_number_(width) {
  for (const std::size_t column : columns_) is_number_[column] = true;
}

bool PlainReader::read_line(const char* at, const char* end, double* row) const {
  const std::size_t width = is_number_.size();
  while (at != end && is_blank(*at)) ++at;
  for (std::size_t cell = 0; cell < width; ++cell) {
    if (at == end && (separator_ == ' ' || is_number_[cell])) return false;
    if (is_number_[cell]) {
      if (*at == '+') ++at;
      at = read_number(at, end, row[cell]);
      if (at == nullptr) return false;
    } else {
      if (at != end && *at == '"') return false;
      while (at != end && !is_separator(*at)) ++at;
    }
    const char* const cell_end = at;
    while (at != end && is_blank(*at)) ++at;
    if (separator_ == ' ') {
      if (at == cell_end && at != end) return false;
    } else if (cell + 1 < width) {
      if (at == end || *at != separator_) return false;
      ++at;
      while (at != end && is_blank(*at)) ++at;
    }
  }
  return at == end;
}

PlainRows PlainReader::room_for(std::string_view lines) const {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = lines.find('\n', at)) != lines.npos; ++at) ++count;
  count = std::min(count,
                   lines.size() / is_number_.size() + 1);  // every cell is followed by something: other lines are blank
  PlainRows rows;
  rows.values.reserve(columns_.size() * count);
  return rows;
}

void PlainReader::read_into(std::string_view lines, PlainRows& rows) const {
  std::vector<double> row(is_number_.size());
  const char *at = lines.data(), *const end = at + lines.size();
  while (at != end) {
    const char* const newline = static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
    if (newline == nullptr) break;
    const char* const line_end = newline != at && newline[-1] == '\r' ? newline - 1 : newline;
    const bool has_cells = std::find_if(at, line_end, [](char c) { return c != ' ' && c != '\t'; }) != line_end;
    if (has_cells) {
      if (!read_line(at, line_end, row.data())) break;
      for (const std::size_t column : columns_) rows.values.push_back(row[column]);
    }
    at = newline + 1;
    ++rows.lines;
  }
  rows.bytes = static_cast<std::size_t>(at - lines.data());
}

std::vector<PlainRows> PlainReader::read_in_pieces(std::string_view lines) const {
  constexpr std::size_t kPiece = 1 << 20;
  std::vector<std::string_view> pieces;
  for (std::size_t begin = 0; begin < lines.size(); begin += pieces.back().size()) {
    const std::size_t target = begin + std::min(kPiece, lines.size() - begin) - 1;
    pieces.push_back(lines.substr(begin, lines.find('\n', target) + 1 - begin));
  }
  // Memory that the threads allocate would be kept for them when all is read.
  std::vector<PlainRows> found;
  for (const std::string_view piece : pieces) found.push_back(room_for(piece));
  parallel_for(pieces.size(), all_processors(), [&](std::size_t i) { read_into(pieces[i], found[i]); });
  for (std::size_t i = 0; i < pieces.size(); ++i)
    if (found[i].bytes < pieces[i].size()) {
      found.resize(i + 1);
      break;
    }
  return found;
}

}  // namespace dma
