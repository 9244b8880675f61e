// Beliefs of a solved system, and the names of undetermined elements.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/joint/solver.h"
#include "engine/run/state_data.h"

namespace dma::joint_system {

namespace {

std::string names(const PlanData& plan, std::span<const std::uint32_t> elements) {
  constexpr std::size_t kNamed = 8;
  std::string text, last;
  std::size_t count = 0;
  for (const std::uint32_t e : elements)
    if (std::string name = plan.element_name(e); name != last) {  // the components of a point share one name
      last = std::move(name);
      if (count++ < kNamed) text += fmt::format("{}'{}'", count == 1 ? "" : ", ", last);
    }
  if (count > kNamed) text += fmt::format(" and {} more", count - kNamed);
  return text;
}

// A diverged run may have no moments.
Gaussian moments(double mean, double variance) {
  return std::isfinite(mean) && std::isfinite(variance) ? Gaussian::from_moments(mean, variance) : Gaussian::uniform();
}

// A direction moves a sum if the change exceeds this fraction of the largest possible one.
constexpr double kMoved = 1e-9;

}  // namespace

bool Memory::is_open(const Numbers::Sparse& row) const {
  if (!is_singular()) return false;
  const auto is_open_unknown = [&](std::uint32_t u) { return is_undetermined[u] != 0; };
  if (!std::ranges::any_of(row.unknowns, is_open_unknown)) return false;
  if (!has_all_directions) return true;
  return std::ranges::any_of(directions, [&](const std::vector<double>& direction) {
    double moved = 0, most = 0;
    for (std::size_t k = 0; k < row.unknowns.size(); ++k) {
      moved += row.values[k] * direction[row.unknowns[k]];
      most += std::abs(row.values[k]);
    }
    return std::abs(moved) > kMoved * most;
  });
}

void JointSolver::find_open(const State& state, Memory& memory, Report& report) const {
  memory.directions = memory.numbers.fronts.null_directions();
  for (std::vector<double>& direction : memory.directions) memory.numbers.polish(direction);
  memory.has_all_directions = memory.directions.size() == memory.numbers.fronts.lost_pivots();
  memory.is_undetermined.assign(memory.numbers.x.size(), 0);
  for (const std::vector<double>& direction : memory.directions)
    for (std::size_t u = 0; u < direction.size(); ++u) memory.is_undetermined[u] |= std::abs(direction[u]) > kMoved;
  for (const std::uint32_t u : memory.numbers.fronts.lost_unknowns()) memory.is_undetermined[u] = 1;
  name_open(state, memory, report);
}

// An element known only through one site has no proper cavity to refresh it against: an inequality alone is no
// distribution.
void JointSolver::find_isolated_sites(const State& state, Memory& memory, Report& report) const {
  const std::vector<std::uint32_t> elements = memory.sites.refused_elements();
  if (elements.empty()) return;
  memory.has_all_directions = false;
  memory.is_undetermined.assign(memory.numbers.x.size(), 0);
  Numbers::Reader reader(memory.numbers);
  Numbers::Sparse row;
  for (const std::uint32_t e : elements) {
    memory.numbers.gradient_of(e, reader, row);
    for (const std::uint32_t u : row.unknowns) memory.is_undetermined[u] = 1;
  }
  name_open(state, memory, report);
}

void JointSolver::name_open(const State& state, const Memory& memory, Report& report) const {
  std::vector<std::uint32_t> elements;
  for (std::uint32_t u = 0; u < memory.is_undetermined.size(); ++u)
    if (memory.is_undetermined[u]) elements.push_back(memory.system->element_of[u]);
  report.stop = Report::Stop::singular;
  report.joint->undetermined = names(*state.plan(), elements);
}

void JointSolver::name_unpredicted(const State& state, const Memory& memory, Report& report) const {
  std::vector<std::uint32_t> elements;
  for (const SitePlate& plate : memory.system->sites)
    for (const SitePlate::Port& port : plate.ports)
      for (std::size_t q = 0; q < port.elements.size(); ++q)
        if (port.rows[q] == kNowhere && memory.numbers.missing[port.elements[q]]) elements.push_back(port.elements[q]);
  report.joint->unpredicted = names(*state.plan(), elements);
}

Gaussian marginal(const State&, const Memory& memory, std::uint32_t element, Numbers::Reader& reader,
                  Numbers::Sparse& row) {
  const Numbers& n = memory.numbers;
  const System& system = *n.system;
  const double mean = n.values[element];
  if (!std::isfinite(mean)) return Gaussian::uniform();  // overflowed: no information
  const bool is_predicted = n.prediction_of(element) != nullptr;
  if (system.role[element] == Role::known && !is_predicted)
    return n.missing[element] ? Gaussian::uniform() : Gaussian::point(mean);
  if (const std::uint32_t u = system.unknown_of[element]; u != kNowhere)
    return memory.is_singular() && memory.is_undetermined[u] ? Gaussian::uniform()
                                                             : moments(mean, n.fronts.variance(u));
  n.gradient_of(element, reader, row);
  if (memory.is_open(row)) return Gaussian::uniform();
  const std::uint32_t front = n.fronts.common_front(row.unknowns, reader.roots);
  double variance = front == kNowhere ? std::nan("") : n.fronts.quadratic(front, reader.roots, row.values);
  if (std::isnan(variance)) variance = n.fronts.quadratic(row.unknowns, row.values, reader.room);
  return moments(mean, variance + row.noise);
}

Belief JointSolver::belief(const State& state, VariableId variable) const {
  const Memory& memory = static_cast<const Memory&>(*state.solver_memory());
  const auto& v = state.plan()->variable(variable);
  std::vector<Natural> elements(v.size);
  if (memory.hypers != nullptr) {
    for (std::uint32_t i = 0; i < v.size; ++i) elements[i] = memory.hypers->marginal_of(v.first_element + i);
  } else if (memory.is_solved) {
    Numbers::Reader reader(memory.numbers);
    Numbers::Sparse row;
    for (std::uint32_t i = 0; i < v.size; ++i) elements[i] = marginal(state, memory, v.first_element + i, reader, row);
  } else if (v.observed) {
    for (std::uint32_t i = 0; i < v.size; ++i) elements[i] = state.data().message(v.first_slot + i);
  }
  return {v.name, v.family, std::move(elements)};
}

}  // namespace dma::joint_system
