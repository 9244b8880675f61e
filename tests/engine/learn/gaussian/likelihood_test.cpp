// Targets whose likelihood is not Gaussian noise.
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/poisson_distribution.hpp>

#include "engine/learn/gaussian/program/output_likelihood.h"
#include "engine/support/fields.h"
#include "factors/authoring/from_function.h"
#include "tests/engine/learn/gaussian/learned_graphs.h"
#include "tests/oracles/distributions.h"
#include "tests/oracles/model_files.h"

namespace {

using oracle::PlainMatrix, oracle::random_matrix;

OutputLikelihood likelihood(const std::string& kind, std::vector<double> parameters) {
  return {standard_registry().kind(kind), std::move(parameters), "y"};
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

constexpr double kByDifferences = 1e-7;  // relative error of a curvature

void check_bend(const OutputLikelihood& l, double x, double y, double slope, double curvature) {
  INFO("l.kind() ", l.kind(), ", x ", x, ", y ", y);
  const auto found = l.bend(x, y);
  const double size = std::abs(curvature) + slope * slope;  // scale of a curvature that matters beside the slope
  CHECK(std::abs(found.slope - slope) < kByDifferences * std::sqrt(size));
  CHECK(std::abs(found.curvature - curvature) < kByDifferences * size);
}

// The linear predictor w . x of a graph, with a likelihood of that kind; w ~ N(0, 4).
struct LinearModel {
  Graph graph;
  VariableId w, x, z;
};
LinearModel linear_model(std::size_t size) {
  Graph g;
  const auto w = g.shared("w", size), x = g.observed("x", size), p = g.variable("p", size), z = g.variable("z");
  g.factor("gaussian_prior", {w}, {{"mean", 0.0}, {"variance", 4.0}});
  g.factor("product", {w, x, p});
  g.factor("sum", {p, z});
  return {std::move(g), w, x, z};
}

// Newton's method on -sum log f + |w|^2 / 8 with slopes and weights in closed form.
std::pair<PlainMatrix, PlainMatrix> newton(const PlainMatrix& x, const PlainMatrix& y,
                                           const std::function<std::pair<double, double>(double, double)>& bend) {
  PlainMatrix w(x.columns(), 1), precision;
  for (int step = 0; step < 200; ++step) {
    const PlainMatrix at = x * w;
    PlainMatrix slope(x.rows(), 1), weight(x.rows(), 1);
    for (std::size_t i = 0; i < x.rows(); ++i) std::tie(slope[i], weight[i]) = bend(at[i], y[i]);
    precision = weighted_square(x, weight) + 0.25 * PlainMatrix::identity(x.columns());
    w += precision.solve(x.transpose() * slope - 0.25 * w);
  }
  return {w, precision.inverse()};
}

PlainMatrix counts(const PlainMatrix& log_rates) {
  boost::random::mt19937_64 random(5);
  PlainMatrix y(log_rates.rows(), 1);
  for (std::size_t i = 0; i < y.rows(); ++i)
    y[i] = boost::random::poisson_distribution<int>(std::exp(log_rates[i]))(random);
  return y;
}

}  // namespace

TEST_CASE("output likelihood: slopes and curvatures are those of the closed forms") {
  const double e = std::exp(1.0);
  for (const double x : {-20.0, -1.3, 0.0, 0.4, 3.0, 12.0}) {
    const double p = sigmoid(x), q = sigmoid(-x);
    check_bend(likelihood("logistic", {}), x, 1, q, -p * q);
    check_bend(likelihood("logistic", {}), x, 0, -p, -p * q);
    for (const double y : {0.0, 3.0, 2000.0})
      check_bend(likelihood("poisson", {e}), x, y, y - e * std::exp(x), -e * std::exp(x));
    check_bend(likelihood("binomial", {10}), x, 4, 4 - 10 * p, -10 * p * q);
    check_bend(likelihood("weibull", {1.5, 0}), x, 2, 1.5 * std::pow(2 / std::exp(x), 1.5) - 1.5,
               -2.25 * std::pow(2 / std::exp(x), 1.5));
  }
  for (const double scale : {1e-6, 0.1, 1.0, 1e4})
    for (const double r : {0.0, 0.3, -2.0, 30.0}) {
      const double s2d = 4 * scale * scale, x = 1.5;
      check_bend(likelihood("student_t_noise", {scale, 4}), x, x + r * scale,
                 5 * r * scale / (s2d + r * r * scale * scale),
                 5 * (r * r * scale * scale - s2d) / std::pow(s2d + r * r * scale * scale, 2));
    }
  // c = 3, n = 8, m = 1 / (1 + exp(-x)), a = c m, b = c - a, da/dx = d
  using boost::math::digamma, boost::math::trigamma;
  const double x = 0.7, m = sigmoid(x), a = 3 * m, b = 3 - a, d = 3 * m * (1 - m), y = 2;
  const double first = digamma(y + a) - digamma(a) - digamma(8 - y + b) + digamma(b),
               second = trigamma(y + a) - trigamma(a) + trigamma(8 - y + b) - trigamma(b);
  check_bend(likelihood("beta_binomial", {8, 3}), x, y, d * first, d * (1 - 2 * m) * first + d * d * second);
}

TEST_CASE("output likelihood: what is known of x makes of y what sums and distributions of others say") {
  const double mean = 1.2, sd = 0.4;
  const auto averaged = [&](const auto& f) {  // over N(mean, sd^2), by a fine trapezoidal rule
    double sum = 0;
    for (double t = -9; t <= 9; t += 1.0 / 64)
      sum += std::exp(-0.5 * t * t) / std::sqrt(2 * std::numbers::pi) / 64 * f(mean + sd * t);
    return sum;
  };
  const auto check = [&](const OutputLikelihood& l, const auto& first, const auto& variance, const auto& below,
                         std::initializer_list<double> ys, double tolerance) {
    CAPTURE(l.kind());
    const auto out = l.outlook(mean, sd);
    const double centre = averaged(first);
    CHECK(out.mean == oracle::relative(centre, tolerance));
    CHECK(out.noise_variance == oracle::relative(averaged(variance), tolerance));
    CHECK(out.epistemic_variance ==
          oracle::relative(averaged([&](double x) { return std::pow(first(x) - centre, 2); }), tolerance));
    for (const double y : ys)
      CHECK(l.cumulative(mean, sd, y) == oracle::relative(averaged([&](double x) { return below(x, y); }), tolerance));
  };
  using oracle::counts_to;
  for (const double exposure : {1.0, 1e4})  // one number at a time, and several
    check(
        likelihood("poisson", {exposure}), [&](double x) { return exposure * std::exp(x); },
        [&](double x) { return exposure * std::exp(x); },
        [&](double x, double y) {
          const double rate = exposure * std::exp(x);
          return counts_to(y, rate, [&](double k) { return oracle::poisson(rate, k); });
        },
        {std::floor(2 * exposure), std::floor(5 * exposure)}, exposure == 1 ? 1e-9 : 2e-4);
  check(
      likelihood("logistic", {}), sigmoid, [](double x) { return sigmoid(x) * sigmoid(-x); },
      [](double x, double y) { return y < 1 ? sigmoid(-x) : 1; }, {0, 1}, 1e-9);
  check(
      likelihood("binomial", {9}), [](double x) { return 9 * sigmoid(x); },
      [](double x) { return 9 * sigmoid(x) * sigmoid(-x); },
      [](double x, double y) {
        return counts_to(y, 9 * sigmoid(x), [&](double k) { return oracle::binomial(9, sigmoid(x), k); });
      },
      {0, 5, 9}, 1e-9);
  check(
      likelihood("negative_binomial", {0.8, 1}), [](double x) { return std::exp(x); },
      [](double x) { return std::exp(x) + std::exp(2 * x) / 0.8; },
      [](double x, double y) {
        const double p = 1 / (1 + std::exp(x) / 0.8);
        return counts_to(y, std::exp(x), [&](double k) { return oracle::negative_binomial(0.8, p, k); });
      },
      {0, 4, 30}, 2e-4);
  check(
      likelihood("student_t_noise", {0.3, 5}), [](double x) { return x; }, [](double) { return 0.09 * 5 / 3; },
      [](double x, double y) { return oracle::student_below(5, (y - x) / 0.3); }, {-1, 1.3, 3}, 1e-6);
  check(
      likelihood("weibull", {2, 0}), [](double x) { return std::exp(x) * std::tgamma(1.5); },
      [](double x) { return std::exp(2 * x) * (1 - std::pow(std::tgamma(1.5), 2)); },
      [](double x, double y) { return 1 - oracle::weibull_above(2, std::exp(x), y); }, {0.5, 3, 9}, 1e-6);
}

TEST_CASE("gaussian learner: Poisson regression is Laplace's, with its evidence and its predictions") {
  for (const std::size_t rows : {60u, 2u}) {  // more than scalars, and fewer
    CAPTURE(rows);
    LinearModel m = linear_model(3);
    const auto y = m.graph.observed("y");
    m.graph.factor("poisson", {m.z, y});
    PlainMatrix x = random_matrix(rows, 3, 1);
    for (std::size_t i = 0; i < rows; ++i) x(i, 0) = 1;
    const PlainMatrix count = counts(x * PlainMatrix::column({1, 0.6, 0.2}));
    GaussianLearner learner(m.graph, standard_registry(), {y}, {.epochs = 60, .least_gain = 0});
    const GaussianLearnReport report = learner.fit({{m.x, x.values()}, {y, count.values()}});
    const auto [mode, covariance] =
        newton(x, count, [](double at, double n) { return std::pair(n - std::exp(at), std::exp(at)); });
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(learner.belief(m.w)[i].mean() == oracle::relative(mode[i], 1e-8));
      CHECK(learner.belief(m.w)[i].variance() == oracle::relative(covariance(i, i), 1e-7));
    }
    double evidence = -0.125 * dot(mode, mode) + 0.5 * std::log(covariance.determinant()) - 1.5 * std::log(4.0);
    const PlainMatrix rates = x * mode;
    for (std::size_t i = 0; i < rows; ++i)
      evidence += count[i] * rates[i] - std::exp(rates[i]) - std::lgamma(count[i] + 1);
    CHECK(report.log_evidence == oracle::relative(evidence, 1e-9));
    const PlainMatrix fresh = rows == 60 ? PlainMatrix{{1, 0.5, -1}} : PlainMatrix(x.row(0));
    const Prediction p = learner.predict({{m.x, fresh.values()}});
    const double at = (fresh * mode)[0], v = (fresh * covariance * fresh.transpose())[0];
    CHECK(p.mean(0, 0) == oracle::relative(std::exp(at + 0.5 * v), 1e-7));
    CHECK(p.sd(0, 0) * p.sd(0, 0) ==
          oracle::relative(std::exp(at + 0.5 * v) + std::exp(2 * at + v) * std::expm1(v), 1e-6));
    // Quantiles by summing the density of every count.
    double below = 0;
    int median = -1;
    for (int n = 0; median < 0; ++n) {
      below += std::exp(p.log_density(Matrix::Constant(1, 1, n))(0, 0));
      CHECK(p.cumulative(Matrix::Constant(1, 1, n))(0, 0) == oracle::relative(below, 1e-6));
      if (below >= 0.5) median = n;
    }
    CHECK(p.quantile(0.5)(0, 0) == median);
    // A saved learner predicts the same.
    GaussianLearner other(m.graph, standard_registry(), {y});
    other.load(learner.save());
    CHECK(other.predict({{m.x, fresh.values()}}).mean(0, 0) == p.mean(0, 0));
    // A posterior that is kept as rows knows Gaussian noise alone.
    Json saved = oracle::json_in_model(learner.save());
    Json& posterior = saved["mixture"]["members"][0]["plain_posterior"];
    posterior["factor"] = packed(Vector()), posterior["learned_rows"] = written(x.matrix());
    CHECK_THROWS_WITH_AS(other.load(model_file("learner", saved)),
                         doctest::Contains("a posterior of targets without Gaussian noise has no factor"), Error);
    CHECK_THROWS_WITH_AS(learner.fit({{m.x, fresh.values()}, {y, std::vector<double>{1.5}}}),
                         "fit: target 'y' is 1.5 in row 1; poisson expects a whole number in [0, inf)", Error);
  }
}

