// Files that are no tables of text are refused by name.
#include <array>
#include <utility>

#include "engine/support/error.h"
#include "engine/support/model_file.h"
#include "tools/dma/io/csv.h"
#include "tools/dma/io/csv_text.h"

namespace dma {

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
