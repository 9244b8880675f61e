// Messages of negative precision, which are kept if the belief stays proper.
#include "engine/kinds/kind.h"
#include "tests/oracles/distributions.h"
#include "tests/oracles/quadrature.h"
#include "tests/oracles/solved.h"

namespace {

using oracle::normal_below;

// Nodes and weights of N(0, 1): the trapezoidal rule, whose error for smooth functions is below 1e-8 here.
struct NormalGrid {
  std::vector<double> at, weight;
  explicit NormalGrid(double step, double end) {
    for (double t = -end; t <= end + step / 2; t += step)
      at.push_back(t), weight.push_back(step * std::exp(-0.5 * t * t) / std::sqrt(2 * std::acos(-1.0)));
  }
};

// The number of messages of negative precision from a factor to a port.
std::size_t widening_at(const State& state, FactorId factor, const char* port) {
  std::size_t count = 0;
  for (const Gaussian& m : state.messages(factor, port)) count += m.rho < 0;
  return count;
}

struct WeightedMoments {
  double first = 0, second = 0;
  void add(double weight, double x) { first += weight * x, second += weight * x * x; }
  double mean(double total) const { return first / total; }
  double sd(double total) const { return std::sqrt(second / total - mean(total) * mean(total)); }
};

}  // namespace

TEST_CASE("widening: messages pass through sums, noise and scales as the integral does, in every schedule") {
  // total = a + b / 2 is observed with noise, and its sign by an unreliable witness.
  Graph g;
  const auto a = g.variable("a"), b = g.variable("b"), total = g.variable("total"), half = g.variable("half"),
             noisy = g.variable("noisy");
  const auto step = g.variable("step", 1, "categorical(2)"), told = g.observed("told", 1, "categorical(2)");
  g.factor("gaussian_prior", {a}, {{"mean", 2.0}, {"variance", 1.5}});
  g.factor("gaussian_prior", {b}, {{"mean", 1.0}, {"variance", 3.0}});
  g.factor("affine", {b, half}, {{"a", 0.5}});
  g.factor("add", {a, half, total});
  g.factor("gaussian_noise", {total, noisy}, {{"variance", 0.4}});
  g.factor("interval", {noisy, step}, {{"cuts", 0.0}});
  g.factor("table", {step, told}, {{"probability", {0.8, 0.2, 0.3, 0.7}}});
  const auto f = [](double t) { return t > 0 ? 0.3 : 0.8; };
  const Gaussian prior = Gaussian::from_moments(2.5, 1.5 + 0.75 + 0.4);
  const auto exact = oracle::matched(f, prior, 0.0);
  REQUIRE(exact.variance > prior.variance());
  const auto check = [&](const auto& schedule) {
    const Plan plan = compile(g, schedule, standard_registry(), {.method = "ep"});
    State state(plan);
    state.observe(told, 0.0);
    const auto check_beliefs = [&](const State& one, const Report& report) {
      CHECK(report.faults == 0);
      CHECK(report.replaced == 0);
      // A term of the sum moves by its fraction of the variance.
      for (const auto& expected : {std::tuple{noisy, 2.5, 2.65, 1.0},
                                   {total, 2.5, 2.25, 2.25 / 2.65},
                                   {a, 2.0, 1.5, 1.5 / 2.65},
                                   {b, 1.0, 3.0, 1.5 / 2.65},
                                   {half, 0.5, 0.75, 0.75 / 2.65}}) {
        const auto [variable, mean, variance, gain] = expected;
        CAPTURE(one.belief(std::get<0>(expected)).text());
        CHECK(one.belief(variable).mean() == oracle::relative(mean + gain * (exact.mean - 2.5), 1e-8));
        CHECK(one.belief(variable).variance() ==
              oracle::relative(variance + gain * gain * (exact.variance - 2.65), 1e-8));
      }
      CHECK(log_evidence(one.plan(), one) == oracle::relative(std::log(exact.mass), 1e-8));
    };
    check_beliefs(state, run(plan, state));
    if (plan->schedule.order == Schedule::Order::once) return;
    State copied = state.copy();
    check_beliefs(copied, run(plan, copied, {.warm = true}));
    check_beliefs(state, run(plan, state));
  };
  check(forward_backward());
  check(flooding({.tolerance = 1e-13}));
  check(flooding({.tolerance = 1e-13, .damping = 0.4}));
  check(sequential({.tolerance = 1e-13}));
  check(residual({.tolerance = 1e-13}));
}

