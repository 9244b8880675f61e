// A posterior as the prior of rows that come later.
#include <Eigen/Cholesky>
#include <cmath>

#include "engine/learn/joint/posterior.h"
#include "engine/support/dense.h"
#include "engine/support/error.h"

namespace dma {

namespace {

constexpr int kMostSteps = 50, kMostHalvings = 30, kMostRounds = 30;
constexpr double kSettled = 1e-8;       // of a step, in standard deviations of the Gaussian that is being found
constexpr double kLevelSettled = 1e-3;  // of the logarithm of the noise

// The objective 1/2 (m - m0)^T L0 (m - m0) + sum r^2 / (2 s), or -log f in place of r^2 / (2 s) where a likelihood is
// not Gaussian; its gradient and the curvature of its linearisation.
class UpdateProblem {
 public:
  UpdateProblem(const RowModel& model, const RowData& more, const Vector& mean, const Matrix& factor)
      : model_(model), more_(more), mean_(mean), precision_(product_by_transposed(factor, factor)) {}

  void set_noise(const Vector& noise) { weight_ = noise.cwiseInverse(); }

  double objective(const Vector& at) const {
    Matrix f;
    model_.evaluate(at, more_.rows, f);
    Vector rest = (more_.targets - f).reshaped();
    for (std::size_t k = 0; k < more_.likelihoods.size(); ++k)
      if (more_.likelihoods[k]) rest.segment(static_cast<Index>(k) * f.rows(), f.rows()).setZero();
    const Vector moved = at - mean_;
    return 0.5 * (rest.cwiseAbs2().dot(weight_) + moved.dot(precision_ * moved)) - other_log_density(more_, f);
  }
  // Returns the precision at this point; `downhill` is the negative gradient.
  Matrix linearise(const Vector& at, Vector& downhill) const {
    Matrix f, gains;
    model_.linearise(at, more_.rows, f, gains);
    Vector rest = (more_.targets - f).reshaped(), weight = weight_;
    if (!more_.likelihoods.empty()) {
      Vector noise = weight_.cwiseInverse();
      see_as_gaussian(more_, f, rest, noise);
      weight = noise.cwiseInverse();
    }
    downhill = gains.transpose() * weight.cwiseProduct(rest) - precision_ * (at - mean_);
    Matrix precision = precision_;
    add_transposed_product(precision, weight.asDiagonal() * gains, gains);
    return precision;
  }

 private:
  const RowModel& model_;
  const RowData& more_;
  const Vector& mean_;
  Vector weight_;
  Matrix precision_;
};

// From `at` to the lowest point; `factor` is that of the precision there. False: steps were still long when the limit
// came.
bool descend(const UpdateProblem& problem, Vector& at, Matrix& factor) {
  Vector downhill;
  double objective = problem.objective(at);
  for (int step = 0;; ++step) {
    const Eigen::LLT<Matrix> root(problem.linearise(at, downhill));
    if (root.info() != Eigen::Success || !downhill.allFinite())
      fail("the new rows lie too far from what was learned to be told in numbers; look for wrong units in them");
    const Vector direction = root.solve(downhill);
    factor = root.matrixL();
    if (std::sqrt(std::max(0.0, direction.dot(downhill))) < kSettled) return true;
    if (step == kMostSteps) return false;
    double length = 1, there = problem.objective(at + direction);
    for (int halving = 0; !(there < objective) && halving < kMostHalvings; ++halving)
      there = problem.objective(at + (length *= 0.5) * direction);
    if (!(there < objective)) return true;  // nothing is left but rounding
    objective = there;
    at += length * direction;
  }
}

}  // namespace

// In turns, until neither changes: the mean under this noise, and the level of the noise under this mean. For an output
// with the noise s of the first fit, known rows n and others' fractions o of the new ones (leave_one_out()):
//
//   level = (n + sum r^2 / s) / (n + sum o)
//
// as if the known rows had left n s behind, and no degree of freedom were spent on them.
SharedUpdate SharedPosterior::updated(const RowModel& model, const SharedPrior& prior, const RowData& more,
                                      std::optional<Index> known) const {
  const Matrix before = precision_factor(model, prior).triangularView<Eigen::Lower>();
  UpdateProblem problem(model, more, state.mean, before);
  SharedUpdate update{*this, {}, false};
  SharedPosterior& after = update.posterior;
  after.rows.resize(0, 0);
  const Index count = more.rows.rows(), outputs = model.outputs();
  const Eigen::ArrayXd first = row_noise(state, more.rows);
  Eigen::ArrayXd noise = first, rest, others;
  for (int round = 0; round < kMostRounds && !update.settled; ++round) {
    problem.set_noise(noise);
    const bool arrived = descend(problem, after.state.mean, after.factor);
    Matrix f, gains;
    model.linearise(after.state.mean, more.rows, f, gains);
    Matrix solved = gains.transpose();
    solve_lower(after.factor, solved);
    Vector residuals = (more.targets - f).reshaped(), seen = noise;
    see_as_gaussian(more, f, residuals, seen);
    others =
        (1 - solved.colwise().squaredNorm().transpose().array() / seen.array()).max(kLeastOneMinusLeverage).min(1.0);
    rest = residuals.array();
    double moved = 0;
    for (Index k = 0; known && k < outputs; ++k) {
      if (!more.likelihoods.empty() && more.likelihoods[static_cast<std::size_t>(k)]) continue;
      const Index begin = k * count;
      const double n = static_cast<double>(*known), level = (n + (rest.square() / first).segment(begin, count).sum()) /
                                                            (n + others.segment(begin, count).sum());
      LogLinearNoise& of_k = after.state.noise[static_cast<std::size_t>(k)];
      const double change = std::log(level) + state.noise[static_cast<std::size_t>(k)].beta(0) - of_k.beta(0);
      of_k.beta(0) += change, of_k.lowest += change, of_k.highest += change;
      moved = std::max(moved, std::abs(change));
    }
    noise = row_noise(after.state, more.rows);
    update.settled = arrived && moved < kLevelSettled;
  }
  const auto by_output = [&](const Eigen::ArrayXd& stacked) {
    return Matrix(stacked.matrix().reshaped(count, outputs));
  };
  update.left_out = {more.targets - by_output(rest / others), by_output(noise * (1 - others) / others),
                     by_output(noise)};
  return update;
}

}  // namespace dma
