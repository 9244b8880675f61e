#include "models/table/column_coding.h"

#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "engine/support/fields.h"
#include "engine/support/text.h"
#include "models/table/columns/column_types.h"

namespace {

using dma::ColumnCoding;
using dma::ColumnRule;
using dma::DateOrder;
using Cells = std::vector<std::string>;

ColumnRule rule_of(const Cells& cells, bool has_semicolons = false) {
  return dma::column_rule({.name = "c", .cells = cells}, has_semicolons);
}

Eigen::MatrixXd coded(const ColumnRule& rule, const Cells& cells, std::vector<std::string>* notes = nullptr) {
  const std::vector<dma::TableColumn> table = {{.name = "c", .cells = cells}};
  return ColumnCoding{{rule}}.encode(table, notes, [](std::size_t row) { return fmt::format("row {}", row + 1); });
}

// The name of its type.
std::string type_of(const Cells& cells, bool has_semicolons = false) {
  const ColumnRule rule = rule_of(cells, has_semicolons);
  return rule.is_left_out() ? "left out" : std::string(rule.type->kind().name);
}

Cells repeated(const Cells& cells, int times) {
  Cells all;
  for (int i = 0; i < times; ++i) all.insert(all.end(), cells.begin(), cells.end());
  return all;
}

}  // namespace

TEST_CASE("cell values: numbers as people write them") {
  const auto point = [](const char* cell) { return dma::number_in(cell, '.').value_or(NAN); };
  const auto comma = [](const char* cell) { return dma::number_in(cell, ',').value_or(NAN); };
  CHECK(point("1234.5") == 1234.5);
  CHECK(point("1,234.50") == 1234.5);
  CHECK(point("1,234,567") == 1234567);
  CHECK(point("$1,234") == 1234);
  CHECK(point("-$5.25") == -5.25);
  CHECK(point("$-5.25") == -5.25);
  CHECK(point("($5.25)") == -5.25);
  CHECK(point("12.5%") == 12.5);
  CHECK(point("12.5 %") == 12.5);
  CHECK(point("99 €") == 99);
  CHECK(point("EUR 99") == 99);
  CHECK(point("+1e-3") == 1e-3);
  CHECK(point(".5") == 0.5);
  CHECK(comma("1.234,50") == 1234.5);
  CHECK(comma("0,5") == 0.5);
  CHECK(comma("1 234,5") == 1234.5);
  CHECK(comma("-3,25 €") == -3.25);
  for (const char* none : {"", "-", "red", "1,23", "1,2345", "12,34,567", "1.2.3", "1-2", "12:30", "2024-01-31", "inf",
                           "nan", "1e999", "$", "%5", "5 kg", "1 2", "--5", "(5"})
    CHECK_MESSAGE(std::isnan(point(none)), none);
  CHECK(std::isnan(comma("1.5")));
}

TEST_CASE("cell values: dates and times are days since 1970, and nothing else is") {
  const auto days = [](const char* cell, DateOrder order) { return dma::days_in(cell, order).value_or(NAN); };
  const double day = 19753;  // date -d 2024-01-31 +%s / 86400
  CHECK(days("2024-01-31", DateOrder::year_first) == day);
  CHECK(days("2024/1/31", DateOrder::year_first) == day);
  CHECK(days("31.01.2024", DateOrder::day_first) == day);
  CHECK(days("31/1/24", DateOrder::day_first) == day);
  CHECK(days("1/31/2024", DateOrder::month_first) == day);
  CHECK(days("31 Jan 2024", DateOrder::year_first) == day);
  CHECK(days("January 31, 2024", DateOrder::day_first) == day);
  CHECK(days("31-Jan-24", DateOrder::month_first) == day);
  CHECK(days("2024-01-31T06:00:00Z", DateOrder::year_first) == day + 0.25);
  CHECK(days("2024-01-31 18:00:00.000+02:00", DateOrder::year_first) == day + 0.75);
  CHECK(days("1/31/2024 6:00 PM", DateOrder::month_first) == day + 0.75);
  CHECK(days("12:00", DateOrder::year_first) == 0.5);
  CHECK(days("1969-12-31", DateOrder::year_first) == -1);
  for (const char* none : {"", "2024", "2024-13-01", "2023-02-29", "20240131", "31 Foo 2024", "25:00:00x", "1-2", "red",
                           "2024-01-31x", "5 May"})
    CHECK_MESSAGE(std::isnan(days(none, DateOrder::year_first)), none);
  CHECK(std::isnan(days("31/1/2024", DateOrder::month_first)));
}

