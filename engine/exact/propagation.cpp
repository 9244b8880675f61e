#include "engine/exact/propagation.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "engine/support/lent.h"

namespace dma::clique_tree {

namespace {

// A product outside this range may have lost digits, or may lose them soon; everything is then recomputed in wide
// numbers.
constexpr double kSmallest = 1e-290, kLargest = 1e270;

bool is_lost(double product, double a, double b) {
  return ((product < kSmallest) & (a != 0) & (b != 0)) | !(product < kLargest);
}
bool is_lost(const WideNumber&, const WideNumber&, const WideNumber&) { return false; }
bool is_zero(double x) { return x == 0; }
bool is_zero(const WideNumber& x) { return x.mantissa == 0; }
double log_of(double x) { return std::log(x); }
double log_of(const WideNumber& x) { return x.log(); }

// Scales the largest number to about 1 by a power of 2, and returns that exponent in `exponent`. False if small numbers
// underflow.
bool rescale(std::span<double> numbers, int& exponent) {
  exponent = std::ilogb(*std::ranges::max_element(numbers));
  const double factor = std::ldexp(1.0, -exponent);
  bool lost = false;
  for (double& x : numbers) {
    const double before = std::exchange(x, x * factor);
    lost |= is_lost(x, before, factor);
  }
  return !lost;
}
bool rescale(std::span<WideNumber>, int&) { return true; }
double scaled(double x, int exponent) { return std::ldexp(x, exponent); }
WideNumber scaled(const WideNumber& x, int) { return x; }

// An axis of a table, and its stride in another table, 0 if the other table lacks it. Adjacent axes with matching
// strides are merged.
struct Axis {
  std::size_t size, step, at = 0;
};
void add_axis(std::vector<Axis>& axes, std::size_t size, std::size_t step) {
  if (size == 1) return;
  if (!axes.empty() && axes.back().step == step * size) {
    axes.back().size *= size;
    axes.back().step = step;
  } else
    axes.push_back({size, step});
}

// Calls visit(own, other, count, step) for all entries: runs of `count` entries from `own` on, which correspond to
// entries of the other table from `other` on, `step` apart.
template <class Visit>
void walk(std::vector<Axis>& axes, std::size_t other, const Visit& visit) {
  if (axes.empty()) return visit(std::size_t{0}, other, std::size_t{1}, std::size_t{0});
  const Axis inner = axes.back();
  axes.pop_back();
  for (std::size_t own = 0;; own += inner.size) {
    visit(own, other, inner.size, inner.step);
    std::size_t a = axes.size();
    for (; a > 0; --a) {
      Axis& axis = axes[a - 1];
      other += axis.step;
      if (++axis.at < axis.size) break;
      other -= axis.step * axis.size;
      axis.at = 0;
    }
    if (a == 0) return;
  }
}

// Computes how the table of a clique maps to one over `nodes`, the last innermost; returns the first entry, given the
// known values.
std::size_t meet(const Problem& problem, const Clique& clique, std::span<const std::uint32_t> nodes,
                 std::vector<Axis>& axes) {
  Lent<std::size_t> lent(clique.nodes.size());
  std::vector<std::size_t>& steps = *lent;
  std::size_t step = 1, first = 0;
  for (std::size_t j = nodes.size(); j > 0; --j) {
    const std::uint32_t v = nodes[j - 1];
    if (const std::uint32_t value = problem.values[v]; value != kNowhere)
      first += step * value;
    else
      steps[static_cast<std::size_t>(std::ranges::find(clique.nodes, v) - clique.nodes.begin())] += step;
    step *= problem.discrete.nodes[v].values;
  }
  axes.clear();
  for (std::size_t a = 0; a < steps.size(); ++a)
    add_axis(axes, problem.discrete.nodes[clique.nodes[a]].values, steps[a]);
  return first;
}

template <class Number>
void add_marginal(const Problem& problem, const Clique& clique, std::span<const Number> table,
                  std::span<const std::uint32_t> nodes, std::vector<Number>& sums) {
  Lent<Axis> lent;
  std::vector<Axis>& axes = *lent;
  const std::size_t first = meet(problem, clique, nodes, axes);
  walk(axes, first, [&](std::size_t own, std::size_t other, std::size_t count, std::size_t step) {
    if (step == 0) {
      Number sum(0.0);
      for (std::size_t i = 0; i < count; ++i) sum += table[own + i];
      sums[other] += sum;
    } else {
      for (std::size_t i = 0; i < count; ++i) sums[other + i * step] += table[own + i];
    }
  });
}

}  // namespace

template <class Number>
Propagation<Number>::Propagation(const Problem& problem) : problem_(problem), exponents_(problem.tree.cliques.size()) {
  std::size_t entries = 0, shared = 0;
  for (const Clique& c : problem.tree.cliques) {
    first_.push_back(entries);
    first_message_.push_back(shared);
    entries += c.entries;
    shared += c.shared_entries;
  }
  tables_.resize(entries);
  messages_.resize(shared);
}

template <class Number>
template <class Other>
bool Propagation<Number>::multiply(std::uint32_t clique, std::span<const std::uint32_t> nodes,
                                   std::span<const Other> weights) {
  Lent<Axis> lent;
  std::vector<Axis>& axes = *lent;
  const std::size_t first = meet(problem_, of(clique), nodes, axes);
  const std::span<Number> entries = table(clique);
  bool lost = false;
  walk(axes, first, [&](std::size_t own, std::size_t other, std::size_t count, std::size_t step) {
    for (std::size_t i = 0; i < count; ++i) {
      const Number weight(weights[other + i * step]), before = entries[own + i];
      entries[own + i] = before * weight;
      lost |= is_lost(entries[own + i], before, weight);
    }
  });
  return !lost;
}

// exp(logs), scaled to a largest value of 1.
template <class Number>
bool Propagation<Number>::multiply_logs(std::uint32_t clique, std::span<const std::uint32_t> nodes,
                                        std::span<const double> logs) {
  const double largest = *std::ranges::max_element(logs);
  converted_.assign(logs.size(), Number(0.0));
  bool is_whole = true;
  if (largest > -HUGE_VAL) log_scale_ += largest;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    if (logs[i] == -HUGE_VAL) continue;
    if constexpr (std::is_same_v<Number, double>)
      converted_[i] = std::exp(logs[i] - largest);
    else
      converted_[i] = WideNumber::from_log(logs[i] - largest);
    is_whole &= !is_lost(converted_[i], Number(1.0), Number(1.0));
  }
  return is_whole && multiply<Number>(clique, nodes, converted_);
}

