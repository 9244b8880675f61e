#include "tests/oracles/quadrature.h"

#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <cmath>

namespace dma::oracle {

double integral(const Function& f, double from, double to) {
  constexpr unsigned kDepth = 10;
  constexpr double kTolerance = 1e-13;
  return boost::math::quadrature::gauss_kronrod<double, 31>::integrate(f, from, to, kDepth, kTolerance);
}

double expectation(const Function& f, const Gaussian& x, double kink) {
  const double mean = x.mean(), sd = x.sd();
  const auto integrand = [&](double t) { return f(t) * std::exp(log_density(x, t)); };
  const double low = mean - kReach * sd, high = mean + kReach * sd;
  if (kink <= low || kink >= high) kink = mean;
  return integral(integrand, low, kink) + integral(integrand, kink, high);
}
double expectation(const Function& f, const Gaussian& x) { return expectation(f, x, x.mean()); }

Matched matched(const Function& f, const Gaussian& in, double kink) {
  const double mass = expectation(f, in, kink);
  const double mean = expectation([&](double x) { return x * f(x); }, in, kink) / mass;
  const double variance = expectation([&](double x) { return (x - mean) * (x - mean) * f(x); }, in, kink) / mass;
  return {mass, mean, variance};
}
Matched matched(const Function& f, const Gaussian& in) { return matched(f, in, in.mean()); }

}  // namespace dma::oracle
