// Reads rows in plain form, as most tables have them: no quotes, one cell per column, finite numbers in the columns
// that are asked for. Lines of any other form are left to CsvReader.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace dma {

struct PlainRows {
  std::vector<double> values;        // row after row, of the columns asked for
  std::size_t bytes = 0, lines = 0;  // size of the text that they were read from
};

class PlainReader {
 public:
  // A record has `width` cells with this separator (' ': any white space); `columns` are numbers.
  PlainReader(char separator, std::size_t width, std::span<const std::size_t> columns);

  // The rows of whole lines, piece after piece, on all processors. The first line that is not plain ends the last
  // piece. The cuts depend on the text alone.
  std::vector<PlainRows> read_in_pieces(std::string_view lines) const;

 private:
  PlainRows room_for(std::string_view lines) const;
  void read_into(std::string_view lines, PlainRows& rows) const;
  bool read_line(const char* at, const char* end, double* row) const;
  bool is_blank(char c) const { return c == ' ' || (c == '\t' && separator_ != '\t'); }
  bool is_separator(char c) const { return c == separator_ || (separator_ == ' ' && c == '\t'); }

  char separator_;
  std::vector<std::size_t> columns_;
  std::vector<bool> is_number_;  // cell
};

}  // namespace dma