TEST_CASE("gaussian learner: logistic and Student-t regression are Laplace's; an outlier has no say") {
  const PlainMatrix x = random_matrix(80, 2, 7);
  for (const bool is_binary : {true, false}) {
    LinearModel m = linear_model(2);
    const auto y = m.graph.observed("y");
    m.graph.factor(is_binary ? "logistic" : "student_t_noise", {m.z, y},
                   is_binary ? ParameterList{} : ParameterList{{"scale", 0.2}, {"degrees", 3.0}});
    PlainMatrix target = x * PlainMatrix::column({0.8, -1.1}) + 0.2 * PlainMatrix(random_matrix(80, 1, 9));
    if (!is_binary) target[3] += 50;
    for (std::size_t i = 0; i < 80 && is_binary; ++i) target[i] = target[i] > 0.3 ? 1 : 0;
    GaussianLearner learner(m.graph, standard_registry(), {y}, {.epochs = 100, .least_gain = 0});
    learner.fit({{m.x, x.values()}, {y, target.values()}});
    const auto [mode, covariance] = newton(x, target, [&](double at, double t) {
      if (is_binary) return std::pair(t - sigmoid(at), sigmoid(at) * sigmoid(-at));
      const double r = t - at, d = 0.12 + r * r;
      return std::pair(4 * r / d, 4 / d);  // iterated least squares finds the mode
    });
    for (std::size_t i = 0; i < 2; ++i) CHECK(learner.belief(m.w)[i].mean() == oracle::relative(mode[i], 1e-6));
    if (is_binary)
      CHECK(learner.belief(m.w)[0].variance() == oracle::relative(covariance(0, 0), 1e-6));
    else
      CHECK(std::abs(mode[0] - 0.8) < 0.1);
    // The rows once more, as an update: as if they had been seen twice at the start, but for Laplace's first Gaussian.
    CHECK(learner.update({{m.x, x.values()}, {y, target.values()}}));
    std::vector<double> twice_x = x.values(), twice_y = target.values();
    twice_x.insert(twice_x.end(), x.values().begin(), x.values().end());
    twice_y.insert(twice_y.end(), target.values().begin(), target.values().end());
    GaussianLearner twice(m.graph, standard_registry(), {y}, {.epochs = 100, .least_gain = 0});
    twice.fit({{m.x, twice_x}, {y, twice_y}});
    for (std::size_t i = 0; i < 2; ++i)
      CHECK(std::abs(learner.belief(m.w)[i].mean() - twice.belief(m.w)[i].mean()) < twice.belief(m.w)[i].sd());
  }
}

