// One network and its data, and an epoch of it by each of the ways that are compared: the engine with a fused and with
// an unfused plan, the loop written by hand, and Adam. Every epoch ends with the mean log-likelihood of all rows.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/network/bnn.h"
#include "tools/bench/hand_network.h"
#include "tools/dma/io/paper_tasks.h"
#include "tools/experiments/baselines/adam.h"

namespace dma::bench {

struct NetworkCase {
  std::string name;
  validation::PaperTask task;
  std::size_t batches;

  std::size_t weights() const;
  std::size_t rows() const { return static_cast<std::size_t>(task.inputs.rows()); }
  double weights_times_rows() const { return static_cast<double>(weights() * rows()); }
};

// 8-6-5-1 and 6-6-12-48-24-4 of the paper; 13-50-1, 784-100-10 and 1024-1024-1 on random numbers. Made when asked for.
std::vector<std::string> network_names();
NetworkCase network_case(const std::string& name);
// One hidden layer as wide as the inputs, two mini-batches.
inline constexpr int kRowsOfSizes = 100;  // in each of them
NetworkCase square_case(std::size_t width);

std::vector<double> row_by_row(const Eigen::MatrixXd& m);

class NetworkEpochs {
 public:
  enum class Way { fused, unfused, hand, adam };
  explicit NetworkEpochs(const NetworkCase& network);
  void run(Way way);
  // The largest relative difference of a precision of a weight between the way and the hand-written loop, after as many
  // epochs of both.
  double difference(Way way) const;

 private:
  Bnn& learned(Way way);

  const NetworkCase& network_;
  std::vector<double> inputs_, targets_;  // row by row
  std::unique_ptr<Bnn> fused_, unfused_;
  std::unique_ptr<HandNetwork> hand_;
  baselines::Energy energy_;
  Eigen::VectorXd adam_weights_;
};

}  // namespace dma::bench
