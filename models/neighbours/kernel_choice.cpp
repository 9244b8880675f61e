#include "models/neighbours/kernel_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/support/maximise.h"
#include "engine/support/parallel.h"
#include "engine/support/shuffle.h"

namespace dma {

namespace {

constexpr double kLeastNoiseToSignal = 1e-8;  // keeps equal rows from making C singular
constexpr double kMatters = 0.1;              // relevance from which on a column gets a lengthscale of its own
// Prior sd: of the shift of all logarithms of lengthscales, of a column's own, of logarithms of variances.
constexpr double kShiftSd = 1, kOwnSd = 2, kVarianceSd = 3;
// The first steps ask few rows, which are nearly as good a guide.
constexpr Index kFirstRows = 200;
constexpr int kFirstSteps = 20, kSteps = 15;
constexpr double kTolerance = 4;  // nats by one unit of a logarithm
// A function that changes many times over the table looks like noise to long lengthscales: shorter ones are tried too.
constexpr double kShorter[] = {0.0, 1.5, 3.0};
constexpr double kLeftByLine[] = {0.5, 0.02};  // fractions of the variance

// By densities given neighbours: so many of each row, sought anew after each of these rounds of steps.
constexpr Index kFew = 24;
constexpr int kRounds = 2, kNearSteps = 12;

using Objective = std::function<double(const Vector&, Vector&)>;

Vector most_probable(const Objective& log_density, Vector start, double rows, int steps) {
  const auto per_row = [&](const Vector& at, Vector& gradient) {
    const double value = log_density(at, gradient);
    gradient /= rows;
    return value / rows;
  };
  return maximise(per_row, std::move(start), {.tolerance = kTolerance / rows, .limit = steps}).at;
}

}  // namespace

KernelNumbers::KernelNumbers(Vector relevance, bool by_column, double least_noise)
    : relevance_(std::move(relevance)),
      usual_(0.5 * (std::log(relevance_.sum()) - relevance_.array().log())),
      least_noise_(least_noise) {
  for (Index j = 0; by_column && j < relevance_.size(); ++j)
    if (relevance_(j) >= kMatters) own_.push_back(j);
}

KernelNumbers::Setting KernelNumbers::at(const Vector& numbers, double constant) const {
  const auto shifts = numbers.segment(1, static_cast<Index>(own_.size()));
  const auto rest = numbers.tail(3).array().exp();
  Vector logs = usual_.array() + numbers(0);
  logs(own_) += shifts;
  return {{logs.array().exp(), rest(0), least_noise_ + kLeastNoiseToSignal * rest(0) + rest(1)},
          {relevance_, rest(2), constant}};
}

Vector KernelNumbers::of(const Setting& setting) const {
  const auto& [lengthscales, signal, noise] = setting.kernel;
  const Vector away = lengthscales.array().log() - usual_.array();
  const double shift = own_.empty() ? away.mean() : away(own_).mean(),
               above = std::max(noise - least_noise_ - kLeastNoiseToSignal * signal, 1e-3 * noise);
  Vector numbers(size());
  numbers << shift, away(own_).array() - shift, std::log(signal), std::log(above), std::log(setting.line.slope);
  return numbers;
}

Vector KernelNumbers::start(double variance, double left_by_line) const {
  const double left = left_by_line * variance;
  Vector numbers = Vector::Zero(size());
  numbers.tail(3) << std::log(0.7 * left), std::log(0.3 * left), std::log((variance - left) / relevance_.sum());
  return numbers;
}

Vector KernelNumbers::gradient(const Vector& numbers, const Vector& by_logs) const {
  const Index columns = relevance_.size();
  const double signal = std::exp(numbers(size() - 3)), above = std::exp(numbers(size() - 2)),
               by_noise = by_logs(columns + 1) / (least_noise_ + kLeastNoiseToSignal * signal + above);
  Vector found(size());
  found << by_logs.head(columns).sum(), by_logs.head(columns)(own_),
      by_logs(columns) + by_noise * kLeastNoiseToSignal * signal, by_noise * above,
      by_logs.size() > columns + 2 ? by_logs(columns + 2) : 0;
  return found;
}

double KernelNumbers::add_prior(const Vector& numbers, const Vector& middle, Vector& gradient) const {
  Vector precisions = Vector::Constant(size(), 1 / (kOwnSd * kOwnSd));
  precisions(0) = 1 / (kShiftSd * kShiftSd);
  precisions.tail(3).setConstant(1 / (kVarianceSd * kVarianceSd));
  const Vector off = numbers - middle;
  gradient -= precisions.cwiseProduct(off);
  return -0.5 * precisions.dot(off.cwiseAbs2());
}

KernelNumbers::Setting likeliest_process(const ProcessRows& table, const KernelChoice& choice,
                                         const std::vector<KernelNumbers::Setting>& starts) {
  const KernelNumbers numbers(choice.relevance, choice.by_column, choice.least_noise);
  const double rows = total_weight(table.rows.rows(), table.weights),
               variance = weighted_sum(table.targets.cwiseAbs2(), table.weights) / rows;
  const Vector middle = numbers.start(variance, kLeftByLine[0]);
  const auto posterior = [&](const ProcessRows& of) -> Objective {
    return [&](const Vector& at, Vector& gradient) {
      const auto [kernel, line] = numbers.at(at, variance);
      Vector by_logs;
      const double value = log_evidence(of, kernel, line, by_logs);
      gradient = numbers.gradient(at, by_logs);
      return value + numbers.add_prior(at, middle, gradient);
    };
  };
  std::vector<Index> order = random_order(table.rows.rows(), choice.seed);
  order.resize(std::min(order.size(), static_cast<std::size_t>(kMostEvidenceRows)));
  const ProcessRows all = table.some(order);
  Vector at = Vector::Zero(numbers.size());
  for (const KernelNumbers::Setting& one : starts) at += numbers.of(one) / static_cast<double>(starts.size());
  if (starts.empty()) {
    const auto end = order.begin() + std::min(kFirstRows, std::ssize(order));
    const ProcessRows few = table.some({order.begin(), end});
    const Objective of_few = posterior(few);
    double most = -std::numeric_limits<double>::infinity();
    for (const double left : kLeftByLine)
      for (const double shorter : kShorter) {
        Vector there = numbers.start(variance, left), unused;
        there(0) -= shorter;
        if (const double found = of_few(there, unused); !(found <= most)) most = found, at = there;
      }
    at = most_probable(of_few, at, total_weight(few.rows.rows(), few.weights), kFirstSteps);
  }
  if (choice.told) choice.told(0.5);
  if (!starts.empty() || all.rows.rows() > kFirstRows)
    at = most_probable(posterior(all), at, total_weight(all.rows.rows(), all.weights), kSteps);
  return numbers.at(at, variance);
}

NeighbourKernel likeliest_kernel(const Matrix& rows, const Vector& values, const Vector& weights,
                                 const std::vector<Index>& of, const KernelNumbers::Setting& start,
                                 const KernelChoice& choice) {
  const KernelNumbers numbers(choice.relevance, choice.by_column, choice.least_noise);
  const double count = total_weight(std::ssize(of), weights_of(weights, of));
  const Vector middle = numbers.of(start);
  Vector at = middle;
  NeighbourKernel kernel = start.kernel;
  for (int round = 0; round < kRounds; ++round) {
    if (choice.told) choice.told(0.5 + 0.5 * round / kRounds);
    const Matrix scaled = kernel.scaled(rows);
    const IndexMatrix nearest = NearestRows(scaled).find(scaled(of, Eigen::all), kFew, of);
    const Objective posterior = [&](const Vector& there, Vector& gradient) {
      Vector by_logs;
      const double value = count * mean_log_density(numbers.at(there, 1).kernel, rows, values, values, of, nearest,
                                                    by_logs, choice.jobs, weights);
      gradient = numbers.gradient(there, count * by_logs);
      return value + numbers.add_prior(there, middle, gradient);
    };
    at = most_probable(posterior, at, count, kNearSteps);
    kernel = numbers.at(at, 1).kernel;
  }
  return kernel;
}

}  // namespace dma
