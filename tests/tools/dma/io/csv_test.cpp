#include "tools/dma/io/csv.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "engine/support/json.h"
#include "engine/support/text.h"
#include "tests/oracles/files.h"
#include "tests/tools/run_dma.h"

namespace {

using dma::CsvReader;
using namespace dma::testing;

Eigen::MatrixXd read_all(CsvReader& reader) {
  std::vector<std::size_t> columns(reader.names().size());
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  return reader.read(columns);
}

Eigen::MatrixXd table(std::string_view text) {
  const TemporaryFolder folder;
  folder.write("data.csv", text);
  CsvReader reader(folder.path() / "data.csv");
  return read_all(reader);
}

// The complaint of the reader about this text, from the file's name on.
std::string complaint(std::string_view text) {
  const TemporaryFolder folder;
  folder.write("data.csv", text);
  try {
    CsvReader reader(folder.path() / "data.csv");
    read_all(reader);
  } catch (const dma::Error& e) {
    const std::string line = e.what();
    CHECK(line.find('\n') == line.npos);
    return line.substr(line.find("data.csv"));
  }
  return "none";
}

}  // namespace

TEST_CASE("csv: comma, semicolon, tab and white space give the same table") {
  const Eigen::MatrixXd expected{{1, -2.5}, {3e-3, 4}};
  CHECK(table("a,b\n1,-2.5\n3e-3,4\n") == expected);
  CHECK(table("a;b\n1;-2.5\n3e-3;4") == expected);
  CHECK(table("a\tb\n1\t-2.5\n3e-3\t4\n") == expected);
  CHECK(table("  a   b\n 1  -2.5\n3e-3\t 4  \n") == expected);
}

TEST_CASE(
    "csv: line ends of Windows, blank lines, a byte order mark, plus signs and spaces around cells are no matter") {
  const Eigen::MatrixXd expected{{1, 2}, {3, 4}};
  CHECK(table("\xef\xbb\xbf"
              "a,b\r\n\r\n1,2\r\n3,4\r\n") == expected);
  CHECK(table("\na , b\n +1 , 2 \n\n3,\"4\"\n\n") == expected);
}

TEST_CASE("csv: quoted names may hold the separator and quotes") {
  const TemporaryFolder folder;
  folder.write("data.csv", "\"a,b\",\"say \"\"x\"\"\",c\n1,2,3\n");
  CsvReader reader(folder.path() / "data.csv");
  CHECK(reader.names() == std::vector<std::string>{"a,b", "say \"x\"", "c"});
  CHECK(read_all(reader) == Eigen::MatrixXd{{1, 2, 3}});
}

TEST_CASE("csv: only the columns asked for need to be numbers, and come in the order asked for") {
  const TemporaryFolder folder;
  folder.write("data.csv", "id,x,,y\nred,1,?,2\n\"bl,ue\",3,NA,4\n");
  CsvReader reader(folder.path() / "data.csv");
  const std::vector<std::size_t> columns = {reader.column("y"), reader.column("x")};
  CHECK(reader.read(columns) == Eigen::MatrixXd{{2, 1}, {4, 3}});
}

TEST_CASE("csv: rows longer than the buffer and rows across its end are read") {
  std::string text = "note,x\n" + std::string(3'000'000, 'a') + ",1\n";
  for (int i = 0; i < 300'000; ++i) text += "b,2\n";
  const TemporaryFolder folder;
  folder.write("data.csv", text);
  CsvReader reader(folder.path() / "data.csv");
  const std::vector<std::size_t> x = {1};
  const Eigen::MatrixXd values = reader.read(x);
  CHECK(values.rows() == 300'001);
  CHECK(values.sum() == 600'001);
}

TEST_CASE("csv: an error names file, line, column, what was found and what to do") {
  const dma::Json all = dma::parse_json(dma::oracle::text_of_file("tools/dma/io/refused.json"));
  for (const dma::Json& row : all["tables"]) CHECK(complaint(row[0].get<std::string>()) == row[1].get<std::string>());
}

TEST_CASE("csv: a quote inside a cell is a character, and no row is lost to it") {
  const TemporaryFolder folder;
  std::string text = "note,x,6\" pipe\n";
  for (int i = 0; i < 1000; ++i)
    text += i % 9 == 0 ? "5\" pipe,1,2\n" : i % 7 == 0 ? "\"two\nlines, 5\"\"\", 1 ,2\n" : "none,1,2\n";
  folder.write("data.csv", text);
  CsvReader reader(folder.path() / "data.csv");
  CHECK(reader.names() == std::vector<std::string>{"note", "x", "6\" pipe"});
  const std::vector<std::size_t> x = {1};
  const Eigen::MatrixXd values = reader.read(x);
  CHECK(values.rows() == 1000);
  CHECK(values.sum() == 1000);
  CHECK(table("a \"b c\" d\n1 \"2\" 3\n") == Eigen::MatrixXd{{1, 2, 3}});
}

TEST_CASE("csv: quotes cost no more than the bytes between them") {  // quadratic, this would take minutes
  std::string text = "note,x\n\"";
  for (int i = 0; i < 1'000'000; ++i) text += "a\n";
  text += "\",1\n" + std::string(1'000'000, '"') + ",1\n";
  for (int i = 0; i < 200'000; ++i) text += "5\",1\n";
  CsvReader reader("data.csv", text);
  const std::vector<std::size_t> x = {1};
  CHECK(reader.read(x).rows() == 200'002);
}

TEST_CASE("csv: names with control characters or of another encoding are refused, and never shown raw") {
  CHECK(holds(complaint("a,\"b\x1b[2Jc\"\n1,2\n"), "the name of column 2, 'b\\x1b[2Jc', holds control characters"));
  CHECK(holds(complaint("gr\xf6\xdf"
                        "e,y\n1,2\n"),
              "'gr\\xf6\\xdfe', holds control characters or is not UTF-8"));
  CHECK(holds(complaint("a,b\n1,\x1b]0;x\x07\n"), "text ('\\x1b]0;x\\x07')"));
  CHECK(holds(complaint("a\rb\r1\r"), "control characters"));
  CHECK(holds(complaint("\xff\xfe"
                        "a"),
              "is UTF-16 text; save it as UTF-8"));
  CHECK(holds(complaint("\xfe\xff"
                        "a"),
              "is UTF-16 text; save it as UTF-8"));
  CHECK(holds(complaint(std::string_view("a\0,\0b\0\n", 7)), "a byte of value 0"));
}

TEST_CASE("csv: a column that is not there is answered with the nearest name") {
  const TemporaryFolder folder;
  folder.write("data.csv", "height,weight\n1,2\n");
  const CsvReader reader(folder.path() / "data.csv");
  CHECK_THROWS_WITH_AS(reader.column("hieght"), doctest::Contains("did you mean 'height'"), dma::Error);
  CHECK_THROWS_WITH_AS(CsvReader(folder.path() / "nothing.csv"), doctest::Contains("No such file"), dma::Error);
  CHECK_THROWS_WITH_AS(CsvReader(folder.path()), doctest::Contains("is a folder"), dma::Error);
}
