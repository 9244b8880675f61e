// A posterior as the prior of rows that come later.
#include <Eigen/Cholesky>
#include <cmath>

#include "engine/learn/joint/posterior.h"
#include "engine/support/error.h"

namespace dma {

namespace {

constexpr int kMostSteps = 50, kMostHalvings = 30;
constexpr double kSettled = 1e-8;  // of a step, in standard deviations of the Gaussian that is being found

// The objective 1/2 (m - m0)^T L0 (m - m0) + sum r^2 / (2 s), its gradient and the curvature of its linearisation.
class UpdateProblem {
 public:
  UpdateProblem(const RowModel& model, const RowData& more, const Vector& noise, const Vector& mean,
                const Matrix& factor)
      : model_(model),
        more_(more),
        weight_(noise.cwiseInverse()),
        mean_(mean),
        precision_(factor * factor.transpose()) {}

  double objective(const Vector& at) const {
    Matrix f;
    model_.evaluate(at, more_.rows, f);
    const Vector rest = (more_.targets - f).reshaped(), moved = at - mean_;
    return 0.5 * (rest.cwiseAbs2().dot(weight_) + moved.dot(precision_ * moved));
  }
  // Returns the precision at this point; `downhill` is the negative gradient.
  Matrix linearise(const Vector& at, Vector& downhill) const {
    Matrix f, gains;
    model_.linearise(at, more_.rows, f, gains);
    const Vector rest = (more_.targets - f).reshaped();
    downhill = gains.transpose() * weight_.cwiseProduct(rest) - precision_ * (at - mean_);
    Matrix precision = precision_;
    precision.noalias() += gains.transpose() * weight_.asDiagonal() * gains;
    return precision;
  }

 private:
  const RowModel& model_;
  const RowData& more_;
  Vector weight_;
  const Vector& mean_;
  Matrix precision_;
};

}  // namespace

SharedPosterior SharedPosterior::updated(const RowModel& model, const SharedPrior& prior, const RowData& more) const {
  const Matrix before = precision_factor(model, prior).triangularView<Eigen::Lower>();
  const UpdateProblem problem(model, more, row_noise(state, more.rows), state.mean, before);
  SharedPosterior after = *this;
  after.rows.resize(0, 0);
  Vector& at = after.state.mean;
  Vector downhill;
  double objective = problem.objective(at);
  for (int step = 0;; ++step) {
    const Eigen::LLT<Matrix> root(problem.linearise(at, downhill));
    if (root.info() != Eigen::Success || !downhill.allFinite())
      fail("the new rows lie too far from what was learned to be told in numbers; look for wrong units in them");
    const Vector direction = root.solve(downhill);
    after.factor = root.matrixL();
    if (step == kMostSteps || std::sqrt(std::max(0.0, direction.dot(downhill))) < kSettled) return after;
    double length = 1, there = problem.objective(at + direction);
    for (int halving = 0; !(there < objective) && halving < kMostHalvings; ++halving)
      there = problem.objective(at + (length *= 0.5) * direction);
    if (!(there < objective)) return after;  // nothing is left but rounding
    objective = there;
    at += length * direction;
  }
}

}  // namespace dma