template <class Number>
bool Propagation<Number>::multiply_factors(std::uint32_t clique, FactorWeights& weights) {
  bool is_whole = true;
  for (const std::uint32_t s : of(clique).scopes) {
    const Scope& scope = problem_.discrete.scopes[s];
    const FactorWeights::Weights found = weights.of(scope);
    const auto nodes = problem_.discrete.nodes_of(scope);
    is_whole &= found.are_logs ? multiply_logs(clique, nodes, found.numbers) : multiply(clique, nodes, found.numbers);
  }
  return is_whole;
}

// Multiplies in the factors whose nodes are all known.
template <class Number>
void Propagation<Number>::add_known(FactorWeights& weights) {
  for (const std::uint32_t s : problem_.tree.known) {
    const Scope& scope = problem_.discrete.scopes[s];
    std::size_t at = 0;
    for (const std::uint32_t v : problem_.discrete.nodes_of(scope)) at = at * value_count(v) + problem_.values[v];
    const FactorWeights::Weights found = weights.of(scope);
    log_scale_ += found.are_logs ? found.numbers[at] : std::log(found.numbers[at]);
  }
}

template <class Number>
bool Propagation<Number>::collect(const State& state, std::span<const Hint> hints, bool by_maxima) {
  FactorWeights weights(problem_.discrete, state);
  std::ranges::fill(tables_, Number(1.0));
  log_total_ = -HUGE_VAL;
  log_scale_ = 0;
  add_known(weights);
  for (const Hint& hint : hints)
    if (const std::uint32_t value = problem_.values[hint.node]; value != kNowhere)
      log_scale_ += hint.logs[value];
    else if (!multiply_logs(problem_.tree.home[hint.node], {&hint.node, 1}, hint.logs))
      return false;
  double sum = 0;
  for (std::uint32_t c = 0; c < problem_.tree.cliques.size(); ++c) {
    if (!multiply_factors(c, weights)) return false;
    const std::span<const Number> entries = table(c);
    const std::span<Number> out = message(c);
    const std::size_t block = entries.size() / out.size();
    for (std::size_t i = 0; i < out.size(); ++i) {
      Number total(0.0);
      for (const Number& x : entries.subspan(i * block, block))
        if (!by_maxima)
          total += x;
        else if (total < x)
          total = x;
      out[i] = total;
    }
    if (std::ranges::all_of(out, [](const Number& x) { return is_zero(x); })) return true;
    if (!rescale(out, exponents_[c])) return false;
    sum += exponents_[c] * std::numbers::ln2;
    const Clique& clique = of(c);
    if (clique.parent == kNowhere)
      sum += log_of(out[0]);
    else if (!multiply<Number>(clique.parent, std::span(clique.nodes).first(clique.shared), out))
      return false;
  }
  log_total_ = sum + log_scale_;
  return true;
}

