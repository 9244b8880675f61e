#include "engine/exact/solver.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/exact/reweighted.h"
#include "engine/run/state_data.h"
#include "engine/run/watch.h"
#include "engine/support/text.h"

namespace dma::clique_tree {

namespace {

template <class Number>
bool passes_over(Propagation<Number>& tables, const State& state, std::span<const Hint> hints, Passes passes) {
  if (!tables.collect(state, hints, passes == Passes::maxima)) return false;
  return passes != Passes::both || tables.log_total() == -HUGE_VAL || tables.distribute();
}

// Adds the cavities of shared variables.
void add_cavities(const DiscreteGraph& discrete, const State& state, std::vector<Hint>& hints) {
  for (const auto& v : state.plan()->variables) {
    if (!v.shared || v.observed || v.family.outcomes() == 0) continue;
    std::vector<Natural> message(v.family.components());
    for (std::uint32_t e = 0; e < v.size; e += v.family.components()) {
      for (std::uint32_t k = 0; k < message.size(); ++k) message[k] = state.data().message(v.first_slot + e + k);
      if (is_flat(message)) continue;
      Hint& hint = hints.emplace_back(Hint{discrete.node_at[v.first_element + e], {}});
      for (std::uint32_t k = 0; k < v.family.outcomes(); ++k) {
        const double value = k;
        hint.logs.push_back(v.family->log_density(message, {&value, 1}));
      }
    }
  }
}

bool is_same_pattern(const Values& a, const Values& b) {
  return std::ranges::equal(a, b, [](std::uint32_t x, std::uint32_t y) { return (x == kNowhere) == (y == kNowhere); });
}

}  // namespace

CliqueTables propagate(const Problem& problem, const State& state, std::span<const Hint> hints, Passes passes) {
  CliqueTables tables{std::in_place_type<Propagation<double>>, problem};
  propagate_again(tables, problem, state, hints, passes);
  return tables;
}

void propagate_again(CliqueTables& tables, const Problem& problem, const State& state, std::span<const Hint> hints,
                     Passes passes) {
  if (!std::holds_alternative<Propagation<double>>(tables)) tables.emplace<Propagation<double>>(problem);
  if (!passes_over(std::get<Propagation<double>>(tables), state, hints, passes))
    (void)passes_over(tables.emplace<Propagation<WideNumber>>(problem), state, hints, passes);
}

double log_total(const CliqueTables& tables) {
  return std::visit([](const auto& t) { return t.log_total(); }, tables);
}

void DiscreteSolver::make_parts(DiscreteMemory& memory) const {
  if (hanging_ != nullptr) memory.parts.emplace(hanging_->plan());
}

void DiscreteSolver::begin(const State& state, DiscreteMemory& memory) const {
  memory.is_solved = false;
  read_observed(discrete_, state, memory.values);
  if (hanging_ != nullptr) memory.found = hanging_->collect(state, *memory.parts);
  memory.hints = memory.found.hints;
  add_cavities(discrete_, state, memory.hints);
}

void DiscreteSolver::end(DiscreteMemory& memory) const {
  if (hanging_ != nullptr) memory.mixed = hanging_->distribute(memory.found, memory.log_beliefs, *memory.parts);
  memory.is_solved = true;
}

Belief DiscreteSolver::belief(const State& state, VariableId variable) const {
  const auto& memory = static_cast<const DiscreteMemory&>(*state.solver_memory());
  const auto& v = state.plan()->variable(variable);
  const bool hangs = memory.is_solved && hanging_ != nullptr && v.family.outcomes() == 0 && !v.observed;
  if (hangs && !v.family->is_like_gaussian) return memory.parts->belief({variable.value});
  std::vector<Natural> out(v.size);
  if (hangs) std::copy_n(memory.mixed.begin() + v.first_element, v.size, out.begin());
  if (v.observed)
    for (std::uint32_t i = 0; i < v.size; ++i) out[i] = state.data().message(v.first_slot + i);
  for (std::uint32_t e = 0; memory.is_solved && v.family.outcomes() > 0 && e < v.size; e += v.family.components())
    if (const auto& logs = memory.log_beliefs[discrete_.node_at[v.first_element + e]]; !logs.empty())
      v.family->from_logs(logs, out.data() + e);
  return {v.name, v.family, std::move(out)};
}

ExactSolver::ExactSolver(const PlanData& plan, DiscreteGraph discrete, std::shared_ptr<const Hanging> hanging,
                         ExactOptions options)
    : DiscreteSolver(std::move(discrete), std::move(hanging)),
      options_(options),
      as_compiled_(discrete_.nodes.size(), kNowhere) {
  for (const auto& v : plan.variables)
    for (std::uint32_t e = 0; v.observed && v.family.outcomes() > 0 && e < v.size; e += v.family.components())
      as_compiled_[discrete_.node_at[v.first_element + e]] = 0;
  tree_ = make_tree(plan, as_compiled_);
}

std::shared_ptr<const CliqueTree> ExactSolver::make_tree(const PlanData& plan, const Values& values) const {
  return std::make_shared<const CliqueTree>(discrete_, values, plan, options_.memory);
}

std::unique_ptr<SolverMemory> ExactSolver::make_memory(const PlanData&) const {
  auto memory = std::make_unique<CliqueMemory>();
  memory->tree = tree_;
  memory->of_tree = as_compiled_;
  make_parts(*memory);
  return memory;
}

Report ExactSolver::run(State& state, const RunOptions&) const {
  CliqueMemory& memory = static_cast<CliqueMemory&>(*state.solver_memory());
  begin(state, memory);
  if (!is_same_pattern(memory.values, memory.of_tree)) {
    memory.tree = is_same_pattern(memory.values, as_compiled_) ? tree_ : make_tree(*state.plan(), memory.values);
    memory.of_tree = memory.values;
    memory.tables.reset();
  }
  const Problem problem{discrete_, *memory.tree, memory.values};
  if (!memory.tables) memory.tables.emplace(std::in_place_type<Propagation<double>>, problem);
  propagate_again(*memory.tables, problem, state, memory.hints, Passes::both);
  if (log_total(*memory.tables) == -HUGE_VAL) refuse_impossible(state, memory);
  memory.log_beliefs.resize(discrete_.nodes.size());
  for (std::uint32_t v = 0; v < discrete_.nodes.size(); ++v) {
    std::vector<double>& logs = memory.log_beliefs[v];
    logs.clear();
    if (memory.values[v] == kNowhere)
      std::visit([&](const auto& tables) { tables.log_marginal(memory.tree->home[v], {&v, 1}, logs); }, *memory.tables);
  }
  end(memory);
  Report report;
  const bool is_exact = hanging_ == nullptr || hanging_->has_exact_messages();
  report.stop = is_exact ? Report::Stop::exact : Report::Stop::approximate;
  report.why = is_exact ? "" : "approximate messages reach the discrete variables";
  report.messages = 2 * static_cast<std::uint64_t>(std::ranges::count_if(
                            memory.tree->cliques, [](const Clique& c) { return c.parent != kNowhere; }));
  report.found = memory.tree->text();
  return report;
}

double ExactSolver::log_evidence(const State& state) const { return ExactPosterior(state).log_evidence(); }

// Finds a minimal set of observations that are impossible together: the last one that makes its predecessors impossible
// belongs to it; repeat with its predecessors.
void ExactSolver::refuse_impossible(const State& state, const CliqueMemory& memory) const {
  std::vector<std::uint32_t> candidates, needed;
  for (std::uint32_t v = 0; v < memory.values.size(); ++v)
    if (memory.values[v] != kNowhere) candidates.push_back(v);
  const auto are_impossible = [&](std::size_t count) {
    Values values(memory.values.size(), kNowhere);
    for (std::size_t i = 0; i < count; ++i) values[candidates[i]] = memory.values[candidates[i]];
    for (const std::uint32_t v : needed) values[v] = memory.values[v];
    const auto tree = make_tree(*state.plan(), values);
    return log_total(propagate({discrete_, *tree, values}, state, memory.hints, Passes::sums)) == -HUGE_VAL;
  };
  std::string_view advice = "change one of these observations";
  try {
    while (!are_impossible(0)) {
      std::size_t possible = 0, impossible = candidates.size();
      while (impossible - possible > 1) {
        const std::size_t middle = (possible + impossible) / 2;
        (are_impossible(middle) ? impossible : possible) = middle;
      }
      needed.push_back(candidates[possible]);
      candidates.resize(possible);
    }
  } catch (const Error&) {  // with fewer observations the cliques are too wide
    needed.insert(needed.end(), candidates.begin(), candidates.end());
    advice = "change some of these observations";
  }
  if (needed.empty())
    throw Contradiction(
        "the factors forbid every combination of values, with or without "
        "observations; look for tables that contradict each other");
  constexpr std::size_t kNamed = 8;
  std::ranges::sort(needed);
  std::string names;
  for (std::size_t i = 0; i < std::min(kNamed, needed.size()); ++i) {
    const std::uint32_t element = discrete_.nodes[needed[i]].element;
    names += fmt::format("{}'{}' = {}",
                         i == 0                   ? ""
                         : i + 1 == needed.size() ? " and "
                                                  : ", ",
                         state.plan()->element_name(element),
                         state.plan()->variables.value_text(element, memory.values[needed[i]]));
  }
  if (needed.size() > kNamed) names += fmt::format(" and {} more", needed.size() - kNamed);
  throw Contradiction(fmt::format("the observations have probability zero: {} {}; {}", names,
                                  needed.size() == 1 ? "cannot be" : "cannot be together", advice));
}

ReweightedSolver::ReweightedSolver(DiscreteGraph discrete, std::shared_ptr<const Hanging> hanging,
                                   ReweightedOptions options)
    : DiscreteSolver(std::move(discrete), std::move(hanging)), options_(options) {
  if (!(options.tolerance >= 0)) fail("tree_reweighted: tolerance is {}; it must be 0 or more", options.tolerance);
  if (options.limit < 1) fail("tree_reweighted: the limit is {} sweeps; at least 1 is expected", options.limit);
  double bytes = 0;
  for (const Scope& scope : discrete_.scopes) {
    double own = 2 * sizeof(double);  // the table, and its sums
    for (const std::uint32_t v : discrete_.nodes_of(scope)) own *= discrete_.nodes[v].values;
    bytes += own;
  }
  if (const auto limit = static_cast<double>(options.memory); bytes > limit)
    fail("tree_reweighted: the factors as tables take {:.3g} GB, more than the limit of {:.3g} GB; sweep with a "
         "schedule, such as flooding(), or raise tree_reweighted({{.memory = ...}})",
         bytes / 1e9, limit / 1e9);
  if (hanging_ != nullptr && !hanging_->has_exact_messages())
    fail("tree_reweighted: approximate messages reach the discrete variables, and nothing is proved with them; sweep "
         "with a schedule, such as flooding()");
}

std::unique_ptr<SolverMemory> ReweightedSolver::make_memory(const PlanData&) const {
  auto memory = std::make_unique<BoundMemory>();
  make_parts(*memory);
  return memory;
}

Report ReweightedSolver::run(State& state, const RunOptions& options) const {
  BoundMemory& memory = static_cast<BoundMemory&>(*state.solver_memory());
  begin(state, memory);
  if (!memory.found.why_no_evidence.empty()) fail("{}", memory.found.why_no_evidence);
  Reweighted messages(discrete_, memory.values, state, memory.hints);
  const Watch watch(options);
  Report report;
  report.stop = Report::Stop::limit;
  while (report.sweeps < options_.limit && !messages.is_impossible()) {
    report.change = messages.sweep();
    report.messages += messages.messages();
    ++report.sweeps;
    if (report.change <= options_.tolerance) {
      report.stop = Report::Stop::converged;
      break;
    }
    if (watch.goes_on(report)) continue;
    report.stop = Report::Stop::interrupted;
    break;
  }
  memory.bounds.upper = messages.is_impossible() ? -HUGE_VAL : messages.upper_bound() + memory.found.log_scale;
  if (messages.is_impossible())
    throw Contradiction(
        "the observations have probability zero: the factors forbid every combination of "
        "values; change an observation, or solve by exact(), which names those that contradict");
  memory.bounds.lower = messages.lower_bound() + memory.found.log_scale;
  const double above = memory.bounds.lower - memory.bounds.upper;
  const double rounding = 1e-9 * (1 + std::abs(memory.bounds.upper));
  if (above > 0 && above < rounding) memory.bounds.lower = memory.bounds.upper;
  memory.log_beliefs = messages.log_beliefs();
  end(memory);
  memory.why = fmt::format("an upper bound, by tree-reweighted messages; it is at least {:.6g}", memory.bounds.lower);
  report.found = fmt::format("beliefs approximate, log evidence between {:.6g} and {:.6g}", memory.bounds.lower,
                               memory.bounds.upper);
  return report;
}

double ReweightedSolver::log_evidence(const State& state) const { return evidence_bounds(state).upper; }

std::string_view ReweightedSolver::evidence_method(const State& state) const {
  return static_cast<const BoundMemory&>(*state.solver_memory()).why;
}

const ExactSolver& solver_of(const PlanData& plan) {
  const auto* const solver = dynamic_cast<const ExactSolver*>(plan.solver.get());
  if (solver == nullptr) fail("this plan is not solved by exact; compile it with compile(graph, exact(), registry)");
  return *solver;
}

const CliqueMemory& solved_cliques(const State& state) {
  (void)solver_of(*state.plan());
  const CliqueMemory& memory = static_cast<const CliqueMemory&>(*state.solver_memory());
  if (!memory.is_solved) fail("this state has not been run; call run(plan, state) first");
  if (!state.ended()) fail("the inputs of this state changed since it was run; call run(plan, state) again");
  return memory;
}

}  // namespace dma::clique_tree

namespace dma {

EvidenceBounds evidence_bounds(const State& state) {
  if (dynamic_cast<const clique_tree::ReweightedSolver*>(state.plan()->solver.get()) == nullptr)
    fail("this plan has no bounds of its evidence; compile it with compile(graph, tree_reweighted(), registry)");
  if (!state.ended()) fail("this state was not run, or its inputs changed since; call run(plan, state) first");
  return static_cast<const clique_tree::BoundMemory&>(*state.solver_memory()).bounds;
}

}  // namespace dma
