// Graphs that grow, against a textbook filter and the graph solved as a whole.
#include "models/graphs/growing.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "engine/support/text.h"
#include "factors/authoring/from_function.h"
#include "factors/standard_registry.h"
#include "models/graphs/expressions.h"
#include "schedules/schedules.h"
#include "tests/oracles/allocations.h"
#include "tests/oracles/relative.h"

namespace {

using namespace dma;

double seen_at(std::size_t t) { return std::sin(0.7 * static_cast<double>(t)) + 0.01 * static_cast<double>(t % 17); }

}  // namespace

TEST_CASE("growing: a level with a fixed lag is filtered and smoothed as by hand, and compiled a few times") {
  constexpr double kStep = 0.3, kNoise = 0.5, kPrior = 4;
  constexpr std::size_t kSteps = 400, kLag = 6;
  GrowingGraph level(standard_registry(), {.lag = kLag});
  std::vector<VariableId> x;
  std::vector<double> mean, variance;  // filtered
  for (std::size_t t = 0; t < kSteps; ++t) {
    Graph& g = level.graph();
    x.push_back(g.variable(""));
    const VariableId y = g.observed("");
    if (t == 0) g.factor("gaussian_prior", {x[0]}, {{"mean", 1.0}, {"variance", kPrior}});
    if (t > 0) g.factor("gaussian_noise", {x[t - 1], x[t]}, {{"variance", kStep}});
    g.factor("gaussian_noise", {x[t], y}, {{"variance", kNoise}});
    level.observe(y, {seen_at(t)});
    CHECK(level.update().stop == Report::Stop::exact);
    const double before = t == 0 ? 1 : mean[t - 1], spread = t == 0 ? kPrior : variance[t - 1] + kStep;
    const double gain = spread / (spread + kNoise);
    mean.push_back(before + gain * (seen_at(t) - before));
    variance.push_back((1 - gain) * spread);
    CHECK(level.belief(x[t]).mean() == oracle::relative(mean[t], 1e-10));
    CHECK(level.belief(x[t]).variance() == oracle::relative(variance[t], 1e-10));
    if (t < kLag) continue;
    // Back from the last step to the one that leaves (Rauch, Tung and Striebel).
    double smoothed = mean[t], of = variance[t];
    for (std::size_t s = t; s-- > t - kLag;) {
      const double predicted = variance[s] + kStep, back = variance[s] / predicted;
      smoothed = mean[s] + back * (smoothed - mean[s]);
      of = variance[s] + back * back * (of - predicted);
      CHECK(level.belief(x[s]).mean() == oracle::relative(smoothed, 1e-9));
      CHECK(level.belief(x[s]).variance() == oracle::relative(of, 1e-9));
    }
  }
  CHECK(level.compiled() < 3 * kLag);
}

