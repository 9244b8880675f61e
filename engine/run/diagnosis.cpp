#include "engine/run/diagnosis.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/compile/plan_data.h"
#include "engine/kinds/kind.h"
#include "engine/run/messages_at.h"
#include "engine/run/sweep_memory.h"

namespace dma {

namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

bool sends_nothing(const Group& group) {
  return std::ranges::all_of(group.ports, [](const Group::Port& port) { return port.message == nullptr; });
}

}  // namespace

Contradiction contradiction(const std::string& variable, std::uint32_t element, double known, double found) {
  return Contradiction(
      fmt::format("variable '{}', element {}: it is exactly {} and exactly {} at the same time; change an observation, "
                  "or give one of its "
                  "factors a positive variance",
                  variable, element, known, found));
}

void Diagnosis::check_contradictions() {
  // Given values in the first slots cannot contradict each other at a variable. But if all variables of a factor are
  // observed, it sends no message that could show the contradiction.
  std::int64_t points = 0;
  for (std::size_t slot = plan_.first_message; slot < state_.store.rho.size(); ++slot)
    points += state_.store.rho[slot] == kInfinity;
  if (points == 0 && std::ranges::none_of(plan_.groups, sends_nothing)) return;
  for (const auto& variable : plan_.variables) locate_points(variable);
  for (std::uint32_t g = 0; g < plan_.groups.size(); ++g)
    if (plan_.groups[g].kind->function()) check_function(g);
}

// Writes the exact location of every element that has one to the state's totals.
void Diagnosis::locate_points(const PlanData::Variable& variable) {
  double* const location = state_.sweeping->total_tau.data() + variable.first_element;
  std::fill_n(location, variable.size, kUnknown);
  if (variable.observed)
    for (std::uint32_t i = 0; i < variable.size; ++i)
      if (const Natural value = state_.message(variable.first_slot + i); value.is_point()) location[i] = value.tau;
  if (variable.cuts) return;
  for_each_message(plan_, state_.incidence(), variable, [&](std::uint32_t i, std::uint32_t slot) {
    if (state_.store.rho[slot] != kInfinity) return;
    const double found = state_.store.tau[slot];
    if (std::isnan(location[i])) location[i] = found;
    if (!is_same_point(found, location[i])) throw contradiction(variable.name, i, location[i], found);
  });
}

void Diagnosis::check_function(std::uint32_t g) const {
  const Group& group = plan_.groups[g];
  const auto is_known = [&](std::uint32_t slot) {
    for (const Group::Port& port : group.ports)
      for (std::uint32_t t = 0; t < port.terms; ++t)
        if (std::isnan(state_.sweeping->total_tau[state_.element(port, slot * port.terms + t)])) return false;
    return true;
  };
  for (std::uint32_t slot = 0; slot < group.slots; ++slot)
    if (is_known(slot)) check_function_at(g, slot);
}

void Diagnosis::check_function_at(std::uint32_t g, std::uint32_t slot) const {
  const Group& group = plan_.groups[g];
  const auto value = [&](const Group::Port& port, std::uint32_t term) {
    return state_.sweeping->total_tau[state_.element(port, slot * port.terms + term)];
  };
  double* const inputs = state_.store.scratch.data();
  std::size_t input_count = 0;
  double size = 1;
  const auto& ports = group.kind->ports();
  for (std::size_t p = 0; p < ports.size(); ++p)
    for (std::uint32_t t = 0; !ports[p].output && t < group.ports[p].terms; ++t) {
      inputs[input_count] = value(group.ports[p], t);
      size = std::max(size, std::abs(inputs[input_count++]));
    }
  double* const parameters = inputs + input_count;
  std::size_t parameter_count = 0;
  for (std::size_t i = 0; i < group.parameters.size(); ++i) {
    const ParameterView view = state_.parameter(g, i);
    for (std::uint32_t t = 0; t < view.terms; ++t) parameters[parameter_count++] = view.at(0, slot)[t];
  }
  const double due = group.kind->function()({inputs, input_count}, {parameters, parameter_count});
  for (std::size_t p = 0; p < ports.size(); ++p)
    for (std::uint32_t t = 0; ports[p].output && t < group.ports[p].terms; ++t)
      if (const double found = value(group.ports[p], t); !is_same_point(found, due, size))
        throw Contradiction(fmt::format(
            "factor '{}' ({}): its variables are known exactly and contradict it: its inputs make '{}' {}, but "
            "it is exactly {}; change an observation, or insert a gaussian_noise factor with a positive variance",
            plan_.slot_name(g, slot), group.kind->name(), ports[p].name, due, found));
}

