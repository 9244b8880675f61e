// Linear Gaussian graphs, with loops, against textbook and dense solutions.
#include "tests/engine/joint/joint_models.h"
#include "tests/oracles/dense_rows.h"
#include "tests/oracles/solved.h"

namespace {

using namespace dma::joint_test;
using oracle::DenseRows, oracle::PlainMatrix, oracle::largest_difference;

constexpr double kLinearError = 1e-8;

}  // namespace

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
