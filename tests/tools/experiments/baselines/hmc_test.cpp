// Hamiltonian Monte Carlo on Gaussians, and the diagnostics on series of known correlation.
#include "tools/experiments/baselines/hmc.h"

#include <doctest/doctest.h>

#include <cmath>

#include "engine/joint/joint.h"
#include "tests/oracles/relative.h"
#include "tools/experiments/baselines/random_normal.h"

namespace dma::baselines {

namespace {

struct KnownGaussian {
  Eigen::Vector3d mean{1, -2, 0.5};
  Eigen::Matrix3d covariance, precision;
  KnownGaussian() {
    covariance << 4, 0.9, 0, 0.9, 0.25, 0, 0, 0, 0.0004;  // correlation 0.9, scales from 2 to 0.02
    precision = covariance.inverse();
  }
  EnergyFunction energy() const {
    return [this](const Eigen::VectorXd& x, Eigen::VectorXd& gradient) {
      gradient = precision * (x - mean);
      return 0.5 * gradient.dot(x - mean);
    };
  }
};

}  // namespace

TEST_CASE("hmc: recovers a correlated Gaussian with scales a hundred apart; its chains agree") {
  const KnownGaussian known;
  std::vector<Chain> chains;
  for (std::uint64_t k = 0; k < 4; ++k)
    chains.push_back(hmc_chain(known.energy(), 3 * RandomNormal(100 + k).vector(3),
                               {.warm_up = 600, .samples = 1500, .longest = 20}, k));
  Eigen::Vector3d mean = Eigen::Vector3d::Zero();
  Eigen::Matrix3d square = Eigen::Matrix3d::Zero();
  for (const Chain& chain : chains) {
    CHECK(chain.acceptance > 0.6);
    REQUIRE(chain.samples.size() == 1500);
    for (const auto& x : chain.samples) {
      mean += x / 6000;
      square += (x - known.mean) * (x - known.mean).transpose() / 6000;
    }
  }
  for (Eigen::Index j = 0; j < 3; ++j) {
    std::vector<double> draws;
    for (const Chain& chain : chains)
      for (const auto& x : chain.samples) draws.push_back(x(j));
    const ChainWorth worth = worth_of(draws, 8);
    CHECK(worth.r_hat < 1.02);
    REQUIRE(worth.effective > 500);
    const double sd = std::sqrt(known.covariance(j, j));
    CHECK(std::abs(mean(j) - known.mean(j)) < 4.5 * sd / std::sqrt(worth.effective));
    CHECK(square(j, j) == oracle::relative(sd * sd, 0.15));
  }
  CHECK(square(0, 1) == oracle::relative(0.9, 0.2));
}

TEST_CASE("hmc: one seed, one chain; thinning keeps every third draw") {
  const KnownGaussian known;
  const HmcOptions options{.warm_up = 50, .samples = 30, .longest = 5};
  const auto once = hmc_chain(known.energy(), known.mean, options, 7),
             again = hmc_chain(known.energy(), known.mean, options, 7);
  CHECK(once.samples.back() == again.samples.back());
  HmcOptions thin = options;
  thin.keep_every = 3;
  const auto kept = hmc_chain(known.energy(), known.mean, thin, 7);
  REQUIRE(kept.samples.size() == 10);
  CHECK(kept.samples[0] == once.samples[2]);
}

TEST_CASE("worth of draws: independent ones count fully, correlated ones by (1 - a) / (1 + a); different chains show") {
  RandomNormal normal(1);
  const auto two_chains = [&](double a, double offset) {
    std::vector<double> draws;
    for (const double off : {0.0, offset}) {
      double x = normal();
      for (int i = 0; i < 4000; ++i) {
        draws.push_back(x + off);
        x = a * x + std::sqrt(1 - a * a) * normal();
      }
    }
    return worth_of(draws, 4);
  };
  CHECK(two_chains(0, 0).r_hat < 1.01);
  CHECK(two_chains(0, 0).effective == oracle::relative(8000, 0.1));
  CHECK(two_chains(0.8, 0).effective == oracle::relative(8000 * 0.2 / 1.8, 0.25));
  // Two chains two standard deviations apart: between variance 4/3 of four halves, pooled 1 + 4/3.
  CHECK(two_chains(0, 2).r_hat == oracle::relative(std::sqrt(1 + 4.0 / 3), 0.03));
}

}  // namespace dma::baselines
