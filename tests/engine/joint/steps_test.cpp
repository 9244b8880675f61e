// Nonlinear graphs: against Gauss-Newton steps written out, and alternating least squares.
#include "factors/authoring/from_function.h"
#include "tests/engine/joint/joint_models.h"
#include "tests/oracles/dense_rows.h"
#include "tests/oracles/solved.h"

namespace {

using namespace dma::joint_test;
using oracle::DenseRows, oracle::PlainMatrix, oracle::largest_difference;

constexpr double kStepsError = 1e-8;

// A walk in the plane: steps are measured, and distances to three beacons.
struct PoseChain {
  static constexpr std::uint32_t kLength = 15, kBeacons = 3;
  static constexpr double kPrior = 0.1, kStep = 0.04, kRange = 0.01;
  static constexpr double kBeacon[kBeacons][2] = {{0, 6}, {8, -3}, {14, 7}};
  Graph g;
  VariableId x, y, dx, dy, range[kBeacons];
  std::vector<double> steps_x, steps_y, distances[kBeacons];

  static double path_x(std::size_t t) { return 0.9 * static_cast<double>(t); }
  static double path_y(std::size_t t) { return 2 * std::sin(0.5 * static_cast<double>(t)); }

  PoseChain() {
    x = g.variable("x", kLength), y = g.variable("y", kLength);
    dx = g.observed("dx", kLength - 1), dy = g.observed("dy", kLength - 1);
    for (const VariableId v : {x, y})
      g.factor("gaussian_prior", {gather(v, {0})}, {{"mean", 0.0}, {"variance", kPrior}});
    const VariableId sx = g.variable("sx", kLength - 1), sy = g.variable("sy", kLength - 1);
    std::vector<std::uint32_t> pairs;
    for (std::uint32_t t = 1; t < kLength; ++t) pairs.push_back(t), pairs.push_back(t - 1);
    const ParameterList difference = {{"coefficients", std::vector<double>{1, -1}}};
    g.factor("sum", {gather(x, pairs), sx}, difference);
    g.factor("sum", {gather(y, pairs), sy}, difference);
    g.factor("gaussian_noise", {sx, dx}, {{"variance", kStep}});
    g.factor("gaussian_noise", {sy, dy}, {{"variance", kStep}});
    for (std::uint32_t b = 0; b < kBeacons; ++b) {
      const VariableId r = g.variable("", kLength);
      range[b] = g.observed("range" + std::to_string(b), kLength);
      g.factor("range" + std::to_string(b), {x, y, r});
      g.factor("gaussian_noise", {r, range[b]}, {{"variance", kRange}});
      for (std::uint32_t t = 0; t < kLength; ++t)
        distances[b].push_back(std::hypot(path_x(t) - kBeacon[b][0], path_y(t) - kBeacon[b][1]) +
                               0.1 * series(17 * b + t));
    }
    for (std::uint32_t t = 1; t < kLength; ++t) {
      steps_x.push_back(path_x(t) - path_x(t - 1) + 0.2 * series(t + 50));
      steps_y.push_back(path_y(t) - path_y(t - 1) + 0.2 * series(t + 80));
    }
  }
  static Registry registry() {
    Registry out = standard_registry();
    for (std::uint32_t b = 0; b < kBeacons; ++b)
      out.add(factor_from_function("range" + std::to_string(b), [b](double px, double py) {
        return std::hypot(px - kBeacon[b][0], py - kBeacon[b][1]);
      }));
    return out;
  }
  void observe(State& state) const {
    state.observe(dx, steps_x);
    state.observe(dy, steps_y);
    for (std::uint32_t b = 0; b < kBeacons; ++b) state.observe(range[b], distances[b]);
  }
};

struct Solution {
  PlainMatrix mean, covariance;
};

// Positions (x_0, ..., y_0, ...) by Gauss-Newton on all residuals, from the true path.
Solution gauss_newton(const PoseChain& c) {
  constexpr std::size_t n = PoseChain::kLength;
  Solution found{PlainMatrix(2 * n, 1), {}};
  PlainMatrix& m = found.mean;
  for (std::size_t t = 0; t < n; ++t) m[t] = PoseChain::path_x(t), m[n + t] = PoseChain::path_y(t);
  for (int iteration = 0; iteration < 200; ++iteration) {
    DenseRows step(2 * n);
    for (const std::size_t axis : {std::size_t{0}, n}) {
      const auto& measured = axis == 0 ? c.steps_x : c.steps_y;
      step.add({{axis, 1}}, -m[axis], PoseChain::kPrior);
      for (std::size_t t = axis + 1; t < axis + n; ++t)
        step.add({{t, 1}, {t - 1, -1}}, measured[t - axis - 1] - m[t] + m[t - 1], PoseChain::kStep);
    }
    for (std::uint32_t b = 0; b < PoseChain::kBeacons; ++b)
      for (std::size_t t = 0; t < n; ++t) {
        const double px = m[t] - PoseChain::kBeacon[b][0], py = m[n + t] - PoseChain::kBeacon[b][1],
                     r = std::hypot(px, py);
        step.add({{t, px / r}, {n + t, py / r}}, c.distances[b][t] - r, PoseChain::kRange);
      }
    m += step.mean();
    if (iteration == 199) found.covariance = step.covariance();
  }
  return found;
}

}  // namespace

