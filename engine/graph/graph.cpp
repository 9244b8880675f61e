#include "engine/graph/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <unordered_set>

#include "engine/messages/family.h"
#include "engine/support/sizes.h"
#include "engine/support/text.h"

namespace dma {

namespace {

// Calls `use` for each end of a factor with plain connections.
template <class Factors, class Ends, class Use>
void for_each_end(const Factors& factors, const Ends& ends, std::size_t factor, const Use& use) {
  const std::size_t end = factor + 1 < factors.size() ? factors[factor + 1].first_end : ends.size();
  for (std::size_t i = factors[factor].first_end; i < end; ++i) use(ends[i]);
}

// A variable has messages to and from several factors, and all are counted together in 32 bits.
constexpr std::size_t kLargestVariable = kLargestSize / 4;

// A stem that ends in a digit gets a separator: number 2 of "log1" is not number 12 of "log".
std::string numbered(std::string_view stem, std::uint64_t number) {
  const fmt::format_int digits(number);
  const bool apart = !stem.empty() && ((stem.back() >= '0' && stem.back() <= '9') || stem.back() == '_');
  std::string name;
  name.reserve(stem.size() + 1 + digits.size());
  return name.append(stem).append(apart ? "_" : "").append(digits.data(), digits.size());
}

// "v3", or the next numbered name that the user has not taken.
template <class Names>
std::string name_by_number(std::string_view stem, std::uint32_t id, Names& names) {
  std::string name = numbered(stem, id);
  if (!names.contains(name)) return name;
  for (std::uint64_t number = std::uint64_t{id} + 1; names.contains(name); ++number) name = numbered(stem, number);
  names.emplace(name, typename Names::mapped_type{id, true});
  return name;
}

// Index of `text` in a small table; appends it if missing.
std::uint32_t number_in(std::deque<std::string>& table, std::string_view text) {
  for (std::uint32_t i = 0; i < table.size(); ++i)
    if (table[i] == text) return i;
  table.emplace_back(text);
  return static_cast<std::uint32_t>(table.size() - 1);
}

// Bitwise equality of two lists of one number each.
bool is_same(const ParameterList& a, const ParameterList& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return std::bit_cast<std::uint64_t>(x.second.numbers[0]) == std::bit_cast<std::uint64_t>(y.second.numbers[0]) &&
           x.first == y.first;
  });
}

std::string_view name(Reach reach) {
  constexpr std::string_view kNames[] = {"", "row ", "column ", "all_to_one ", "gather ", "shift ", "given "};
  return kNames[static_cast<std::size_t>(reach)];
}

}  // namespace

std::string Graph::name_at(bool of_variables, std::uint32_t i) const {
  return of_variables ? name(VariableId{i}).text() : factor_at(i).name();
}

void Graph::rename(bool of_variables, std::uint32_t i, std::string name) {
  if (of_variables) {
    names_.push_back(std::move(name));
    variables_[i].name = static_cast<std::uint32_t>(names_.size());
    return;
  }
  FactorRecord& factor = factors_[i];
  if (!factor.is_special) read_plain(i, specials_[i].connections);
  factor.is_special = 1;
  specials_[i].given_name = std::move(name);
}

// Position of the node with that name. Numbered names end in their position ("v17", "product3") and need no entry in
// the table.
std::optional<std::uint32_t> Graph::position(bool of_variables, const std::string& wanted) const {
  const Names& names = of_variables ? variable_names_ : factor_names_;
  if (const auto found = names.find(wanted); found != names.end()) return found->second.position;
  const std::size_t nodes = count(of_variables);
  std::uint64_t number = 0, power = 1;
  for (std::size_t i = wanted.size(); i-- > 0 && wanted[i] >= '0' && wanted[i] <= '9' && power <= nodes; power *= 10) {
    number += power * static_cast<std::uint64_t>(wanted[i] - '0');
    if (number < nodes && name_at(of_variables, static_cast<std::uint32_t>(number)) == wanted)
      return static_cast<std::uint32_t>(number);
  }
  return {};
}

std::uint32_t Graph::find(bool of_variables, std::string_view wanted) const {
  if (const auto found = position(of_variables, std::string(wanted))) return *found;
  std::vector<std::string> known;
  for (std::uint32_t i = 0; i < count(of_variables); ++i) known.push_back(name_at(of_variables, i));
  fail("no {} '{}' in this graph{}", of_variables ? "variable" : "factor", wanted, suggestion(wanted, known));
}

