#include "engine/inspect/inspect.h"

#include <algorithm>
#include <map>

#include "engine/messages/message_text.h"
#include "engine/run/messages_at.h"
#include "engine/run/run.h"
#include "engine/run/state_data.h"
#include "engine/support/text.h"

namespace dma {

namespace {

// Factors of the user's graph that a slot of a group represents.
std::vector<FactorId> origins(const Plan& plan, const Group& group, std::uint32_t slot) {
  const auto all = plan->factors[group.members[group.member_at(slot)]].origins;
  return {all.begin(), all.end()};
}

void settle_fractions(Explanation::Element& element) {
  const bool point = element.belief.is_point();
  bool taken = false;  // the first of several point masses has fraction 1
  for (auto& source : element.sources) {
    if (!point)
      source.fraction = source.message.rho / element.belief.rho;
    else if (source.message.is_point() && !std::exchange(taken, true))
      source.fraction = 1;
  }
  std::ranges::stable_sort(element.sources, std::ranges::greater{}, &Explanation::Source::fraction);
}

}  // namespace

Explanation explain(const Plan& plan, const State& state, VariableId variable) {
  const auto& v = plan->variable(variable);
  if (plan->solver != nullptr)
    fail(
        "explain: this plan is solved as a whole, without messages; "
        "compile it with a schedule, such as flooding(), to explain '{}'",
        v.name);
  if (v.eliminated) fail("variable '{}' was fused away; compile with {{.fuse = false}} to explain it", v.name);
  if (!v.family->is_like_gaussian)
    fail("explain: '{}' is {}; fractions of the precision are those of a gaussian variable", v.name, v.family.text());
  Explanation out{std::string(v.name), variable, v.family};
  out.elements.resize(v.size);
  const auto add = [&](std::uint32_t i, std::string name, std::vector<FactorId> factors, const Natural& message) {
    if (message.is_uniform()) return;
    out.elements[i].belief = multiply(out.elements[i].belief, message);
    out.elements[i].sources.push_back({std::move(name), std::move(factors), message});
  };
  if (v.first_slot != kNowhere)
    for (std::uint32_t i = 0; i < v.size; ++i)
      add(i, v.observed ? "observed value" : "learned elsewhere", {}, state.data().message(v.first_slot + i));
  for (const auto& end : v.ends) {
    const Group& group = plan->groups[end.group];
    const Group::Port& port = group.ports[end.port];
    for_each_message(*plan, state.data().incidence(), v, end, [&](std::uint32_t i, std::uint32_t message) {
      const std::uint32_t slot = (message - port.first_slot) / port.terms;
      add(i, Place{plan.data(), end.group, end.port, slot}.text(), origins(plan, group, slot),
          state.data().message(message));
    });
  }
  for (auto& element : out.elements) settle_fractions(element);
  return out;
}

double Explanation::fraction(FactorId factor) const {
  double sum = 0, informed = 0;
  for (const Element& element : elements) {
    if (!element.informed()) continue;
    informed += 1;
    for (const Source& source : element.sources)
      if (std::ranges::find(source.factors, factor) != source.factors.end()) sum += source.fraction;
  }
  return informed > 0 ? sum / informed : 0.0;
}

std::string Explanation::line() const {
  const auto informed = std::ranges::count_if(elements, &Element::informed);
  if (informed == 0) return fmt::format("{}: nothing informs it", name);
  std::map<std::string, double> totals;
  for (const Element& element : elements)
    for (const Source& source : element.sources)
      totals[source.name.substr(0, source.name.find_first_of("[."))] += source.fraction;
  const auto largest = std::ranges::max_element(totals, {}, [](const auto& entry) { return entry.second; });
  std::string text = fmt::format("{}: most of the precision from {} ({:.0f}%)", name, largest->first,
                                 100 * largest->second / static_cast<double>(informed));
  if (static_cast<std::size_t>(informed) < elements.size())
    text += fmt::format("; nothing informs {} of {} elements", elements.size() - static_cast<std::size_t>(informed),
                        elements.size());
  return text;
}

std::string Explanation::text() const {
  std::string text = line() + "\n";
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const std::string element = elements.size() == 1 ? name : fmt::format("{}[{}]", name, i);
    text += fmt::format("{} ~ {}\n", element, message_text(elements[i].belief, family));
    if (!elements[i].informed()) text += "         nothing informs it\n";
    for (const Source& source : elements[i].sources)
      text += fmt::format("  {:5.1f}%  {:<28} {}\n", 100 * source.fraction, source.name,
                          message_text(source.message, family));
  }
  return text;
}

}  // namespace dma
