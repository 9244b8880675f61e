#include "engine/learn/gaussian/posterior.h"

#include <algorithm>
#include <cmath>

#include "engine/learn/gaussian/curvature/targets.h"
#include "engine/support/dense.h"

namespace dma {

namespace {

constexpr double kMany = 200;     // rows from which on the variance is as good as known

Matrix by_output(const Vector& stacked, Index outputs) { return stacked.reshaped(stacked.size() / outputs, outputs); }

// The covariance of several outputs may be singular, or less by rounding.
Matrix factor_of(Matrix covariance) {
  constexpr double kRounding = 1e-9;
  covariance.diagonal().array() += kRounding * covariance.trace() + 1e-300;
  const Eigen::LLT<Matrix> cholesky(covariance);
  if (cholesky.info() == Eigen::Success) return cholesky.matrixL();
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(covariance);
  return scaled_columns(eigen.eigenvectors(), eigen.eigenvalues().cwiseMax(0).cwiseSqrt());
}

// Covariance of the outputs of one row, from the solutions C^-1 J^T of n rows.
Matrix covariance_of_row(const Matrix& solved, Index row, Index n) {
  const Index outputs = solved.cols() / n;
  Matrix own(solved.rows(), outputs);
  for (Index k = 0; k < outputs; ++k) own.col(k) = solved.col(k * n + row);
  return transposed_product(own, own);
}

}  // namespace

std::vector<StudentTails> tails_of(const RowData& data, const RowBeliefs& left_out) {
  std::vector<StudentTails> tails;
  for (Index k = 0; k < data.targets.cols(); ++k) {
    if (!data.is_gaussian(k)) {
      tails.emplace_back();
      continue;
    }
    tails.push_back(most_likely_tails(data.targets.col(k) - left_out.mean.col(k), left_out.variance.col(k),
                                      left_out.noise.col(k), data.weights));
    if (data.least_noise.size() > 0)
      tails.back().scale =
          std::max(tails.back().scale, std::min(1.0, data.least_noise(k) / left_out.noise.col(k).minCoeff()));
    // A variance known from few rows makes Student's t of Gaussian noise: as many degrees as rows are left over.
    const double left_over = weighted_sum(
        left_out.noise.col(k).array() / (left_out.noise.col(k) + left_out.variance.col(k)).array(), data.weights);
    tails.back().degrees =
        std::max(StudentTails::kLeastDegrees, std::min(tails.back().degrees, left_over < kMany ? left_over : 1e300));
  }
  return tails;
}

RowBeliefs leave_one_out(const RowData& data, const Vector& noise, Curvature& curvature) {
  const Index outputs = data.targets.cols();
  const Eigen::ArrayXd others = curvature.one_minus_leverage().array().max(kLeastOneMinusLeverage).min(1.0);
  const Vector errors = curvature.residuals().array() / others;
  return {data.targets - by_output(errors, outputs),
          by_output(data.weighted(noise).array() * (1 - others) / others, outputs), by_output(noise, outputs)};
}

RowBeliefs leave_one_out(const RowModel& model, const RowData& data, const SharedPosterior& posterior) {
  RowBeliefs beliefs = posterior.predict(model, {}, data.rows, true);
  const TargetView view(data, beliefs.mean, data.weighted(beliefs.noise.reshaped()));
  for (Index n = 0; n < data.rows.rows(); ++n) {
    Matrix& c = beliefs.covariances[static_cast<std::size_t>(n)];
    Matrix rest = Matrix::Identity(c.rows(), c.rows());
    add_product(rest, c, view.curvature(n), -1);
    const Matrix without = rest.partialPivLu().solve(c);
    c = 0.5 * (without + without.transpose());
    beliefs.mean.row(n) -= view.slopes().row(n) * c;
    beliefs.variance.row(n) = c.diagonal().cwiseMax(0).transpose();
  }
  return beliefs;
}

RowBeliefs RowBeliefs::some(const std::vector<Index>& which) const {
  RowBeliefs own{mean(which, Eigen::all), variance(which, Eigen::all), noise(which, Eigen::all)};
  if (!covariances.empty())
    for (const Index n : which) own.covariances.push_back(covariances[static_cast<std::size_t>(n)]);
  return own;
}

OutcomeBeliefs RowBeliefs::outcomes(Index first, Index reads) const {
  OutcomeBeliefs found{mean.middleCols(first, reads), {}};
  for (Index n = 0; n < mean.rows(); ++n)
    found.factors.push_back(
        reads == 1 ? Matrix::Constant(1, 1, std::sqrt(variance(n, first)))
                   : factor_of(covariances[static_cast<std::size_t>(n)].block(first, first, reads, reads)));
  return found;
}

SharedPosterior SharedPosterior::of(const RowData& data, SharedState state, Curvature& curvature, double log_evidence) {
  SharedPosterior posterior;
  posterior.log_evidence = log_evidence;
  posterior.factor = curvature.precision_factor();
  if (posterior.factor.size() == 0) posterior.rows = data.rows, posterior.weights = data.weights;
  posterior.state = std::move(state);
  for (LogLinearNoise& noise : posterior.state.noise) noise.stay_within(data.rows);
  return posterior;
}

Vector SharedPosterior::marginal_variances(const RowModel& model, const SharedPrior& prior) const {
  ThreadPool alone(1);
  return squared_columns(triangular_inverse(precision_factor(model, prior), alone));
}

Matrix SharedPosterior::precision_factor(const RowModel& model, const SharedPrior& prior) const {
  if (factor.size() > 0) return factor;
  const auto primal = make_primal();
  const RowData data{rows, Matrix::Zero(rows.rows(), model.outputs()), weights};
  primal->assemble(model, data, state.mean, prior.scaled(state.scale), data.weighted(row_noise(state, rows)));
  return primal->precision_factor();
}

RowBeliefs SharedPosterior::predict(const RowModel& model, const SharedPrior& prior, const Matrix& new_rows,
                                    bool with_covariances) const {
  const Index n = new_rows.rows(), outputs = model.outputs(),
              at_once = with_covariances ? std::max<Index>(1, kRowsPerBlock / outputs) : kRowsPerBlock;
  RowBeliefs beliefs{Matrix(n, outputs), Matrix(n, outputs), by_output(row_noise(state, new_rows), outputs)};
  std::unique_ptr<Curvature> dual;
  const RowData data{rows, Matrix::Zero(rows.rows(), outputs), weights};
  if (factor.size() == 0) {
    dual = make_dual();
    dual->assemble(model, data, state.mean, prior.scaled(state.scale), data.weighted(row_noise(state, rows)));
  }
  Matrix f, gains;
  for (Index begin = 0; begin < n; begin += at_once) {
    const Index size = std::min(at_once, n - begin);
    const Matrix block = new_rows.middleRows(begin, size);
    Vector variance;
    if (dual) {
      model.evaluate(state.mean, block, f);
      variance = dual->variances(block);
    } else {
      model.linearise(state.mean, block, f, gains);
      Matrix solved = gains.transpose();
      solve_lower(factor, solved);
      variance = squared_columns(solved);
      for (Index i = 0; with_covariances && i < size; ++i)
        beliefs.covariances.push_back(covariance_of_row(solved, i, size));
    }
    beliefs.mean.middleRows(begin, size) = f;
    beliefs.variance.middleRows(begin, size) = by_output(variance, outputs);
  }
  return beliefs;
}

SharedSolution solution_of(const RowModel& model, const RowData& data, const SharedState& state, Curvature& curvature,
                           double log_evidence, bool tails) {
  SharedSolution found{SharedPosterior::of(data, state, curvature, log_evidence), {}};
  const auto outputs = static_cast<std::size_t>(data.targets.cols());
  if (data.has_classes()) {
    found.left_out = leave_one_out(model, data, found.posterior);
  } else {
    const SeenRows seen(model, data, state.mean, row_noise(state, data.rows));
    found.left_out = leave_one_out(seen.data(), seen.noise, curvature);
  }
  found.posterior.tails.resize(outputs);
  if (tails) found.posterior.tails = tails_of(data, found.left_out);
  for_likelihoods(data.likelihoods, [&](Index k, const OutputLikelihood& own) {
    if (!own.has_log_odds()) return;
    found.posterior.stretch.resize(outputs, 1);
    const Index reads = own.reads();
    std::fill_n(
        found.posterior.stretch.begin() + k, reads,
        most_likely_stretch(found.left_out.outcomes(k, reads), data.targets.middleCols(k, reads), data.weights));
  });
  return found;
}

PredictionComponent component(RowBeliefs beliefs, const SharedPosterior& posterior, Matrix weight,
                              const OutputLikelihoods& likelihoods) {
  PredictionComponent all{
      beliefs.mean, beliefs.variance.cwiseSqrt(), beliefs.noise.cwiseSqrt(), std::move(weight), posterior.tails,
      likelihoods};
  for_likelihoods(likelihoods, [&](Index k, const OutputLikelihood& own) {
    if (!own.has_log_odds()) return;
    const Index reads = own.reads();
    const OutcomeBeliefs odds = beliefs.outcomes(k, reads);
    const OutcomeAverage average(reads);
    for (Index n = 0; n < odds.mean.rows(); ++n) {
      const double stretch = posterior.stretch.empty() ? 1 : posterior.stretch[static_cast<std::size_t>(k)];
      const auto [p, square] = average(stretch * odds.mean.row(n), odds.factors[static_cast<std::size_t>(n)]);
      all.mean.row(n).segment(k, reads) = p;
      all.epistemic_sd.row(n).segment(k, reads) = (square - p.cwiseAbs2()).cwiseMax(0).cwiseSqrt();
      all.noise_sd.row(n).segment(k, reads) = (p - square).cwiseMax(0).cwiseSqrt();
    }
  });
  return all;
}

}  // namespace dma
