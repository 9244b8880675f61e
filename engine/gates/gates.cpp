#include "engine/gates/gates.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/compile/draft.h"
#include "engine/compile/lay_out.h"
#include "engine/gates/mixture.h"
#include "engine/kinds/methods_of_kinds.h"
#include "engine/run/factor_mass.h"
#include "engine/run/run.h"
#include "engine/run/solver.h"
#include "engine/run/state_data.h"
#include "engine/support/log_sum_exp.h"
#include "engine/support/text.h"

namespace dma {

namespace {

struct Alternative {
  std::vector<GateCase> cases;         // value of every chooser
  std::vector<std::uint32_t> factors;  // indices of the factors that count here, in the order of the plan's
  std::vector<std::uint32_t> given;    // ... of factors outside the plan, because all their variables are given
  std::vector<std::uint8_t> exists;    // by variable: it has a factor here
  Plan plan;
};

class GateMemory : public SolverMemory {
 public:
  std::vector<State> states;    // one per alternative
  std::vector<double> weights;  // their probabilities; empty before the first run
  double log_evidence = 0;
  std::string why;  // reason why the answer is not exact; empty: it is exact
};

// Larger is worse.
int badness(Report::Stop stop) {
  using enum Report::Stop;
  constexpr Report::Stop kOrder[] = {exact, converged, approximate, interrupted, limit, singular, diverged};
  return static_cast<int>(std::ranges::find(kOrder, stop) - std::begin(kOrder));
}

class GateSolver : public Solver {
 public:
  explicit GateSolver(std::vector<Alternative> alternatives) : alternatives_(std::move(alternatives)) {}

  std::unique_ptr<SolverMemory> make_memory(const PlanData&) const override {
    auto memory = std::make_unique<GateMemory>();
    for (const Alternative& a : alternatives_) memory->states.emplace_back(a.plan);
    return memory;
  }
  Report run(State& state, const RunOptions& options) const override;
  Belief belief(const State& state, VariableId variable) const override;
  double log_evidence(const State& state) const override { return memory_of(state).log_evidence; }
  std::string_view evidence_method(const State& state) const override { return memory_of(state).why; }

 private:
  static GateMemory& memory_of(const State& state) { return static_cast<GateMemory&>(*state.solver_memory()); }
  // Log probability of a chooser's value in the state; for a shared variable, in its cavity.
  static double log_known(const State& state, const GateCase& one) {
    const PlanData::Variable v = state.plan()->variable(one.variable);
    std::vector<Natural> known(v.size);
    for (std::uint32_t k = 0; (v.observed || v.shared) && k < v.size; ++k)
      known[k] = state.data().message(v.first_slot + k);
    const double value = one.value;
    return is_flat(known) ? 0 : v.family->log_density(known, {&value, 1});
  }
  // Copies observations, tables and cavities to the state of an alternative.
  void prepare(const State& whole, const Alternative& alternative, State& state) const;
  // Log of the product of the factors whose variables are all given.
  static double log_given(const State& whole, const Alternative& alternative, const State& state);
  std::string text(const State& state) const;
  // Belief of a variable that has no factor in this case.
  static Belief in_case(const State& state, VariableId variable) {
    const PlanData::Variable v = state.plan()->variables[variable.value];
    if (!v.eliminated) return state.belief({variable.value});
    std::vector<Natural> known(v.size);
    for (std::uint32_t k = 0; k < v.size; ++k) known[k] = state.data().message(v.first_slot + k);
    return {v.name, v.family, std::move(known)};
  }