TEST_CASE("widening: weights of a line with unreliable labels, fused and unfused, against sums over the weights") {
  const std::vector<std::vector<double>> inputs{{1, 0.3, -1.2}, {1, -0.8, 0.4}, {1, 1.5, 0.9}, {1, -1.1, -0.6},
                                                {1, 0.2, 1.7},  {1, 0.9, -0.5}, {1, -2, 0.1},  {1, 0.6, 0.6}};
  const std::vector<double> label{0, 0, 1, 1, 0, 1, 1, 0};  // some contradict their priors
  const NormalGrid grid(0.4, 5.2);
  double total = 0;
  WeightedMoments exact[3];
  for (std::size_t a = 0; a < grid.at.size(); ++a)
    for (std::size_t b = 0; b < grid.at.size(); ++b)
      for (std::size_t c = 0; c < grid.at.size(); ++c) {
        double weight = grid.weight[a] * grid.weight[b] * grid.weight[c];
        const double w[] = {0.7 * grid.at[a], 1.5 + 0.7 * grid.at[b], -1.5 + 0.7 * grid.at[c]};
        for (std::size_t i = 0; i < label.size(); ++i) {
          double z = 0;
          for (std::size_t k = 0; k < 3; ++k) z += w[k] * inputs[i][k];
          const double p = normal_below(z / std::sqrt(0.5));
          weight *= label[i] == 1 ? 0.75 * p + 0.25 * (1 - p) : 0.25 * p + 0.75 * (1 - p);
        }
        total += weight;
        for (std::size_t k = 0; k < 3; ++k) exact[k].add(weight, w[k]);
      }
  Graph g;
  const auto w = g.variable("w", 3), step = g.variable("step", 8, "categorical(2)"), p = g.variable("p", 24),
             z = g.variable("z", 8), x = g.observed("x", 24), told = g.observed("told", 8, "categorical(2)");
  std::vector<double> flat;
  for (const auto& one : inputs) flat.insert(flat.end(), one.begin(), one.end());
  g.factor("gaussian_prior", {w}, {{"mean", {0.0, 1.5, -1.5}}, {"variance", 0.49}});
  g.factor("product", {column(w), x, p});
  g.factor("sum", {p, z});
  const FactorId labels = g.factor("interval", {z, step}, {{"noise", 0.5}, {"cuts", 0.0}});
  g.factor("table", {step, told}, {{"probability", {0.75, 0.25, 0.25, 0.75}}});
  std::vector<double> means;
  for (const bool fuse : {true, false}) {
    const auto [plan, state, report] = oracle::solved(
        compile(g, sequential({.tolerance = 1e-12, .limit = 500}), standard_registry(), {.method = "ep", .fuse = fuse}),
        {{x, flat}, {told, label}});
    CAPTURE(report.line());
    CHECK(report.converged());
    CHECK(report.faults == 0);
    CHECK(report.replaced == 0);
    CHECK(widening_at(state, labels, "x") > 0);
    for (std::size_t k = 0; k < 3; ++k) {
      const Belief found = state.belief(w);
      CHECK(std::abs(found.mean(k) - exact[k].mean(total)) < 0.05 * exact[k].sd(total));
      CHECK(std::abs(found.sd(k) / exact[k].sd(total) - 1) < 0.05);
      if (fuse)
        means.push_back(found.mean(k));
      else
        CHECK(std::abs(found.mean(k) - means[k]) < 1e-9);
    }
  }
}

TEST_CASE("widening: an improper belief is a fault, and no run is reported as converged") {
  Registry registry = standard_registry();
  registry.add(kind("too_wide")
                   .input("x")
                   .message(
                       "ep", "x", [](const Gaussian& x) { return Gaussian(0, -2 * x.rho); }, from("x")));
  Graph g;
  const auto x = g.variable("x");
  g.factor("gaussian_prior", {x}, {{"mean", 1.0}, {"variance", 2.0}});
  g.factor("too_wide", {x}, {}, {.name = "wide"});
  const auto [plan, state, report] = oracle::solved(compile(g, flooding(), registry, {.method = "ep"}));
  CHECK(report.stop == Report::Stop::diverged);
  CHECK(report.faults == 1);
  CHECK(report.first_fault.text() == "wide.x");
  CHECK(state.belief(x).is_uninformed(0));
}

TEST_CASE("widening: one rating says that taste and trait have the same sign, and each belief is wider than before") {
  Graph alone;
  const auto x = alone.variable("x"), y = alone.variable("y"), z = alone.variable("z"), seen = alone.observed("seen");
  for (const VariableId v : {x, y}) alone.factor("gaussian_prior", {v}, {{"mean", 0.3}, {"variance", 1.0}});
  const FactorId likes = alone.factor("product", {x, y, z});
  alone.factor("gaussian_noise", {z, seen}, {{"variance", 0.3}});
  const auto [once, rated_once, report] =
      oracle::solved(compile(alone, forward_backward(), standard_registry(), {.method = "ep"}), {{seen, 1.5}});
  CHECK(report.faults == 0);
  const NormalGrid fine(0.05, 6);
  double mass = 0;
  WeightedMoments of_x;
  for (std::size_t i = 0; i < fine.at.size(); ++i)
    for (std::size_t k = 0; k < fine.at.size(); ++k) {
      const double a = 0.3 + fine.at[i], off = 1.5 - a * (0.3 + fine.at[k]),
                   weight = fine.weight[i] * fine.weight[k] * std::exp(-off * off / 0.6);
      mass += weight, of_x.add(weight, a);
    }
  CHECK(of_x.sd(mass) > 1);
  CHECK(widening_at(rated_once, likes, "x") == 1);
  CHECK(rated_once.belief(x).mean() == oracle::relative(of_x.mean(mass), 1e-6));
  CHECK(rated_once.belief(x).sd() == oracle::relative(of_x.sd(mass), 1e-6));
}
