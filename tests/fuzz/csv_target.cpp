#include <cmath>
#include <numeric>

#include "engine/support/error.h"
#include "engine/support/text.h"
#include "tests/fuzz/targets.h"
#include "tools/dma/io/csv.h"

namespace dma::fuzz {

namespace {

constexpr std::string_view kSeeds[] = {"x,y\n1,2\n3,4.5\n-1e-3,7\n",
                                       "a;b;c\r\n1;2;3\r\n4;5;6\r\n",
                                       "x y\n1 2\n3 4\n",
                                       "\"a, b\",\"say \"\"c\"\"\",größe\n1,\"2\",3\n\"4\" , 5,6\n",
                                       "id\tx\tnote\n1\t2\t\"two\nlines\"\n3\t4\t5\"\n",
                                       "\xef\xbb\xbfx,y\n\n1,2\n\n3,4\n"};

std::string soup(Choices& choices) {
  constexpr std::string_view kAlphabet = "abx01259.,,,;;\t\t  \"\"\"\n\n\n\r-+eE#?'\\\x1b\xc3\xa9\xff";
  std::string text;
  for (std::size_t length = choices.below(200); length > 0; --length) text += choices.any_of(kAlphabet);
  return text;
}

Eigen::MatrixXd read_all(CsvReader& reader) {
  std::vector<std::size_t> columns(reader.names().size());
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  return reader.read(columns);
}

// A written table is read back unchanged, with any separator, spaces and quotes.
void round_trip(Choices& choices) {
  const char separator = choices.any_of(std::string_view(",;\t "));
  const std::size_t rows = choices.between(1, 5), columns = choices.between(1, 5);
  std::vector<std::string> names;
  Eigen::MatrixXd values(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns));
  std::string text;
  const auto gap = [&] { return std::string(separator == ' ' || choices.one_in(2) ? 0 : choices.below(3), ' '); };
  for (std::size_t j = 0; j < columns; ++j) {
    std::string name = fmt::format("c{}", j);
    for (std::size_t k = choices.below(4); k > 0; --k)
      name += choices.any_of(std::vector<std::string>{"\"", ",", ";", "'", "ß", "`", "x"});
    names.push_back(name);
    if (j > 0) text += separator;
    text += gap() + "\"";
    for (const char c : name) text += c == '"' ? std::string("\"\"") : std::string(1, c);
    text += "\"" + gap();
  }
  for (std::size_t i = 0; i < rows; ++i) {
    text += choices.one_in(3) ? "\r\n" : "\n";
    for (std::size_t j = 0; j < columns; ++j) {
      double value = choices.number();
      if (std::fpclassify(value) == FP_SUBNORMAL) value = 0;  // some libraries refuse to read these
      values(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = value;
      const std::string quote = choices.one_in(4) ? "\"" : "";
      if (j > 0) text += separator;
      text += gap() + quote + fmt::format("{}", value) + quote + gap();
    }
  }
  if (choices.one_in(2)) text += "\n";
  // A single column has no separator to detect except in its name.
  if (columns == 1 && names[0].find_first_of(",;") != std::string::npos) return;
  CsvReader reader("table.csv", text);
  promise(reader.names() == names, "the names of a table came back changed: {}", printable(text));
  promise(read_all(reader) == values, "the numbers of a table came back changed: {}", printable(text));
}

}  // namespace

std::size_t fuzz_csv(Choices& choices) {
  if (choices.one_in(4)) {
    round_trip(choices);
    return 1;
  }
  const std::string seed(choices.any_of(kSeeds));
  const std::string text = choices.one_in(3) ? soup(choices) : mutated(seed, choices);
  try {
    CsvReader reader("table.csv", text);
    for (const std::string& name : reader.names())
      promise(is_plain_text(name), "a name with control characters: {}", printable(name));
    const Eigen::MatrixXd values = read_all(reader);
    promise(values.allFinite(), "a number that is not finite from: {}", printable(text));
    promise(values.rows() >= 1 && values.rows() < std::ranges::count(text, '\n') + 1, "{} rows from: {}", values.rows(),
            printable(text));
  } catch (const Error& e) {
    promise_one_line(e.what());
  }
  return 1;
}

}  // namespace dma::fuzz
