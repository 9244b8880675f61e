#include "factors/arithmetic/exponential.h"

#include "engine/kinds/evaluate.h"
#include "factors/authoring/from_function.h"
#include "models/graphs/expressions.h"
#include "tests/oracles/quadrature.h"
#include "tests/oracles/solved.h"

TEST_CASE("exponential: the closed form is the fit of the plain function by quadrature, both ways") {
  const Kind plain = factor_from_function("plain", [](double x) { return std::exp(x); });
  for (const double mean : {-1.0, 0.3, 2.0})
    for (const double variance : {1e-4, 0.1, 1.0}) {
      const Gaussian x = Gaussian::from_moments(mean, variance), y = Gaussian::from_moments(3, 0.5);
      for (const std::size_t target : {0u, 1u}) {
        const Gaussian expected(evaluate(plain, "linearised", target, {{x}, {y}}).value()[0]);
        const Gaussian found = target == 0 ? Exponential::to_x(x, y) : Exponential::to_y(x);
        CHECK(found.mean() == oracle::relative(expected.mean(), 1e-6));
        CHECK(found.variance() == oracle::relative(expected.variance(), 1e-6));
      }
    }
}

TEST_CASE("exponential: points and unknowns") {
  CHECK(Exponential::to_y(Gaussian::point(0)) == Gaussian::point(1));
  CHECK(Exponential::to_y(Gaussian::uniform()).is_uniform());
  CHECK(Exponential::to_x(Gaussian::from_moments(0, 1), Gaussian::uniform()).is_uniform());
}

TEST_CASE("exponential: a value known to be 0 or less has no logarithm, and its message is refused") {
  for (const double y : {-1.0, 0.0})
    CHECK_FALSE(is_valid(Exponential::to_x(Gaussian::from_moments(0, 1), Gaussian::point(y))));
  CHECK(is_valid(Exponential::to_x(Gaussian::from_moments(0, 1), Gaussian::point(0.5))));
}
