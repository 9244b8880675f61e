// A posterior as the prior of rows that come later.
#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <optional>

#include "engine/learn/gaussian/gauss_newton.h"
#include "engine/learn/gaussian/posterior.h"
#include "engine/support/dense.h"
#include "engine/support/usable.h"

namespace dma {

namespace {

constexpr int kMostSteps = 50, kMostRounds = 30;
constexpr double kSettled = 0.01;       // largest last step, in standard deviations of what is being found: 5e-5 nats
constexpr double kLevelSettled = 1e-3;  // largest last change of the logarithm of the noise

// A root of the precision of what is known, L0 L0^T: its lower triangle, or, of Lambda + J^T S^-1 J with fewer rows
// than scalars, what a matrix over the rows makes of it. With Q = Lambda^-1/2 J^T S^-1/2 and I + Q^T Q = C C^T it is
//
//   L0 = Lambda^1/2 F,  F = I + Q (I + C)^-1 Q^T,  F^-1 = I - Q (I + C^T)^-1 C^-1 Q^T
//
// since F F^T = I + Q Q^T holds for Y = I + C: Y Y^T = Y + Y^T + Q^T Q.
class Root {
 public:
  explicit Root(Matrix lower) : lower_(std::move(lower)) {}
  Root(const Vector& lambda, Matrix gains, const Vector& noise) : scale_(lambda.cwiseSqrt()), rows_(std::move(gains)) {
    rows_ = scaled_columns(scaled_rows(noise.cwiseSqrt().cwiseInverse(), rows_), scale_.cwiseInverse());
    Matrix inner = Matrix::Identity(rows_.rows(), rows_.rows());
    add_square(inner, rows_);
    lower_ = Eigen::LLT<Matrix>(inner).matrixL();
    more_ = lower_;
    more_.diagonal().array() += 1;
  }
  const Matrix& lower() const { return lower_; }
  bool is_by_rows() const { return rows_.size() > 0; }

  void solve(Matrix& x) const {  // L0^-1 x
    if (!is_by_rows()) return solve_lower(lower_, x);
    x = scaled_rows(scale_.cwiseInverse(), x);
    Matrix along = product_of(rows_, x);
    solve_lower(lower_, along);
    solve_lower_transposed(more_, along);
    x -= transposed_product(rows_, along);
  }
  Vector solve_transposed(Vector z) const {  // L0^-T z
    if (!is_by_rows()) {
      solve_lower_transposed(lower_, z);
      return z;
    }
    Vector along = times(rows_, z);
    solve_lower(more_, along);
    solve_lower_transposed(lower_, along);
    return (z - transposed_times(rows_, along)).cwiseQuotient(scale_);
  }
  Vector times_transposed(const Vector& v) const {  // L0^T v
    if (!is_by_rows()) return lower_.triangularView<Eigen::Lower>().transpose() * v;
    const Vector scaled = scale_.cwiseProduct(v);
    Vector along = times(rows_, scaled);
    solve_lower_transposed(more_, along);
    return scaled + transposed_times(rows_, along);
  }

 private:
  Vector scale_;  // Lambda^1/2
  Matrix rows_;   // Q^T
  Matrix lower_;  // L0 or C
  Matrix more_;   // I + C
};

// The objective 1/2 |L0^T (m - m0)|^2 + sum r^2 / (2 s), or -log f in place of r^2 / (2 s) where a likelihood is not
// Gaussian. L0 L0^T is the precision of what is known.
struct UpdateProblem {
  const RowModel& model;
  const RowData& more;
  const Vector& mean;  // m0
  const Root& root;    // L0
  Vector noise;        // s

