// Tables of text: refused in one line, or read as finite numbers (tests/tools/dma/io compares with a plain reader).
#include <numeric>

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

}  // namespace

std::size_t fuzz_csv(Choices& choices) {
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
