// A linear function with Gaussian noise: f(x_1, ..., x_k, y) = N(y; sum_j A_j x_j + b, variance). Messages are those of
// `linear` combined with those of `gaussian_noise`, all exact. For the joint solver it is one row, so a regression
// needs no variables for its fitted values; a vector with a full covariance is a set of such rows, one per element
// given those before it (models/graphs/expressions.h).
#pragma once

#include "factors/arithmetic/linear.h"
#include "factors/likelihoods/gaussian_noise.h"

namespace dma {

struct GaussianLinear {
  struct Parameters {
    Linear::Parameters line;
    GaussianNoise::Parameters noise;
    static Parameters bind(const ParameterRow& p) { return {Linear::Parameters::bind(p), {p.number(2)}}; }
  };

  static Gaussian to_y(std::span<const Gaussian> x, Parameters p) {
    return GaussianNoise::to_y(Linear::to_y(x, p.line), p.noise);
  }
  static void to_x(std::span<const Gaussian> x, const Gaussian& y, Parameters p, std::span<Gaussian> out) {
    Linear::to_x(x, GaussianNoise::to_x(y, p.noise), p.line, out);
  }

  static void row(const RowCall& call);  // y - A x - b
};

Kind gaussian_linear_density();  // without messages: for joint()

}  // namespace dma
