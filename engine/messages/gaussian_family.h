// The scalar Gaussian as a family: the rules of gaussian.h, where most of them are inlined into the engine's loops.
#pragma once

#include <string>
#include <string_view>

#include "engine/messages/gaussian.h"
#include "engine/support/special_functions.h"

namespace dma {

// Base of families whose two numbers are those of a Gaussian of some function of x.
struct LikeGaussian : Gaussian {
  static constexpr bool kIsLikeGaussian = true;

  explicit LikeGaussian(const Natural& n) : Gaussian(n) {}
  static bool is_message(const Natural& m) { return is_valid(m); }
  static double change(const Natural& before, const Natural& after) { return change_between(before, after); }
  // A belief of negative precision becomes uniform.
  static Natural closed(const Natural& m) { return m.rho < 0 ? Natural() : with_finite_moments(m); }
  double log_normaliser() const { return dma::log_normaliser(static_cast<const Gaussian&>(*this)); }
};

struct GaussianFamily : LikeGaussian {
  static constexpr std::string_view kName = "gaussian", kValues = "a finite number";
  static constexpr bool kKeepsValues = true;

  using LikeGaussian::LikeGaussian;
  static double location(double x) { return std::isfinite(x) ? x : std::nan(""); }
  double log_density_at(double x) const { return dma::log_density(static_cast<const Gaussian&>(*this), x); }
  double quantile(double p) const { return mean() + sd() * normal_quantile(p); }
  std::string text() const;  // "= 2", "N(0.318, 0.775^2)" with mean and standard deviation
};

}  // namespace dma