TEST_CASE("joint: a pose chain with range measurements is where Gauss-Newton goes") {
  const PoseChain chain;
  const Plan plan = compile(chain.g, joint(), PoseChain::registry());
  State state(plan);
  chain.observe(state);
  // Dead reckoning: the sum of the steps.
  std::vector<double> x{0}, y{0};
  for (std::size_t t = 0; t < chain.steps_x.size(); ++t)
    x.push_back(x.back() + chain.steps_x[t]), y.push_back(y.back() + chain.steps_y[t]);
  set_start(state, chain.x, x);
  set_start(state, chain.y, y);
  const Report report = run(plan, state);
  CAPTURE(report.line());
  CHECK(report.stop == Report::Stop::converged);
  CHECK(report.joint->gradient <= 1e-9);
  const Solution exact = gauss_newton(chain);
  const JointPosterior posterior(state);
  constexpr std::size_t n = PoseChain::kLength;
  CHECK(largest_difference(posterior.mean(chain.x), exact.mean.segment(0, n)) < kStepsError);
  CHECK(largest_difference(posterior.mean(chain.y), exact.mean.segment(n, n)) < kStepsError);
  CHECK(largest_difference(posterior.covariance(chain.x, chain.y), exact.covariance.block(0, n, n, n)) < kStepsError);
  for (std::size_t t = 0; t < n; ++t)
    CHECK(state.belief(chain.x).variance(t) == oracle::relative(exact.covariance(t, t), kStepsError));
  // From there, a warm run makes no step.
  const Report again = run(plan, state, {.warm = true});
  CHECK(again.joint->iterations == 1);
  CHECK(again.joint->rejected == 0);
}

TEST_CASE("joint: a start by seed is a draw from the priors, as wide as they are") {
  // sin(x) = 0 has a solution near every start, so the result identifies the start.
  Registry registry = standard_registry();
  registry.add(factor_from_function("wave", [](double at) { return std::sin(at); }));
  for (const double sd : {30.0, 1000.0}) {
    Graph g;
    const VariableId x = g.variable("x"), s = g.variable("s"), y = g.observed("y");
    g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", sd * sd}});
    g.factor("wave", {x, s});
    g.factor("gaussian_noise", {s, y}, {{"variance", 1e-4}});
    double squares = 0;
    constexpr int kSeeds = 40;
    for (int seed = 1; seed <= kSeeds; ++seed) {
      const auto [plan, state, report] =
          oracle::solved(compile(g, joint({.start_seed = static_cast<std::uint64_t>(seed)}), registry), {{y, 0.0}});
      squares += std::pow(state.belief(x).mean() / sd, 2) / kSeeds;
    }
    CAPTURE(sd);
    CHECK(squares > 0.4);
    CHECK(squares < 2.0);
  }
}

