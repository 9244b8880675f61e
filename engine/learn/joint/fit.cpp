#include "engine/learn/joint/fit.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace dma {

namespace {

constexpr double kLeastDamping = 1e-4, kMostDamping = 1e8;
constexpr int kMostTries = 10;
constexpr double kLargestNoiseStep = 4, kLargestScaleStep = 2;
constexpr int kFirstScaleEpoch = 4;
constexpr double kLeastNoise = 1e-10;
// A row that is nearly its own prediction says little about the noise: its correction is bounded.
constexpr double kLeastOwnShare = 0.1;
constexpr int kWindow = 10;  // epochs over which a gain is judged

double prior_cost(const JointPrior& prior, const JointState& state) {
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
Step proximal_step(const RowModel& model, const RowData& data, const JointPrior& prior, JointState& state, const Vector& noise,
                   Curvature& curvature) {
  const auto cost = [&](const Vector& r) { return 0.5 * (r.array().square() / noise.array()).sum(); };
  const double before = cost(curvature.residuals()) + prior_cost(prior, state);
  const Vector g = curvature.gradient() - state.scale * prior.precision.cwiseProduct(state.mean - prior.mean);
  JointState next = state;
  for (int attempt = 0; attempt < kMostTries; ++attempt) {
    const Vector delta = curvature.step(g, state.damping);
    next.mean = state.mean + delta;
    Vector r = residuals_at(model, data, next.mean);
    const double after = cost(r) + prior_cost(prior, next);
    if (std::isfinite(after) && after < before) {
      const double ratio = (before - after) / (0.5 * delta.dot(g));
      if (ratio > 0.6) state.damping /= 3;
      if (ratio < 0.25) state.damping *= 2;
      state.damping = std::clamp(state.damping, kLeastDamping, kMostDamping);
      state.mean = std::move(next.mean);
      return {std::move(r), after, true};
    }
    state.damping = std::min(4 * state.damping, kMostDamping);
  }
  return {curvature.residuals(), before, false};
}

void learn_noise(const RowData& data, const Vector& residuals, const Vector& leverages, double effective, JointState& state) {
  const Index n = data.rows.rows(), outputs = data.targets.cols();
  for (Index k = 0; k < outputs; ++k) {
    LogLinearNoise& noise = state.noise[static_cast<std::size_t>(k)];
    const auto r = residuals.segment(k * n, n);
    if (noise.depends_on_inputs()) {
      const Vector squares =
          r.array().square() / (1 - leverages.segment(k * n, n).array()).max(kLeastOwnShare);
      for (int twice = 0; twice < 2; ++twice) noise.learn(data.rows, squares);
      continue;
    }
    const double own = leverages.size() > 0 ? leverages.segment(k * n, n).sum() : effective;
    const double before = std::exp(noise.beta(0));
    const double found = r.squaredNorm() / std::max(static_cast<double>(n) - own, 1e-3 * static_cast<double>(n));
    noise.beta(0) = std::log(std::max(kLeastNoise, std::clamp(found, before / kLargestNoiseStep, before * kLargestNoiseStep)));
  }
}

}  // namespace

Vector row_noise(const JointState& state, const Matrix& rows) {
  Vector all(rows.rows() * static_cast<Index>(state.noise.size()));
  for (std::size_t k = 0; k < state.noise.size(); ++k)
    all.segment(static_cast<Index>(k) * rows.rows(), rows.rows()) = state.noise[k].variances(rows);
  return all;
}

double log_evidence(const JointPrior& prior, const JointState& state, const RowData& data, Curvature& curvature) {
  const Vector noise = row_noise(state, data.rows);
  double noise_terms = 0;
  for (const LogLinearNoise& n : state.noise) noise_terms += n.log_evidence(data.rows);
  return -0.5 * (curvature.residuals().array().square() / noise.array() + noise.array().log() + std::log(2 * std::numbers::pi)).sum() -
         prior_cost(prior, state) - 0.5 * curvature.log_determinant_gain() + noise_terms;
}

double fit_jointly(const RowModel& model, const RowData& data, const JointPrior& prior, const JointOptions& options, JointState& state,
                   Curvature& curvature) {
  std::vector<double> evidences;
  for (int local = 0; local < options.epochs; ++local) {
    ++state.epoch;
    if (options.noise_depends_on_inputs && options.learn_noise && local >= options.constant_noise_epochs)
      for (LogLinearNoise& noise : state.noise)
        if (!noise.depends_on_inputs()) noise.add_slopes(data.rows.cols());
    Vector noise = row_noise(state, data.rows);
    if (options.weight_exponent != 1) {
      const double centre = noise.array().log().mean();
      noise = (options.weight_exponent * (noise.array().log() - centre) + centre).exp();
    }
    curvature.assemble(model, data, state.mean, state.scale * prior.precision, noise);
    JointEpoch record{.epoch = state.epoch, .log_evidence = log_evidence(prior, state, data, curvature)};
    const bool by_rows = options.learn_noise && (state.noise.size() > 1 || state.noise[0].depends_on_inputs());
    const Vector leverages = by_rows ? curvature.leverages() : Vector();
    record.effective_scalars = by_rows ? leverages.sum() : curvature.effective_scalars();
    const Step step = proximal_step(model, data, prior, state, noise, curvature);
    if (options.learn_noise) learn_noise(data, step.residuals, leverages, record.effective_scalars, state);
    if (options.learn_scale && state.epoch >= kFirstScaleEpoch) {
      const double ratio = 2 * prior_cost(prior, state) / std::max(record.effective_scalars, 1e-3);
      state.scale /= std::clamp(ratio, 1 / kLargestScaleStep, kLargestScaleStep);
    }
    record.objective = step.objective, record.moved = step.moved;
    record.scale = state.scale, record.damping = state.damping;
    if (options.on_epoch && !options.on_epoch(record)) break;
    evidences.push_back(record.log_evidence);
    const bool settled = !options.noise_depends_on_inputs || local >= options.constant_noise_epochs + kWindow;
    if (settled && evidences.size() > kWindow &&
        evidences.back() - evidences[evidences.size() - 1 - kWindow] < options.least_gain * kWindow)
      break;
  }
  for (LogLinearNoise& noise : state.noise) noise.stay_within(data.rows);
  curvature.assemble(model, data, state.mean, state.scale * prior.precision, row_noise(state, data.rows));
  return log_evidence(prior, state, data, curvature);
}

}  // namespace dma
