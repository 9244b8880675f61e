#include "tools/dma/page/calibration.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/support/special_functions.h"
#include "engine/support/whole_number.h"
#include "models/table/scores.h"

namespace dma::report {

namespace {

StatedFraction with_chance(double stated, double found, std::size_t rows) {
  StatedFraction fraction{stated, found, stated, stated, rows};
  if (rows == 0 || !(stated > 0 && stated < 1)) return fraction;
  // A quantile is the least count that is reached with that probability, below as above. So far below the mean no count
  // has any.
  const double n = static_cast<double>(rows), mean = n * stated, sd = std::sqrt(mean * (1 - stated));
  const auto probability = [&](double k) {
    return std::exp(log_gamma(n + 1) - log_gamma(k + 1) - log_gamma(n - k + 1) + k * std::log(stated) +
                    (n - k) * std::log1p(-stated));
  };
  double count = std::max(0.0, std::floor(mean - 10 * sd)), reached = probability(count);
  const auto quantile = [&](double level) {
    while (reached < level && count < n) reached += probability(++count);
    return count;
  };
  fraction.low = quantile(0.025) / n;
  fraction.high = quantile(0.975) / n;
  return fraction;
}

template <class IsTrue>
StatedFraction counted(double stated, const Eigen::VectorXd& below, const IsTrue& is_true) {
  std::size_t hits = 0;
  for (const double mass : below) hits += is_true(mass) ? 1 : 0;
  const auto rows = static_cast<std::size_t>(below.size());
  return with_chance(stated, static_cast<double>(hits) / static_cast<double>(rows), rows);
}

std::vector<double> levels() {
  std::vector<double> all;
  for (int percent = 5; percent <= 95; percent += 5) all.push_back(percent / 100.0);
  return all;
}

}  // namespace

std::vector<StatedFraction> coverage_curve(const Eigen::VectorXd& below) {
  std::vector<StatedFraction> curve;
  std::vector<double> masses = levels();
  masses.push_back(0.99);
  for (const double mass : masses)
    curve.push_back(counted(mass, below, [&](double b) { return std::abs(b - 0.5) <= 0.5 * mass; }));
  return curve;
}

std::vector<StatedFraction> quantile_curve(const Eigen::VectorXd& below) {
  std::vector<StatedFraction> curve;
  for (const double p : levels()) curve.push_back(counted(p, below, [&](double b) { return b <= p; }));
  return curve;
}

std::vector<StatedFraction> reliability_curve(const Eigen::MatrixXd& probabilities,
                                           std::span<const Eigen::Index> classes) {
  constexpr std::size_t kBins = 10;
  struct Bin {
    double confidence = 0, hits = 0;
    std::size_t rows = 0;
  };
  std::array<Bin, kBins> bins{};
  const std::vector<Eigen::Index> found = most_probable(probabilities);
  for (std::size_t n = 0; n < found.size(); ++n) {
    const double confidence = probabilities(static_cast<Eigen::Index>(n), found[n]);
    Bin& bin = bins[whole_number<std::size_t>(confidence * kBins, 0, kBins - 1)];
    bin.confidence += confidence;
    bin.hits += found[n] == classes[n] ? 1 : 0;
    ++bin.rows;
  }
  std::vector<StatedFraction> curve;
  for (const Bin& bin : bins)
    if (bin.rows > 0)
      curve.push_back(with_chance(std::min(1.0, bin.confidence / static_cast<double>(bin.rows)),
                                  bin.hits / static_cast<double>(bin.rows), bin.rows));
  return curve;
}

Eigen::MatrixX<Eigen::Index> confusion(const Eigen::MatrixXd& probabilities, std::span<const Eigen::Index> classes) {
  Eigen::MatrixX<Eigen::Index> counts = Eigen::MatrixX<Eigen::Index>::Zero(probabilities.cols(), probabilities.cols());
  const std::vector<Eigen::Index> found = most_probable(probabilities);
  for (std::size_t n = 0; n < found.size(); ++n) ++counts(classes[n], found[n]);
  return counts;
}

}  // namespace dma::report
