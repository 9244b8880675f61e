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

const PlanData::Variable& variable_of(const State& state, VariableId variable) {
  if (variable.value >= state.plan()->variables.size()) fail("variable {} is not part of this plan", variable.value);
  return state.plan()->variables[variable.value];
}

// Rows of the elements of a variable over the roots, as columns.
Eigen::MatrixXd rows_of(const Memory& memory, const PlanData::Variable& v) {
  const Numbers& n = memory.numbers;
  Numbers::Reader reader(n);
  Numbers::Sparse row;
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(n.x.size()), v.size);
  for (std::uint32_t i = 0; i < v.size; ++i) {
    n.gradient_of(v.first_element + i, reader, row);
    if (memory.is_open(row)) fail("joint: nothing determines '{}'; it has no covariance", v.name);
    for (std::size_t k = 0; k < row.unknowns.size(); ++k) out(row.unknowns[k], i) = row.values[k];
  }
  return out;
}

}  // namespace

JointPosterior::JointPosterior(const State& state) : state_(&state) { (void)joint_system::solved_memory(state); }

Eigen::VectorXd JointPosterior::mean(VariableId variable) const {
  const auto& v = variable_of(*state_, variable);
  return Eigen::Map<const Eigen::VectorXd>(joint_system::solved_memory(*state_).numbers.values.data() + v.first_element, v.size);
}

Eigen::MatrixXd JointPosterior::covariance(VariableId a, VariableId b) const {
  const auto &va = variable_of(*state_, a), &vb = variable_of(*state_, b);
  if (vb.size > va.size) return covariance(b, a).transpose();
  const Memory& memory = joint_system::solved_memory(*state_);
  // Solved for the shorter of the two; the other one's rows are mostly empty.
  Eigen::MatrixXd solved = rows_of(memory, vb);
  const auto n = static_cast<std::size_t>(solved.rows());
  std::vector<double> room(n);
  for (Eigen::Index j = 0; j < solved.cols(); ++j) memory.numbers.fronts.solve({solved.col(j).data(), n}, room);
  Numbers::Reader reader(memory.numbers);
  Numbers::Sparse row;
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(va.size, vb.size);
  for (std::uint32_t i = 0; i < va.size; ++i) {
    memory.numbers.gradient_of(va.first_element + i, reader, row);
    if (memory.is_open(row)) fail("joint: nothing determines '{}'; it has no covariance", va.name);
    for (std::size_t k = 0; k < row.unknowns.size(); ++k) out.row(i) += row.values[k] * solved.row(row.unknowns[k]);
  }
  return out;
}

JointSamples JointPosterior::sample(std::size_t draws, std::uint64_t seed) const {
  const Memory& memory = joint_system::solved_memory(*state_);
  if (memory.is_singular()) fail("joint: nothing determines some variables; there is no posterior to draw from");
  const Numbers& n = memory.numbers;
  Numbers work(*n.system);
  work.read(*state_);
  JointSamples out;
  out.plan_ = state_->plan();
  out.values_.resize(static_cast<Eigen::Index>(draws), static_cast<Eigen::Index>(n.values.size()));
  boost::random::mt19937_64 random(seed);
  boost::random::normal_distribution<double> normal;
  for (std::size_t d = 0; d < draws; ++d) {
    for (double& z : work.x) z = normal(random);
    n.fronts.solve_upper(work.x, work.room);
    for (std::size_t u = 0; u < work.x.size(); ++u) work.x[u] += n.x[u];
    (void)work.evaluate(work.x, false);
    out.values_.row(static_cast<Eigen::Index>(d)) =
        Eigen::Map<const Eigen::RowVectorXd>(work.values.data(), static_cast<Eigen::Index>(work.values.size()));
  }
  return out;
}

double JointSamples::operator()(std::size_t draw, VariableId variable, std::size_t element) const {
  const auto& v = plan_->variables.at(variable.value);
  if (draw >= size() || element >= v.size)
    fail("samples: there is no element {} of variable '{}' in draw {}; {} elements and {} draws exist", element, v.name, draw, v.size,
         size());
  return values_(static_cast<Eigen::Index>(draw), static_cast<Eigen::Index>(v.first_element + element));
}

double JointPosterior::log_evidence() const {
  const Memory& memory = joint_system::solved_memory(*state_);
  if (memory.is_singular()) fail("joint: nothing determines some variables; there is no evidence");
  const Numbers& n = memory.numbers;
  constexpr double kTwoPi = 2 * std::numbers::pi;
  double sum = -memory.objective + 0.5 * static_cast<double>(n.x.size()) * std::log(kTwoPi) - 0.5 * n.fronts.log_determinant();
  for (std::uint32_t r = 0; r < n.system->first_context_row; ++r)
    if (n.weights[r] > 0) sum += 0.5 * std::log(n.weights[r] / kTwoPi);
  return sum + memory.sites.log_scales(*state_, n);
}

}  // namespace dma
