#include "models/network/bnn_graph.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

#include "engine/inspect/dot.h"
#include "factors/standard_registry.h"
#include "tests/oracles/random_matrices.h"

namespace {

using namespace dma;
using oracle::random_matrix;

double largest(const Eigen::MatrixXd& m) { return m.cwiseAbs().maxCoeff(); }

// The network in plain loops: a unit with z = w.h + b and v = smoothing^2 |w|^2 gives E[leaky(N(z, v))].
Vector network(const BnnShape& shape, const Vector& m, Vector h) {
  Index at = 0;
  for (std::size_t l = 0; l + 1 < shape.layers.size(); ++l) {
    const auto units = static_cast<Index>(shape.layers[l + 1]), inputs = static_cast<Index>(shape.layers[l]);
    Vector next(units);
    for (Index j = 0; j < units; ++j) {
      const Vector w = m.segment(at + j * inputs, inputs);
      const double z = w.dot(h) + (shape.bias ? m(at + units * inputs + j) : 0), sd = shape.smoothing * w.norm();
      next(j) = z;
      if (l + 2 == shape.layers.size()) continue;
      const double slope = shape.slopes[l], t = z / sd;
      const double above = sd > 0 ? z * 0.5 * std::erfc(-t / std::numbers::sqrt2) +
                                        sd * std::exp(-0.5 * t * t) / std::sqrt(2 * std::numbers::pi)
                                  : std::max(z, 0.0);
      next(j) = slope * z + (1 - slope) * above;
    }
    at += units * static_cast<Index>(shape.fan_in(l));
    h = next;
  }
  return h;
}

}  // namespace

TEST_CASE("network: its row program is the network, with and without smoothing and biases") {
  for (const bool bias : {true, false})
    for (const double smoothing : {0.0, 0.5}) {
      const BnnShape shape{.layers = {3, 6, 5, 2}, .slopes = {0.1, 0.4}, .bias = bias, .smoothing = smoothing};
      const RowProgram program = network_rows(shape);
      const Vector m = draw(program.prior(), 1);
      const Matrix rows = random_matrix(7, 3, 2);
      Matrix f, gains, above, below;
      program.linearise(m, rows, f, gains);
      for (Index n = 0; n < rows.rows(); ++n)
        CHECK(largest(f.row(n).transpose() - network(shape, m, rows.row(n).transpose())) < 1e-13);
      constexpr double kStep = 1e-6;
      for (Index i = 0; i < m.size(); ++i) {
        const Vector unit = Vector::Unit(m.size(), i);
        program.evaluate(m + kStep * unit, rows, above);
        program.evaluate(m - kStep * unit, rows, below);
        CHECK(largest((above - below).reshaped() / (2 * kStep) - gains.col(i)) < 1e-7);
      }
      Index at = 0;
      for (std::size_t l = 0; l < 3; ++l)
        for (std::size_t i = 0; i < shape.fan_in(l) * shape.layers[l + 1]; ++i, ++at) {
          CHECK(program.prior().mean(at) == 0);
          CHECK(program.prior().precision(at) == doctest::Approx(static_cast<double>(shape.fan_in(l))).epsilon(1e-15));
        }
      CHECK(at == program.scalars());
    }
}

TEST_CASE("network: every layer is one matrix product, and its kernel matrix needs no matrix of gains") {
  const RowProgram program = network_rows({.layers = {3, 6, 5, 1}, .slopes = {0.1, 0.4}});
  CHECK(describe(program) ==
        "row program: inputs 3, shared scalars 65, outputs 1, steps 5\n"
        "  affine     z1 (6) = W1 smoothed1 + b1\n"
        "  function   x1 (6) = leaky_relu(z1), averaged over noise\n"
        "  affine     z2 (5) = W2 smoothed2 + b2\n"
        "  function   x2 (5) = leaky_relu(z2), averaged over noise\n"
        "  affine     z3 (1) = W3 x2 + b3\n");
  const Vector m = draw(program.prior(), 1), variance = program.prior().precision.cwiseInverse();
  const Matrix rows = random_matrix(7, 3, 2), others = random_matrix(4, 3, 3);
  Matrix f, gains, other_gains;
  program.linearise(m, others, f, other_gains);
  program.linearise(m, rows, f, gains);
  const auto own = program.gains(m, rows, variance, f), its = program.gains(m, others, variance, f);
  const Matrix kernel = gains * variance.asDiagonal() * gains.transpose();
  CHECK(largest(own->kernel(variance) - kernel) < 1e-12);
  CHECK(largest(own->kernel_with(*its, variance) - gains * variance.asDiagonal() * other_gains.transpose()) < 1e-12);
}
