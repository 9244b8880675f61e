// Unknown parameters integrated out: against quadrature written out here, and against reference draws published for
// these examples.
#include "factors/authoring/from_function.h"
#include "tests/oracles/files.h"
#include "tests/oracles/plain_matrix.h"
#include "tests/oracles/solved.h"

namespace {

using oracle::PlainMatrix;

// Effects of coaching in eight schools, and their standard errors.
const std::vector<double> kSchoolEffects = {28, 8, -3, 7, -1, 1, 18, 12};
const std::vector<double> kSchoolErrors = {15, 10, 16, 11, 9, 11, 10, 18};

std::vector<double> squares(const std::vector<double>& x) {
  std::vector<double> out;
  for (const double each : x) out.push_back(each * each);
  return out;
}

// Within 0.05 standard deviations, and 3 % of those.
void check_moments(double mean, double sd, double expected_mean, double expected_sd) {
  INFO("mean ", mean, ", sd ", sd);
  CHECK(std::abs(mean - expected_mean) / expected_sd < 0.05);
  CHECK(std::abs(sd / expected_sd - 1) < 0.03);
}

struct Schools {
  Graph g;
  VariableId mu = g.variable("mu"), theta = g.variable("theta", 8), y = g.observed("y", 8);
  FactorId effects;
  Schools() {
    g.factor("gaussian_prior", {mu}, {{"mean", 0.0}, {"variance", 25.0}});
    effects = g.factor("gaussian_noise", {all_to_one(mu), theta}, {{"variance", 1.0}}, {.name = "effects"});
    g.factor("gaussian_noise", {theta, y}, {{"variance", squares(kSchoolErrors)}});
  }
  Hyper tau() const { return hyper("tau", HyperPrior::half_cauchy(5), {{effects, "variance", 2}}); }
};

// Given tau everything is normal; the integral over tau by the trapezoidal rule on a fine grid of log tau.
struct SchoolsOracle {
  double log_evidence = 0, mu = 0, mu_sd = 0, tau = 0, tau_sd = 0, theta_0 = 0, theta_sd_0 = 0, mu_theta_0 = 0;
  SchoolsOracle() {
    constexpr double kStep = 0.01;
    double mass = 0, mu2 = 0, tau2 = 0, theta2 = 0, product = 0;
    for (double t = -16; t < 9; t += kStep) {
      const double tau_at = std::exp(t);
      double precision = 1 / 25.0, pull = 0, log_p = -0.5 * std::log(25.0);
      for (std::size_t j = 0; j < 8; ++j) {
        const double v = tau_at * tau_at + kSchoolErrors[j] * kSchoolErrors[j], yj = kSchoolEffects[j];
        precision += 1 / v, pull += yj / v;
        log_p -= 0.5 * (std::log(2 * std::numbers::pi * v) + yj * yj / v);
      }
      const double m = pull / precision;
      log_p += 0.5 * (pull * m - std::log(precision));
      log_p += std::log(2 / (std::numbers::pi * 5 * (1 + tau_at * tau_at / 25))) + t;
      const double w = kStep * std::exp(log_p);
      // theta_0 given mu: slope and variance of the first school.
      const double s2 = kSchoolErrors[0] * kSchoolErrors[0], shrink = s2 / (s2 + tau_at * tau_at);
      const double at = shrink * m + (1 - shrink) * kSchoolEffects[0];
      mass += w, mu += w * m, mu2 += w * (m * m + 1 / precision);
      tau += w * tau_at, tau2 += w * tau_at * tau_at;
      theta_0 += w * at, theta2 += w * (at * at + (1 - shrink) * s2 + shrink * shrink / precision);
      product += w * (m * at + shrink / precision);
    }
    log_evidence = std::log(mass);
    mu /= mass, tau /= mass, theta_0 /= mass;
    mu_sd = std::sqrt(mu2 / mass - mu * mu), tau_sd = std::sqrt(tau2 / mass - tau * tau);
    theta_sd_0 = std::sqrt(theta2 / mass - theta_0 * theta_0), mu_theta_0 = product / mass - mu * theta_0;
  }
};

TEST_CASE("hyper: eight schools, against quadrature") {
  const Schools schools;
  auto [plan, state, report] = oracle::solved(
      compile(schools.g, joint({.hypers = {schools.tau()}}), standard_registry()), {{schools.y, kSchoolEffects}});
  CHECK(report.converged());
  REQUIRE(report.joint->hypers);
  CHECK(report.joint->hypers->points > 15);
  CHECK(report.joint->hypers->effective > 3);
  CHECK(report.joint->hypers->largest < 0.5);
  CHECK(report.line().find("hypers integrated over") != std::string::npos);
  const SchoolsOracle exact;
  const JointPosterior posterior(state);
  const HyperBelief tau = posterior.hyper("tau");
  CHECK(posterior.log_evidence() == oracle::relative(exact.log_evidence, 1e-6));
  CHECK(state.belief(schools.mu).mean() == oracle::relative(exact.mu, 1e-4));
  CHECK(state.belief(schools.mu).sd() == oracle::relative(exact.mu_sd, 1e-4));
  CHECK(posterior.mean(schools.mu)[0] == oracle::relative(exact.mu, 1e-4));
  CHECK(state.belief(schools.theta).mean(0) == oracle::relative(exact.theta_0, 1e-4));
  CHECK(state.belief(schools.theta).sd(0) == oracle::relative(exact.theta_sd_0, 1e-4));
  CHECK(posterior.covariance(schools.mu, schools.theta)(0, 0) == oracle::relative(exact.mu_theta_0, 1e-3));
  CHECK(posterior.covariance(schools.mu, 0, schools.theta, 0) == oracle::relative(exact.mu_theta_0, 1e-3));
  CHECK(tau.mean() == oracle::relative(exact.tau, 1e-3));
  CHECK(tau.sd() == oracle::relative(exact.tau_sd, 2e-3));
  // The reference draws.
  check_moments(state.belief(schools.mu).mean(), state.belief(schools.mu).sd(), 4.4105, 3.31);
  check_moments(tau.mean(), tau.sd(), 3.6021, 3.2);
  check_moments(state.belief(schools.theta).mean(0), state.belief(schools.theta).sd(0), 6.1505, 5.62);
  // Quantiles, and draws.
  const double half = posterior.quantile(schools.theta, 0.5, 0), low = posterior.quantile(schools.theta, 0.05, 0);
  const JointSamples samples = posterior.sample(20000, 3);
  double below_half = 0, below_low = 0;
  for (std::size_t d = 0; d < samples.size(); ++d) {
    below_half += samples(d, schools.theta, 0) < half;
    below_low += samples(d, schools.theta, 0) < low;
  }
  CHECK(below_half / 20000 == oracle::relative(0.5, 0.04));
  CHECK(below_low / 20000 == oracle::relative(0.05, 0.15));
  CHECK(tau.quantile(0.5) > 2.4);
  CHECK(tau.quantile(0.5) < 3.1);
  CHECK(log_evidence(plan, state) == posterior.log_evidence());
  // A warm second run gives the same answer.
  const double before = state.belief(schools.mu).mean();
  (void)run(plan, state, {.warm = true});
  CHECK(state.belief(schools.mu).mean() == oracle::relative(before, 1e-5));
}

TEST_CASE("hyper: a regression with unknown noise has the Student t of the textbook") {
  const auto kids = oracle::read_columns("engine/joint/kids.csv");
  const std::vector<double>&score = kids.at("score"), &mother_iq = kids.at("mother_iq");
  const auto rows = score.size();
  Graph g;
  const VariableId beta = g.variable("beta", 2), fitted = g.variable("fitted", rows), y = g.observed("y", rows);
  std::vector<double> a;
  for (const double iq : mother_iq) a.insert(a.end(), {1.0, iq});
  g.factor("linear", {column(beta), fitted}, {{"A", a}});
  const FactorId noise = g.factor("gaussian_noise", {fitted, y}, {{"variance", 1.0}});
  const auto solve = [&](HyperPrior prior, const auto& look) {
    const Hyper sigma = hyper("sigma", std::move(prior), {{noise, "variance", 2}});
    const auto [plan, state, report] =
        oracle::solved(compile(g, joint({.hypers = {sigma}}), standard_registry()), {{y, score}});
    CHECK(report.converged());
    look(state.belief(beta), JointPosterior(state).hyper("sigma"));
  };
  solve(HyperPrior::half_cauchy(2.5), [](const Belief& b, const HyperBelief& sigma) {
    check_moments(b.mean(0), b.sd(0), 25.917, 5.97);
    check_moments(b.mean(1), b.sd(1), 0.60863, 0.059);
    check_moments(sigma.mean(), sigma.sd(), 18.276, 0.624);
  });
  // Flat in sigma: least squares, and sd^2 of the coefficients (X'X)^-1 S / (n - k - 3).
  solve(HyperPrior::flat(), [&](const Belief& b, const HyperBelief& sigma) {
    const auto n = static_cast<double>(rows);
    PlainMatrix x(rows, 2, 1);
    for (std::size_t i = 0; i < rows; ++i) x(i, 1) = mother_iq[i];
    const PlainMatrix across = x.transpose(), target = PlainMatrix::column(score);
    const PlainMatrix inverse = (across * x).inverse(), least = inverse * (across * target), error = target - x * least;
    const double rest = dot(error, error);
    CHECK(b.mean(1) == oracle::relative(least[1], 1e-9));
    CHECK(b.sd(1) == oracle::relative(std::sqrt(inverse(1, 1) * rest / (n - 5)), 1e-5));
    CHECK(sigma.expected([](double s) { return 1 / (s * s); }) == oracle::relative((n - 3) / rest, 1e-5));
  });
}

TEST_CASE("hyper: thirty rats, three scales") {
  Graph g;
  const VariableId centre = g.variable("alpha_c"), slope_centre = g.variable("beta_c"), at_birth = g.variable("alpha0"),
                   alpha = g.variable("alpha", 30), beta = g.variable("beta", 30), weight = g.observed("weight", 150);
  std::vector<std::uint32_t> of;
  const auto rats = oracle::read_columns("engine/joint/rats.csv");
  for (const double rat : rats.at("rat")) of.push_back(static_cast<std::uint32_t>(rat));
  const VariableId effects = g.variable("fitted", 150);
  const VariableId growth = g.variable("growth", 150);
  g.factor("gaussian_prior", {centre}, {{"mean", 0.0}, {"variance", 1e6}});
  g.factor("gaussian_prior", {slope_centre}, {{"mean", 0.0}, {"variance", 1e6}});
  const FactorId a = g.factor("gaussian_noise", {all_to_one(centre), alpha}, {{"variance", 100.0}});
  const FactorId b = g.factor("gaussian_noise", {all_to_one(slope_centre), beta}, {{"variance", 1.0}});
  std::vector<double> shifted_days;
  for (const double day : rats.at("day")) shifted_days.push_back(day - 22);
  g.factor("affine", {gather(beta, of), growth}, {{"a", shifted_days}, {"b", 0.0}});
  g.factor("add", {gather(alpha, of), growth, effects});
  const FactorId noise = g.factor("gaussian_noise", {effects, weight}, {{"variance", 36.0}});
  const VariableId back = g.variable("back");
  g.factor("affine", {slope_centre, back}, {{"a", -22.0}, {"b", 0.0}});
  g.factor("add", {centre, back, at_birth});
  const auto precision = [](FactorId factor, const char* name) {
    return hyper(name, HyperPrior::gamma(0.001, 0.001), {{factor, "variance", -1}});
  };
  const auto [plan, state, report] = oracle::solved(
      compile(g, joint({.hypers = {precision(a, "tau_alpha"), precision(b, "tau_beta"), precision(noise, "tau_c")}}),
              standard_registry()),
      {{weight, rats.at("weight")}});
  CHECK(report.converged());
  check_moments(state.belief(at_birth).mean(), state.belief(at_birth).sd(), 106.6, 3.66);
  check_moments(state.belief(slope_centre).mean(), state.belief(slope_centre).sd(), 6.186, 0.109);
  const double sigma = JointPosterior(state).hyper("tau_c").expected([](double tau) { return 1 / std::sqrt(tau); });
  CHECK(sigma == oracle::relative(6.09, 0.01));
}

TEST_CASE("hyper: germinating seeds, a random effect below a likelihood") {
  Graph g;
  const VariableId alpha = g.variable("alpha", 4), fixed = g.variable("fixed", 21), effect = g.variable("effect", 21),
                   logit = g.variable("logit", 21);
  const auto plates = oracle::read_columns("engine/joint/seeds.csv");
  const std::vector<double>&kinds = plates.at("kind"), &extract = plates.at("extract");
  std::vector<double> a;
  for (std::size_t i = 0; i < 21; ++i) a.insert(a.end(), {1.0, kinds[i], extract[i], kinds[i] * extract[i]});
  Registry registry = standard_registry();
  registry.add(likelihood_from_log_density("germination",
                                           [](double x, double y, std::span<const double> p) {
                                             return y * x -
                                                    p[0] * (std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))));
                                           },
                                           "y of `seeds` seeds, each with log odds x", {{"seeds", above(0)}}));
  g.factor("gaussian_prior", {alpha}, {{"mean", 0.0}, {"variance", 1e6}});
  g.factor("linear", {column(alpha), fixed}, {{"A", a}});
  const FactorId effects = g.factor("gaussian_prior", {effect}, {{"mean", 0.0}, {"variance", 0.1}});
  g.factor("add", {fixed, effect, logit});
  const VariableId germinated = g.observed("germinated", 21);
  g.factor("germination", {logit, germinated}, {{"seeds", plates.at("seeds")}});
  const Hyper tau = hyper("tau", HyperPrior::gamma(0.001, 0.001), {{effects, "variance", -1}});
  const auto [plan, state, report] =
      oracle::solved(compile(g, joint({.hypers = {tau}}), registry), {{germinated, plates.at("germinated")}});
  CHECK(report.converged());
  const Belief b = state.belief(alpha);
  const double expected[4][2] = {{-0.551, 0.193}, {0.083, 0.313}, {1.353, 0.274}, {-0.825, 0.435}};
  for (std::size_t i = 0; i < 4; ++i) check_moments(b.mean(i), b.sd(i), expected[i][0], expected[i][1]);
  const HyperBelief belief = JointPosterior(state).hyper("tau");
  const double sigma = belief.expected([](double t) { return 1 / std::sqrt(t); });
  const double square = belief.expected([](double t) { return 1 / t; });
  check_moments(sigma, std::sqrt(square - sigma * sigma), 0.285, 0.144);
}

