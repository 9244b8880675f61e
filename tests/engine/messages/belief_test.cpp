// Quantiles, intervals and probabilities of beliefs, against integrals of their densities.
#include "engine/messages/family.h"

#include "tests/oracles/quadrature.h"
#include "tests/oracles/solved.h"

namespace {

Belief belief(const std::string& family, std::vector<Natural> components) {
  return {"x", standard_registry().family(family), std::move(components)};
}

// P(x < at), by the density over u, where x is u, exp(u) or 1 / (1 + exp(-u)).
double below(const Belief& b, std::size_t i, double at) {
  const std::string family(b.family().name());
  const auto density = [&](double x) { return std::exp(b.log_density(i, {&x, 1})); };
  if (family == "gaussian") return oracle::integral(density, b.mean(i) - oracle::kReach * b.sd(i), at);
  if (family == "beta")
    return oracle::integral(
        [&](double u) {
          const double x = 1 / (1 + std::exp(-u));
          return density(x) * x / (1 + std::exp(u));
        },
        -60, std::log(at) - std::log1p(-at));
  return oracle::integral([&](double u) { return density(std::exp(u)) * std::exp(u); }, -60, std::log(at));
}

}  // namespace

TEST_CASE("belief: a quantile is the value that so much of the density lies below") {
  const std::vector<Belief> all = {belief("gaussian", {{1, 2}, {-30, 0.01}}), belief("log_normal", {{1, 2}, {-0.3, 9}}),
                                   belief("gamma", {{1.5, 2}, {-0.3, 0.5}, {40, 3}}),
                                   belief("beta", {{1.5, 2}, {0.5, -0.25}, {60, 3}})};
  for (const Belief& b : all)
    for (std::size_t i = 0; i < b.size(); ++i) {
      INFO("b.text() ", b.text(), ", i ", i);
      for (const double p : {0.001, 0.025, 0.5, 0.9, 0.999})
        CHECK(below(b, i, b.quantile(p, i)) == oracle::relative(p, 1e-8));
      const auto [low, high] = b.interval(0.8, i);
      CHECK(below(b, i, high) - below(b, i, low) == oracle::relative(0.8, 1e-8));
      CHECK(below(b, i, low) == oracle::relative(0.1, 1e-8));
    }
}

TEST_CASE("belief: a point mass is its own interval, and one that nothing informs has no end") {
  const Belief gaussian = belief("gaussian", {{3, kInfinity}, {0, 0}}), gamma = belief("gamma", {{3, kInfinity}});
  CHECK(gaussian.interval(0.95, 0) == std::pair(3.0, 3.0));
  CHECK(gamma.interval() == std::pair(3.0, 3.0));
  CHECK(gaussian.interval(0.95, 1) == std::pair(-kInfinity, kInfinity));
}

TEST_CASE("belief: values of discrete variables have probabilities that sum to 1") {
  const Belief coin = belief("bernoulli", {{std::log(3.0), 0}}),
               die = belief("categorical(3)", {{0, 0}, {std::log(2.0), 0}, {0, 0}});
  CHECK(coin.probability(0, 1) == oracle::relative(0.75, 1e-14));
  CHECK(coin.probability(0, 0) == oracle::relative(0.25, 1e-14));
  CHECK(die.probability(0, 1) == oracle::relative(0.5, 1e-14));
  CHECK(die.probability(0, 0) + die.probability(0, 1) + die.probability(0, 2) == oracle::relative(1, 1e-14));
}

TEST_CASE("belief: what a family does not have is refused in one line that says what it has") {
  const Belief coin = belief("bernoulli", {{1, 0}}), x = belief("gaussian", {{1, 2}});
  CHECK_THROWS_WITH_AS((void)coin.interval(),
                       "belief of 'x': bernoulli has no quantiles; ask for probability(element, value)", Error);
  CHECK_THROWS_WITH_AS(
      (void)x.probability(0, 1),
      "belief of 'x': gaussian is not discrete; ask for quantile(probability) or interval(probability)", Error);
  CHECK_THROWS_WITH_AS((void)coin.probability(0, 2), "belief of 'x': there is no value 2; bernoulli has 2", Error);
  CHECK_THROWS_WITH_AS((void)x.interval(95),
                       "belief of 'x': a probability of 95 is given; one above 0 and below 1 is expected", Error);
  CHECK_THROWS_AS((void)x.quantile(0.5, 1), Error);
}
