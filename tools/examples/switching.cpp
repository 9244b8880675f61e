// A robot in a corridor reads its position by a beacon, which is hidden now and then, and its speed by the wheels,
// which say nothing while they slip. Two regimes, rolling and slipping, and a chain that says how they follow each
// other.
//
// Prints:
//   approximate: paths that agree in 2 regimes are merged; log evidence -14.4348
//   exact; log evidence -14.6911
//   step 3: slips with 0.01 (so far 0.01, exact 0.01), position 2.88 +- 0.24 (exact 2.86)
//   step 5: slips with 0.74 (so far 0.20, exact 0.71), position 4.83 +- 0.35 (exact 4.81)
//   step 6: slips with 0.74 (so far 0.03, exact 0.71), position 5.94 +- 0.28 (exact 5.92)
//   step 7: slips with 0.73 (so far 0.02, exact 0.68), position 7.08 +- 0.24 (exact 7.07)
//   step 9: slips with 0.00 (so far 0.02, exact 0.01), position 9.22 +- 0.27 (exact 9.19)
#include <dma_models.h>
#include <fmt/core.h>

#include <cmath>

int main() {
  using namespace dma;
  const auto matrix = [](double a, double b, double c, double d) {
    return (Eigen::Matrix2d() << a, b, c, d).finished();
  };
  const Eigen::Matrix2d a = matrix(1, 1, 0, 1), h = matrix(1, 0, 0, 1), q = matrix(0.01, 0, 0, 0.04);
  const SwitchingModel robot{.regimes = {{a, q, h, matrix(0.25, 0, 0, 0.01)}, {a, q, h, matrix(0.25, 0, 0, 4)}},
                             .start = Eigen::Vector2d(0.9, 0.1),
                             .transition = matrix(0.95, 0.05, 0.3, 0.7),
                             .mean = Eigen::Vector2d(0, 1),
                             .covariance = matrix(1, 0, 0, 1)};
  std::vector<std::optional<double>> values;  // position and speed, step by step
  for (int t = 0; t < 12; ++t) {
    const bool slips = t >= 5 && t < 8;
    values.emplace_back(t + 0.4 * std::sin(5.0 * t * t));
    if (t == 5 || t == 6) values.back().reset();  // behind a pillar
    values.emplace_back(slips ? 1.6 : 1 + 0.1 * std::sin(3.0 * t * t));
  }
  const Switched found = switching(robot, values), all = switching(robot, values, kAllPaths);
  fmt::print("{}\n{}\n", found, all);
  for (const std::size_t t : {3u, 5u, 6u, 7u, 9u})
    fmt::print("step {}: slips with {:.2f} (so far {:.2f}, exact {:.2f}), position {:.2f} +- {:.2f} (exact {:.2f})\n",
               t, found.smoothed[t].probability[1], found.filtered[t].probability[1], all.smoothed[t].probability[1],
               found.smoothed[t].mean[0], std::sqrt(found.smoothed[t].covariance(0, 0)), all.smoothed[t].mean[0]);
}