// Reserves a name for the user. A name the user gives twice is an Error. A numbered name that collides gets another
// number.
void Graph::take_name(bool of_variables, const std::string& name) {
  Names& names = of_variables ? variable_names_ : factor_names_;
  if (!is_plain_text(name))
    fail("the name of a {}, '{}', holds control characters; rename it", of_variables ? "variable" : "factor",
         printable(name));
  const auto holder = position(of_variables, name);
  const auto entry = names.find(name);
  if (holder && entry != names.end() && !entry->second.by_number)
    fail("two {} are named '{}'; give each its own name, or an empty one to have it numbered",
         of_variables ? "variables" : "factors", name);
  const std::size_t nodes = count(of_variables);
  names.insert_or_assign(name, Named{static_cast<std::uint32_t>(nodes)});
  if (!holder) return;
  const std::string_view stem = of_variables ? std::string_view("v") : kinds_[factors_[*holder].kind];
  std::uint64_t number = nodes + 1;  // start beyond all positions, whose names would collide in turn
  std::string free = numbered(stem, number);
  while (position(of_variables, free)) free = numbered(stem, ++number);
  names.emplace(free, Named{*holder, true});
  rename(of_variables, *holder, std::move(free));
}

// Marks repeat after 65,535 graphs: two graphs may then share a mark, but one graph never has two.
std::uint16_t Graph::next_mark() {
  static std::atomic<std::uint32_t> made = 0;
  return static_cast<std::uint16_t>(made++ % 0xffff + 1);
}

Graph::Variable Graph::operator[](VariableId id) const {
  check(id);
  return variable_at(id.value);
}
void Graph::refuse(VariableId id) const {
  fail("variable {} is not of this graph, which has {}{}", id.value, variables_.size(),
       id.is_of(mark_) ? "" : ": another one gave this id");
}
Graph::Factor Graph::operator[](FactorId id) const {
  if (id.value >= factors_.size() || !id.is_of(mark_))
    fail("factor {} is not of this graph, which has {}{}", id.value, factors_.size(),
         id.is_of(mark_) ? "" : ": another one gave this id");
  return factor_at(id.value);
}

std::string name_or_number(std::string_view given, std::string_view stem, std::uint32_t number) {
  return given.empty() ? numbered(stem, number) : std::string(given);
}

Graph::Variable Graph::variable_at(std::size_t i) const {
  const VariableId id{static_cast<std::uint32_t>(i)};
  return {without_name(id), name(id)};
}

Graph::Nameless Graph::without_name(VariableId id) const {
  check(id);
  const VariableRecord& v = variables_[id.value];
  return {v.size, v.family == 0 ? std::string_view() : families_[v.family - 1], v.observed, v.shared};
}

void Graph::read_plain(std::size_t factor, ShortList<Connection, 2>& connections) const {
  connections.clear();
  for_each_end(factors_, ends_, factor, [&](std::uint32_t variable) {
    connections.emplace_back(VariableId{variable, mark_});
  });
}

Graph::Factor Graph::factor_at(std::size_t i) const {
  Factor factor;
  read(i, factor);
  return factor;
}

bool Graph::read(std::size_t i, PlainFactor& factor) const {
  const FactorRecord& f = factors_[i];
  if (f.is_special) return false;
  factor.kind = &kinds_[f.kind];
  factor.parameters = f.parameters == 0 ? nullptr : &parameters_[f.parameters - 1];
  factor.variables.clear();
  for_each_end(factors_, ends_, i, [&](std::uint32_t variable) { factor.variables.push_back(variable); });
  return true;
}

void Graph::read(std::size_t i, Factor& factor) const {
  const FactorRecord& f = factors_[i];
  factor.kind = kinds_[f.kind];
  factor.number = static_cast<std::uint32_t>(i);
  factor.parameters = {};
  if (f.parameters != 0)
    factor.parameters = {parameters_[f.parameters - 1].begin(), parameters_[f.parameters - 1].size()};
  factor.given_name = factor.method = {};
  factor.damping = kDampedBySchedule;
  factor.when = {};
  factor.connections.elsewhere_ = nullptr;
  if (!f.is_special) return read_plain(i, factor.connections.own_);
  const Special& special = specials_.at(static_cast<std::uint32_t>(i));
  factor.given_name = special.given_name;
  factor.method = special.method;
  factor.damping = special.damping;
  factor.when = special.when;
  factor.connections.elsewhere_ = &special.connections;
}

