// A missing observation is predicted: it is an unknown like the others, and has no part in the evidence.
#include "factors/authoring/from_function.h"
#include "tests/engine/joint/joint_models.h"
#include "tests/oracles/dense_rows.h"
#include "tests/oracles/solved.h"

namespace {

using namespace dma::joint_test;

constexpr double kJointMissingError = 1e-9;

// x, ..., as dense rows over all elements, including missing observed ones.
void check_against(const oracle::DenseRows& dense, const State& state, const std::vector<VariableId>& unknowns) {
  const JointPosterior posterior(state);
  const Eigen::VectorXd mean = dense.mean();
  const Eigen::MatrixXd covariance = dense.covariance();
  for (std::size_t a = 0; a < unknowns.size(); ++a) {
    const auto i = static_cast<Eigen::Index>(a);
    CAPTURE(a);
    CHECK(state.belief(unknowns[a]).mean() == oracle::relative(mean[i], kJointMissingError));
    CHECK(state.belief(unknowns[a]).variance() == oracle::relative(covariance(i, i), kJointMissingError));
    CHECK(posterior.mean(unknowns[a])[0] == oracle::relative(mean[i], kJointMissingError, 1));
    for (std::size_t b = 0; b < unknowns.size(); ++b)
      CHECK(posterior.covariance(unknowns[a], unknowns[b])(0, 0) ==
            oracle::relative(covariance(i, static_cast<Eigen::Index>(b)), kJointMissingError, 1));
  }
  CHECK(posterior.log_evidence() == oracle::relative(dense.log_evidence(), kJointMissingError, 1));
}

}  // namespace

TEST_CASE("joint: the belief of a missing reading is its prediction, by every way to ask for it") {
  Graph g;
  const VariableId x = g.variable("x"), y = g.observed("y");
  g.factor("gaussian_prior", {x}, {{"mean", 3.0}, {"variance", 1.0}});
  g.factor("gaussian_noise", {x, y}, {{"variance", 1.0}});
  const Plan plan = compile(g, joint(), standard_registry());
  State state(plan);
  state.observe(y, std::nullopt);
  CHECK(run(plan, state).stop == Report::Stop::exact);
  CHECK(state.belief(y).mean() == oracle::relative(3, kJointMissingError));
  CHECK(state.belief(y).variance() == oracle::relative(2, kJointMissingError));
  const JointPosterior posterior(state);
  CHECK(posterior.mean(y)[0] == oracle::relative(3, kJointMissingError));
  CHECK(posterior.covariance(y, y)(0, 0) == oracle::relative(2, kJointMissingError));
  CHECK(posterior.covariance(x, y)(0, 0) == oracle::relative(1, kJointMissingError));
  CHECK(posterior.covariance(y, 0, y, 0) == oracle::relative(2, kJointMissingError));
  CHECK(std::abs(posterior.log_evidence()) < kJointMissingError);
  constexpr std::size_t kDraws = 40'000;
  const JointSamples draws = posterior.sample(kDraws, 3);
  double mean = 0, square = 0, product = 0;
  for (std::size_t d = 0; d < kDraws; ++d) {
    mean += draws(d, y) / kDraws;
    square += std::pow(draws(d, y) - 3, 2) / kDraws;
    product += (draws(d, y) - 3) * (draws(d, x) - 3) / kDraws;
  }
  CHECK(std::abs(mean - 3) < 4 * std::sqrt(2.0 / kDraws));
  CHECK(square == oracle::relative(2, 0.04));
  CHECK(product == oracle::relative(1, 0.06));
  // Given again, it is known.
  state.observe(y, 5.0);
  (void)run(plan, state);
  CHECK(state.belief(y)[0].is_point());
  CHECK(JointPosterior(state).covariance(y, y)(0, 0) == 0);
}

TEST_CASE("joint: a missing value between several factors, or below a function, is inferred like a latent variable") {
  Graph g;
  const VariableId a = g.variable("a"), b = g.variable("b"), y = g.observed("y"), u = g.observed("u"),
                   s = g.variable("s"), z = g.observed("z");
  g.factor("gaussian_prior", {a}, {{"mean", 1.0}, {"variance", 2.0}});
  g.factor("gaussian_prior", {b}, {{"mean", -1.0}, {"variance", 0.5}});
  g.factor("gaussian_prior", {u}, {{"mean", 0.3}, {"variance", 1.5}});
  g.factor("gaussian_noise", {a, y}, {{"variance", 0.7}});
  g.factor("gaussian_noise", {b, y}, {{"variance", 0.4}});
  g.factor("add", {b, u, s});
  g.factor("gaussian_noise", {s, z}, {{"variance", 0.2}});
  const Plan plan = compile(g, joint(), standard_registry());
  State state(plan);
  for (const bool is_missing : {true, false, true}) {  // a, b, y, u
    state.observe(z, 0.9);
    state.observe(y, 0.1);
    state.observe(u, -0.6);
    if (is_missing) state.observe_missing(y), state.observe_missing(u);
    CHECK(run(plan, state).stop == Report::Stop::exact);
    oracle::DenseRows dense(is_missing ? 4 : 2);
    dense.add({{0, 1}}, 1, 2), dense.add({{1, 1}}, -1, 0.5);
    if (is_missing) {
      dense.add({{3, 1}}, 0.3, 1.5), dense.add({{0, 1}, {2, -1}}, 0, 0.7), dense.add({{1, 1}, {2, -1}}, 0, 0.4);
      dense.add({{1, 1}, {3, 1}}, 0.9, 0.2);
      check_against(dense, state, {a, b, y, u});
    } else {
      dense.add({}, -0.6 - 0.3, 1.5), dense.add({{0, 1}}, 0.1, 0.7), dense.add({{1, 1}}, 0.1, 0.4);
      dense.add({{1, 1}}, 0.9 + 0.6, 0.2);
      check_against(dense, state, {a, b});
    }
  }
}

