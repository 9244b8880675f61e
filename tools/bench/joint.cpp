// The joint solver next to plain code: a constant-velocity smoother as hand-written Rauch-Tung-Striebel loops have it,
// the information matrix of a regression next to the machine's own matrix product, and graphs of poses next to
// Levenberg-Marquardt.
//
// Both loops of the smoother do the whole job from the same observations: filter and smoother with full covariances,
// means and covariances of all steps kept. One is written in the plain way, with Eigen's fixed-size matrices, and its
// bound is the promise; the other has every product multiplied out for this one model, symmetry and zeros left away,
// and shows how far that goes.
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
#include "models/graphs/poses.h"
#include "tools/bench/comparison.h"
#include "tools/experiments/baselines/pose_solver.h"

namespace dma::bench {

namespace {

constexpr std::uint32_t kSteps = 10000;
constexpr double kPrior = 4, kPosition = 0.02, kVelocity = 0.05, kNoise = 0.3;

std::vector<double> series(double phase, std::uint32_t steps) {
  std::vector<double> y;
  for (std::uint32_t t = 0; t < steps; ++t) y.push_back(std::sin(0.01 * t + phase) + 0.3 * std::cos(7.0 * t));
  return y;
}

struct ConstantVelocity {
  Graph g;
  std::vector<VariableId> p, v, y;
  FactorId noise;