TEST_CASE("column coding: what a column is") {
  CHECK(type_of({"1", "", "3"}) == "number");
  CHECK(type_of({"$1,200", "$900.50"}) == "number");
  CHECK(rule_of({"1,5", "2,25", "3"}, true).decimal_mark() == ',');
  CHECK(rule_of({"1.234,5", "2"}, true).decimal_mark() == ',');
  CHECK(rule_of({"1,234.5", "2"}, true).decimal_mark() == '.');
  CHECK(type_of({"True", "False", "", "TRUE"}) == "truth");
  CHECK(type_of({"yes", "no", "no"}) == "truth");
  CHECK(type_of({"2024-01-01", "2024-02-01"}) == "date");
  CHECK(coded(rule_of({"13/01/2024", "02/03/2024"}), {"02/03/2024"})(0) == 49);        // 13 January to 2 March
  CHECK(coded(rule_of({"01/13/2024", "02/03/2024"}, true), {"02/03/2024"})(0) == 21);  // 13 January to 3 February
  CHECK(rule_of(repeated({"red", "blue", "green"}, 4)).columns().size() == 3);
  CHECK(type_of({"a", "b", "c", "d"}) == "left out");
  CHECK(type_of({"", "NA", ""}) == "left out");
  CHECK(type_of(repeated({"same"}, 9)) == "left out");
  Cells slips = repeated({"1", "2", "3", "4", "5"}, 4);
  slips.push_back("broken");
  CHECK(type_of(slips) == "number");
  CHECK(rule_of(slips).strays == 1);
  CHECK(coded(rule_of(slips), {"broken", "7"}).isApprox(Eigen::MatrixXd{{3}, {7}}, 1e-15));
  CHECK(type_of(repeated({"1", "2", "A"}, 5)) == "category");
}

TEST_CASE("column coding: one column a value, one for two of them, one for all rare ones") {
  const ColumnRule three = rule_of({"red", "red", "red", "blue", "blue", "blue", "blue", "green", "green"});
  CHECK(three.columns() == std::vector<std::string>{"c=blue", "c=red", "c=green"});
  CHECK(coded(three, {"red", "green", "blue"}) == Eigen::MatrixXd{{0, 1, 0}, {0, 0, 1}, {1, 0, 0}});
  const ColumnRule two = rule_of({"m", "f", "f", "m", "f"});
  CHECK(two.columns() == std::vector<std::string>{"c=f"});
  CHECK(coded(two, {"m", "f"}) == Eigen::MatrixXd{{0}, {1}});
  const ColumnRule rest = rule_of({"a", "a", "a", "b", "b", "x", "y"});
  CHECK(rest.columns() == std::vector<std::string>{"c=a", "c=b", "c (other)"});
  CHECK(coded(rest, {"y", "new", "b"}) == Eigen::MatrixXd{{0, 0, 1}, {0, 0, 1}, {0, 1, 0}});
}

TEST_CASE("column coding: missing cells and unseen values are the means of the fit, marked where the fit had enough") {
  const ColumnRule marked = rule_of({"1", "", "5", "NA", "-", "?", "None", "3"});
  CHECK(marked.columns() == std::vector<std::string>{"c", "c (missing)"});
  CHECK(coded(marked, {"", "7"}) == Eigen::MatrixXd{{3, 1}, {7, 0}});
  std::vector<std::string> notes;
  const ColumnRule few = rule_of({"1", "", "5"});
  CHECK(coded(few, {"", "7"}, &notes) == Eigen::MatrixXd{{3}, {7}});
  REQUIRE(notes.size() == 1);
  CHECK(notes[0].find("a cell is missing") != std::string::npos);
  notes.clear();
  const ColumnRule colours = rule_of({"r", "r", "g", "g", "b", "b", "b", "b"});
  CHECK(coded(colours, {"purple", "b", ""}, &notes)
            .isApprox(Eigen::MatrixXd{{0.5, 0.25, 0.25}, {1, 0, 0}, {0.5, 0.25, 0.25}}, 1e-15));
  REQUIRE(notes.size() == 1);
  CHECK(notes[0].find("'purple'") != std::string::npos);
  CHECK_THROWS_WITH_AS(
      coded(few, {"1", "blue"}),
      "row 2, column 'c': text ('blue') where a number is expected; correct the cell, or leave it empty", dma::Error);
}