TEST_CASE("joint: a missing input of a product has the posterior of a latent one") {
  const auto build = [](Graph& g, bool is_latent) {
    const VariableId w = g.variable("w"), x = is_latent ? g.variable("x", 3) : g.observed("x", 3),
                     p = g.variable("p", 3), y = g.observed("y", 3);
    g.factor("gaussian_prior", {w}, {{"mean", 1.0}, {"variance", 1.0}});
    g.factor("gaussian_prior", {x}, {{"mean", 0.5}, {"variance", 2.0}});
    g.factor("product", {all_to_one(w), x, p});
    g.factor("gaussian_noise", {p, y}, {{"variance", 0.1}});
  };
  Graph seen, latent;
  build(seen, false), build(latent, true);
  const VariableId x = seen.find_variable("x"), y = seen.find_variable("y"), w = seen.find_variable("w");
  const VariableId other_x = latent.find_variable("x"), other_w = latent.find_variable("w");
  const Plan plan = compile(seen, joint(), standard_registry()), other = compile(latent, joint(), standard_registry());
  State state(plan), as_latent(other);
  state.observe(x, std::nullopt);
  state.observe(y, {1.0, 2.0, -0.5});
  as_latent.observe(latent.find_variable("y"), {1.0, 2.0, -0.5});
  const Report report = run(plan, state);
  CHECK(report.converged());
  CHECK(run(other, as_latent).converged());
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(state.belief(x).mean(i) == oracle::relative(as_latent.belief(other_x).mean(i), 1e-7));
    CHECK(state.belief(x).variance(i) == oracle::relative(as_latent.belief(other_x).variance(i), 1e-7));
  }
  CHECK(state.belief(w).variance() == oracle::relative(as_latent.belief(other_w).variance(), 1e-7));
  CHECK(log_evidence(plan, state) == oracle::relative(log_evidence(other, as_latent), 1e-7));
}

TEST_CASE("joint: a missing input without a prior is what the data make it, and singular where they say nothing") {
  Graph g;
  const VariableId v = g.variable("v"), in = g.observed("in"), sum = g.variable("sum"), out = g.observed("out");
  g.factor("gaussian_prior", {v}, {{"mean", 1.0}, {"variance", 1.0}});
  g.factor("add", {v, in, sum});
  g.factor("gaussian_noise", {sum, out}, {{"variance", 0.1}});
  const Plan plan = compile(g, joint(), standard_registry());
  State state(plan);
  state.observe(in, std::nullopt);
  state.observe(out, 1.5);
  CHECK(run(plan, state).stop == Report::Stop::exact);
  oracle::DenseRows dense(2);
  dense.add({{0, 1}}, 1, 1), dense.add({{0, 1}, {1, 1}}, 1.5, 0.1);
  check_against(dense, state, {v, in});
  state.observe(out, std::nullopt);
  const Report report = run(plan, state);
  CHECK(report.stop == Report::Stop::singular);
  CHECK(report.joint->undetermined == "'in'");
  CHECK(state.belief(in)[0].is_uniform());
  CHECK(state.belief(out)[0].is_uniform());
  CHECK(state.belief(v).variance() == doctest::Approx(1));
}

