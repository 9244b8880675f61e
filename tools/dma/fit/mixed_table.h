// Tables whose cells may be anything, as columns for the rules of models/table/column_coding.h.
#pragma once

#include <Eigen/Dense>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/table/column_coding.h"
#include "models/table/standardiser.h"
#include "tools/dma/io/csv.h"

namespace dma {

// A table that can be read twice: what is no file, such as a pipe, is kept in memory.
class TableSource {
 public:
  explicit TableSource(std::filesystem::path path);
  CsvReader open() const;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::optional<std::string> text_;
};

struct MixedTable {
  std::filesystem::path path;
  std::vector<std::string> names;               // of the columns
  Eigen::MatrixXd numbers;                      // rows x columns; NaN for what is no plain number
  std::vector<std::vector<std::string>> cells;  // of a column some of whose cells are not; empty of the others
  std::vector<std::size_t> lines = {};          // of the rows in the file, where a column has cells
  bool has_semicolons = false;                  // or tabs, or spaces, between cells: commas are free for decimals

  std::size_t rows() const { return static_cast<std::size_t>(numbers.rows()); }
  bool has_cells(std::size_t column) const { return !cells[column].empty(); }
  TableColumn column(std::size_t column) const;
  std::string where(std::size_t row) const;  // in the file
  void keep_rows(const std::vector<Eigen::Index>& kept);
  // A column of numbers in any form, NaN where one is missing; an Error for other text.
  Eigen::VectorXd numbers_of(std::size_t column) const;
};

// The columns at these places; the first one as text in any case, if that is asked for.
MixedTable read_mixed_table(const TableSource& source, std::span<const std::size_t> places, bool first_as_text = false,
                            const std::function<void(double)>& fraction_read = {});

// New rows for a model in a file: the features that it was fitted on, and targets (NaN where there is none) if they are
// named.
struct NewRows {
  Eigen::MatrixXd inputs, targets;
  Eigen::VectorXd weights = {};    // if their column is named
  std::vector<std::string> notes;  // what is to be told of missing cells, and of values that the fit did not have
};
struct ModelColumns {
  const std::vector<std::string>& features;
  const ColumnCoding& coding;
  const Standardiser& inputs;  // their means
  bool standardises;
};
// Rules for columns of plain numbers: their means stand for missing cells.
ColumnCoding coding_of_numbers(const std::vector<std::string>& features, const Standardiser& inputs);
NewRows read_new_rows(const std::filesystem::path& path, const std::filesystem::path& file, const ModelColumns& model,
                      const std::vector<std::string>& targets = {}, const std::string& weights = {});

}  // namespace dma
