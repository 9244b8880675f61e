#include "factors/authoring/from_function.h"

#include "engine/kinds/evaluate.h"
#include "factors/likelihoods/greater_than.h"
#include "factors/likelihoods/probit.h"
#include "tests/oracles/allocations.h"
#include "tests/oracles/quadrature.h"
#include "tests/oracles/solved.h"

namespace {

using Values = std::span<const double>;

Gaussian message_of(const Kind& kind, std::size_t target, const std::vector<Gaussian>& arrivals,
                    const std::vector<double>& parameters = {}) {
  Arrivals all;
  for (const Gaussian& a : arrivals) all.push_back({a});
  return Gaussian(evaluate(kind, "ep", target, all, parameters).value()[0]);
}

void check_close(const Gaussian& a, const Gaussian& b, double tolerance) {
  CHECK(a.rho == oracle::relative(b.rho, tolerance));
  CHECK(a.tau == oracle::relative(b.tau, tolerance));
}

Kind poisson_log() {
  return likelihood_from_log_density("poisson_log", [](double x, double y) { return y * x - std::exp(x); });
}

const std::vector<Gaussian> kDensityArrivals = {Gaussian::from_moments(0, 1), Gaussian::from_moments(1.5, 0.3),
                                                Gaussian::from_moments(-2, 4), Gaussian::from_moments(-6, 2),
                                                Gaussian::from_moments(3, 1e-4)};

}  // namespace

TEST_CASE("from_log_density: closed forms are what the quadrature of their densities gives") {
  const Kind probit = likelihood_from_log_density("probit", &Probit::log_density);
  const Kind greater = factor_from_log_density(
      "greater", {"x"}, 1, [](Values v, Values p) { return GreaterThan::log_density(v[0], {p[0]}); }, "",
      {{"threshold", finite(), 0.0}});
  for (const Gaussian& x : kDensityArrivals) {
    CAPTURE(x.mean());
    for (const double y : {-1.0, 1.0}) {
      const Gaussian exact = Probit::to_x(x, Gaussian::point(y)),
                     found = message_of(probit, 0, {x, Gaussian::point(y)});
      check_close(x * found, x * exact, 1e-9);
      const std::vector<Natural> arrivals{x, Gaussian::point(y)};
      CHECK(probit.log_integral()(arrivals, {}) == oracle::relative(Probit::log_integral(x, Gaussian::point(y)), 1e-8));
    }
    check_close(x * message_of(greater, 0, {x}, {-1.0}), x * GreaterThan::to_x(x, {-1.0}), 1e-8);
  }
}

TEST_CASE("from_log_density: a site of the joint solver, parameters by slot, and its evidence") {
  Registry registry = standard_registry();
  registry.add(likelihood_from_log_density(
      "scaled", [](double x, double y, Values p) { return y * p[0] * x - std::exp(p[0] * x); }, "a test",
      {{"scale", above(0)}, {"unused", finite(), 1.0}}));
  Graph g;
  const VariableId x = g.variable("x", 2), y = g.observed("y", 2);
  g.factor("gaussian_prior", {x}, {{"mean", 0.5}, {"variance", 2.0}});
  g.factor("scaled", {x, y}, {{"scale", std::vector<double>{0.5, 1.5}}});
  const Plan plan = compile(g, joint(), registry);
  State state(plan);
  state.observe(y, {3.0, 1.0});
  CHECK(run(plan, state).stop == Report::Stop::converged);
  const double scales[] = {0.5, 1.5}, counts[] = {3, 1};
  double evidence = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto exact =
        oracle::matched([&](double t) { return std::exp(counts[i] * scales[i] * t - std::exp(scales[i] * t)); },
                        Gaussian::from_moments(0.5, 2));
    CHECK(state.belief(x).mean(i) == oracle::relative(exact.mean, 1e-8));
    CHECK(state.belief(x).variance(i) == oracle::relative(exact.variance, 1e-8));
    evidence += std::log(exact.mass);
  }
  CHECK(JointPosterior(state).log_evidence() == oracle::relative(evidence, 1e-9));
}

