// Moments by adaptive Gauss-Kronrod quadrature of the defining integral: independent of every formula in the paper.
#pragma once

#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <cmath>

#include "engine/messages/gaussian.h"

namespace dma::oracle {

// Twelve standard deviations leave out 4e-33 of the mass, and of the second moment little more.
inline constexpr double kReach = 12;

template <typename Integrand>
double integral(const Integrand& integrand, double from, double to) {
  constexpr unsigned kDepth = 10;
  constexpr double kTolerance = 1e-13;
  return boost::math::quadrature::gauss_kronrod<double, 31>::integrate(integrand, from, to, kDepth, kTolerance);
}

// Integral of f(x) N(x; mean, variance) dx, split at a kink of f.
template <typename Function>
double expectation(const Function& f, const Gaussian& x, double kink) {
  const double mean = x.mean(), sd = x.sd();
  const auto integrand = [&](double t) { return f(t) * std::exp(log_density(x, t)); };
  const double low = mean - kReach * sd, high = mean + kReach * sd;
  if (kink <= low || kink >= high) return integral(integrand, low, mean) + integral(integrand, mean, high);
  return integral(integrand, low, kink) + integral(integrand, kink, high);
}

template <typename Function>
double expectation(const Function& f, const Gaussian& x) {
  return expectation(f, x, x.mean());
}

}  // namespace dma::oracle
