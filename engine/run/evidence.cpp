#include "engine/run/run.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/compile/loops.h"
#include "engine/kinds/kind.h"
#include "engine/run/factor_mass.h"
#include "engine/run/messages_at.h"
#include "engine/run/solver.h"
#include "engine/run/state_data.h"
#include "engine/support/text.h"

namespace dma {

namespace {

using Stop = Report::Stop;

constexpr const char* kBelowRange = "it is below the range of a double";

class BetheEnergy {
 public:
  BetheEnergy(const PlanData& plan, const State& state)
      : plan_(plan),
        state_(state),
        variable_of_(plan.elements),
        at_(plan.elements),
        of_factor_(plan.factors.size()),
        of_variable_(plan.variables.size()) {
    for (std::uint32_t v = 0; v < plan.variables.size(); ++v)
      for (std::uint32_t i = 0; i < plan.variables[v].size; ++i) variable_of_[plan.variables[v].first_element + i] = v;
    for (const Group& group : plan.groups)
      for (const Group::Port& port : group.ports)
        for (std::uint32_t q = 0; q < group.slots * port.terms; ++q)
          at_[state.data().element(port, q)].push_back(port.first_slot + q);
    for (const auto& v : plan.variables)
      for (std::uint32_t i = 0; v.observed && !v.cuts && i < v.size; ++i)
        if (!state.data().message(v.first_slot + i).is_point())
          fail(
              "no evidence: '{}' joins several factors and has no value "
              "in this run; leave it out of the graph for its evidence",
              v.name);
    for (const auto& v : plan.variables)  // a cavity counts as a message that is a density
      if (v.shared && !v.observed)
        for (std::uint32_t i = 0; i < v.size; ++i) at_[v.first_element + i].push_back(v.first_slot + i);
  }

  Evidence sum() {
    std::size_t slots = 0;
    for (const Group& group : plan_.groups) slots += group.slots;
    Forest forest(plan_.elements + slots);
    std::uint32_t node = plan_.elements;
    for (std::uint32_t g = 0; g < plan_.groups.size(); ++g)
      for (std::uint32_t s = 0; s < plan_.groups[g].slots; ++s) add_factor(g, s, node++, forest);
    for (std::uint32_t v = 0; v < plan_.variables.size(); ++v)
      if (!plan_.variables[v].observed && !plan_.variables[v].eliminated) add_variable(v);
    return result();
  }

 private:
  // Summing all others anew loses no digits; for more messages, division is cheaper.
  static constexpr std::size_t kFew = 32;
  static constexpr double kRounding = 1e-15;

  // Squares of larger numbers, and so log densities, leave the range of a double: such a -inf does not say that the
  // observation is impossible.
  static constexpr double kLargest = 1e150;
  static bool has_large_centre(const std::vector<double>& centres) {
    return std::ranges::any_of(centres, [](double x) { return std::abs(x) > kLargest; });
  }
  static bool has_large_squares(const std::vector<Natural>& messages) {
    return std::ranges::any_of(messages, [](const Natural& m) {
      return std::abs(m.is_point() || m.rho == 0 ? m.tau : m.tau / m.rho) > kLargest;
    });
  }

  PlanData::Variable variable_at(std::uint32_t e) const { return plan_.variables[variable_of_[e]]; }

  Natural product_at(std::uint32_t e, std::uint32_t without = kNowhere) const {
    Natural product;
    for (const std::uint32_t slot : at_[e])
      if (slot != without) product = multiply(product, state_.data().message(slot));
    return product;
  }
  // Belief of an element of a variable that is not observed.
  Natural belief_at(std::uint32_t e) {
    if (at_[e].size() <= kFew) return product_at(e);
    if (belief_.empty()) belief_.assign(plan_.elements, {std::nan(""), 0});
    if (std::isnan(belief_[e].tau)) belief_[e] = product_at(e);
    return belief_[e];
  }
  Natural arrival(std::uint32_t e, std::uint32_t own) {
    const auto& v = variable_at(e);
    if (v.observed) return state_.data().message(v.first_slot + e - v.first_element);
    if (at_[e].size() <= kFew) return product_at(e, own);
    const Natural belief = belief_at(e);
    return belief.is_point() ? product_at(e, own) : divide(belief, state_.data().message(own));
  }

