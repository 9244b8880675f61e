// Draws by Hamiltonian Monte Carlo, against closed formulas and quadrature.
#include "engine/joint/joint.h"

#include "engine/kinds/kind.h"
#include "tests/oracles/solved.h"

namespace {

struct MeanAndSd {
  double mean, sd;
};
template <class LogDensity>
MeanAndSd quadrature(const LogDensity& f) {
  double mass = 0, first = 0, second = 0;
  for (double x = -30; x <= 30; x += 1e-3) {
    const double p = std::exp(f(x));
    mass += p, first += p * x, second += p * x * x;
  }
  return {first / mass, std::sqrt(second / mass - first * first / (mass * mass))};
}

TEST_CASE("draws: for a linear graph they are those of the Gaussian") {
  Graph g;
  const VariableId x = g.variable("x", 2), y = g.observed("y", 3);
  g.factor("gaussian_prior", {x}, {{"mean", 1.0}, {"variance", 4.0}});
  g.factor("gaussian_linear", {column(x), y}, {{"A", {1.0, 1.0, 1.0, -1.0, 0.5, 2.0}}, {"variance", 0.5}});
  const Plan plan = compile(g, joint(), standard_registry());
  State state(plan);
  CHECK_THROWS_AS((void)draw_posterior(state), Error);  // not run yet
  state.observe(y, {1.0, 2.0, -0.5});
  (void)run(plan, state);
  const JointDraws chains = draw_posterior(state, {.draws = 2000});
  CHECK(chains.have_settled());
  CHECK(chains.size() == 8000);
  for (std::size_t i = 0; i < 2; ++i) {
    const double error = state.belief(x).sd(i) / std::sqrt(chains.effective);
    CHECK(std::abs(chains.mean(x, i) - state.belief(x).mean(i)) < 5 * error);
    CHECK(chains.sd(x, i) == oracle::relative(state.belief(x).sd(i), 0.08));
  }
  CHECK(chains.line().starts_with("8000 draws of 4 chains: R-hat 1.0"));
  CHECK(draw_posterior(state, {.chains = 2, .warm_up = 10, .draws = 20}).line().find("not settled") !=
        std::string::npos);
}

TEST_CASE("draws: posteriors that no Gaussian fits, by a function and a likelihood") {
  // x^2 is observed, so x may have either sign; and a count of 0 with a wide prior.
  Graph g;
  const VariableId x = g.variable("x"), square = g.variable("square"), rate = g.variable("rate"),
                   seen = g.observed("seen"), count = g.observed("count");
  g.factor("gaussian_prior", {x}, {{"mean", 0.3}, {"variance", 1.0}});
  g.factor("square", {x, square});
  g.factor("gaussian_noise", {square, seen}, {{"variance", 0.5}});
  g.factor("gaussian_prior", {rate}, {{"mean", 0.0}, {"variance", 4.0}});
  g.factor("poisson", {rate, count});
  const auto [plan, state, report] =
      oracle::solved(compile(g, joint(), standard_registry()), {{seen, 0.4}, {count, 0.0}});
  REQUIRE(report.joint->fit);
  CHECK(!report.joint->fit->is_good());
  const JointDraws chains = draw_posterior(state, {.draws = 4000});
  CHECK(chains.have_settled());
  const MeanAndSd of_x =
      quadrature([](double z) { return -0.5 * (z - 0.3) * (z - 0.3) - (z * z - 0.4) * (z * z - 0.4); });
  const MeanAndSd of_rate = quadrature([](double z) { return -z * z / 8 - std::exp(z); });
  const double worth = std::sqrt(chains.effective);
  CHECK(std::abs(chains.mean(x) - of_x.mean) < 5 * of_x.sd / worth);
  CHECK(chains.sd(x) == oracle::relative(of_x.sd, 0.06));
  CHECK(std::abs(chains.mean(rate) - of_rate.mean) < 5 * of_rate.sd / worth);
  CHECK(chains.sd(rate) == oracle::relative(of_rate.sd, 0.06));
  double mean_square = 0;
  for (std::size_t d = 0; d < chains.size(); ++d) {
    CHECK_MESSAGE(std::abs(chains(d, square) - chains(d, x) * chains(d, x)) < 1e-12, d);
    mean_square += chains(d, square) / static_cast<double>(chains.size());
  }
  CHECK(mean_square == oracle::relative(of_x.sd * of_x.sd + of_x.mean * of_x.mean, 0.1));
}

TEST_CASE("draws: missing values are drawn with their noise") {
  Graph g;
  const VariableId x = g.variable("x"), y = g.observed("y", 2);
  g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", 1.0}});
  g.factor("gaussian_noise", {all_to_one(x), y}, {{"variance", 3.0}});
  const Plan plan = compile(g, joint(), standard_registry());
  State state(plan);
  state.observe(y, {std::optional(0.5), std::nullopt});
  (void)run(plan, state);
  const JointDraws chains = draw_posterior(state, {.draws = 4000});
  CHECK(chains.sd(y, 1) == oracle::relative(std::sqrt(0.75 + 3), 0.03));
  CHECK(chains.sd(x) == oracle::relative(std::sqrt(0.75), 0.03));
}

TEST_CASE("draws: chains that start in two modes and never leave them have not settled") {
  Graph g;
  const VariableId x = g.variable("x"), s = g.variable("s"), y = g.observed("y");
  g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", 100.0}});
  g.factor("square", {x, s});
  g.factor("gaussian_noise", {s, y}, {{"variance", 0.01}});
  const auto [plan, state, report] = oracle::solved(compile(g, joint(), standard_registry()), {{y, 4.0}});
  CHECK(!draw_posterior(state).have_settled());
}

TEST_CASE("draws: chains that never move have not settled") {
  // A likelihood that forbids every value, with a message that ignores that.
  Registry registry = standard_registry();
  registry.add(kind("never")
                   .input("x")
                   .log_density([](std::span<const double>, std::span<const double>) { return -kInfinity; })
                   .message(
                       "ep", "x", [](const Gaussian&) { return Gaussian::from_moments(0, 1); }, from("x")));
  Graph g;
  const VariableId x = g.variable("x");
  g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", 1.0}});
  g.factor("never", {x});
  const auto [plan, state, report] = oracle::solved(compile(g, joint(), registry));
  const JointDraws chains = draw_posterior(state, {.warm_up = 20, .draws = 200});
  CHECK(chains.accepted == 0);
  CHECK(!chains.have_settled());
}

}  // namespace
