// The paper's regression task of one input (Section 4 and App. E.1): a network drawn from the prior, seen through noise
// on a part of the line, to be guessed on the rest of it.
#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <vector>

#include "models/bnn_graph.h"

namespace dma {

class RegressionTask {
 public:
  static constexpr double kLow = -2.5, kHigh = 1.5;  // inputs are uniform here
  static constexpr double kNoise = 0.2;              // standard deviation
  static constexpr const char* kFeatureMap = "bumps5";

  // Every weight is drawn from N(its own random mean, prior variance).
  explicit RegressionTask(std::uint64_t seed);

  // The true function.
  Eigen::VectorXd truth(const Eigen::VectorXd& x) const;

  struct Sample {
    Eigen::VectorXd x, y;
  };
  Sample sample(Eigen::Index rows) const;

 private:
  std::uint64_t seed_;
  BnnShape shape_;
  std::vector<Eigen::MatrixXd> weights_;  // per layer, a row per unit
};

}  // namespace dma
