// Linear Gaussian graphs, with loops, against textbook and dense solutions.
#include <doctest/doctest.h>

#include "tests/engine/joint/joint_models.h"
#include "tests/oracles/dense_rows.h"
#include "tests/oracles/relative.h"

namespace {

using namespace dma;
using namespace dma::joint_test;
using oracle::DenseRows, oracle::PlainMatrix, oracle::largest_difference;

constexpr double kLinearError = 1e-8;

struct Smoothed {
  std::vector<PlainMatrix> mean, covariance;
};

// Textbook Kalman filter and Rauch-Tung-Striebel smoother.
Smoothed rauch_tung_striebel(const PlainMatrix& f, const PlainMatrix& q, const PlainMatrix& h, const PlainMatrix& r,
                             PlainMatrix m, PlainMatrix p, const std::vector<PlainMatrix>& y) {
  Smoothed filtered, predicted;
  for (std::size_t t = 0; t < y.size(); ++t) {
    if (t > 0) m = f * m, p = f * p * f.transpose() + q;
    predicted.mean.push_back(m), predicted.covariance.push_back(p);
    const PlainMatrix gain = p * h.transpose() * (h * p * h.transpose() + r).inverse();
    m += gain * (y[t] - h * m);
    p -= gain * h * p;
    filtered.mean.push_back(m), filtered.covariance.push_back(p);
  }
  for (std::size_t t = y.size() - 1; t-- > 0;) {
    const PlainMatrix gain = filtered.covariance[t] * f.transpose() * predicted.covariance[t + 1].inverse();
    filtered.mean[t] += gain * (filtered.mean[t + 1] - predicted.mean[t + 1]);
    filtered.covariance[t] += gain * (filtered.covariance[t + 1] - predicted.covariance[t + 1]) * gain.transpose();
  }
  return filtered;
}

void check_constant_velocity(std::size_t axes) {
  constexpr std::uint32_t kLength = 120;
  Graph g;
  std::vector<Axis> all;
  for (std::size_t a = 0; a < axes; ++a) all.emplace_back(g, kLength, std::to_string(a));
  const Plan plan = compile(g, joint(), standard_registry());
  State state(plan);
  std::vector<PlainMatrix> y(kLength, PlainMatrix(axes, 1));
  for (std::size_t a = 0; a < axes; ++a) {
    std::vector<double> values;
    for (std::uint32_t t = 0; t < kLength; ++t) values.push_back(y[t][a] = series(t + 31 * a));
    state.observe(all[a].y, values);
  }
  const Report report = run(plan, state);
  CHECK(report.stop == Report::Stop::exact);
  CHECK(report.converged());
  const std::size_t d = 2 * axes;
  PlainMatrix f = PlainMatrix::identity(d), q(d, d), h(axes, d), m(d, 1);
  for (std::size_t a = 0; a < axes; ++a) {
    f(2 * a, 2 * a + 1) = 1;
    q(2 * a, 2 * a) = Axis::kPosition, q(2 * a + 1, 2 * a + 1) = Axis::kVelocity;
    h(a, 2 * a) = 1;
    m[2 * a] = 0.5;
  }
  const Smoothed exact = rauch_tung_striebel(f, q, h, Axis::kNoise * PlainMatrix::identity(axes), m,
                                             Axis::kPrior * PlainMatrix::identity(d), y);
  double error = 0;
  const JointPosterior posterior(state);
  for (std::size_t a = 0; a < axes; ++a) {
    const Axis& axis = all[a];
    const Belief p = state.belief(axis.p), v = state.belief(axis.v), moved = state.belief(axis.moved);
    const Eigen::MatrixXd pv = posterior.covariance(axis.p, axis.v);
    for (std::uint32_t t = 0; t < kLength; ++t) {
      const PlainMatrix& c = exact.covariance[t];
      error = std::max({error, std::abs(p.mean(t) - exact.mean[t][2 * a]),
                        std::abs(v.mean(t) - exact.mean[t][2 * a + 1]), std::abs(p.variance(t) - c(2 * a, 2 * a)),
                        std::abs(v.variance(t) - c(2 * a + 1, 2 * a + 1)), std::abs(pv(t, t) - c(2 * a, 2 * a + 1))});
      if (t + 1 == kLength) continue;
      error =
          std::max({error, std::abs(moved.mean(t) - exact.mean[t][2 * a] - exact.mean[t][2 * a + 1]),
                    std::abs(moved.variance(t) - c(2 * a, 2 * a) - c(2 * a + 1, 2 * a + 1) - 2 * c(2 * a, 2 * a + 1))});
    }
  }
  CHECK(error < kLinearError);
}

}  // namespace

