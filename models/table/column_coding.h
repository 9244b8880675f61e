// Columns of a table as people have them, made into columns of numbers: for each a rule, which is learned from the rows
// of the fit, never looks at the target, and is kept with the model, so that new rows are read in the same way.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dma {

class ColumnType;  // columns/column_type.h
class Fields;
struct ColumnKind;
enum class CellFound : std::uint8_t;

// One column: numbers, one per row, or cells of text, one per row, where some of them are no plain numbers. A number
// that is NaN is missing.
struct TableColumn {
  std::string_view name;
  std::span<const double> numbers = {};
  std::span<const std::string> cells = {};
  std::size_t rows() const { return cells.empty() ? numbers.size() : cells.size(); }  // number of cells
};

struct ColumnRule {
  std::string name = {};
  std::shared_ptr<const ColumnType> type = {};  // none: it is left out
  std::string why = {};                         // reason that it is left out
  // Numbers for a missing cell, and for a value that the fit has not seen: the means of the columns that the rule
  // makes, so that the other columns decide.
  std::vector<double> fill = {};
  bool marks_missing = false;           // one more column: 1 where the cell is missing
  std::size_t missing = 0, strays = 0;  // cells of the fit; strays are text among numbers, taken as missing

  bool is_left_out() const { return type == nullptr; }  // nothing to learn from
  bool is(const ColumnKind& kind) const;                // true if the type is of this kind
  char decimal_mark() const;                            // a point, or a comma
  std::size_t levels() const;                           // see ColumnType
  std::vector<std::string> columns() const;             // names of the columns that it makes
  // Writes the numbers of these but the mark of missing cells, see ColumnType::read.
  CellFound read(const TableColumn& column, std::size_t row, double* made) const;
  std::string text() const;  // description of the coded column in a few words
};

// The rule for a column, from all its rows; see ColumnKind::guess.
ColumnRule column_rule(const TableColumn& column, bool has_semicolons);

// As it stands in a model file. Nothing is checked but what is needed to read it: see ColumnCoding::check.
void list_fields(Fields& f, ColumnRule& rule);

struct ColumnCoding {
  std::vector<ColumnRule> rules;  // one for every column that was there; empty: all are numbers as they are

  bool empty() const { return rules.empty(); }
  std::vector<std::string> columns() const;  // names of the columns of numbers, all different

  // The numbers. A cell that is no number in a column of numbers, or no date in one of dates, is missing; or, where the
  // fit had no such cells, an Error which begins with what `where` says of the row. Notes on missing
  // cells, and on values that the fit did not have, are appended to `notes`, a line for each column.
  Eigen::MatrixXd encode(std::span<const TableColumn> table, std::vector<std::string>* notes = nullptr,
                         const std::function<std::string(std::size_t row)>& where = {}) const;

  std::vector<std::string> lines() const;  // "'colour': text with 3 values, ..." of every column

  // Number of values of every feature, 0 for a feature of numbers; empty: all are numbers.
  std::vector<std::size_t> levels(const std::vector<std::string>& features) const;

  // The places of these features among the columns; an Error if one is not there.
  std::vector<Eigen::Index> places_of(const std::vector<std::string>& features) const;
  // An Error unless it could have been learned and makes all these features: it came from a file.
  void check(const std::vector<std::string>& features) const;
};

// The classes of rows, from their names.
struct ClassLabels {
  std::vector<std::string> names;     // sorted: by value if all are numbers, otherwise as text
  std::vector<Eigen::Index> of_rows;  // in names

  static ClassLabels of(const std::vector<std::string>& labels);  // from the label of each row
  std::vector<std::size_t> counts() const;                        // rows of each class
};

// An Error that begins with `where` unless there are two classes or more and each has two rows or more: of a class seen
// once nothing is learned that could be checked.
void check_classes(const ClassLabels& labels, std::string_view where);

}  // namespace dma