  std::vector<Alternative> alternatives_;
};

void GateSolver::prepare(const State& whole, const Alternative& alternative, State& state) const {
  carry_over(whole, state, alternative.factors);
  for (const GateCase& one : alternative.cases) state.observe({one.variable.value}, one.value);
  for (std::uint32_t v = 0; v < alternative.exists.size(); ++v)
    if (!alternative.exists[v]) state.observe({v}, std::vector<double>(state.plan()->variables[v].size));
}

double GateSolver::log_given(const State& whole, const Alternative& alternative, const State& state) {
  const PlanData& plan = *whole.plan();
  double sum = 0;
  for (const std::uint32_t f : alternative.given) {
    const auto [g, member] = plan.membership({f});
    const Group& group = plan.groups[g];
    const std::uint32_t first = group.first_slot[member];
    for (std::uint32_t s = first; s < first + group.slots_of(member); ++s) {
      Arrivals arrivals;
      std::vector<Family> families;
      for (const Group::Port& port : group.ports) {
        auto& list = arrivals.emplace_back();
        for (std::uint32_t q = s * port.terms; q < (s + 1) * port.terms; ++q) {
          const std::uint32_t e = whole.data().element(port, q);
          const std::size_t v = plan.variables.index_at(e);
          const State& known = plan.variables[v].observed ? whole : state;
          list.push_back(
              known.data().message(known.plan()->variables[v].first_slot + e - plan.variables[v].first_element));
        }
        families.push_back(plan.variables.at_element(whole.data().element(port, s * port.terms)).family);
        for (std::uint32_t t = 0; t < port.terms; t += families.back().components())
          if (const Components one = Components(list).subspan(t, families.back().components()); is_flat(one))
            sum += log_normaliser_or_flat(families.back(), one);  // it is missing
      }
      std::vector<double> parameters;
      whole.data().append_parameters(g, s, parameters);
      sum += log_mass(*group.kind, plan.factors[group.members[member]].method, arrivals, parameters, families);
    }
  }
  return sum;
}

// "2 cases, the likeliest effective = yes with 0.93"
std::string GateSolver::text(const State& state) const {
  const GateMemory& memory = memory_of(state);
  const auto best = static_cast<std::size_t>(std::ranges::max_element(memory.weights) - memory.weights.begin());
  std::vector<std::string> names;
  for (const GateCase& one : alternatives_[best].cases) {
    const PlanData::Variable v = state.plan()->variable(one.variable);
    names.push_back(fmt::format("{} = {}", v.name, state.plan()->variables.value_text(v.first_element, one.value)));
  }
  return fmt::format("{} cases, the likeliest {} with {:.4g}", alternatives_.size(), joined(names),
                     memory.weights[best]);
}

Report GateSolver::run(State& state, const RunOptions& options) const {
  GateMemory& memory = memory_of(state);
  memory.weights.clear();
  memory.why.clear();
  std::vector<double> logs(alternatives_.size(), -kInfinity);
  Report worst;
  worst.stop = Report::Stop::exact;
  std::uint64_t messages = 0;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    const Alternative& a = alternatives_[i];
    double log_cases = 0;
    for (const GateCase& one : a.cases) log_cases += log_known(state, one);
    if (log_cases == -kInfinity) continue;
    prepare(state, a, memory.states[i]);
    RunOptions own = options;
    own.warm &= a.plan->solver != nullptr || a.plan->schedule.order != Schedule::Order::once;
    try {
      const Report report = dma::run(a.plan, memory.states[i], own);
      messages += report.messages;
      if (badness(report.stop) >= badness(worst.stop)) worst = report;
    } catch (const Contradiction&) {  // the case has probability 0
      continue;
    }
    const Evidence found = evidence(a.plan, memory.states[i]);
    logs[i] = log_cases + log_given(state, a, memory.states[i]) + found.log_value;
    if (!found.is_exact && memory.why.empty()) memory.why = "in one case, " + found.why;
  }
  memory.log_evidence = log_sum_exp(logs);
  if (memory.log_evidence == -kInfinity)
    throw Contradiction("the observations have probability zero in every case of the gates; change an observation");
  if (worst.stop != Report::Stop::exact && memory.why.empty()) memory.why = "a case was not solved exactly";
  // The beliefs are weighted by the evidence, so they are exact only if it is.
  if (worst.stop == Report::Stop::exact && !memory.why.empty()) {
    worst.stop = Report::Stop::approximate;
    worst.why = "approximate: the evidence that weights the cases is approximate";
  }
  to_fractions(logs);
  memory.weights = std::move(logs);
  worst.joint.reset();
  worst.messages = messages;
  worst.found = text(state);
  return worst;
}

Belief GateSolver::belief(const State& state, VariableId variable) const {
  const GateMemory& memory = memory_of(state);
  const PlanData::Variable v = state.plan()->variable(variable);
  const std::uint32_t components = v.family.components();
  std::vector<Natural> out(v.size);
  if (v.observed)
    for (std::uint32_t i = 0; i < v.size; ++i) out[i] = state.data().message(v.first_slot + i);
  std::vector<Belief> beliefs;
  std::vector<double> weights;
  for (std::size_t i = 0; i < memory.weights.size(); ++i)
    if (memory.weights[i] > 0 && alternatives_[i].exists[variable.value]) {
      beliefs.push_back(in_case(memory.states[i], variable));
      weights.push_back(memory.weights[i]);
    }
  std::vector<Components> parts(beliefs.size());
  for (std::uint32_t e = 0; !parts.empty() && e < v.elements(); ++e) {
    Natural* const message = out.data() + e * components;
    if (v.observed && !is_flat({message, components})) continue;
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i] = beliefs[i].message(e);
    if (!mix(v.family, weights, parts, message))
      fail(
          "variable '{}': family {} has no message with given moments, and its belief in the cases of the gates is not "
          "one; give the family from_moments",
          v.name, v.family.text());
  }
  return {v.name, v.family, std::move(out)};
}

