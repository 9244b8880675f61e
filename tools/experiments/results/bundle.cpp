// Bundle adjustment beside Ceres (tools/docs/peers.md): cameras in a row that see made points. Debian: libceres-dev.
// From the root of the repository:
//
//   g++ -std=c++20 -O2 -I. -Imodels/public -I/usr/include/eigen3 tools/experiments/results/bundle.cpp -o bundle
//     build/libdma_models.a build/libdma_factors.a build/libdma_schedules.a build/libdma_engine.a -lfmt -lceres -lglog
//   ./bundle 30 2000 6     30 cameras, 2,000 points, each seen by 6
#include <ceres/ceres.h>
#include <ceres/rotation.h>
#include <dma.h>
#include <fmt/format.h>

#include <array>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_real_distribution.hpp>
#include <cmath>
#include <ctime>

namespace {

constexpr double kFocal = 800, kNoise = 0.5, kKnown = 1e-4;

double seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// Pixels of a point; a camera is its place and its rotation vector.
template <class T>
std::array<T, 2> pixels(const T* camera, const T* point) {
  const T off[3] = {point[0] - camera[0], point[1] - camera[1], point[2] - camera[2]};
  const T back[3] = {-camera[3], -camera[4], -camera[5]};
  T inside[3];
  ceres::AngleAxisRotatePoint(back, off, inside);
  return {kFocal * inside[0] / inside[2], kFocal * inside[1] / inside[2]};
}

struct Scene {
  std::vector<double> cameras, points, first_cameras, first_points, across, down;
  std::vector<std::uint32_t> camera, point;

