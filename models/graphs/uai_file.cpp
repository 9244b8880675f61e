#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "models/graphs/discrete_files.h"
#include "models/graphs/discrete_tokens.h"

namespace dma {

using namespace network_file;

namespace {

// Normalises rows whose sum is near 1; the kind refuses others.
std::vector<double> normalised(std::vector<double> numbers, std::size_t values) {
  for (auto row = numbers.begin(); row != numbers.end(); row += static_cast<std::ptrdiff_t>(values)) {
    const auto end = row + static_cast<std::ptrdiff_t>(values);
    const double sum = std::accumulate(row, end, 0.0);
    if (std::abs(sum - 1) <= kRowRounding) std::for_each(row, end, [sum](double& x) { x /= sum; });
  }
  return numbers;
}

// Drops variables whose parents are all dropped; what stays, if anything, leads back to a cycle.
void refuse_cycle(const std::vector<DiscreteVariable>& variables, const std::vector<Function>& functions) {
  std::vector<const Function*> function_of(variables.size(), nullptr);  // by child
  std::vector<std::vector<std::uint32_t>> children(variables.size());
  std::vector<std::size_t> parents_left(variables.size());
  for (const Function& f : functions)
    if (f.is_conditional) function_of[f.scope.back()] = &f;
  for (std::uint32_t child = 0; child < variables.size(); ++child) {
    if (function_of[child] == nullptr) continue;
    const std::span<const std::uint32_t> scope = function_of[child]->scope;
    parents_left[child] = scope.size() - 1;
    for (const std::uint32_t parent : scope.first(scope.size() - 1)) children[parent].push_back(child);
  }
  std::vector<std::uint32_t> free;
  for (std::uint32_t v = 0; v < variables.size(); ++v)
    if (parents_left[v] == 0) free.push_back(v);
  for (std::size_t i = 0; i < free.size(); ++i)
    for (const std::uint32_t child : children[free[i]])
      if (--parents_left[child] == 0) free.push_back(child);
  if (free.size() == variables.size()) return;
  const auto is_left = [&](std::uint32_t v) { return parents_left[v] > 0; };
  std::uint32_t v = 0;
  while (!is_left(v)) ++v;
  std::vector<std::uint32_t> way;  // from children to parents
  for (std::vector<std::uint8_t> is_met(variables.size()); is_met[v] == 0;
       v = *std::ranges::find_if(function_of[v]->scope, is_left)) {
    is_met[v] = 1;
    way.push_back(v);
  }
  std::string cycle = variables[v].name;
  for (bool is_closed = false; !is_closed; way.pop_back()) {
    cycle += " -> " + variables[way.back()].name;
    is_closed = way.back() == v;
  }
  fail("line {}: the network has a directed cycle: {}; remove one of these links", function_of[v]->line, cycle);
}

}  // namespace

GraphFile network_file::graph_of(const std::vector<DiscreteVariable>& variables, const std::vector<Function>& functions,
                                 std::span<const GivenText> given) {
  refuse_cycle(variables, functions);
  GraphFile file;
  std::vector<VariableId> ids;
  const auto given_names = variables_of(given);
  for (const DiscreteVariable& v : variables) try {
      const std::string family = fmt::format("categorical({})", v.values);
      ids.push_back(given_names.contains(v.name) ? file.graph.observed(v.name, 1, family)
                                                 : file.graph.variable(v.name, 1, family));
      if (!v.categories.empty()) file.graph.name_categories(ids.back(), v.categories);
    } catch (const Error& error) {
      fail("line {}: {}", v.line, error.what());
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
  // Lists grow with the file, not with the size that it announces.
  std::vector<DiscreteVariable> variables;
  for (std::uint32_t left = tokens.count(1, kMost, "the number of variables"); left > 0; --left) {
    const std::size_t line = tokens.peek().line;
    variables.push_back(
        {fmt::format("v{}", variables.size()), {}, tokens.count(1, kMost, "the number of values of a variable"), line});
  }
  std::vector<Function> functions;
  for (std::uint32_t left = tokens.count(1, kMost, "the number of functions"); left > 0; --left) {
    Function& f = functions.emplace_back();
    f.is_conditional = kind.text == "BAYES";
    f.line = tokens.peek().line;
    f.scope.resize(tokens.count(1, 64, "the number of variables of a function"));
    for (std::uint32_t& v : f.scope)
      v = tokens.count(0, static_cast<std::uint32_t>(variables.size()) - 1, "the number of a variable");
    for (const std::uint32_t v : f.scope)
      if (std::ranges::count(f.scope, v) > 1)
        fail("line {}: variable {} appears twice in the scope of one function", f.line, v);
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