  void add_factor(std::uint32_t g, std::uint32_t s, std::uint32_t node, Forest& forest) {
    const Group& group = plan_.groups[g];
    const std::size_t member = group.member_at(s);
    const FactorTable::Factor factor = plan_.factors[group.members[member]];
    const bool is_variational = std::ranges::any_of(group.ports, [](const Group::Port& port) {
      return port.message != nullptr && port.message->method == kVariational;
    });
    has_bound_ |= is_variational;
    bool is_missing = false;
    Arrivals arrivals, beliefs;
    Centres centres;
    std::vector<Family> families;
    for (const Group::Port& port : group.ports) {
      auto& list = arrivals.emplace_back();
      auto& believed = beliefs.emplace_back();
      auto& centre = centres.emplace_back();
      for (std::uint32_t t = 0; t < port.terms; ++t) {
        const std::uint32_t q = s * port.terms + t, e = state_.data().element(port, q);
        list.push_back(arrival(e, port.first_slot + q));
        const bool has_centre = variable_at(e).family->is_like_gaussian && !variable_at(e).observed;
        centre.push_back(has_centre ? Gaussian(belief_at(e)).mean() : std::nan(""));
        if (is_variational) believed.push_back(variable_at(e).observed ? list.back() : belief_at(e));
      }
      families.push_back(variable_at(state_.data().element(port, s * port.terms)).family);
      for (std::uint32_t t = 0; t < port.terms;) {
        const std::uint32_t e = state_.data().element(port, s * port.terms + t),
                            components = variable_at(e).family.components();
        note_arrival(variable_of_[e], Components(list).subspan(t, components));
        is_missing |= variable_at(e).observed && is_flat(Components(list).subspan(t, components));
        // Beliefs that are independent at a factor form no loop through it.
        if (!variable_at(e).observed && !is_variational && !forest.join(e, node)) has_loops_ = true;
        t += components;
      }
    }
    std::vector<double> parameters;
    state_.data().append_parameters(g, s, parameters);
    try {
      const double mass =
          is_variational && !is_missing
              ? log_variational_mass(*group.kind, beliefs, arrivals, parameters, families, centres, &largest_)
              : log_mass(*group.kind, factor.method, arrivals, parameters, families, centres, &largest_);
      const bool is_number = mass > -kInfinity;  // NaN is none
      is_below_range_ |= !is_number && (std::ranges::any_of(arrivals, has_large_squares) ||
                                        std::ranges::any_of(centres, has_large_centre));
      of_factor_[group.members[member]] += mass;
    } catch (const Error& error) {
      fail("no evidence: factor '{}': {}", plan_.slot_name(g, s), error.what());
    }
  }

  void note_arrival(std::uint32_t v, Components message) {
    const bool is_missing = plan_.variables[v].observed && is_flat(message);  // unknown in this run, like latent ones
    if ((plan_.variables[v].observed && !is_missing) || message[0].is_point()) return;
    if (!plan_.variables[v].family->is_like_gaussian) add_normaliser(v, message, 1, "a message to a factor");
  }
  void add_normaliser(std::uint32_t v, Components message, double times, std::string_view what) {
    const auto& variable = plan_.variables[v];
    const double a = log_normaliser_or_flat(variable.family, message);
    if (std::isnan(a)) refuse(v, message, what);
    of_variable_[v] += times * a;
    largest_ = std::max(largest_, std::abs(a));
  }
  [[noreturn]] void refuse(std::uint32_t v, Components message, std::string_view what) const {
    fail("no evidence: {} from '{}' is {} and cannot be normalised; give it a proper prior", what,
         plan_.variables[v].name, plan_.variables[v].family->text(message));
  }

