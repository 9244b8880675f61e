// The paper's regression tasks (App. E.1, F and G): data from a network drawn from the prior.
#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <functional>
#include <vector>

namespace dma::validation {

struct PaperTask {
  std::vector<std::size_t> layers;
  std::vector<double> slopes;
  double noise;
  Eigen::MatrixXd inputs;  // features, one row per example
  Eigen::MatrixXd targets;
  std::function<Eigen::RowVectorXd(double)> truth;     // noise-free outputs at a raw input
  std::function<Eigen::RowVectorXd(double)> features;  // features of a raw input
  Eigen::VectorXd raw_inputs = {};                     // one per example
};

// 8-6-5-1, 200 examples on [-2.5, 1.5], noise 0.2.
PaperTask small_task(std::uint64_t seed);
// Data of an 8-12-10-1 network on [-5, 5] for a model of 8-6-5-1 (App. F): `layers` are the model's.
PaperTask mismatch_task(std::uint64_t seed);
// 6-6-12-48-24-4, 1500 examples on [-4, 4], noise 0.1.
PaperTask large_task(std::uint64_t seed);

}  // namespace dma::validation
