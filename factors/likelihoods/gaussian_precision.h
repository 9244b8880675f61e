// N(value; mean, 1 / precision) with an unknown precision: mean and value are Gaussian, the precision is gamma.
//
// vmp: the beliefs q under this factor and the arriving messages, each given the others, are iterated to their fixed
// point;
//   to mean       N(E[value], 1 / E[precision])
//   to precision  gamma(3/2, E[(value - mean)^2] / 2)
// At a fixed point of the whole graph these are the messages of variational inference with q independent.
//
// ep: given the precision w everything is Gaussian, with mass Z(w) = N(mean of value - mean of mean; 0, their variances
// + 1/w). The moments of the tilted distribution are then one integral over log w, by the trapezoidal rule on the range
// where the integrand is within 1e-15 of its largest value; projected (the precision on E[w] and E[log w]) and divided
// by the arriving message. If the quotient is not proper, the message of vmp replaces it.
#pragma once

#include "engine/kinds/message_loop.h"
#include "engine/messages/family.h"
#include "engine/messages/gaussian.h"
#include "factors/families/gamma.h"

namespace dma {

struct GaussianPrecision {
  static double log_density(double mean, double precision, double value);

  struct Vmp {
    static Gaussian to_value(const Gaussian& mean, const Gamma& precision, const Gaussian& value);
    static Gaussian to_mean(const Gaussian& mean, const Gamma& precision, const Gaussian& value);
    static Gamma to_precision(const Gaussian& mean, const Gamma& precision, const Gaussian& value);
  };
  struct Ep {
    static GaussianOrFallback to_value(const Gaussian& mean, const Gamma& precision, const Gaussian& value);
    static GaussianOrFallback to_mean(const Gaussian& mean, const Gamma& precision, const Gaussian& value);
    static OrFallback<Gamma> to_precision(const Gaussian& mean, const Gamma& precision, const Gaussian& value);
  };
  // Arguments: mean, precision, value.
  static double log_integral(Components arrivals);
  static double expected_log(Components beliefs);  // E[log density], all independent
};

}  // namespace dma
