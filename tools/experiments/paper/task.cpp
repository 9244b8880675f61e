#include "tools/experiments/paper/task.h"

#include "engine/support/text.h"

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
  Task task{.name = name, .fit = {.batches = 10, .epochs = 200, .tolerance = 0.1}};
  if (name == "small") {
    task.data = validation::small_task(seed);
    task.low = -2.5;
    task.high = 1.5;
  } else if (name == "mismatch") {
    task.data = validation::mismatch_task(seed);
    task.low = -5;
    task.high = 5;
  } else if (name == "large") {
    task.data = validation::large_task(seed);
    task.low = -4;
    task.high = 4;
    task.beyond = 2;
    task.fit.batches = 100;
    task.fit.epochs = task.optimiser_epochs = 100;
  } else {
    fail("there is no task '{}'; known: large, mismatch, small", name);
  }
  return task;
}

}  // namespace dma::reproduce
