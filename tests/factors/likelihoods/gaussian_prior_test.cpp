#include "factors/likelihoods/gaussian_prior.h"

#include "tests/oracles/accuracy.h"

namespace dma {

TEST_CASE("gaussian_prior: the message is the prior") {
  oracle::check_accuracy("gaussian_prior", [](auto& random, const auto& range, auto& accuracy) {
    const double variance = random.log_uniform(range.variance);
    const double mean = random.sign() * random.log_uniform(range.signal) * std::sqrt(variance);
    accuracy.compare(GaussianPrior::to_x({mean, variance}), {mean, variance});
  });
}

TEST_CASE("gaussian_prior: variance 0 is the point mass, infinite variance is uniform") {
  CHECK(GaussianPrior::to_x({3, 0}) == Gaussian::point(3));
  CHECK(GaussianPrior::to_x({3, kInfinity}) == Gaussian::uniform());
  CHECK(GaussianPrior::to_x({0, 0}) == Gaussian::point(0));
}

}  // namespace dma
