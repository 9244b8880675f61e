// Noise with the tails of Student's t, as a mixture of Gaussians of different widths: t_nu with squared scale s is the
// mixture of N(0, s / omega) over omega ~ Gamma(nu/2, rate nu/2).
#pragma once

#include <Eigen/Core>
#include <vector>

namespace dma {

struct StudentTails {
  double degrees = 1e300;  // nu; 1e300 and all above kGaussian: the Gaussian itself
  double scale = 1;        // squared, relative to the noise it refines

  static constexpr double kGaussian = 1e6, kLeastDegrees = 2.1;
  bool gaussian() const { return degrees >= kGaussian; }  // true if the tails are not heavy

  struct Width {
    double probability, variance;  // variance: relative to the Gaussian noise it refines
  };
  // Narrow enough for eight digits of the density within what one row in 10^7 exceeds.
  std::vector<Width> widths() const;
  // Variance relative to the noise it refines; degrees > 2.
  double variance() const { return gaussian() ? scale : scale * degrees / (degrees - 2); }
};

// The tails that make the errors most likely: errors[n] is Gaussian error of the given variance plus noise that the
// tails refine. Each counts as many times as its weight says, if there are weights.
StudentTails most_likely_tails(const Eigen::VectorXd& errors, const Eigen::VectorXd& variances,
                               const Eigen::VectorXd& noise, const Eigen::VectorXd& weights = {});

}  // namespace dma
