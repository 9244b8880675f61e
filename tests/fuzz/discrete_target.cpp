// Graphs of tables over a few variables: an answer reported as exact equals the enumeration.
#include <cmath>

#include "engine/exact/exact.h"
#include "engine/support/text.h"
#include "schedules/schedules.h"
#include "tests/fuzz/graphs.h"
#include "tests/fuzz/targets.h"

namespace dma::fuzz {

std::size_t fuzz_discrete(Choices& choices) {
  const std::size_t n = choices.between(1, 6);
  Graph graph;
  std::vector<VariableId> variables;
  std::vector<std::size_t> categories;
  struct Cell {
    std::vector<std::size_t> of;  // parents, then the child
    std::vector<double> numbers;
  };
  std::vector<Cell> tables;
  std::vector<double> seen(n, -1);
  for (std::size_t v = 0; v < n; ++v) {
    categories.push_back(choices.between(1, 4));
    const std::string family = fmt::format("categorical({})", categories[v]);
    const bool observed = choices.one_in(4);
    variables.push_back(observed ? graph.observed("", 1, family) : graph.variable("", 1, family));
    if (observed) seen[v] = static_cast<double>(choices.below(categories[v]));
    Cell cell;
    std::size_t rows = 1;
    std::vector<Connection> connections;
    for (std::size_t parent = 0; parent < v; ++parent) {
      if (!choices.one_in(v) || cell.of.size() == 3) continue;
      cell.of.push_back(parent);
      rows *= categories[parent];
      connections.emplace_back("parents", variables[parent]);
    }
    cell.of.push_back(v);
    cell.numbers = choices.table(rows, categories[v], choices.one_in(2));
    connections.emplace_back(cell.of.size() == 1 ? "x" : "child", variables[v]);
    const char* const kind = cell.of.size() == 1 ? "categorical_prior" : "table";
    graph.factor(kind, std::move(connections), {{"probability", cell.numbers}});
    tables.push_back(std::move(cell));
  }
  std::vector<std::vector<double>> counted(n);
  for (std::size_t v = 0; v < n; ++v) counted[v].assign(categories[v], 0);
  double total = 0;
  for (std::vector<std::size_t> at(n, 0);;) {
    double weight = 1;
    for (std::size_t v = 0; v < n; ++v) weight *= seen[v] < 0 || static_cast<std::size_t>(seen[v]) == at[v];
    for (const Cell& cell : tables) {
      std::size_t place = 0;
      for (const std::size_t v : cell.of) place = place * categories[v] + at[v];
      weight *= cell.numbers[place];
    }
    total += weight;
    for (std::size_t v = 0; v < n; ++v) counted[v][at[v]] += weight;
    std::size_t v = 0;
    while (v < n && ++at[v] == categories[v]) at[v++] = 0;
    if (v == n) break;
  }
  try {
    const std::size_t rule = choices.below(4);
    const Plan plan = rule == 0   ? compile(graph, forward_backward(), registry())
                      : rule == 1 ? compile(graph, sequential(), registry())
                      : rule == 2 ? compile(graph, exact(), registry())
                                  : compile(graph, tree_reweighted({.limit = static_cast<int>(choices.between(1, 20))}),
                                            registry());
    State state(plan);
    for (std::size_t v = 0; v < n; ++v)
      if (seen[v] >= 0) state.observe(variables[v], seen[v]);
    const Report report = run(plan, state);
    check_beliefs(graph, state, report);
    promise(rule != 2 || report.stop == Report::Stop::exact, "'{}' by exact", report.line());
    if (rule == 3)
      promise(evidence_bounds(state).lower <= std::log(total) + 1e-9 &&
                  evidence_bounds(state).upper >= std::log(total) - 1e-9,
              "bounds {} and {}, counted {} of\n{}", evidence_bounds(state).lower, evidence_bounds(state).upper,
              std::log(total), describe(graph));
    const std::optional<double> found = exact_evidence(plan, state, graph);
    if (found && *found != std::log(total))  // both are -inf if the observations contradict the tables
      promise(std::abs(*found - std::log(total)) < 1e-9 * (1 + std::abs(*found)), "evidence {}, counted {} of\n{}",
              *found, std::log(total), describe(graph));
    if (report.stop != Report::Stop::exact || !(total > 0)) return 1;
    for (std::size_t u = 0; u < n; ++u)
      for (std::size_t k = 0; k < categories[u]; ++k) {
        const double belief = state.belief(variables[u]).mean(0, k);
        const double truth = counted[u][k] / total;
        promise(std::abs(belief - truth) < 1e-9, "probability {} of category {} of v{}, counted {}, '{}', of\n{}",
                belief, k, u, truth, report.line(), describe(graph));
      }
  } catch (const Contradiction& e) {
    promise_one_line(e.what());
    promise(!(total > 0), "'{}', but the probability is {} of\n{}", e.what(), total, describe(graph));
  } catch (const Error& e) {
    promise_one_line(e.what());
  }
  return 1;
}

}  // namespace dma::fuzz
