#include "models/table/noise.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "engine/support/log_sum_exp.h"
#include "engine/support/maximise.h"
#include "engine/support/shuffle.h"
#include "engine/support/text.h"
#include "engine/support/whole_number.h"

namespace dma {

namespace {

// Up to a constant.
double log_likelihood(std::span<const ComponentPredictions> components, std::span<const double> targets, double b,
                      std::size_t begin, std::size_t end) {
  const auto log_density = [&](const ComponentPredictions& c, std::size_t n) {
    const double variance = c.variances[n] + b, off = targets[n] - c.means[n];
    return -0.5 * (std::log(variance) + off * off / variance);
  };
  double sum = 0;
  std::vector<double> logs(components.size());
  for (std::size_t n = begin; n < end; ++n) {
    for (std::size_t k = 0; k < components.size(); ++k) logs[k] = log_density(components[k], n);
    sum += components.size() == 1 ? logs[0] : log_sum_exp(logs);
  }
  return sum;
}

}  // namespace

double most_likely_noise(std::span<const ComponentPredictions> components, std::span<const double> targets,
                         double smallest, double largest, const TeamSum* sum) {
  constexpr double kGridStep = 0.7;  // log 2
  largest = std::min(largest, std::numeric_limits<double>::max());
  const double low = std::log(smallest), width = std::log(largest) - low;
  const auto steps = whole_number(std::ceil(width / kGridStep), 1, 3000);  // doubles span 2100
  const auto place = [&](int i) { return low + width * std::clamp(i, 0, steps) / steps; };
  const auto cost = [&](double log_b) {
    const auto part = [&](std::size_t begin, std::size_t end) {
      return -log_likelihood(components, targets, std::exp(log_b), begin, end);
    };
    return sum != nullptr ? (*sum)(part) : part(0, targets.size());
  };
  int best = 0;
  double least = cost(place(0));
  for (int i = 1; i <= steps; ++i)
    if (const double here = cost(place(i)); here < least) best = i, least = here;
  constexpr int kBits =
      std::numeric_limits<double>::digits / 2;  // more cannot be told from the values of a smooth function
  const auto [log_b, found] = minimise(cost, place(best - 1), place(best + 1), kBits);
  if (found < least) return std::clamp(std::exp(log_b), smallest, largest);
  return best == 0 ? smallest : best == steps ? largest : std::exp(place(best));
}

double step_of(const Eigen::VectorXd& values) {
  constexpr double kMost = 0.9;                                             // fraction of the values
  constexpr double kRounding = 8 * std::numeric_limits<double>::epsilon();  // rounding of differences of such values
  constexpr double kDigitsLeft = 0.01;  // rounding by as much leaves no digit to look at
  constexpr int kFewestDecimals = -15;
  const double largest = values.size() == 0 ? 0.0 : values.cwiseAbs().maxCoeff();
  if (!(largest > 0)) return 1;  // whole numbers
  const Eigen::ArrayXd scaled = values / largest;
  const double enough = kMost * static_cast<double>(values.size());
  double step = 0;
  for (int d = kFewestDecimals; step == 0; ++d) {
    const double power = std::pow(10.0, d) * largest;
    if (!(kRounding * power < kDigitsLeft)) break;
    const Eigen::ArrayXd whole = scaled * power;
    if (static_cast<double>(((whole - whole.round()).abs() <= kRounding * power).count()) >= enough)
      step = std::pow(10.0, -d);
  }
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  double least_gap = std::numeric_limits<double>::infinity(), last = -least_gap;
  std::size_t repeated = 0;
  for (std::size_t first = 0, end = 0; first < sorted.size(); first = end) {
    while (end < sorted.size() && sorted[end] == sorted[first]) ++end;
    if (end - first < 2) continue;
    repeated += end - first;
    least_gap = std::min(least_gap, sorted[first] - last), last = sorted[first];
  }
  const bool is_seen = static_cast<double>(repeated) >= enough && std::isfinite(least_gap);
  return is_seen ? std::max(step, least_gap) : step;
}

Eigen::VectorXd least_noise_of(const Eigen::MatrixXd& targets, const Standardiser& units) {
  constexpr double kLeast = 1e-10, kMost = 0.01;
  Eigen::VectorXd all(targets.cols());
  for (Eigen::Index k = 0; k < targets.cols(); ++k) {
    const double rounding = std::numeric_limits<double>::epsilon() * targets.col(k).cwiseAbs().maxCoeff(),
                 scale = units.scale(k) * (units.is_log(k) ? median(targets.col(k)) : 1),
                 step = std::max(step_of(targets.col(k)), rounding) / scale;
    all(k) = std::clamp(step * step / 12, kLeast, kMost);
  }
  return all;
}

const std::vector<std::string>& noise_models() {
  static const std::vector<std::string> names = {"choose", "constant", "inputs"};
  return names;
}

const std::string& name_of(NoiseModel model) { return noise_models()[static_cast<std::size_t>(model)]; }

NoiseModel noise_model_named(std::string_view name) {
  const auto found = std::ranges::find(noise_models(), name);
  if (found == noise_models().end()) fail("there is no noise model '{}'{}", name, suggestion(name, noise_models()));
  return static_cast<NoiseModel>(found - noise_models().begin());
}

}  // namespace dma
