// Counts, x being a Gaussian unknown:
//
//   poisson            y events of mean exposure exp(x)
//   binomial           y of n trials succeed, each with probability p = 1 / (1 + exp(-x))
//   beta_binomial      the same, where p itself varies: beta(c m, c (1 - m)) of mean m = 1 / (1 + exp(-x)), c its
//                      concentration
//   negative_binomial  a Poisson count whose rate varies: gamma of mean exposure exp(x) and the given shape r; its
//                      variance is mean + mean^2 / r
//
// and poisson_draw: a Poisson count of mean exposure times the rate, a gamma variable. An observation adds y to its
// shape and the exposure to its rate, exactly; the evidence is negative binomial.
#pragma once

#include <array>
#include <span>

#include "engine/messages/family.h"
#include "factors/families/gamma.h"

namespace dma {

struct Poisson {
  static double log_density(double x, double y, std::span<const double> exposure);
};
struct Binomial {
  static double log_density(double x, double y, std::span<const double> trials);
};
struct BetaBinomial {
  static double log_density(double x, double y, std::span<const double> trials_and_concentration);
};
struct NegativeBinomial {
  static double log_density(double x, double y, std::span<const double> shape_and_exposure);
};

struct PoissonDraw {
  static Gamma to_rate(const Gaussian& y, std::array<double, 1> exposure);
  static double log_integral(Components arrivals, double exposure);  // arguments: the rate and y
};

}  // namespace dma
