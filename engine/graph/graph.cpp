#include "engine/graph/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>

#include "engine/support/sizes.h"
#include "engine/support/text.h"

namespace dma {

namespace {

// A variable has messages to and from several factors, and all are counted together in 32 bits.
constexpr std::size_t kLargestVariable = kLargestSize / 4;

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

NameTable::StemOf Graph::variable_stems() const {
  return [this](std::uint32_t number) -> std::optional<std::string_view> {
    const bool is_here = number < next_variable() && (number >= first_variable_ || early(number) != nullptr);
    return is_here ? std::optional<std::string_view>("v") : std::nullopt;
  };
}

NameTable::StemOf Graph::factor_stems() const {
  return [this](std::uint32_t number) -> std::optional<std::string_view> {
    if (number < first_factor_ || number >= next_factor()) return {};
    return kinds_[factors_[number - first_factor_].kind];
  };
}

// Marks repeat after 65,535 graphs: two graphs may then share a mark, but one graph never has two.
std::uint16_t Graph::next_mark() {
  static std::atomic<std::uint32_t> made = 0;
  return static_cast<std::uint16_t>(made++ % 0xffff + 1);
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
  if (size == 0 || size > kLargestVariable)
    fail("variable '{}' has size {}; a size from 1 to {} is expected", name_or_number(name, "v", id), size,
         kLargestVariable);
  const std::uint32_t of_family = family.empty() ? 0 : number_in(families_, family) + 1;
  if (of_family > std::numeric_limits<std::uint16_t>::max())
    fail("variable '{}': a graph has at most {} families", name_or_number(name, "v", id),
         std::numeric_limits<std::uint16_t>::max());
  bool is_named = !name.empty();
  if (!is_named)
    is_named = variable_names_.number(id, "v");
  else if (const auto other = variable_names_.take(id, std::string(name), variable_stems()))
    const_cast<VariableRecord&>(record(VariableId{*other})).is_named = true;
  VariableRecord& added = variables_.emplace_back();
  added.size = static_cast<std::uint32_t>(size);
  added.family = static_cast<std::uint16_t>(of_family);
  added.observed = observed;
  added.shared = shared;
  added.is_named = is_named;
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
  FactorRecord added;
  if (options.name.empty())
    added.is_named = factor_names_.number(id, kind) ? 1 : 0;
  else {
    added.is_named = 1;
    if (const auto other = factor_names_.take(id, options.name, factor_stems()))
      factors_[*other - first_factor_].is_named = 1;
  }
  added.first_end = first_end_ + checked_size(ends_.size(), [] { return std::string("the connections of the graph"); });
  added.kind = of_kind & 0x3fffffffu;
  added.parameters = number_of(std::move(parameters));
  has_gates_ |= !options.when.empty();
  if (is_plain && options.method.empty() && !options.damping && options.when.empty()) {
    for (const Connection& connection : connections) ends_.emplace_back(connection.variable.value);
  } else {
    added.is_special = 1;
    specials_[id] = {std::move(options.method), options.damping.value_or(kDampedBySchedule), std::move(connections),
                     std::move(options.when)};
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

void Graph::drop(std::uint32_t variable) {
  categories_.erase(variable);
  variable_names_.forget(variable);
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
    factor_names_.forget(first_factor_);
    specials_.erase(first_factor_);
  }
  const auto stays = [&](std::uint32_t v) { return std::ranges::binary_search(kept, v); };
  std::erase_if(early_, [&](const auto& one) {
    if (!stays(one.first)) drop(one.first);
    return !stays(one.first);
  });
  for (; first_variable_ < variable; ++first_variable_) {
    if (stays(first_variable_))
      early_.emplace_back(first_variable_, variables_[0]);
    else
      drop(first_variable_);
    variables_.drop_front(1);
  }
}

Graph Graph::without_gates() const {
  Graph out = *this;
  for (auto& [factor, special] : out.specials_) special.when.clear();
  out.has_gates_ = false;
  return out;
}

VariableId Graph::find_variable(std::string_view name) const {
  if (const auto found = variable_names_.find(std::string(name), variable_stems())) return {*found, mark_};
  fail("no variable '{}' in this graph{}", name, suggestion(name, variables(), &Variable::name));
}

FactorId Graph::find_factor(std::string_view name) const {
  if (const auto found = factor_names_.find(std::string(name), factor_stems())) return {*found, mark_};
  fail("no factor '{}' in this graph{}", name, suggestion(name, factors(), &Factor::name));
}

}  // namespace dma
