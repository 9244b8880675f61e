// The joint solver next to plain code: a constant-velocity smoother as hand-written Rauch-Tung-Striebel loops have it,
// and the information matrix of a regression next to the machine's own matrix product.
//
// Both loops do the whole job from the same observations: filter and smoother with full covariances, means and
// covariances of all steps kept. One is written in the plain way, with Eigen's fixed-size matrices, and its bound is
// the promise; the other has every product multiplied out for this one model, symmetry and zeros left away, and shows
// how far that goes.
#include "engine/joint/joint.h"

#include <Eigen/Dense>
#include <cmath>

#include "engine/joint/fronts.h"
#include "factors/standard_registry.h"
#include "tools/bench/comparison.h"

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
}

}  // namespace dma::bench
