// Models on the data of posteriordb: two of hidden categories, against the means and standard deviations of its
// reference draws (10,000 each), and one of varying effects, against quadrature.
#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <cmath>
#include <cstdint>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include "engine/compile/compile.h"
#include "engine/joint/joint.h"
#include "engine/run/run.h"
#include "factors/standard_registry.h"
#include "models/graphs/expressions.h"
#include "schedules/schedules.h"
#include "tests/oracles/files.h"
#include "tests/oracles/relative.h"

namespace {

using namespace dma;

// radon_mn: counties with their houses, in order.
struct House {
  std::uint32_t county;
  bool is_first_floor;
  double log_radon;
};

std::vector<House> read_radon() {
  const auto columns = oracle::read_columns("models/graphs/radon.csv");
  std::vector<House> houses;
  for (std::size_t i = 0; i < columns.at("county").size(); ++i)
    houses.push_back({static_cast<std::uint32_t>(columns.at("county")[i]), columns.at("first_floor")[i] == 1,
                      std::log(columns.at("radon")[i])});
  return houses;
}

struct Reference {
  std::string name;
  double mean, sd, found, found_sd;
};

void check(std::span<const Reference> all, double of_sd, double of_width) {
  for (const Reference& r : all) {
    INFO(r.name, ": ", r.found, " +- ", r.found_sd, " beside ", r.mean, " +- ", r.sd);
    CHECK(std::abs(r.found - r.mean) < of_sd * r.sd);
    CHECK(std::abs(r.found_sd / r.sd - 1) < of_width);
  }
}

// radon: y ~ N(a + b [first floor], sigma) with a and b of the county, (a, b) ~ N(mu, S). Given sigma and S everything
// is normal: the counties' effects, then mu ~ N(0, 10^2), are integrated out in closed form, and the rest on a grid of
// the logarithms of sigma and of the roots of S, and of t = 2 atanh r, r the correlation.
struct RadonOracle {
  struct Moments {
    double mass = 0, first = 0, second = 0;
    void add(double weight, double mean, double variance = 0) {
      mass += weight, first += weight * mean, second += weight * (mean * mean + variance);
    }
    double mean() const { return first / mass; }
    double sd() const { return std::sqrt(second / mass - mean() * mean()); }
  };
  Moments mu[2], sigma, roots[2], r, between, slope;  // `slope` belongs to the last county
  double log_evidence = 0;

  explicit RadonOracle(bool is_correlated) {
    using Eigen::Matrix2d, Eigen::Vector2d;
    struct Alike {  // counties with equally many houses and first-floor measurements
      double counties = 0;
      Vector2d sum = Vector2d::Zero();      // sum of X'y
      Matrix2d squares = Matrix2d::Zero();  // sum of X'y y'X
    };
    std::map<std::pair<int, int>, Alike> all;
    double squares = 0;
    const std::vector<House> data = read_radon();
    Vector2d last;
    Matrix2d last_x;
    for (std::size_t next = 0; next < data.size();) {
      const std::uint32_t county = data[next].county;
      int houses = 0, above = 0;
      last.setZero();
      for (; next < data.size() && data[next].county == county; ++next, ++houses) {
        const auto& [_, is_first_floor, y] = data[next];
        above += is_first_floor ? 1 : 0;
        last += Vector2d(y, is_first_floor ? y : 0);
        squares += y * y;
      }
      Alike& group = all[{houses, above}];
      group.counties += 1, group.sum += last, group.squares += last * last.transpose();
      last_x << houses, above, above, above;
    }
    const auto log_half_normal = [](double x) {  // density of log x
      return 0.5 * std::log(2 / std::numbers::pi) - 0.5 * x * x + std::log(x);
    };
    constexpr double kSteps[] = {0.03, 0.15, 0.3, 0.6}, kTop = -1270;  // near the largest evidence
    for (double u = -0.44; u < -0.2; u += kSteps[0])
      for (double ta = -2.1; ta < 0; ta += kSteps[1])
        for (double tb = -9; tb < 0.8; tb += kSteps[2])
          for (double t = is_correlated ? -9.6 : 0; t < (is_correlated ? 9.61 : 0.5); t += kSteps[3]) {
            const double s = std::exp(u), a = std::exp(ta), b = std::exp(tb), rho = std::tanh(0.5 * t), w = 1 / (s * s);
            Matrix2d spread;
            spread << a * a, a * b * rho, a * b * rho, b * b;
            const Matrix2d k = spread.inverse();
            Matrix2d information = 0.01 * Matrix2d::Identity();
            Vector2d pull = Vector2d::Zero();
            const double houses = static_cast<double>(data.size());
            double log_p = -0.5 * houses * std::log(2 * std::numbers::pi * s * s) - 0.5 * squares * w - std::log(100);
            for (const auto& [counts, group] : all) {
              Matrix2d x;
              x << counts.first, counts.second, counts.second, counts.second;
              const Matrix2d p = k + w * x, inverse = p.inverse(), kept = k * inverse;
              log_p -= 0.5 * group.counties * std::log(spread.determinant() * p.determinant());
              log_p += 0.5 * w * w * inverse.cwiseProduct(group.squares).sum();
              information += group.counties * (k - kept * k);
              pull += w * (kept * group.sum);
            }
            const Matrix2d covariance = information.inverse();
            const Vector2d mean = covariance * pull;
            log_p += 0.5 * pull.dot(mean) - 0.5 * std::log(information.determinant());
            log_p += log_half_normal(s) + log_half_normal(a) + log_half_normal(b);
            // LKJ(2): 3 / 4 (1 - r^2), and dr = (1 - r^2) / 2 dt.
            if (is_correlated) log_p += std::log(0.375) - 4 * std::log(std::cosh(0.5 * t));
            const double weight = std::exp(log_p - kTop);
            for (int i = 0; i < 2; ++i) mu[i].add(weight, mean[i], covariance(i, i));
            sigma.add(weight, s), roots[0].add(weight, a), roots[1].add(weight, b);
            r.add(weight, rho), between.add(weight, a * b * rho);
            const Matrix2d inverse = (k + w * last_x).inverse(), kept = inverse * k;
            slope.add(weight, (inverse * w * last + kept * mean)[1],
                      (inverse + kept * covariance * kept.transpose())(1, 1));
          }
    log_evidence = kTop + std::log(sigma.mass * kSteps[0] * kSteps[1] * kSteps[2] * (is_correlated ? kSteps[3] : 1));
  }
};

}  // namespace

