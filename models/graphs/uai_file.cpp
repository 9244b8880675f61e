#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "models/graphs/network_files.h"
#include "models/graphs/network_tokens.h"

namespace dma {

using namespace network_file;

namespace {

// Rows of sums near 1 are made to have the sum 1; the kind refuses others.
std::vector<double> normalised(std::vector<double> numbers, std::size_t values) {
  for (auto row = numbers.begin(); row != numbers.end(); row += static_cast<std::ptrdiff_t>(values)) {
    const auto end = row + static_cast<std::ptrdiff_t>(values);
    const double sum = std::accumulate(row, end, 0.0);
    if (std::abs(sum - 1) <= kRowRounding) std::for_each(row, end, [sum](double& x) { x /= sum; });
  }
  return numbers;
}

}  // namespace

GraphFile network_file::graph_of(const std::vector<NetworkVariable>& variables, const std::vector<Function>& functions,
                                 std::span<const GivenText> given) {
  GraphFile file;
  std::vector<VariableId> ids;
  for (const NetworkVariable& v : variables) {
    const std::string family = fmt::format("categorical({})", v.values);
    const auto found = std::ranges::find(given, v.name, &GivenText::variable);
    ids.push_back(found == given.end() ? file.graph.variable(v.name, 1, family)
                                       : file.graph.observed(v.name, 1, family));
    if (!v.categories.empty()) file.graph.name_categories(ids.back(), v.categories);
  }
  file.observe(given);
  for (const Function& f : functions) {
    std::vector<Connection> connections;
    for (const std::uint32_t v : f.scope) connections.emplace_back(ids[v]);
    const char* const kind = !f.is_conditional ? "potential" : f.scope.size() == 1 ? "categorical_prior" : "table";
    ParameterValue numbers = f.is_conditional ? normalised(f.numbers, variables[f.scope.back()].values) : f.numbers;
    file.graph.factor(kind, std::move(connections),
                      {{f.is_conditional ? "probability" : "weight", std::move(numbers)}});
    file.places.push_back(fmt::format("line {}", f.line));
  }
  return file;
}

GraphFile parse_uai(std::string_view text, std::span<const GivenText> given) {
  Tokens tokens(text, "");
  const Token kind = tokens.word("MARKOV or BAYES");
  if (kind.text != "MARKOV" && kind.text != "BAYES") tokens.refuse(kind, "MARKOV or BAYES");
  constexpr std::uint32_t kMost = 1u << 20;
  std::vector<NetworkVariable> variables(tokens.count(1, kMost, "the number of variables"));
  for (std::size_t v = 0; v < variables.size(); ++v) {
    variables[v].name = fmt::format("v{}", v);
    variables[v].values = tokens.count(1, kMost, "the number of values of a variable");
  }
  std::vector<Function> functions(tokens.count(1, kMost, "the number of functions"));
  for (Function& f : functions) {
    f.is_conditional = kind.text == "BAYES";
    f.line = tokens.peek().line;
    f.scope.resize(tokens.count(1, 64, "the number of variables of a function"));
    for (std::uint32_t& v : f.scope)
      v = tokens.count(0, static_cast<std::uint32_t>(variables.size()) - 1, "the number of a variable");
    for (const std::uint32_t v : f.scope)
      if (std::ranges::count(f.scope, v) > 1)
        fail("line {}: variable {} stands twice in the scope of one function", f.line, v);
  }
  for (std::size_t i = 0; i < functions.size(); ++i) {
    Function& f = functions[i];
    double expected = 1;
    for (const std::uint32_t v : f.scope) expected *= variables[v].values;
    const std::size_t line = tokens.peek().line;
    const double announced = tokens.number("the size of a table");
    if (announced != expected)
      fail("line {}: the table of function {} has {} numbers; its scope, in line {}, needs {}", line, i, announced,
           f.line, expected);
    f.line = line;
    if (expected > static_cast<double>(text.size()))
      tokens.refuse(tokens.peek(), fmt::format("a table of {} numbers", expected));
    while (f.numbers.size() < static_cast<std::size_t>(expected)) {
      const Token at = tokens.peek();
      f.numbers.push_back(tokens.number(fmt::format("number {} of the table of function {}", f.numbers.size(), i)));
      if (f.numbers.back() < 0) tokens.refuse(at, "a number of at least 0");
    }
  }
  if (!tokens.peek().is_end) tokens.refuse(tokens.peek(), "the end of the file");
  return graph_of(variables, functions, given);
}

}  // namespace dma
