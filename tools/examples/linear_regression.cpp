// Which of three inputs matter? Weights, noise and the prior variance of the weights are inferred together, with
// uncertainty.
//
// Prints:
//   weight 1:  2.03 +- 0.08
//   weight 2: -0.99 +- 0.08
//   weight 3: -0.09 +- 0.09
//   noise 0.29, log evidence -18.61
//   at (0.5, 0.5, 0): 4.77 +- 0.30, of the line 0.08
#include <dma_models.h>
#include <fmt/core.h>

#include <cmath>

int main() {
  using namespace dma;
  constexpr Eigen::Index kRows = 25;
  Eigen::MatrixXd x(kRows, 3);
  Eigen::VectorXd y(kRows);
  for (Eigen::Index i = 0; i < kRows; ++i) {
    const double t = static_cast<double>(i);
    x.row(i) << std::sin(t), std::cos(1.7 * t), std::sin(3.1 * t * t);
    y[i] = 4 + 2 * x(i, 0) - x(i, 1) + 0.5 * std::cos(11 * t * t);
  }
  const LinearFit fit = linear_regression(x, y);
  for (Eigen::Index j = 0; j < 3; ++j)
    fmt::print("weight {}: {:5.2f} +- {:.2f}\n", j + 1, fit.weights[j], std::sqrt(fit.covariance(j, j)));
  fmt::print("noise {:.2f}, log evidence {:.2f}\n", std::sqrt(fit.noise_variance), fit.log_evidence);
  const auto there = fit.predict(Eigen::RowVector3d(0.5, 0.5, 0));
  fmt::print("at (0.5, 0.5, 0): {:.2f} +- {:.2f}, of the line {:.2f}\n", there.mean[0], there.sd[0],
             there.epistemic_sd[0]);
}
