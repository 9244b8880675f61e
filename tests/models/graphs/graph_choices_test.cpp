#include "models/graphs/graph_choices.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "engine/support/text.h"
#include "models/graphs/graph_file.h"

namespace {

using namespace dma;

// A variable and a factor with a parameter, of these sizes, and what is left open.
std::string open_graph(const std::string& choices, const std::string& size = "\"n\"",
                       const std::string& variance = "\"s * s\"") {
  return fmt::format(R"({{"variables": {{"w": {{"shared": true, "size": {}}}}}, "factors": [
    {{"kind": "gaussian_prior", "connects": ["w"], "parameters": {{"mean": [0], "variance": {}}}}}],
    "choices": {}}})",
                     size, variance, choices);
}
constexpr const char* kBoth = R"({"sizes": {"n": [3, 5], "m": [2, 7]}, "smoothing": {"s": [0.5, 2]}})";

std::string complaint_of(const std::string& text) {
  try {
    (void)parse_graph(text);
  } catch (const Error& e) {
    return e.what();
  }
  return "none";
}

double variance_of(const GraphFile& file) { return file.graph.factors()[0].parameters[1].second.numbers[0]; }

// Evaluates an expression of n = 3 and m = 2 as a parameter.
double worth(const std::string& expression) {
  return variance_of(parse_graph(open_graph(kBoth, "1", "\"" + expression + "\"")));
}

}  // namespace

TEST_CASE("graph choices: the first of each holds until others are chosen, and the text stays the same") {
  const std::string text = open_graph(kBoth, "\"n * (m - 1)\"");
  const GraphFile file = parse_graph(text);
  CHECK(file.graph[VariableId{0}].size == 3);
  CHECK(variance_of(file) == 0.25);
  CHECK(file.choices.size_names == std::vector<std::string>{"n", "m"});
  CHECK(file.choices.sizes == std::vector<std::vector<std::size_t>>{{3, 2}, {5, 7}});
  CHECK(file.choices.smoothing_name == "s");
  CHECK(file.choices.smoothings == std::vector<double>{0.5, 2});
  CHECK(graph_text(file) == text);
  CHECK(graph_text(parse_graph(graph_text(file))) == text);
  const GraphFile other = file.chosen({5, 7}, 2);
  CHECK(other.graph[VariableId{0}].size == 30);
  CHECK(variance_of(other) == 4);
  CHECK(other.choices.empty());
  CHECK(graph_text(other).find("choices") == std::string::npos);
  CHECK(parse_graph(graph_text(other)).graph[VariableId{0}].size == 30);
  CHECK(file.chosen({4, 3}, 0.1).graph[VariableId{0}].size == 8);  // none of those that are to be tried
  CHECK(file.graph[VariableId{0}].size == 3);
}

TEST_CASE("graph choices: a file without them has none, and numbers need no expressions") {
  const GraphFile none = parse_graph(
      R"({"variables": {"w": {"size": 2}}, "factors": [
      {"kind": "gaussian_prior", "connects": ["w"], "parameters": {"mean": 0, "variance": "inf"}}]})");
  CHECK(none.choices.empty());
  const GraphFile empty = parse_graph(open_graph("{}", "2", "1.5"));
  CHECK(empty.graph[VariableId{0}].size == 2);
  CHECK(variance_of(empty) == 1.5);
  CHECK(empty.choices.sizes.empty());
  CHECK(variance_of(parse_graph(open_graph(kBoth, "2", "\"inf\""))) > 1e308);
}

TEST_CASE("graph choices: expressions are worth what arithmetic says") {
  const std::pair<const char*, double> worths[] = {
      {"n", 3},          {"n + m * 2", 7},    {"(n + m) * 2", 10},   {"n - m - 1", 0},
      {"12 / n / m", 2}, {"12 / (n / m)", 8}, {"1 / (n + 1)", 0.25}, {"n - -m", 5},
      {"-(m - n)", 1},   {"2.5e-1*m", 0.5},   {"  n  +  m  ", 5},    {"s", 0.5},
      {"0.1", 0.1}};
  for (const auto& [expression, value] : worths) CHECK(worth(expression) == value);
  // Each number of a list.
  const GraphFile list = parse_graph(open_graph(kBoth, "2", R"(["n", "1 / m"])"));
  CHECK(list.graph.factors()[0].parameters[1].second.numbers.size() == 2);
  CHECK(variance_of(list) == 3);
  CHECK(list.graph.factors()[0].parameters[1].second.numbers[1] == 0.5);
}

