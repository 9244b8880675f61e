// The part of State that handles missing observed values: they are unknown in this run, and predicted.
#include <fmt/format.h>

#include <algorithm>

#include "engine/kinds/evaluate.h"
#include "engine/kinds/kind.h"
#include "engine/run/messages_at.h"
#include "engine/run/state_data.h"
#include "engine/support/text.h"

namespace dma {

namespace {

// If several factors meet at a missing value, each needs the messages of the others; a plan compiled for a given value
// has no such messages.
void check_may_be_missing(const StateData& state, const PlanData::Variable& v, std::uint32_t element) {
  if (state.plan->solver != nullptr || !v.cuts) return;
  std::size_t met = 0;
  for (const auto& end : v.ends)
    for_each_message_at(*state.plan, state.incidence(), v, end, element * v.family.components(),
                        [&](std::uint32_t) { ++met; });
  if (met > 1)
    fail(
        "variable '{}', element {}: it joins {} factors and cannot be missing in this plan; compile with "
        "{{.may_be_missing = {{{}}}}}",
        v.name, element, met, v.name);
}

}  // namespace

void State::observe(VariableId variable, std::span<const std::optional<double>> values) {
  const auto& v = plan_->variable(variable);
  const std::size_t each = v.family.values();
  if (values.size() != v.values())
    fail("variable '{}' was given {} values but has {} elements{}", v.name, values.size(), v.elements(),
         each == 1 ? "" : fmt::format(" of {} numbers", each));
  const auto there = std::ranges::find_if(values, [](const auto& value) { return value.has_value(); });
  if (there == values.end()) return observe(variable, std::nullopt);
  // First component of an element with a value.
  const auto first = static_cast<std::size_t>(there - values.begin()) / each * each;
  std::vector<double> numbers;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t element = i / each;
    if (values[i].has_value() != values[element * each].has_value())
      fail("variable '{}', element {}: some of its {} numbers are missing; give all of them, or none", v.name, element,
           each);
    const std::optional<double>& number = values[i] ? values[i] : values[first + i % each];
    numbers.push_back(number.value_or(0));  // a value that the variable can have
  }
  observe(variable, numbers);
  for (std::size_t i = 0; i < values.size(); i += each)
    if (!values[i]) observe_missing(variable, i / each);
}

void State::observe(VariableId variable, std::nullopt_t) {
  const auto& v = plan_->variable(variable);
  for (std::uint32_t i = 0; i < v.elements(); ++i) check_may_be_missing(*data_, v, i);
  if (v.observed) data_->values.give(data_->values[variable], true);
  for (std::size_t i = 0; i < v.elements(); ++i) observe_missing(variable, i);
}

void State::observe_missing(VariableId variable, std::size_t element) {
  const auto& v = plan_->variable(variable);
  if (!v.observed) fail("variable '{}' is not observed; declare it with graph.observed(...)", v.name);
  if (element >= v.elements())
    fail("variable '{}' has {} elements, there is no element {}", v.name, v.elements(), element);
  check_may_be_missing(*data_, v, static_cast<std::uint32_t>(element));
  ValueSlots& target = data_->values[variable];
  if (!target.given && v.elements() > 1)
    fail("variable '{}' has no value yet; observe all its elements before one is declared missing", v.name);
  ended_.reset();
  const std::size_t components = v.family.components(), first = target.first_slot + element * components;
  data_->store.make_uniform({static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(components)});
  data_->values.give(target, true);
}

bool State::is_missing(VariableId variable, std::size_t element) const {
  const auto& v = plan_->variable(variable);
  if (!data_->values[variable].has_missing || element >= v.elements()) return false;
  const std::size_t components = v.family.components(), first = v.first_slot + element * components;
  for (std::size_t k = first; k < first + components; ++k)
    if (data_->message(k) != Natural()) return false;
  return true;
}

namespace {

// Messages for which the plan has no slot because their variables are observed: each is computed from the current
// inputs of its factor.
class UnsentMessages {
 public:
  explicit UnsentMessages(const StateData& state) : state_(state), plan_(*state.plan) {}

  // Messages of one slot to a port, term by term; uniform if one is refused.
  std::span<const Natural> to(std::uint32_t g, std::uint32_t p, std::uint32_t slot) {
    const Group& group = plan_.groups[g];
    sent_.assign(group.ports[p].terms, {});
    const std::string_view method = plan_.factors[group.members[group.member_at(slot)]].method;
    const MessageFunction* const message = group.kind->find_message(method, p);
    if (message == nullptr) return sent_;
    arrivals_.resize(group.ports.size());
    last_.resize(group.ports.size());
    for (std::size_t q = 0; q < group.ports.size(); ++q) arrivals_[q].assign(group.ports[q].terms, {});
    for (const std::size_t q : message->reads)
      for (std::uint32_t t = 0; t < group.ports[q].terms; ++t)
        arrivals_[q][t] = arrival(group.ports[q], slot * group.ports[q].terms + t, last_[q]);
    parameters_.clear();
    state_.append_parameters(g, slot, parameters_);
    if (const auto sent = evaluate(*group.kind, method, p, arrivals_, parameters_)) sent_ = *sent;
    return sent_;
  }

 private:
  struct AtElement {
    std::uint32_t element = kNowhere;
    Natural product;  // product of all messages
  };
  // The product of all messages at the element of a slot but its own. Slots of factors with unknown output, which send
  // no information, share it.
  Natural arrival(const Group::Port& port, std::uint32_t q, AtElement& last) const {
    const std::uint32_t e = state_.element(port, q), own = port.first_slot + q;
    const bool says_nothing = state_.message(own) == Natural();
    if (says_nothing && last.element == e) return last.product;
    const PlanData::Variable v = plan_.variables.at_element(e);
    const Natural product = state_.product_at(v, e - v.first_element, own);
    if (says_nothing) last = {e, product};
    return product;
  }

  const StateData& state_;
  const PlanData& plan_;
  Arrivals arrivals_;
  std::vector<AtElement> last_;  // by port
  std::vector<double> parameters_;
  std::vector<Natural> sent_;
};

}  // namespace

// A missing value in a plan compiled for a given one has a single factor: see check_may_be_missing.
void predict_missing(const StateData& state, const PlanData::Variable& v, std::span<Natural> elements) {
  UnsentMessages unsent(state);
  const std::uint32_t components = v.family.components();
  for (std::uint32_t i = 0; i < v.size; i += components) {
    if (!is_flat(Components(elements).subspan(i, components))) continue;
    for (const auto& end : v.ends) {
      const Group::Port& port = state.plan->groups[end.group].ports[end.port];
      if (port.message != nullptr) continue;  // it was sent
      for_each_message_at(*state.plan, state.incidence(), v, end, i, [&](std::uint32_t slot) {
        const std::uint32_t q = slot - port.first_slot;
        const auto sent = unsent.to(end.group, end.port, q / port.terms);
        for (std::uint32_t k = 0; k < components; ++k)
          elements[i + k] = multiply(elements[i + k], sent[q % port.terms + k]);
      });
    }
  }
}

bool State::has_exact_messages() const {
  if (plan_->has_exact_messages || !plan_->is_exact_given_values) return plan_->has_exact_messages;
  return !data_->values.has_missing();
}

}  // namespace dma
