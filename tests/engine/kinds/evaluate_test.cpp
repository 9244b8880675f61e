#include "engine/kinds/evaluate.h"

#include <doctest/doctest.h>

#include "engine/support/text.h"
#include "factors/arithmetic/product.h"
#include "factors/standard_registry.h"

namespace dma {

TEST_CASE("evaluate: one product factor gives what its message functions give") {
  const Registry registry = standard_registry();
  const Gaussian x = Gaussian::from_moments(3, 1), y = Gaussian::from_moments(4, 0.5),
                 z = Gaussian::from_moments(10, 5);
  const Arrivals arrivals = {{x}, {y}, {z}};
  const Kind& product = registry.kind("product");
  CHECK(evaluate(product, "dma", 0, arrivals)->at(0) == static_cast<const Natural&>(Product::to_factor(y, z)));
  CHECK(evaluate(product, "dma", 2, arrivals)->at(0) == static_cast<const Natural&>(Product::to_z(x, y)));
}

TEST_CASE("evaluate: a variadic target has one message per term, and per-term parameters follow each other") {
  const Registry registry = standard_registry();
  const Natural unit = Gaussian::from_moments(0, 1);
  const std::vector<double> coefficients = {1, 2, 4};
  const auto terms =
      evaluate(registry.kind("sum"), "dma", 0, {{unit, unit, unit}, {Gaussian::from_moments(8, 1)}}, coefficients);
  REQUIRE(terms.has_value());
  REQUIRE(terms->size() == 3);
  CHECK(Gaussian(terms->at(2)).mean() == doctest::Approx(2));
  CHECK(Gaussian(terms->at(2)).variance() == doctest::Approx((1 + 1 + 4) / 16.0));
}

TEST_CASE("evaluate: a refused message is an empty answer") {
  const Kind broken = kind("broken").input("x").output("y").message(
      "dma", "y", [](const Gaussian& x) { return Gaussian(x.tau, -x.rho); });
  CHECK_FALSE(evaluate(broken, "dma", 1, {{Gaussian::from_moments(0, 1)}, {Natural{}}}).has_value());
}

TEST_CASE("evaluate: wrong numbers of arrivals, parameters or a wrong method are errors that say so") {
  const Registry registry = standard_registry();
  const Kind& relu = registry.kind("leaky_relu");
  const Natural unit = Gaussian::from_moments(0, 1);
  const std::vector<double> slope = {0.1};
  CHECK_THROWS_WITH_AS(static_cast<void>(evaluate(relu, "dma", 0, {{unit}}, slope)), doctest::Contains("2 ports"),
                       Error);
  CHECK_THROWS_WITH_AS(static_cast<void>(evaluate(relu, "dma", 0, {{unit}, {unit}})), doctest::Contains("1 parameter"),
                       Error);
  const Kind half =
      kind("half").input("x").output("y").message("dma", "y", [](const Gaussian& x) { return scaled(x, 0.5); });
  CHECK_THROWS_WITH_AS(static_cast<void>(evaluate(half, "dmq", 1, {{unit}, {unit}})),
                       doctest::Contains("did you mean 'dma'"), Error);
}

}  // namespace dma