TEST_CASE("joint: a step that does not lower the objective is taken back, and the callback hears of every solve") {
  // log x with a wrong start: a full Gauss-Newton step leaves the domain.
  Graph g;
  const VariableId x = g.variable("x"), z = g.variable("z"), y = g.observed("y");
  g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", 100.0}});
  g.factor("bend", {x, z});
  g.factor("gaussian_noise", {z, y}, {{"variance", 0.01}});
  Registry registry = standard_registry();
  registry.add(factor_from_function("bend", [](double at) { return std::atan(at); }));
  int calls = 0;
  const auto solve = [&](JointOptions options) {
    const Plan plan = compile(g, joint(std::move(options)), registry);
    State state(plan);
    state.observe(y, 0.5);
    const double start[] = {6.0};
    set_start(state, x, start);
    return run(plan, state);
  };
  const Report report = solve({.damping = 0, .callback = [&](const JointReport&) { return ++calls > 0; }});
  CHECK(report.stop == Report::Stop::converged);
  CHECK(report.joint->rejected > 0);
  CHECK(report.joint->iterations >= calls);
  CHECK(calls > report.joint->rejected);
  const Report stopped = solve({.callback = [](const JointReport& r) { return r.iterations < 2; }});
  CHECK(stopped.stop == Report::Stop::interrupted);
  CHECK(!stopped.converged());
  CHECK(stopped.line().starts_with("interrupted after 2 solves, not converged; objective"));
  const Report limited = solve({.limit = 3});
  CHECK(limited.stop == Report::Stop::limit);
  CHECK(limited.joint->iterations == 3);
}

TEST_CASE("joint: a saddle that bends down little, in one direction of many, is left") {
  // a = b by symmetry: a^2 + (a^2 - y)^2 / (2 variance) is least at a^2 = y - variance.
  for (const std::size_t others : {1, 8, 100})
    for (const double variance : {0.1, 0.5, 1.0, 5.0})
      for (const double ratio : {1.01, 1.2, 2.0}) {
        INFO("others ", others, ", variance ", variance, ", ratio ", ratio);
        Graph g;
        const VariableId a = g.variable("a"), b = g.variable("b"), z = g.variable("z"), y = g.observed("y");
        for (const VariableId v : {a, b, g.variable("others", others)})
          g.factor("gaussian_prior", {v}, {{"mean", 0.0}, {"variance", 1.0}});
        g.factor("product", {a, b, z});
        g.factor("gaussian_noise", {z, y}, {{"variance", variance}});
        const Plan plan = compile(g, joint(), standard_registry());
        State state(plan);
        state.observe(y, ratio * variance);
        // Gauss-Newton converges slowly here: a run that reaches its limit reports that.
        const bool has_arrived = run(plan, state).stop == Report::Stop::converged;
        CHECK(std::abs(state.belief(a).mean()) ==
              oracle::relative(std::sqrt((ratio - 1) * variance), has_arrived ? 1e-6 : 0.2));
      }
}

TEST_CASE("joint: a function that leaves the range of a double has diverged, and is not called singular") {
  Graph g;
  const VariableId x = g.variable("x"), z = g.variable("z"), y = g.observed("y");
  g.factor("gaussian_prior", {x}, {{"mean", 900.0}, {"variance", 1e6}});
  g.factor("explode", {x, z});
  g.factor("gaussian_noise", {z, y}, {{"variance", 0.01}});
  Registry registry = standard_registry();
  registry.add(factor_from_function("explode", [](double at) { return std::exp(at); }));
  auto [plan, state, report] = oracle::solved(compile(g, joint(), registry), {{y, 1.0}});
  CHECK(report.stop == Report::Stop::diverged);
  const double start[] = {3.0};
  set_start(state, x, start);
  CHECK(run(plan, state).stop == Report::Stop::converged);
  CHECK(std::abs(state.belief(x).mean()) < 1e-4);
}

TEST_CASE("joint steps: if another start is worse, the covariance is that of the first solution") {
  // Solved from starts at 3 and -3. The prior is so wide that the second start has the other sign for one of them.
  for (const double start : {3.0, -3.0}) {
    Graph g;
    const VariableId x = g.variable("x"), square = g.variable("square"), seen = g.observed("seen");
    g.factor("gaussian_prior", {x}, {{"mean", start}, {"variance", 1e4}});
    g.factor("square", {x, square});
    g.factor("gaussian_noise", {square, seen}, {{"variance", 0.01}});
    const auto [plan, state, report] = oracle::solved(compile(g, joint(), standard_registry()), {{seen, 9.0}});
    CHECK(report.converged());
    const JointPosterior posterior(state);
    const double variance = 1 / (1e-4 + 4 * start * start / 0.01);
    CHECK(posterior.mean(x)(0) == oracle::relative(start, 1e-9));
    CHECK(posterior.covariance(x, 0, x, 0) == oracle::relative(variance, 1e-9));
    CHECK(posterior.covariance(x, 0, square, 0) == oracle::relative(2 * start * variance, 1e-9));
  }
}
