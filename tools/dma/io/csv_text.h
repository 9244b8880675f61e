// Reads and writes the text of one cell.
#pragma once

#include <string>
#include <string_view>

namespace dma {

std::string_view trimmed(std::string_view text);  // without spaces and tabs around it
bool is_quoted(std::string_view cell);
// The text of a cell without its quotes; a doubled quote inside stands for one.
std::string unquoted(std::string_view cell);
// A finite number and nothing else.
bool parse_number(std::string_view cell, double& value);
bool is_missing(std::string_view cell);  // empty, NA or the like
// The beginning of a cell, as much as fits in an error of one line.
std::string shown(std::string_view cell);

// A name as a cell: quoted where it must be.
std::string csv_cell(std::string_view text);

}  // namespace dma
