// A posterior as the prior of rows that come later.
#include <Eigen/Cholesky>
#include <cmath>

#include "engine/learn/joint/posterior.h"
#include "engine/support/error.h"

namespace dma {

namespace {

constexpr int kMostSteps = 50, kMostHalvings = 30, kMostRounds = 30;
constexpr double kSettled = 1e-8;       // of a step, in standard deviations of the Gaussian that is being found
constexpr double kLevelSettled = 1e-3;  // of the logarithm of the noise

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

// From `at` to the lowest point; `factor` is that of the precision there.
void descend(const UpdateProblem& problem, Vector& at, Matrix& factor) {
  Vector downhill;
  double objective = problem.objective(at);
  for (int step = 0;; ++step) {
    const Eigen::LLT<Matrix> root(problem.linearise(at, downhill));
    if (root.info() != Eigen::Success || !downhill.allFinite())
      fail("the new rows lie too far from what was learned to be told in numbers; look for wrong units in them");
    const Vector direction = root.solve(downhill);
    factor = root.matrixL();
    if (step == kMostSteps || std::sqrt(std::max(0.0, direction.dot(downhill))) < kSettled) return;
    double length = 1, there = problem.objective(at + direction);
    for (int halving = 0; !(there < objective) && halving < kMostHalvings; ++halving)
      there = problem.objective(at + (length *= 0.5) * direction);
    if (!(there < objective)) return;  // nothing is left but rounding
    objective = there;
    at += length * direction;
  }
}

}  // namespace

SharedPosterior SharedPosterior::updated(const RowModel& model, const SharedPrior& prior, const RowData& more,
                                         Index known, RowBeliefs* left_out) const {
  const Matrix before = precision_factor(model, prior).triangularView<Eigen::Lower>();
  SharedPosterior after = *this;
  after.rows.resize(0, 0);
  const Index count = more.rows.rows(), outputs = model.outputs();
  for (int round = 0;; ++round) {
    const Vector noise = row_noise(after.state, more.rows);
    const UpdateProblem problem(model, more, noise, state.mean, before);
    descend(problem, after.state.mean, after.factor);
    // What the others leave of every new row, as in leave_one_out().
    Matrix f, gains;
    model.linearise(after.state.mean, more.rows, f, gains);
    Matrix solved = gains.transpose();
    after.factor.triangularView<Eigen::Lower>().solveInPlace(solved);
    const Eigen::ArrayXd others =
        (1 - solved.colwise().squaredNorm().transpose().array() / noise.array()).max(kLeastShare).min(1.0);
    const Eigen::ArrayXd rest = (more.targets - f).reshaped().array();
    double moved = 0;
    for (Index k = 0; k < outputs; ++k) {
      // As variance of the first fit: the known rows have it as it was, the new ones as they show it.
      const auto of_output = [&](const Eigen::ArrayXd& stacked) { return stacked.segment(k * count, count); };
      const double now = std::exp(after.state.noise[static_cast<std::size_t>(k)].beta(0) -
                                  state.noise[static_cast<std::size_t>(k)].beta(0));
      const double seen = now * (of_output(rest).square() / of_output(Eigen::ArrayXd(noise))).sum();
      const double level = (static_cast<double>(known) + seen) / (static_cast<double>(known) + of_output(others).sum());
      LogLinearNoise& of_k = after.state.noise[static_cast<std::size_t>(k)];
      const double change = std::log(level / now);
      of_k.beta(0) += change, of_k.lowest += change, of_k.highest += change;
      moved = std::max(moved, std::abs(change));
    }
    if (round < kMostRounds && moved > kLevelSettled) continue;
    if (left_out != nullptr) {
      const Vector scaled = row_noise(after.state, more.rows);
      const auto by_output = [&](const Eigen::ArrayXd& stacked) {
        return Matrix(stacked.matrix().reshaped(count, outputs));
      };
      *left_out = {more.targets - by_output(rest / others), by_output(scaled.array() * (1 - others) / others),
                   by_output(scaled.array())};
    }
    return after;
  }
}

}  // namespace dma
