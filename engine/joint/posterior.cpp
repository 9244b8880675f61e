#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <boost/random/discrete_distribution.hpp>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <numbers>

#include "engine/compile/plan_data.h"
#include "engine/joint/joint.h"
#include "engine/joint/solver.h"
#include "engine/support/special_functions.h"
#include "engine/support/text.h"

namespace dma {

namespace {

using joint_system::Memory;
using joint_system::Numbers;

// A missing element below a likelihood that is no Gaussian row.
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

// L^-1 times such a row; `solved` and `room` have one entry per root.
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

// The log density of a cavity at the solution.
double log_cavity(const State& state, const Numbers& n, std::uint32_t r) {
  const Gaussian cavity(n.taus[r], n.weights[r]);
  const std::uint32_t element = n.system->cavity_elements[r - n.system->first_cavity_row];
  if (cavity.rho > 0 || cavity == Gaussian()) return log_density(cavity, n.values[element]);
  fail("no evidence: the cavity of shared '{}' has precision {} and cannot be normalised; give it one above 0",
       state.plan()->element_name(element), cavity.rho);
}

struct Range {
  std::size_t first, size;
};

// Calls `add` for the solution, or for all points of the hypers with their weights; then adds the covariance of the
// means of two ranges of elements over the points.
template <class Add>
void mix(const State& state, Range a, Range b, const Add& add, Eigen::MatrixXd& covariance) {
  const Memory& memory = joint_system::solved_memory(state);
  if (memory.hypers == nullptr) return add(memory, 1.0);
  const joint_system::HyperPoints& points = *memory.hypers;
  const auto deviations = [&](Range of, std::size_t k) {
    Eigen::VectorXd out(static_cast<Eigen::Index>(of.size));
    for (std::size_t i = 0; i < of.size; ++i)
      out[static_cast<Eigen::Index>(i)] = points.means[k * points.elements + of.first + i] - points.mean(of.first + i);
    return out;
  };
  joint_system::solver_of(state).for_points(state, [&](const State&, const Memory& at, std::size_t k) {
    add(at, points.weights[k]);
    covariance += points.weights[k] * deviations(a, k) * deviations(b, k).transpose();
  });
}

}  // namespace

void joint_system::check_memory(const State& state, std::string_view what, std::size_t rows, std::size_t columns,
                                std::string_view way_out) {
  const double bytes = 8.0 * static_cast<double>(rows) * static_cast<double>(columns);
  const auto limit = static_cast<double>(solver_of(state).options().memory);
  if (bytes > limit)
    fail(
        "joint: {} are {} x {} numbers, {:.3g} GB, more than the "
        "limit of {:.3g} GB; {} or raise joint({{.memory = ...}})",
        what, rows, columns, bytes / 1e9, limit / 1e9, way_out);
}

void joint_system::complete_draw(Numbers& work, std::span<const double> x, boost::random::mt19937_64& random,
                                 double* out) {
  boost::random::normal_distribution<double> normal;
  work.place(x, false);
  work.predict();
  for (const Numbers::Prediction& p : work.predictions()) work.values[p.element] += std::sqrt(p.noise) * normal(random);
  for (std::uint32_t e = 0; e < work.values.size(); ++e)
    out[e] = is_unpredicted(work, e) ? std::nan("") : work.values[e];
}

void joint_system::MomentReader::read(const State& state, VariableId variable, std::vector<Natural>& belief) {
  const Memory& memory = solved_memory(state);
  const auto& v = state.plan()->variable(variable);
  belief.resize(v.size);
  for (std::uint32_t i = 0; i < v.size; ++i) belief[i] = marginal(state, memory, v.first_element + i, reader_, row_);
}

void joint_system::MomentReader::read(const State& state, std::span<const VariableId> variables,
                                      std::vector<double>& means, std::vector<double>& covariance) {
  const Memory& memory = solved_memory(state);
  means.clear();
  for (const VariableId variable : variables) {
    const auto& v = state.plan()->variable(variable);
    for (std::uint32_t i = 0; i < v.size; ++i) {
      if (rows_.size() == means.size()) rows_.emplace_back();
      memory.numbers.gradient_of(v.first_element + i, reader_, rows_[means.size()]);
      means.push_back(memory.numbers.values[v.first_element + i]);
    }
  }
  const std::size_t n = means.size();
  covariance.resize(n * n);
  for (std::size_t j = 0; j < n; ++j) {
    solve_for(memory, rows_[j], solved_, room_);
    for (std::size_t i = 0; i <= j; ++i)
      covariance[i * n + j] = covariance[j * n + i] = along(rows_[i], solved_) + (i == j ? rows_[j].noise : 0);
  }
}

JointPosterior::JointPosterior(const State& state) : state_(&state) { (void)joint_system::solved_memory(state); }

Eigen::VectorXd JointPosterior::mean(VariableId variable) const {
  const auto& v = state_->plan()->variable(variable);
  const Memory& memory = joint_system::solved_memory(*state_);
  for (std::uint32_t i = 0; i < v.size; ++i) refuse_unpredicted(memory, v, v.first_element + i);
  Eigen::VectorXd means = Eigen::Map<const Eigen::VectorXd>(memory.numbers.values.data() + v.first_element, v.size);
  for (std::uint32_t i = 0; memory.hypers != nullptr && i < v.size; ++i)
    means[i] = memory.hypers->place(v.first_element + i);
  return means;
}

Eigen::MatrixXd JointPosterior::covariance(VariableId a, VariableId b) const {
  const auto &va = state_->plan()->variable(a), &vb = state_->plan()->variable(b);
  if (vb.size > va.size) return covariance(b, a).transpose();
  joint_system::check_memory(*state_, fmt::format("covariances of '{}' and '{}'", va.name, vb.name), va.size, vb.size,
                             "ask for single elements");
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(va.size, vb.size);
  mix(*state_, {va.first_element, va.size}, {vb.first_element, vb.size}, [&](const Memory& memory, double weight) {
    Numbers::Reader reader(memory.numbers);
    std::vector<Numbers::Sparse> rows;
    for (std::uint32_t i = 0; i < va.size; ++i) rows.push_back(row_of(memory, va, i, reader));
    std::vector<double> solved(memory.numbers.x.size()), room(solved.size());
    for (std::uint32_t j = 0; j < vb.size; ++j) {  // one solve per element of the shorter range
      solve_for(memory, row_of(memory, vb, j, reader), solved, room);
      for (std::uint32_t i = 0; i < va.size; ++i)
        out(i, j) +=
            weight * (along(rows[i], solved) + (va.first_element + i == vb.first_element + j ? rows[i].noise : 0));
    }
  }, out);
  return out;
}

double JointPosterior::covariance(VariableId a, std::size_t i, VariableId b, std::size_t j) const {
  const auto &va = state_->plan()->variable(a), &vb = state_->plan()->variable(b);
  for (const auto& [v, element] : {std::pair(&va, i), std::pair(&vb, j)})
    if (element >= v->size) fail("variable '{}' has {} elements, there is no element {}", v->name, v->size, element);
  const std::size_t first = va.first_element + i, second = vb.first_element + j;
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(1, 1);
  mix(*state_, {first, 1}, {second, 1}, [&](const Memory& memory, double weight) {
    Numbers::Reader reader(memory.numbers);
    std::vector<double> solved(memory.numbers.x.size()), room(solved.size());
    solve_for(memory, row_of(memory, vb, j, reader), solved, room);
    const Numbers::Sparse row = row_of(memory, va, i, reader);
    out(0, 0) += weight * (along(row, solved) + (first == second ? row.noise : 0));
  }, out);
  return out(0, 0);
}

// Assigns each draw a point of the hypers, then samples point by point.
JointSamples JointPosterior::sample(std::size_t draws, std::uint64_t seed) const {
  const Memory& solved = joint_system::solved_memory(*state_);
  if (solved.is_singular()) fail("joint: nothing determines some variables; there is no posterior to draw from");
  joint_system::check_memory(*state_, "draws of all elements", draws, solved.numbers.values.size(),
                             "draw fewer at a time");
  JointSamples out;
  out.plan_ = state_->plan();
  out.draws_ = draws;
  out.elements_ = solved.numbers.values.size();
  out.values_.resize(draws * out.elements_);
  boost::random::mt19937_64 random(seed);
  boost::random::normal_distribution<double> normal;
  const auto draw = [&](const State& state, const Memory& memory, std::span<const std::size_t> places) {
    const Numbers& n = memory.numbers;
    Numbers work(*n.system);
    (void)work.read(state);
    work.points = n.points;
    for (const std::size_t place : places) {
      for (double& z : work.x) z = normal(random);
      n.fronts.solve_upper(work.x, work.room);
      for (std::size_t u = 0; u < work.x.size(); ++u) work.x[u] += n.x[u];
      joint_system::complete_draw(work, work.x, random, out.values_.data() + place * out.elements_);
    }
  };
  std::vector<std::vector<std::size_t>> places(solved.hypers == nullptr ? 1 : solved.hypers->weights.size());
  if (solved.hypers == nullptr) {
    for (std::size_t d = 0; d < draws; ++d) places[0].push_back(d);
    draw(*state_, solved, places[0]);
    return out;
  }
  const std::vector<double>& weights = solved.hypers->weights;
  boost::random::discrete_distribution<std::size_t> point(weights.begin(), weights.end());
  for (std::size_t d = 0; d < draws; ++d) places[point(random)].push_back(d);
  joint_system::solver_of(*state_).for_points(
      *state_, [&](const State& at, const Memory& memory, std::size_t k) { draw(at, memory, places[k]); });
  return out;
}

double JointPosterior::quantile(VariableId variable, double probability, std::size_t element) const {
  if (!(probability > 0 && probability < 1))
    fail("a quantile of {}; a number between 0 and 1 is expected", probability);
  const Memory& memory = joint_system::solved_memory(*state_);
  const auto& v = state_->plan()->variable(variable);
  if (element >= v.size) fail("variable '{}' has {} elements, there is no element {}", v.name, v.size, element);
  if (memory.hypers != nullptr) return memory.hypers->quantile(v.first_element + element, probability);
  const Gaussian belief = state_->belief(variable)[element];
  return belief.mean() + belief.sd() * normal_quantile(probability);
}

HyperBelief JointPosterior::hyper(std::string_view name) const {
  const Memory& memory = joint_system::solved_memory(*state_);
  const std::vector<Hyper>& hypers = joint_system::solver_of(*state_).options().hypers;
  const auto found = std::ranges::find(hypers, name, &Hyper::name);
  if (found == hypers.end() || memory.hypers == nullptr) {
    if (found == hypers.end()) fail("there is no hyper '{}'{}", name, suggestion(name, hypers, &Hyper::name));
    fail("hyper '{}' has no posterior: its integral was not found; see the Report of the run", name);
  }
  std::vector<double> values;
  for (const std::vector<double>& point : memory.hypers->values)
    values.push_back(point[static_cast<std::size_t>(found - hypers.begin())]);
  return {std::move(values), memory.hypers->weights, memory.hypers->step, found->prior};
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

std::string_view joint_system::JointSolver::evidence_method(const State& state) const {
  if (state.ended() != Report::Stop::converged) return "the run has not converged";
  const Memory& memory = solved_memory(state);
  if (memory.hypers == nullptr) return "Laplace's method, with EP's energy for sites and pairs of them";
  if (memory.system->is_linear()) return "a sum over points of the hypers";
  return "a sum over points of the hypers, by Laplace's method, with EP's energy for sites and pairs of them";
}

double JointPosterior::log_evidence() const {
  const Memory& memory = joint_system::solved_memory(*state_);
  return memory.hypers != nullptr ? memory.hypers->log_evidence : joint_system::log_evidence_of(*state_, memory);
}

double joint_system::log_evidence_of(const State& state, const Memory& memory) {
  if (memory.is_singular()) fail("joint: nothing determines some variables; there is no evidence");
  const Numbers& n = memory.numbers;
  constexpr double kTwoPi = 2 * std::numbers::pi;
  double sum =
      -memory.objective + 0.5 * static_cast<double>(n.x.size()) * std::log(kTwoPi) - 0.5 * n.fronts.log_determinant();
  for (std::uint32_t r = 0; r < n.system->first_cavity_row; ++r)
    if (n.weights[r] > 0) sum += 0.5 * std::log(n.weights[r] / kTwoPi);
  for (std::uint32_t r = n.system->first_cavity_row; r < n.system->first_site_row; ++r)
    sum += log_cavity(state, n, r);
  sum += n.log_gains_of_noise();
  for (const Numbers::Prediction& p : n.predictions()) sum -= std::log(std::abs(p.coefficient));
  return sum + memory.sites.log_scales(state, n);
}

}  // namespace dma
