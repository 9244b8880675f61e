#include "tools/experiments/paper/paper_run.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "engine/support/whole_number.h"

namespace dma::validation {

namespace {

constexpr int kPointsPerSide = 30;
constexpr double kBeyond = 1.5;

std::vector<double> points_beyond(double low, double high) {
  std::vector<double> x;
  for (int i = 0; i < kPointsPerSide; ++i) {
    const double far = kBeyond * (i + 0.5) / kPointsPerSide;
    x.push_back(low - far);
    x.push_back(high + far);
  }
  return x;
}

// The fraction of values whose distance from the median of their prediction is within the central interval.
double fraction_inside(const Eigen::MatrixXd& cumulative, double level) {
  const auto inside = ((cumulative.array() - 0.5).abs() <= 0.5 * level).count();
  return static_cast<double>(inside) / static_cast<double>(cumulative.size());
}

}  // namespace

PaperRun run_paper_task(const PaperTask& task, double low, double high, const std::string& method, std::uint64_t seed,
                        const LearnOptions& fit) {
  const auto start = std::chrono::steady_clock::now();
  Bnn net({.layers = task.layers,
           .slopes = task.slopes,
           .noise = task.noise,
           .bias = false,
           .standardise = false,
           .method = method,
           .seed = seed});
  const FitReport report = net.fit(task.inputs, task.targets, fit);
  PaperRun run;
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const std::vector<double> x = points_beyond(low, high);
  Eigen::MatrixXd features(x.size(), task.inputs.cols()), truth(x.size(), task.targets.cols());
  for (std::size_t i = 0; i < x.size(); ++i) {
    features.row(static_cast<Eigen::Index>(i)) = task.features(x[i]);
    truth.row(static_cast<Eigen::Index>(i)) = task.truth(x[i]);
  }
  const Prediction prediction = net.predict(features);
  const Eigen::MatrixXd cumulative = prediction.cumulative(truth);
  constexpr int kLevels = 19;  // 5 % ... 95 %
  for (int k = 1; k <= kLevels; ++k) {
    const double level = k / (kLevels + 1.0);
    run.coverage_deviation += (fraction_inside(cumulative, level) - level) / kLevels;
  }
  run.coverage_95 = fraction_inside(cumulative, 0.95);
  run.epochs = static_cast<double>(report.members[0].epochs.size());
  run.train_nll = -net.predict(task.inputs).log_density(task.targets).mean();
  run.extrapolation_nll = -prediction.log_density(truth).mean();
  run.refused = static_cast<double>(report.members[0].faults);
  run.replaced = static_cast<double>(report.members[0].replaced);
  return run;
}

double quantile(std::vector<double> values, double probability) {
  std::ranges::sort(values);
  const double place = probability * static_cast<double>(values.size() - 1);
  const auto below = whole_number<std::size_t>(place, 0, values.size() - 1);
  const auto above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
}

}  // namespace dma::validation
