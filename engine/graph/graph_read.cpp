// The part of Graph that reads nodes, and names the values of discrete ones.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_set>

#include "engine/graph/graph.h"
#include "engine/messages/family.h"
#include "engine/support/text.h"

namespace dma {

namespace {

std::string_view name(Reach reach) {
  constexpr std::string_view kNames[] = {"", "row ", "column ", "all_to_one ", "gather ", "shift ", "given "};
  return kNames[static_cast<std::size_t>(reach)];
}

bool is_plain(const Connection& c) { return c.reach == Reach::identical && c.port.empty(); }

}  // namespace

Graph::Variable Graph::operator[](VariableId id) const {
  const VariableRecord& v = record(id);
  return {v.size, v.family == 0 ? std::string_view() : families_[v.family - 1], v.observed, v.shared,
          NodeName(v.is_named ? variable_names_.own(id.value) : nullptr, id.value)};
}

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

Graph::Factor Graph::factor_at(std::size_t i) const {
  Factor factor;
  read(first_factor_ + i, factor);
  return factor;
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
  if (!factor.is_plain) {
    factor.given_name = factor.method = {};
    factor.damping = kDampedBySchedule;
    factor.when = {};
    factor.connections.elsewhere_ = nullptr;
  }
  factor.is_plain = !f.is_named && !f.is_special;
  if (f.is_named) factor.given_name = *factor_names_.own(factor.number);
  if (!f.is_special) {
    const std::size_t begin = std::uint32_t{f.first_end - first_end_},
                      end = i + 1 < factors_.size() ? std::uint32_t{factors_[i + 1].first_end - first_end_}
                                                    : ends_.size();
    ShortList<Connection, 2>& own = factor.connections.own_;  // often those of a plain factor read before
    if (own.size() != end - begin || !std::ranges::all_of(own, is_plain))
      own = ShortList<Connection, 2>(end - begin, VariableId{0});
    for (std::size_t k = begin; k < end; ++k) own[k - begin].variable = {ends_[k], mark_};
    return;
  }
  const Special& special = specials_.at(factor.number);
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