namespace {

// The terms of argument i of a chain, and the message that arrived at (slot, term) pair q.
std::uint32_t terms_of(const ChainSegment& segment, std::size_t i) {
  return segment.table == nullptr ? segment.reads[i].terms : segment.table_reads[i].terms;
}
Natural arrival(const ChainSegment& segment, std::size_t i, std::int64_t q) {
  if (segment.table == nullptr) return segment.reads[i].product(q);
  const TableRead& read = segment.table_reads[i];
  const auto at = static_cast<std::uint32_t>(q);
  if (read.is_kept || !read.is_looked_up) return segment.table->arrivals[read.first_arrival + at];
  return all_but(segment.table->incidence, segment.table->messages, read.first_slot + at);
}

}  // namespace

void Diagnosis::find_signal_to_noise(Report& report) const {
  double smallest = kInfinity;
  const auto consider = [&](const BoundSend& op, std::size_t port, std::uint64_t slot, const Natural& m) {
    if (!m.is_proper() || m.tau * m.tau / m.rho >= smallest) return;  // unknown, or known exactly
    smallest = m.tau * m.tau / m.rho;
    report.signal_to_noise_at = {nullptr, op.group, static_cast<std::uint32_t>(port), slot};
  };
  const auto consider_chain = [&](const BoundSend& op, std::size_t i, std::size_t port) {
    const std::uint32_t terms = terms_of(op.segment, i);
    for (std::uint64_t step = 0; step < op.segment.count; ++step) {
      const std::int64_t slot = op.segment.part(step, 1).first;
      for (std::uint32_t t = 0; t < terms; ++t)
        consider(op, port, static_cast<std::uint64_t>(slot), arrival(op.segment, i, slot * terms + t));
    }
  };
  const auto consider_plate = [&](const BoundSend& op, const PortView& view, std::size_t port) {
    for (std::size_t r = 0; r < op.call.rows; ++r)
      for (std::size_t c = 0; c < op.call.columns; ++c)
        for (std::size_t t = 0; t < view.terms; ++t)
          consider(op, port, op.first + r * op.call.columns + c, view.at(r, c, t));
  };
  for (const auto* const list : {&state_.sweeping->sends.of_sweep(), &state_.sweeping->sends.of_chains()})
    for (const BoundSend& op : *list) {
      const Group& group = plan_.groups[op.group];
      if (!group.kind->watches_signal_to_noise()) continue;
      const auto& ports = group.ports[op.port].message->reads;
      for (std::size_t i = 0; i < ports.size(); ++i)
        if (op.chain_kernel != nullptr)
          consider_chain(op, i, ports[i]);
        else
          consider_plate(op, op.call.reads[i], ports[i]);
    }
  if (smallest == kInfinity) return;
  report.signal_to_noise = std::sqrt(smallest);
  report.signal_to_noise_at.plan = state_.plan.data();
}

// Information matrix of up to kMost elements.
struct Diagnosis::Information {
  static constexpr std::size_t kMost = 16;
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, kMost, kMost>;

  std::size_t size = 0;
  std::array<std::uint32_t, kMost> element = {};
  std::array<Natural, kMost> belief = {};
  Matrix matrix = Matrix::Zero(kMost, kMost);

  // Returns kMost if there is no room.
  std::size_t place_of(std::uint32_t e) const {
    return static_cast<std::size_t>(std::find(element.begin(), element.begin() + size, e) - element.begin());
  }

