#include "factors/likelihoods/learned_table.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/support/error.h"
#include "engine/support/log_sum_exp.h"

namespace dma {

namespace {

// Working memory reused by later calls: after the first messages of a thread nothing is allocated.
struct RowMemory {
  std::vector<double> counts, sums, parent, child, shares, mixed, gains;
};
RowMemory& row_memory() {
  thread_local RowMemory memory;
  return memory;
}

// The counts of every row and their sums; a known row gives its probabilities. False if one is no density.
template <class Component>
bool read_rows(std::span<const Component> rows, std::size_t categories, RowMemory& memory) {
  memory.counts.resize(rows.size());
  memory.sums.assign(rows.size() / categories, 0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool is_known = rows[i].is_point();
    if (!is_known && !(rows[i].rho == 0 && rows[i].tau > -1)) return false;
    memory.counts[i] = is_known ? rows[i].tau : rows[i].tau + 1;
    memory.sums[i / categories] += memory.counts[i];
  }
  return true;
}

// The weights of a message, scaled to a maximum of 1; returns the log of their sum, -inf if everything is forbidden.
template <class Component>
double read_weights(std::span<const Component> message, std::vector<double>& weights) {
  weights.resize(message.size());
  Categorical::logs(message, weights.data());
  const double all = log_sum_exp(weights), largest = std::ranges::max(weights);
  for (double& w : weights) w = largest == -kInfinity ? 0 : std::exp(w - largest);
  return largest == -kInfinity ? largest : all - largest;
}

// If nothing is possible the message is NaN, which the engine refuses and counts.
void put_weights(std::span<const double> weights, std::span<CategoricalComponent> out) {
  const double largest = std::ranges::max(weights);
  for (std::size_t k = 0; k < out.size(); ++k)
    out[k] = !(largest > 0)   ? CategoricalComponent(std::nan(""), 0)
             : weights[k] > 0 ? CategoricalComponent(std::log(weights[k] / largest), 0)
                              : CategoricalComponent::forbidden();
}

double total(std::span<const double> numbers) { return std::accumulate(numbers.begin(), numbers.end(), 0.0); }

}  // namespace

std::vector<double> LearnedTable::prepare(std::span<const double> given, const PortComponents& components) {
  const std::uint32_t parents = components[1][0], categories = components[2][0];
  if (given.size() != 1 || given[0] != categories)
    fail("{} is given; the child has {} categories", given.empty() ? 0.0 : given[0], categories);
  if (components[0].size() != parents || std::ranges::count(components[0], categories) != parents)
    fail("{} rows of {} categories are connected; the parent has {} categories and the child {}", components[0].size(),
         components[0].empty() ? 0 : components[0][0], parents, categories);
  return {given[0]};
}

void LearnedTable::to_child(Rows rows, Message parent, Parameters p, std::span<CategoricalComponent> child) {
  RowMemory& memory = row_memory();
  std::ranges::fill(child, CategoricalComponent());
  if (!read_rows(rows, p.categories, memory)) return;
  (void)read_weights(parent, memory.parent);
  memory.shares.assign(child.size(), 0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t a = i / p.categories;
    memory.shares[i % p.categories] += memory.parent[a] * memory.counts[i] / memory.sums[a];
  }
  put_weights(memory.shares, child);
}

void LearnedTable::to_parent(Rows rows, Message child, Parameters p, std::span<CategoricalComponent> parent) {
  RowMemory& memory = row_memory();
  std::ranges::fill(parent, CategoricalComponent());
  if (!read_rows(rows, p.categories, memory)) return;
  (void)read_weights(child, memory.child);
  memory.shares.assign(parent.size(), 0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t a = i / p.categories;
    memory.shares[a] += memory.child[i % p.categories] * memory.counts[i] / memory.sums[a];
  }
  put_weights(memory.shares, parent);
}

void LearnedTable::to_rows(Rows rows, Message parent, Message child, Parameters p,
                           std::span<OrFallback<DirichletComponent>> out) {
  RowMemory& memory = row_memory();
  std::ranges::fill(out, OrFallback<DirichletComponent>());
  const auto is_uniform = [](const CategoricalComponent& c) { return c.is_uniform(); };
  if (std::ranges::all_of(child, is_uniform)) return;
  if (parent[0].is_point() && child[0].is_point()) {  // for any message from the rows
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = OrFallback<DirichletComponent>(
          DirichletComponent(parent[i / p.categories].tau * child[i % p.categories].tau, 0));
    return;
  }
  if (!read_rows(rows, p.categories, memory)) return;
  (void)read_weights(parent, memory.parent);
  (void)read_weights(child, memory.child);
  memory.shares.resize(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t a = i / p.categories;
    memory.shares[i] = memory.parent[a] * memory.child[i % p.categories] * memory.counts[i] / memory.sums[a];
  }
  const double all = total(memory.shares);
  if (!(all > 0)) return;
  for (double& r : memory.shares) r /= all;
  for (std::size_t first = 0; first < rows.size(); first += p.categories) {
    const auto counts = std::span<const double>(memory.counts).subspan(first, p.categories);
    const auto shares = std::span<const double>(memory.shares).subspan(first, p.categories);
    const double unchanged = std::max(0.0, 1 - total(shares));
    if (unchanged == 1) continue;
    memory.mixed.resize(p.categories);
    memory.gains.resize(p.categories);
    for (std::size_t k = 0; k < p.categories; ++k)
      memory.mixed[k] = shares[k] + unchanged * counts[k] / memory.sums[first / p.categories];
    const bool is_projected = Dirichlet::project(counts, memory.mixed, memory.gains);
    for (std::size_t k = 0; k < p.categories; ++k)
      out[first + k] =
          OrFallback<DirichletComponent>(DirichletComponent(is_projected ? memory.gains[k] : shares[k], 0));
    out[first].replaced = !is_projected;  // one message of several components
  }
}

double LearnedTable::log_integral(Components arrivals, Parameters p) {
  const std::size_t parents = (arrivals.size() - p.categories) / (p.categories + 1);
  RowMemory& memory = row_memory();
  if (!read_rows(arrivals.first(parents * p.categories), p.categories, memory)) return std::nan("");
  const double of_parent = read_weights(arrivals.subspan(parents * p.categories, parents), memory.parent);
  const double scale = of_parent + read_weights(arrivals.last(p.categories), memory.child);
  if (scale == -kInfinity) return scale;
  double sum = 0;
  for (std::size_t i = 0; i < parents * p.categories; ++i) {
    const std::size_t a = i / p.categories;
    sum += memory.parent[a] * memory.child[i % p.categories] * memory.counts[i] / memory.sums[a];
  }
  return std::log(sum) - scale;
}

Kind learned_table_kind() {
  return kind("learned_table", "P(child | parent), one row of unknown probabilities per category of the parent")
      .variadic_input("rows", "dirichlet")
      .input("parent", "categorical")
      .output("child", "categorical")
      .table_parameter("categories", &LearnedTable::prepare, at_least(1))
      .log_integral([](auto m, auto p) { return LearnedTable::log_integral(m, {static_cast<std::size_t>(p[0])}); })
      .message<&LearnedTable::to_child>(kExact, "child")
      .message<&LearnedTable::to_parent>(kExact, "parent")
      .message<&LearnedTable::to_rows>("ep", "rows", from("rows", "parent", "child"));
}

}  // namespace dma