// The variables that choose, each with its number of values.
std::vector<GateCase> choosers_of(const Graph& graph, const Registry& registry) {
  std::vector<GateCase> choosers;
  std::vector<std::uint8_t> met(graph.variables().size());
  double cases = 1;
  for (const Graph::Factor& factor : graph.factors())
    for (const GateCase& one : factor.when) {
      const Graph::Variable v = graph[one.variable];
      const Family family = v.family.empty() ? Family() : registry.family(v.family);
      if (v.size != 1 || family.outcomes() == 0)
        fail("factor '{}': '{}' chooses, but it is {} of {} element{}; one element of a discrete variable is expected",
             factor.name(), v.name, family.text(), v.size, v.size == 1 ? "" : "s");
      if (one.value >= family.outcomes())
        fail("factor '{}' counts where '{}' is {}; its values are 0 to {}", factor.name(), v.name, one.value,
             family.outcomes() - 1);
      if (std::ranges::find(choosers, one.variable, &GateCase::variable) != choosers.end()) continue;
      choosers.push_back({one.variable, family.outcomes()});
      if ((cases *= family.outcomes()) > kMostCases)
        fail("gates: {} variables, '{}' the last, have more than {} cases together; let fewer choose", choosers.size(),
             v.name, kMostCases);
    }
  for (const Graph::Factor& factor : graph.factors())
    for (const Connection& c : factor.connections) met[c.variable.value] = 1;
  for (const GateCase& one : choosers) met[one.variable.value] = 1;
  if (const auto alone = std::ranges::find(met, 0); alone != met.end())
    fail("variable '{}' is connected to nothing; connect a factor to it or remove it",
         graph.variables()[static_cast<std::size_t>(alone - met.begin())].name);
  if (choosers.empty()) fail("gates: every factor counts always; give some {{.when = {{{{variable, value}}}}}}");
  return choosers;
}

