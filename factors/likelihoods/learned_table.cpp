#include "factors/likelihoods/learned_table.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/support/log_sum_exp.h"
#include "engine/support/text.h"

namespace dma {

namespace {

double total(std::span<const double> numbers) { return std::accumulate(numbers.begin(), numbers.end(), 0.0); }

// Working memory reused by later calls: after the first messages of a thread nothing is allocated.
struct RowMemory {
  std::vector<double> counts, means, parent, child, shares, mixed, gains;

  // The counts of every row, and its mean probabilities; a known row has those alone. False if one is no density.
  template <class Component>
  bool read(std::span<const Component> rows, std::size_t categories) {
    counts.resize(rows.size());
    means.resize(rows.size());
    if (!Dirichlet::read_counts(rows, counts.data())) return false;
    for (std::size_t first = 0; first < rows.size(); first += categories) {
      const double sum = total(std::span(counts).subspan(first, categories));
      for (std::size_t i = first; i < first + categories; ++i) means[i] = counts[i] / sum;
    }
    return true;
  }
};

RowMemory& row_memory() {
  thread_local RowMemory memory;
  return memory;
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

// Weight `to(i)` of the message receives the mean i of the rows times the weight `from(i)`.
template <class To, class From>
void send_sums(RowMemory& memory, const To& to, const From& from, std::span<CategoricalComponent> out) {
  std::vector<double>& sums = memory.shares;
  sums.assign(out.size(), 0);
  for (std::size_t i = 0; i < memory.means.size(); ++i) sums[to(i)] += from(i) * memory.means[i];
  for (double& sum : sums) sum = std::log(sum);
  Categorical::send_logs(sums, out);
}

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
  if (!memory.read(rows, p.categories)) return;
  (void)read_weights(parent, memory.parent);
  send_sums(
      memory, [&](std::size_t i) { return i % p.categories; },
      [&](std::size_t i) { return memory.parent[i / p.categories]; }, child);
}

void LearnedTable::to_parent(Rows rows, Message child, Parameters p, std::span<CategoricalComponent> parent) {
  RowMemory& memory = row_memory();
  std::ranges::fill(parent, CategoricalComponent());
  if (!memory.read(rows, p.categories)) return;
  (void)read_weights(child, memory.child);
  send_sums(
      memory, [&](std::size_t i) { return i / p.categories; },
      [&](std::size_t i) { return memory.child[i % p.categories]; }, parent);
}

void LearnedTable::to_rows(Rows rows, Message parent, Message child, Parameters p,
                           std::span<OrFallback<DirichletComponent>> out) {
  std::ranges::fill(out, OrFallback<DirichletComponent>());
  const auto is_uniform = [](const CategoricalComponent& c) { return c.is_uniform(); };
  if (std::ranges::all_of(child, is_uniform)) return;
  if (parent[0].is_point() && child[0].is_point()) {  // for any message from the rows
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = OrFallback<DirichletComponent>(
          DirichletComponent(parent[i / p.categories].tau * child[i % p.categories].tau, 0));
    return;
  }
  RowMemory& memory = row_memory();
  if (!memory.read(rows, p.categories)) return;
  (void)read_weights(parent, memory.parent);
  (void)read_weights(child, memory.child);
  std::vector<double>&all_shares = memory.shares, &mixed = memory.mixed, &gains = memory.gains;
  all_shares.resize(rows.size());
  mixed.resize(p.categories);
  gains.resize(p.categories);
  for (std::size_t i = 0; i < rows.size(); ++i)
    all_shares[i] = memory.parent[i / p.categories] * memory.child[i % p.categories] * memory.means[i];
  const double all = total(all_shares);
  if (!(all > 0)) return;
  for (double& r : all_shares) r /= all;
  for (std::size_t first = 0; first < rows.size(); first += p.categories) {
    const auto counts = std::span<const double>(memory.counts).subspan(first, p.categories);
    const auto shares = std::span<const double>(all_shares).subspan(first, p.categories);
    const double unchanged = std::max(0.0, 1 - total(shares));
    if (unchanged == 1) continue;
    for (std::size_t k = 0; k < p.categories; ++k) mixed[k] = shares[k] + unchanged * memory.means[first + k];
    const bool is_projected = Dirichlet::project(counts, mixed, gains);
    for (std::size_t k = 0; k < p.categories; ++k)
      out[first + k] = OrFallback<DirichletComponent>(DirichletComponent(is_projected ? gains[k] : shares[k], 0));
    out[first].replaced = !is_projected;  // one message of several components
  }
}

double LearnedTable::log_integral(Components arrivals, Parameters p) {
  const std::size_t parents = (arrivals.size() - p.categories) / (p.categories + 1);
  RowMemory& memory = row_memory();
  if (!memory.read(arrivals.first(parents * p.categories), p.categories)) return std::nan("");
  const double of_parent = read_weights(arrivals.subspan(parents * p.categories, parents), memory.parent);
  const double scale = of_parent + read_weights(arrivals.last(p.categories), memory.child);
  if (scale == -kInfinity) return scale;
  double sum = 0;
  for (std::size_t i = 0; i < parents * p.categories; ++i)
    sum += memory.parent[i / p.categories] * memory.child[i % p.categories] * memory.means[i];
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
