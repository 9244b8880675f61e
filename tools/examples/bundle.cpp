// Bundle adjustment: three photographs of sixteen points, from unknown poses, all solved together. The first pose and
// the length of the step to the second fix the frame and the scale, which no photograph tells.
//
// Prints:
//   converged after 8 solves; the Gaussian fits the posterior: k 0.52, 361 of 400 draws effective
//   third pose at (2.00, 0.00, 0.00), turned by -0.402 +- 0.001; first point 3.98 +- 0.02 away
#include <dma.h>
#include <fmt/core.h>

#include <array>
#include <cmath>

int main() {
  using namespace dma;
  constexpr std::uint32_t kPhotos = 3, kPoints = 16, kImages = kPhotos * kPoints;
  Registry registry = standard_registry();
  registry.add(factor_from_vector_function("camera", 3, 2, [](auto x, auto) {  // pixels of a point in its frame
    return std::array{800 * x[0] / x[2], 800 * x[1] / x[2]};
  }));
  std::vector<double> across, down, start, poses, known(36), loose(36);
  std::vector<std::uint32_t> from, to;
  for (std::uint32_t c = 0; c < kPhotos; ++c) {  // it moves to the right, and turns to the left
    const double angle = -0.2 * c, turn = std::cos(angle), tilt = std::sin(angle);
    poses.insert(poses.end(), {1.0 * c, 0, 0, 0, 0.8 * angle, 0});
    for (std::uint32_t i = 0; i < kPoints; ++i) {
      const double x = i % 4 - 1.5 - c, y = i / 4 - 1.5, z = 4 + std::sin(3.0 * i), ahead = tilt * x + turn * z;
      across.push_back(800 * (turn * x - tilt * z) / ahead + 0.3 * std::sin(5.0 * i * i + c));
      down.push_back(800 * y / ahead + 0.3 * std::sin(7.0 * i * i + c));
      from.push_back(c), to.insert(to.end(), {3 * i, 3 * i + 1, 3 * i + 2});
      if (c == 0) start.insert(start.end(), {across[i] / 200, down[i] / 200, 4});  // 4 away
    }
  }
  Graph g;
  const auto x = g.variable("x", kPhotos, "pose3"), p = g.variable("p", 3 * kPoints);
  const auto before = g.variable("before", 3 * kImages), u = g.variable("u", kImages), v = g.variable("v", kImages);
  const auto seen_u = g.observed("seen u", kImages), seen_v = g.observed("seen v", kImages);
  for (std::size_t k = 0; k < 36; k += 7) known[k] = 1e-8, loose[k] = k == 0 ? 1e-8 : 1;
  point_prior(g, gather(x, {0}), {0, 0, 0, 0, 0, 0}, SpreadMatrix::covariance(known));
  point_prior(g, gather(x, {1}), {1, 0, 0, 0, 0, 0}, SpreadMatrix::covariance(loose));
  g.factor("pose3_landmark", {gather(x, from), gather(p, to), before}, {{"measured", 0.0}});
  g.factor("camera", {before, u, v});
  g.factor("gaussian_noise", {u, seen_u}, {{"variance", 0.0625}});
  g.factor("gaussian_noise", {v, seen_v}, {{"variance", 0.0625}});
  State state(compile(g, joint(), registry));
  state.observe(seen_u, across), state.observe(seen_v, down);
  set_start(state, x, poses), set_start(state, p, start);
  fmt::print("{}\n", run(state.plan(), state));
  const Belief pose = state.belief(x), point = state.belief(p);
  fmt::print("third pose at ({:.2f}, {:.2f}, {:.2f}), turned by {:.3f} +- {:.3f}; first point {:.2f} +- {:.2f} away\n",
             pose.mean(2, 0), pose.mean(2, 1), pose.mean(2, 2), pose.mean(2, 4), pose.sd(2, 4), point.mean(2),
             point.sd(2));
}
