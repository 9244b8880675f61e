#include "tools/experiments/baselines/hmc.h"

#include <algorithm>
#include <cmath>

#include "tools/experiments/baselines/random_normal.h"

namespace dma::baselines {

namespace {

using Eigen::VectorXd;

constexpr double kDivergent = 1000;
// A metric learned from few draws is pulled towards this variance, as if it had been seen in five draws (Stan's
// choice).
constexpr double kDefaultVariance = 1e-3, kDefaultDraws = 5;

// Nesterov's dual averaging of log step sizes (Hoffman and Gelman 2014, section 3.2), with their constants.
class StepSize {
 public:
  explicit StepSize(double target) : target_(target) {}
  void restart(double step) {
    centre_ = std::log(10 * step), error_ = 0, smooth_ = 0, count_ = 0, log_step_ = std::log(step);
  }
  void update(double acceptance) {
    ++count_;
    const double fraction = 1 / (count_ + 10);
    error_ = (1 - fraction) * error_ + fraction * (target_ - acceptance);
    log_step_ = centre_ - std::sqrt(count_) / 0.05 * error_;
    const double weight = std::pow(count_, -0.75);
    smooth_ = weight * log_step_ + (1 - weight) * smooth_;
  }
  double exploring() const { return std::exp(log_step_); }
  double settled() const { return count_ > 0 ? std::exp(smooth_) : exploring(); }

 private:
  double target_, centre_ = 0, error_ = 0, smooth_ = 0, count_ = 0, log_step_ = 0;
};

class Sampler {
 public:
  Sampler(const EnergyFunction& energy, const VectorXd& start, std::uint64_t seed)
      : energy_(energy), normal_(seed), at_(start), variance_(VectorXd::Ones(start.size())) {
    value_ = energy_(at_, gradient_);
  }

  // One trajectory; returns its probability of acceptance.
  double move(double step, int steps) {
    VectorXd momentum = draw_momentum(), to = at_, slope = gradient_;
    const double before = value_ + kinetic(momentum);
    double value = value_;
    for (int i = 0; i < steps; ++i) {
      value = leap(step, momentum, to, slope);
      if (!(value + kinetic(momentum) - before < kDivergent)) break;  // also where it is not a number
    }
    const double rise = value + kinetic(momentum) - before;
    const double acceptance = rise < kDivergent ? std::min(1.0, std::exp(-rise)) : 0;
    if (normal_.uniform() < acceptance) at_ = to, gradient_ = slope, value_ = value;
    return acceptance;
  }
  int length(int longest) { return 1 + std::min(longest - 1, static_cast<int>(normal_.uniform() * longest)); }

  // Halves or doubles 0.1 until one step is accepted with about one half.
  double first_step() {
    double step = 0.1;
    const bool grow = probe(step) > 0.5;
    for (int i = 0; i < 50 && (probe(step) > 0.5) == grow; ++i) step *= grow ? 2 : 0.5;
    return step;
  }

  void set_metric(VectorXd variance) { variance_ = std::move(variance); }
  const VectorXd& at() const { return at_; }
  std::int64_t gradients() const { return gradients_; }

 private:
  VectorXd draw_momentum() {
    VectorXd momentum = normal_.vector(at_.size());
    for (Eigen::Index i = 0; i < momentum.size(); ++i) momentum[i] /= std::sqrt(variance_[i]);
    return momentum;
  }
  double kinetic(const VectorXd& momentum) const { return 0.5 * momentum.cwiseAbs2().dot(variance_); }
  // A leapfrog step; returns the energy where it ends.
  double leap(double step, VectorXd& momentum, VectorXd& to, VectorXd& slope) {
    for (Eigen::Index i = 0; i < to.size(); ++i) {
      momentum[i] -= 0.5 * step * slope[i];
      to[i] += step * variance_[i] * momentum[i];
    }
    const double value = energy_(to, slope);
    ++gradients_;
    for (Eigen::Index i = 0; i < to.size(); ++i) momentum[i] -= 0.5 * step * slope[i];
    return value;
  }
  double probe(double step) {
    VectorXd momentum = draw_momentum(), to = at_, slope = gradient_;
    const double before = value_ + kinetic(momentum), value = leap(step, momentum, to, slope);
    const double rise = value + kinetic(momentum) - before;
    return std::isfinite(rise) ? std::min(1.0, std::exp(-rise)) : 0;
  }

  const EnergyFunction& energy_;
  RandomNormal normal_;
  VectorXd at_, gradient_, variance_;
  double value_ = 0;
  std::int64_t gradients_ = 0;
};

// Running variance of what a window saw.
struct Window {
  VectorXd mean, squares;
  double count = 0;

  void clear(Eigen::Index size) { mean = squares = VectorXd::Zero(size), count = 0; }
  void add(const VectorXd& x) {
    count += 1;
    for (Eigen::Index i = 0; i < x.size(); ++i) {
      const double off = x[i] - mean[i];
      mean[i] += off / count;
      squares[i] += off * (x[i] - mean[i]);
    }
  }
  VectorXd metric() const {
    VectorXd variance = squares;
    for (double& v : variance)
      v = (v * (count / (count - 1)) + kDefaultDraws * kDefaultVariance) / (count + kDefaultDraws);
    return variance;
  }
};

}  // namespace

Chain hmc_chain(const EnergyFunction& energy, const VectorXd& start, const HmcOptions& o, std::uint64_t seed) {
  Sampler sampler(energy, start, seed);
  StepSize step(o.acceptance);
  step.restart(sampler.first_step());
  // The first sixth finds the typical set; the metric is then learned in windows that double; the last tenth settles
  // the step.
  const int settle = o.warm_up - o.warm_up / 10;
  int window_end = o.warm_up / 6, window = std::max(20, o.warm_up / 12);
  Window seen;
  seen.clear(start.size());
  for (int i = 0; i < o.warm_up; ++i) {
    step.update(sampler.move(step.exploring(), sampler.length(o.longest)));
    if (i >= o.warm_up / 6 && i < settle) seen.add(sampler.at());
    if (i + 1 != window_end || i >= settle) continue;
    if (seen.count > 10) {
      sampler.set_metric(seen.metric());
      step.restart(sampler.first_step());
    }
    seen.clear(start.size());
    window_end = window_end + 3 * window > settle ? settle : window_end + window;
    window *= 2;
  }
  Chain chain;
  const double settled = step.settled();
  for (int i = 0; i < o.samples; ++i) {
    chain.acceptance += sampler.move(settled, sampler.length(o.longest)) / o.samples;
    if ((i + 1) % o.keep_every == 0) chain.samples.push_back(sampler.at());
  }
  chain.gradients = sampler.gradients();
  return chain;
}

}  // namespace dma::baselines
