#include "factors/likelihoods/within.h"

#include <doctest/doctest.h>

#include "tests/oracles/quadrature.h"
#include "tests/oracles/relative.h"

namespace {

using namespace dma;

// Integrates over the window only, so that a narrow one is resolved.
oracle::Matched cut(const Gaussian& x, double margin) {
  const double height = log_density(x, std::clamp(x.mean(), -margin, margin));
  const auto part = [&](auto h) {
    return oracle::integral([&](double t) { return h(t) * std::exp(log_density(x, t) - height); }, -margin, margin);
  };
  const double mass = part([](double) { return 1.0; }), mean = part([](double t) { return t; }) / mass;
  return {std::log(mass) + height, mean, part([&](double t) { return (t - mean) * (t - mean); }) / mass};
}

}  // namespace

TEST_CASE("within: the marginal has the moments of the Gaussian cut on both sides, the evidence its mass") {
  for (const double mean : {0.0, 0.4, -1.5, 3.0, -8.0, 30.0})
    for (const double sd : {0.2, 1.0, 5.0})
      for (const double margin : {0.05, 0.7, 3.0}) {
        CAPTURE(mean);
        CAPTURE(sd);
        CAPTURE(margin);
        const Gaussian x = Gaussian::from_moments(mean, sd * sd), belief = x * Within::to_x(x, {margin});
        const auto exact = cut(x, margin);
        CHECK(belief.mean() == oracle::relative(exact.mean, 1e-9, 1));
        CHECK(belief.variance() == oracle::relative(exact.variance, 1e-9));
        CHECK(Within::log_integral(x, {margin}) == oracle::relative(exact.mass, 1e-9, 1));
      }
}
