// Reads posteriors from a state that exact has run.
#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_01.hpp>
#include <cmath>

#include "engine/compile/plan_data.h"
#include "engine/exact/solver.h"
#include "engine/support/text.h"

namespace dma {

namespace {

using namespace clique_tree;

std::uint32_t node_of(const PlanData& plan, const ElementOf& of) {
  const auto& v = plan.variable(of.variable);
  if (v.family.outcomes() == 0)
    fail("exact: variable '{}' is {}; only discrete variables have a table of probabilities", v.name, v.family.text());
  if (of.element >= v.elements())
    fail("variable '{}' has {} elements, there is no element {}", v.name, v.elements(), of.element);
  const auto first = static_cast<std::uint32_t>(of.element) * v.family.components();
  return solver_of(plan).discrete().node_at[v.first_element + first];
}

// Tables of joint probabilities of unknown nodes.
class Joints {
 public:
  explicit Joints(const State& state)
      : state_(state), discrete_(solver_of(*state.plan()).discrete()), memory_(solved_cliques(state)) {}

  std::vector<double> of(std::span<const std::uint32_t> list) const {
    constexpr double kMost = 1e8;
    double entries = 1;
    std::vector<std::uint32_t> unknown;
    for (const std::uint32_t v : list) {
      entries *= discrete_.nodes[v].values;
      if (memory_.values[v] == kNowhere && std::ranges::find(unknown, v) == unknown.end()) unknown.push_back(v);
    }
    if (entries > kMost)
      fail("exact: a table of {:.3g} probabilities is asked for; ask for fewer variables at a time", entries);
    const std::vector<double> logs =
        unknown.empty() ? std::vector{0.0} : logs_of(*memory_.tables, memory_.hints, unknown);
    std::vector<double> out(static_cast<std::size_t>(entries));
    Values values = memory_.values;
    for (std::size_t i = 0; i < logs.size(); ++i) {
      std::size_t rest = i, at = 0;
      for (std::size_t j = unknown.size(); j > 0; --j) {
        const std::uint32_t count = discrete_.nodes[unknown[j - 1]].values;
        values[unknown[j - 1]] = static_cast<std::uint32_t>(rest % count);
        rest /= count;
      }
      for (const std::uint32_t v : list) at = at * discrete_.nodes[v].values + values[v];
      out[at] = std::exp(logs[i]);
    }
    return out;
  }

 private:
  std::uint32_t common_clique(std::span<const std::uint32_t> nodes) const {
    std::uint32_t first = kNowhere;
    for (const std::uint32_t v : nodes) first = std::min(first, memory_.tree->home[v]);
    const auto& own = memory_.tree->cliques[first].nodes;
    const auto is_there = [&](std::uint32_t v) { return std::ranges::find(own, v) != own.end(); };
    return std::ranges::all_of(nodes, is_there) ? first : kNowhere;
  }

  // Reads one clique, or conditions on each value of the first node and reads the others.
  std::vector<double> logs_of(const CliqueTables& tables, const std::vector<Hint>& hints,
                              std::span<const std::uint32_t> nodes) const {
    if (const std::uint32_t clique = common_clique(nodes); clique != kNowhere) {
      std::vector<double> logs;
      std::visit([&](const auto& t) { t.log_marginal(clique, nodes, logs); }, tables);
      return logs;
    }
    std::size_t others = 1;
    for (const std::uint32_t v : nodes.subspan(1)) others *= discrete_.nodes[v].values;
    std::vector<double> out;
    std::vector<Hint> given = hints;
    given.push_back({nodes[0], {}});
    for (std::uint32_t k = 0; k < discrete_.nodes[nodes[0]].values; ++k) {
      given.back().logs.assign(discrete_.nodes[nodes[0]].values, -HUGE_VAL);
      given.back().logs[k] = 0;
      const CliqueTables here = propagate({discrete_, *memory_.tree, memory_.values}, state_, given, Passes::both);
      const double log_weight = log_total(here) - log_total(tables);
      const std::vector<double> rest =
          log_weight == -HUGE_VAL ? std::vector(others, -HUGE_VAL) : logs_of(here, given, nodes.subspan(1));
      for (const double log : rest) out.push_back(log + log_weight);
    }
    return out;
  }

