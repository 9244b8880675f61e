#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <numbers>

#include "engine/joint/joint.h"
#include "engine/joint/solver.h"
#include "engine/support/error.h"

namespace dma {

namespace {

using joint_system::Memory;
using joint_system::Numbers;

// What is missing below a likelihood that is no Gaussian row.
bool is_unpredicted(const Numbers& n, std::uint32_t element) {
  return n.missing[element] && n.system->role[element] == joint_system::Role::known && !n.prediction_of(element);
}
void refuse_unpredicted(const Memory& memory, const PlanData::Variable& v, std::uint32_t element) {
  if (is_unpredicted(memory.numbers, element))
    fail("joint: '{}' is missing, and its likelihood predicts no Gaussian; ask for the variable that it reads", v.name);
}

// One element over the roots.
Numbers::Sparse row_of(const Memory& memory, const PlanData::Variable& v, std::size_t i, Numbers::Reader& reader) {
  Numbers::Sparse row;
  const std::uint32_t element = v.first_element + static_cast<std::uint32_t>(i);
  refuse_unpredicted(memory, v, element);
  memory.numbers.gradient_of(element, reader, row);
  if (memory.is_open(row)) fail("joint: nothing determines '{}'; it has no covariance", v.name);
  return row;
}

// L^-1 times such a row; `solved` and `room` are as long as the roots are many.
void solve_for(const Memory& memory, const Numbers::Sparse& row, std::vector<double>& solved,
               std::vector<double>& room) {
  std::ranges::fill(solved, 0.0);
  for (std::size_t k = 0; k < row.unknowns.size(); ++k) solved[row.unknowns[k]] = row.values[k];
  memory.numbers.fronts.solve(solved, room);
}

double along(const Numbers::Sparse& row, std::span<const double> solved) {
  double sum = 0;
  for (std::size_t k = 0; k < row.unknowns.size(); ++k) sum += row.values[k] * solved[row.unknowns[k]];
  return sum;
}

// What makes a cavity a density: the objective counts exp(tau x - rho x^2 / 2).
double log_scale_of_cavity(const State& state, const Numbers& n, std::uint32_t r) {
  const double rho = n.weights[r], tau = n.taus[r];
  if (rho > 0) return 0.5 * (std::log(rho / (2 * std::numbers::pi)) - tau * (tau / rho));
  if (rho == 0 && tau == 0) return 0;
  fail("no evidence: the cavity of shared '{}' has precision {} and cannot be normalised; give it one above 0",
       joint_system::element_name(*state.plan(), n.system->cavity_elements[r - n.system->first_cavity_row]), rho);
}

void check_memory(const State& state, const std::string& what, std::size_t rows, std::size_t columns,
                  const char* way_out) {
  const double bytes = 8.0 * static_cast<double>(rows) * static_cast<double>(columns);
  const auto limit = static_cast<double>(joint_system::solver_of(state).options().memory);
  if (bytes > limit)
    fail(
        "joint: {} are {} x {} numbers, {:.3g} GB, more than the limit of {:.3g} GB; {} or raise joint({{.memory = "
        "...}})",
        what, rows, columns, bytes / 1e9, limit / 1e9, way_out);
}

}  // namespace

JointPosterior::JointPosterior(const State& state) : state_(&state) { (void)joint_system::solved_memory(state); }

Eigen::VectorXd JointPosterior::mean(VariableId variable) const {
  const auto& v = state_->plan()->variable(variable);
  const Memory& memory = joint_system::solved_memory(*state_);
  for (std::uint32_t i = 0; i < v.size; ++i) refuse_unpredicted(memory, v, v.first_element + i);
  return Eigen::Map<const Eigen::VectorXd>(memory.numbers.values.data() + v.first_element, v.size);
}

Eigen::MatrixXd JointPosterior::covariance(VariableId a, VariableId b) const {
  const auto &va = state_->plan()->variable(a), &vb = state_->plan()->variable(b);
  if (vb.size > va.size) return covariance(b, a).transpose();
  check_memory(*state_, fmt::format("covariances of '{}' and '{}'", va.name, vb.name), va.size, vb.size,
               "ask for single elements");
  const Memory& memory = joint_system::solved_memory(*state_);
  Numbers::Reader reader(memory.numbers);
  std::vector<Numbers::Sparse> rows;
  for (std::uint32_t i = 0; i < va.size; ++i) rows.push_back(row_of(memory, va, i, reader));
  std::vector<double> solved(memory.numbers.x.size()), room(solved.size());
  Eigen::MatrixXd out(va.size, vb.size);
  for (std::uint32_t j = 0; j < vb.size; ++j) {  // one solve for each element of the shorter one
    solve_for(memory, row_of(memory, vb, j, reader), solved, room);
    for (std::uint32_t i = 0; i < va.size; ++i)
      out(i, j) = along(rows[i], solved) + (va.first_element + i == vb.first_element + j ? rows[i].noise : 0);
  }
  return out;
}

double JointPosterior::covariance(VariableId a, std::size_t i, VariableId b, std::size_t j) const {
  const auto &va = state_->plan()->variable(a), &vb = state_->plan()->variable(b);
  for (const auto& [v, element] : {std::pair(&va, i), std::pair(&vb, j)})
    if (element >= v->size) fail("variable '{}' has {} elements, there is no element {}", v->name, v->size, element);
  const Memory& memory = joint_system::solved_memory(*state_);
  Numbers::Reader reader(memory.numbers);
  std::vector<double> solved(memory.numbers.x.size()), room(solved.size());
  solve_for(memory, row_of(memory, vb, j, reader), solved, room);
  const Numbers::Sparse row = row_of(memory, va, i, reader);
  return along(row, solved) + (va.first_element + i == vb.first_element + j ? row.noise : 0);
}

JointSamples JointPosterior::sample(std::size_t draws, std::uint64_t seed) const {
  const Memory& memory = joint_system::solved_memory(*state_);
  if (memory.is_singular()) fail("joint: nothing determines some variables; there is no posterior to draw from");
  const Numbers& n = memory.numbers;
  check_memory(*state_, "draws of all elements", draws, n.values.size(), "draw fewer at a time");
  Numbers work(*n.system);
  (void)work.read(*state_);
  JointSamples out;
  out.plan_ = state_->plan();
  out.draws_ = draws;
  out.elements_ = n.values.size();
  out.values_.reserve(draws * out.elements_);
  std::vector<std::uint32_t> unpredicted;
  for (std::uint32_t e = 0; e < n.values.size(); ++e)
    if (is_unpredicted(n, e)) unpredicted.push_back(e);
  boost::random::mt19937_64 random(seed);
  boost::random::normal_distribution<double> normal;
  for (std::size_t d = 0; d < draws; ++d) {
    for (double& z : work.x) z = normal(random);
    n.fronts.solve_upper(work.x, work.room);
    for (std::size_t u = 0; u < work.x.size(); ++u) work.x[u] += n.x[u];
    work.place(work.x, false);
    work.predict();
    for (const Numbers::Prediction& p : work.predictions())
      work.values[p.element] += std::sqrt(p.noise) * normal(random);
    for (const std::uint32_t e : unpredicted) work.values[e] = std::nan("");
    out.values_.insert(out.values_.end(), work.values.begin(), work.values.end());
  }
  return out;
}

double JointSamples::operator()(std::size_t draw, VariableId variable, std::size_t element) const {
  const auto& v = plan_->variable(variable);
  if (draw >= size() || element >= v.size)
    fail("samples: there is no element {} of variable '{}' in draw {}; {} elements and {} draws exist", element, v.name,
         draw, v.size, size());
  const double value = values_[draw * elements_ + v.first_element + element];
  if (v.observed && std::isnan(value))
    fail("samples: '{}' is missing, and its likelihood predicts no Gaussian; ask for the variable that it reads",
         v.name);
  return value;
}

double joint_system::JointSolver::log_evidence(const State& state) const {
  return JointPosterior(state).log_evidence();
}

double JointPosterior::log_evidence() const {
  const Memory& memory = joint_system::solved_memory(*state_);
  if (memory.is_singular()) fail("joint: nothing determines some variables; there is no evidence");
  const Numbers& n = memory.numbers;
  constexpr double kTwoPi = 2 * std::numbers::pi;
  double sum =
      -memory.objective + 0.5 * static_cast<double>(n.x.size()) * std::log(kTwoPi) - 0.5 * n.fronts.log_determinant();
  for (std::uint32_t r = 0; r < n.system->first_cavity_row; ++r)
    if (n.weights[r] > 0) sum += 0.5 * std::log(n.weights[r] / kTwoPi);
  for (std::uint32_t r = n.system->first_cavity_row; r < n.system->first_site_row; ++r)
    sum += log_scale_of_cavity(*state_, n, r);
  sum += n.log_gains_of_noise();
  for (const Numbers::Prediction& p : n.predictions()) sum -= std::log(std::abs(p.coefficient));
  return sum + memory.sites.log_scales(*state_, n);
}

}  // namespace dma
