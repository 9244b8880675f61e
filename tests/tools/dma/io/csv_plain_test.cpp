#include "tools/dma/io/csv_plain.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <random>

#include "engine/support/text.h"
#include "tests/tools/run_dma.h"
#include "tools/dma/io/csv.h"

namespace {

using dma::CsvReader;

// A table read character by character, with nothing shared with the reader: its numbers, or the line of its first
// fault.
struct PlainlyRead {
  std::vector<double> values = {};
  std::size_t fault = 0;
};

std::string without_blanks(std::string text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.pop_back();
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.erase(0, 1);
  return text;
}

std::optional<double> number_in(std::string cell) {
  if (cell.size() >= 2 && cell.front() == '"') cell = without_blanks(cell.substr(1, cell.size() - 2));
  if (!cell.empty() && cell.front() == '+') cell.erase(0, 1);
  if (cell.find_first_not_of("0123456789+-.eE") != cell.npos || cell.starts_with('+')) return {};
  char* end = nullptr;
  const double value = std::strtod(cell.c_str(), &end);
  if (cell.empty() || *end != '\0' || !std::isfinite(value)) return {};
  return value;
}

// Reads a table with a header of one line, with commas or semicolons.
PlainlyRead read_plainly(const std::string& text, char separator, std::size_t width,
                         const std::vector<std::size_t>& columns) {
  PlainlyRead read;
  std::size_t at = text.find('\n') + 1, line = 1;
  while (at < text.size()) {
    std::vector<std::string> cells(1);
    bool in_quotes = false, is_bad = false;
    const std::size_t first = line + 1;
    for (++line; at < text.size() && (in_quotes || text[at] != '\n'); ++at) {
      std::string& cell = cells.back();
      const auto first_of_cell = cell.find_first_not_of(" \t");
      const bool is_blank = first_of_cell == cell.npos, is_quoted = !is_blank && cell[first_of_cell] == '"';
      if (in_quotes) {
        line += text[at] == '\n' ? 1 : 0;
        if (text[at] == '"' && at + 1 < text.size() && text[at + 1] == '"')
          cell += "\"\"", ++at;
        else
          in_quotes = text[at] != '"', cell += text[at];
      } else if (text[at] == separator) {
        cells.emplace_back();
      } else if (text[at] == '"' && is_blank) {
        in_quotes = true, cell = "\"";
      } else {
        is_bad = is_bad || (is_quoted && text[at] != ' ' && text[at] != '\t' && text[at] != '\r');
        cell += text[at];
      }
    }
    ++at;
    if (cells.back().ends_with('\r')) cells.back().pop_back();
    for (std::string& cell : cells) cell = without_blanks(cell);
    if (cells.size() == 1 && cells[0].empty()) continue;
    if (in_quotes || is_bad || cells.size() != width) return {{}, in_quotes || is_bad ? first : line};
    for (const std::size_t column : columns) {
      const auto value = number_in(cells[column]);
      if (!value) return {{}, line};
      read.values.push_back(*value);
    }
  }
  return read;
}

class Awkward {
 public:
  explicit Awkward(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }

  std::string number(bool in_quotes) {
    const double any = std::bit_cast<double>(random_() & 0xffefffffffffffff);  // not infinite
    const double value = std::isnormal(any) && below(3) == 0 ? any : std::normal_distribution<double>(0, 100)(random_);
    switch (below(12)) {
      case 0:
        return fmt::format("{:.2f}", value);
      case 1:
        return fmt::format("{:.0f}", std::clamp(value, -1e15, 1e15));
      case 2:
        return fmt::format("{:.25e}", value);
      case 3:
        return fmt::format("+{}", std::abs(value));
      case 4:
        return in_quotes ? fmt::format("\"{}\"", value) : fmt::format("{}", value);
      case 5:
        return std::string(below(3), ' ') + fmt::format("{}", value) + std::string(below(3), '\t');
      case 6:
        return "9007199254740993";  // between two doubles
      case 7:
        return "." + fmt::format("{}", random_());
      case 8:
        return fmt::format("{}.", random_() % 100000);
      case 9:
        return "-0.000" + fmt::format("{:020}", random_());
      default:
        return fmt::format("{}", value);
    }
  }
  std::string text() {
    const char* const all[] = {"red", "",      "5\" pipe",  "\"two\nlines, and \"\"more\"\"\"",
                               "NA",  "1.2.3", "\"a,b;c\"", "\xc3\xa9 x"};
    return all[below(std::size(all))];
  }
  std::string fault() {
    const char* const all[] = {"red", "",  "1e999", "inf", "0x10",  "1 2",       "\"1\" 2", "1e",
                               "--1", "+", "-",     ".",   "1,2;3", "12345678a", "\"1"};
    return all[below(std::size(all))];
  }

