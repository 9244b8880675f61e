// A line that the tests of the message learner learn, and what these tests begin with.
#pragma once

#include "engine/learn/messages/learner.h"
#include "engine/learn/messages/stored_messages.h"
#include "tests/oracles/random_matrices.h"
#include "tests/oracles/solved.h"

namespace dma::oracle {

// y = w . x + noise: the graph of one example. Every weight has the prior N(0.5, 2), if any.
struct LearnedLine {
  static constexpr double kPriorMean = 0.5, kPriorVariance = 2, kNoise = 0.3;
  explicit LearnedLine(std::size_t inputs, bool has_prior = true)
      : w(graph.shared("w", inputs)), x(graph.observed("x", inputs)), y(graph.observed("y")) {
    const VariableId p = graph.variable("p", inputs), z = graph.variable("z");
    if (has_prior) graph.factor("gaussian_prior", {w}, {{"mean", kPriorMean}, {"variance", kPriorVariance}});
    graph.factor("product", {w, x, p});
    graph.factor("sum", {p, z});
    graph.factor("gaussian_noise", {z, y}, {{"variance", kNoise}});
  }
  Learner learner(LearnOptions options, const CompileOptions& compiled = {}) const {
    options.targets = {y};
    return {graph, standard_registry(), forward_backward(), forward(), std::move(options), compiled};
  }
  Graph graph;
  VariableId w, x, y;
};

// Examples whose weights are 1, 2, ...
struct LineExamples {
  LineExamples(std::size_t rows, std::size_t inputs, std::uint64_t seed = 5) {
    const Eigen::MatrixXd normal =
        random_matrix(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(inputs + 1), seed);
    for (Eigen::Index n = 0; n < normal.rows(); ++n) {
      y.push_back(std::sqrt(LearnedLine::kNoise) * normal(n, normal.cols() - 1));
      for (Eigen::Index j = 0; j + 1 < normal.cols(); ++j) {
        x.push_back(normal(n, j) + 0.3);
        y.back() += static_cast<double>(1 + j) * x.back();
      }
    }
  }
  Data data(const LearnedLine& model) const { return {{model.x, x}, {model.y, y}}; }
  std::vector<double> x, y;
};

}  // namespace dma::oracle
