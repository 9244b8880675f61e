// The paper's tasks as the experiments use them: data, the range they come from, where they are scored.
#pragma once

#include <string>
#include <vector>

#include "models/network/bnn.h"
#include "tools/dma/io/paper_tasks.h"

namespace dma::reproduce {

struct Task {
  std::string name;  // small, mismatch or large
  validation::PaperTask data = {};
  double low = 0, high = 0;  // the training range
  double beyond = 1.5;       // reach of extrapolation on each side
  LearnOptions fit = {};     // the paper's batches, epochs and tolerance
  int optimiser_epochs = 200;

  // Evenly spaced raw inputs: in the training range, or half on each side of it.
  std::vector<double> inside(int count) const;
  std::vector<double> outside(int count) const;
  // Over both, for pictures.
  std::vector<double> everywhere(int count) const;

  Eigen::MatrixXd features(const std::vector<double>& x) const;
  Eigen::MatrixXd truth(const std::vector<double>& x) const;
};

// `name`: small (App. E), mismatch (F) or large (G).
Task make_task(const std::string& name, std::uint64_t seed);

}  // namespace dma::reproduce