Alternative make_alternative(const Graph& graph, const Gates& gates, const Registry& registry,
                             const CompileOptions& options, std::vector<GateCase> cases) {
  Alternative out{std::move(cases), {}, {}, std::vector<std::uint8_t>(graph.variables().size()), {}};
  const auto is_chosen = [&](VariableId v) {
    return std::ranges::find(out.cases, v, &GateCase::variable) != out.cases.end();
  };
  const auto is_given = [&](const Connection& c) {
    const Graph::Variable v = graph[c.variable];
    return is_chosen(c.variable) || (v.observed && !v.family.empty() && registry.family(v.family).outcomes() > 0);
  };
  const auto is_so = [&](const GateCase& wanted) {
    return std::ranges::any_of(
        out.cases, [&](const GateCase& one) { return one.variable == wanted.variable && one.value == wanted.value; });
  };
  for (std::uint32_t f = 0; f < graph.factors().size(); ++f) {
    const Graph::Factor factor = graph.factors()[f];
    if (!std::ranges::all_of(factor.when, is_so)) continue;
    if (gates.is_gaussian && std::ranges::all_of(factor.connections, is_given)) {
      out.given.push_back(f);
      continue;
    }
    out.factors.push_back(f);
    for (const Connection& c : factor.connections) out.exists[c.variable.value] = 1;
  }
  for (const GateCase& one : out.cases) out.exists[one.variable.value] = 1;
  Graph part;
  for (std::uint32_t i = 0; i < graph.variables().size(); ++i) {
    const Graph::Variable v = graph.variables()[i];
    const std::string name = v.name;
    out.exists[i] |= v.shared;
    // The value of a variable that does not exist here is never read.
    (void)(!out.exists[i]                           ? part.observed(name, v.size)
           : v.observed || is_chosen(VariableId{i}) ? part.observed(name, v.size, v.family)
           : v.shared                               ? part.shared(name, v.size, v.family)
                                                    : part.variable(name, v.size, v.family));
  }
  for (const std::uint32_t f : out.factors) {
    const Graph::Factor factor = graph.factors()[f];
    std::vector<Connection> connections(factor.connections.begin(), factor.connections.end());
    for (Connection& c : connections) c.variable = VariableId{c.variable.value};
    part.factor_like(factor, std::move(connections));
  }
  CompileOptions own = options;
  // The user reads parameters and beliefs of the original factors.
  own.fuse = false;
  own.is_part = true;
  std::erase_if(own.unobserved, [&](VariableId v) { return !out.exists[v.value] || is_chosen(v); });
  for (auto* const list : {&own.unobserved, &own.predicted, &own.may_be_missing})
    for (VariableId& v : *list) v = VariableId{v.value};
  out.plan = gates.compile_case(part, registry, own);
  return out;
}

}  // namespace

Plan compile(const Graph& graph, const Gates& gates, const Registry& registry, const CompileOptions& options) {
  const std::vector<GateCase> choosers = choosers_of(graph, registry);
  std::vector<Alternative> alternatives;
  std::vector<GateCase> at = choosers;
  for (GateCase& one : at) one.value = 0;
  while (true) {
    alternatives.push_back(make_alternative(graph, gates, registry, options, at));
    std::size_t j = at.size();
    while (j > 0 && ++at[j - 1].value == choosers[j - 1].value) at[--j].value = 0;
    if (j == 0) break;
  }
  auto kept_registry = std::make_shared<const Registry>(registry);
  CompileOptions methods = options;
  methods.is_part = true;  // a chooser has no other factor
  methods.kind_methods.merge(methods_of_kinds(graph, *kept_registry, options.method));
  Draft draft(resolve(graph.without_gates(), *kept_registry, methods));
  refuse_given_tables(draft.graph, "gates");
  PlanData& plan = draft.plan;
  plan.registry = kept_registry;
  plan.schedule.name = "gates";
  lay_out(draft, false);
  index_memberships(draft, graph.factors().size());
  plan.solver_text = fmt::format("gates: {} cases", alternatives.size());
  plan.solver = std::make_shared<GateSolver>(std::move(alternatives));
  return Plan(std::make_shared<PlanData>(std::move(plan)));
}

}  // namespace dma