// y ~ theta N(mu1, sigma1) + (1 - theta) N(mu2, sigma2), theta ~ beta(5, 5). The means, both N(0, 2) and in ascending
// order, are given the moments of the smaller and the larger of two such; the precisions a prior whose slope at 1
// matches sigma's half-normal.
TEST_CASE("posteriordb: low_dim_gauss_mix, two normals with everything unknown") {
  const std::vector<double> y = oracle::read_columns("models/graphs/mixed.csv").at("y");
  const double apart = 2 / std::sqrt(std::acos(-1.0)), left = 4 * (1 - 1 / std::acos(-1.0));
  Graph g;
  const auto theta = g.variable("theta", 1, "dirichlet(2)"), of = g.variable("of", y.size(), "categorical(2)");
  const auto mu = g.variable("mu", 2), precision = g.variable("precision", 2, "gamma");
  const auto seen = g.observed("y", y.size());
  g.factor("dirichlet_prior", {theta}, {{"concentration", {5.0, 5.0}}});
  g.factor("categorical_draw", {all_to_one(theta), of});
  g.factor("gaussian_prior", {mu}, {{"mean", {-apart, apart}}, {"variance", left}});
  g.factor("gamma_prior", {precision}, {{"shape", 1.0}, {"rate", 1.375}});
  g.factor("normal_mixture", {of, column(mu), column(precision), seen});
  const Plan plan = compile(g, sequential({.tolerance = 0.05, .limit = 300}), standard_registry(), {.method = "ep"});
  State state(plan);
  state.observe(seen, y);
  const Report report = run(plan, state);
  CAPTURE(report.text());
  CHECK(report.converged());
  const Belief means = state.belief(mu), weights = state.belief(theta), widths = state.belief(precision);
  double sigma[2], spread[2];
  for (std::size_t k = 0; k < 2; ++k) {  // E[1 / sqrt(w)] and E[1 / w] of a gamma
    const double rate = widths.mean(k) / widths.variance(k), shape = widths.mean(k) * rate;
    sigma[k] = std::sqrt(rate) * std::exp(std::lgamma(shape - 0.5) - std::lgamma(shape));
    spread[k] = std::sqrt(rate / (shape - 1) - sigma[k] * sigma[k]);
  }
  const Reference all[] = {{"mu1", -2.7335, 0.042, means.mean(0), means.sd(0)},
                           {"mu2", 2.8698, 0.0546, means.mean(1), means.sd(1)},
                           {"sigma1", 1.0281, 0.0314, sigma[0], spread[0]},
                           {"sigma2", 1.0238, 0.0405, sigma[1], spread[1]},
                           {"theta", 0.62155, 0.0155, weights.mean(0, 0), std::sqrt(weights.variance(0, 0))}};
  check(all, 0.05, 0.05);
}

