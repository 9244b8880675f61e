#include "engine/learn/gaussian/fit.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/learn/gaussian/gauss_newton.h"

namespace dma {

namespace {

constexpr double kLargestNoiseStep = 4;
constexpr int kEpochsBetweenScores = 5;
constexpr int kFlatScores = SharedState::kFlatScores;
constexpr int kFirstFlatEpoch = 9, kFlatEpochs = 3;

double prior_cost(const SharedPrior& prior, const SharedState& state) {
  return 0.5 * (prior.scaled(state.scale).array() * (state.mean - prior.mean).array().square()).sum();
}

Matrix outputs_at(const RowModel& model, const RowData& data, const Vector& m) {
  constexpr Index kRows = 8192;
  Matrix f(data.targets.rows(), data.targets.cols()), block;
  for (Index begin = 0; begin < f.rows(); begin += kRows) {
    const Index n = std::min(kRows, f.rows() - begin);
    model.evaluate(m, data.rows.middleRows(begin, n), block);
    f.middleRows(begin, n) = block;
  }
  return f;
}

// 0 for outputs whose likelihood is not Gaussian.
Eigen::ArrayXd of_gaussian_targets(const RowData& data, Eigen::ArrayXd stacked) {
  for (Index k = 0; k < data.targets.cols(); ++k)
    if (!data.is_gaussian(k)) stacked.segment(k * data.targets.rows(), data.targets.rows()) = 0;
  return stacked;
}

// Residuals; 0 for outputs whose likelihood is not Gaussian, whose log density is added to `other`.
Vector residuals_at(const RowModel& model, const RowData& data, const Vector& m, double& other) {
  const Matrix f = outputs_at(model, data, m);
  other += other_log_density(data, f);
  return of_gaussian_targets(data, (data.targets - f).reshaped());
}

struct Step {
  Vector residuals;  // after it
  double objective = 0;
  bool moved = false;
};

double squares_cost(const Vector& residuals, const Vector& noise) {
  return 0.5 * (residuals.array().square() / noise.array()).sum();
}

// In the metric of the prior.
Step proximal_step(const RowModel& model, const RowData& data, const SharedPrior& prior, SharedState& state,
                   const Vector& noise, Curvature& curvature, double other) {
  Step taken{.residuals = of_gaussian_targets(data, curvature.residuals())};
  taken.objective = squares_cost(taken.residuals, noise) - other + prior_cost(prior, state);
  const Vector g = curvature.gradient() - prior.scaled(state.scale).cwiseProduct(state.mean - prior.mean);
  SharedState next{.mean = {}, .scale = state.scale, .noise = {}};
  Vector residuals;
  const auto found = gauss_newton_step(
      g, taken.objective, state.damping, [&](double mu) { return curvature.step(g, mu); },
      [&](const Vector& delta) {
        next.mean = state.mean + delta;
        double other_there = 0;
        residuals = residuals_at(model, data, next.mean, other_there);
        return squares_cost(residuals, noise) - other_there + prior_cost(prior, next);
      });
  if (!found) return taken;
  state.mean = std::move(next.mean);
  return {std::move(residuals), *found, true};
}

// Noise and scale have moved since the last step. A linear model, which gains just what a step foretells, follows them
// at once: leverage leaves rows out exactly only from the mode. False: it is not linear, or is there.
bool step_to_mode(const RowModel& model, const RowData& data, const SharedPrior& prior, const Vector& noise,
                  Curvature& curvature, SharedState& state) {
  constexpr double kThere = 1e-9, kAsForetold = 1e-6;  // nats; of what was foretold
  if (!data.likelihoods.empty()) return false;
  const Vector g = curvature.gradient() - prior.scaled(state.scale).cwiseProduct(state.mean - prior.mean);
  const Vector delta = curvature.step(g, 0);
  const double foretold = 0.5 * delta.dot(g);
  if (!(foretold > kThere)) return false;
  SharedState next{.mean = state.mean + delta, .scale = state.scale, .noise = {}};
  double other = 0;
  const double gained = squares_cost(curvature.residuals(), noise) -
                        squares_cost(residuals_at(model, data, next.mean, other), noise) + prior_cost(prior, state) -
                        prior_cost(prior, next);
  if (!(std::abs(gained - foretold) < kAsForetold * foretold)) return false;
  state.mean = std::move(next.mean);
  return true;
}

// Slope and curvature of a group's log prior by the logarithm of its factor.
struct PriorPull {
  double slope = 0, curvature = 0;
};
PriorPull pull_of(const ScaleGroup& group, double log_factor) {
  constexpr double kStep = 1e-3;
  if (!group.log_density) return {};
  const auto at = [&](double t) { return group.log_density(std::exp(t)) + t; };
  const double low = at(log_factor - kStep), middle = at(log_factor), high = at(log_factor + kStep);
  return {(high - low) / (2 * kStep), (high - 2 * middle + low) / (kStep * kStep)};
}

// The log evidence of the factor s of a group has the slope (gamma - s q) / 2 by log s: the rows determine gamma of the
// group's scalars, and q = sum lambda (m - m0)^2 at s = 1. Without a prior its root is MacKay's update s = gamma / q. A
// family adds -(log s - mean), a prior density its own slope. Newton's steps find the root.
void learn_scales(const SharedPrior& prior, const Vector& determined, SharedState& state) {
  constexpr int kNewtonSteps = 40;
  constexpr double kLongestStep = 2;       // by log s
  constexpr double kLargestFactor = 1e30;  // beyond, the prior's mean is all that is left
  const Vector squares = prior.by_group(prior.precision.cwiseProduct((state.mean - prior.mean).cwiseAbs2()));
  const Vector logs = state.scale.array().log();
  for (Index g = 0; g < state.scale.size(); ++g) {
    const ScaleGroup& own = prior.groups[static_cast<std::size_t>(g)];
    const double gamma = std::max(determined(g), 1e-3), q = squares(g);
    if (own.family < 0 && !own.log_density) {
      const double factor = std::clamp(state.scale(g) * q / gamma, 1 / kLargestScaleStep, kLargestScaleStep);
      state.scale(g) = std::clamp(state.scale(g) / factor, 1 / kLargestFactor, kLargestFactor);
      continue;
    }
    double sum = 0, members = 0, t = logs(g);
    for (Index other = 0; other < logs.size(); ++other)
      if (own.family >= 0 && prior.groups[static_cast<std::size_t>(other)].family == own.family)
        sum += logs(other), ++members;
    for (int step = 0; step < kNewtonSteps; ++step) {
      const PriorPull pull = pull_of(own, t);
      const double half = 0.5 * q * std::exp(t), from_mean = members > 0 ? t - sum / members : 0;
      const double bend = half + std::max(0.0, -pull.curvature) + (members > 0 ? 1 : 0);
      t +=
          std::clamp((0.5 * gamma - half + pull.slope - from_mean) / std::max(bend, 1e-3), -kLongestStep, kLongestStep);
    }
    const double most = std::log(kLargestGroupStep);
    state.scale(g) =
        std::clamp(std::exp(std::clamp(t, logs(g) - most, logs(g) + most)), 1 / kLargestFactor, kLargestFactor);
  }
}

void learn_noise(const RowData& data, const Vector& residuals, const Vector& others, double effective,
                 SharedState& state) {
  const Index n = data.targets.rows(), outputs = data.targets.cols();
  const bool is_weighted = data.weights.size() > 0;
  for (Index k = 0; k < outputs; ++k) {
    if (!data.is_gaussian(k)) continue;
    LogLinearNoise& noise = state.noise[static_cast<std::size_t>(k)];
    const auto r = residuals.segment(k * n, n);
    if (noise.depends_on_inputs()) {
      Vector squares = r.cwiseAbs2(), left = others.segment(k * n, n);
      if (is_weighted) squares = squares.cwiseProduct(data.weights), left += (data.weights.array() - 1).matrix();
      noise.learn(data.rows, squares, left, 2);
      continue;
    }
    double left_over = others.size() > 0 ? others.segment(k * n, n).sum() : static_cast<double>(n) - effective;
    if (is_weighted) left_over += data.weights.sum() - static_cast<double>(n);
    const double before = std::exp(noise.beta(0));
    const double squares = is_weighted ? r.cwiseAbs2().dot(data.weights) : r.squaredNorm();
    const double found = squares / std::max(left_over - kAwayFromZero, 1e-300);  // the largest step bounds it
    noise.beta(0) =
        std::max(noise.least, std::log(std::clamp(found, before / kLargestNoiseStep, before * kLargestNoiseStep)));
  }
}

Vector softened(const Vector& noise, double exponent, const RowData& data) {
  if (exponent == 1) return noise;
  const Eigen::ArrayXd logs = noise.array().log();
  const Vector weights = data.stacked_weights();
  const double mean = weighted_sum(logs, weights) / total_weight(logs.size(), weights);
  return (exponent * (logs - mean) + mean).exp();
}

// The same where some likelihoods are not Gaussian.
double left_out_score(const SeenRows& seen, const Vector& noise, const Vector& residuals, const Vector& others) {
  const RowData& data = seen.given;
  const Index n = data.targets.rows();
  double score = 0, count = 0;
  for (Index k = 0; k < data.targets.cols(); ++k)
    for (Index i = 0; i < n; ++i) {
      const Index at = k * n + i;
      const double o = std::max(others(at), kLeastOneMinusLeverage), weight = weight_of(data.weights, i);
      const double mean = seen.data().targets(i, k) - residuals(at) / o, variance = noise(at) * (1 - o) / o;
      count += weight;
      if (const auto& other = data.likelihoods[static_cast<std::size_t>(k)]) {
        score += weight * other->log_predictive(mean, std::sqrt(std::max(variance, 0.0)), data.targets(i, k));
      } else {
        const double r = data.targets(i, k) - mean, all = variance + weight * noise(at);
        score -= 0.5 * weight * (r * r / all + std::log(2 * std::numbers::pi * all));
      }
    }
  return score / count;
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

// True if left-out rows are no longer predicted better: twice in a row, for single scores waver.
bool is_flat(double score, const SharedState& scored, double least_gain, SharedState::Watch& watch) {
  const bool gained = score - watch.reference >= kEpochsBetweenScores * least_gain;
  watch.flat = gained ? 0 : watch.flat + 1;
  if (gained) watch.reference = score;
  if (score > watch.best_score) watch.best_score = score, watch.best = {scored};
  return watch.flat == kFlatScores;
}

}  // namespace

SeenRows::SeenRows(const RowModel& model, const RowData& rows, const Vector& m, Vector of_rows)
    : given(rows), noise(std::move(of_rows)) {
  if (rows.likelihoods.empty()) return;
  const Matrix f = outputs_at(model, rows, m);
  if (rows.has_classes()) {
    log_density = other_log_density(rows, f);
    return;
  }
  Vector residuals = (rows.targets - f).reshaped();
  log_density = see_as_gaussian(rows, f, residuals, noise);
  own = std::make_shared<const RowData>(RowData{rows.rows, f + residuals.reshaped(f.rows(), f.cols()), rows.weights});
}

void learn_noise_function(const RowData& data, Curvature& curvature, SharedState& state) {
  constexpr int kSteps = 30;
  const Index n = data.rows.rows();
  Vector squares = curvature.residuals().cwiseAbs2(), fractions = curvature.one_minus_leverage();
  if (data.weights.size() > 0) {
    const Vector weights = data.stacked_weights();
    squares = squares.cwiseProduct(weights), fractions += (weights.array() - 1).matrix();
  }
  for (std::size_t k = 0; k < state.noise.size(); ++k) {
    state.noise[k].add_slopes(data.numbers());
    state.noise[k].learn(data.rows, squares.segment(static_cast<Index>(k) * n, n),
                         fractions.segment(static_cast<Index>(k) * n, n), kSteps);
  }
}

Vector row_noise(const SharedState& state, const Matrix& rows) {
  Vector all(rows.rows() * static_cast<Index>(state.noise.size()));
  for (std::size_t k = 0; k < state.noise.size(); ++k)
    all.segment(static_cast<Index>(k) * rows.rows(), rows.rows()) = state.noise[k].variances(rows);
  return all;
}

double log_evidence(const SharedPrior& prior, const SharedState& state, const RowData& data, Curvature& curvature,
                    double other) {
  const Vector noise = row_noise(state, data.rows);
  double noise_terms = 0;
  for (const LogLinearNoise& n : state.noise) noise_terms += n.log_evidence(data.rows, data.weights);
  Eigen::ArrayXd logs =
      curvature.residuals().array().square() / noise.array() + noise.array().log() + std::log(2 * std::numbers::pi);
  if (data.weights.size() > 0) logs *= data.stacked_weights().array();
  return other - 0.5 * of_gaussian_targets(data, std::move(logs)).sum() - prior_cost(prior, state) -
         0.5 * curvature.log_determinant_gain() + noise_terms;
}

double fit_shared(const RowModel& model, const RowData& data, const SharedPrior& prior, const SharedFitOptions& options,
                  SharedState& state, Curvature& curvature) {
  if (state.scale.size() != prior.group_count()) state.scale = Vector::Ones(prior.group_count());
  for (Index k = 0; options.learn_noise && k < data.least_noise.size(); ++k)
    state.noise[static_cast<std::size_t>(k)].least = std::log(data.least_noise(k));
  if (options.noise_depends_on_inputs && options.learn_noise)
    for (std::size_t k = 0; k < state.noise.size(); ++k)
      if (!state.noise[k].depends_on_inputs() && data.is_gaussian(static_cast<Index>(k)))
        state.noise[k].add_slopes(data.numbers());
  double last = -1e300;
  int flat = 0;
  while (state.epoch < options.epochs && !state.is_settled()) {
    ++state.epoch;
    const SeenRows seen(model, data, state.mean, softened(row_noise(state, data.rows), options.weight_exponent, data));
    const Vector noise = data.weighted(seen.noise);
    curvature.assemble(model, seen.data(), state.mean, prior.scaled(state.scale), noise);
    curvature.keep(seen.own);
    SharedEpoch record{.epoch = state.epoch,
                       .log_evidence = log_evidence(prior, state, data, curvature, seen.log_density)};
    flat = state.epoch >= kFirstFlatEpoch && std::abs(record.log_evidence - last) <
                                                 options.least_change * total_weight(data.rows.rows(), data.weights)
               ? flat + 1
               : 0;
    last = record.log_evidence;
    if (flat == kFlatEpochs) {
      state.watch.flat = kFlatScores;
      --state.epoch;
      return record.log_evidence;
    }
    const bool by_rows =
        options.learn_noise && data.has_gaussians() && (state.noise.size() > 1 || state.noise[0].depends_on_inputs());
    const bool due = options.least_gain > 0 && (state.epoch - state.watch.first) % kEpochsBetweenScores == 1;
    const Vector others = by_rows || due ? curvature.one_minus_leverage() : Vector();
    const bool learns_scale = options.learn_scale && state.epoch >= kFirstScaleEpoch;
    Vector determined;  // by group
    SharedState scored;
    if (due)
      scored = {.mean = state.mean,
                .scale = state.scale,
                .damping = state.damping,
                .noise = state.noise,
                .epoch = state.epoch,
                .subset = state.subset};
    const double score = !due                       ? 0
                         : data.likelihoods.empty() ? left_out_score(data, noise, curvature.residuals(), others)
                                                    : left_out_score(seen, noise, curvature.residuals(), others);
    record.effective_scalars = by_rows || due ? (1 - others.array()).sum() : curvature.effective_scalars();
    if (learns_scale)
      determined = prior.group.empty() ? Vector(Vector::Constant(1, record.effective_scalars))
                                       : prior.by_group(curvature.determined());
    const Step step = proximal_step(model, data, prior, state, noise, curvature, seen.log_density);
    if (options.learn_noise) learn_noise(data, step.residuals, others, record.effective_scalars, state);
    if (learns_scale) learn_scales(prior, determined, state);
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
  const auto evidence_here = [&] {
    const SeenRows seen(model, data, state.mean, row_noise(state, data.rows));
    curvature.assemble(model, seen.data(), state.mean, prior.scaled(state.scale), data.weighted(seen.noise));
    curvature.keep(seen.own);
    return log_evidence(prior, state, data, curvature, seen.log_density);
  };
  const double evidence = evidence_here();
  const bool is_behind = (options.learn_noise || options.learn_scale) && options.weight_exponent == 1 &&
                         step_to_mode(model, data, prior, data.weighted(row_noise(state, data.rows)), curvature, state);
  return is_behind ? evidence_here() : evidence;
}

}  // namespace dma
