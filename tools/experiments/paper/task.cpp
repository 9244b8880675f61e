#include "tools/experiments/paper/task.h"

#include "engine/support/error.h"

namespace dma::reproduce {

namespace {

std::vector<double> evenly(double low, double high, int count) {
  std::vector<double> x;
  for (int i = 0; i < count; ++i) x.push_back(low + (high - low) * (i + 0.5) / count);
  return x;
}

template <class F>
Eigen::MatrixXd rows_of(const std::vector<double>& x, Eigen::Index columns, const F& row) {
  Eigen::MatrixXd result(static_cast<Eigen::Index>(x.size()), columns);
  for (std::size_t i = 0; i < x.size(); ++i) result.row(static_cast<Eigen::Index>(i)) = row(x[i]);
  return result;
}

}  // namespace

std::vector<double> Task::inside(int count) const { return evenly(low, high, count); }

std::vector<double> Task::outside(int count) const {
  std::vector<double> x = evenly(low - beyond, low, count / 2);
  const std::vector<double> right = evenly(high, high + beyond, count - count / 2);
  x.insert(x.end(), right.begin(), right.end());
  return x;
}

std::vector<double> Task::everywhere(int count) const { return evenly(low - beyond, high + beyond, count); }

Eigen::MatrixXd Task::features(const std::vector<double>& x) const {
  return rows_of(x, data.inputs.cols(), data.features);
}
Eigen::MatrixXd Task::truth(const std::vector<double>& x) const { return rows_of(x, data.targets.cols(), data.truth); }

Task make_task(const std::string& name, std::uint64_t seed) {
  if (name == "small")
    return {.name = name,
            .data = validation::small_task(seed),
            .low = -2.5,
            .high = 1.5,
            .fit = {.batches = 10, .epochs = 200, .tolerance = 0.1}};
  if (name == "mismatch")
    return {.name = name,
            .data = validation::mismatch_task(seed),
            .low = -5,
            .high = 5,
            .fit = {.batches = 10, .epochs = 200, .tolerance = 0.1}};
  if (name == "large")
    return {.name = name,
            .data = validation::large_task(seed),
            .low = -4,
            .high = 4,
            .beyond = 2,
            .fit = {.batches = 100, .epochs = 100, .tolerance = 0.1},
            .optimiser_epochs = 100};
  fail("there is no task '{}'; known: large, mismatch, small", name);
}

}  // namespace dma::reproduce
