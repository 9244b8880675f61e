#include "tools/dma/io/csv_text.h"

#include <charconv>
#include <cmath>

#include "engine/support/text.h"
#include "models/table/columns/cells.h"

namespace dma {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string unquoted(std::string_view cell) {
  if (cell.size() < 2 || cell.front() != '"' || cell.back() != '"') return std::string(cell);
  std::string text;
  for (std::size_t i = 1; i + 1 < cell.size(); ++i) {
    text += cell[i];
    if (cell[i] == '"' && i + 2 < cell.size() && cell[i + 1] == '"') ++i;
  }
  return std::string(trimmed(text));
}

bool is_quoted(std::string_view cell) { return cell.size() >= 2 && cell.front() == '"' && cell.back() == '"'; }

bool parse_number(std::string_view cell, double& value) {
  if (is_quoted(cell)) cell = trimmed(cell.substr(1, cell.size() - 2));
  if (cell.starts_with('+')) cell.remove_prefix(1);
  const auto [end, code] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  return end == cell.data() + cell.size() && code == std::errc{} && std::isfinite(value);
}

bool is_missing(std::string_view cell) { return is_missing_cell(is_quoted(cell) ? unquoted(cell) : cell); }

std::string shown(std::string_view cell) {
  const std::string text = printable(unquoted(cell.substr(0, 40)));
  return cell.size() > 40 ? text + "..." : text;
}

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",;\"\n\t ") == text.npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

}  // namespace dma
