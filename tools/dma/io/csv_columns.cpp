// The parts of CsvReader for tables whose cells may be anything, and for files that are no text.
#include <array>
#include <limits>
#include <utility>

#include "engine/support/error.h"
#include "engine/support/model_file.h"
#include "engine/support/text.h"
#include "tools/dma/io/csv.h"
#include "tools/dma/io/csv_text.h"

namespace dma {

Eigen::MatrixXd CsvReader::read_numbers(std::span<const std::size_t> columns, std::vector<bool>& has_text) {
  has_text.assign(columns.size(), false);
  bool all_numbers = true;  // rows with text are never plain: trying them would cost more than it gains
  return read_rows(columns, [&](NumberRows& rows) {
    check_width();
    std::vector<double>& values = rows.add_row();
    for (std::size_t i = 0; i < columns.size(); ++i) {
      double value = 0;
      if (!parse_number(cells_[columns[i]], value)) {
        value = std::numeric_limits<double>::quiet_NaN();
        if (!is_missing(cells_[columns[i]])) all_numbers = false;
        has_text[i] = true;
      }
      values.push_back(value);
    }
    return all_numbers;
  });
}

CsvReader::TextColumns CsvReader::read_cells(std::span<const std::size_t> columns) {
  TextColumns text{std::vector<std::vector<std::string>>(columns.size())};
  while (next_record()) {
    check_width();
    text.lines.push_back(line_);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      std::string cell = unquoted(cells_[columns[i]]);
      text.cells[i].push_back(is_plain_text(cell) ? std::move(cell) : printable(cell));
    }
  }
  return text;
}

void CsvReader::refuse_other_formats(std::string_view first_line) const {
  using namespace std::string_view_literals;
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kFormats = {
      {{"PAR1", "a Parquet file"},
       {"PK\x03\x04", "a zip archive, such as a workbook of Excel"},
       {"\x1f\x8b", "compressed by gzip"},
       {"\x89HDF", "an HDF5 file"},
       {"ARROW1", "an Arrow file"}}};
  for (const auto& [magic, what] : kFormats)
    if (first_line.starts_with(magic)) fail("'{}' is {}; save the table as CSV", path_.string(), what);
  if (first_line.starts_with(kModelFileStart))
    fail("'{}' is a model of dma, and no table; give a CSV file in its place", path_.string());
  const std::string_view rest = trimmed(first_line.substr(first_line.starts_with('{') ? 1 : 0));
  if (first_line.starts_with('{') && (rest.empty() || rest.starts_with('"')))
    fail("'{}' is JSON, as graphs are, and no table; give a CSV file in its place", path_.string());
}

}  // namespace dma
