#include "tools/experiments/baselines/hmc.h"

#include <algorithm>
#include <cmath>

#include "tools/experiments/baselines/random_normal.h"

namespace dma::baselines {

namespace {

using Eigen::VectorXd;

constexpr double kDivergent = 1000;

// Nesterov's dual averaging of log step sizes (Hoffman and Gelman 2014, section 3.2), with their constants.
struct StepSize {
  double target, centre = 0, error = 0, smooth = 0, count = 0, log_step = 0;

  void restart(double step) { *this = {.target = target, .centre = std::log(10 * step), .log_step = std::log(step)}; }
  void update(double acceptance) {
    const double fraction = 1 / (++count + 10), weight = std::pow(count, -0.75);
    error = (1 - fraction) * error + fraction * (target - acceptance);
    log_step = centre - std::sqrt(count) / 0.05 * error;
    smooth = weight * log_step + (1 - weight) * smooth;
  }
  double exploring() const { return std::exp(log_step); }
  double settled() const { return std::exp(count > 0 ? smooth : log_step); }
};

struct Sampler {
  const EnergyFunction& energy;
  RandomNormal normal;
  VectorXd at, gradient = {}, variance = VectorXd::Ones(at.size());
  double value = energy(at, gradient);
  std::int64_t gradients = 0;

  // One trajectory; returns its probability of acceptance.
  double move(double step, int longest) {
    const int steps = 1 + std::min(longest - 1, static_cast<int>(normal.uniform() * longest));
    VectorXd momentum = draw_momentum(), to = at, slope = gradient;
    const double before = value + kinetic(momentum);
    double now = value;
    for (int i = 0; i < steps; ++i) {
      now = leap(step, momentum, to, slope);
      if (!(now + kinetic(momentum) - before < kDivergent)) break;  // also where it is not a number
    }
    const double rise = now + kinetic(momentum) - before;
    const double acceptance = rise < kDivergent ? std::min(1.0, std::exp(-rise)) : 0;
    if (normal.uniform() < acceptance) {
      at = to;
      gradient = slope;
      value = now;
    }
    return acceptance;
  }

  // Halves or doubles 0.1 until one step is accepted with about one half.
  double first_step() {
    const auto probe = [&](double step) {
      VectorXd momentum = draw_momentum(), to = at, slope = gradient;
      const double before = value + kinetic(momentum), now = leap(step, momentum, to, slope);
      const double rise = now + kinetic(momentum) - before;
      return std::isfinite(rise) ? std::min(1.0, std::exp(-rise)) : 0;
    };
    double step = 0.1;
    const bool grow = probe(step) > 0.5;
    for (int i = 0; i < 50 && (probe(step) > 0.5) == grow; ++i) step *= grow ? 2 : 0.5;
    return step;
  }

 private:
  VectorXd draw_momentum() { return normal.vector(at.size()).cwiseQuotient(variance.cwiseSqrt()); }
  double kinetic(const VectorXd& momentum) const { return 0.5 * momentum.cwiseAbs2().dot(variance); }
  // A leapfrog step; returns the energy at its end.
  double leap(double step, VectorXd& momentum, VectorXd& to, VectorXd& slope) {
    momentum -= 0.5 * step * slope;
    to += (step * variance).cwiseProduct(momentum);
    const double there = energy(to, slope);
    ++gradients;
    momentum -= 0.5 * step * slope;
    return there;
  }
};

// Running variance of the positions of a window.
struct Window {
  VectorXd mean, squares;
  double count = 0;

  explicit Window(Eigen::Index size) : mean(VectorXd::Zero(size)), squares(mean) {}
  void add(const VectorXd& x) {
    const VectorXd off = x - mean;
    mean += off / ++count;
    squares += off.cwiseProduct(x - mean);
  }
  // Pulled towards a variance of 1e-3, as if that had been seen in five draws (Stan's choice).
  VectorXd metric() const {
    constexpr double kVariance = 1e-3, kDraws = 5;
    return ((squares * (count / (count - 1))).array() + kDraws * kVariance) / (count + kDraws);
  }
};

}  // namespace

Chain hmc_chain(const EnergyFunction& energy, const VectorXd& start, const HmcOptions& o, std::uint64_t seed) {
  Sampler sampler{energy, RandomNormal(seed), start};
  StepSize step{.target = o.acceptance};
  step.restart(sampler.first_step());
  // The first sixth finds the typical set; the metric is then learned in windows that double; the last tenth settles
  // the step.
  const int settle = o.warm_up - o.warm_up / 10;
  int window_end = o.warm_up / 6, window = std::max(20, o.warm_up / 12);
  Window seen(start.size());
  for (int i = 0; i < o.warm_up; ++i) {
    const double exploring = step.exploring();
    step.update(sampler.move(exploring, o.longest));
    if (i >= o.warm_up / 6 && i < settle) seen.add(sampler.at);
    if (i + 1 != window_end || i >= settle) continue;
    if (seen.count > 10) {
      sampler.variance = seen.metric();
      step.restart(sampler.first_step());
    }
    seen = Window(start.size());
    window_end = window_end + 3 * window > settle ? settle : window_end + window;
    window *= 2;
  }
  Chain chain;
  for (int i = 0; i < o.samples; ++i) {
    chain.acceptance += sampler.move(step.settled(), o.longest) / o.samples;
    if ((i + 1) % o.keep_every == 0) chain.samples.push_back(sampler.at);
  }
  chain.gradients = sampler.gradients;
  return chain;
}

}  // namespace dma::baselines