TEST_CASE("joint: a likelihood that predicts no Gaussian is named for a missing value below it") {
  Graph g;
  const VariableId x = g.variable("x"), y = g.observed("y", 2);
  g.factor("gaussian_prior", {x}, {{"mean", 0.4}, {"variance", 2.0}});
  g.factor("probit", {all_to_one(x), y});
  const Plan plan = compile(g, joint(), standard_registry());
  State state(plan);
  state.observe(y, {1.0, std::nullopt});
  const Report report = run(plan, state);
  CHECK(report.joint->unpredicted == "'y[1]'");
  CHECK(report.line().find("; no Gaussian predicts 'y[1]'") != std::string::npos);
  CHECK(state.belief(y)[1].is_uniform());
  const JointPosterior posterior(state);
  CHECK_THROWS_WITH_AS(
      (void)posterior.mean(y),
      "joint: 'y' is missing, and its likelihood predicts no Gaussian; ask for the variable that it reads", Error);
  CHECK_THROWS_AS((void)posterior.covariance(x, y), Error);
  CHECK_THROWS_AS((void)posterior.sample(2, 1)(0, y, 1), Error);
  CHECK(posterior.sample(2, 1)(0, y, 0) == 1);
  // Only the other outcome: Phi(0.4 / sqrt(1 + 2)).
  CHECK(posterior.log_evidence() ==
        oracle::relative(std::log(0.5 * std::erfc(-0.4 / std::sqrt(3.0) / std::sqrt(2.0))), 1e-9));
}

TEST_CASE("joint: the posterior of a state is refused once something was given to it") {
  Graph g;
  const VariableId x = g.variable("x"), y = g.observed("y");
  g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", 1.0}});
  const FactorId noise = g.factor("gaussian_noise", {x, y}, {{"variance", 1.0}});
  auto [plan, state, report] = oracle::solved(compile(g, joint(), standard_registry()), {{y, 1.0}});
  const JointPosterior posterior(state);
  CHECK(posterior.mean(x)[0] == doctest::Approx(0.5));
  const std::string refused = "the inputs of this state changed since it was run; call run(plan, state) again";
  state.observe(y, 3.0);
  CHECK_THROWS_WITH_AS((void)posterior.mean(x), refused.c_str(), Error);
  CHECK_THROWS_WITH_AS((void)posterior.covariance(x, x), refused.c_str(), Error);
  CHECK_THROWS_WITH_AS((void)posterior.sample(1, 1), refused.c_str(), Error);
  CHECK_THROWS_WITH_AS((void)posterior.log_evidence(), refused.c_str(), Error);
  CHECK_THROWS_WITH_AS(JointPosterior{state}, refused.c_str(), Error);
  (void)run(plan, state);
  CHECK(posterior.mean(x)[0] == doctest::Approx(1.5));
  state.set_parameter(noise, "variance", 2.0);
  CHECK_THROWS_WITH_AS((void)posterior.mean(x), refused.c_str(), Error);
}

TEST_CASE("joint: the evidence counts the cavity of a shared variable as the density it is") {
  Graph g;
  const VariableId w = g.shared("w"), y = g.observed("y");
  g.factor("gaussian_noise", {w, y}, {{"variance", 0.5}});
  const Plan plan = compile(g, joint(), standard_registry());
  State state(plan);
  const Gaussian cavity = Gaussian::from_moments(0.7, 1.2);
  state.cavity(w).tau[0] = cavity.tau;
  state.cavity(w).rho[0] = cavity.rho;
  state.observe(y, 1.5);
  CHECK(run(plan, state).stop == Report::Stop::exact);
  oracle::DenseRows dense(1);
  dense.add({{0, 1}}, 0.7, 1.2), dense.add({{0, 1}}, 1.5, 0.5);
  CHECK(JointPosterior(state).log_evidence() == oracle::relative(dense.log_evidence(), kJointMissingError));
  const Evidence found = evidence(plan, state);
  CHECK(found.is_exact);
  CHECK(found.log_value == oracle::relative(dense.log_evidence(), kJointMissingError));
}

TEST_CASE("joint: an evidence that is no finite number is not called exact") {
  Graph g;
  const VariableId x = g.variable("x"), y = g.observed("y"), z = g.observed("z");
  g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", 1.0}});
  g.factor("gaussian_noise", {x, y}, {{"variance", 1.0}});
  g.factor("odd", {z});
  Registry registry = standard_registry();
  registry.add(kind("odd")
                   .input("x")
                   .log_density([](std::span<const double> v, std::span<const double>) {
                     return v[0] == 0 ? std::nan("") : v[0] * kInfinity;
                   })
                   .message(
                       kExact, "x", [](const Gaussian& of) { return of; }, from("x")));
  const Plan plan = compile(g, joint(), registry);
  State state(plan);
  for (const double sign : {-1.0, 1.0}) {
    state.observe(y, 1.0);
    state.observe(z, sign);
    CHECK(run(plan, state).stop == Report::Stop::exact);  // x is missing
    const Evidence found = evidence(plan, state);
    CHECK(found.log_value == sign * kInfinity);
    CHECK(!found.is_exact);
    CHECK(!found.why.empty());
  }
  state.observe(z, 0.0);
  (void)run(plan, state);
  CHECK_THROWS_WITH_AS((void)evidence(plan, state),
                       "no evidence: a part of it is not a number; give every variable a proper prior", Error);
  state.observe(z, -1.0);
  state.observe(y, 1e170);  // its square overflows
  CHECK(run(plan, state).stop == Report::Stop::diverged);
  CHECK(!evidence(plan, state).is_exact);
}
