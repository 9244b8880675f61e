// Columns of a table as people have them, made into columns of numbers: for each a rule, which is learned from the rows
// of the fit, never looks at the target, and is kept with the model, so that new rows are read in the same way.
#pragma once

#include <Eigen/Dense>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/table/cell_values.h"

namespace dma {

// One column: numbers, one a row, or cells of text, one a row, where some of them are no plain numbers. A number that
// is NaN is missing.
struct TableColumn {
  std::string_view name;
  std::span<const double> numbers = {};
  std::span<const std::string> cells = {};
  std::size_t rows() const { return cells.empty() ? numbers.size() : cells.size(); }
};

struct ColumnRule {
  static constexpr double kDaysOfYear = 365.2425;
  enum class Kind {
    number,    // as it is, whatever signs of money, percent and thousands stand around it
    truth,     // yes 1, no 0
    date,      // days since the first row, and the parts of the calendar that come round more than once
    category,  // text: a column for each value, 1 where it is the row's
    left_out,  // nothing
  };
  std::string name = {};
  Kind kind = Kind::number;
  char mark = '.';                                // before decimals
  DateOrder order = DateOrder::year_first;        // of dates
  double first_day = 0;                           // of dates
  bool season = false, week = false, day = false;  // parts of dates: sine and cosine of each
  std::vector<std::string> values = {};           // that have a column, the most frequent first
  bool has_rest = false;                          // the other values, each too rare for a column, share one
  // Of a missing cell, and of a value that the fit has not seen: the means of the columns that the rule makes, so that
  // the other columns decide.
  std::vector<double> fill = {};
  bool marks_missing = false;  // one more column: 1 where the cell is missing
  std::size_t missing = 0, strays = 0;  // cells of the fit; strays are text among numbers, taken as missing
  std::string why = {};        // it is left out

  // Names of the columns that it makes; how many of them are no mark of missing cells.
  std::vector<std::string> columns() const;
  std::size_t count_made() const;
  // Writes the numbers of those, unless the cell is missing, has a value that the fit did not have (then those of the
  // rest, if there is one), or is text among numbers or dates.
  enum class Found { value, missing, unseen, stray };
  Found read(const TableColumn& column, std::size_t row, double* made) const;
  std::string text() const;  // what was made of the column, in a few words
};

// The rule for a column, from all its rows (column_rule.cpp). A file whose cells are separated by semicolons is one in
// which commas may be decimal commas and days come first.
ColumnRule column_rule(const TableColumn& column, bool has_semicolons);

struct ColumnCoding {
  std::vector<ColumnRule> rules;  // of every column that was there; none: all are numbers as they are

  bool empty() const { return rules.empty(); }
  std::vector<std::string> columns() const;  // of numbers, each with its own name

  // The numbers. A cell that is no number in a column of numbers, or no date in one of dates, is missing; or, where the
  // fit had no such cells, an Error which begins with what `where` says of the row. What there is to tell of missing
  // cells and values that the fit did not have is appended to `notes`, a line for each column.
  Eigen::MatrixXd encode(std::span<const TableColumn> table, std::vector<std::string>* notes = nullptr,
                         const std::function<std::string(std::size_t row)>& where = {}) const;

  std::vector<std::string> lines() const;  // "'colour': text with 3 values, ..." of every column

  // The places of these features among the columns; an Error if one is not there.
  std::vector<Eigen::Index> places_of(const std::vector<std::string>& features) const;
  // An Error unless it could have been learned and makes all these features: it came from a file.
  void check(const std::vector<std::string>& features) const;
};

}  // namespace dma
