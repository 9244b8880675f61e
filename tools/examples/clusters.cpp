// How many clusters are there, and which point is of which? The evidence of one, two, ... clusters decides.
//
// Prints:
//   1 cluster: log evidence -291.1
//   2 clusters: log evidence -283.0
//   3 clusters: log evidence -260.6
//   4 clusters: log evidence -264.5
//   5 clusters: log evidence -269.2
//   cluster of 34 % around (-0.2, 4.9)
//   cluster of 33 % around (3.4, 1.1)
//   cluster of 33 % around (-2.9, -0.1)
#include <dma_models.h>
#include <fmt/core.h>

#include <cmath>

int main() {
  using namespace dma;
  Eigen::MatrixXd points(60, 2);
  const double centres[3][2] = {{-3, 0}, {3, 1}, {0, 5}};
  const auto noise = [](double t) {
    return std::sin(12.9898 * t * t) + std::sin(78.233 * t * t) + std::sin(37.719 * t * t);
  };
  for (Eigen::Index i = 0; i < points.rows(); ++i)
    for (Eigen::Index j = 0; j < 2; ++j) points(i, j) = centres[i % 3][j] + 0.8 * noise(static_cast<double>(2 * i + j));
  const MixtureFit fit = gaussian_mixture(points);
  for (std::size_t k = 0; k < fit.candidates.size(); ++k)
    fmt::print("{} cluster{}: log evidence {:.1f}\n", k + 1, k == 0 ? "" : "s", fit.candidates[k]);
  for (Eigen::Index k = 0; k < fit.weight.size(); ++k)
    fmt::print("cluster of {:.0f} % around ({:.1f}, {:.1f})\n", 100 * fit.weight[k], fit.mean(k, 0), fit.mean(k, 1));
}
