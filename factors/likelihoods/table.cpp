#include "factors/likelihoods/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/support/log_sum_exp.h"
#include "engine/support/sizes.h"
#include "engine/support/text.h"
#include "engine/support/wide_number.h"

namespace dma {

namespace {

// Sums of products of weights are computed in doubles, the largest weight of each message being 1. A result below
// kSmallest may have lost terms to underflow; it is recomputed in wide numbers, so that 0 is a true zero. Above it,
// 2^32 lost terms are less than 1e-20 of the sum.
constexpr double kSmallest = 1e-290;

// Working memory reused by later calls: after the first messages of a thread nothing is allocated.
template <class Number>
struct TableMemory {
  std::vector<Number> weights, sums;
  std::vector<std::size_t> at, first;
};
template <class Number>
TableMemory<Number>& table_memory() {
  thread_local TableMemory<Number> memory;
  return memory;
}

void put_weight(double log, double& out) { out = std::exp(log); }
void put_weight(double log, WideNumber& out) { out = WideNumber::from_log(log); }

// The weights of a message from its logarithms, scaled to a maximum of 1. Returns the log of their sum, -inf if
// everything is forbidden.
template <class Component, class Number>
double weigh(std::span<const Component> message, Number* out) {
  thread_local std::vector<double> logs;
  logs.resize(message.size());
  Categorical::logs(message, logs.data());
  const double largest = std::ranges::max(logs);
  for (std::size_t k = 0; k < message.size(); ++k)
    put_weight(largest == -kInfinity ? largest : logs[k] - largest, out[k]);
  return log_sum_exp(logs) - (largest == -kInfinity ? 0 : largest);
}

// Calls visit(combination of the parents, its row of the table); memory.at is the combination.
template <class Number, class Visit>
void for_each_row(Table::Parameters p, TableMemory<Number>& memory, const Visit& visit) {
  const std::size_t parents = p.parents(), child = p.child();
  memory.at.assign(parents, 0);
  memory.first.assign(parents, 0);
  for (std::size_t j = 1; j < parents; ++j) memory.first[j] = memory.first[j - 1] + p.categories(j - 1);
  for (const double* row = p.probabilities();; row += child) {
    visit(row);
    std::size_t j = parents;
    while (j > 0 && ++memory.at[j - 1] == p.categories(j - 1)) memory.at[--j] = 0;
    if (j == 0) return;
  }
}

constexpr std::size_t kNoParent = static_cast<std::size_t>(-1);

template <class Number>
Number product_of_all_but(std::size_t own, const TableMemory<Number>& memory) {
  Number product(1.0);
  for (std::size_t j = 0; j < memory.at.size(); ++j)
    if (j != own) product = product * memory.weights[memory.first[j] + memory.at[j]];
  return product;
}

// sum over k of P(k | a) m(k); the weights m of the child follow those of the parents.
template <class Number>
Number sum_over_child(const double* row, std::size_t child, const TableMemory<Number>& memory) {
  const Number* const weights = memory.weights.data() + memory.weights.size() - child;
  Number sum(0.0);
  for (std::size_t k = 0; k < child; ++k)
    if (row[k] > 0) sum += Number(row[k]) * weights[k];
  return sum;
}

template <class Component, class Number>
void weigh_all(std::span<const Component> message, Table::Parameters p, Number* out) {
  for (std::size_t j = 0, first = 0; first < message.size(); first += p.categories(j++))
    (void)weigh(message.subspan(first, p.categories(j)), out + first);
}

// The logs of sums that sum(memory, wanted) writes to memory.sums, for wanted entries.
template <class Sum>
std::span<const double> logs_of(const Sum& sum) {
  thread_local std::vector<double> logs;
  auto& plain = table_memory<double>();
  sum(plain, [](std::size_t) { return true; });
  logs.resize(plain.sums.size());
  std::ranges::transform(plain.sums, logs.begin(), [](double x) { return std::log(x); });
  const auto is_small = [&](std::size_t i) { return plain.sums[i] < kSmallest; };
  if (std::ranges::min(plain.sums) < kSmallest) {
    auto& wide = table_memory<WideNumber>();
    sum(wide, is_small);
    for (std::size_t i = 0; i < logs.size(); ++i)
      if (is_small(i)) logs[i] = wide.sums[i].log();
  }
  return logs;
}

}  // namespace

void check_probabilities(std::span<const double> numbers, std::size_t categories) {
  constexpr double kRounding = 1e-9;
  if (numbers.size() != categories)
    fail("{} numbers are given; {} are expected, one per category", numbers.size(), categories);
  for (const double x : numbers)
    if (!(x >= 0)) fail("a probability is {}; it must be in [0, 1]", x);
  const double sum = std::accumulate(numbers.begin(), numbers.end(), 0.0);
  if (!(std::abs(sum - 1) <= kRounding)) fail("the probabilities have the sum {}; it must be 1", sum);
}

std::vector<double> Table::prepare(std::span<const double> given, const PortComponents& components) {
  const auto& parents = components[0];
  const std::uint32_t child = components[1][0];
  const auto what = [&] {
    return fmt::format("the numbers for parents of {} categories and a child of {}", joined(parents), child);
  };
  std::uint32_t rows = 1;
  for (const std::uint32_t categories : parents) rows = multiply_sizes(rows, categories, what);
  if (const std::uint32_t expected = multiply_sizes(rows, child, what); given.size() != expected)
    fail(
        "{} numbers are given; {} are expected: {} combinations of "
        "the parents, and for each the {} categories of the child",
        given.size(), expected, rows, child);
  for (std::size_t r = 0; r < rows; ++r) try {
      check_probabilities(given.subspan(r * child, child), child);
    } catch (const Error& error) {
      fail("combination {} of the parents: {}", r, error.what());
    }
  std::vector<double> prepared = {static_cast<double>(parents.size())};
  prepared.insert(prepared.end(), parents.begin(), parents.end());
  prepared.push_back(static_cast<double>(child));
  prepared.insert(prepared.end(), given.begin(), given.end());
  return prepared;
}

void Table::to_child(Message parents, Parameters p, std::span<CategoricalComponent> child) {
  const auto logs = logs_of([&](auto& memory, const auto& wanted) {
    using Number = std::decay_t<decltype(memory.sums[0])>;
    memory.weights.resize(parents.size());
    memory.sums.assign(child.size(), Number(0.0));
    weigh_all(parents, p, memory.weights.data());
    for_each_row(p, memory, [&](const double* row) {
      const Number weight = product_of_all_but(kNoParent, memory);
      for (std::size_t k = 0; k < child.size(); ++k)
        if (row[k] > 0 && wanted(k)) memory.sums[k] += weight * Number(row[k]);
    });
  });
  Categorical::send_logs(logs, child);
}

void Table::to_parents(Message parents, Message child, Parameters p, std::span<CategoricalComponent> out) {
  const auto logs = logs_of([&](auto& memory, const auto& wanted) {
    using Number = std::decay_t<decltype(memory.sums[0])>;
    memory.weights.resize(parents.size() + child.size());
    memory.sums.assign(parents.size(), Number(0.0));
    weigh_all(parents, p, memory.weights.data());
    (void)weigh(child, memory.weights.data() + parents.size());
    for_each_row(p, memory, [&](const double* row) {
      const Number weight = sum_over_child(row, child.size(), memory);
      for (std::size_t j = 0; j < p.parents(); ++j)
        if (const std::size_t at = memory.first[j] + memory.at[j]; wanted(at))
          memory.sums[at] += weight * product_of_all_but(j, memory);
    });
  });
  for (std::size_t j = 0, first = 0; j < p.parents(); first += p.categories(j++))
    Categorical::send_logs(logs.subspan(first, p.categories(j)), out.subspan(first, p.categories(j)));
}

double Table::log_integral(Components arrivals, Parameters p) {
  double log_scale = 0;
  const auto logs = logs_of([&](auto& memory, const auto&) {
    using Number = std::decay_t<decltype(memory.sums[0])>;
    memory.weights.resize(arrivals.size());
    memory.sums.assign(1, Number(0.0));
    log_scale = 0;
    for (std::size_t j = 0, first = 0; j <= p.parents(); first += p.categories(j++))
      log_scale += weigh(arrivals.subspan(first, p.categories(j)), memory.weights.data() + first);
    for_each_row(p, memory, [&](const double* row) {
      memory.sums[0] += sum_over_child(row, p.child(), memory) * product_of_all_but(kNoParent, memory);
    });
  });
  return logs[0] == -kInfinity ? logs[0] : logs[0] - log_scale;
}

std::vector<double> Potential::prepare(std::span<const double> given, const PortComponents& components) {
  const auto& variables = components[0];
  const auto what = [&] { return fmt::format("the weights of variables of {} categories", joined(variables)); };
  std::uint32_t expected = 1;
  for (const std::uint32_t categories : variables) expected = multiply_sizes(expected, categories, what);
  if (given.size() != expected)
    fail("{} numbers are given; {} are expected, one for each combination of the variables", given.size(), expected);
  if (std::ranges::max(given) == 0) fail("all weights are 0; at least one combination must be possible");
  std::vector<double> prepared = {static_cast<double>(variables.size())};
  prepared.insert(prepared.end(), variables.begin(), variables.end());
  prepared.push_back(1);  // a child with one category
  prepared.insert(prepared.end(), given.begin(), given.end());
  return prepared;
}

void Potential::to_variables(Table::Message variables, Table::Parameters p, std::span<CategoricalComponent> out) {
  const CategoricalComponent child;
  Table::to_parents(variables, {&child, 1}, p, out);
}

double Potential::log_integral(Components arrivals, Table::Parameters p) {
  std::vector<Natural> all(arrivals.begin(), arrivals.end());
  all.emplace_back();
  return Table::log_integral(all, p);
}

Kind table_kind() {
  return kind("table", "P(child | parents), the child's categories innermost")
      .variadic_input("parents", "categorical")
      .output("child", "categorical")
      .table_parameter("probability", &Table::prepare, at_least(0))
      .log_integral([](auto m, auto p) { return Table::log_integral(m, {p}); })
      .weights(&Table::numbers_of)
      .message<&Table::to_child>(kExact, "child")
      .message<&Table::to_parents>(kExact, "parents", from("parents", "child"));
}

Kind potential_kind() {
  return kind("potential", "a weight for every combination of the variables, the last innermost")
      .variadic_input("variables", "categorical")
      .table_parameter("weight", &Potential::prepare, at_least(0) & at_most(1e290))
      .log_integral([](auto m, auto p) { return Potential::log_integral(m, {p}); })
      .weights(&Table::numbers_of)
      .message<&Potential::to_variables>(kExact, "variables", from("variables"));
}

}  // namespace dma