// Readings of a direction on both sides of the seam of angles. Unwrapped, everything given sigma is normal.
TEST_CASE("hyper: the noise of angles, against quadrature") {
  constexpr double kPi = std::numbers::pi, kPrior = kPi - 0.1, kVariance = 0.25, kStep = 0.01;
  const std::vector<double> off = {0.3, -0.25, 0.12, 0.4, -0.1, 0.22, -0.35, 0.05, 0.31, -0.02};  // from pi
  std::vector<double> seen;
  for (const double each : off) seen.push_back(std::remainder(kPi + each, 2 * kPi));
  Graph g;
  const VariableId x = g.variable("x", 1, "angle"), first = g.variable("first"), r = g.variable("r", seen.size());
  g.factor("angle_offset", {{"x", x}, {"r", first}}, {{"measured", kPrior}});
  g.factor("gaussian_prior", {first}, {{"mean", 0.0}, {"variance", kVariance}});
  const std::vector<std::uint32_t> same(seen.size());
  g.factor("angle_offset", {{"x", gather(x, same)}, {"r", r}}, {{"measured", seen}});
  const FactorId noise = g.factor("gaussian_prior", {r}, {{"mean", 0.0}, {"variance", 1.0}});
  const Hyper sigma = hyper("sigma", HyperPrior::half_normal(1), {{noise, "variance", 2}});
  const Plan plan = compile(g, joint({.hypers = {sigma}}), standard_registry());
  State state(plan);
  set_start(state, x, std::vector<double>{-3.0});
  CHECK(run(plan, state).converged());
  double mass = 0, mean = 0, square = 0, sum = 0, sum2 = 0;
  for (double t = -6; t < 2; t += kStep) {
    const double s = std::exp(t), n = static_cast<double>(off.size()), precision = 1 / kVariance + n / (s * s);
    double pull = (kPrior - kPi) / kVariance, log_p = -0.5 * (kPrior - kPi) * (kPrior - kPi) / kVariance;
    for (const double each : off) pull += each / (s * s), log_p -= 0.5 * each * each / (s * s);
    log_p += 0.5 * pull * pull / precision - 0.5 * std::log(kVariance * precision) - n * (t + 0.5 * std::log(2 * kPi)) +
             0.5 * std::log(2 / kPi) - 0.5 * s * s + t;
    const double w = kStep * std::exp(log_p), m = pull / precision;
    mass += w, mean += w * m, square += w * (m * m + 1 / precision), sum += w * s, sum2 += w * s * s;
  }
  mean /= mass, sum /= mass;
  const HyperBelief belief = JointPosterior(state).hyper("sigma");
  CHECK(std::remainder(state.belief(x).mean() - kPi - mean, 2 * kPi) == doctest::Approx(0).epsilon(1e-6));
  CHECK(state.belief(x).variance() == oracle::relative(square / mass - mean * mean, 1e-4));
  CHECK(belief.mean() == oracle::relative(sum, 1e-4));
  CHECK(belief.sd() == oracle::relative(std::sqrt(sum2 / mass - sum * sum), 1e-3));
  CHECK(JointPosterior(state).log_evidence() == oracle::relative(std::log(mass), 1e-5));
}

