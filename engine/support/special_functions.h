// Special functions of one number as plain functions: with Boost.Math's templates a file takes the compiler a second or
// two longer.
#pragma once

namespace dma {

inline constexpr double kHalfLogTwoPi = 0.91893853320467274178;

// log |Gamma(x)|: inf where it overflows or has a pole. (std::lgamma writes a global sign, which threads would share.)
double log_gamma(double x);
// What Stirling's formula leaves: log Gamma(x) - ((x - 1/2) log x - x + log(2 pi) / 2), for x > 0.
double stirling_rest(double x);
// log Gamma(x + 1/2) - log Gamma(x), which would cancel.
double log_gamma_half_step(double x);
// The first and the second derivative of log Gamma.
double digamma(double x);
double trigamma(double x);
// log(1 + x) - x, which would cancel near 0.
double log1p_minus(double x);

double inverse_erf(double x);
// The place below which a standard normal variable lies with this probability.
double normal_quantile(double probability);

}  // namespace dma