  double objective(const Vector& at) const {
    Matrix f;
    model.evaluate(at, more.rows, f);
    Vector rest = (more.targets - f).reshaped();
    for (Index k = 0; k < f.cols(); ++k)
      if (!more.is_gaussian(k)) rest.segment(k * f.rows(), f.rows()).setZero();
    return 0.5 * ((rest.array().square() / noise.array()).sum() + whitened(at).squaredNorm()) -
           other_log_density(more, f);
  }
  Vector whitened(const Vector& at) const { return root.times_transposed(at - mean); }
};

// The linearisation at a point, in the coordinates L0^T m: there the precision is I + C C^T, C = L0^-1 J^T s^-1/2, a
// column for each new row. The smaller of I + C C^T and I + C^T C is solved with.
class Linearised {
 public:
  Linearised(const UpdateProblem& problem, const Vector& at) : known_(problem.root) {
    Matrix f, gains;
    problem.model.linearise(at, problem.more.rows, f, gains);
    rest = (problem.more.targets - f).reshaped();
    const TargetView view(problem.more, f, problem.noise);
    Matrix slope = transposed_times(gains, view.slopes().reshaped());
    known_.solve(slope);
    columns_ = view.in_metric(std::move(gains)).transpose();
    known_.solve(columns_);
    by_rows_ = columns_.cols() < columns_.rows();
    root_ = root_with(0);
    downhill_ = slope.col(0) - problem.whitened(at);
  }
  bool is_usable() const { return root_.info() == Eigen::Success && downhill_.allFinite(); }

  // Minus the slope of the objective, and the step (I (1 + mu) + C C^T)^-1 times that, in the coordinates L0^T m.
  const Vector& downhill() const { return downhill_; }
  Vector step(double mu) const {
    Eigen::LLT<Matrix> damped;
    if (mu > 0) damped = root_with(mu);
    const auto& root = mu > 0 ? damped : root_;
    Vector solved = by_rows_ ? transposed_times(columns_, downhill_) : downhill_, z = downhill_;
    solve_by_factor(root.matrixLLT(), solved);
    if (!by_rows_) return solved;
    add_times(z, columns_, solved, -1);
    return z / (1 + mu);
  }
  Vector in_scalars(const Vector& step) const { return known_.solve_transposed(step); }
  // 1 - a^T L^-1 a / s of every new row.
  Eigen::ArrayXd one_minus_leverages() const {
    Matrix solved = by_rows_ ? Matrix(Matrix::Identity(columns_.cols(), columns_.cols())) : columns_;
    solve_lower(root_.matrixLLT(), solved);
    if (!by_rows_) return 1 - squared_columns(solved).array();
    solve_lower_transposed(root_.matrixLLT(), solved);
    return solved.diagonal();
  }
  // Lower, of the precision, where what is known has one.
  Matrix precision_factor() const {
    Matrix upper;
    if (by_rows_) {
      Matrix larger = Matrix::Identity(columns_.rows(), columns_.rows());
      add_square(larger, columns_);
      upper = Eigen::LLT<Matrix>(larger).matrixU();
    } else {
      upper = root_.matrixU();
    }
    return product_by_transposed(known_.lower(), upper);
  }

  Vector rest;  // residuals of the new rows

 private:
  // Factor of the smaller of (1 + mu) I + C C^T and (1 + mu) I + C^T C.
  Eigen::LLT<Matrix> root_with(double mu) const {
    Matrix smaller = (1 + mu) * Matrix::Identity(std::min(columns_.rows(), columns_.cols()),
                                                 std::min(columns_.rows(), columns_.cols()));
    if (by_rows_)
      add_transposed_square(smaller, columns_);
    else
      add_square(smaller, columns_);
    return Eigen::LLT<Matrix>(smaller);
  }

