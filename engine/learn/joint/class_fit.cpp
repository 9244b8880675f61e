#include "engine/learn/joint/class_fit.h"

#include <algorithm>
#include <cmath>

#include "engine/learn/joint/curvature.h"
#include "engine/learn/joint/damping.h"
#include "engine/support/dense.h"

namespace dma {

namespace {

constexpr double kLargestScale = 1e6;  // beyond, the frequencies of the classes are all that is left
constexpr int kFirstFlatEpoch = 9, kFlatEpochs = 3;

double cost_of_prior(const ClassPrior& prior, const Vector& lambda, const Vector& m) {
  return 0.5 * (lambda.array() * (m - prior.mean).array().square()).sum();
}

// Levenberg's method in the metric of the prior: the damping is raised until likelihood and prior gain.
void class_step(const RowModel& model, const ClassData& data, const ClassPrior& prior, const Vector& lambda,
                const ClassInformation& information, Vector& m, double& damping) {
  const double before = cost_of_prior(prior, lambda, m) - information.log_likelihood();
  const Vector g = information.gradient() - lambda.cwiseProduct(m - prior.mean);
  for (int attempt = 0; attempt < kMostTries; ++attempt) {
    const Vector delta = information.step((1 + damping) * lambda, g);
    const Vector next = m + delta;
    const double after = cost_of_prior(prior, lambda, next) - class_log_likelihood(model, data, next);
    if (std::isfinite(after) && after < before) {
      damping = damping_after(damping, before - after, 0.5 * delta.dot(g));
      m = next;
      return;
    }
    damping = raised(damping);
  }
}

}  // namespace

ClassFit fit_classes(const RowModel& model, const ClassData& data, const ClassPrior& prior, Vector start,
                     const ClassFitOptions& options) {
  ClassFit fit{.mean = std::move(start), .factor = {}};
  double damping = 1, last = -1e300;
  ThreadPool pool(options.jobs);
  for (int flat = 0;;) {
    const ClassInformation information(model, data, fit.mean, pool);
    const Vector lambda = prior.at(fit.scale);
    fit.factor = information.factor(lambda);
    fit.log_evidence = information.log_likelihood() - cost_of_prior(prior, lambda, fit.mean) +
                       0.5 * sum_of_logs(lambda) - log_diagonal(fit.factor.lower);
    Vector variances(lambda.size());
    variances(fit.factor.order) = squared_columns(triangular_inverse(fit.factor.lower, pool));
    fit.effective_scalars = fit.scale * (prior.precision.array() * (1 / lambda.array() - variances.array())).sum();

    const double rows = total_weight(data.rows.rows(), data.weights);
    flat = fit.epochs + 1 >= kFirstFlatEpoch && std::abs(fit.log_evidence - last) < options.least_change * rows
               ? flat + 1
               : 0;
    last = fit.log_evidence;
    fit.settled = flat >= kFlatEpochs;
    if (fit.settled || fit.interrupted || fit.epochs == options.epochs) return fit;
    ++fit.epochs;
    class_step(model, data, prior, lambda, information, fit.mean, damping);
    if (options.learn_scale && fit.epochs >= kFirstScaleEpoch) {
      const double cost = fit.scale * (prior.precision.array() * (fit.mean - prior.mean).array().square()).sum();
      const double ratio = cost / std::max(fit.effective_scalars, 1e-3);
      fit.scale = std::min(kLargestScale, fit.scale / std::clamp(ratio, 1 / kLargestScaleStep, kLargestScaleStep));
    }
    if (options.on_epoch)
      fit.interrupted = !options.on_epoch({.epoch = fit.epochs,
                                           .log_evidence = fit.log_evidence,
                                           .log_likelihood = information.log_likelihood(),
                                           .effective_scalars = fit.effective_scalars,
                                           .scale = fit.scale});
  }
}

}  // namespace dma