  void add_variable(std::uint32_t v) {
    const auto& variable = plan_.variables[v];
    const std::uint32_t components = variable.family.components();
    std::vector<Natural> belief(components);
    for (std::uint32_t i = 0; i < variable.elements(); ++i) {
      const std::uint32_t e = variable.first_element + i * components;
      const auto messages = static_cast<double>(at_[e].size());
      for (std::uint32_t k = 0; k < components; ++k) belief[k] = product_at(e + k);
      if (variable.shared) add_cavity(v, i);
      if (belief[0].is_point())
        add_point(v, e, belief[0]);
      else if (variable.family->is_like_gaussian)
        add_gaussian(v, belief_at(e), 1 - messages);
      else
        add_normaliser(v, belief, 1 - messages, "the belief");
    }
  }
  // A(belief) for messages scaled to 1 at its mean. The mean is rounded, and a belief narrower than its last digit
  // magnifies that.
  void add_gaussian(std::uint32_t v, const Natural& belief, double times) {
    if (belief.is_uniform()) return;
    if (!belief.is_proper()) refuse(v, Components(&belief, 1), "the belief");
    const double mean = belief.tau / belief.rho;
    of_variable_[v] -= times * log_density(Gaussian(belief), mean);
    largest_ = std::max(largest_, kRounding * mean * belief.tau);
  }
  // The density that a cavity represents contributes A(belief) - A(cavity) - A(arrival); the last term cancels.
  void add_cavity(std::uint32_t v, std::uint32_t element) {
    const auto& variable = plan_.variables[v];
    const std::uint32_t components = variable.family.components();
    std::vector<Natural> cavity(components), belief(components);
    for (std::uint32_t k = 0; k < components; ++k) {
      cavity[k] = state_.data().message(variable.first_slot + element * components + k);
      belief[k] = product_at(variable.first_element + element * components + k);
    }
    if (belief[0].is_point()) {  // its density there
      if (!is_flat(cavity) && !cavity[0].is_point())
        of_variable_[v] += variable.family->log_density(cavity, observed_value(variable.family, belief));
      return;
    }
    if (variable.family->is_like_gaussian) {
      add_gaussian(v, belief[0], 1);
      of_variable_[v] += log_density(Gaussian(cavity[0]), Gaussian(belief[0]).mean());
      return;
    }
    add_normaliser(v, belief, 1, "the belief");
    add_normaliser(v, cavity, -1, "the cavity");
  }
  // At an element fixed by one factor, each other message m contributes -log m(location), which is 0 for Gaussians
  // scaled to 1 there. If several factors fix it, each receives the point mass of another, and a value that has a
  // probability needs no further term.
  void add_point(std::uint32_t v, std::uint32_t e, const Natural& point) {
    const auto& variable = plan_.variables[v];
    const auto points =
        std::ranges::count_if(at_[e], [&](std::uint32_t slot) { return state_.data().message(slot).is_point(); });
    const bool has_probability = !variable.family->has_dimension &&
                                 variable.family->log_density(Components(&point, 1), std::span(&point.tau, 1)) == 0;
    if (has_probability && points > 1) return;
    if (points > 1 || !(variable.family->is_like_gaussian || has_probability))
      fail("no evidence: '{}' is known exactly though it is not observed; put gaussian_noise between", variable.name);
    for (const std::uint32_t slot : at_[e])
      if (const Natural m = state_.data().message(slot); !m.is_point() && !variable.family->is_like_gaussian)
        of_variable_[v] -= point.tau * (m.tau - 0.5 * m.rho * point.tau);  // rho is 0 in the Bernoulli family
  }

  // True if all messages are exact except variational ones.
  bool are_others_exact() const {
    const auto is_fine = [](const Group::Port& port) {
      return port.message == nullptr || port.message->method == kExact || port.message->method == kVariational;
    };
    return std::ranges::all_of(plan_.groups,
                               [&](const Group& group) { return std::ranges::all_of(group.ports, is_fine); });
  }