TEST_CASE("gaussian learner: a count and a number on one trunk, each with its likelihood") {
  LinearModel m = linear_model(3);
  const auto y = m.graph.observed("y"), n = m.graph.observed("n"), half = m.graph.variable("half");
  m.graph.factor("gaussian_noise", {m.z, y}, {{"variance", 0.04}});
  m.graph.factor("affine", {m.z, half}, {{"a", 0.5}, {"b", 1.0}});
  m.graph.factor("poisson", {half, n});
  const PlainMatrix x = random_matrix(50, 3, 11), z_of_rows = x * PlainMatrix::column({-0.8, 0.05, 0.9});
  const PlainMatrix number = z_of_rows + 0.2 * PlainMatrix(random_matrix(50, 1, 12));
  const PlainMatrix count = counts(0.5 * z_of_rows + PlainMatrix(50, 1, 1));
  GaussianLearner learner(m.graph, standard_registry(), {n, y}, {.epochs = 60, .least_gain = 0});
  learner.fit({{m.x, x.values()}, {y, number.values()}, {n, count.values()}});
  PlainMatrix mode(3, 1), precision, slope(50, 1), weight(50, 1);
  for (int step = 0; step < 100; ++step) {
    const PlainMatrix z = x * mode;
    for (std::size_t i = 0; i < 50; ++i) {
      const double rate = std::exp(0.5 * z[i] + 1);
      slope[i] = 25 * (number[i] - z[i]) + 0.5 * (count[i] - rate), weight[i] = 25 + 0.25 * rate;
    }
    precision = weighted_square(x, weight) + 0.25 * PlainMatrix::identity(3);
    mode += precision.solve(x.transpose() * slope - 0.25 * mode);
  }
  const PlainMatrix covariance = precision.inverse();
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(learner.belief(m.w)[i].mean() == oracle::relative(mode[i], 1e-8));
    CHECK(learner.belief(m.w)[i].variance() == oracle::relative(covariance(i, i), 1e-7));
  }
  const PlainMatrix fresh = random_matrix(2, 3, 13), means = fresh * mode,
                    variances = (fresh * covariance * fresh.transpose()).diagonal();
  const Prediction p = learner.predict({{m.x, fresh.values()}});
  for (Index i = 0; i < 2; ++i) {
    const double at = means[i], v = variances[i];
    CHECK(p.mean(i, 0) == oracle::relative(std::exp(0.5 * at + 1 + 0.125 * v), 1e-7));
    CHECK(p.mean(i, 1) == oracle::relative(at, 1e-7));
    CHECK(p.sd(i, 1) == oracle::relative(std::sqrt(v + 0.04), 1e-7));
  }
  // Noise is learned of the number alone, and left-out predictions are there for both.
  GaussianLearner noisy(m.graph, standard_registry(), {n, y}, {.learn_noise = true});
  noisy.fit({{m.x, x.values()}, {y, number.values()}, {n, count.values()}});
  CHECK(noisy.noise_variance(1) > 0.01);
  CHECK(noisy.noise_variance(1) < 0.09);
  CHECK_THROWS_WITH_AS((void)noisy.noise_variance(0),
                       "noise_variance: target 'n' has no Gaussian noise, but a likelihood of kind 'poisson'", Error);
  CHECK(noisy.left_out().mean.allFinite());
  Matrix targets(50, 2);
  for (Index i = 0; i < 50; ++i) targets(i, 0) = count[i], targets(i, 1) = number[i];
  CHECK(noisy.left_out().log_density(targets).mean() > -2);
}

