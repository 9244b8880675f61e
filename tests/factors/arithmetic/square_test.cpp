#include "factors/arithmetic/square.h"

#include "engine/kinds/evaluate.h"
#include "factors/authoring/from_function.h"
#include "tests/oracles/quadrature.h"
#include "tests/oracles/solved.h"

TEST_CASE("square: forward moments are those of quadrature") {
  for (const double mean : {-3.0, 0.0, 0.2, 2.0})
    for (const double variance : {0.1, 1.0, 4.0}) {
      const Gaussian x = Gaussian::from_moments(mean, variance), y = Square::to_y(x);
      const double expected = oracle::expectation([](double t) { return t * t; }, x);
      const double spread = oracle::expectation([&](double t) { return std::pow(t * t - expected, 2); }, x);
      CHECK(y.mean() == oracle::relative(expected, 1e-9));
      CHECK(y.variance() == oracle::relative(spread, 1e-9));
    }
}

TEST_CASE("square: backward messages are those of the best linear fit of the plain function") {
  const Kind plain = factor_from_function("plain", [](double x) { return x * x; });
  for (const double mean : {-2.0, 0.3, 5.0})
    for (const double variance : {0.01, 1.0}) {
      const Gaussian x = Gaussian::from_moments(mean, variance), y = Gaussian::from_moments(3, 0.5);
      const Gaussian expected(evaluate(plain, "linearised", 0, {{x}, {y}}).value()[0]), found = Square::to_x(x, y);
      CHECK(found.mean() == oracle::relative(expected.mean(), 1e-8));
      CHECK(found.variance() == oracle::relative(expected.variance(), 1e-8));
    }
}

TEST_CASE("square: points and unknowns") {
  CHECK(Square::to_y(Gaussian::point(-3)) == Gaussian::point(9));
  CHECK(Square::to_x(Gaussian::point(-3), Gaussian::point(9)) == Gaussian::point(-3));
  CHECK(Square::to_y(Gaussian()).is_uniform());
  CHECK(Square::to_x(Gaussian::from_moments(0, 1), Gaussian::from_moments(4, 1)).is_uniform());
}

TEST_CASE("square: a well-known x is refined by its square as by Newton's step") {
  Graph g;
  const auto x = g.variable("x"), y = g.variable("y"), seen = g.observed("seen");
  g.factor("gaussian_prior", {x}, {{"mean", 3.0}, {"variance", 1e-4}});
  g.factor("square", {x, y});
  g.factor("gaussian_noise", {y, seen}, {{"variance", 1e-9}});
  const auto [plan, state, report] =
      oracle::solved(compile(g, forward_backward(), standard_registry()), {{seen, 9.03}});
  CHECK(state.belief(x).mean() == oracle::relative(std::sqrt(9.03), 1e-4));
}
