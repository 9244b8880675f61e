#include "engine/graph/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>

#include "engine/support/error.h"
#include "engine/support/sizes.h"
#include "engine/support/text.h"

namespace dma {

namespace {

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

}  // namespace

std::string Graph::name_at(bool of_variables, std::uint32_t i) const {
  return of_variables ? name(VariableId{i}).text() : factor_at(i - first_factor_).name();
}

bool Graph::has(bool of_variables, std::uint32_t number) const {
  if (!of_variables) return number >= first_factor_;
  return number >= first_variable_ || early(number) != nullptr;
}

void Graph::rename(bool of_variables, std::uint32_t i, std::string name) {
  if (of_variables) {
    std::uint32_t& place = const_cast<VariableRecord&>(record(VariableId{i})).name;
    if (place == 0 && free_names_.empty()) {
      names_.emplace_back();
      free_names_.push_back(static_cast<std::uint32_t>(names_.size()));
    }
    if (place == 0) {
      place = free_names_.back();
      free_names_.pop_back();
    }
    names_[place - 1] = std::move(name);
    return;
  }
  FactorRecord& factor = factors_[i - first_factor_];
  if (!factor.is_special) read_plain(i - first_factor_, specials_[i].connections);
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
    const auto node = static_cast<std::uint32_t>(number);
    if (number < nodes && has(of_variables, node) && name_at(of_variables, node) == wanted) return node;
  }
  return {};
}

std::uint32_t Graph::find(bool of_variables, std::string_view wanted) const {
  if (const auto found = position(of_variables, std::string(wanted))) return *found;
  fail("no {} '{}' in this graph{}", of_variables ? "variable" : "factor", wanted,
       of_variables ? suggestion(wanted, variables(), &Variable::name) : suggestion(wanted, factors(), &Factor::name));
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
  const std::string_view stem = of_variables ? std::string_view("v") : kinds_[factors_[*holder - first_factor_].kind];
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

std::string name_or_number(std::string_view given, std::string_view stem, std::uint32_t number) {
  return given.empty() ? numbered(stem, number) : std::string(given);
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
  const std::uint32_t id = checked_size(std::uint64_t{first_variable_} + variables_.size(),
                                        [] { return std::string("the variables of a graph"); });
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
  if (hash != 0 && recent != 0 && is_same(parameters_[recent - 1].list, parameters)) {
    ++parameters_[recent - 1].uses;
    return recent;
  }
  if (free_parameters_.empty()) {
    parameters_.emplace_back();
    free_parameters_.push_back(static_cast<std::uint32_t>(parameters_.size()));
  }
  const std::uint32_t number = free_parameters_.back();
  free_parameters_.pop_back();
  parameters_[number - 1] = {std::move(parameters), 1};
  if (hash != 0) recent = number;
  return number;
}

FactorId Graph::add(std::string_view kind, ShortList<Connection, 2>&& connections, ParameterList&& parameters,
                    FactorOptions&& options) {
  const std::uint32_t id = checked_size(std::uint64_t{first_factor_} + factors_.size(),
                                        [] { return std::string("the factors of a graph"); });
  bool is_plain = true;
  for (const Connection& connection : connections) {
    const VariableId v = connection.variable;
    if (has_forgotten(v)) fail("factor {} ({}) is connected to variable {}, which was removed", id, kind, v.value);
    if (v.value >= next_variable() || !v.is_of(mark_))
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
  added.first_end = first_end_ + checked_size(ends_.size(), [] { return std::string("the connections of the graph"); });
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

void Graph::drop(std::uint32_t variable, const VariableRecord& record) {
  categories_.erase(variable);
  if (record.name == 0) return;
  variable_names_.erase(names_[record.name - 1]);
  free_names_.push_back(record.name);
}

void Graph::forget(std::uint32_t variable, std::uint32_t factor, std::span<const std::uint32_t> kept) {
  if (variable > next_variable() || factor > next_factor())
    fail("forget: before variable {} and factor {}; the graph has {} and {}", variable, factor, next_variable(),
         next_factor());
  for (; first_factor_ < factor; ++first_factor_) {
    const FactorRecord gone = factors_[0];
    factors_.drop_front(1);
    const std::size_t ends = factors_.size() == 0 ? ends_.size() : std::uint32_t{factors_[0].first_end - first_end_};
    ends_.drop_front(ends);
    first_end_ += static_cast<std::uint32_t>(ends);
    if (gone.parameters != 0 && --parameters_[gone.parameters - 1].uses == 0) {
      parameters_[gone.parameters - 1].list = {};
      std::ranges::replace(recent_parameters_, gone.parameters, 0u);
      free_parameters_.push_back(gone.parameters);
    }
    if (!gone.is_special) continue;
    const auto special = specials_.find(first_factor_);
    factor_names_.erase(special->second.given_name);
    specials_.erase(special);
  }
  const auto stays = [&](std::uint32_t v) { return std::ranges::binary_search(kept, v); };
  std::erase_if(early_, [&](const auto& one) {
    if (!stays(one.first)) drop(one.first, one.second);
    return !stays(one.first);
  });
  for (; first_variable_ < variable; ++first_variable_) {
    if (stays(first_variable_))
      early_.emplace_back(first_variable_, variables_[0]);
    else
      drop(first_variable_, variables_[0]);
    variables_.drop_front(1);
  }
}

Graph Graph::without_gates() const {
  Graph out = *this;
  for (auto& [factor, special] : out.specials_) special.when.clear();
  out.has_gates_ = false;
  return out;
}

VariableId Graph::find_variable(std::string_view name) const { return {find(true, name), mark_}; }
FactorId Graph::find_factor(std::string_view name) const { return {find(false, name), mark_}; }

}  // namespace dma