template <class Number>
bool Propagation<Number>::distribute() {
  for (auto c = static_cast<std::uint32_t>(problem_.tree.cliques.size()); c-- > 0;) {
    const Clique& clique = of(c);
    if (clique.parent == kNowhere) continue;
    sums_.assign(clique.shared_entries, Number(0.0));
    add_marginal<Number>(problem_, of(clique.parent), table(clique.parent),
                         std::span(clique.nodes).first(clique.shared), sums_);
    const std::span<Number> entries = table(c), up = message(c);
    const std::size_t block = entries.size() / up.size();
    bool lost = false;
    for (std::size_t i = 0; i < up.size(); ++i) {
      const Number down = is_zero(up[i]) ? Number(0.0) : scaled(sums_[i] / up[i], -exponents_[c]);
      lost |= is_lost(down, sums_[i], up[i]);
      for (Number& x : entries.subspan(i * block, block)) {
        const Number before = x;
        x = before * down;
        lost |= is_lost(x, before, down);
      }
    }
    if (lost) return false;
  }
  return true;
}

template <class Number>
void Propagation<Number>::log_marginal(std::uint32_t clique, std::span<const std::uint32_t> nodes,
                                       std::vector<double>& logs) const {
  std::size_t size = 1;
  for (const std::uint32_t v : nodes) size *= value_count(v);
  Lent<Number> lent(size);
  std::vector<Number>& sums = *lent;
  std::ranges::fill(sums, Number(0.0));
  add_marginal<Number>(problem_, of(clique), table(clique), nodes, sums);
  Number total(0.0);
  for (const Number& x : sums) total += x;
  logs.clear();
  for (const Number& x : sums) {
    const Number share = x / total;
    logs.push_back(is_lost(share, x, total) ? log_of(x) - log_of(total) : log_of(share));
  }
}

template <class Number>
void Propagation<Number>::assign(Values& values, const Choose& choose) const {
  for (auto c = static_cast<std::uint32_t>(problem_.tree.cliques.size()); c-- > 0;) {
    const Clique& clique = of(c);
    std::size_t row = 0;
    for (std::size_t j = 0; j < clique.shared; ++j) row = row * value_count(clique.nodes[j]) + values[clique.nodes[j]];
    const std::size_t block = clique.entries / clique.shared_entries;
    std::size_t chosen = choose(table(c).subspan(row * block, block));
    for (std::size_t j = clique.nodes.size(); j > clique.shared; --j) {
      const std::uint32_t v = clique.nodes[j - 1];
      values[v] = static_cast<std::uint32_t>(chosen % value_count(v));
      chosen /= value_count(v);
    }
  }
}

template class Propagation<double>;
template class Propagation<WideNumber>;

}  // namespace dma::clique_tree
