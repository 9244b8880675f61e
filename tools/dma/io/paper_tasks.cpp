#include "tools/dma/io/paper_tasks.h"

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_real_distribution.hpp>
#include <cmath>
#include <memory>

#include "models/table/feature_map.h"

namespace dma::validation {

namespace {

PaperTask make(std::vector<std::size_t> layers, std::vector<double> slopes, double noise, const char* map, int examples,
               double low, double high, std::uint64_t seed) {
  boost::random::mt19937_64 random(seed);
  boost::random::normal_distribution<double> normal;
  PaperTask task{std::move(layers), std::move(slopes), noise, {}, {}, {}, {}, {}};
  std::vector<Eigen::MatrixXd> weights;
  const auto learnable = static_cast<double>(task.layers.size() - 1);
  for (std::size_t l = 0; l + 1 < task.layers.size(); ++l) {
    const auto fan_in = static_cast<double>(task.layers[l]);
    Eigen::MatrixXd w(task.layers[l + 1], task.layers[l]);
    for (double& value : w.reshaped()) {
      value = normal(random) / std::sqrt(fan_in);
      value += normal(random) / std::sqrt(learnable * fan_in);
    }
    weights.push_back(w);
  }
  const auto feature_map = std::make_shared<FeatureMap>(map);
  task.features = [feature_map](double x) {
    return Eigen::RowVectorXd(feature_map->apply(Eigen::MatrixXd::Constant(1, 1, x)));
  };
  task.truth = [weights, slopes = task.slopes, features = task.features](double x) {
    Eigen::VectorXd a = features(x).transpose();
    for (std::size_t l = 0; l < weights.size(); ++l) {
      a = weights[l] * a;
      if (l + 1 < weights.size()) a = a.unaryExpr([&](double z) { return z > 0 ? z : slopes[l] * z; }).eval();
    }
    return Eigen::RowVectorXd(a.transpose());
  };
  task.inputs.resize(examples, static_cast<Eigen::Index>(task.layers.front()));
  task.raw_inputs.resize(examples);
  task.targets.resize(examples, static_cast<Eigen::Index>(task.layers.back()));
  boost::random::uniform_real_distribution<double> uniform(low, high);
  for (int n = 0; n < examples; ++n) {
    const double x = uniform(random);
    task.raw_inputs(n) = x;
    task.inputs.row(n) = task.features(x);
    task.targets.row(n) = task.truth(x);
    for (double& y : task.targets.row(n)) y += noise * normal(random);
  }
  return task;
}

}  // namespace

PaperTask small_task(std::uint64_t seed) { return make({8, 6, 5, 1}, {0.4, 0.8}, 0.2, "bumps5", 200, -2.5, 1.5, seed); }
PaperTask mismatch_task(std::uint64_t seed) {
  PaperTask task = make({8, 12, 10, 1}, {0.4, 0.8}, 0.2, "bumps5", 200, -5, 5, seed);
  task.layers = {8, 6, 5, 1};
  return task;
}
PaperTask large_task(std::uint64_t seed) {
  return make({6, 6, 12, 48, 24, 4}, {0.5, 0.5, 0.8, 0.1}, 0.1, "bumps3", 1500, -4, 4, seed);
}

}  // namespace dma::validation
