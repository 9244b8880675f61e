#include "engine/learn/joint/student_tails.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace dma {

namespace {

constexpr int kNodes = 32;
constexpr std::array kDegrees = {StudentTails::kLeastDegrees, 2.5, 3.0, 4.0, 6.0, 10.0, 20.0, 50.0};
constexpr double kLeastScale = 0.1, kMostScale = 3;
constexpr Index kMostRows = 4000;  // a shape of two numbers needs no more

// Where the density of log omega has fallen by e^-16 from its top: a (omega - 1 - log omega) = 16, on either side of 1.
double edge(double a, bool upper) {
  double inside = 0, outside = upper ? 60 : -17 / a - 2;  // of log omega
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (inside + outside);
    (a * (std::expm1(middle) - middle) < 16 ? inside : outside) = middle;
  }
  return inside;
}

double log_likelihood(const Vector& errors, const Vector& variances, const Vector& noise, const StudentTails& tails) {
  const auto widths = tails.widths();
  Eigen::ArrayXd mass = Eigen::ArrayXd::Zero(errors.size());
  for (const auto& [probability, variance] : widths) {
    const Eigen::ArrayXd total = variances.array() + variance * noise.array();
    mass += probability * (-0.5 * errors.array().square() / total).exp() / total.sqrt();
  }
  // The noise it refines is itself an estimate: the factor on it is 1 but for what the rows say, sd of its logarithm 1/2.
  return mass.max(1e-300).log().sum() - 2 * std::pow(std::log(tails.scale), 2);
}

struct Scored {
  double scale, value;
};

Scored best_scale(const Vector& errors, const Vector& variances, const Vector& noise, double degrees) {
  constexpr double kGolden = 0.6180339887498949;
  double low = std::log(kLeastScale), high = std::log(kMostScale);
  const auto value = [&](double x) { return log_likelihood(errors, variances, noise, {degrees, std::exp(x)}); };
  double left = high - kGolden * (high - low), right = low + kGolden * (high - low), at_left = value(left), at_right = value(right);
  for (int step = 0; step < 12; ++step) {
    if (at_left < at_right) {
      low = left, left = right, at_left = at_right, right = low + kGolden * (high - low), at_right = value(right);
    } else {
      high = right, right = left, at_right = at_left, left = high - kGolden * (high - low), at_left = value(left);
    }
  }
  return at_left > at_right ? Scored{std::exp(left), at_left} : Scored{std::exp(right), at_right};
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

StudentTails most_likely_tails(const Vector& errors, const Vector& variances, const Vector& noise) {
  if (errors.size() > kMostRows) {
    const Index stride = (errors.size() + kMostRows - 1) / kMostRows;
    const auto some = Eigen::seq(0, Eigen::last, stride);
    return most_likely_tails(errors(some), variances(some), noise(some));
  }
  StudentTails best;
  Scored top = best_scale(errors, variances, noise, best.degrees);
  best.scale = top.scale;
  // A shape is taken up only where the rows ask for it: a nat for the parameter.
  top.value += 1;
  for (const double degrees : kDegrees) {
    const Scored found = best_scale(errors, variances, noise, degrees);
    if (found.value > top.value) top = found, best = {degrees, found.scale};
  }
  return best;
}

}  // namespace dma