TEST_CASE("joint: a constant-velocity smoother in 2 and 4 dimensions is the Rauch-Tung-Striebel one") {
  check_constant_velocity(1);
  check_constant_velocity(2);
}

TEST_CASE("joint: a chain of 2,000 steps is solved sparsely, and the plan shows it") {
  Graph g;
  const Axis axis(g, 2000, "");
  const Plan plan = compile(g, joint(), standard_registry());
  const std::string text = describe(plan);
  CAPTURE(text);
  CHECK(text.find("joint: 4000 roots, 1999 derived, 6000 rows, 0 EP sites; linear, one solve\n") != std::string::npos);
  CHECK(text.find("sparse Cholesky: 4000 unknowns in ") != std::string::npos);
}

TEST_CASE("joint: a series whose noise is a variable is solved step by step, noise and evidence included") {
  // x_t = a x_(t-1) + b e_t by affine and add, e_t ~ N(0.1, 0.5), y_t = x_t + noise.
  constexpr std::uint32_t n = 60;
  Graph g;
  const VariableId x = g.variable("x", n), e = g.variable("e", n - 1), ax = g.variable("ax", n - 1),
                   be = g.variable("be", n - 1), y = g.observed("y", n);
  g.factor("gaussian_prior", {gather(x, {0})}, {{"mean", 0.3}, {"variance", 2.0}});
  g.factor("gaussian_prior", {e}, {{"mean", 0.1}, {"variance", 0.5}});
  g.factor("affine", {gather(x, steps(0, n - 1)), ax}, {{"a", 0.9}, {"b", 0.05}});
  const FactorId scale = g.factor("affine", {e, be}, {{"a", -0.4}});
  g.factor("add", {ax, be, gather(x, steps(1, n))});
  g.factor("gaussian_noise", {x, y}, {{"variance", 0.2}});
  std::vector<double> values;
  for (std::size_t t = 0; t < n; ++t) values.push_back(series(t));
  const Plan plan = compile(g, joint(), standard_registry());
  CAPTURE(describe(plan));
  CHECK(describe(plan).find("60 unknowns in 10 fronts of at most 8") != std::string::npos);  // fewer than 60
  State state(plan);
  state.observe(y, values);
  state.observe_missing(y, 17);
  CHECK_NOTHROW(set_start(state, e, std::vector<double>(n - 1, 1.0)));
  CHECK_THROWS(set_start(state, x, std::vector<double>(n, 1.0)));  // y is computed by functions
  for (const double b : {-0.4, 0.7, 0.0, 0.2}) {
    CAPTURE(b);
    state.set_parameter(scale, "a", b);
    CHECK(run(plan, state).stop == Report::Stop::exact);
    DenseRows dense(n);  // over x_0 and the noise
    dense.add({{0, 1}}, 0.3, 2);
    for (std::uint32_t t = 1; t < n; ++t) dense.add({{t, 1}}, 0.1, 0.5);
    PlainMatrix of_x(n, n), constant(n, 1);
    of_x(0, 0) = 1;
    for (std::uint32_t t = 1; t < n; ++t) {
      for (std::uint32_t i = 0; i < t; ++i) of_x(t, i) = 0.9 * of_x(t - 1, i);
      of_x(t, t) = b;
      constant[t] = 0.9 * constant[t - 1] + 0.05;
    }
    for (std::uint32_t t = 0; t < n; ++t) {
      if (t == 17) continue;
      std::vector<std::pair<Eigen::Index, double>> terms;
      for (std::uint32_t i = 0; i <= t; ++i) terms.emplace_back(i, of_x(t, i));
      dense.add(terms, values[t] - constant[t], 0.2);
    }
    const PlainMatrix mean = dense.mean(), across = of_x * dense.covariance(), of_x_and_x = across * of_x.transpose();
    const JointPosterior posterior(state);
    CHECK(largest_difference(posterior.mean(x), of_x * mean + constant) < kLinearError);
    CHECK(largest_difference(posterior.mean(e), mean.segment(1, n - 1)) < kLinearError);
    CHECK(largest_difference(posterior.covariance(x, x), of_x_and_x) < kLinearError);
    CHECK(largest_difference(posterior.covariance(x, e), across.block(0, 1, n, n - 1)) < kLinearError);
    CHECK(state.belief(y).variance(17) == oracle::relative(of_x_and_x(17, 17) + 0.2, kLinearError));
    CHECK(posterior.log_evidence() == oracle::relative(dense.log_evidence(), kLinearError));
  }
}