  double& at(std::size_t i, std::size_t j) {
    return matrix(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
  }
  // Inverts in place by Gauss-Jordan; false if not positive definite. Eigen's factorisation would make every program
  // larger by its kernels for large matrices.
  bool invert() {
    for (std::size_t k = 0; k < size; ++k) {
      const double pivot = at(k, k);
      if (!(pivot > 0 && pivot < kInfinity)) return false;
      at(k, k) = 1;
      for (std::size_t j = 0; j < size; ++j) at(k, j) /= pivot;
      for (std::size_t i = 0; i < size; ++i) {
        if (i == k) continue;
        const double factor = std::exchange(at(i, k), 0.0);
        for (std::size_t j = 0; j < size; ++j) at(i, j) -= factor * at(k, j);
      }
    }
    return true;
  }
};

const PlanData::Variable& Diagnosis::variable_at(std::uint32_t element) const {
  for (const PlanData::Variable& v : recent_)
    if (v.ends.data() != nullptr && element - v.first_element < v.size) return v;
  return recent_[newest_ = 1 - newest_] = plan_.variables.at_element(element);
}

Natural Diagnosis::product_at(std::uint32_t element, std::uint32_t without) const {
  const PlanData::Variable& v = variable_at(element);
  return state_.product_at(v, element - v.first_element, without);
}

bool Diagnosis::is_silent(const Group& group, std::size_t input, std::size_t output) const {
  const Group::Port &x = group.ports[input], &y = group.ports[output];
  for (std::uint32_t slot = 0; slot < group.slots; ++slot)
    if (state_.message(x.first_slot + slot).is_uniform() && product_at(state_.element(x, slot)).is_proper() &&
        !product_at(state_.element(y, slot), y.first_slot + slot).is_uniform())
      return true;
  return false;
}

bool Diagnosis::has_silent_function() const {
  for (const Group& group : plan_.groups) {
    const auto& ports = group.kind->ports();
    if (!group.kind->function() || ports.size() != 2 || ports[0].output == ports[1].output) continue;
    const std::size_t input = ports[0].output ? 1 : 0;
    const MessageFunction* const message = group.ports[input].message;
    if (message == nullptr || message->method == kExact || group.ports[input].terms != 1) continue;
    if (is_silent(group, input, 1 - input)) return true;
  }
  return false;
}

// Returns false if the slot does not fit.
bool Diagnosis::add_slot(std::uint32_t g, std::uint32_t slot, Information& information) const {
  const Group& group = plan_.groups[g];
  std::array<double, Information::kMost> values, gains;
  struct Unknown {
    std::uint32_t input;
    std::size_t place;
  };
  std::array<Unknown, Information::kMost> unknown;
  std::array<ParameterView, kMaxParameters> parameters;
  const Group::Port* output = nullptr;
  std::uint32_t inputs = 0, unknowns = 0;
  for (std::size_t p = 0; p < group.ports.size(); ++p) {
    const Group::Port& port = group.ports[p];
    if (group.kind->ports()[p].output) {
      output = &port;
      continue;
    }
    for (std::uint32_t t = 0; t < port.terms; ++t, ++inputs) {
      const std::uint32_t q = slot * port.terms + t, e = state_.element(port, q);
      const std::size_t at = information.place_of(e);
      const bool has_room = inputs < Information::kMost && at < Information::kMost, is_new = at == information.size;
      if (!has_room || (is_new && !(variable_at(e).family == Family()))) return false;
      if (is_new) {
        information.element[at] = e;
        information.belief[at] = product_at(e);
      }
      const Natural belief = information.belief[at];
      values[inputs] = Gaussian(belief).mean();
      if (belief.is_point()) continue;
      information.size += is_new;
      unknown[unknowns++] = {inputs, at};
      if (is_new) information.at(at, at) = belief.rho;
      information.at(at, at) -= state_.message(port.first_slot + q).rho;  // the element's own message
    }
  }
  if (output == nullptr || output->terms != 1) return false;
  for (std::size_t i = 0; i < group.parameters.size(); ++i) {
    const ParameterView view = state_.parameter(g, i);
    parameters[i] = {view.at(0, slot), 0, 0, view.terms};
  }
  double value = 0;
  group.kind->linear_view()({.slots = 1,
                             .inputs = inputs,
                             .values = values.data(),
                             .parameters = parameters.data(),
                             .parameter_count = group.parameters.size(),
                             .value = &value,
                             .gains = gains.data()});
  const double precision = product_at(state_.element(*output, slot), output->first_slot + slot).rho;
  if (!(precision < kInfinity)) return false;
  for (const Unknown& x : std::span(unknown).first(unknowns))
    for (const Unknown& y : std::span(unknown).first(unknowns))
      information.at(x.place, y.place) += precision * gains[x.input] * gains[y.input];
  return true;
}

bool Diagnosis::collect(std::uint32_t g, Information& information) const {
  for (std::uint32_t slot = 0; slot < plan_.groups[g].slots; ++slot)
    if (!add_slot(g, slot, information)) return false;
  return information.size > 1 && information.invert();
}

void Diagnosis::find_correlation(Report& report) const {
  for (std::uint32_t g = 0; g < plan_.groups.size(); ++g) {
    Information information;
    if (!plan_.groups[g].kind->linear_view() || !collect(g, information)) continue;
    for (std::size_t i = 0; i < information.size; ++i)
      for (std::size_t j = 0; j < i; ++j) {
        const double correlation = information.at(i, j) / std::sqrt(information.at(i, i) * information.at(j, j));
        // Ties go to the first one, so that rounding does not decide.
        constexpr double kMore = 1e-6;
        if (!(std::abs(correlation) > std::max(Report::kStrong, std::abs(report.correlation) + kMore))) continue;
        report.correlation = correlation;
        report.correlated = {information.element[j], information.element[i]};
      }
  }
}

}  // namespace dma
