#include "factors/likelihoods/gaussian_noise.h"

#include "tests/oracles/accuracy.h"

namespace dma {

TEST_CASE("gaussian_noise: both messages add the variance") {
  oracle::check_accuracy("gaussian_noise", [](auto& random, const auto& range, auto& accuracy) {
    const Gaussian x = random.proper(range);
    const double variance = random.log_uniform(range.variance);
    accuracy.compare(GaussianNoise::to_y(x, {variance}), oracle::gaussian_noise(x, variance));
    CHECK(GaussianNoise::to_x(x, {variance}) == GaussianNoise::to_y(x, {variance}));
  });
}

TEST_CASE("gaussian_noise: no noise is the identity, bit for bit") {
  oracle::RandomMessages random(oracle::kSeed);
  for (int i = 0; i < 10'000; ++i) {
    const Gaussian message = random.any();
    CHECK(GaussianNoise::to_y(message, {0}) == message);
  }
}

TEST_CASE("gaussian_noise: uniform stays uniform, a point mass becomes the noise around it") {
  CHECK(GaussianNoise::to_y(Gaussian::uniform(), {2}) == Gaussian::uniform());
  CHECK(GaussianNoise::to_y(Gaussian::uniform(), {kInfinity}) == Gaussian::uniform());
  CHECK(GaussianNoise::to_y(Gaussian::point(3), {2}) == Gaussian::from_moments(3, 2));
  CHECK(GaussianNoise::to_y(Gaussian::point(3), {0}) == Gaussian::point(3));
  CHECK(GaussianNoise::to_y(Gaussian(3, 2), {kInfinity}) == Gaussian::uniform());
  CHECK(GaussianNoise::to_y(Gaussian(1e200, 1e200), {1e200}) == Gaussian::from_moments(1, 1e200));
}

}  // namespace dma
