// The part of Graph that reads nodes, and names the values of discrete ones.
#include "engine/graph/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_set>

#include "engine/messages/family.h"
#include "engine/support/error.h"
#include "engine/support/text.h"

namespace dma {

namespace {

std::string_view name(Reach reach) {
  constexpr std::string_view kNames[] = {"", "row ", "column ", "all_to_one ", "gather ", "shift ", "given "};
  return kNames[static_cast<std::size_t>(reach)];
}

}  // namespace

// Calls `use` for each end of a factor with plain connections, by its place in factors_.
template <class Use>
void Graph::for_each_end(std::size_t factor, const Use& use) const {
  const std::uint32_t begin = factors_[factor].first_end - first_end_;
  const std::size_t end =
      factor + 1 < factors_.size() ? std::uint32_t{factors_[factor + 1].first_end - first_end_} : ends_.size();
  for (std::size_t i = begin; i < end; ++i) use(ends_[i]);
}

Graph::Variable Graph::operator[](VariableId id) const { return {without_name(id), name(id)}; }

const Graph::VariableRecord* Graph::early(std::uint32_t variable) const {
  const auto found = std::ranges::lower_bound(early_, variable, {}, [](const auto& one) { return one.first; });
  return found != early_.end() && found->first == variable ? &found->second : nullptr;
}
const Graph::VariableRecord& Graph::early_or_refused(VariableId id) const {
  const VariableRecord* const found = id.is_of(mark_) ? early(id.value) : nullptr;
  if (found != nullptr) return *found;
  if (has_forgotten(id)) fail("variable {} was removed by forget(); keep it longer", id.value);
  fail("variable {} is not of this graph, which has {}{}", id.value, variables().size(),
       id.is_of(mark_) ? "" : ": another one gave this id");
}
Graph::Factor Graph::operator[](FactorId id) const {
  if (id.value < first_factor_ && id.is_of(mark_)) fail("factor {} was removed by forget(); keep it longer", id.value);
  if (id.value >= next_factor() || !id.is_of(mark_))
    fail("factor {} is not of this graph, which has {}{}", id.value, factors_.size(),
         id.is_of(mark_) ? "" : ": another one gave this id");
  return factor_at(id.value - first_factor_);
}

VariableId Graph::variable_id(std::size_t i) const {
  if (i < early_.size()) return {early_[i].first, mark_};
  return {first_variable_ + static_cast<std::uint32_t>(i - early_.size()), mark_};
}
Graph::Variable Graph::variable_at(std::size_t i) const { return (*this)[variable_id(i)]; }

Graph::Nameless Graph::without_name(VariableId id) const {
  const VariableRecord& v = record(id);
  return {v.size, v.family == 0 ? std::string_view() : families_[v.family - 1], v.observed, v.shared};
}

void Graph::read_plain(std::size_t factor, ShortList<Connection, 2>& connections) const {
  connections.clear();
  for_each_end(factor, [&](std::uint32_t variable) { connections.emplace_back(VariableId{variable, mark_}); });
}

Graph::Factor Graph::factor_at(std::size_t i) const {
  Factor factor;
  read(first_factor_ + i, factor);
  return factor;
}

bool Graph::read(std::size_t number, PlainFactor& factor) const {
  const std::size_t i = number - first_factor_;
  const FactorRecord& f = factors_[i];
  if (f.is_special) return false;
  factor.kind = &kinds_[f.kind];
  factor.parameters = f.parameters == 0 ? nullptr : &parameters_[f.parameters - 1].list;
  factor.variables.clear();
  for_each_end(i, [&](std::uint32_t variable) { factor.variables.push_back(variable); });
  return true;
}

void Graph::read(std::size_t number, Factor& factor) const {
  const std::size_t i = number - first_factor_;
  const FactorRecord& f = factors_[i];
  factor.kind = kinds_[f.kind];
  factor.number = static_cast<std::uint32_t>(number);
  factor.parameters = {};
  if (f.parameters != 0) {
    const ParameterList& list = parameters_[f.parameters - 1].list;
    factor.parameters = {list.begin(), list.size()};
  }
  factor.given_name = factor.method = {};
  factor.damping = kDampedBySchedule;
  factor.when = {};
  factor.connections.elsewhere_ = nullptr;
  if (!f.is_special) return read_plain(i, factor.connections.own_);
  const Special& special = specials_.at(factor.number);
  factor.given_name = special.given_name;
  factor.method = special.method;
  factor.damping = special.damping;
  factor.when = special.when;
  factor.connections.elsewhere_ = &special.connections;
}

void Graph::name_categories(VariableId id, std::vector<std::string> names) {
  check(id);
  const std::uint32_t dimension = parse_family((*this)[id].family).dimension, expected = dimension == 0 ? 2 : dimension;
  if (names.size() != expected)
    fail("variable '{}': {} categories are named, but it has {}", name(id), names.size(), expected);
  std::unordered_set<std::string_view> met;
  for (const std::string& one : names)
    if (!met.insert(one).second)
      fail("variable '{}': two of its categories are called '{}'; rename one of them", name(id), one);
  categories_[id.value] = std::move(names);
}

std::span<const std::string> Graph::categories(VariableId id) const {
  check(id);
  const auto found = categories_.find(id.value);
  return found == categories_.end() ? std::span<const std::string>() : found->second;
}

double Graph::category(VariableId id, std::string_view wanted) const {
  const std::span<const std::string> names = categories(id);
  if (const auto found = std::ranges::find(names, wanted); found != names.end())
    return static_cast<double>(found - names.begin());
  double number = 0;
  const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), number);
  const bool is_category = number >= 0 && number < static_cast<double>(names.size()) && number == std::floor(number);
  if (error == std::errc() && end == wanted.data() + wanted.size() && (names.empty() || is_category)) return number;
  if (names.empty())
    fail("variable '{}': '{}' is given; a number is expected, as its values have no names", name(id), wanted);
  fail("variable '{}' has no category '{}'{}", name(id), wanted, suggestion(wanted, names));
}

std::string describe(const Graph& graph) {
  std::string text = fmt::format("{} variables, {} factors\n", graph.variables().size(), graph.factors().size());
  for (const auto& v : graph.variables())
    text += fmt::format("  {}[{}] {}{}{}\n", v.name, v.size, v.family.empty() ? std::string_view("gaussian") : v.family,
                        v.observed ? ", observed" : "", v.shared ? ", shared" : "");
  for (const auto& f : graph.factors()) {
    std::vector<std::string> ends;
    for (const auto& c : f.connections) ends.push_back(fmt::format("{}{}", name(c.reach), graph[c.variable].name));
    std::vector<std::string> cases;
    for (const GateCase& c : f.when) cases.push_back(fmt::format("{} = {}", graph[c.variable].name, c.value));
    text += fmt::format("  {}: {}({}){}{}\n", f.name(), f.kind, joined(ends), cases.empty() ? "" : " when ",
                        joined(cases, " and "));
  }
  return text;
}

}  // namespace dma