TEST_CASE("graph choices: what is wrong is named with its place in the file") {
  CHECK(complaint_of(open_graph("[1]")) == "/choices: an object is expected");
  CHECK(complaint_of(open_graph(R"({"size": {"n": [1]}})")) ==
        "/choices: there is no key 'size' here; did you mean 'sizes'? known: sizes, smoothing");
  CHECK(complaint_of(open_graph(R"({"sizes": [1, 2]})")) ==
        "/choices/sizes: an object with a list of numbers per name is expected");
  for (const char* list : {"5", "[]", "\"5\"", "{}"})
    CHECK(complaint_of(open_graph(fmt::format(R"({{"sizes": {{"n": {}}}}})", list))) ==
          "/choices/sizes/n: a list of numbers is expected");
  for (const char* size : {"0", "-1", "2.5", "\"3\"", "null", "1e6", "[3]"}) {
    CAPTURE(size);
    const std::string said = complaint_of(open_graph(fmt::format(R"({{"sizes": {{"n": [3, {}]}}}})", size)));
    CHECK(said.starts_with("/choices/sizes/n: "));
    CHECK(said.find("is found; a whole number from 1 to 100000 is expected") != said.npos);
  }
  CHECK(complaint_of(open_graph(R"({"sizes": {"n": [1, 2], "m": [3]}})")) ==
        "/choices/sizes/m: 1 sizes are given, but 2 of 'n', which are tried together; give as many");
  CHECK(complaint_of(open_graph(R"({"smoothing": {"s": [1], "t": [1]}})")) ==
        "/choices/smoothing/t: there is another one, 's'; one is chosen");
  CHECK(complaint_of(open_graph(R"({"smoothing": {"s": []}})")) ==
        "/choices/smoothing/s: a list of numbers is expected");
  for (const char* smoothing : {"-0.5", "\"1\"", "null"})
    CHECK(complaint_of(open_graph(fmt::format(R"({{"smoothing": {{"s": [{}]}}}})", smoothing)))
              .find("is found; a number of 0 or more is expected") != std::string::npos);
  CHECK(complaint_of(open_graph(kBoth, "\"k\"")) ==
        "/variables/w/size: 'k' is no number and no expression of the choices at 'k'; known: m, n, s");
  for (const char* wrong :
       {"", " ", "n +", "n m", "(n", "n)", "n ** m", "2n", "n,m", "n;", "1e", "n^2", "nan(3)", "+"}) {
    CAPTURE(wrong);
    const std::string said = complaint_of(open_graph(kBoth, "1", fmt::format("\"{}\"", wrong)));
    CHECK(said.starts_with("/factors/0/parameters/variance: "));
    CHECK(said.find("is no number and no expression of the choices at") != said.npos);
  }
  // An expression may be worth what a size cannot be.
  for (const char* size : {"n - 3", "n / m", "n - 5", "n / 0", "1e9 * n", "0 / 0"}) {
    CAPTURE(size);
    CHECK(complaint_of(open_graph(kBoth, fmt::format("\"{}\"", size))).starts_with("/variables/w"));
  }
  CHECK(complaint_of(open_graph(R"({"smoothing": {"s": [0.5]}, "sizes": {"s": [3]}})", "\"s\"")) ==
        "/choices/smoothing/s: there is a size of this name; give it another one");
  const GraphFile file = parse_graph(open_graph(kBoth));
  CHECK_THROWS_WITH_AS((void)file.chosen({3}, 1), "1 sizes are chosen, but the graph leaves 2 open", Error);
  CHECK_THROWS_WITH_AS((void)file.chosen({3, 4, 5}, 1), "3 sizes are chosen, but the graph leaves 2 open", Error);
}

TEST_CASE("graph choices: an expression nested a million deep is refused, as is a long chain of signs") {
  for (const char* sign : {"(", "-"}) {
    std::string deep;
    for (int i = 0; i < 1'000'000; ++i) deep += sign;
    CHECK(complaint_of(open_graph(kBoth, "1", "\"" + deep + "n\"")).find("/factors/0/parameters/variance: ") == 0);
  }
}