// Two states whose transitions are unknown, y ~ N(mu of the state, 1), mu ~ N(3, 1) and N(10, 1).
TEST_CASE("posteriordb: hmm_example, a hidden chain with unknown transitions and emissions") {
  const std::vector<double> y = oracle::read_columns("models/graphs/chain.csv").at("y");
  const auto steps = static_cast<std::uint32_t>(y.size());
  Graph g;
  const auto rows = g.variable("rows", 2, "dirichlet(2)"), z = g.variable("z", steps, "categorical(2)");
  const auto mu = g.variable("mu", 2), seen = g.observed("y", steps);
  g.factor("dirichlet_prior", {rows}, {{"concentration", {1.0, 1.0}}});
  g.factor("categorical_prior", {gather(z, {0})}, {{"probability", {0.5, 0.5}}});
  for (std::uint32_t t = 1; t < steps; ++t)
    g.factor("learned_table", {{"rows", rows}, {"parent", gather(z, {t - 1})}, {"child", gather(z, {t})}},
             {{"categories", 2.0}});
  g.factor("gaussian_prior", {mu}, {{"mean", {3.0, 10.0}}, {"variance", 1.0}});
  g.factor("mixture", {z, column(mu), seen}, {{"variance", 1.0}});
  const Plan plan =
      compile(g, sequential({.tolerance = 1e-6, .limit = 300, .damping = 0.3}), standard_registry(), {.method = "ep"});
  State state(plan);
  state.observe(seen, y);
  const Report report = run(plan, state);
  CAPTURE(report.text());
  CHECK(report.converged());
  const Belief p = state.belief(rows), means = state.belief(mu);
  const Reference all[] = {{"theta1", 0.66665, 0.101, p.mean(0, 0), std::sqrt(p.variance(0, 0))},
                           {"theta2", 0.073133, 0.0284, p.mean(1, 0), std::sqrt(p.variance(1, 0))},
                           {"mu1", 3.0215, 0.224, means.mean(0), means.sd(0)},
                           {"mu2", 8.8273, 0.111, means.mean(1), means.sd(1)}};
  check(all, 0.05, 0.05);
}

TEST_CASE("posteriordb: radon, intercepts and slopes that vary, apart and together") {
  std::vector<double> y, a;
  std::vector<std::uint32_t> of, intercepts, slopes, centre;
  for (const auto& [county, is_first_floor, log_radon] : read_radon()) {
    if (2 * county == centre.size()) {
      intercepts.push_back(2 * county);
      slopes.push_back(2 * county + 1);
      centre.insert(centre.end(), {0, 1});
    }
    y.push_back(log_radon);
    a.insert(a.end(), {1.0, is_first_floor ? 1.0 : 0.0});
    of.insert(of.end(), {2 * county, 2 * county + 1});
  }
  for (const bool is_correlated : {false, true}) {
    CAPTURE(is_correlated);
    Graph g;
    const auto mu = g.variable("mu", 2), effects = g.variable("effects", centre.size());
    const auto seen = g.observed("y", y.size());
    g.factor("gaussian_prior", {mu}, {{"mean", 0.0}, {"variance", 100.0}});
    const FactorId noise =
        g.factor("gaussian_linear", {{"x", gather(effects, of)}, {"y", seen}}, {{"A", a}, {"variance", 1.0}});
    const auto root = HyperPrior::half_normal(1);
    JointOptions options{.hypers = {hyper("sigma", root, {{noise, "variance", 2}})}};
    VectorFactor spread;
    if (is_correlated) {
      spread = gaussian_vector_noise(g, gather(mu, centre), effects, SpreadMatrix::covariance({1, 0, 0, 1}));
      learn_covariance(options, "spread", spread, root, 2);
    } else {
      for (std::uint32_t k = 0; k < 2; ++k) {
        const FactorId each =
            g.factor("gaussian_noise",
                     {gather(mu, std::vector(centre.size() / 2, k)), gather(effects, k == 0 ? intercepts : slopes)},
                     {{"variance", 1.0}});
        options.hypers.push_back(hyper("spread.sd" + std::to_string(k), root, {{each, "variance", 2}}));
      }
    }
    const Plan plan = compile(g, joint(options), standard_registry());
    State state(plan);
    state.observe(seen, y);
    const Report report = run(plan, state);
    CAPTURE(report.text());
    CHECK(report.converged());
    const RadonOracle exact(is_correlated);
    const JointPosterior posterior(state);
    const auto of_hyper = [&](const char* name, const RadonOracle::Moments& m) -> Reference {
      return {name, m.mean(), m.sd(), posterior.hyper(name).mean(), posterior.hyper(name).sd()};
    };
    const auto of_element = [&](VariableId v, std::size_t i, const RadonOracle::Moments& m) -> Reference {
      return {g[v].name, m.mean(), m.sd(), state.belief(v).mean(i), state.belief(v).sd(i)};
    };
    std::vector<Reference> all{of_element(mu, 0, exact.mu[0]),
                               of_element(mu, 1, exact.mu[1]),
                               of_element(effects, centre.size() - 1, exact.slope),
                               of_hyper("sigma", exact.sigma),
                               of_hyper("spread.sd0", exact.roots[0]),
                               of_hyper("spread.sd1", exact.roots[1])};
    CHECK(posterior.log_evidence() == oracle::relative(exact.log_evidence, 1e-5));
    if (is_correlated) {
      all.push_back(of_hyper("spread.r10", exact.r));
      CHECK(learned_covariance(posterior, "spread", spread)[1] == oracle::relative(exact.between.mean(), 0.01));
    }
    check(all, 0.01, 0.01);
  }
}