// A level and its slope, seen through two sensors, the second every third step and with a variance of its own each
// time; an observed origin is used for ever.
TEST_CASE("growing: bytes held and allocations do not grow with the number of steps, and the filter stays exact") {
  constexpr std::size_t kWarmUp = 200, kSteps = 200'000;
  constexpr double kLevel = 0.3, kSlope = 0.01, kNoise = 0.5;
  GrowingGraph walk(standard_registry(), {.lag = 5});
  const VariableId origin = walk.graph().observed("origin");
  walk.observe(origin, {0.0});
  VariableId level{0}, slope{0};
  double m[2] = {1, 0}, v[3] = {4, 0, 4};  // filtered: means, and variances and covariance (0 0), (0 1), (1 1)
  const auto see = [&](std::size_t t, double variance) {
    const double gain[2] = {v[0] / (v[0] + variance), v[1] / (v[0] + variance)}, error = seen_at(t) - m[0];
    m[0] += gain[0] * error, m[1] += gain[1] * error;
    v[2] -= gain[1] * v[1], v[1] -= gain[1] * v[0], v[0] -= gain[0] * v[0];
  };
  std::int64_t held = 0;
  std::uint64_t allocated = 0;
  std::size_t compiled = 0;
  for (std::size_t t = 0; t < kSteps; ++t) {
    Graph& g = walk.graph();
    const VariableId x = g.variable(""), s = g.variable(""), y = g.observed("");
    if (t == 0) {
      g.factor("gaussian_linear", {{"x", origin}, {"y", x}}, {{"A", 1.0}, {"b", 1.0}, {"variance", 4.0}});
      g.factor("gaussian_linear", {{"x", origin}, {"y", s}}, {{"A", 1.0}, {"variance", 4.0}});
    } else {
      g.factor("gaussian_linear", {{"x", level}, {"x", slope}, {"y", x}}, {{"A", 1.0}, {"variance", kLevel}});
      g.factor("gaussian_noise", {slope, s}, {{"variance", kSlope}});
      m[0] += m[1];
      v[0] += 2 * v[1] + v[2] + kLevel, v[1] += v[2], v[2] += kSlope;
    }
    g.factor("gaussian_noise", {x, y}, {{"variance", kNoise}});
    walk.observe(y, {seen_at(t)});
    see(t, kNoise);
    if (t % 3 == 1) {
      const VariableId z = g.observed("");
      const double variance = 1 + 0.5 * std::sin(static_cast<double>(t));
      g.factor("gaussian_linear", {{"x", x}, {"x", origin}, {"y", z}}, {{"A", 1.0}, {"variance", variance}});
      walk.observe(z, {seen_at(t)});
      see(t, variance);
    }
    const std::uint64_t before = oracle::allocations();
    const Report report = walk.update();
    allocated += t < kWarmUp ? 0 : oracle::allocations() - before;
    if (t + 1 == kWarmUp) {
      held = oracle::bytes_held();
      compiled = walk.compiled();
    }
    level = x, slope = s;
    if (t % 1000 > 2) continue;
    CAPTURE(t);
    CHECK(report.stop == Report::Stop::exact);
    CHECK(walk.belief(x).mean() == oracle::relative(m[0], 1e-9));
    CHECK(walk.belief(s).mean() == oracle::relative(m[1], 1e-9));
    CHECK(walk.belief(x).variance() == oracle::relative(v[0], 1e-9));
    CHECK(walk.belief(s).variance() == oracle::relative(v[2], 1e-9));
  }
  CHECK(oracle::bytes_held() - held < 40'000);  // a block of nodes is 6,144 bytes
  CHECK(allocated == 0);
  CHECK(walk.compiled() == compiled);
  CHECK(walk.graph()[origin].name == "origin");
}

namespace {

// A walk whose every step is read through a function.
template <class Look>
void walk_through(std::string_view kind, std::size_t steps, const std::function<double(std::size_t)>& reading,
                  double noise, const Look& look) {
  Registry registry = standard_registry();
  registry.add(factor_from_function("angle", [](double x) { return std::atan(x); }));
  GrowingGraph walk(registry, {.lag = 5});
  VariableId before{0};
  for (std::size_t t = 0; t < steps; ++t) {
    Graph& g = walk.graph();
    const VariableId x = g.variable(""), a = g.variable(""), y = g.observed("");
    if (t == 0) g.factor("gaussian_prior", {x}, {{"mean", 0.5}, {"variance", 4.0}});
    if (t > 0) g.factor("gaussian_noise", {before, x}, {{"variance", 0.01}});
    g.factor(kind, {x, a});
    g.factor("gaussian_noise", {a, y}, {{"variance", noise}});
    walk.observe(y, {reading(t)});
    const std::uint64_t allocations = oracle::allocations();
    const Report report = walk.update();
    look(t, report, oracle::allocations() - allocations);
    before = x;
  }
}

}  // namespace

TEST_CASE("growing: a window that is not linear and is checked by draws allocates nothing, and is found to fit") {
  constexpr std::size_t kWarmUp = 60, kSteps = 1000;
  std::uint64_t allocated = 0;
  std::int64_t held = 0;
  std::size_t good = 0;
  walk_through(
      "angle", kSteps, [](std::size_t t) { return std::atan(0.5 * seen_at(t)); }, 0.01,
      [&](std::size_t t, const Report& report, std::uint64_t allocations) {
        if (t + 1 == kWarmUp) held = oracle::bytes_held();
        if (t < kWarmUp) return;
        allocated += allocations;
        REQUIRE(report.converged());
        CHECK(report.joint->fit->draws == 400);
        CHECK(report.joint->fit->effective > 380);
        CHECK(report.joint->fit->are_steps_good());
        good += report.joint->fit->is_good();
      });
  CHECK(allocated == 0);
  CHECK(oracle::bytes_held() - held < 40'000);
  CHECK(good > (kSteps - kWarmUp) * 8 / 10);  // k of 400 draws scatters
}

// Squares of 9 hold the walk at 3. Squares of 0 in between spread it around 0, from where -3 is as near.
TEST_CASE("growing: the check finds another mode, says so for a hundred updates, and then no more") {
  std::size_t before = 0, when_found = 0, after = 0;
  walk_through(
      "square", 700, [](std::size_t t) { return t >= 200 && t < 400 ? 0.0 : 9.0; }, 1.0,
      [&](std::size_t t, const Report& report, std::uint64_t) {
        const bool has_other = report.joint->fit && report.joint->fit->elsewhere > 0.2;
        before += t >= 120 && t < 200 && has_other;
        when_found += t >= 410 && t < 490 && has_other;
        after += t >= 520 && has_other;
      });
  CHECK(before == 0);
  CHECK(when_found == 80);
  CHECK(after == 0);
}

TEST_CASE("growing: the four kinds of joint_registry are enough, and sweeps with them are refused") {
  const auto filtered = [](const Registry& registry) {
    GrowingGraph walk(registry, {.lag = 3});
    std::vector<Natural> out;
    VariableId before{0};
    for (std::size_t t = 0; t < 30; ++t) {
      Graph& g = walk.graph();
      const VariableId x = g.variable(""), y = g.observed("");
      if (t == 0) g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", 4.0}});
      if (t > 0) g.factor("gaussian_linear", {before, x}, {{"A", 0.9}, {"variance", 1.0}});
      g.factor("gaussian_noise", {x, y}, {{"variance", 1.0}});
      walk.observe(y, {seen_at(t)});
      CHECK(walk.update().stop == Report::Stop::exact);
      out.push_back(walk.belief(x)[0]);
      before = x;
    }
    return out;
  };
  CHECK(filtered(joint_registry()) == filtered(standard_registry()));
  Graph g;
  g.factor("gaussian_prior", {g.variable("x")}, {{"mean", 0.0}, {"variance", 4.0}});
  CHECK_THROWS_WITH_AS(
      (void)compile(g, forward_backward(), joint_registry()),
      "factor 'gaussian_prior0': kind 'gaussian_prior' has no messages; solve the graph by joint(), or "
      "register kind.message(...)",
      Error);
}

TEST_CASE("growing: beliefs are remembered for a while after their variables left, then they are forgotten") {
  GrowingGraph walk(standard_registry(), {.lag = 2, .remember = 3});
  std::vector<VariableId> x;
  std::vector<double> last;
  for (std::size_t t = 0; t < 30; ++t) {
    Graph& g = walk.graph();
    x.push_back(g.variable(t % 4 == 0 ? "x" + std::to_string(t) : ""));
    const VariableId y = g.observed("");
    if (t == 0) g.factor("gaussian_prior", {x[0]}, {{"mean", 0.0}, {"variance", 4.0}});
    if (t > 0) g.factor("gaussian_noise", {x[t - 1], x[t]}, {{"variance", 1.0}});
    g.factor("gaussian_noise", {x[t], y}, {{"variance", 1.0}});
    walk.observe(y, {seen_at(t)});
    (void)walk.update();
    last.push_back(0);
    for (std::size_t s = 0; s <= t; ++s) {
      CAPTURE(t - s);
      if (t - s <= 2) last[s] = walk.belief(x[s]).mean();
      if (t - s <= 5)
        CHECK(walk.belief(x[s]).mean() == oracle::relative(last[s], s + 2 == t ? 1e-15 : 1));
      else
        CHECK_THROWS_AS((void)walk.belief(x[s]), Error);
    }
  }
  CHECK_THROWS_WITH_AS((void)walk.belief(x[0]),
                       "growing graph: variable 0 was last in the window more than 3 updates ago, and its belief is "
                       "forgotten; read it earlier, or raise remember",
                       Error);
  CHECK_THROWS_WITH_AS(walk.graph().factor("gaussian_noise", {x[0], x[29]}, {{"variance", 1.0}}),
                       "factor 60 (gaussian_noise) is connected to variable 0, which was removed", Error);
  CHECK(walk.graph().find_variable("x28") == x[28]);
  CHECK_THROWS_AS((void)walk.graph().find_variable("x0"), Error);
  CHECK(walk.graph()[walk.graph().variable("x0")].name == "x0");
}

TEST_CASE("growing: a walk of poses that meets earlier ones ends near the whole of it") {
  constexpr std::uint32_t kSteps = 60, kLag = 12;
  GrowingGraph walk(standard_registry(), {.lag = kLag, .remember = kSteps});
  Graph whole;
  const SpreadMatrix noise = SpreadMatrix::covariance({0.01, 0, 0, 0, 0.01, 0, 0, 0, 0.0025});
  std::vector<VariableId> x, of_whole;
  for (std::uint32_t t = 0; t < kSteps; ++t) {
    const std::vector<double> step = {1 + 0.05 * std::sin(3.0 * t), 0.05 * std::cos(5.0 * t),
                                      std::numbers::pi / 4 + 0.02 * std::sin(7.0 * t)};
    for (Graph* const g : {&walk.graph(), &whole}) {
      std::vector<VariableId>& all = g == &whole ? of_whole : x;
      all.push_back(g->variable("", 1, "pose2"));
      if (t == 0) point_prior(*g, all[0], {0, 0, 0}, noise);
      if (t > 0) between(*g, all[t - 1], all[t], step, noise);
      if (t >= 8) between(*g, all[t - 8], all[t], {0, 0, 0}, noise);
    }
    if (t > 0) {
      const std::vector<double> at = walk.belief(x[t - 1]).means();
      const double c = std::cos(at[2]), s = std::sin(at[2]);
      walk.start(x[t], std::vector<double>{at[0] + c * step[0] - s * step[1], at[1] + s * step[0] + c * step[1],
                                           at[2] + step[2]});
    }
    const Report report = walk.update();
    CAPTURE(report.line());
    CHECK(report.joint->objective < 5);
    CHECK(report.converged());
  }
  const Plan plan = compile(whole, joint(), standard_registry());
  State state(plan);
  for (std::uint32_t t = 0; t < kSteps; ++t) set_start(state, of_whole[t], walk.belief(x[t]).means());
  CHECK(run(plan, state).converged());
  for (std::uint32_t t = kSteps - kLag; t < kSteps; ++t)
    for (std::size_t k = 0; k < 3; ++k) {
      const Belief grown = walk.belief(x[t]), exact = state.belief(of_whole[t]);
      CHECK(std::abs(std::remainder(grown.mean(0, k) - exact.mean(0, k), k < 2 ? 1e9 : 2 * std::numbers::pi)) <
            0.1 * exact.sd(0, k));
      CHECK(grown.sd(0, k) == oracle::relative(exact.sd(0, k), 0.05));
    }
  CHECK(walk.compiled() < 4 * kLag);
}

TEST_CASE("growing: undetermined variables stay, and departed ones cannot be read again") {
  GrowingGraph g(standard_registry(), {.lag = 1, .remember = 10});
  const VariableId a = g.graph().variable("a"), b = g.graph().variable("b");
  g.graph().factor("gaussian_noise", {a, b}, {{"variance", 1.0}});
  CHECK(g.update().stop == Report::Stop::singular);
  const VariableId y = g.graph().observed("y");
  g.graph().factor("gaussian_noise", {b, y}, {{"variance", 1.0}});
  g.observe(y, {2.0});
  CHECK(g.update().stop == Report::Stop::exact);
  CHECK(g.belief(a).mean() == doctest::Approx(2));
  CHECK(g.belief(a).variance() == doctest::Approx(2));
  const VariableId c = g.graph().variable("c");
  g.graph().factor("gaussian_noise", {a, c}, {{"variance", 1.0}}, {.name = "late"});
  CHECK_THROWS_WITH_AS(g.update(),
                       "growing graph: factor 'late' connects 'a', which left the window; raise the lag of 1", Error);
  const VariableId seen = g.graph().observed("seen");  // the valid part continues
  g.graph().factor("gaussian_noise", {c, seen}, {{"variance", 2.0}});
  g.observe(seen, {2.0});
  CHECK(g.update().stop == Report::Stop::exact);
  CHECK(g.belief(c).mean() == doctest::Approx(2));
  CHECK(g.belief(c).variance() == doctest::Approx(2));
  g.graph().factor("gausian_prior", {c}, {{"mean", 0.0}, {"variance", 1.0}});
  CHECK_THROWS_AS(g.update(), Error);
  g.graph().factor("gaussian_prior", {c}, {{"mean", 0.0}, {"variance", 2.0}});
  CHECK(g.update().stop == Report::Stop::exact);
  CHECK(g.belief(c).mean() == doctest::Approx(1));
  CHECK(g.belief(c).variance() == doctest::Approx(1));
  CHECK_THROWS_WITH_AS(g.observe(c, {1.0}), "variable 'c' is not observed; declare it with observed(...)", Error);
  CHECK_THROWS_WITH_AS(g.observe(y, {3.0}),
                       "growing graph: 'y' had its value at an earlier update; "
                       "declare another observed variable for a new one",
                       Error);
  g.observe(y, {2.0});
  GrowingGraph other(standard_registry(), {.lag = 1, .remember = 10});
  CHECK(other.update().stop == Report::Stop::exact);  // with nothing added
  const VariableId on = other.graph().observed("on", 1, "bernoulli"), x = other.graph().variable("x");
  const ParameterList standard = {{"mean", 0.0}, {"variance", 1.0}};
  other.graph().factor("gaussian_prior", {x}, standard);
  for (int i = 0; i < 5; ++i) CHECK(other.update().stop == Report::Stop::exact);  // x has left
  CHECK(other.belief(x).variance() == 1);
  other.graph().factor("gaussian_prior", {x}, standard, {.name = "gated", .when = {{on, 0}}});
  CHECK_THROWS_WITH_AS(other.update(),
                       "growing graph: factor 'gated' connects 'x', which left the window; raise the lag of 1", Error);
  CHECK(other.update().stop == Report::Stop::exact);
  CHECK_THROWS_WITH_AS(GrowingGraph(standard_registry(), {.lag = 0}),
                       "growing graph: the lag is 0; at least 1 is expected", Error);
}
