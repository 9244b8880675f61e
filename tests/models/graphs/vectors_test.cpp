// Vectors with full covariances, against dense linear algebra and a textbook smoother.
#include "models/graphs/expressions.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <random>

#include "engine/joint/joint.h"
#include "engine/run/run.h"
#include "engine/support/text.h"
#include "factors/standard_registry.h"
#include "schedules/schedules.h"
#include "tests/oracles/plain_matrix.h"
#include "tests/oracles/regime_paths.h"
#include "tests/oracles/relative.h"

namespace {

using namespace dma;
using oracle::PlainMatrix;

std::vector<double> numbers(const PlainMatrix& m) { return m.values(); }

PlainMatrix some_covariance(std::size_t n, double shift) {
  PlainMatrix a(n, n);
  for (std::size_t i = 0; i < n * n; ++i) a[i] = std::sin(shift + 1.3 * static_cast<double>(i));
  return a * a.transpose() + 0.5 * PlainMatrix::identity(n);
}

TEST_CASE("vectors: a prior and noise, against dense linear algebra") {
  const PlainMatrix p = some_covariance(3, 0.1), r = some_covariance(2, 0.7), a{{1, -0.5, 0.25}, {0.3, 2, -1}};
  const PlainMatrix m = PlainMatrix::column({-1, 0, 1}), y = PlainMatrix::column({0.4, 2});
  const PlainMatrix s = a * p * a.transpose() + r, gain = p * a.transpose() * s.inverse();
  const PlainMatrix mean = m + gain * (y - a * m);
  const PlainMatrix covariance = p - gain * a * p;
  const double evidence =
      -0.5 * (dot(y - a * m, s.solve(y - a * m)) + std::log(s.determinant()) + 2 * std::log(2 * std::numbers::pi));
  for (const bool is_precision : {false, true}) {
    const auto matrix = [&](const PlainMatrix& of) {
      return is_precision ? SpreadMatrix::precision(numbers(of.inverse())) : SpreadMatrix::covariance(numbers(of));
    };
    Graph g;
    const VariableId x = g.variable("x", 3), seen = g.observed("seen", 2);
    gaussian_vector_prior(g, x, numbers(m), matrix(p));
    gaussian_vector_noise(g, x, seen, matrix(r), numbers(a));
    const Plan plan = compile(g, joint(), standard_registry());
    State state(plan);
    state.observe(seen, numbers(y));
    CHECK(run(plan, state).stop == Report::Stop::exact);
    const JointPosterior posterior(state);
    CHECK((posterior.mean(x) - mean).norm() < 1e-12);
    CHECK((posterior.covariance(x, x) - covariance).norm() < 1e-12);
    CHECK(posterior.log_evidence() == oracle::relative(evidence, 1e-12));
  }
}

TEST_CASE("vectors: a rotating state with full noise is smoothed as by Rauch, Tung and Striebel") {
  constexpr std::size_t kSteps = 100;
  const double turn = 0.1;
  const PlainMatrix f{{std::cos(turn), -std::sin(turn)}, {std::sin(turn), std::cos(turn)}};
  const PlainMatrix q{{0.04, 0.03}, {0.03, 0.09}}, r{{1, -0.4}, {-0.4, 0.5}}, p{{2, 0.5}, {0.5, 1}};
  std::vector<double> seen;
  for (std::size_t t = 0; t < 2 * kSteps; ++t) seen.push_back(std::sin(0.37 * static_cast<double>(t * t % 97)));
  const PlainMatrix one{{1}};  // a single regime
  const std::vector<std::optional<double>> values(seen.begin(), seen.end());
  const oracle::RegimePaths exact =
      oracle::enumerate_paths({{f, q, PlainMatrix::identity(2), r}}, one, one, PlainMatrix(2, 1, 0.5), p, values);
  Graph g;
  const VariableId x = g.variable("x", 2 * kSteps), y = g.observed("y", 2 * kSteps);
  std::vector<std::uint32_t> before, after;
  for (std::uint32_t i = 0; i + 2 < 2 * kSteps; ++i) before.push_back(i), after.push_back(i + 2);
  gaussian_vector_prior(g, gather(x, {0, 1}), {0.5, 0.5}, SpreadMatrix::covariance(numbers(p)));
  gaussian_vector_noise(g, gather(x, before), gather(x, after), SpreadMatrix::covariance(numbers(q)), numbers(f));
  gaussian_vector_noise(g, x, y, SpreadMatrix::covariance(numbers(r)));
  const Plan plan = compile(g, joint(), standard_registry());
  State state(plan);
  state.observe(y, seen);
  CHECK(run(plan, state).stop == Report::Stop::exact);
  const JointPosterior posterior(state);
  double error = 0;
  for (std::size_t t = 0; t < kSteps; ++t)
    for (std::size_t i = 0; i < 2; ++i) {
      error = std::max(error, std::abs(state.belief(x).mean(2 * t + i) - exact.smoothed[t].mean[i]));
      for (std::size_t j = 0; j < 2; ++j)
        error = std::max(
            error, std::abs(posterior.covariance(x, 2 * t + i, x, 2 * t + j) - exact.smoothed[t].covariance(i, j)));
    }
  CHECK(error < 1e-12);
}

TEST_CASE("vectors: zeros of a precision are no part of the graph, and a covariance can be set") {
  Graph g;
  const VariableId x = g.variable("x", 4);
  gaussian_vector_prior(g, x, {0, 0, 0, 0},
                        SpreadMatrix::precision({2, -1, 0, 0, -1, 2, -1, 0, 0, -1, 2, -1, 0, 0, -1, 2}));
  for (const Graph::Factor& factor : g.factors()) CHECK(factor.connections.size() <= 2);
  Graph h;
  const VariableId z = h.variable("z", 3);
  const VectorFactor prior =
      gaussian_vector_prior(h, z, {1, 2, 3}, SpreadMatrix::covariance({1, 0, 0, 0, 1, 0, 0, 0, 1}));
  const Plan plan = compile(h, joint(), standard_registry());
  State state(plan);
  const PlainMatrix c = some_covariance(3, 0.4);
  prior.set(state, numbers(c));
  (void)run(plan, state);
  CHECK((JointPosterior(state).covariance(z, z) - c).norm() < 1e-12);
  CHECK((JointPosterior(state).mean(z) - PlainMatrix::column({1, 2, 3})).norm() < 1e-12);
  // The same factors have messages: a block of two is a tree.
  Graph tree;
  const VariableId w = tree.variable("w", 2);
  gaussian_vector_prior(tree, w, {1, -1}, SpreadMatrix::covariance({2, 0.6, 0.6, 3}));
  State swept(compile(tree, forward_backward(), standard_registry()));
  CHECK(run(swept.plan(), swept).stop == Report::Stop::exact);
  CHECK(swept.belief(w).mean(1) == doctest::Approx(-1));
  CHECK(swept.belief(w).variance(1) == doctest::Approx(3));
}

// y ~ N(0, S), with the prior LKJ(2) written as det(correlations), by a random walk.
void check_learned(std::size_t n, double tolerance) {
  constexpr std::size_t kDrawn = 30;
  constexpr int kSteps = 400'000;
  const std::size_t unknowns = n + n * (n - 1) / 2;  // log standard deviations, 2 atanh of the correlations
  PlainMatrix rows(kDrawn, n);
  for (std::size_t i = 0; i < kDrawn * n; ++i) rows[i] = 2 * std::sin(1.7 * static_cast<double>(i * i % 89));
  rows = rows * some_covariance(n, 0.2).lower_root().transpose();
  const PlainMatrix scatter = rows.transpose() * rows;
  const auto find_correlations = [n](const std::vector<double>& t, PlainMatrix& r) {
    std::size_t next = n;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < i; ++j) r(i, j) = r(j, i) = std::tanh(0.5 * t[next++]);
  };
  PlainMatrix r = PlainMatrix::identity(n);
  const auto log_density = [&](const std::vector<double>& t) {
    find_correlations(t, r);
    const PlainMatrix root = r.lower_root();
    PlainMatrix scaled = scatter;
    double log_left = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (!(root(i, i) > 0)) return -std::numeric_limits<double>::infinity();
      log_left += 2 * std::log(root(i, i));
      for (std::size_t j = 0; j < n; ++j) scaled(i, j) /= std::exp(t[i] + t[j]);
    }
    double log_p = log_left * (1 - 0.5 * kDrawn) - 0.5 * r.solve(scaled).trace();
    for (std::size_t i = 0; i < n; ++i) log_p += t[i] * (1.0 - kDrawn) - 0.5 * std::exp(2 * t[i]) / 9;
    for (std::size_t i = n; i < unknowns; ++i) log_p -= 2 * std::log(std::cosh(0.5 * t[i]));
    return log_p;
  };
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  std::vector<double> at(unknowns), next;
  double height = log_density(at);
  PlainMatrix mean(n, n), square(n, n);
  for (int step = -4000; step < kSteps; ++step) {
    next = at;
    for (std::size_t k = 0; k < unknowns; ++k) next[k] += (k < n ? 0.07 : 0.2) * normal(random);
    if (const double found = log_density(next); std::log(std::generate_canonical<double, 53>(random)) < found - height)
      at = next, height = found;
    if (step < 0) continue;
    find_correlations(at, r);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        const double covariance = r(i, j) * std::exp(at[i] + at[j]);
        mean(i, j) += covariance / kSteps, square(i, j) += covariance * covariance / kSteps;
      }
  }
  Graph g;
  const VariableId zero = g.observed("zero", n * kDrawn), y = g.observed("y", n * kDrawn);
  const VectorFactor noise =
      gaussian_vector_noise(g, zero, y, SpreadMatrix::covariance(numbers(PlainMatrix::identity(n))));
  JointOptions options;
  learn_covariance(options, "noise", noise, HyperPrior::half_normal(3), 2);
  const Plan plan = compile(g, joint(options), standard_registry());
  State state(plan);
  state.observe(zero, std::vector<double>(n * kDrawn));
  state.observe(y, numbers(rows));
  const Report report = run(plan, state);
  CAPTURE(report.text());
  CHECK(report.converged());
  const std::vector<double> found = learned_covariance(JointPosterior(state), "noise", noise);
  for (std::size_t i = 0; i < n * n; ++i)
    CHECK(std::abs(found[i] - mean[i]) < tolerance * std::sqrt(square[i] - mean[i] * mean[i]));
}