  explicit ConstantVelocity(std::uint32_t steps, int axes = 1) {
    std::vector<std::uint32_t> before, after;
    for (std::uint32_t t = 1; t < steps; ++t) before.push_back(t - 1), after.push_back(t);
    for (int a = 0; a < axes; ++a) {
      p.push_back(g.variable("", steps));
      v.push_back(g.variable("", steps));
      y.push_back(g.observed("", steps));
      const VariableId moved = g.variable("", steps - 1);
      g.factor("gaussian_prior", {gather(p.back(), {0})}, {{"mean", 0.0}, {"variance", kPrior}});
      g.factor("gaussian_prior", {gather(v.back(), {0})}, {{"mean", 0.0}, {"variance", kPrior}});
      g.factor("add", {gather(p.back(), before), gather(v.back(), before), moved});
      g.factor("gaussian_noise", {moved, gather(p.back(), after)}, {{"variance", kPosition}});
      g.factor("gaussian_noise", {gather(v.back(), before), gather(v.back(), after)}, {{"variance", kVelocity}});
      noise = g.factor("gaussian_noise", {p.back(), y.back()}, {{"variance", kNoise}});
    }
  }
};

struct Smoothed {
  Eigen::Vector2d mean;
  Eigen::Matrix2d covariance;
};

// As a textbook writes it: nothing is known of the model but its matrices.
void smooth(const std::vector<double>& y, double noise, std::vector<Smoothed>& filtered,
            std::vector<Smoothed>& predicted) {
  const Eigen::Matrix2d f{{1, 1}, {0, 1}}, q{{kPosition, 0}, {0, kVelocity}};
  const Eigen::RowVector2d h(1, 0);
  Smoothed at{Eigen::Vector2d::Zero(), kPrior * Eigen::Matrix2d::Identity()};
  for (std::size_t t = 0; t < y.size(); ++t) {
    if (t > 0) at = {f * at.mean, f * at.covariance * f.transpose() + q};
    predicted[t] = at;
    const Eigen::Vector2d gain = at.covariance * h.transpose() / (h * at.covariance * h.transpose() + noise);
    at.mean += gain * (y[t] - h * at.mean);
    at.covariance -= gain * h * at.covariance;
    filtered[t] = at;
  }
  for (std::size_t t = y.size() - 1; t-- > 0;) {
    const Eigen::Matrix2d gain = filtered[t].covariance * f.transpose() * predicted[t + 1].covariance.inverse();
    filtered[t].mean += gain * (filtered[t + 1].mean - predicted[t + 1].mean);
    filtered[t].covariance += gain * (filtered[t + 1].covariance - predicted[t + 1].covariance) * gain.transpose();
  }
}

struct MotionMoments {
  double p, v, pp, pv, vv;
};

// The same with everything multiplied out.
void smooth_by_scalars(const std::vector<double>& y, double noise, std::vector<MotionMoments>& filtered,
                       std::vector<MotionMoments>& predicted) {
  MotionMoments m{0, 0, kPrior, 0, kPrior};
  for (std::size_t t = 0; t < y.size(); ++t) {
    if (t > 0) m = {m.p + m.v, m.v, m.pp + 2 * m.pv + m.vv + kPosition, m.pv + m.vv, m.vv + kVelocity};
    predicted[t] = m;
    const double inverse = 1 / (m.pp + noise), gain_p = m.pp * inverse, gain_v = m.pv * inverse, residual = y[t] - m.p;
    m = {m.p + gain_p * residual, m.v + gain_v * residual, m.pp - gain_p * m.pp, m.pv - gain_p * m.pv,
         m.vv - gain_v * m.pv};
    filtered[t] = m;
  }
  for (std::size_t t = y.size() - 1; t-- > 0;) {
    const MotionMoments &q = predicted[t + 1], &next = filtered[t + 1];
    MotionMoments& f = filtered[t];
    const double inverse = 1 / (q.pp * q.vv - q.pv * q.pv), a = f.pp + f.pv, b = f.pv, c = f.pv + f.vv, d = f.vv;
    const double g00 = (a * q.vv - b * q.pv) * inverse, g01 = (b * q.pp - a * q.pv) * inverse;
    const double g10 = (c * q.vv - d * q.pv) * inverse, g11 = (d * q.pp - c * q.pv) * inverse;
    const double dp = next.p - q.p, dv = next.v - q.v, pp = next.pp - q.pp, pv = next.pv - q.pv, vv = next.vv - q.vv;
    f.p += g00 * dp + g01 * dv;
    f.v += g10 * dp + g11 * dv;
    f.pp += g00 * g00 * pp + 2 * g00 * g01 * pv + g01 * g01 * vv;
    f.pv += g00 * g10 * pp + (g00 * g11 + g01 * g10) * pv + g01 * g11 * vv;
    f.vv += g10 * g10 * pp + 2 * g10 * g11 * pv + g11 * g11 * vv;
  }
}

enum class Plain { eigen, scalars };

void constant_velocity(benchmark::State& bench, Table& table, bool new_matrix, Plain plain) {
  const ConstantVelocity model(kSteps);
  const Plan plan = compile(model.g, joint(), standard_registry());
  State state(plan);
  const std::vector<double> data[2] = {series(0, kSteps), series(1, kSteps)};
  const double noises[2] = {kNoise, new_matrix ? 1.1 * kNoise : kNoise};
  std::size_t turn = 0;
  std::vector<Smoothed> filtered(kSteps), predicted(kSteps);
  std::vector<MotionMoments> filtered_scalars(kSteps), predicted_scalars(kSteps);
  const auto engine = [&] {
    state.observe(model.y[0], data[turn]);
    state.set_parameter(model.noise, "variance", noises[turn]);
    (void)run(plan, state);
  };
  const std::string change = new_matrix ? "new noise" : "new values";
  compare(bench, table,
          {.name = plain == Plain::eigen ? "joint: constant velocity, " + change
                                         : "joint: " + change + " beside multiplied-out code",
           .bound = plain == Plain::eigen ? 3.0 : 0},
          engine, [&] {
            turn ^= 1;
            if (plain == Plain::eigen)
              smooth(data[turn], noises[turn], filtered, predicted);
            else
              smooth_by_scalars(data[turn], noises[turn], filtered_scalars, predicted_scalars);
          });
  turn ^= 1;
  engine();
  smooth(data[turn], noises[turn], filtered, predicted);
  smooth_by_scalars(data[turn], noises[turn], filtered_scalars, predicted_scalars);
  const Belief p = state.belief(model.p[0]), v = state.belief(model.v[0]);
  for (std::size_t t = 0; t < kSteps; ++t) {
    const auto differ = [](double a, double b) { return std::abs(a - b) > 1e-8; };
    const Smoothed& s = filtered[t];
    const MotionMoments& m = filtered_scalars[t];
    if (differ(p.mean(t), s.mean[0]) || differ(p.variance(t), s.covariance(0, 0)) ||
        differ(v.variance(t), s.covariance(1, 1)) || differ(m.p, s.mean[0]) || differ(m.v, s.mean[1]) ||
        differ(m.pv, s.covariance(0, 1)) || differ(m.vv, s.covariance(1, 1)))
      return bench.SkipWithError("joint and the plain smoothers disagree");
  }
}

void long_chain(benchmark::State& bench, Table& table) {
  constexpr std::uint32_t kLong = 100'000;
  const ConstantVelocity model(kLong, 2);
  const Plan plan = compile(model.g, joint(), standard_registry());
  State state(plan);
  for (const VariableId y : model.y) state.observe(y, series(0, kLong));
  double noise = kNoise;
  time_alone(
      bench, table, {.name = "joint: 100,000 steps in 4 dimensions", .bound = 1000},
      [&] {
        state.set_parameter(model.noise, "variance", noise = noise == kNoise ? 2 * kNoise : kNoise);
        (void)run(plan, state);
      },
      [] {});
}

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
  const auto add = [&](const char* name, auto body) {
    benchmark::RegisterBenchmark(name, [body, &table](benchmark::State& s) { body(s, table); })->UseManualTime();
  };
  add("joint/values", [](auto& s, auto& t) { constant_velocity(s, t, false, Plain::eigen); });
  add("joint/noise", [](auto& s, auto& t) { constant_velocity(s, t, true, Plain::eigen); });
  add("joint/values_by_scalars", [](auto& s, auto& t) { constant_velocity(s, t, false, Plain::scalars); });
  add("joint/noise_by_scalars", [](auto& s, auto& t) { constant_velocity(s, t, true, Plain::scalars); });
  add("joint/long_chain", long_chain);
  add("joint/information", information);
  for (const std::uint32_t count : {27u, 100u, 3500u})
    for (const bool is_3d : {false, true})
      add(fmt::format("joint/poses{}/{}", is_3d ? 3 : 2, count).c_str(),
          [=](auto& s, auto& t) { poses(s, t, is_3d, count); });
}

}  // namespace dma::bench
