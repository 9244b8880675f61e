// Tables whose cells may be numbers or text, as columns for the rules of models/table/column_coding.h.
#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/table/column_coding.h"
#include "tools/dma/io/csv.h"

namespace dma {

// The beginning of an error about a table or a column: "'t.csv': ", "'t.csv', column 'x'"; in memory "", "x".
std::string told_of(const std::filesystem::path& path);
std::string told_of(const std::filesystem::path& path, std::string_view column);

struct MixedTable {
  std::filesystem::path path;                   // empty: the columns are in memory
  std::vector<std::string> names;               // names of the columns
  Eigen::MatrixXd numbers;                      // rows x columns; NaN for what is no plain number
  std::vector<std::vector<std::string>> cells;  // cells of a column with text; empty for columns of numbers
  std::vector<std::size_t> lines =
      {};                       // lines of the rows in the file, where a column has cells; in memory their numbers
  bool has_semicolons = false;  // or tabs, or spaces, between cells: commas are free for decimals

  std::size_t rows() const { return static_cast<std::size_t>(numbers.rows()); }
  bool has_cells(std::size_t column) const { return !cells[column].empty(); }
  TableColumn column(std::size_t column) const;
  std::string where(std::size_t row) const;                    // in the file
  bool is_missing(std::size_t column, std::size_t row) const;  // the name of a class; in memory only "" is none
  void keep_rows(const std::vector<Eigen::Index>& kept);
  MixedTable select(std::span<const std::size_t> places) const;
  // A column of numbers in any form, NaN where one is missing; an Error for other text.
  Eigen::VectorXd numbers_of(std::size_t column) const;
};

// Columns with names, of a file or in memory. A pipe is kept in memory.
class TableSource {
 public:
  explicit TableSource(std::filesystem::path path);
  explicit TableSource(MixedTable columns);  // an Error for names that no file could have

  bool is_file() const { return !columns_; }
  CsvReader open() const;  // reader of the file
  const std::filesystem::path& path() const { return path_; }
  std::string name() const;  // as it is called in errors
  const std::vector<std::string>& names() const { return names_; }
  bool has(std::string_view column) const { return std::ranges::find(names_, column) != names_.end(); }
  std::size_t column(std::string_view name) const;  // an Error that offers the nearest name if there is none
  // The columns at these places; with `first_as_text` the first one is text in any case.
  MixedTable read(std::span<const std::size_t> places, bool first_as_text = false,
                  const std::function<void(double)>& fraction_read = {}) const;
  MixedTable read_text(std::span<const std::size_t> places) const;  // the same, all of them as text

 private:
  std::filesystem::path path_;
  std::optional<std::string> text_;
  std::optional<MixedTable> columns_;
  std::vector<std::string> names_;
};

}  // namespace dma
