// The joint solver next to plain code: the information matrix of a regression next to the machine's own matrix product,
// and graphs of poses next to Levenberg-Marquardt.
#include "engine/joint/joint.h"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <array>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <cmath>
#include <map>
#include <numbers>

#include "engine/joint/fronts.h"
#include "factors/standard_registry.h"
#include "models/graphs/expressions.h"
#include "models/graphs/graph_file.h"
#include "tools/bench/comparison.h"
#include "tools/experiments/baselines/pose_solver.h"

namespace dma::bench {

namespace {

// The information matrix of 2,000 rows of 1,000 numbers beside a plain matrix product that does as many
// multiplications: at least 60 % of its speed.
void information(benchmark::State& bench, Table& table) {
  constexpr std::uint32_t kColumns = 1000, kRows = 2 * kColumns;
  joint_system::RowPattern pattern;
  pattern.unknowns = kColumns;
  for (std::uint32_t r = 0; r < kRows; ++r) {
    for (std::uint32_t c = 0; c < kColumns; ++c) pattern.columns.push_back(c);
    pattern.end_row();
  }
  const joint_system::Elimination elimination = joint_system::eliminate(pattern, {});
  joint_system::Fronts fronts(elimination);
  std::vector<double> values(pattern.columns.size()), weights(kRows, 1.0), matrix(std::size_t{kColumns} * kColumns);
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = std::sin(0.1 * static_cast<double>(k % 9973));
  const Eigen::MatrixXd a = Eigen::MatrixXd::Random(kColumns, kColumns), b = a.transpose();
  Eigen::MatrixXd c(kColumns, kColumns);
  compare(
      bench, table, {.name = "joint: information matrix, 60 % of a product", .bound = 1 / 0.6},
      [&] {
        fronts.assemble({&pattern, values, weights}, 0, matrix.data());
      },
      [&] { c.noalias() = a * b; });
}

// A walk among the points of a grid, of the plane or of space, that turns by quarters as chance has it. Each pose is
// measured from the one before, and from the last that stood where it stands; the start follows the steps.
PoseGraph walk(bool is_3d, std::uint32_t poses) {
  using Eigen::AngleAxisd, Eigen::Isometry3d, Eigen::Vector3d;
  const double side = std::ceil(std::sqrt(poses) / 3);
  constexpr double kShift = 0.05, kTurn = 0.01;  // standard deviations of what is measured
  boost::random::mt19937_64 random(1);
  boost::random::normal_distribution<double> normal;
  boost::random::uniform_int_distribution<int> any(0, 3);
  const auto noise = [&](double sd) {
    const double x = normal(random), y = normal(random), z = normal(random);
    return Vector3d(sd * x, sd * y, is_3d ? sd * z : 0);
  };
  const auto numbers = [&](const Isometry3d& at) -> std::vector<double> {
    const AngleAxisd turn(at.rotation());
    const Vector3d w = turn.angle() * turn.axis(), t = at.translation();
    if (!is_3d) return {t[0], t[1], w[2]};
    return {t[0], t[1], t[2], w[0], w[1], w[2]};
  };
  const std::size_t n = is_3d ? 6 : 3;
  std::vector<double> information(n * n);
  for (std::size_t i = 0; i < n; ++i) information[i * n + i] = std::pow(i < (is_3d ? 3 : 2) ? kShift : kTurn, -2);
  PoseGraph graph;
  graph.is_3d = is_3d;
  std::vector<Isometry3d> truth{Isometry3d::Identity()};
  Isometry3d start = truth[0];
  std::map<std::array<int, 3>, std::uint32_t> last;
  const auto see = [&](std::uint32_t a, std::uint32_t b) {
    const double turn = kTurn * normal(random);
    const Vector3d axis = is_3d ? noise(1).normalized() : Vector3d::UnitZ();
    Isometry3d seen = truth[a].inverse() * truth[b] * AngleAxisd(turn * (is_3d ? std::sqrt(3.0) : 1), axis);
    seen.pretranslate(noise(kShift));
    graph.edges.push_back({a, b, numbers(seen), information});
    return seen;
  };
  for (std::uint32_t t = 0; t < poses; ++t) {
    if (t > 0) {
      truth.push_back(Isometry3d(truth[t - 1]).translate(Vector3d::UnitX()));
      const bool is_out = truth[t].translation().cwiseAbs().maxCoeff() >= side;
      if (const int way = any(random); is_out || way < 2)
        truth[t].rotate(AngleAxisd((is_out || way == 0 ? 0.5 : -0.5) * std::numbers::pi,
                                   is_3d && !is_out && any(random) < 2 ? Vector3d::UnitY() : Vector3d::UnitZ()));
      start = start * see(t - 1, t);
    }
    graph.vertices.push_back({t, numbers(start)});
    const Vector3d at = truth[t].translation();
    const auto whole = [&](int i) { return static_cast<int>(std::lround(at[i])); };
    const auto [place, is_new] = last.try_emplace({whole(0), whole(1), whole(2)}, t);
    if (!is_new) (void)see(place->second, t), place->second = t;
  }
  return graph;
}

// From poses to beliefs, their variances among them, beside Levenberg-Marquardt, which has none.
void poses(benchmark::State& bench, Table& table, bool is_3d, std::uint32_t count) {
  const PoseGraph graph = walk(is_3d, count);
  const Registry registry = standard_registry();
  double found = 0, expected = 0;
  compare(
      bench, table,
      {.name = fmt::format("joint: {} poses of {}, {} edges", count, is_3d ? "space" : "the plane", graph.edges.size()),
       .bound = 3},
      [&] {
        const GraphFile file = graph.graph();
        const Plan plan = compile(file.graph, joint({.check_draws = 0}), registry);
        State state(plan);
        file.observe(state);
        found = run(plan, state).joint->objective;
      },
      [&] { expected = baselines::solve_poses(graph).objective; });
  if (!(std::abs(found - expected) <= 1e-6 * expected))
    bench.SkipWithError("joint and Levenberg-Marquardt end at other objectives");
}

}  // namespace

void register_joint(Table& table) {
  add(table, "joint/information", information);
  for (const std::uint32_t count : {27u, 100u, 3500u})
    for (const bool is_3d : {false, true})
      add(table, fmt::format("joint/poses{}/{}", is_3d ? 3 : 2, count),
          [=](benchmark::State& bench, Table& all) { poses(bench, all, is_3d, count); });
}

}  // namespace dma::bench
