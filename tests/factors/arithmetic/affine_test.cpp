#include "factors/arithmetic/affine.h"

#include "models/graphs/expressions.h"
#include "tests/oracles/dense_rows.h"
#include "tests/oracles/solved.h"

TEST_CASE("affine: messages are exact both ways, points and a = 0 included") {
  const Gaussian x = Gaussian::from_moments(1.5, 0.7), y = Gaussian::from_moments(-2, 3);
  CHECK(Affine::to_y(x, {-2, 0.5}).mean() == doctest::Approx(-2.5));
  CHECK(Affine::to_y(x, {-2, 0.5}).variance() == doctest::Approx(2.8));
  CHECK(Affine::to_x(y, {-2, 0.5}).mean() == doctest::Approx(1.25));
  CHECK(Affine::to_x(y, {-2, 0.5}).variance() == doctest::Approx(0.75));
  CHECK(Affine::to_y(Gaussian::point(3), {2, 1}) == Gaussian::point(7));
  CHECK(Affine::to_x(Gaussian::point(7), {2, 1}) == Gaussian::point(3));
  CHECK(Affine::to_y(x, {0, 4}) == Gaussian::point(4));
  CHECK(Affine::to_x(y, {0, 4}).is_uniform());
  CHECK(Affine::to_y(Gaussian::uniform(), {2, 1}).is_uniform());
}

TEST_CASE(
    "affine, linear: a chain of both is the dense Gaussian, by sweeps on a tree and by the joint solver on a loop") {
  const std::vector<double> a{1.0, 2.0, -0.5, 0.3, 0.0, 1.5}, b{0.5, -1.0};
  for (const bool by_joint : {false, true}) {
    // One y is a tree; two share x, a loop.
    const std::size_t rows = by_joint ? 2 : 1;
    Graph g;
    const VariableId x = gaussian_prior(g, g.variable("x", 3), 0.2, 2.0), seen = g.observed("seen", rows);
    const VariableId y = linear(g, x, {a.begin(), a.begin() + static_cast<std::ptrdiff_t>(3 * rows)},
                                std::vector<double>(b.begin(), b.begin() + static_cast<std::ptrdiff_t>(rows)));
    gaussian_noise(g, affine(g, y, -2.0, 1.0), 0.4, seen);
    const auto [plan, state, report] = oracle::solved(
        by_joint ? compile(g, joint(), standard_registry()) : compile(g, forward_backward(), standard_registry()),
        {{seen, by_joint ? std::vector<double>{1.0, -0.7} : std::vector<double>{1.0}}});
    if (by_joint) CHECK(report.stop == Report::Stop::exact);
    oracle::DenseRows dense(3);
    for (int i = 0; i < 3; ++i) dense.add({{i, 1}}, 0.2, 2.0);
    for (std::size_t i = 0; i < rows; ++i)
      dense.add({{0, -2 * a[3 * i]}, {1, -2 * a[3 * i + 1]}, {2, -2 * a[3 * i + 2]}},
                (i == 0 ? 1.0 : -0.7) - 1 + 2 * b[i], 0.4);
    const oracle::PlainMatrix mean = dense.mean(), covariance = dense.covariance();
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(state.belief(x).mean(i) == oracle::relative(mean[i], 1e-9));
      CHECK(state.belief(x).variance(i) == oracle::relative(covariance(i, i), 1e-9));
    }
  }
}

TEST_CASE("linear: a matrix that makes no rows is an Error that names the variable") {
  Graph g;
  const VariableId x = g.variable("x", 3);
  CHECK_THROWS_WITH_AS(static_cast<void>(linear(g, x, {1, 2})), doctest::Contains("no rows of 3 for 'x'"),
                       std::runtime_error);
}
