#include "engine/learn/joint/posterior.h"

#include <algorithm>

namespace dma {

namespace {

constexpr double kMostLeverage = 0.95;  // a row that is nearly its own prediction cannot be left out by one linear step
constexpr Index kRowsPerBlock = 2048;

Matrix by_output(const Vector& stacked, Index outputs) { return stacked.reshaped(stacked.size() / outputs, outputs); }

}  // namespace

RowBeliefs leave_one_out(const RowData& data, const Vector& noise, Curvature& curvature) {
  const Index outputs = data.targets.cols();
  const Eigen::ArrayXd leverage = curvature.leverages().array().max(0.0).min(kMostLeverage);
  const Vector errors = curvature.residuals().array() / (1 - leverage);
  return {data.targets - by_output(errors, outputs), by_output(noise.array() * leverage / (1 - leverage), outputs),
          by_output(noise, outputs)};
}

std::vector<StudentTails> tails_of(const RowData& data, const RowBeliefs& left_out) {
  std::vector<StudentTails> tails;
  for (Index k = 0; k < data.targets.cols(); ++k)
    tails.push_back(most_likely_tails(data.targets.col(k) - left_out.mean.col(k), left_out.variance.col(k), left_out.noise.col(k)));
  return tails;
}

JointPosterior JointPosterior::of(const RowModel& model, const RowData& data, const JointPrior& prior, JointState state,
                                  Curvature& curvature, double log_evidence, Index largest_factor) {
  JointPosterior posterior;
  posterior.log_evidence = log_evidence;
  if (model.scalars() > largest_factor) {
    posterior.rows = data.rows;
  } else {
    posterior.factor = curvature.precision_factor();
    if (posterior.factor.size() == 0) {
      const auto primal = make_primal();
      primal->assemble(model, data, state.mean, state.scale * prior.precision, row_noise(state, data.rows));
      posterior.factor = primal->precision_factor();
    }
  }
  posterior.state = std::move(state);
  return posterior;
}

RowBeliefs JointPosterior::predict(const RowModel& model, const JointPrior& prior, const Matrix& new_rows) const {
  const Index n = new_rows.rows(), outputs = model.outputs();
  RowBeliefs beliefs{Matrix(n, outputs), Matrix(n, outputs), by_output(row_noise(state, new_rows), outputs)};
  std::unique_ptr<Curvature> dual;
  if (factor.size() == 0) {
    dual = make_dual();
    dual->assemble(model, {rows, Matrix::Zero(rows.rows(), outputs)}, state.mean, state.scale * prior.precision, row_noise(state, rows));
  }
  Matrix f, gains;
  for (Index begin = 0; begin < n; begin += kRowsPerBlock) {
    const Index size = std::min(kRowsPerBlock, n - begin);
    const Matrix block = new_rows.middleRows(begin, size);
    Vector variance;
    if (dual) {
      model.evaluate(state.mean, block, f);
      variance = dual->variances(block);
    } else {
      model.linearise(state.mean, block, f, gains);
      Matrix solved = gains.transpose();
      factor.triangularView<Eigen::Lower>().solveInPlace(solved);
      variance = solved.colwise().squaredNorm();
    }
    beliefs.mean.middleRows(begin, size) = f;
    beliefs.variance.middleRows(begin, size) = by_output(variance, outputs);
  }
  return beliefs;
}

}  // namespace dma
