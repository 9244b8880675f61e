#include "engine/exact/hanging.h"

#include <algorithm>
#include <cmath>

#include "engine/compile/loops.h"
#include "engine/compile/schedule.h"
#include "engine/messages/mixed.h"
#include "engine/run/run.h"
#include "engine/run/solver.h"
#include "engine/support/text.h"

namespace dma::clique_tree {

namespace {

constexpr std::string_view kRepair = "sweep with a schedule, such as flooding()";

// Sends every message once, after all it depends on.
Scheduler along_trees() {
  return {"trees", [](const Flow& flow) {
            const auto order = flow.exact_order();
            if (!order)
              fail(
                  "exact: the factors that are not discrete form a loop, or need each other's "
                  "messages, around factor '{}'; only discrete variables may form loops: {}",
                  flow.name(0), kRepair);
            Schedule schedule{"trees", {}};
            for (const auto& [factor, port, slot] : order->messages)
              schedule.visits.push_back({factor, flow.reads(factor, port), PortSet{port}, slot});
            schedule.chains = order->chains;
            return schedule;
          }};
}

bool is_open(const PlanData::Variable& v) { return v.family.outcomes() == 0 && !v.observed; }

// Slots join their unknown elements.
Forest connected_parts(const PlanData& plan) {
  Forest parts(plan.elements);
  for (const Group& group : plan.groups)
    for (std::uint32_t s = 0; s < group.slots; ++s) {
      std::uint32_t first = kNowhere;
      for (const Group::Port& port : group.ports)
        for (std::uint32_t q = s * port.terms; q < (s + 1) * port.terms; ++q) {
          const std::uint32_t e = port.elements(q);
          if (plan.variables.at_element(e).observed) continue;
          if (first != kNowhere) (void)parts.join(e, first);
          first = e;
        }
    }
  return parts;
}

// Messages to a discrete unknown, and those of a factor without discrete variables, must be exact.
bool sends_exact_messages(const PlanData& plan, const Group& group) {
  const auto is_root = [&](const Group::Port& port) {
    const PlanData::Variable v = plan.variables.at_element(port.elements(0));
    return v.family.outcomes() > 0 && !v.observed;
  };
  const bool has_root = std::ranges::any_of(group.ports, is_root);
  return std::ranges::all_of(group.ports, [&](const Group::Port& port) {
    return port.message == nullptr || port.message->method == kExact || (has_root && !is_root(port));
  });
}

}  // namespace

std::shared_ptr<const Hanging> Hanging::of(const Graph& graph, const PlanData& plan, const DiscreteGraph& discrete,
                                           const Registry& registry, const CompileOptions& options) {
  const auto out = std::make_shared<Hanging>();
  std::vector<std::uint8_t> is_met(plan.variables.size());
  for (std::uint32_t f = 0; f < graph.factors().size(); ++f) {
    const Graph::Factor factor = graph.factors()[f];
    const auto meets_open = [&](const Connection& c) { return is_open(plan.variables[c.variable.value]); };
    if (std::ranges::none_of(factor.connections, meets_open)) continue;
    out->factors_.push_back(f);
    for (const Connection& c : factor.connections) is_met[c.variable.value] = 1;
  }
  if (out->factors_.empty()) return nullptr;
  Graph parts;
  for (std::uint32_t v = 0; v < plan.variables.size(); ++v) {
    const PlanData::Variable of = plan.variables[v];
    const std::string family = of.family == Family() ? "" : of.family.text();
    (void)(!is_met[v]                  ? parts.variable(of.name.text(), of.size)  // the variable has no factor here
           : of.observed               ? parts.observed(of.name.text(), of.elements(), family)
           : of.shared || !is_open(of) ? parts.shared(of.name.text(), of.elements(), family)
                                       : parts.variable(of.name.text(), of.elements(), family));
  }
  for (const std::uint32_t f : out->factors_) {
    const Graph::Factor factor = graph.factors()[f];
    std::vector<Connection> connections(factor.connections.begin(), factor.connections.end());
    for (Connection& c : connections) c.variable = VariableId{c.variable.value};
    parts.factor_like(factor, std::move(connections));
  }
  CompileOptions own = options;
  own.fuse = false;
  own.is_part = true;
  own.unobserved.clear();
  own.predicted.clear();
  for (VariableId& v : own.may_be_missing) v = VariableId{v.value};
  out->plan_ = compile(parts, along_trees(), registry, own);
  const PlanData& compiled = *out->plan_;
  Forest joined = connected_parts(compiled);
  std::vector<std::uint32_t> found(compiled.elements, kNowhere);
  for (std::uint32_t v = 0; v < compiled.variables.size(); ++v) {
    const PlanData::Variable of = compiled.variables[v];
    if (of.observed || of.family.outcomes() == 0 || !is_met[v]) continue;
    for (std::uint32_t i = 0; i < of.elements(); ++i) {
      const std::uint32_t e = of.first_element + i * of.family.components();
      std::uint32_t& other = found[joined.leader(e)];
      if (other != kNowhere)
        fail(
            "exact: factors that are not discrete join '{}' and '{}'; a "
            "connected part of them may hang on one discrete variable only: {}",
            compiled.element_name(other), compiled.element_name(e), kRepair);
      other = e;
      out->places_.push_back({discrete.node_at[e], v, i});  // elements have the same numbers in both graphs
    }
  }
  out->place_at_.assign(compiled.elements, kNowhere);
  std::vector<std::uint32_t> place_of_leader(compiled.elements, kNowhere);
  for (std::uint32_t i = 0; i < out->places_.size(); ++i) {
    const Place& place = out->places_[i];
    place_of_leader[joined.leader(discrete.nodes[place.node].element)] = i;
  }
  for (std::uint32_t e = 0; e < compiled.elements; ++e) out->place_at_[e] = place_of_leader[joined.leader(e)];
  out->is_exact_ =
      std::ranges::all_of(compiled.groups, [&](const Group& group) { return sends_exact_messages(compiled, group); });
  return out;
}

// Copies values, cavities and parameters of the whole. The cavities of discrete elements are the cliques' beliefs.
void Hanging::read(const State& whole, State& parts) const {
  for (std::uint32_t v = 0; v < plan_->variables.size(); ++v) {
    const PlanData::Variable of = plan_->variables[v];
    for (std::uint32_t i = 0; of.observed && of.family.outcomes() > 0 && i < of.elements(); ++i)
      if (whole.is_missing({v}, i))
        fail(
            "exact: observed variable '{}' has no value in this run, and joins others "
            "that are not discrete; declare it with graph.variable(...) if it is unknown",
            of.name);
  }
  carry_over(whole, parts, factors_);
  for (const Place& place : places_) {
    const PlanData::Variable of = plan_->variables[place.variable];
    const MessageArrays cavity = parts.cavity({place.variable});
    std::fill_n(cavity.tau, of.size, 0.0);
    std::fill_n(cavity.rho, of.size, 0.0);
  }
}

Hanging::Found Hanging::collect(const State& whole, State& parts) const {
  read(whole, parts);
  (void)dma::run(plan_, parts);
  Found out;
  for (const Place& place : places_) {
    const Belief belief = parts.belief({place.variable});
    const Family& family = belief.family();
    Hint& hint = out.hints.emplace_back(Hint{place.node, {}});
    for (std::uint32_t k = 0; k < family.outcomes(); ++k) {
      const double value = k;
      hint.logs.push_back(belief.log_density(place.element, {&value, 1}));
    }
    out.log_scale += std::log(family.outcomes());  // its cavity is uniform, which counts as a density
  }
  try {
    out.log_scale += dma::log_evidence(plan_, parts);
  } catch (const Error& error) {
    out.why_no_evidence = error.what();
  }
  return out;
}

void Hanging::set_cavity(const Place& place, const std::vector<double>& logs, State& parts) const {
  const Family family = plan_->variables[place.variable].family;
  std::vector<Natural> message(family.components());
  family->from_logs(logs, message.data());
  const MessageArrays cavity = parts.cavity({place.variable});
  for (std::size_t k = 0; k < message.size(); ++k) {
    const std::size_t at = place.element * message.size() + k;
    cavity.tau[at] = message[k].tau;
    cavity.rho[at] = message[k].rho;
  }
}

std::vector<Natural> Hanging::distribute(const Found& found, const std::vector<std::vector<double>>& log_beliefs,
                                         State& parts) const {
  std::vector<MixedMoments> mixed(plan_->elements);
  std::size_t most = 1;
  for (const Place& place : places_) most = std::max(most, log_beliefs[place.node].size());
  for (std::size_t k = 0; k < most; ++k) {  // parts are independent: value k of all elements at once
    for (const Place& place : places_) {
      const std::vector<double>& belief = log_beliefs[place.node];
      const bool is_possible = k < belief.size() && belief[k] > -HUGE_VAL;
      std::vector<double> logs(belief.size(), -HUGE_VAL);
      logs[is_possible ? k : static_cast<std::size_t>(std::ranges::max_element(belief) - belief.begin())] = 0;
      set_cavity(place, logs, parts);
    }
    (void)dma::run(plan_, parts);
    for (std::uint32_t v = 0; v < plan_->variables.size(); ++v) {
      const PlanData::Variable of = plan_->variables[v];
      if (!is_open(of) || of.eliminated || !of.family->is_like_gaussian) continue;
      const Belief belief = parts.belief({v});
      for (std::uint32_t i = 0; i < of.size; ++i) {
        const std::uint32_t place = place_at_[of.first_element + i];
        const std::vector<double> alone{0};  // for a part that hangs on no element
        const std::vector<double>& logs = place == kNowhere ? alone : log_beliefs[places_[place].node];
        if (k < logs.size() && logs[k] > -HUGE_VAL) mixed[of.first_element + i].add(std::exp(logs[k]), belief[i]);
      }
    }
  }
  for (std::size_t i = 0; i < places_.size(); ++i) {
    std::vector<double> logs = log_beliefs[places_[i].node];
    for (std::size_t k = 0; k < logs.size(); ++k)
      if (logs[k] > -HUGE_VAL) logs[k] -= found.hints[i].logs[k];
    set_cavity(places_[i], logs, parts);
  }
  (void)dma::run(plan_, parts);
  std::vector<Natural> out;
  for (const MixedMoments& one : mixed) out.push_back(one.projected());
  return out;
}

}  // namespace dma::clique_tree
