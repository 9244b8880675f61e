// Discrete graphs small enough to enumerate all combinations.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_01.hpp>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "engine/run/run.h"

namespace dma::test {

class Random {
 public:
  explicit Random(std::uint64_t seed) : generator_(seed) {}
  double unit() { return uniform_(generator_); }
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(unit() * static_cast<double>(n)); }

 private:
  boost::random::mt19937_64 generator_;
  boost::random::uniform_01<double> uniform_;
};

// Variables with a few values each, and tables over some of them; the sums over all combinations.
struct DiscreteModel {
  struct Table {
    std::vector<std::size_t> of;  // the last innermost
    std::vector<double> numbers;
    FactorId id{0};
  };
  Graph graph;
  std::vector<VariableId> variables;
  std::vector<std::size_t> sizes;
  std::vector<std::optional<std::size_t>> seen;
  std::vector<Table> tables;

  void add_variable(std::size_t values, std::optional<std::size_t> value = {}) {
    const std::string family = fmt::format("categorical({})", values);
    const std::string name = fmt::format("x{}", variables.size());
    variables.push_back(value ? graph.observed(name, 1, family) : graph.variable(name, 1, family));
    sizes.push_back(values);
    seen.push_back(value);
  }
  void add_table(std::vector<std::size_t> of, std::vector<double> numbers, bool is_conditional) {
    std::vector<Connection> ends;
    for (const std::size_t v : of) ends.emplace_back(variables[v]);
    const char* const kind = !is_conditional ? "potential" : of.size() == 1 ? "categorical_prior" : "table";
    const FactorId id = graph.factor(kind, ends, {{is_conditional ? "probability" : "weight", numbers}});
    tables.push_back({std::move(of), std::move(numbers), id});
  }
  void observe(State& state) const {
    for (std::size_t v = 0; v < variables.size(); ++v)
      if (seen[v]) state.observe(variables[v], static_cast<double>(*seen[v]));
  }

  // Calls visit(values) for every combination that agrees with the observations.
  template <class Visit>
  void for_each_combination(const Visit& visit) const {
    std::vector<std::size_t> at(sizes.size()), end(sizes);
    for (std::size_t v = 0; v < at.size(); ++v)
      if (seen[v]) at[v] = *seen[v], end[v] = at[v] + 1;
    for (std::size_t v = 0; v < at.size();) {
      visit(at);
      for (v = 0; v < at.size() && ++at[v] == end[v]; ++v) at[v] = seen[v].value_or(0);
    }
  }
  std::size_t place(const std::vector<std::size_t>& of, const std::vector<std::size_t>& at) const {
    std::size_t out = 0;
    for (const std::size_t v : of) out = out * sizes[v] + at[v];
    return out;
  }
  // Calls visit(values, log of the product of all tables).
  template <class Visit>
  void enumerate(const Visit& visit) const {
    std::vector<Table> logs = tables;
    for (Table& t : logs)
      for (double& x : t.numbers) x = std::log(x);
    for_each_combination([&](const std::vector<std::size_t>& at) {
      double log = 0;
      for (const Table& t : logs) log += t.numbers[place(t.of, at)];
      visit(at, log);
    });
  }

  // All combinations, enumerated once for many queries. The model must outlive it.
  struct Counted {
    const DiscreteModel& model;
    std::vector<double> probabilities;
    double log_total = -kInfinity;

    std::vector<double> marginal(const std::vector<std::size_t>& of) const {
      std::size_t size = 1;
      for (const std::size_t v : of) size *= model.sizes[v];
      std::vector<double> out(size);
      auto p = probabilities.begin();
      model.for_each_combination([&](const auto& at) { out[model.place(of, at)] += *p++; });
      return out;
    }
  };
  Counted counted() const {
    Counted out{*this, {}};
    double largest = -kInfinity, sum = 0;
    enumerate([&](const auto&, double log) {
      out.probabilities.push_back(log);
      largest = std::max(largest, log);
    });
    if (largest == -kInfinity) return out;
    for (double& p : out.probabilities) sum += p = std::exp(p - largest);
    for (double& p : out.probabilities) p /= sum;
    out.log_total = largest + std::log(sum);
    return out;
  }
};

inline std::vector<double> row(Random& random, std::size_t values, double share_of_zeros) {
  std::vector<double> out(values);
  double sum = 0;
  for (double& x : out) sum += x = random.unit() < share_of_zeros ? 0 : 0.01 + random.unit();
  if (sum == 0) sum = out[random.below(values)] = 1;
  for (double& x : out) x /= sum;
  return out;
}

// A graph of up to 8 variables with many loops, some potentials and some zeros. The weights of potentials are below 10,
// or of any size from 10^-reach to 10^reach.
inline DiscreteModel random_model(std::uint64_t seed, double reach = 0) {
  Random random(seed);
  DiscreteModel m;
  const std::size_t n = 3 + random.below(6);
  const double zeros = random.below(2) == 0 ? 0 : 0.2;
  for (std::size_t v = 0; v < n; ++v) {
    const std::size_t values = 1 + random.below(4);
    m.add_variable(values, random.below(4) == 0 ? std::optional(random.below(values)) : std::nullopt);
    std::vector<std::size_t> of;
    std::size_t rows = 1;
    for (std::size_t parent = 0; parent < v && of.size() < 3; ++parent)
      if (random.below(2) == 0) of.push_back(parent), rows *= m.sizes[parent];
    of.push_back(v);
    std::vector<double> numbers;
    for (; rows > 0; --rows)
      for (const double x : row(random, values, zeros)) numbers.push_back(x);
    m.add_table(of, numbers, true);
  }
  for (std::size_t i = random.below(reach > 0 ? 12 : 3); i > 0; --i) {
    const std::size_t a = random.below(n), b = (a + 1 + random.below(n - 1)) % n;
    std::vector<double> numbers(m.sizes[a] * m.sizes[b]);
    for (double& x : numbers) x = reach > 0 ? std::pow(10, reach * (2 * random.unit() - 1)) : 10 * random.unit();
    m.add_table({a, b}, numbers, false);
  }
  return m;
}

}  // namespace dma::test