  const Root& known_;
  Matrix columns_;
  bool by_rows_ = false;
  Eigen::LLT<Matrix> root_;
  Vector downhill_;
};

Root root_by_rows(const RowModel& model, const SharedPrior& prior, const SharedPosterior& known) {
  Matrix f, gains;
  model.linearise(known.state.mean, known.rows, f, gains);
  const RowData learned{known.rows, f, known.weights};
  return {prior.scaled(known.state.scale), std::move(gains), learned.weighted(row_noise(known.state, known.rows))};
}

void expect_in_range(bool holds) {
  if (!holds) fail("the new rows overflow: they are too far from the training data; look for wrong units in them");
}

// From `at` to the lowest point, and the linearisation there. False: steps were still long when the limit came.
bool descend(const UpdateProblem& problem, Vector& at, std::optional<Linearised>& there) {
  double objective = problem.objective(at), damping = 0;
  for (int step = 0;; ++step) {
    there.emplace(problem, at);
    expect_in_range(there->is_usable());
    if (there->step(0).dot(there->downhill()) < kSettled * kSettled) return true;
    if (step == kMostSteps) return false;
    Vector next;
    const auto lower = gauss_newton_step(
        there->downhill(), objective, damping, [&](double mu) { return there->step(mu); },
        [&](const Vector& delta) { return problem.objective(next = at + there->in_scalars(delta)); });
    if (!lower) return true;  // nothing is left but rounding
    objective = *lower, at = std::move(next);
    if (damping <= kLeastDamping) damping = 0;  // whole steps where they are foretold well
  }
}

}  // namespace

bool SharedPosterior::stays_by_rows(const RowModel& model, Index more) const {
  return factor.size() == 0 && (rows.rows() + more) * model.outputs() <= model.scalars();
}

// In turns, until neither changes: the mean under this noise, and the level of the noise under this mean. For an output
// with the noise s of the first fit, known rows n and others' fractions o of the new ones (leave_one_out()):
//
//   level = (n + sum z u(z)) / (n + sum o),  z = r^2 / (c s),  u(z) = (nu + 1) / (nu + z)
//
// as if the known rows had left n c s behind, and no degree of freedom were spent on them. c and nu are those of the
// tails; u, 1 of Gaussian noise, is the part of a row far out in the tails that is no news of the level. A row of
// weight w is w rows: their sum of o is w - 1 + o.
SharedUpdate SharedPosterior::updated(const RowModel& model, const SharedPrior& prior, const RowData& more,
                                      std::optional<Index> known) const {
  const Index count = more.rows.rows(), outputs = model.outputs();
  const bool by_rows = stays_by_rows(model, count);
  const Root before =
      by_rows ? root_by_rows(model, prior, *this) : Root(precision_factor(model, prior).triangularView<Eigen::Lower>());
  UpdateProblem problem{model, more, state.mean, before, {}};
  SharedUpdate update{*this, {}, false};
  SharedPosterior& after = update.posterior;
  const Eigen::ArrayXd first = row_noise(state, more.rows);
  Eigen::ArrayXd noise = first, rest, others;
  std::optional<Linearised> found;
  for (int round = 0; round < kMostRounds && !update.settled; ++round) {
    problem.noise = more.weighted(noise);
    const bool arrived = descend(problem, after.state.mean, found);
    others = found->one_minus_leverages().max(kLeastOneMinusLeverage).min(1.0);
    rest = found->rest.array();
    double moved = 0;
    for (Index k = 0; known && k < outputs; ++k) {
      if (!more.is_gaussian(k)) continue;
      const Index begin = k * count;
      const StudentTails own =
          static_cast<std::size_t>(k) < tails.size() ? tails[static_cast<std::size_t>(k)] : StudentTails{};
      Eigen::ArrayXd squares = (rest.square() / first).segment(begin, count) / own.scale;
      if (!own.gaussian()) squares *= (own.degrees + 1) / (own.degrees + squares);
      const double n = static_cast<double>(*known),
                   repeated = total_weight(count, more.weights) - static_cast<double>(count),
                   level =
                       (n + weighted_sum(squares, more.weights)) / (n + repeated + others.segment(begin, count).sum());
      LogLinearNoise& of_k = after.state.noise[static_cast<std::size_t>(k)];
      const double change = std::log(level) + state.noise[static_cast<std::size_t>(k)].beta(0) - of_k.beta(0);
      of_k.beta(0) += change, of_k.lowest += change, of_k.highest += change;
      moved = std::max(moved, std::abs(change));
    }
    noise = row_noise(after.state, more.rows);
    update.settled = arrived && moved < kLevelSettled;
  }
  if (by_rows) {
    after.rows.conservativeResize(rows.rows() + count, Eigen::NoChange);
    after.rows.bottomRows(count) = more.rows;
    after.weights = joined_weights(weights, rows.rows(), more.weights, count);
  } else {
    after.factor = found->precision_factor();
    after.rows.resize(0, 0), after.weights.resize(0);
  }
  const auto by_output = [&](const Eigen::ArrayXd& stacked) {
    return Matrix(stacked.matrix().reshaped(count, outputs));
  };
  update.left_out = {more.targets - by_output(rest / others),
                     by_output(more.weighted(noise).array() * (1 - others) / others), by_output(noise)};
  expect_in_range(is_moderate(after.state.mean) && is_moderate(after.factor) && update.left_out.mean.allFinite() &&
                  update.left_out.variance.allFinite() && std::ranges::all_of(noise, is_divisor));
  return update;
}

}  // namespace dma