TEST_CASE("vectors: covariances of three on a lattice and of four by a cloud are learned") {
  check_learned(3, 0.05);
  check_learned(4, 0.1);
}

TEST_CASE("vectors: a covariance of four from only eight rows is not reported as converged by a cloud") {
  Graph g;
  const VariableId zero = g.observed("zero", 32), y = g.observed("y", 32);
  JointOptions options;
  learn_covariance(options, "noise",
                   gaussian_vector_noise(g, zero, y, SpreadMatrix::covariance(numbers(PlainMatrix::identity(4)))),
                   HyperPrior::half_normal(3), 2);
  const Plan plan = compile(g, joint(options), standard_registry());
  State state(plan);
  std::vector<double> rows;
  for (int i = 0; i < 32; ++i) rows.push_back(2 * std::sin(1.7 * (i * i % 89)));
  state.observe(zero, std::vector<double>(32));
  state.observe(y, rows);
  const Report report = run(plan, state);
  CAPTURE(report.text());
  REQUIRE(report.joint->hypers.has_value());
  CHECK(report.joint->hypers->effective < 1000);
  CHECK(report.stop == Report::Stop::limit);
}

TEST_CASE("vectors: errors name the block and the row") {
  Graph g;
  const VariableId x = g.variable("x", 4), y = g.variable("y", 4);
  CHECK_THROWS_WITH_AS((void)gaussian_vector_prior(g, x, {0, 0}, SpreadMatrix::covariance({1, 2, 2, 1})),
                       "gaussian_vector_prior of 'x': the covariance is not positive "
                       "definite: its pivot is -3 in row 1; add to its diagonal",
                       Error);
  CHECK_THROWS_WITH_AS((void)gaussian_vector_noise(g, x, y, SpreadMatrix::covariance({1, 0.5, 0, 1})),
                       "gaussian_vector_noise of 'y': the covariance is not symmetric: 0 in row 1, column 0, but 0.5 "
                       "in row 0, column 1",
                       Error);
  CHECK_THROWS_WITH_AS((void)gaussian_vector_prior(g, x, {0, 0, 0}, SpreadMatrix::covariance({1, 0, 0, 1})),
                       "gaussian_vector_prior of 'x': 3 means for a matrix of 2 rows", Error);
  for (const char* const loss : {"", "huber"})
    CHECK_THROWS_WITH_AS(weigh_residuals(g, x, 4, SpreadMatrix::covariance({1, 0, 0, 1}), {loss, 1}),
                         "residuals 'x': a matrix of 2 rows; 4 are expected", Error);
  CHECK_THROWS_AS((void)gaussian_vector_prior(g, x, {0}, SpreadMatrix::covariance({1, 0, 0})), Error);
  CHECK_THROWS_AS((void)gaussian_vector_prior(g, x, {0, 0, 0}, SpreadMatrix::covariance({1, 0, 0, 0, 1, 0, 0, 0, 1})),
                  Error);
}

}  // namespace
