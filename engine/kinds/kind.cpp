#include "engine/kinds/kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/support/text.h"

namespace dma {

bool Domain::contains(double value) const {
  if (std::isnan(value)) return false;
  if (!only.empty()) return std::ranges::find(only, value) != only.end();
  return (low_open ? value > low : value >= low) && (high_open ? value < high : value <= high) &&
         (!whole || value == std::floor(value));
}

Domain Domain::operator&(const Domain& other) const {
  Domain both = *this;
  if (other.low > low || (other.low == low && other.low_open)) {
    both.low = other.low;
    both.low_open = other.low_open;
  }
  if (other.high < high || (other.high == high && other.high_open)) {
    both.high = other.high;
    both.high_open = other.high_open;
  }
  both.whole |= other.whole;
  if (!other.only.empty()) both.only = other.only;
  if (!other.advice.empty()) both.advice = other.advice;
  return both;
}

std::string describe(const Domain& domain) {
  if (!domain.only.empty()) return fmt::format("one of {}", joined(domain.only));
  return fmt::format("{}{}{}, {}{}", domain.whole ? "a whole number in " : "", domain.low_open ? '(' : '[', domain.low,
                     domain.high, domain.high_open ? ')' : ']');
}

Kind& Kind::add(PortSpec port) {
  if (ports_.size() == kMaxPorts) fail("kind '{}' has more than {} ports", name_, kMaxPorts);
  port.is_gaussian = port.family && *port.family == kGaussian;
  ports_.push_back(std::move(port));
  return *this;
}
Kind& Kind::add(ParameterSpec parameter) {
  if (parameters_.size() == kMaxParameters) fail("kind '{}' has more than {} parameters", name_, kMaxParameters);
  parameters_.push_back(std::move(parameter));
  return *this;
}
Kind& Kind::input(std::string name, std::optional<std::string> family) {
  return add({std::move(name), false, false, std::move(family)});
}
Kind& Kind::output(std::string name, std::optional<std::string> family) {
  return add({std::move(name), true, false, std::move(family)});
}
Kind& Kind::variadic_input(std::string name, std::optional<std::string> family) {
  return add({std::move(name), false, true, std::move(family)});
}
Kind& Kind::variadic_output(std::string name, std::optional<std::string> family) {
  return add({std::move(name), true, true, std::move(family)});
}
Kind& Kind::same_terms(std::string_view first, std::string_view second) {
  for (const std::string_view name : {first, second})
    if (const PortSpec& spec = ports_[port(name)];
        !spec.variadic && spec.family.value_or(std::string(kGaussian)) == kGaussian)
      fail("kind '{}': port '{}' is not variadic, it has one term", name_, name);
  same_terms_.emplace_back(port(first), port(second));
  return *this;
}
Kind& Kind::function(Function g) {
  if (!linear_view_) linear_view_ = numerical_linear_view(g);
  function_ = std::move(g);
  return *this;
}
Kind& Kind::vector_function(VectorFunction g, VectorSize size, LinearView view) {
  linear_view_ = view ? std::move(view) : numerical_linear_view(std::move(g));
  vector_size_ = size;
  return *this;
}
Kind& Kind::log_density(LogDensity f) {
  log_density_ = std::move(f);
  return *this;
}
Kind& Kind::linear_view(LinearView view, LinearIn linear_in) {
  linear_view_ = std::move(view);
  linear_in_ = std::move(linear_in);
  return *this;
}
Kind& Kind::precision_port(std::string_view name) {
  precision_port_ = port(name);
  return *this;
}
Kind& Kind::gaussian_row(RowView row) {
  gaussian_row_ = std::move(row);
  return *this;
}
Kind& Kind::log_integral(LogIntegral integral) {
  log_integral_ = std::move(integral);
  return *this;
}
Kind& Kind::expected_log(LogIntegral expectation) {
  expected_log_ = std::move(expectation);
  return *this;
}
Kind& Kind::observes(std::string_view port_name, const Domain& domain) {
  ports_[port(port_name)].observed = domain;
  return *this;
}
Kind& Kind::watch_signal_to_noise() {
  watches_signal_to_noise_ = true;
  return *this;
}

Kind& Kind::kernel(std::string_view method, std::string_view target, const from& reads, Kernel plate, HeldKernel held) {
  MessageFunction m = describe_message(method, target, reads, reads.ports.size(), 0);
  m.plate = plate;
  m.held = held;
  messages_.push_back(std::move(m));
  return *this;
}

Kind& Kind::pair_kernel(std::string_view method, std::string_view first, std::string_view second, Kernel plate,
                        HeldKernel held) {
  pair_kernels_.push_back({std::string(method), port(first), port(second), plate, held});
  return *this;
}

Kind& Kind::add(ChainPair pair) {
  chain_pairs_.push_back(std::move(pair));
  return *this;
}

namespace {

template <class Pair>
const Pair* find_pair(const std::vector<Pair>& pairs, const MessageFunction& first, const MessageFunction& second) {
  for (const Pair& pair : pairs)
    if (pair.method == first.method && pair.method == second.method && pair.first == first.target &&
        pair.second == second.target)
      return &pair;
  return nullptr;
}

}  // namespace

const PairKernel* Kind::find_pair_kernel(const MessageFunction& first, const MessageFunction& second) const {
  return find_pair(pair_kernels_, first, second);
}

ChainPairKernel Kind::find_chain_pair(const MessageFunction& first, const MessageFunction& second) const {
  const ChainPair* const pair = find_pair(chain_pairs_, first, second);
  return pair == nullptr ? nullptr : pair->kernel;
}

Kind& Kind::only_if_observed(std::string_view port_name) {
  if (messages_.empty())
    fail("kind '{}': only_if_observed(\"{}\") must follow the message that it restricts", name_, port_name);
  messages_.back().observed = port(port_name);
  return *this;
}

Kind& Kind::memory(std::size_t numbers) {
  memory_ = numbers;
  return *this;
}

void Kind::check_memory(std::string_view target) const {
  if (memory_ == 0)
    fail(
        "kind '{}': the message to '{}' takes a SlotMemory, but the "
        "kind has none; call memory(numbers) before message(...)",
        name_, target);
}

std::size_t Kind::port(std::string_view name) const {
  const auto found = std::ranges::find(ports_, name, &PortSpec::name);
  if (found != ports_.end()) return static_cast<std::size_t>(found - ports_.begin());
  fail("kind '{}' has no port '{}'{}", name_, name, suggestion(name, ports_, &PortSpec::name));
}

std::optional<std::size_t> Kind::variadic_port() const {
  const auto found = std::ranges::find(ports_, true, &PortSpec::variadic);
  if (found == ports_.end()) return {};
  return static_cast<std::size_t>(found - ports_.begin());
}

std::vector<std::string> Kind::methods() const {
  std::vector<std::string> names;
  for (const MessageFunction& m : messages_)
    if (std::ranges::find(names, m.method) == names.end()) names.push_back(m.method);
  return names;
}

const MessageFunction* Kind::find_message(std::string_view method, std::size_t target) const {
  for (const std::string_view wanted : {method, kExact, kLinearisedMethod})
    for (const MessageFunction& m : messages_)
      if (m.method == wanted && m.target == target) return &m;
  return nullptr;
}

MessageFunction Kind::describe_message(std::string_view method, std::string_view target,
                                       const std::optional<from>& reads, std::size_t read_count,
                                       std::size_t parameter_count) const {
  MessageFunction m;
  m.method = method;
  m.target = port(target);
  if (reads) {
    for (const std::string& p : reads->ports) m.reads.push_back(port(p));
  } else {
    for (std::size_t p = 0; p < ports_.size(); ++p)
      if (p != m.target) m.reads.push_back(p);
  }
  if (m.reads.size() != read_count)
    fail(
        "kind '{}', message to '{}': the function reads {} messages "
        "but {} ports are to be read; name them with from(...)",
        name_, target, read_count, m.reads.size());
  if (parameter_count > 0 && parameter_count != parameters_.size())
    fail("kind '{}', message to '{}': its Parameters hold {} numbers but the kind declares {} parameters", name_,
         target, parameter_count, parameters_.size());
  for (const MessageFunction& other : messages_)
    if (other.method == method && other.target == m.target)
      fail("kind '{}': two '{}' messages to port '{}'", name_, method, target);
  return m;
}

std::string missing_message(const Kind& kind, std::string_view method, std::size_t port) {
  std::vector<std::string> others;
  for (const MessageFunction& m : kind.messages())
    if (m.target == port) others.push_back(m.method);
  const std::string& target = kind.ports()[port].name;
  const std::string_view joint =
      kind.linear_view() || kind.gaussian_row() || kind.log_density() ? "; or solve the graph by joint()" : "";
  if (others.empty())
    return fmt::format(
        "no method of '{}' has one: observe the variable at port '{}', or register kind.message(\"{}\", \"{}\", ...){}",
        kind.name(), target, method, target, joint);
  return fmt::format("method '{}' has none{}{}", method, suggestion(method, others), joint);
}

}  // namespace dma