TEST_CASE("gaussian learner: a likelihood of one's own learns; one that is not normalised does not predict") {
  Registry registry = standard_registry();
  registry.add(likelihood_from_log_density(
                   "rate", [](double x, double y) { return x - y * std::exp(x); }, "exponential")
                   .observes("y", above(0) & finite()));
  registry.add(likelihood_from_log_density("loose", [](double x, double y) { return -std::abs(y - x); }));
  for (const std::string kind : {"rate", "loose"}) {
    LinearModel m = linear_model(1);
    const auto y = m.graph.observed("y");
    m.graph.factor(kind, {m.z, y});
    const std::vector<double> x(30, 1.0), one(1, 1.0);
    PlainMatrix times = random_matrix(30, 1, 3);
    double total = 0;
    for (std::size_t i = 0; i < 30; ++i) total += times[i] = std::abs(times[i]);
    GaussianLearner learner(m.graph, registry, {y}, {.epochs = 60, .least_gain = 0});
    learner.fit({{m.x, x}, {y, times.values()}});
    if (kind == "loose") {
      CHECK_THROWS_WITH_AS(
          (void)learner.predict({{m.x, one}}),
          "target 'y': the density of kind 'loose' has a mass of 2 over y; only one that is normalised "
          "(a mass of 1) can predict",
          Error);
      continue;
    }
    const double found = learner.belief(m.w)[0].mean(), v = learner.belief(m.w)[0].variance();
    CHECK(30 - total * std::exp(found) - 0.25 * found == doctest::Approx(0).epsilon(1e-6));
    CHECK(learner.predict({{m.x, one}}).mean(0, 0) == oracle::relative(std::exp(-found + 0.5 * v), 1e-6));
  }
}