TEST_CASE("hyper: errors are one line, with the name") {
  Schools s;
  const auto complaint = [&](std::vector<Hyper> hypers) -> std::string {
    return oracle::error_of([&] { (void)compile(s.g, joint({.hypers = std::move(hypers)}), standard_registry()); });
  };
  CHECK(complaint({hyper("tau", {}, {{s.effects, "variance"}})}) ==
        "hyper 'tau' has no prior; give it one, such as HyperPrior::half_cauchy(1), or HyperPrior::flat()");
  CHECK(complaint({hyper(s.effects, "varianc", HyperPrior::flat())})
            .starts_with("hyper 'effects.varianc': factor 'effects' has no parameter 'varianc'"));
  CHECK(complaint({hyper("tau", HyperPrior::flat())}).starts_with("hyper 'tau' is the parameter of no factor"));
  CHECK(complaint({hyper("tau", HyperPrior::flat(), {{s.effects, "variance", 0}})}) ==
        "hyper 'tau': the power is 0; a number other than 0 is expected");
  CHECK(complaint({s.tau(), hyper("b", HyperPrior::flat(), {{s.effects, "variance"}})})
            .starts_with("hyper 'b': parameter 'variance' of factor 'effects' is that of a hyper already"));
  CHECK(complaint({s.tau(), s.tau()}) == "joint: two hypers are called 'tau'; give each a name of its own");
  CHECK(complaint(std::vector<Hyper>(11, s.tau())).starts_with("joint: 11 hypers; at most 10"));
  CHECK_THROWS_WITH_AS((void)HyperPrior::half_cauchy(-1), "half_cauchy: the scale is -1; a number above 0 is expected",
                       Error);
  CHECK(complaint({hyper("tau", HyperPrior::log_normal(1000, 1e-200), {{s.effects, "variance"}})}) ==
        "hyper 'tau': its prior has no density at inf, where it should have its mass; check its numbers");
  // The graph's start, at which a narrow prior has no mass.
  {
    Graph g;
    const VariableId x = g.variable("x"), y = g.observed("y");
    g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", 1.0}});
    const FactorId noise = g.factor("gaussian_noise", {x, y}, {{"variance", 1e200}});
    const auto [plan, state, report] = oracle::solved(
        compile(g, joint({.hypers = {hyper(noise, "variance", HyperPrior::half_normal(1))}}), standard_registry()),
        {{y, 0.5}});
    CHECK(report.converged());
    double sum = 0;  // by the trapezoidal rule over the logarithm
    constexpr double kStep = 0.01, kPi = 3.14159265358979323846;
    for (double t = -30; t < 5; t += kStep) {
      const double v = std::exp(t);
      sum += kStep * v * std::sqrt(2 / kPi) * std::exp(-0.5 * v * v - 0.125 / (1 + v)) / std::sqrt(2 * kPi * (1 + v));
    }
    // The lattice ends where the density has fallen by exp(-13).
    CHECK(JointPosterior(state).log_evidence() == oracle::relative(std::log(sum), 3e-5));
    CHECK(evidence(plan, state).why == "a sum over points of the hypers");
    CHECK(state.belief(y)[0].is_point());  // an observed value stays known
  }
  // Nothing bounds the scale: the evidence has no mode.
  Graph g;
  const VariableId x = g.variable("x");
  const FactorId prior = g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", 1.0}});
  const Report report =
      oracle::solved(compile(g, joint({.hypers = {hyper(prior, "variance", HyperPrior::flat())}}), standard_registry()))
          .report;
  CHECK(report.stop == Report::Stop::singular);
  CHECK(report.line().find("nothing determines hyper 'gaussian_prior0.variance'") != std::string::npos);
}

}  // namespace
