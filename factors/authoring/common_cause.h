// Factors of any number of variables that are independent given one more number u, which is integrated over:
//
//   f(x_1, ..., x_n) = integral of f_1(x_1, u) ... f_n(x_n, u) du
//
// With N(m_k, v_k) arriving on every x_k, mass and moments of f times the arriving messages are integrals over u only,
// of the product of F_k(u) = E[f_k(x_k, u)] and the moments of each x_k given u. Every F_k here is log-concave, and so
// is their product: it is integrated by the trapezoidal rule around its mode, or, if a part is much narrower than the
// rest or ends abruptly, by Gauss-Kronrod rules on panels cut there. The moments given u have closed forms for Gaussian
// noise; for the other forms they are integrals over x, by the trapezoidal rule around their own mode.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "engine/kinds/message_loop.h"

namespace dma {

// Moments of z = (x + noise - mean) / sd: its mean, and 1 minus its variance.
struct PartMoments {
  double mean = 0, less = 0;
};

class Part {
 public:
  enum class Form {
    density,   // x + noise = u, the noise N(0, s): N(u; x, s)
    below,     // x + noise < u
    above,     // x + noise > u
    events,    // a Poisson count of mean exp(x - u): its probability relative to that under a mean equal to the count
    logistic,  // the logistic density of u - x
  };
  // `noise` applies to the first three forms, `count` to `events`.
  Part(Form form, const Gaussian& x, double noise = 0, double count = 0);

  double mean() const { return mean_; }    // location of F's variation: for a count above 0, its estimate of x
  double width() const { return width_; }  // width of that variation; 0: a step

  // log F, its slope, and the moments of z given u, at u - mean.
  double log_value(double d) const;
  double slope(double d) const;
  PartMoments moments(double d) const;
  Form form() const { return form_; }
  bool is_integral() const { return form_ == Form::events || form_ == Form::logistic; }

  // The message that gives x + noise these moments (tilted.h).
  GaussianOrFallback message(const PartMoments& wanted, const Gaussian& arrived) const;

 private:
  struct Inner {
    double log;
    PartMoments of;
  };
  const Inner& inner(double d) const;
  Inner without_events(double mu) const;
  double log_noise(double z) const;
  double slope_of_noise(double z) const;
  double bend_of_noise(double z) const;

  Form form_;
  double mean_, variance_, noise_, sd_, count_, log_count_, width_;  // log_count_ is 0 for count 0
  mutable double at_ = std::numeric_limits<double>::quiet_NaN();     // argument of the last `kept_`
  mutable Inner kept_{};
};

class CommonCause {
 public:
  // The product must have a peak. The parts are not copied.
  explicit CommonCause(std::span<const Part> parts);
  // log of the integral of all F.
  double log_mass() const;
  // Moments of every part under the product; NaN if it has no mass.
  std::vector<PartMoments> moments() const;

 private:
  template <class Visit>
  double integrate(bool of_moments, const Visit& visit) const;  // visit(t, weight)
  double offset(std::size_t k, double t) const { return from_origin_[k] + unit_ * t; }  // u - mean of part k
  double log_weight(double t) const;
  double slope(double t) const;
  void find_mode();
  double reach(double direction) const;
  int cut(std::vector<double>& ends) const;

  std::span<const Part> parts_;
  std::vector<double> from_origin_;
  double unit_ = 1, low_ = -kInfinity, high_ = kInfinity;  // u = origin + unit t, t between low and high
  double mode_ = 0, top_ = -kInfinity;
};

}  // namespace dma
