#include "engine/learn/gaussian/prediction.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/support/maximise.h"
#include "engine/support/quadrature.h"

namespace dma {

namespace {

constexpr int kNodes = 32;
constexpr std::array kDegrees = {StudentTails::kLeastDegrees, 2.5, 3.0, 4.0, 6.0, 10.0, 20.0, 50.0};
constexpr double kLeastScale = 0.1, kMostScale = 3;
constexpr double kClearLoss = 2;   // nats
constexpr Index kMostRows = 4000;  // a shape of two numbers needs no more

// The log omega whose density has fallen by e^-16 from its top: a (omega - 1 - log omega) = 16, on either side of 1.
double edge(double a, bool upper) {
  const auto fall = [a](double log_omega) { return a * (std::expm1(log_omega) - log_omega) - 16; };
  const double low = upper ? 0 : -17 / a - 2, high = upper ? 60 : 0;
  const quadrature::Bracket edge = quadrature::bracket_root(fall, low, high, fall(low), fall(high));
  return upper ? edge.low : edge.high;
}

double log_likelihood(const Vector& errors, const Vector& variances, const Vector& noise, const Vector& weights,
                      const StudentTails& tails) {
  const auto widths = tails.widths();
  Eigen::ArrayXd mass = Eigen::ArrayXd::Zero(errors.size());
  for (const auto& [probability, variance] : widths) {
    const Eigen::ArrayXd total = variances.array() + variance * noise.array();
    mass += probability * (-0.5 * errors.array().square() / total).exp() / total.sqrt();
  }
  // The noise it refines is itself an estimate: the factor on it is 1 but for what the rows say, sd of its logarithm
  // 1/2.
  return weighted_sum(mass.max(1e-300).log(), weights) - 2 * std::pow(std::log(tails.scale), 2);
}

struct Scored {
  double scale, value;
};

Scored best_scale(const Vector& errors, const Vector& variances, const Vector& noise, const Vector& weights,
                  double degrees) {
  constexpr int kBits = 8;  // for the logarithm: the scale to less than a hundredth, far below what rows can tell
  const auto loss_at = [&](double log_scale) {
    return -log_likelihood(errors, variances, noise, weights, {degrees, std::exp(log_scale)});
  };
  const auto [log_scale, loss] = minimise(loss_at, std::log(kLeastScale), std::log(kMostScale), kBits);
  return {std::exp(log_scale), -loss};
}

}  // namespace

std::vector<StudentTails::Width> StudentTails::widths() const {
  if (gaussian()) return {{1, scale}};
  const double a = degrees / 2, low = edge(a, false), high = edge(a, true), width = (high - low) / (kNodes - 1);
  std::vector<Width> all;
  double sum = 0;
  for (int i = 0; i < kNodes; ++i) {
    const double log_omega = low + i * width;
    all.push_back({std::exp(-a * (std::expm1(log_omega) - log_omega)), scale * std::exp(-log_omega)});
    sum += all.back().probability;
  }
  for (Width& w : all) w.probability /= sum;
  return all;
}

StudentTails most_likely_tails(const Vector& errors, const Vector& variances, const Vector& noise,
                               const Vector& weights) {
  if (errors.size() > kMostRows) {
    const Index stride = (errors.size() + kMostRows - 1) / kMostRows;
    const auto some = Eigen::seq(0, Eigen::last, stride);
    return most_likely_tails(errors(some), variances(some), noise(some),
                             weights.size() == 0 ? Vector() : Vector(weights(some)));
  }
  StudentTails best;
  Scored top = best_scale(errors, variances, noise, weights, best.degrees);
  best.scale = top.scale;
  // A shape is taken up only where the rows ask for it: a nat for the parameter. From the Gaussian on to heavier tails,
  // as long as these do not lose clearly.
  top.value += 1;
  double last = top.value;
  for (auto degrees = kDegrees.rbegin(); degrees != kDegrees.rend(); ++degrees) {
    const Scored found = best_scale(errors, variances, noise, weights, *degrees);
    if (found.value > top.value) top = found, best = {*degrees, found.scale};
    if (found.value < last - kClearLoss) break;
    last = found.value;
  }
  return best;
}

}  // namespace dma
