#include "models/network/network_rows.h"

#include <doctest/doctest.h>

#include "engine/learn/joint/graph_rows.h"
#include "factors/standard_registry.h"
#include "models/network/bnn_graph.h"
#include "tests/oracles/random_matrices.h"

namespace {

using namespace dma;
using oracle::random_matrix;

NetworkRows deep(double smoothing) {
  return NetworkRows({.layers = {3, 6, 5, 2}, .slopes = {0.1, 0.4}, .bias = true, .smoothing = smoothing});
}

double largest(const Eigen::MatrixXd& m) { return m.cwiseAbs().maxCoeff(); }

}  // namespace

TEST_CASE("network rows: gains are the derivatives, with and without smoothing and biases") {
  for (const bool bias : {true, false})
    for (const double smoothing : {0.0, 0.5}) {
      const NetworkRows model({.layers = {3, 6, 5, 2}, .slopes = {0.1, 0.4}, .bias = bias, .smoothing = smoothing});
      const Vector m = model.draw(1);
      const Matrix rows = random_matrix(7, 3, 2);
      Matrix f, gains, above, below;
      model.linearise(m, rows, f, gains);
      constexpr double kStep = 1e-6;
      for (Index i = 0; i < m.size(); ++i) {
        const Vector unit = Vector::Unit(m.size(), i);
        model.evaluate(m + kStep * unit, rows, above);
        model.evaluate(m - kStep * unit, rows, below);
        CHECK(largest((above - below).reshaped() / (2 * kStep) - gains.col(i)) < 1e-7);
      }
      model.evaluate(m, rows, above);
      CHECK(largest(above - f) < 1e-13);
    }
}

TEST_CASE("network rows: kernels and products by layers are those of the dense gains") {
  const NetworkRows model = deep(0.5);
  const Vector m = model.draw(1), variance = model.prior().precision.cwiseInverse();
  const Matrix rows = random_matrix(7, 3, 2), others = random_matrix(4, 3, 3);
  Matrix f, gains, other_gains;
  model.linearise(m, others, f, other_gains);
  model.linearise(m, rows, f, gains);
  Matrix g;
  const auto structured = model.gains(m, rows, variance, g), structured_others = model.gains(m, others, variance, g);
  CHECK(dynamic_cast<const DenseGains*>(structured.get()) == nullptr);
  const Matrix kernel = gains * variance.asDiagonal() * gains.transpose();
  CHECK(largest(structured->kernel(variance) - kernel) < 1e-12);
  CHECK(largest(structured->kernel_diagonal(variance) - kernel.diagonal()) < 1e-12);
  CHECK(largest(structured->kernel_with(*structured_others, variance) -
                gains * variance.asDiagonal() * other_gains.transpose()) < 1e-12);
  const Vector u = random_matrix(m.size(), 1, 4), e = random_matrix(14, 1, 5);
  CHECK(largest(structured->forward(u) - gains * u) < 1e-12);
  CHECK(largest(structured->backward(e) - gains.transpose() * e) < 1e-12);
  Vector uneven = variance;
  uneven(1) *= 2;
  CHECK(dynamic_cast<const DenseGains*>(model.gains(m, rows, uneven, g).get()) != nullptr);
}

TEST_CASE("network rows: the graph of the network is the same row model") {
  const NetworkRows model = deep(0);
  const BnnShape shape{{3, 6, 5, 2}, {0.1, 0.4}, true, std::vector<double>(3, kInfinity)};
  std::vector<LayerPrior> priors;
  for (std::size_t l = 0; l < 3; ++l) {
    const std::size_t fan_in = shape.layers[l] + 1, count = fan_in * shape.layers[l + 1];
    priors.push_back({std::vector<double>(count, 0.0), std::vector<double>(count, 1 / static_cast<double>(fan_in))});
  }
  const BnnGraph net = build_bnn_graph(shape, priors, {0.04, 0.09});
  const Registry registry = standard_registry();
  const GraphRows by_graph(net.graph, registry, {net.outputs});
  REQUIRE(by_graph.scalars() == model.scalars());
  CHECK(by_graph.noise() == std::vector<double>{0.04, 0.09});
  CHECK(largest(by_graph.prior().precision - model.prior().precision) < 1e-12);
  const Vector m = model.draw(1);
  const Matrix rows = random_matrix(9, 3, 2);
  Matrix f, gains, graph_f, graph_gains;
  model.linearise(m, rows, f, gains);
  by_graph.linearise(m, rows, graph_f, graph_gains);
  CHECK(largest(f - graph_f) < 1e-10);
  CHECK(largest(gains - graph_gains) < 1e-10);
  by_graph.evaluate(m, rows, graph_f);
  CHECK(largest(f - graph_f) < 1e-10);
}
