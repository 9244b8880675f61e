// Tables as people have them, from the file to the numbers that are learned.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "engine/support/text.h"
#include "tests/tools/run_dma.h"
#include "tools/dma/fit/read_rows.h"

namespace {

using dma::ColumnRule;
using dma::TrainingData;
using namespace dma::testing;

struct Ways {
  std::string target = "y";
  bool numbers_are_names = false, strict = false;
  std::string weights = {};
};

TrainingData messy_data(const std::string& text, const Ways& ways = {}) {
  const TemporaryFolder folder;
  folder.write("data.csv", text);
  return dma::read_training_data(
      {.path = folder.path() / "data.csv",
       .targets = {ways.target},
       .weights = ways.weights,
       .target_cells = ways.numbers_are_names ? dma::TargetCells::names : dma::TargetCells::as_they_look,
       .strict = ways.strict});
}

std::string messy_complaint(const std::string& text, const Ways& ways = {}) {
  try {
    (void)messy_data(text, ways);
  } catch (const dma::Error& e) {
    CHECK(std::string_view(e.what()).find('\n') == std::string_view::npos);
    return e.what();
  }
  return "none";
}

// 40 rows with a number x, a number y, and a cell of the column c that `cell` writes for row n; separated by this.
template <class Cell>
std::string messy_table(const Cell& cell, char separator = ',', const char* header = "c") {
  std::string text = fmt::format("{}{}x{}y\n", header, separator, separator);
  for (int n = 0; n < 40; ++n)
    text += fmt::format("{}{}{}{}{}\n", cell(n), separator, (n * 7) % 13, separator, (n * 5) % 17 + 0.5);
  return text;
}

std::string one_of(int n, const std::vector<std::string>& values) {
  return values[static_cast<std::size_t>(n) % values.size()];
}

bool notes_say(const TrainingData& data, std::string_view what) {
  for (const std::string& note : data.notes)
    if (holds(note, what)) return true;
  return holds(data.without_target, what);
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("messy tables: what every column becomes") {
  struct Example {
    std::string what, text;
    Names features;
  };
  const auto cycled = [](const Names& values) { return messy_table([&](int n) { return one_of(n, values); }); };
  const auto with_n = [](const char* pattern, int modulo = 1000, char separator = ',') {
    return messy_table([&](int n) { return fmt::format(fmt::runtime(pattern), n % modulo + 1); }, separator);
  };
  const auto numbered = [](const char* header) {
    return messy_table([](int n) { return std::to_string(n); }, ',', header);
  };
  const auto gaps = [](int every, const char* gap, const Names& values) {
    return messy_table([&](int n) { return n % every == 0 ? gap : one_of(n, values); });
  };
  const Names week = {"c (days)", "c (week, sine)", "c (week, cosine)", "x"}, both = {"c", "x"}, x = {"x"},
              digits = {"0", "1", "2", "3", "4", "5", "6"};
  const Example examples[] = {
      {"text of few values", cycled({"red", "green", "blue", "red"}), {"c=red", "c=blue", "c=green", "x"}},
      {"text of two values", cycled({"m", "f", "f"}), {"c=f", "x"}},
      {"text with commas in quotes", cycled({"\"a, b\"", "\"c, d\""}), {"c=a, b", "x"}},
      {"True and False", cycled({"True", "False", "False"}), both},
      {"yes and no", cycled({"yes", "No", "No"}), both},
      {"identifiers", with_n("id-{}"), x},
      {"free text", with_n("\"customer {}\nsaid nothing\""), x},
      {"text of Latin-1", cycled({"K\xf6ln", "Bonn"}), {"c=Bonn", "x"}},
      {"days", with_n("2024-01-{:02}", 28), week},
      {"American dates", with_n("{}/15/2023", 12), week},
      {"times of the day", with_n("{:02}:30", 23), {"c (days)", "c (day, sine)", "c (day, cosine)", "x"}},
      {"amounts", with_n("\"$1,{:03}.50\""), both},
      {"percent", with_n("{}.5%"), both},
      {"decimal commas", with_n("{},5", 1000, ';'), both},
      {"decimal commas with thousands", with_n("1.{:03},5", 1000, ';'), both},
      {"euros with tabs", with_n("{},50 €", 1000, '\t'), both},
      {"an index of pandas", numbered(""), x},
      {"an index that was read back", numbered("Unnamed: 0"), x},
      {"a trailing separator", messy_table([](int) { return ""; }, ',', ""), x},
      {"a few missing cells", gaps(20, "", digits), both},
      {"many missing cells", gaps(4, "NA", digits), {"c", "c (missing)", "x"}},
      {"missing text", gaps(4, "", {"a", "b", "d"}), {"c=a", "c=b", "c=d", "c (missing)", "x"}},
      {"a slip among numbers", gaps(40, "error", digits), both},
      {"an empty column", cycled({""}), x},
      {"one word in all rows", cycled({"same"}), x}};
  for (const Example& example : examples) {
    INFO(example.what);
    TrainingData data;
    CHECK_NOTHROW(data = messy_data(example.text));
    CHECK(data.features == example.features);
    CHECK(data.inputs.allFinite());
    CHECK(data.inputs.rows() == 40);
    CHECK(data.outputs.allFinite());
    CHECK_FALSE(data.coding.empty());
    if (example.what != "an index that was read back") CHECK(messy_complaint(example.text, {.strict = true}) != "none");
  }
}

TEST_CASE("messy tables: an index is one although rows are left out or in another order") {
  std::string shuffled = messy_table([](int n) { return std::to_string((n * 7) % 40); }, ',', "");
  CHECK(messy_data(shuffled).features == Names{"x"});
  shuffled += "77,3,\n";  // no target: the row is left out
  const TrainingData data = messy_data(shuffled);
  CHECK(data.features == Names{"x"});
  CHECK(data.inputs.rows() == 40);
}

TEST_CASE("messy tables: amounts and decimal commas are the numbers that they mean, as target too") {
  CHECK(messy_data(messy_table([](int n) { return fmt::format("\"$1,{:03}.50\"", n); })).inputs(3, 0) == 1003.5);
  CHECK(messy_data(messy_table([](int n) { return fmt::format("1.{:03},5", n); }, ';')).inputs(3, 0) == 1003.5);
  const TrainingData money =
      messy_data(messy_table([](int n) { return fmt::format("${}.00", n % 9); }, ',', "price"), {"price"});
  CHECK_FALSE(money.has_classes());
  CHECK(money.outputs(5, 0) == 5);
}

TEST_CASE("messy tables: a table coded by hand is the one coded by rules, bit for bit") {
  const auto colour = [](int n) { return one_of(n, {"red", "green", "blue", "red", "red"}); };
  const auto open = [](int n) { return n % 3 == 0 ? "yes" : "no"; };
  const TrainingData automatic =
      messy_data(messy_table([&](int n) { return colour(n) + "," + open(n); }, ',', "c,open"));
  const TrainingData by_hand = messy_data(messy_table(
      [&](int n) {
        const auto is = [&](const char* value) { return colour(n) == value ? 1 : 0; };
        return fmt::format("{},{},{},{}", is("red"), is("blue"), is("green"), n % 3 == 0 ? 1 : 0);
      },
      ',', "c=red,c=blue,c=green,open"));
  CHECK(automatic.features == by_hand.features);
  CHECK(automatic.inputs == by_hand.inputs);
  CHECK(automatic.outputs == by_hand.outputs);
  CHECK(by_hand.coding.empty());
}

TEST_CASE("messy tables: plain numbers are read as they always were") {
  const std::string text = messy_table([](int n) { return fmt::format("{}", std::sin(n)); });
  const TrainingData now = messy_data(text), strict = messy_data(text, {.strict = true});
  CHECK(now.coding.empty());
  CHECK(now.notes.empty());
  CHECK(now.fingerprint() == strict.fingerprint());
  const std::string classes = messy_table([](int n) { return one_of(n, {"a", "b", "c"}); }, ',', "kind");
  const TrainingData lenient = messy_data(classes, {"kind"}), before = messy_data(classes, {"kind", false, true});
  CHECK(lenient.coding.empty());
  CHECK(lenient.classes == before.classes);
  CHECK(lenient.fingerprint() == before.fingerprint());
}

TEST_CASE("messy tables: rows without a target are dropped and counted; few values are hinted at") {
  const TrainingData data =
      messy_data(messy_table([](int n) { return n % 8 == 3 ? "" : std::to_string(n); }, ',', "t"), {"t"});
  CHECK(data.inputs.rows() == 35);
  CHECK(notes_say(data, "5 of 40 rows are left out: they have no value of 't'"));
  CHECK(data.outputs(3, 0) == 4);
  const TrainingData kinds = messy_data(messy_table(
                                            [](int n) {
                                              return n % 8 == 3 ? "" : one_of(n, {"a", "b"});
                                            },
                                            ',', "t"),
                                        {"t"});
  CHECK(kinds.classes == Names{"a", "b"});
  CHECK(kinds.inputs.rows() == 35);
  const std::string zero_one = messy_table([](int n) { return std::to_string(n % 2); }, ',', "t");
  CHECK(notes_say(messy_data(zero_one, {"t"}), "'t' has 2 values only (0, 1): if they are classes, give --classes"));
  CHECK(messy_data(zero_one, {"t", true}).classes == Names{"0", "1"});
  CHECK(notes_say(messy_data(messy_table([](int n) { return fmt::format("id-{}", n); })),
                  "columns left out: 'c' (text with 40 values in 40 rows)"));
}

TEST_CASE("messy tables: a column of weights is no input, its rows of 0 are left out, and wrong ones are named") {
  const Ways weighted{.weights = "c"}, strictly{.strict = true, .weights = "c"};
  const auto table = [](const char* seventh) {
    return messy_table([&](int n) { return n == 7 ? std::string(seventh) : std::to_string(n % 4); });
  };
  for (const Ways& ways : {weighted, strictly}) {
    const TrainingData data = messy_data(table("2.5"), ways);
    CHECK(data.features == std::vector<std::string>{"x"});
    CHECK(data.targets == std::vector<std::string>{"y"});
    REQUIRE(data.weights.size() == 30);
    CHECK(data.inputs.rows() == 30);
    CHECK(data.weights.sum() == doctest::Approx(9 * 3 + 10 * 2 + 10 + 2.5));
    CHECK(data.inputs(0, 0) == 7);
    CHECK(notes_say(data, "10 of 40 rows are left out: their weight is 0"));
    CHECK(data.fingerprint() != messy_data(table("2"), ways).fingerprint());
  }
  const auto wrong = [&](const char* cell, const char* why) {
    return holds(messy_complaint(table(cell), weighted), why);
  };
  CHECK(wrong("", "line 9, column 'c': the weight of the row is missing; a number of 0 or more is expected"));
  CHECK(wrong("-2", "row 8, column 'c': the weight of the row is -2; a number of 0 or more is expected"));
  CHECK(holds(messy_complaint("x,y,c\n1,2,1\n2,,1\n3,4,1\n4,4,-2\n5,1,1\n", weighted),  // row 3 has no target
              "line 5, column 'c': the weight of the row is -2; a number of 0 or more is expected"));
  CHECK(wrong("much", "line 9, column 'c'"));
  // Names of classes, and a number for each row.
  const TrainingData classes =
      messy_data(messy_table([](int n) { return n % 2 ? "red" : "blue"; }), {.target = "c", .weights = "x"});
  CHECK(classes.classes == std::vector<std::string>{"blue", "red"});
  CHECK(classes.weights.size() == classes.inputs.rows());
  CHECK(classes.features == std::vector<std::string>{"y"});
  CHECK(holds(messy_complaint("x,k,w\n1,a,0\n2,a,0\n3,b,1\n4,b,1\n5,b,1\n", {.target = "k", .weights = "w"}),
              "column 'k': all rows have the class 'b'; two classes or more are expected"));
  const std::string numbers = messy_table([](int n) { return n % 2 ? "1" : "0"; });
  for (const bool strict : {false, true})
    CHECK(messy_data(numbers, {.target = "c", .numbers_are_names = true, .strict = strict, .weights = "x"}).classes ==
          std::vector<std::string>{"0", "1"});
}

TEST_CASE("messy tables: what stays wrong is said as before") {
  CHECK(holds(messy_complaint(messy_table([](int n) { return n == 7 ? "red" : std::to_string(n); }, ',', "t"), {"t"}),
              "line 9, column 't': text ('red') among numbers; correct it, or give --classes"));
  CHECK(holds(messy_complaint(messy_table([](int n) { return n == 7 ? "12" : "red"; }, ',', "t"), {"t"}),
              "line 9, column 't': a number ('12') among classes with names"));
  CHECK(holds(
      messy_complaint(messy_table([](int n) { return fmt::format("2024-01-{:02}", n % 28 + 1); }, ',', "t"), {"t"}),
      "dates ('2024-01-01') where a number or a class is expected"));
  CHECK(holds(messy_complaint(messy_table([](int n) { return std::to_string((n * 3) % 11); }, ',', "")),
              "column 1 has no name"));
  CHECK(holds(messy_complaint("id,y\na,1\nb,2\nc,3\n"), "there is nothing to learn from: columns left out: 'id'"));
  CHECK(holds(messy_complaint("PAR1\x15\x04\x15,y\n"), "is a Parquet file; save the table as CSV"));
  CHECK(holds(messy_complaint("PK\x03\x04 xl,y\n"), "is a zip archive"));
}

TEST_CASE("messy tables: a column of many repeated names groups the rows, and the notes say so") {
  for (const int groups : {9, 10}) {
    const TemporaryFolder folder;
    std::string table = "shop,y\n";
    for (int n = 0; n < 60; ++n) table += "s" + std::to_string(n % groups) + "," + std::to_string(n % 7) + "\n";
    folder.write("data.csv", table);
    const TrainingData data = dma::read_training_data({.path = folder.path() / "data.csv", .targets = {"y"}});
    const bool is_told =
        std::ranges::any_of(data.notes, [](const std::string& note) { return holds(note, "grouped by 'shop'"); });
    CHECK(is_told == (groups == 10));
  }
}

TEST_CASE("messy tables: new rows are coded as those of the fit were") {
  const TemporaryFolder folder;
  folder.write("data.csv", messy_table([](int n) { return one_of(n, {"red", "green", "blue"}); }));
  const TrainingData data = dma::read_training_data({.path = folder.path() / "data.csv", .targets = {"y"}});
  const dma::Standardiser units = dma::Standardiser::of(data.inputs);
  folder.write("new.csv", "x;c;other\n1,5;blue;?\n2;purple;\n;red;\n");
  const TrainingData rows = dma::read_new_rows(dma::TableSource(folder.path() / "new.csv"), "model.json",
                                               {data.features, data.coding, units, true});
  const double third = data.coding.rules[0].fill[0], x = data.coding.rules[1].fill[0];
  CHECK(data.features == Names{"c=red", "c=blue", "c=green", "x"});
  CHECK(rows.inputs.row(0) == Eigen::RowVectorXd{{0, 1, 0, 1.5}});
  CHECK(rows.inputs(1, 0) == third);
  CHECK(rows.inputs.row(2) == Eigen::RowVectorXd{{1, 0, 0, x}});
  CHECK(rows.notes.size() == 2);
  folder.write("wrong.csv", "x,c\n1,red\nmany,red\n");
  CHECK_THROWS_WITH_AS((void)dma::read_new_rows(dma::TableSource(folder.path() / "wrong.csv"), "m",
                                                {data.features, data.coding, units, true}),
                       doctest::Contains("line 3, column 'x': text ('many') where a number is expected"), dma::Error);
  // A model of plain numbers has means as well.
  const std::vector<std::string> features = {"x"};
  dma::Standardiser of_x = dma::Standardiser::identity(1);
  of_x.shift(0) = 4;
  const TrainingData plain =
      dma::read_new_rows(dma::TableSource(folder.path() / "new.csv"), "m", {features, {}, of_x, true});
  CHECK(plain.inputs == Eigen::MatrixXd{{1.5}, {2}, {4}});
}

TEST_CASE("messy tables: columns in memory become what those of a file become, and errors speak of them") {
  dma::MixedTable table{{}, {"c", "x", "y", "w"}, Eigen::MatrixXd(40, 4), std::vector<Names>(4)};
  std::string text = "c,x,y,w\n";
  for (int n = 0; n < 40; ++n) {
    const bool has_target = n != 3, has_x = n % 8 != 1;
    table.cells[0].push_back(one_of(n, {"red", "green", "blue"}));
    table.lines.push_back(static_cast<std::size_t>(n));
    table.numbers.row(n) << std::nan(""), has_x ? n * 7 % 13 : std::nan(""), has_target ? n * 5 % 17 : std::nan(""),
        n % 5;
    text += fmt::format("{},{},{},{}\n", table.cells[0].back(), has_x ? fmt::format("{}", n * 7 % 13) : "",
                        has_target ? fmt::format("{}", n * 5 % 17) : "", n % 5);
  }
  const TrainingData of_file = messy_data(text, {.weights = "w"});
  const dma::TableRequest request{.path = {}, .targets = {"y"}, .weights = "w"};
  const TrainingData data = dma::read_training_data(request, dma::TableSource(table));
  CHECK(data.inputs == of_file.inputs);
  CHECK(data.outputs == of_file.outputs);
  CHECK(data.weights == of_file.weights);
  CHECK(data.features == of_file.features);
  CHECK(data.coding.lines() == of_file.coding.lines());
  CHECK(data.notes == of_file.notes);
  CHECK(notes_say(data, "1 of 40 rows are left out: they have no value of 'y'"));
  CHECK(data.lines.size() == 31);
  CHECK(data.lines[2] == 4);  // rows 0, 3 and 5 do not count
  const dma::Standardiser units = dma::Standardiser::of(data.inputs);
  const TrainingData rows =
      dma::read_new_rows(dma::TableSource(table), "the model", {data.features, data.coding, units, true});
  CHECK(rows.inputs({1, 2, 4}, Eigen::all) == data.inputs.topRows(3));
  table.numbers(7, 3) = -1;
  CHECK_THROWS_WITH_AS((void)dma::read_training_data(request, dma::TableSource(table)),
                       doctest::Contains("row 7, column 'w': the weight of the row is -1"), dma::Error);
  table.names[1] = "c";
  CHECK_THROWS_WITH_AS((void)dma::TableSource(table), doctest::Contains("two columns are named 'c'"), dma::Error);
}
