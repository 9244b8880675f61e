// Checks by importance weights that the Gaussian fits the posterior.
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>

#include "factors/authoring/from_function.h"
#include "tests/engine/joint/joint_models.h"
#include "tests/oracles/solved.h"

namespace {

using namespace dma::joint_test;

// One unknown x ~ "flat" and an observation 0 = f(x) + N(0, 1), f(x) = x near 0 and of slope c farther out: the
// Gaussian at 0 is N(0, 1), the posterior is about N(0, 1 / c^2), and P(w > t) falls as t^(-1 / k) with k = 1 - c^2.
Report run_bent(double slope, int draws) {
  constexpr double kBend = 0.02;
  Registry registry = standard_registry();
  registry.add(factor_from_function("bent", [slope](double x) {
    return std::abs(x) < kBend ? x : std::copysign(kBend + slope * (std::abs(x) - kBend), x);
  }));
  Graph g;
  const VariableId x = g.variable("x"), f = g.variable("f"), y = g.observed("y");
  g.factor("bent", {x, f});
  g.factor("gaussian_noise", {f, y}, {{"variance", 1.0}});
  const Plan plan = compile(g, joint({.check_draws = draws}), registry);
  State state(plan);
  state.observe(y, 0.0);
  return run(plan, state);
}

}  // namespace

TEST_CASE("joint: the report shows that Laplace's Gaussian does not fit eight schools, whose mean it misses") {
  constexpr double kWide = 100;
  Registry registry = standard_registry();
  registry.add(factor_from_log_density("half_cauchy", {"x"}, 1, [](std::span<const double> v, std::span<const double>) {
    return v[0] - std::log1p(std::pow(std::exp(v[0]) / 5, 2)) + v[0] * v[0] / (2 * kWide);  // over its Gaussian prior
  }));
  Graph g;
  const VariableId mu = g.variable("mu"), log_tau = g.variable("log_tau"), tau = g.variable("tau"),
                   eta = g.variable("eta", 8), shift = g.variable("shift", 8), theta = g.variable("theta", 8),
                   y = g.observed("y", 8);
  g.factor("gaussian_prior", {mu}, {{"mean", 0.0}, {"variance", 25.0}});
  g.factor("gaussian_prior", {eta}, {{"mean", 0.0}, {"variance", 1.0}});
  g.factor("gaussian_prior", {log_tau}, {{"mean", 0.0}, {"variance", kWide}});
  g.factor("half_cauchy", {log_tau});
  g.factor("exponential", {log_tau, tau});
  g.factor("product", {all_to_one(tau), eta, shift});
  g.factor("add", {all_to_one(mu), shift, theta});
  g.factor("gaussian_noise", {theta, y}, {{"variance", {225.0, 100.0, 256.0, 121.0, 81.0, 121.0, 100.0, 324.0}}});
  const auto [plan, state, report] =
      oracle::solved(compile(g, joint(), registry), {{y, {28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0}}});
  CAPTURE(report.line());
  REQUIRE(report.joint->fit.has_value());
  CHECK(state.belief(mu).mean() == oracle::relative(1.2, 0.05));  // by quadrature 4.4 (hyper_test.cpp)
  CHECK(!report.joint->fit->is_good());
}

