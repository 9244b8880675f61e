#include "engine/certify/certify.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/certify/exact_message.h"
#include "engine/certify/scenario.h"
#include "engine/run/messages_at.h"
#include "engine/run/state_data.h"
#include "engine/support/text.h"

namespace dma {

namespace {

// Theorem 3.3 speaks of r >= 2.
constexpr double kConcentrated = 2;

// The messages that arrive at the factors of a state.
class Neighbourhood {
 public:
  Neighbourhood(const Plan& plan, const State& state) : plan_(plan), state_(state) {
    if (state.plan() != plan) fail("this state belongs to another plan; give the plan that it was made for");
    if (plan->solver != nullptr)
      fail("no certificate: {} sends no messages; compile with a schedule, such as flooding()", plan->schedule.name);
    if (!state.ended())
      fail("no certificate: the state was not run, or its inputs changed since; call run(plan, state) first");
  }

  Incidence incidence() const { return state_.data().incidence(); }
  // The product of all messages at the element of (port, q) but its own.
  Natural arrival(const Group::Port& port, std::uint32_t q) const {
    const std::uint32_t e = state_.data().element(port, q);
    const PlanData::Variable v = plan_->variables.at_element(e);
    return state_.data().product_at(v, e - v.first_element, port.first_slot + q);
  }

  Scenario at(const Group& group, std::uint32_t slot) const {
    Scenario scenario;
    for (const Group::Port& port : group.ports) {
      auto& messages = scenario.arrivals.emplace_back();
      for (std::uint32_t t = 0; t < port.terms; ++t) messages.push_back(arrival(port, slot * port.terms + t));
    }
    const auto g = static_cast<std::uint32_t>(&group - plan_->groups.data());
    state_.data().append_parameters(g, slot, scenario.parameters);
    return scenario;
  }

 private:
  const Plan& plan_;
  const State& state_;
};

// Number of variables that the exact message integrates over: all but the target and the one the delta is spent on.
std::size_t dimensions(const Kind& kind, const Scenario& scenario, std::size_t port, std::size_t term) {
  std::size_t proper_inputs = 0;
  for (std::size_t p = 0; p < scenario.arrivals.size(); ++p)
    if (!kind.ports()[p].output)
      for (std::size_t t = 0; t < scenario.arrivals[p].size(); ++t)
        if (!(p == port && t == term) && scenario.arrivals[p][t].is_proper()) ++proper_inputs;
  return kind.ports()[port].output && proper_inputs > 0 ? proper_inputs - 1 : proper_inputs;
}

void measure(const Kind& kind, const MessageFunction& function, const Scenario& scenario, std::size_t term,
             const RunCertificateOptions& options, EdgeError& edge) {
  const std::size_t port = function.target;
  if (function.method == kExact) {  // proved, and measured by certify()
    edge.delta = edge.bound = edge.marginal = 0;
    return;
  }
  if (dimensions(kind, scenario, port, term) > options.dimensions) return;
  const Gaussian incoming(scenario.arrivals[port][term]);
  const auto messages = evaluate(kind, function.method, port, scenario.arrivals, scenario.parameters);
  if (!messages || !(*messages)[term].is_proper() || !incoming.is_proper()) return;
  const Gaussian message((*messages)[term]);
  const auto curve = trace_exact(kind, port, term, scenario.arrivals, scenario.parameters,
                                 {message, incoming, message * incoming}, options.tolerance);
  if (!curve || !(curve->mass > 0)) return;
  const Curve marginal = curve->times(incoming);
  edge.marginal = std::max(0.0, marginal.kl(message * incoming));
  if (!curve->proper) return;
  edge.delta = std::max(0.0, curve->kl(message));
  edge.bound = std::exp(log_density(incoming, incoming.mean())) / (marginal.mass / curve->mass) * *edge.delta;
}

void add_edges(const Plan& plan, const Neighbourhood& neighbourhood, VariableId variable,
               const RunCertificateOptions& options, RunCertificate& out) {
  const auto& v = plan->variable(variable);
  if (v.observed || v.eliminated) return;
  struct End {
    std::uint32_t group, port, q;
  };
  std::vector<End> ends;
  for (const auto& end : v.ends) {
    const Group& group = plan->groups[end.group];
    const Group::Port& port = group.ports[end.port];
    if (port.message == nullptr) continue;
    for_each_message(*plan, neighbourhood.incidence(), v, end, [&](std::uint32_t, std::uint32_t slot) {
      ends.push_back({end.group, end.port, slot - port.first_slot});
    });
  }
  const std::size_t stride = options.limit == 0 ? 1 : std::max<std::size_t>(1, ends.size() / options.limit);
  for (std::size_t i = 0; i < ends.size(); i += stride) {
    const Group& group = plan->groups[ends[i].group];
    const Group::Port& port = group.ports[ends[i].port];
    const std::uint32_t slot = ends[i].q / port.terms, term = ends[i].q % port.terms;
    const Scenario scenario = neighbourhood.at(group, slot);
    EdgeError edge{{plan.data(), ends[i].group, ends[i].port, slot}, group.kind->name()};
    edge.r = signal_to_noise(*group.kind, scenario, ends[i].port, term);
    measure(*group.kind, *port.message, scenario, term, options, edge);
    out.edges.push_back(std::move(edge));
  }
}

std::string number(const std::optional<double>& value) { return value ? fmt::format("{:.3g}", *value) : "-"; }

}  // namespace

const EdgeError* RunCertificate::worst() const {
  const EdgeError* worst = nullptr;
  for (const EdgeError& edge : edges)
    if (edge.bound && (worst == nullptr || *edge.bound > *worst->bound)) worst = &edge;
  return worst;
}

std::string RunCertificate::line() const {
  std::string text = "no bound could be computed";
  if (const EdgeError* edge = worst())
    text = fmt::format("largest bound {:.2g} nats, at {} {}", *edge->bound, edge->kind, edge->place.text());
  // Kinds some of whose exact messages are improper: on edges without a delta, r is what the guarantee hangs on.
  std::map<std::string, std::pair<std::size_t, std::size_t>> weak;
  for (const EdgeError& edge : edges)
    if (edge.place.plan->groups[edge.place.group].kind->watches_signal_to_noise()) {
      auto& [few, all] = weak[edge.kind];
      ++all;
      if (!edge.delta && edge.r < kConcentrated) ++few;
    }
  for (const auto& [kind, counts] : weak)
    text +=
        fmt::format("; {} of {} {} edges have no bound and r < {}", counts.first, counts.second, kind, kConcentrated);
  return text;
}

std::string RunCertificate::text() const {
  std::string text =
      line() + "\n" + fmt::format("{:<36} {:>9} {:>9} {:>9} {:>9}\n", "edge", "r", "delta", "bound", "marginal");
  for (const EdgeError& edge : edges)
    text += fmt::format("{:<36} {:>9.3g} {:>9} {:>9} {:>9}\n", edge.place.text(), edge.r, number(edge.delta),
                        number(edge.bound), number(edge.marginal));
  return text;
}

RunCertificate certificate(const Plan& plan, const State& state, VariableId variable,
                           const RunCertificateOptions& options) {
  RunCertificate out;
  add_edges(plan, Neighbourhood(plan, state), variable, options, out);
  return out;
}

RunCertificate certificate(const Plan& plan, const State& state, const RunCertificateOptions& options) {
  RunCertificate out;
  const Neighbourhood neighbourhood(plan, state);
  for (std::uint32_t v = 0; v < plan->variables.size(); ++v)
    add_edges(plan, neighbourhood, VariableId{v}, options, out);
  return out;
}

}  // namespace dma