Connection given(VariableId v, std::size_t entries) {
  Connection connection(v, Reach::given);
  connection.table =
      std::vector<std::uint32_t>{checked_size(entries, [] { return std::string("a given table: its entries"); })};
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
  std::string own(name);
  if (name.empty() && !variable_names_.empty()) {
    own = name_by_number("v", id, variable_names_);
    if (own == numbered("v", id)) own.clear();
  }
  if (size == 0 || size > kLargestVariable)
    fail("variable '{}' has size {}; a size from 1 to {} is expected", name_or_number(own, "v", id), size,
         kLargestVariable);
  const std::uint32_t of_family = family.empty() ? 0 : number_in(families_, family) + 1;
  if (of_family > std::numeric_limits<std::uint16_t>::max())
    fail("variable '{}': a graph has at most {} families", name_or_number(own, "v", id),
         std::numeric_limits<std::uint16_t>::max());
  if (!name.empty()) take_name(true, own);
  VariableRecord& added = variables_.emplace_back();
  added.size = static_cast<std::uint32_t>(size);
  added.family = static_cast<std::uint16_t>(of_family);
  added.observed = observed;
  added.shared = shared;
  if (!own.empty()) rename(true, id, std::move(own));
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

// Index of a list of parameters, from 1. In a large model most lists equal that of a recent factor and are shared.
std::uint32_t Graph::number_of(ParameterList&& parameters) {
  if (parameters.empty()) return 0;
  std::uint64_t hash = parameters.size();
  for (const auto& [name, value] : parameters) {
    if (value.numbers.size() != 1)
      hash = 0;  // only lists of one number are shared
    else if (hash != 0)
      hash = (hash ^ std::bit_cast<std::uint64_t>(value.numbers[0])) * 0x9e3779b97f4a7c15u + name.size();
  }
  std::uint32_t& recent = recent_parameters_[hash >> 58];
  if (hash != 0 && recent != 0 && is_same(parameters_[recent - 1], parameters)) return recent;
  parameters_.push_back(std::move(parameters));
  const auto number = static_cast<std::uint32_t>(parameters_.size());
  if (hash != 0) recent = number;
  return number;
}

FactorId Graph::add(std::string_view kind, ShortList<Connection, 2>&& connections, ParameterList&& parameters,
                    FactorOptions&& options) {
  const auto id = static_cast<std::uint32_t>(factors_.size());
  bool is_plain = true;
  for (const Connection& connection : connections) {
    if (connection.variable.value >= variables_.size() || !connection.variable.is_of(mark_))
      fail("factor {} ({}) is connected to a variable that is not of this graph", id, kind);
    is_plain &= connection.reach == Reach::identical && connection.port.empty();
  }
  for (const GateCase& one : options.when) {
    check(one.variable);
    if (std::ranges::count(options.when, one.variable, &GateCase::variable) > 1)
      fail("factor {} ({}): '{}' is twice in when; give it one value", id, kind, name(one.variable));
  }
  const std::uint32_t of_kind = number_in(kinds_, kind);
  if (!options.name.empty())
    take_name(false, options.name);
  else if (!factor_names_.empty()) {
    std::string own = name_by_number(kind, id, factor_names_);
    if (own != numbered(kind, id)) options.name = std::move(own);
  }
  FactorRecord added;
  added.first_end = checked_size(ends_.size(), [] { return std::string("the connections of the graph"); });
  added.kind = of_kind & 0x7fffffffu;
  added.parameters = number_of(std::move(parameters));
  has_gates_ |= !options.when.empty();
  if (is_plain && options.name.empty() && options.method.empty() && !options.damping && options.when.empty()) {
    for (const Connection& connection : connections) ends_.emplace_back(connection.variable.value);
  } else {
    added.is_special = 1;
    specials_[id] = {std::move(options.name), std::move(options.method), options.damping.value_or(kDampedBySchedule),
                     std::move(connections), std::move(options.when)};
  }
  factors_.emplace_back(added);
  return {id, mark_};
}

FactorId Graph::factor_like(const Factor& other, std::vector<Connection> connections) {
  return factor(other.kind, std::move(connections), {other.parameters.begin(), other.parameters.end()},
                {other.name(), std::string(other.method),
                 other.damping == kDampedBySchedule ? std::nullopt : std::optional(other.damping)});
}

GateCase Graph::gate_case(VariableId id, double value) const {
  if (!(value >= 0 && value < 4294967296.0 && value == std::floor(value)))
    fail("when: {} is given for '{}'; a value of it, such as 1, is expected", value, name(id));
  return {id, static_cast<std::uint32_t>(value)};
}

Graph Graph::without_gates() const {
  Graph out = *this;
  for (auto& [factor, special] : out.specials_) special.when.clear();
  out.has_gates_ = false;
  return out;
}

VariableId Graph::find_variable(std::string_view name) const { return {find(true, name), mark_}; }
FactorId Graph::find_factor(std::string_view name) const { return {find(false, name), mark_}; }

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
