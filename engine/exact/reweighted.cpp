#include "engine/exact/reweighted.h"

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <cmath>
#include <numeric>
#include <utility>

#include "engine/compile/loops.h"
#include "engine/support/log_sum_exp.h"
#include "engine/support/shuffle.h"

namespace dma::clique_tree {

// Calls visit(entry) for every combination of values of these nodes, the last innermost; at_ holds the combination.
template <class Visit>
void Reweighted::for_each(std::span<const std::uint32_t> nodes, const Visit& visit) {
  for (const std::uint32_t v : nodes) at_[v] = 0;
  for (std::size_t entry = 0;; ++entry) {
    visit(entry);
    std::size_t j = nodes.size();
    for (; j > 0 && ++at_[nodes[j - 1]] == discrete_.nodes[nodes[j - 1]].values; --j) at_[nodes[j - 1]] = 0;
    if (j == 0) break;
  }
  for (const std::uint32_t v : nodes) at_[v] = kNowhere;
}

// Index of the combination in at_ in a table over these nodes.
std::size_t Reweighted::place(std::span<const std::uint32_t> nodes) const {
  std::size_t out = 0;
  for (const std::uint32_t v : nodes) out = out * discrete_.nodes[v].values + at_[v];
  return out;
}

Reweighted::Reweighted(const DiscreteGraph& discrete, const Values& values, const State& state,
                       std::span<const Hint> hints)
    : discrete_(discrete), regions_at_(values.size()), weights_(values.size()), at_(values) {
  for (std::uint32_t v = 0; v < values.size(); ++v)
    if (values[v] == kNowhere) weights_[v].assign(discrete.nodes[v].values, 0);
  FactorWeights weights(discrete, state);
  std::vector<std::pair<std::vector<std::uint32_t>, std::vector<double>>> tables;
  for (const Scope& scope : discrete.scopes) {
    const FactorWeights::Weights found = weights.of(scope);
    auto& [nodes, logs] = tables.emplace_back();
    for (const std::uint32_t v : discrete.nodes_of(scope))
      if (values[v] == kNowhere && std::ranges::find(nodes, v) == nodes.end()) nodes.push_back(v);
    for_each(nodes, [&, &logs = logs](std::size_t) {
      const double f = found.numbers[place(discrete.nodes_of(scope))];
      logs.push_back(found.are_logs ? f : std::log(f));
    });
  }
  for (const Hint& hint : hints)
    if (const std::uint32_t value = values[hint.node]; value == kNowhere)
      tables.push_back({{hint.node}, hint.logs});
    else
      constant_ += hint.logs[value];
  std::ranges::stable_sort(tables, std::greater(), [](const auto& table) { return table.first.size(); });
  for (auto& [nodes, logs] : tables) add(std::move(nodes), std::move(logs));
  is_impossible_ = constant_ == -HUGE_VAL;
  draw_forests();
  refresh_beliefs();
}

void Reweighted::add(std::vector<std::uint32_t> nodes, std::vector<double> logs) {
  if (nodes.empty()) {
    constant_ += logs[0];
  } else if (nodes.size() == 1) {
    for (std::size_t k = 0; k < logs.size(); ++k) weights_[nodes[0]][k] += logs[k];
  } else {
    for (const std::uint32_t r : regions_at_[nodes[0]]) {
      Region& wider = regions_[r];
      const auto is_there = [&](std::uint32_t v) { return std::ranges::find(wider.nodes, v) != wider.nodes.end(); };
      if (!std::ranges::all_of(nodes, is_there)) continue;
      return for_each(wider.nodes, [&](std::size_t entry) { wider.logs[entry] += logs[place(nodes)]; });
    }
    Region region{std::move(nodes), std::move(logs), {}, {}};
    for (const std::uint32_t v : region.nodes) {
      region.first.push_back(region.sent.size());
      region.sent.resize(region.sent.size() + discrete_.nodes[v].values);
      regions_at_[v].push_back(static_cast<std::uint32_t>(regions_.size()));
      ++messages_;
    }
    regions_.push_back(std::move(region));
  }
}

// Factors in few forests come first in the next forest, so that the fractions are as equal as loops allow.
void Reweighted::draw_forests() {
  constexpr std::size_t kForests = 64;
  std::vector<std::uint32_t> order(regions_.size()), met;
  std::vector<std::size_t> count(regions_.size());
  std::iota(order.begin(), order.end(), 0u);
  boost::random::mt19937_64 random(1);
  std::size_t forests = 0;
  const auto is_enough = [&] {  // a graph without loops is one forest
    return std::ranges::all_of(count, [&](std::size_t c) { return c == forests || (c > 0 && forests >= kForests); });
  };
  for (; forests == 0 || !is_enough(); ++forests) {
    shuffle(order, random_below(random));
    std::ranges::stable_sort(order, {}, [&](std::uint32_t r) { return count[r]; });
    Forest forest(discrete_.nodes.size());
    for (const std::uint32_t r : order) {
      met.clear();
      for (const std::uint32_t v : regions_[r].nodes) met.push_back(forest.leader(v));
      std::ranges::sort(met);
      if (std::ranges::adjacent_find(met) != met.end()) continue;
      for (const std::uint32_t v : met) (void)forest.join(v, met[0]);
      ++count[r];
    }
  }
  for (std::size_t r = 0; r < regions_.size(); ++r)
    regions_[r].rho = static_cast<double>(count[r]) / static_cast<double>(forests);
}

// Normalises the beliefs; returns the sum of log Z_i.
double Reweighted::refresh_beliefs() {
  beliefs_ = weights_;
  for (const Region& region : regions_)
    for (std::size_t j = 0; j < region.nodes.size(); ++j) {
      std::vector<double>& b = beliefs_[region.nodes[j]];
      for (std::size_t k = 0; k < b.size(); ++k) b[k] += region.rho * region.sent[region.first[j] + k];
    }
  double sum = 0;
  for (std::vector<double>& b : beliefs_) {
    if (b.empty()) continue;
    const double log_sum = log_sum_exp(b);
    sum += log_sum;
    if (log_sum == -HUGE_VAL) is_impossible_ = true;
    else for (double& x : b) x -= log_sum;
  }
  return sum;
}

// log r_ai for all nodes of a region: the sum of g_a prod b_j, b_i included, divided by b_i.
void Reweighted::find_ratios(const Region& region) {
  totals_.resize(region.logs.size());
  largest_.assign(region.sent.size(), -HUGE_VAL);
  ratios_.assign(region.sent.size(), 0);
  for_each(region.nodes, [&](std::size_t entry) {
    double total = region.logs[entry] / region.rho;
    for (std::size_t j = 0; j < region.nodes.size() && total > -HUGE_VAL; ++j) {
      const std::uint32_t v = region.nodes[j], k = at_[v];
      total = beliefs_[v][k] == -HUGE_VAL ? -HUGE_VAL : total + beliefs_[v][k] - region.sent[region.first[j] + k];
    }
    totals_[entry] = total;
    for (std::size_t j = 0; j < region.nodes.size(); ++j) {
      double& largest = largest_[region.first[j] + at_[region.nodes[j]]];
      largest = std::max(largest, total);
    }
  });
  for_each(region.nodes, [&](std::size_t entry) {
    for (std::size_t j = 0; j < region.nodes.size() && totals_[entry] > -HUGE_VAL; ++j) {
      const std::size_t i = region.first[j] + at_[region.nodes[j]];
      ratios_[i] += std::exp(totals_[entry] - largest_[i]);
    }
  });
  for (std::size_t j = 0; j < region.nodes.size(); ++j)
    for (std::uint32_t k = 0; k < discrete_.nodes[region.nodes[j]].values; ++k) {
      const std::size_t i = region.first[j] + k;
      const double b = beliefs_[region.nodes[j]][k];
      ratios_[i] = b == -HUGE_VAL ? std::nan("") : largest_[i] + std::log(ratios_[i]) - b;
    }
}

double Reweighted::sweep() {
  constexpr double kStep = 0.5;  // fraction of the step to the next message, on graphs with loops
  double change = 0;
  refresh_beliefs();
  for (std::size_t turn = 0; turn < 2 * regions_.size(); ++turn) {
    const std::size_t last = regions_.size() - 1;
    Region& region = regions_[turn <= last ? turn : 2 * last + 1 - turn];
    find_ratios(region);
    const double step = region.rho == 1 ? 1 : kStep;
    for (std::size_t j = 0; j < region.nodes.size(); ++j) {
      std::vector<double>& b = beliefs_[region.nodes[j]];
      double most = -HUGE_VAL, least = HUGE_VAL;
      for (std::size_t k = 0; k < b.size(); ++k)
        if (const double r = ratios_[region.first[j] + k]; !std::isnan(r)) {
          most = std::max(most, r);
          least = std::min(least, r);
        }
      change = std::max(change, most - least);
      if (most == -HUGE_VAL) {
        is_impossible_ = true;
        return change;
      }
      for (std::size_t k = 0; k < b.size(); ++k) {
        const double r = ratios_[region.first[j] + k];
        if (std::isnan(r)) continue;
        const double moved = r == -HUGE_VAL ? r : step * (r - most);
        region.sent[region.first[j] + k] += moved;
        b[k] += region.rho * moved;
      }
    }
  }
  return change;
}

double Reweighted::upper_bound() {
  double bound = constant_ + refresh_beliefs();
  for (const Region& region : regions_) {
    find_ratios(region);
    double most = -HUGE_VAL;
    for (const double r : ratios_)
      if (!std::isnan(r)) most = std::max(most, r);
    bound += region.rho * most;
  }
  return bound;
}

// add(value of the node, probability of the other values under q, log f) for every entry of a region.
template <class Add>
void Reweighted::add_others(const Region& region, std::uint32_t node, const Beliefs& q, const Add& add) {
  for_each(region.nodes, [&](std::size_t entry) {
    double p = 1;
    for (const std::uint32_t v : region.nodes)
      if (v != node) p *= q[v][at_[v]];
    if (p > 0) add(at_[node], p, region.logs[entry]);
  });
}

// E_q[log f] - E_q[log q], maximised node by node from these q. -inf: q allows a forbidden combination.
double Reweighted::mean_field(Beliefs q) {
  constexpr int kLimit = 200;
  constexpr double kSettled = 1e-9;
  double change = 1;
  for (int i = 0; i < kLimit && change > kSettled; ++i) {
    change = 0;
    for (std::uint32_t v = 0; v < q.size(); ++v) {
      if (q[v].empty()) continue;
      std::vector<double> next = weights_[v];
      for (const std::uint32_t r : regions_at_[v])
        add_others(regions_[r], v, q, [&](std::uint32_t k, double p, double log) { next[k] += p * log; });
      if (std::ranges::max(next) == -HUGE_VAL) return -HUGE_VAL;
      to_fractions(next);
      for (std::size_t k = 0; k < next.size(); ++k) change = std::max(change, std::abs(next[k] - q[v][k]));
      q[v] = std::move(next);
    }
  }
  double bound = constant_;
  for (std::uint32_t v = 0; v < q.size(); ++v)
    for (std::size_t k = 0; k < q[v].size(); ++k)
      if (q[v][k] > 0) bound += q[v][k] * (weights_[v][k] - std::log(q[v][k]));
  for (const Region& region : regions_)
    add_others(region, region.nodes[0], q, [&](std::uint32_t k, double p, double log) {
      if (q[region.nodes[0]][k] > 0) bound += q[region.nodes[0]][k] * p * log;
    });
  return bound;
}

// Two starts: the beliefs, and one combination that gives each node in turn the best value beside those already chosen.
double Reweighted::lower_bound() {
  Beliefs q = beliefs_;
  for (std::vector<double>& b : q)
    for (double& x : b) x = std::exp(x);
  const double spread = mean_field(q);
  for (std::uint32_t v = 0; v < q.size(); ++v) {
    std::vector<double> logs = weights_[v], sums(logs.size());
    for (const std::uint32_t r : regions_at_[v]) {
      const double largest = std::ranges::max(regions_[r].logs);
      std::ranges::fill(sums, 0);
      add_others(regions_[r], v, q,
                 [&](std::uint32_t k, double p, double log) { sums[k] += p * std::exp(log - largest); });
      for (std::size_t k = 0; k < sums.size(); ++k) logs[k] += std::log(sums[k]);
    }
    if (logs.empty()) continue;
    std::ranges::fill(q[v], 0);
    q[v][static_cast<std::size_t>(std::ranges::max_element(logs) - logs.begin())] = 1;
  }
  return std::max(spread, mean_field(std::move(q)));
}

}  // namespace dma::clique_tree