  Evidence result() const {
    Evidence out;
    for (std::size_t f = 0; f < of_factor_.size(); ++f) out.factors.push_back({plan_.factors.name(f), of_factor_[f]});
    for (std::size_t v = 0; v < of_variable_.size(); ++v)
      if (!plan_.variables[v].eliminated &&
          (!plan_.variables[v].observed || of_variable_[v] != 0))  // 0: nothing is missing
        out.variables.push_back({plan_.variables[v].name, of_variable_[v]});
    for (const auto* parts : {&out.factors, &out.variables})
      for (const Evidence::Part& part : *parts) out.log_value += part.value;
    // An impossible part makes all other parts irrelevant.
    const auto is_none = [](const Evidence::Part& part) { return part.value == -kInfinity; };
    if (std::ranges::any_of(out.factors, is_none)) out.log_value = -kInfinity;
    const Stop ended = *state_.ended();
    if (has_loops_)
      out.why = "the graph has loops: the Bethe approximation";
    else if (has_bound_ && are_others_exact())
      out.why = "a lower bound: some messages are variational";
    else if (!state_.has_exact_messages())
      out.why = "some messages are projections: EP's estimate";
    constexpr double kAllowed = 1e-8;
    if (kRounding * largest_ > kAllowed * (1 + std::abs(out.log_value)))
      out.why = fmt::format("parts of {:.0e} cancel, and with them its digits", largest_);
    // A factor that forbids everything proves evidence 0 however far the run came: messages forbid only impossible
    // values.
    if (ended != Stop::exact && ended != Stop::converged && out.log_value != -kInfinity)
      out.why = "the messages of the run have not settled";
    if (is_below_range_) {
      out.why = kBelowRange;
      out.log_value = -kInfinity;
    }
    return out;
  }

  const PlanData& plan_;
  const State& state_;
  std::vector<std::uint32_t> variable_of_;      // by element
  std::vector<std::vector<std::uint32_t>> at_;  // the slots of the messages at each element
  std::vector<Natural> belief_;                 // by element, NaN until it is asked for
  std::vector<double> of_factor_, of_variable_;
  double largest_ = 0;  // normaliser of a message
  bool has_loops_ = false, has_bound_ = false, is_below_range_ = false;
};

// A finite number without a caveat is exact; -inf only if an impossible observation `may_be_impossible`.
Evidence checked(Evidence found, bool may_be_impossible) {
  if (std::isnan(found.log_value))
    fail("no evidence: a part of it is not a number; give every variable a proper prior");
  if (found.log_value == kInfinity) found.why = "infinite: a variable that has a density is known exactly";
  if (found.log_value == -kInfinity && !may_be_impossible) found.why = kBelowRange;
  found.is_exact = found.why.empty();
  return found;
}

}  // namespace

Evidence evidence(const Plan& handle, const State& state) {
  if (state.plan() != handle) fail("this state belongs to another plan; make one for this plan: State state(plan)");
  if (!state.ended())
    fail("no evidence: the state was not run, or its inputs changed since; call run(plan, state) first");
  if (!state.frozen().empty())
    fail("no evidence: variable '{}' is frozen, and its messages are from another run; thaw it and run again",
         handle->variable(state.frozen()[0]).name);
  if (handle->solver != nullptr) {
    Evidence out;
    out.log_value = handle->solver->log_evidence(state);
    if (*state.ended() != Stop::exact) out.why = handle->solver->evidence_method(state);
    return checked(std::move(out), false);
  }
  return checked(BetheEnergy(*handle, state).sum(), true);
}

double Solver::log_evidence(const State&) const {
  fail("no evidence: this solver gives none; compile the graph with a schedule, such as flooding()");
}

double log_evidence(const Plan& plan, const State& state) { return evidence(plan, state).log_value; }

std::string Evidence::line() const {
  if (log_value == -kInfinity && !is_exact) return fmt::format("log evidence: none; {}", why);
  return fmt::format("log evidence {:.6g}, {}", log_value, is_exact ? "exact" : "approximate: " + why);
}

std::string Evidence::text() const {
  std::string out = line() + "\n";
  if (log_value == -kInfinity && !is_exact) return out;
  for (const auto& [what, parts] : {std::pair{"factor", &factors}, std::pair{"variable", &variables}})
    for (const Part& part : *parts) out += fmt::format("  {:>12.6g}  {} {}\n", part.value, what, part.name);
  return out;
}

}  // namespace dma