// All three by the trapezoidal rule.
TEST_CASE("noise of a log variance: moments and evidence are those of the integral, for any known ports") {
  double d = 0;
  SUBCASE("Gaussian") {}
  SUBCASE("Student's t") { d = 5; }
  const Kind kind = standard_registry().kind(d > 0 ? "student_t_log_variance" : "gaussian_log_variance");
  const std::vector<double> parameters(d > 0 ? 1 : 0, d);
  const double tolerance = d > 0 ? 1e-6 : 1e-8;  // 1e-6: a two-dimensional lattice; 1e-8: one integral
  const double constant = d > 0 ? std::tgamma(0.5 * (d + 1)) / std::tgamma(0.5 * d) / std::sqrt(std::numbers::pi * d)
                                : 1 / std::sqrt(2 * std::numbers::pi);
  const auto density = [&](double squares) {
    return constant * (d > 0 ? std::pow(1 + squares / d, -0.5 * (d + 1)) : std::exp(-0.5 * squares));
  };
  const auto z = Gaussian::from_moments(-0.4, 0.7);
  struct Case {
    Gaussian x, z, y;
  };
  const Case cases[] = {{Gaussian::from_moments(0.3, 0.5), z, Gaussian::from_moments(1.1, 0.8)},
                        {Gaussian::from_moments(0.3, 0.5), z, Gaussian::point(2.2)},
                        {Gaussian::point(0), z, Gaussian::point(-0.2)},
                        {Gaussian::from_moments(-3, 2), Gaussian::point(0.5), Gaussian::from_moments(2, 0.4)},
                        {Gaussian::from_moments(0, 3), Gaussian::from_moments(1, 1), Gaussian::point(3)}};
  for (const Case& c : cases) {
    const std::vector<Gaussian> arrivals{c.x, c.z, c.y};
    double mass = 0, first[3] = {}, second[3] = {};
    constexpr double kEnd = 8.0, kStep = 0.1;
    const auto along = [&](const Gaussian& g, const auto& visit) {
      if (g.is_point()) return visit(g.mean(), 1.0);
      for (double t = -kEnd; t <= kEnd; t += kStep)
        visit(g.mean() + t * g.sd(), kStep * std::exp(-0.5 * t * t) / std::sqrt(2 * 3.14159265358979323846));
    };
    along(c.x, [&](double x, double px) {
      along(c.z, [&](double v, double pz) {
        along(c.y, [&](double y, double py) {
          const double at[] = {x, v, y},
                       w = px * pz * py * std::exp(-0.5 * v) * density((y - x) * (y - x) * std::exp(-v));
          mass += w;
          for (std::size_t i = 0; i < 3; ++i) first[i] += w * at[i], second[i] += w * at[i] * at[i];
        });
      });
    });
    const std::vector<Natural> naturals{c.x, c.z, c.y};
    CHECK(kind.log_integral()(naturals, parameters) == oracle::relative(std::log(mass), tolerance));
    for (std::size_t i = 0; i < 3; ++i) {
      CAPTURE(i);
      const Gaussian message = message_of(kind, i, arrivals, parameters);
      if (arrivals[i].is_point()) {
        CHECK(message.is_uniform());
        continue;
      }
      const Gaussian belief = arrivals[i] * message;
      const double mean = first[i] / mass;
      CHECK(belief.mean() == oracle::relative(mean, tolerance));
      CHECK(belief.variance() == oracle::relative(second[i] / mass - mean * mean, tolerance));
    }
  }
  // A y with a uniform message gets N(E x, V x + E exp(z)); one with a nearly uniform message, nearly that.
  const Gaussian x = Gaussian::from_moments(2, 0.5), wide = Gaussian::from_moments(1, 25);
  for (const Gaussian& y : {Gaussian::uniform(), Gaussian::from_moments(0, 1e30)}) {
    if (d > 0 && !y.is_uniform()) continue;
    const Gaussian ahead = message_of(kind, 2, {x, wide, y}, parameters);
    CHECK(ahead.mean() == oracle::relative(2, 1e-9));
    CHECK(ahead.variance() == oracle::relative(0.5 + std::exp(1 + 12.5) * (d > 0 ? d / (d - 2) : 1), 1e-9));
  }
  CHECK(message_of(kind, 1, {x, z, Gaussian::uniform()}, parameters).is_uniform());
  CHECK(message_of(kind, 0, {x, Gaussian::uniform(), x}, parameters).is_uniform());
}

TEST_CASE("from_log_density: an outlier's message is a site in sweeps, and in joint() replaced and counted") {
  Graph g;
  const VariableId x = g.variable("x"), y = g.observed("y", 3);
  g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", 4.0}});
  g.factor("student_t_noise", {all_to_one(x), y}, {{"scale", 0.3}, {"degrees", 2.0}});
  for (const bool by_joint : {false, true}) {
    const auto [plan, state, report] =
        oracle::solved(by_joint ? compile(g, joint(), standard_registry())
                                : compile(g, forward_backward(), standard_registry(), {.method = "ep"}),
                       {{y, {1.0, 1.2, 30.0}}});
    CHECK(report.replaced == (by_joint ? 1 : 0));
    CHECK(report.faults == 0);
    CHECK((report.text().find("1 replaced") != std::string::npos) == by_joint);
    if (by_joint) CHECK(state.belief(x).mean() == oracle::relative(1.1, 0.1));
  }
}

TEST_CASE("from_log_density: an unknown value gives a uniform message, an impossible one a counted fault") {
  const Kind kind = poisson_log();
  const Gaussian x = Gaussian::from_moments(1, 1);
  CHECK(message_of(kind, 0, {x, Gaussian::uniform()}).is_uniform());
  CHECK(message_of(kind, 0, {Gaussian::uniform(), Gaussian::point(1)}).is_uniform());
  CHECK(message_of(kind, 0, {Gaussian::point(2), Gaussian::point(1)}).is_uniform());
  const Kind never = likelihood_from_log_density("never", [](double, double) { return -kInfinity; });
  CHECK_FALSE(evaluate(never, "ep", 0, {{x}, {Gaussian::point(1)}}));
}

TEST_CASE("from_log_density: wrong ports and an outcome that is not observed are Errors that say what to do") {
  CHECK_THROWS_WITH_AS(
      static_cast<void>(factor_from_log_density("f", {"x", "y"}, 3, [](Values, Values) { return 0.0; })),
      doctest::Contains("one to"), Error);
  Registry registry = standard_registry();
  registry.add(poisson_log());
  Graph g;
  const VariableId x = g.variable("x"), y = g.variable("y");
  g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", 1.0}});
  g.factor("poisson_log", {x, y});
  CHECK_THROWS_WITH_AS(static_cast<void>(compile(g, forward_backward(), registry, {.method = "ep"})),
                       doctest::Contains("observe"), Error);
}
