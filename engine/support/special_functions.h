// Special functions of one number as plain functions: including Boost.Math's templates costs a file a second or two of
// compile time.
#pragma once

namespace dma {

inline constexpr double kHalfLogTwoPi = 0.91893853320467274178;

// log |Gamma(x)|: inf if it overflows or has a pole. (std::lgamma writes a global sign, which threads would share.)
double log_gamma(double x);
// Remainder of Stirling's formula: log Gamma(x) - ((x - 1/2) log x - x + log(2 pi) / 2), for x > 0.
double stirling_rest(double x);
// log Gamma(x + 1/2) - log Gamma(x), without cancellation.
double log_gamma_half_step(double x);
// The first and the second derivative of log Gamma.
double digamma(double x);
double trigamma(double x);
// log(1 + x) - x, without cancellation near 0.
double log1p_minus(double x);

double inverse_erf(double x);
// The quantile of a standard normal variable.
double normal_quantile(double probability);
// The same of a gamma variable of rate 1, and of a beta variable.
double gamma_quantile(double shape, double probability);
double beta_quantile(double a, double b, double probability);

}  // namespace dma
