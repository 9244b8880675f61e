#include "tools/bench/paper_medians.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <vector>

#include "models/bnn.h"
#include "tools/validation/paper_tasks.h"

namespace dma::bench {

namespace {

constexpr int kPointsPerSide = 30;

double quantile(std::vector<double> values, double probability) {
  std::ranges::sort(values);
  const double place = probability * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const auto above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
}

// Evenly spaced raw inputs to the left and to the right of the data.
std::vector<double> extrapolated() {
  std::vector<double> x;
  for (const auto& [low, high] : {std::pair(-4.0, -2.5), std::pair(1.5, 3.0)})
    for (int i = 0; i < kPointsPerSide; ++i) x.push_back(low + (high - low) * (i + 0.5) / kPointsPerSide);
  return x;
}

// How far the share of points inside central intervals is from the intervals' probability, on average over 5% ... 95%.
double coverage_deviation(const std::vector<double>& z) {
  double sum = 0;
  constexpr int kLevels = 19;
  for (int k = 1; k <= kLevels; ++k) {
    const double level = k / (kLevels + 1.0), reach = std::sqrt(2.0) * boost::math::erf_inv(level);
    const auto inside = std::ranges::count_if(z, [&](double value) { return std::abs(value) <= reach; });
    sum += static_cast<double>(inside) / static_cast<double>(z.size()) - level;
  }
  return sum / kLevels;
}

struct Result {
  double epochs = 0, train_nll = 0, extrapolation_nll = 0, spread = 0, coverage = 0, faults = 0;
};

Result fit(std::uint64_t seed) {
  const validation::PaperTask task = validation::small_task(seed);
  Bnn net({.layers = task.layers, .slopes = task.slopes, .noise = task.noise, .seed = seed});
  const FitReport report = net.fit(task.inputs, task.targets, {.batches = 10, .epochs = 200, .tolerance = 0.1});
  const std::vector<double> x = extrapolated();
  Eigen::MatrixXd features(x.size(), task.inputs.cols()), truth(x.size(), 1);
  for (std::size_t i = 0; i < x.size(); ++i) {
    features.row(static_cast<Eigen::Index>(i)) = task.features(x[i]);
    truth.row(static_cast<Eigen::Index>(i)) = task.truth(x[i]);
  }
  const Prediction prediction = net.predict(features);
  std::vector<double> z;  // of the noise-free truth, in predicted standard deviations, which include the noise
  for (Eigen::Index i = 0; i < truth.rows(); ++i) z.push_back((truth(i, 0) - prediction.mean(i, 0)) / prediction.sd(i, 0));
  Result result;
  result.epochs = static_cast<double>(report.members[0].epochs.size());
  result.train_nll = -report.members[0].epochs.back().log_likelihood;
  result.extrapolation_nll = -prediction.log_density(truth).mean();
  result.spread = quantile(z, 0.75) - quantile(z, 0.25);
  result.coverage = coverage_deviation(z);
  result.faults = static_cast<double>(report.members[0].faults);
  return result;
}

}  // namespace

std::string paper_medians(int seeds) {
  std::vector<Result> results;
  for (int seed = 1; seed <= seeds; ++seed) results.push_back(fit(static_cast<std::uint64_t>(seed)));
  std::string text = fmt::format("8-6-5-1 over {} seeds: median (quartiles){:>26}{:>12}\n", seeds, "plain loops", "paper");
  const auto line = [&](std::string_view name, double Result::*value, std::string_view expected, std::string_view paper) {
    std::vector<double> values;
    for (const Result& r : results) values.push_back(r.*value);
    text += fmt::format("  {:<24}{:>8.2f} ({:.2f} to {:.2f}){:>22}{:>12}\n", name, quantile(values, 0.5),
                        quantile(values, 0.25), quantile(values, 0.75), expected, paper);
  };
  line("epochs", &Result::epochs, "6", "16");
  line("train NLL", &Result::train_nll, "-0.10", "-0.16");
  line("extrapolation NLL", &Result::extrapolation_nll, "0.87 to 1.2", "0.80");
  line("IQR", &Result::spread, "1.87", "1.95");
  line("coverage deviation", &Result::coverage, "-0.14 to -0.22", "-0.09");
  line("refused messages", &Result::faults, "0", "0");
  return text;
}

}  // namespace dma::bench