TEST_CASE("column coding: dates are days, and sine and cosine of what comes round") {
  Cells cells;
  for (int month = 1; month <= 12; ++month)
    for (const int day : {1, 9, 17, 25})
      for (const int year : {2022, 2023})
        cells.push_back(fmt::format("{}-{:02}-{:02} {:02}:00", year, month, day, day % 24));
  const ColumnRule rule = rule_of(cells);
  CHECK(rule.columns() == std::vector<std::string>{"c (days)", "c (year, sine)", "c (year, cosine)", "c (week, sine)",
                                                   "c (week, cosine)", "c (day, sine)", "c (day, cosine)"});
  const Eigen::MatrixXd at = coded(rule, {"2022-01-08 07:00", "2022-01-01 01:00"});
  CHECK(at(0, 0) == doctest::Approx(7.25));
  CHECK(at(1, 0) == 0);
  CHECK(at(0, 3) == doctest::Approx(at(1, 3)));  // a week apart
  CHECK(at(0, 5) == doctest::Approx(std::sin(2 * std::numbers::pi * 7 / 24)));
  CHECK(rule_of({"2024-01-01", "2024-01-03", "2024-01-05"}).columns() == std::vector<std::string>{"c (days)"});
}

TEST_CASE("column coding: durations are hours, in whatever way they are written") {
  const auto hours = [](const Cells& cells) { return coded(rule_of(cells), cells); };
  CHECK(hours({"1:30:00", "0:45:30", "2:00:00.5"})
            .isApprox(Eigen::MatrixXd{{1.5}, {0.75 + 30 / 3600.0}, {2 + 0.5 / 3600}}, 1e-15));
  CHECK(hours({"90 min", "2 d", "1h30", "1 h 30 min", "1.5 hours", "-45s", "1w", "1d2h3m4s"})
            .isApprox(
                Eigen::MatrixXd{{1.5}, {48}, {1.5}, {1.5}, {1.5}, {-45 / 3600.0}, {168}, {26 + 3 / 60.0 + 4 / 3600.0}},
                1e-14));
  CHECK(hours({"36:00", "8:30"}) == Eigen::MatrixXd{{36}, {8.5}});
  CHECK(rule_of({"90 min", "2 d"}).columns() == Cells{"c (hours)"});
  CHECK(coded(rule_of({"1h", "", "2h"}), {"-", "3 h"}) == Eigen::MatrixXd{{1.5}, {3}});
  CHECK(type_of({"90 min", "2 d"}) == "duration");
  for (const Cells& times : {Cells{"08:30:00", "17:05:00"}, {"8:30", "9:30"}, {"8:05:00", "12:30:00"}})
    CHECK(type_of(times) == "date");
  for (const char* none : {"5 m", "1 h 2 h", "30 min 1 h", "1 h 90", "1:60:00", "1:30:60", "1:30:", "1:3x", "h",
                           "2 d x", "5 kg", "1e3 h", "--2 h", "12.5"})
    CHECK_MESSAGE(type_of({none, none}) != "duration", none);
  CHECK_THROWS_WITH_AS(coded(rule_of({"1h", "2h"}), {"red"}), doctest::Contains("where a duration is expected"),
                       dma::Error);
}

TEST_CASE("column coding: rules come back from a file, and damaged ones are refused") {
  const std::vector<ColumnRule> rules = {rule_of({"1,5", "2,5", "", "", "", "", ""}, true),
                                         rule_of({"yes", "no"}),
                                         rule_of({"2024-01-01", "2025-06-01", "2024-03-03"}),
                                         rule_of({"a", "a", "b", "b", "x"}),
                                         rule_of({"1h", "2h", "3h"}),
                                         rule_of({"p", "q"})};
  const dma::Json json = dma::json_from_cbor(dma::cbor_of(dma::written(rules)));
  const auto read = [](const dma::Json& file) { return ColumnCoding{dma::read_as<std::vector<ColumnRule>>(file)}; };
  const ColumnCoding again = read(json);
  CHECK(dma::written(again.rules) == json);
  CHECK(again.columns() == ColumnCoding{rules}.columns());
  again.check(again.columns());
  CHECK_THROWS_AS(again.check({"no such feature"}), dma::Error);
  const auto refuses = [&](std::size_t rule, const char* field, const dma::Json& value) {
    dma::Json wrong = json;
    wrong[rule][field] = value;
    CHECK_THROWS_AS(read(wrong).check({}), dma::Error);
  };
  refuses(0, "kind", "riddle");
  refuses(0, "decimal_mark", "");
  refuses(0, "decimal_mark", ";");
  refuses(2, "first", "hour");
  refuses(2, "first_day", 1e9);
  refuses(3, "fill", {1.0});
  refuses(3, "values", dma::Json::array());
  refuses(3, "values", {"\x1b"});
}
