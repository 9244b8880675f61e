#include "engine/graph/graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <atomic>
#include <optional>

#include "engine/support/sizes.h"

namespace dma {

namespace {

// A variable has messages to and from several factors, and all of them are counted together.
constexpr std::size_t kLargestVariable = kLargestSize / 4;

const std::string& name_of(const Graph::Variable& variable) { return variable.name; }
std::string name_of(const Graph::Factor& factor) { return factor.name(); }

std::string_view stem_of(const Graph::Variable&) { return "v"; }
std::string_view stem_of(const Graph::Factor& factor) { return factor.kind; }

void rename(Graph::Variable& variable, std::string name) { variable.name = std::move(name); }
void rename(Graph::Factor& factor, std::string name) { factor.given_name = std::move(name); }

// The position of the item of that name. Numbered names end in it ("v17", "product3"), and so need no entry in `names`.
template <class Names, class Items>
std::optional<std::uint32_t> position(const Names& names, const Items& items, const std::string& wanted) {
  if (const auto found = names.find(wanted); found != names.end()) return found->second.position;
  std::uint64_t number = 0, power = 1;
  for (std::size_t i = wanted.size(); i-- > 0 && wanted[i] >= '0' && wanted[i] <= '9' && power <= items.size();
       power *= 10) {
    number += power * static_cast<std::uint64_t>(wanted[i] - '0');
    if (number < items.size() && name_of(items[number]) == wanted) return static_cast<std::uint32_t>(number);
  }
  return {};
}

template <class Names, class Items>
std::uint32_t find(const Names& names, const Items& items, std::string_view wanted, std::string_view what) {
  if (const auto found = position(names, items, std::string(wanted))) return *found;
  std::vector<std::string> known;
  for (const auto& item : items) known.push_back(name_of(item));
  fail("no {} '{}' in this graph{}", what, wanted, suggestion(wanted, known));
}

// A stem that ends in a digit is set apart: number 2 of "log1" is not number 12 of "log".
std::string numbered(std::string_view stem, std::uint64_t number) {
  const fmt::format_int digits(number);
  const bool apart = !stem.empty() && ((stem.back() >= '0' && stem.back() <= '9') || stem.back() == '_');
  std::string name;
  name.reserve(stem.size() + 1 + digits.size());
  return name.append(stem).append(apart ? "_" : "").append(digits.data(), digits.size());
}

// "v3", or the next number that the user has not taken.
template <class Names>
std::string name_by_number(std::string_view stem, std::uint32_t id, Names& names) {
  std::string name = numbered(stem, id);
  if (!names.contains(name)) return name;
  for (std::uint64_t number = std::uint64_t{id} + 1; names.contains(name); ++number) name = numbered(stem, number);
  names.emplace(name, typename Names::mapped_type{id, true});
  return name;
}

std::string_view name(Reach reach) {
  constexpr std::string_view kNames[] = {"", "row ", "column ", "all_to_one ", "gather ", "shift ", "given "};
  return kNames[static_cast<std::size_t>(reach)];
}

}  // namespace

// A name the user gives to two things is an Error. One that was only a number so far makes way, for a number nobody
// has.
template <class Items>
void Graph::take_name(const std::string& name, Names& names, Items& items, std::string_view what) {
  const auto holder = position(names, items, name);
  const auto entry = names.find(name);
  if (holder && entry != names.end() && !entry->second.by_number)
    fail("two {} are named '{}'; give each its own name, or an empty one to have it numbered", what, name);
  names.insert_or_assign(name, Named{static_cast<std::uint32_t>(items.size())});
  if (!holder) return;
  auto& item = items[*holder];
  std::uint64_t number = items.size() + 1;  // the name of a later position would be taken from it in turn
  std::string free = numbered(stem_of(item), number);
  while (position(names, items, free)) free = numbered(stem_of(item), ++number);
  names.emplace(free, Named{*holder, true});
  rename(item, std::move(free));
}

// Marks may come again after 65,535 graphs: two of them may then be taken for one, never one for two.
std::uint16_t Graph::next_mark() {
  static std::atomic<std::uint32_t> made = 0;
  return static_cast<std::uint16_t>(made++ % 0xffff + 1);
}

const Graph::Variable& Graph::operator[](VariableId id) const {
  if (id.value >= variables_.size() || !id.is_of(mark_))
    fail("variable {} is not of this graph, which has {}{}", id.value, variables_.size(),
         id.is_of(mark_) ? "" : ": another one gave this id");
  return variables_[id.value];
}
const Graph::Factor& Graph::operator[](FactorId id) const {
  if (id.value >= factors_.size() || !id.is_of(mark_))
    fail("factor {} is not of this graph, which has {}{}", id.value, factors_.size(),
         id.is_of(mark_) ? "" : ": another one gave this id");
  return factors_[id.value];
}

std::string name_or_number(const std::string& given, std::string_view stem, std::uint32_t number) {
  return given.empty() ? numbered(stem, number) : given;
}

Connection given(VariableId v, std::size_t entries) {
  Connection connection(v, Reach::given);
  connection.table = std::vector<std::uint32_t>{checked_size(entries, [] { return std::string("a given table: its entries"); })};
  return connection;
}

Connection shift(VariableId v, std::int32_t lag) {
  Connection connection(v, Reach::shift);
  connection.table = std::vector<std::uint32_t>{static_cast<std::uint32_t>(lag)};
  return connection;
}

Connection gather(VariableId v, std::vector<std::uint32_t> table) {
  Connection connection(v, Reach::gather);
  connection.table = std::move(table);
  return connection;
}

VariableId Graph::add(std::string_view name, std::size_t size, std::string_view family, bool observed, bool shared) {
  const auto id = static_cast<std::uint32_t>(variables_.size());
  std::string own = name.empty() ? name_by_number("v", id, variable_names_) : std::string(name);
  if (size == 0 || size > kLargestVariable)
    fail("variable '{}' has size {}; a size from 1 to {} is expected", own, size, kLargestVariable);
  if (!name.empty()) take_name(own, variable_names_, variables_, "variables");
  variables_.push_back({std::move(own), static_cast<std::uint32_t>(size), {}, observed, shared});
  if (!family.empty()) variables_.back().family = std::string(family);
  return {id, mark_};
}

VariableId Graph::variable(std::string_view name, std::size_t size, std::string_view family) {
  return add(name, size, family, false, false);
}
VariableId Graph::observed(std::string_view name, std::size_t size, std::string_view family) {
  return add(name, size, family, true, false);
}
VariableId Graph::shared(std::string_view name, std::size_t size, std::string_view family) {
  return add(name, size, family, false, true);
}

FactorId Graph::add(std::string_view kind, ShortList<Connection, 2>&& connections, ParameterList&& parameters,
                    FactorOptions&& options) {
  const auto id = static_cast<std::uint32_t>(factors_.size());
  for (const Connection& connection : connections)
    if (connection.variable.value >= variables_.size() || !connection.variable.is_of(mark_))
      fail("factor {} ({}) is connected to a variable that is not of this graph", id, kind);
  if (!options.name.empty())
    take_name(options.name, factor_names_, factors_, "factors");
  else if (!factor_names_.empty()) {
    std::string own = name_by_number(kind, id, factor_names_);
    if (own != numbered(kind, id)) options.name = std::move(own);
  }
  Factor& added = factors_.emplace_back();
  added.kind = kind;
  added.number = id;
  added.given_name = std::move(options.name);
  added.method = std::move(options.method);
  if (options.damping) added.damping = *options.damping;
  added.connections = std::move(connections);
  added.parameters = std::move(parameters);
  return {id, mark_};
}

VariableId Graph::find_variable(std::string_view name) const {
  return {find(variable_names_, variables_, name, "variable"), mark_};
}
FactorId Graph::find_factor(std::string_view name) const {
  return {find(factor_names_, factors_, name, "factor"), mark_};
}

std::string describe(const Graph& graph) {
  std::string text = fmt::format("{} variables, {} factors\n", graph.variables().size(), graph.factors().size());
  for (const auto& v : graph.variables())
    text += fmt::format("  {}[{}] {}{}{}\n", v.name, v.size, v.family.empty() ? "gaussian" : v.family.get(), v.observed ? ", observed" : "",
                        v.shared ? ", shared" : "");
  for (const auto& f : graph.factors()) {
    std::vector<std::string> ends;
    for (const auto& c : f.connections) ends.push_back(fmt::format("{}{}", name(c.reach), graph[c.variable].name));
    text += fmt::format("  {}: {}({})\n", f.name(), f.kind, fmt::join(ends, ", "));
  }
  return text;
}

}  // namespace dma
