// Moments by adaptive Gauss-Kronrod quadrature of the defining integral: independent of every formula in the paper.
#pragma once

#include <functional>

#include "engine/messages/gaussian.h"

namespace dma::oracle {

using Function = std::function<double(double)>;  // not a template: Boost's rule is compiled once, not per lambda

// Twelve standard deviations omit 4e-33 of the mass, and little more of the second moment.
inline constexpr double kReach = 12;

double integral(const Function& f, double from, double to);

// Integral of f(x) N(x; mean, variance) dx, split at a kink of f.
double expectation(const Function& f, const Gaussian& x, double kink);
double expectation(const Function& f, const Gaussian& x);

// Mass, mean and variance of N(x; in) f(x), with f smooth except for a kink.
struct Matched {
  double mass, mean, variance;
};
Matched matched(const Function& f, const Gaussian& in, double kink);
Matched matched(const Function& f, const Gaussian& in);

}  // namespace dma::oracle