  Scene(int count, int points_count, int seen) {
    boost::random::mt19937 random(1);
    boost::random::normal_distribution<double> normal;
    boost::random::uniform_real_distribution<double> even(-1, 1);
    for (int c = 0; c < count; ++c) {
      for (const double number : {0.5 * c, 0.2 * even(random), 0.2 * even(random)}) cameras.push_back(number);
      for (const double turn : {0.1, 0.3, 0.1}) cameras.push_back(turn * even(random));
    }
    for (std::size_t i = 0; i < cameras.size(); ++i)
      first_cameras.push_back(cameras[i] + (i < 9 ? 0 : i % 6 < 3 ? 0.05 : 0.01) * normal(random));
    for (int j = 0; j < points_count; ++j) {
      const double middle = 0.25 * count * (1 + even(random));
      for (const double number : {middle + 2 * even(random), 2 * even(random), 8 + 3 * even(random)}) {
        points.push_back(number);
        first_points.push_back(number + 0.1 * normal(random));
      }
      const int first = std::clamp(static_cast<int>(2 * middle) - seen / 2, 0, count - seen);
      for (int c = first; c < first + seen; ++c) {
        const auto at = pixels(&cameras[6 * static_cast<std::size_t>(c)], &points[3 * static_cast<std::size_t>(j)]);
        camera.push_back(static_cast<std::uint32_t>(c)), point.push_back(static_cast<std::uint32_t>(j));
        across.push_back(at[0] + kNoise * normal(random)), down.push_back(at[1] + kNoise * normal(random));
      }
    }
  }
};

struct Image {
  double across, down;
  template <class T>
  bool operator()(const T* camera, const T* point, T* off) const {
    const auto at = pixels(camera, point);
    off[0] = (at[0] - across) / kNoise;
    off[1] = (at[1] - down) / kNoise;
    return true;
  }
};

struct Prior {
  const double* at;
  int known;  // numbers that are; the others have a standard deviation of 1
  template <class T>
  bool operator()(const T* camera, T* off) const {
    for (int i = 0; i < 6; ++i) off[i] = (camera[i] - at[i]) / (i < known ? kKnown : 1.0);
    return true;
  }
};

void by_ceres(const Scene& scene) {
  std::vector<double> x = scene.first_cameras, p = scene.first_points;
  const double start = seconds();
  ceres::Problem problem;
  for (std::size_t k = 0; k < scene.across.size(); ++k)
    problem.AddResidualBlock(new ceres::AutoDiffCostFunction<Image, 2, 6, 3>(new Image{scene.across[k], scene.down[k]}),
                             nullptr, &x[6 * scene.camera[k]], &p[3 * scene.point[k]]);
  for (const int c : {0, 1})
    problem.AddResidualBlock(
        new ceres::AutoDiffCostFunction<Prior, 6, 6>(new Prior{&scene.cameras[6 * c], c == 0 ? 6 : 3}), nullptr,
        &x[6 * c]);
  ceres::Solver::Options options;
  options.linear_solver_type = ceres::SPARSE_SCHUR;
  options.function_tolerance = options.gradient_tolerance = 1e-12;
  options.parameter_tolerance = 1e-10;
  const double built = seconds();
  ceres::Solver::Summary summary;
  ceres::Solve(options, &problem, &summary);
  const double solved = seconds();
  ceres::Covariance covariance({});
  std::vector<std::pair<const double*, const double*>> blocks;
  for (std::size_t c = 0; c < x.size(); c += 6) blocks.emplace_back(&x[c], &x[c]);
  (void)covariance.Compute(blocks, &problem);
  double last[36];
  (void)covariance.GetCovarianceBlock(&x[x.size() - 6], &x[x.size() - 6], last);
  fmt::print("Ceres: {:.3f} s to build, {:.3f} to solve, {:.3f} for covariances of cameras; last at {:.6f} +- {:.6f}\n",
             built - start, solved - built, seconds() - solved, x[x.size() - 6], std::sqrt(last[0]));
}

void by_dma(const Scene& scene) {
  using namespace dma;
  const double start = seconds();
  Registry registry = standard_registry();
  registry.add(factor_from_vector_function("camera", 3, 2, [](auto x, auto) {
    return std::array{kFocal * x[0] / x[2], kFocal * x[1] / x[2]};
  }));
  const std::size_t images = scene.across.size();
  std::vector<std::uint32_t> to;
  for (const std::uint32_t j : scene.point) to.insert(to.end(), {3 * j, 3 * j + 1, 3 * j + 2});
  Graph g;
  const auto x = g.variable("x", scene.cameras.size() / 6, "pose3"), p = g.variable("p", scene.points.size());
  const auto before = g.variable("before", 3 * images), u = g.variable("u", images), v = g.variable("v", images);
  const auto seen_u = g.observed("seen u", images), seen_v = g.observed("seen v", images);
  for (const std::uint32_t c : {0u, 1u}) {
    std::vector<double> spread(36);
    for (std::size_t i = 0; i < 6; ++i) spread[7 * i] = i < (c == 0 ? 6u : 3u) ? kKnown * kKnown : 1;
    point_prior(g, gather(x, {c}), {scene.cameras.begin() + 6 * c, scene.cameras.begin() + 6 * c + 6},
                SpreadMatrix::covariance(spread));
  }
  g.factor("pose3_landmark", {gather(x, scene.camera), gather(p, to), before}, {{"measured", 0.0}});
  g.factor("camera", {before, u, v});
  g.factor("gaussian_noise", {u, seen_u}, {{"variance", kNoise * kNoise}});
  g.factor("gaussian_noise", {v, seen_v}, {{"variance", kNoise * kNoise}});
  State state(compile(g, joint({.tolerance = 1e-6, .check_draws = 0}), registry));
  state.observe(seen_u, scene.across), state.observe(seen_v, scene.down);
  set_start(state, x, scene.first_cameras), set_start(state, p, scene.first_points);
  const double built = seconds();
  const Report report = run(state.plan(), state);
  const std::size_t last = scene.cameras.size() / 6 - 1;
  fmt::print("dma:   {:.3f} s to compile, {:.3f} to solve, all marginals; last at {:.6f} +- {:.6f}; {}\n",
             built - start, seconds() - built, state.belief(x).mean(last, 0), state.belief(x).sd(last, 0),
             report.line());
}

}  // namespace

int main(int, char** words) {
  const Scene scene(std::stoi(words[1]), std::stoi(words[2]), std::stoi(words[3]));
  by_ceres(scene);
  by_dma(scene);
}