  const State& state_;
  const DiscreteGraph& discrete_;
  const CliqueMemory& memory_;
};

double ratio(double x, double largest) { return x / largest; }
double ratio(const WideNumber& x, const WideNumber& largest) { return std::exp((x / largest).log()); }

}  // namespace

ExactPosterior::ExactPosterior(const State& state) : state_(&state) { (void)solved_cliques(state); }

double ExactPosterior::log_evidence() const {
  const CliqueMemory& memory = solved_cliques(*state_);
  if (!memory.found.why_no_evidence.empty()) fail("{}", memory.found.why_no_evidence);
  return log_total(*memory.tables) + memory.found.log_scale;
}

std::vector<double> ExactPosterior::marginal(std::span<const ElementOf> elements) const {
  std::vector<std::uint32_t> nodes;
  for (const ElementOf& element : elements) nodes.push_back(node_of(*state_->plan(), element));
  return Joints(*state_).of(nodes);
}

std::vector<double> ExactPosterior::family(FactorId factor, std::size_t slot) const {
  const PlanData& plan = *state_->plan();
  const auto [g, member] = plan.membership(factor);
  const Group& group = plan.groups[g];
  if (slot >= group.slots_of(member))
    fail("factor '{}' has {} slots, there is no slot {}", plan.factors.name(group.members[member]),
         group.slots_of(member), slot);
  const std::uint32_t s = group.first_slot[member] + static_cast<std::uint32_t>(slot);
  std::vector<std::uint32_t> nodes;
  for (const Group::Port& port : group.ports)
    for (std::uint32_t q = s * port.terms; q < (s + 1) * port.terms; ++q)
      if (const std::uint32_t v = solver_of(*state_->plan()).discrete().node_at[port.elements(q)]; v != kNowhere)
        nodes.push_back(v);
  return Joints(*state_).of(nodes);
}

MostProbable ExactPosterior::most_probable() const {
  const CliqueMemory& memory = solved_cliques(*state_);
  const CliqueTables tables = propagate({solver_of(*state_->plan()).discrete(), *memory.tree, memory.values}, *state_,
                                        memory.hints, Passes::maxima);
  MostProbable out;
  out.log_probability =
      memory.found.why_no_evidence.empty() ? log_total(tables) + memory.found.log_scale : std::nan("");
  out.values.plan_ = state_->plan();
  Values& values = out.values.rows_.emplace_back(memory.values);
  std::visit(
      [&](const auto& t) {
        t.assign(values, [](auto weights) {
          std::size_t best = 0;
          for (std::size_t i = 1; i < weights.size(); ++i)
            if (weights[best] < weights[i]) best = i;
          return best;
        });
      },
      tables);
  return out;
}

Assignments ExactPosterior::sample(std::size_t draws, std::uint64_t seed) const {
  const CliqueMemory& memory = solved_cliques(*state_);
  Assignments out;
  out.plan_ = state_->plan();
  boost::random::mt19937_64 random(seed);
  boost::random::uniform_01<double> uniform;
  const auto draw = [&](auto weights) {
    auto largest = weights[0];
    for (const auto& x : weights)
      if (largest < x) largest = x;
    double total = 0;
    for (const auto& x : weights) total += ratio(x, largest);
    double left = uniform(random) * total;
    std::size_t last = 0;  // last possible value: rounding may leave a remainder
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const double share = ratio(weights[i], largest);
      if (share == 0) continue;
      last = i;
      if ((left -= share) < 0) break;
    }
    return last;
  };
  for (std::size_t d = 0; d < draws; ++d) {
    Values& values = out.rows_.emplace_back(memory.values);
    std::visit([&](const auto& t) { t.assign(values, draw); }, *memory.tables);
  }
  return out;
}

std::uint32_t Assignments::operator()(std::size_t row, ElementOf element) const {
  if (row >= rows_.size()) fail("there is no row {} of values; {} exist", row, rows_.size());
  return rows_[row][node_of(*plan_, element)];
}

}  // namespace dma
