// Rows of a table in their plainest form, as most tables hold them: no quotes, one cell per column, finite numbers
// where numbers are asked for. They are read in one pass; a line of any other form is left to those who know all forms.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace dma {

struct PlainRows {
  std::vector<double> values;        // row after row, of the columns asked for
  std::size_t bytes = 0, lines = 0;  // of the text that they were read from
};

class PlainReader {
 public:
  // A record has `width` cells with this between them (' ': any white space); these of them are numbers.
  PlainReader(char separator, std::size_t width, std::span<const std::size_t> columns);

  // The rows of whole lines, each with its end, piece after piece, by all processors. The last piece is the one with a
  // line that is not plain, if there is one: that is where its `bytes` end. Where the text is cut depends on nothing
  // but the text.
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