 private:
  std::mt19937_64 random_;
};

struct AwkwardRows {
  std::size_t count;
  char separator;
  bool has_text = false, has_quotes = true;
  std::size_t faulty = count;  // the number of the row with a fault
};

std::string awkward_text(Awkward& awkward, const AwkwardRows& rows) {
  std::string text;
  for (std::size_t i = 0; i < rows.count; ++i) {
    const std::size_t wrong = i == rows.faulty ? awkward.below(4) : 4;
    for (std::size_t j = 0; j < 4; ++j) {
      if (j > 0) text += rows.separator;
      text += j == wrong                                          ? awkward.fault()
              : j == 2 && rows.has_text && awkward.below(20) == 0 ? awkward.text()
                                                                  : awkward.number(rows.has_quotes);
    }
    text += awkward.below(9) == 0 ? "\r\n" : "\n";
    if (awkward.below(50) == 0) text += awkward.below(2) == 0 ? "\n" : " \t\r\n";
  }
  return text;
}

// Checks a table of four columns.
void check_read(const std::string& text, char separator) {
  const std::vector<std::size_t> columns = {3, 0, 1, 3};  // and never c
  const PlainlyRead expected = read_plainly(text, separator, 4, columns);
  CsvReader reader("table.csv", text);
  try {
    const Eigen::MatrixXd values = reader.read(columns);
    REQUIRE(expected.fault == 0);
    REQUIRE(static_cast<std::size_t>(values.size()) == expected.values.size());
    bool same = true;
    for (Eigen::Index n = 0; n < values.rows(); ++n)
      for (Eigen::Index k = 0; k < 4; ++k)
        same = same && std::bit_cast<std::uint64_t>(values(n, k)) ==
                           std::bit_cast<std::uint64_t>(expected.values[static_cast<std::size_t>(4 * n + k)]);
    CHECK(same);
  } catch (const dma::Error& e) {
    CAPTURE(e.what());
    CHECK(std::string(e.what()).starts_with(fmt::format("'table.csv', line {}", expected.fault)));
  }
}

void check_table(std::uint64_t seed, std::size_t rows, bool has_text, bool has_fault) {
  Awkward awkward(seed);
  const char separator = awkward.below(2) == 0 ? ',' : ';';
  const std::size_t faulty = has_fault ? awkward.below(rows) : rows;
  std::string text =
      fmt::format("a{0}b{0}c{0}d\n", separator) + awkward_text(awkward, {rows, separator, has_text, true, faulty});
  if (awkward.below(2) == 0 && !has_fault) text.pop_back();
  CAPTURE(seed);
  check_read(text, separator);
}

}  // namespace

TEST_CASE(
    "csv_plain: tables with awkward cells are read bit by bit as by a plain reader, or refused at the same line") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) check_table(seed, 1 + seed % 40, seed % 2 == 0, seed % 3 == 0);
}

// Plain lines are read in segments, each twice as long as the one before it; several processors read those of more than
// a megabyte, and a line that is not plain begins anew with a short one.
TEST_CASE("csv_plain: so are tables that several processors read") {
  std::uint64_t seed = 1000;
  for (const char* const in_the_end : {"", "1,2,\"two\nlines\",4\n5,6,\"7\",\"8\"\n", "1,2,3,4\n1,x,3,4\n"}) {
    Awkward awkward(seed++);
    const std::string rows = awkward_text(awkward, {.count = 5000, .separator = ',', .has_quotes = false});
    std::string text = "a,b,c,d\n";
    while (text.size() < 5'000'000) text += rows;
    CAPTURE(in_the_end);
    check_read(text + in_the_end + rows, ',');
  }
}

TEST_CASE("csv_plain: reading ends at the first line that is not plain") {
  const std::vector<std::size_t> columns = {1};
  const dma::PlainReader reader(',', 2, columns);
  const dma::PlainRows all = reader.read_in_pieces("red,1\n\n5\" pipe , +2.50 \r\n")[0];
  CHECK(all.values == std::vector<double>{1, 2.5});
  CHECK(all.lines == 3);
  const std::string_view lines = "red,1\n";
  for (const char* const other :
       {"\"red\",1\n", "red\n", "red,1,2\n", "red,\n", "red,x\n", "red,\"1\"\n", "red,nan\n", "red,1 2\n"}) {
    const dma::PlainRows some = reader.read_in_pieces(std::string(lines) + other)[0];
    CHECK(some.values == std::vector<double>{1});
    CHECK(some.bytes == lines.size());
    CHECK(some.lines == 1);
  }
}

TEST_CASE("csv_plain: lines without cells ask for no room") {
  const std::vector<std::size_t> columns = {0, 1, 2, 3};
  const std::string blank(10000, '\n');
  const dma::PlainRows rows = dma::PlainReader(',', columns.size(), columns).read_in_pieces(blank)[0];
  CHECK(rows.lines == blank.size());
  CHECK(rows.values.empty());
  CHECK(rows.values.capacity() <= blank.size() + columns.size());
}

TEST_CASE("csv: the fraction of the bytes that were read is told, and never falls") {
  std::string text = "x\n";
  while (text.size() < 20'000'000) text += "1.2345678901234567\n";
  const dma::testing::TemporaryFolder folder;
  folder.write("data.csv", text);
  CsvReader reader(folder.path() / "data.csv");
  std::vector<double> fractions;
  reader.watch([&](double fraction) { fractions.push_back(fraction); });
  const std::vector<std::size_t> columns = {0};
  reader.read(columns);
  CHECK(fractions.size() >= 3);
  CHECK(std::ranges::is_sorted(fractions));
  CHECK(fractions.back() > 0.5);
  CHECK(fractions.back() <= 1);
}
