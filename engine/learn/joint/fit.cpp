#include "engine/learn/joint/fit.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/learn/joint/damping.h"

namespace dma {

namespace {

constexpr double kLargestNoiseStep = 4;
constexpr double kLeastNoise = 1e-10;
constexpr int kEpochsBetweenScores = 5;
constexpr int kFlatScores = SharedState::kFlatScores;

double prior_cost(const SharedPrior& prior, const SharedState& state) {
  return 0.5 * state.scale * (prior.precision.array() * (state.mean - prior.mean).array().square()).sum();
}

Vector residuals_at(const RowModel& model, const RowData& data, const Vector& m) {
  Matrix f;
  constexpr Index kRows = 8192;
  Matrix r(data.targets.rows(), data.targets.cols());
  for (Index begin = 0; begin < r.rows(); begin += kRows) {
    const Index n = std::min(kRows, r.rows() - begin);
    model.evaluate(m, data.rows.middleRows(begin, n), f);
    r.middleRows(begin, n) = data.targets.middleRows(begin, n) - f;
  }
  return r.reshaped();
}

struct Step {
  Vector residuals;  // after it
  double objective = 0;
  bool moved = false;
};

// Levenberg's method in the metric of the prior: the damping is raised until the objective falls.
Step proximal_step(const RowModel& model, const RowData& data, const SharedPrior& prior, SharedState& state,
                   const Vector& noise, Curvature& curvature) {
  const auto cost = [&](const Vector& r) { return 0.5 * (r.array().square() / noise.array()).sum(); };
  const double before = cost(curvature.residuals()) + prior_cost(prior, state);
  const Vector g = curvature.gradient() - state.scale * prior.precision.cwiseProduct(state.mean - prior.mean);
  SharedState next = state;
  for (int attempt = 0; attempt < kMostTries; ++attempt) {
    const Vector delta = curvature.step(g, state.damping);
    next.mean = state.mean + delta;
    Vector r = residuals_at(model, data, next.mean);
    const double after = cost(r) + prior_cost(prior, next);
    if (std::isfinite(after) && after < before) {
      state.damping = damping_after(state.damping, before - after, 0.5 * delta.dot(g));
      state.mean = std::move(next.mean);
      return {std::move(r), after, true};
    }
    state.damping = raised(state.damping);
  }
  return {curvature.residuals(), before, false};
}

void learn_noise(const RowData& data, const Vector& residuals, const Vector& others, double effective,
                 SharedState& state) {
  const Index n = data.targets.rows(), outputs = data.targets.cols();
  const bool is_weighted = data.weights.size() > 0;
  for (Index k = 0; k < outputs; ++k) {
    LogLinearNoise& noise = state.noise[static_cast<std::size_t>(k)];
    const auto r = residuals.segment(k * n, n);
    if (noise.depends_on_inputs()) {
      Vector squares = r.cwiseAbs2(), left = others.segment(k * n, n);
      if (is_weighted) squares = squares.cwiseProduct(data.weights), left += (data.weights.array() - 1).matrix();
      for (int twice = 0; twice < 2; ++twice) noise.learn(data.rows, squares, left);
      continue;
    }
    double left_over = others.size() > 0 ? others.segment(k * n, n).sum() : static_cast<double>(n) - effective;
    if (is_weighted) left_over += data.weights.sum() - static_cast<double>(n);
    const double before = std::exp(noise.beta(0));
    const double squares = is_weighted ? r.cwiseAbs2().dot(data.weights) : r.squaredNorm();
    const double found = squares / std::max(left_over - kAwayFromZero, 1e-300);  // the largest step bounds it
    noise.beta(0) =
        std::log(std::max(kLeastNoise, std::clamp(found, before / kLargestNoiseStep, before * kLargestNoiseStep)));
  }
}

Vector softened(const Vector& noise, double exponent) {
  if (exponent == 1) return noise;
  const Eigen::ArrayXd logs = noise.array().log();
  return (exponent * (logs - logs.mean()) + logs.mean()).exp();
}

// Mean log density of every row as if it had been left out, at the curvature's linearisation.
double left_out_score(const RowData& data, const Vector& noise, const Vector& residuals, const Vector& others) {
  const Eigen::ArrayXd rest = others.array().max(kLeastOneMinusLeverage);
  if (data.weights.size() > 0) {  // all that a row counts for is left out, and one of it predicted
    const Eigen::ArrayXd weights = data.stacked_weights(), variance = noise.array() * (weights + (1 - rest) / rest);
    const Eigen::ArrayXd logs =
        (residuals.array() / rest).square() / variance + (2 * std::numbers::pi * variance).log();
    return -0.5 * (weights * logs).sum() / weights.sum();
  }
  const Eigen::ArrayXd variance = noise.array() / rest;
  return -0.5 * ((residuals.array() / rest).square() / variance + (2 * std::numbers::pi * variance).log()).mean();
}

// Whether left-out rows are no longer predicted better: twice in a row, for single scores waver.
bool is_flat(double score, const SharedState& scored, double least_gain, SharedState::Watch& watch) {
  const bool gained = score - watch.reference >= kEpochsBetweenScores * least_gain;
  watch.flat = gained ? 0 : watch.flat + 1;
  if (gained) watch.reference = score;
  if (score > watch.best_score) watch.best_score = score, watch.best = {scored};
  return watch.flat == kFlatScores;
}

}  // namespace

Vector row_noise(const SharedState& state, const Matrix& rows) {
  Vector all(rows.rows() * static_cast<Index>(state.noise.size()));
  for (std::size_t k = 0; k < state.noise.size(); ++k)
    all.segment(static_cast<Index>(k) * rows.rows(), rows.rows()) = state.noise[k].variances(rows);
  return all;
}

double log_evidence(const SharedPrior& prior, const SharedState& state, const RowData& data, Curvature& curvature) {
  const Vector noise = row_noise(state, data.rows);
  double noise_terms = 0;
  for (const LogLinearNoise& n : state.noise) noise_terms += n.log_evidence(data.rows, data.weights);
  Eigen::ArrayXd logs =
      curvature.residuals().array().square() / noise.array() + noise.array().log() + std::log(2 * std::numbers::pi);
  if (data.weights.size() > 0) logs *= data.stacked_weights().array();
  return -0.5 * logs.sum() - prior_cost(prior, state) - 0.5 * curvature.log_determinant_gain() + noise_terms;
}

double fit_shared(const RowModel& model, const RowData& data, const SharedPrior& prior, const SharedFitOptions& options,
                  SharedState& state, Curvature& curvature) {
  if (options.noise_depends_on_inputs && options.learn_noise)
    for (LogLinearNoise& noise : state.noise)
      if (!noise.depends_on_inputs()) noise.add_slopes(data.rows.cols());
  while (state.epoch < options.epochs && !state.is_settled()) {
    ++state.epoch;
    const Vector noise = data.weighted(softened(row_noise(state, data.rows), options.weight_exponent));
    curvature.assemble(model, data, state.mean, state.scale * prior.precision, noise);
    SharedEpoch record{.epoch = state.epoch, .log_evidence = log_evidence(prior, state, data, curvature)};
    const bool by_rows = options.learn_noise && (state.noise.size() > 1 || state.noise[0].depends_on_inputs());
    const bool due = options.least_gain > 0 && (state.epoch - state.watch.first) % kEpochsBetweenScores == 1;
    const Vector others = by_rows || due ? curvature.one_minus_leverage() : Vector();
    SharedState scored;
    if (due)
      scored = {.mean = state.mean,
                .scale = state.scale,
                .damping = state.damping,
                .noise = state.noise,
                .epoch = state.epoch,
                .subset = state.subset};
    const double score = due ? left_out_score(data, noise, curvature.residuals(), others) : 0;
    record.effective_scalars = by_rows || due ? (1 - others.array()).sum() : curvature.effective_scalars();
    const Step step = proximal_step(model, data, prior, state, noise, curvature);
    if (options.learn_noise) learn_noise(data, step.residuals, others, record.effective_scalars, state);
    if (options.learn_scale && state.epoch >= kFirstScaleEpoch) {
      const double ratio = 2 * prior_cost(prior, state) / std::max(record.effective_scalars, 1e-3);
      state.scale /= std::clamp(ratio, 1 / kLargestScaleStep, kLargestScaleStep);
    }
    record.objective = step.objective, record.moved = step.moved;
    record.scale = state.scale, record.damping = state.damping;
    if (due && is_flat(score, scored, options.least_gain, state.watch)) {
      const int epochs = state.epoch;
      if (!state.watch.best.empty()) state = SharedState(state.watch.best[0]);  // none: no score was a number
      state.epoch = epochs;
      state.watch.flat = kFlatScores;
    }
    if (options.on_epoch && !options.on_epoch(record)) break;
  }
  curvature.assemble(model, data, state.mean, state.scale * prior.precision,
                     data.weighted(row_noise(state, data.rows)));
  return log_evidence(prior, state, data, curvature);
}

}  // namespace dma
