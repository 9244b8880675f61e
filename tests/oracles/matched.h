// Mass, mean and variance of N(x; in) f(x), by quadrature of the definition.
#pragma once

#include "tests/oracles/quadrature.h"

namespace dma::oracle {

struct Matched {
  double mass, mean, variance;
};

// f is smooth but for a kink.
template <class F>
Matched matched(const F& f, const Gaussian& in, double kink) {
  const double mass = expectation(f, in, kink);
  const double mean = expectation([&](double x) { return x * f(x); }, in, kink) / mass;
  const double variance = expectation([&](double x) { return (x - mean) * (x - mean) * f(x); }, in, kink) / mass;
  return {mass, mean, variance};
}
template <class F>
Matched matched(const F& f, const Gaussian& in) {
  return matched(f, in, in.mean());
}

}  // namespace dma::oracle