TEST_CASE("joint: the shape of the weights is the one that two Gaussians have") {
  for (const double slope : {0.9, 0.7, 0.5}) {
    CAPTURE(slope);
    const Report report = run_bent(slope, 20'000);
    REQUIRE(report.joint->fit.has_value());
    CHECK(std::abs(report.joint->fit->k - (1 - slope * slope)) < 0.12);
    // E[w]^2 / E[w^2] = c sqrt(2 - c^2) / c^2 ... for w = exp((1 - c^2) z^2 / 2), where the second moment exists.
    const double c = slope * slope;
    if (c > 0.5) CHECK(report.joint->fit->effective / 20'000 == oracle::relative(std::sqrt(2 * c - 1) / c, 0.15));
  }
  CHECK(run_bent(0.95, 400).joint->fit->is_good());
  const Report wide = run_bent(0.1, 400);
  CAPTURE(wide.line());
  CHECK(!wide.joint->fit->is_good());
  CHECK(wide.line().find("; the Gaussian does not fit the posterior (") != std::string::npos);
  CHECK(wide.text().find("fit: the Gaussian does not fit") != std::string::npos);
  CHECK(run_bent(0.1, 400).joint->fit->k == wide.joint->fit->k);  // seeded
  CHECK(!run_bent(0.1, 0).joint->fit.has_value());
}

TEST_CASE("joint: if the Gaussian is the posterior the weights are equal") {
  // A linear graph behind a function that is not declared linear.
  Registry registry = standard_registry();
  registry.add(factor_from_function("twice", [](double x) { return 2 * x; }));
  Graph g;
  const VariableId x = g.variable("x", 5), f = g.variable("f", 5), y = g.observed("y", 5);
  g.factor("gaussian_prior", {x}, {{"mean", 1.0}, {"variance", 2.0}});
  g.factor("twice", {x, f});
  g.factor("gaussian_noise", {f, y}, {{"variance", 0.5}});
  const auto [plan, state, report] = oracle::solved(compile(g, joint(), registry), {{y, {0.0, 1.0, 2.0, 3.0, 4.0}}});
  CHECK(report.joint->fit->k < 0.1);
  CHECK(report.joint->fit->effective == oracle::relative(400, 1e-6));
  CHECK(report.line().find("; the Gaussian fits the posterior: k ") != std::string::npos);
  CHECK(state.belief(x).mean(2) == doctest::Approx((0.5 + 8) / 8.5));  // the check does not change the answer
}

TEST_CASE("joint: a skipped check is explained, and linear graphs need none") {
  Graph g;
  const VariableId x = g.variable("x"), s = g.variable("s"), y = g.observed("y");
  g.factor("gaussian_prior", {x}, {{"mean", 1.0}, {"variance", 1.0}});
  g.factor("square", {x, s});
  g.factor("gaussian_noise", {s, y}, {{"variance", 1.0}});
  const auto solved = [&](JointOptions options, const Registry& registry) {
    const Plan plan = compile(g, joint(std::move(options)), registry);
    State state(plan);
    state.observe(y, 1.1);
    return run(plan, state);
  };
  CHECK(solved({.check_draws = 100'000'000}, standard_registry())
            .text()
            .find("fit: not checked whether the Gaussian fits the posterior: 100000000 draws of a graph of this size "
                  "are too much work") != std::string::npos);
  CHECK_THROWS_WITH_AS(solved({.check_draws = 7}, standard_registry()),
                       "joint: check_draws is 7; 0 or at least 100 are expected", Error);
  Registry opaque = standard_registry();
  opaque.add(kind("opaque").input("x").message(
      "ep", "x", [](const Gaussian&) { return Gaussian(0.1, 0.2); }, from("x")));
  g.factor("opaque", {x});
  CHECK(solved({}, opaque).text().find("fits the posterior: kind 'opaque' has no log_density") != std::string::npos);
  Graph linear;
  const VariableId v = linear.variable("v");
  linear.factor("gaussian_prior", {v}, {{"mean", 1.0}, {"variance", 1.0}});
  const Plan plan = compile(linear, joint(), standard_registry());
  State state(plan);
  CHECK(!run(plan, state).joint->fit.has_value());
}

TEST_CASE("joint: what functions give is checked too: a funnel that is not centred, and a square at its minimum") {
  Graph funnel;
  const VariableId v = funnel.variable("v"), half = funnel.variable("half"), scale = funnel.variable("scale"),
                   z = funnel.variable("z"), x = funnel.variable("x");
  funnel.factor("gaussian_prior", {v}, {{"mean", 0.0}, {"variance", 9.0}});
  funnel.factor("gaussian_prior", {z}, {{"mean", 0.0}, {"variance", 1.0}});
  funnel.factor("affine", {v, half}, {{"a", 0.5}, {"b", 0.0}});
  funnel.factor("exponential", {half, scale});
  funnel.factor("product", {scale, z, x});
  Graph square;
  const VariableId root = square.variable("root"), s = square.variable("s");
  square.factor("gaussian_prior", {root}, {{"mean", 0.0}, {"variance", 1.0}});
  square.factor("square", {root, s});
  for (const auto& [graph, names] : {std::pair(&funnel, "'scale' 'x'"), {&square, "'s'"}}) {
    const Plan plan = compile(*graph, joint(), standard_registry());
    State state(plan);
    const Report report = run(plan, state);
    CAPTURE(report.text());
    REQUIRE(report.joint->fit.has_value());
    CHECK(!report.joint->fit->is_good());
    CHECK(std::string_view(names).find(report.joint->fit->farthest) != std::string_view::npos);
  }
}

TEST_CASE("joint: the minimum between two modes is left, and one of two is not called a fit") {
  Graph g;
  const VariableId x = g.variable("x"), s = g.variable("s"), y = g.observed("y");
  g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", 100.0}});
  g.factor("square", {x, s});
  g.factor("gaussian_noise", {s, y}, {{"variance", 0.01}});
  const Plan plan = compile(g, joint(), standard_registry());
  for (const bool is_told : {false, true}) {
    State state(plan);
    state.observe(y, 4.0);
    const double zero[] = {0.0};
    if (is_told) set_start(state, x, zero);
    const Report report = run(plan, state);
    INFO("is_told ", is_told, ", report.line() ", report.line());
    CHECK(std::abs(state.belief(x).mean()) == oracle::relative(2, 1e-3));
    REQUIRE(report.joint->fit.has_value());
    CHECK(!report.joint->fit->is_good());
    CHECK(report.joint->fit->elsewhere == oracle::relative(0.5, 0.01));
  }
}

TEST_CASE(
    "joint: a Gaussian that is too narrow is not called a fit, as with a regressor that was measured with error") {
  // "air" of BUGS volume II: y_j of n_j children ill, with log odds a + b x_j; x_j is known up to an error.
  constexpr double kIll[] = {21, 20, 15}, kChildren[] = {48, 34, 21}, kMeasured[] = {10, 30, 50}, kVariance = 81.14;
  Graph g;
  const VariableId a = g.variable("a"), b = g.variable("b"), x = g.variable("x", 3), bx = g.variable("bx", 3),
                   odds = g.variable("odds", 3), y = g.observed("y", 3);
  g.factor("gaussian_prior", {a}, {{"mean", 0.0}, {"variance", 1000.0}});
  g.factor("gaussian_prior", {b}, {{"mean", 0.0}, {"variance", 1000.0}});
  std::vector<double> means;
  for (const double z : kMeasured) means.push_back(4.48 + 0.76 * z);
  g.factor("gaussian_prior", {x}, {{"mean", means}, {"variance", kVariance}});
  g.factor("product", {all_to_one(b), x, bx});
  g.factor("add", {all_to_one(a), bx, odds});
  g.factor("binomial", {odds, y}, {{"trials", std::vector<double>(kChildren, kChildren + 3)}});
  const Plan plan = compile(g, joint(), standard_registry());
  State state(plan);
  state.observe(y, std::span(kIll));
  const Report report = run(plan, state);
  CAPTURE(report.line());
  // The posterior of a: b and every x_j by sums over grids.
  double mass = 0, first = 0, second = 0;
  for (double at_a = -12; at_a < 8; at_a += 0.1)
    for (double at_b = -0.3; at_b < 0.6; at_b += 0.003) {
      double density = std::exp(-(at_a * at_a + at_b * at_b) / 2000);
      for (int j = 0; j < 3; ++j) {
        double of_row = 0;
        for (double z = -6; z <= 6; z += 0.1) {
          const double p = 1 / (1 + std::exp(-at_a - at_b * (means[static_cast<std::size_t>(j)] + 9.0078 * z)));
          of_row += std::exp(-0.5 * z * z) * std::pow(2 * p, kIll[j]) * std::pow(2 * (1 - p), kChildren[j] - kIll[j]);
        }
        density *= of_row;
      }
      mass += density, first += density * at_a, second += density * at_a * at_a;
    }
  const double mean = first / mass, sd = std::sqrt(second / mass - mean * mean);
  INFO("mean ", mean, ", sd ", sd);
  CHECK(sd > 1.2 * state.belief(a).sd());  // the answer is too narrow ...
  REQUIRE(report.joint->fit.has_value());
  CHECK(!report.joint->fit->is_good());  // ... and says so
}
