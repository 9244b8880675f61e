// Adam, AdamW and IVON where the answer is known: quadratic energies, which linear models have.
#include "tools/experiments/baselines/optimisers.h"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/oracles/plain_matrix.h"
#include "tests/oracles/relative.h"
#include "tools/experiments/baselines/random_normal.h"

namespace dma::baselines {

namespace {

using oracle::PlainMatrix;

// y = w.x + noise: E is quadratic, its minimum and its inverse Hessian are known.
struct LinearProblem {
  Network network{{3, 1}, {}};
  double noise = 0.5;
  PlainMatrix inputs, targets, hessian, minimum;
  WeightPrior prior = WeightPrior::centred(network, 3);

  explicit LinearProblem(bool orthogonal) {
    RandomNormal normal(2);
    PlainMatrix columns(3, 40);
    for (std::size_t k = 0; k < 120; ++k) columns[k] = normal();
    if (orthogonal) columns = (columns * columns.transpose()).lower_root().solve(columns);
    inputs = columns.transpose();
    targets = inputs * PlainMatrix::column({1, -2, 0.5}) + noise * PlainMatrix(normal.vector(40));
    const PlainMatrix precision = oracle::diagonal_matrix(prior.precision), mean = PlainMatrix::column({0.1, 0.2, 0.3});
    prior.mean = mean.vector();
    hessian = 1 / (noise * noise) * (columns * inputs) + precision;
    minimum = hessian.solve(1 / (noise * noise) * (columns * targets) + precision * mean);
  }
  Energy energy() const { return {network, inputs.matrix(), targets.matrix(), noise, prior}; }
};

}  // namespace

TEST_CASE("adam: reaches the minimum of a quadratic") {
  const LinearProblem p(false);
  Eigen::VectorXd weights = Eigen::VectorXd::Zero(3);
  minimise(p.energy(), {.rate = 0.02}, 3000, weights);
  CHECK((weights - p.minimum).norm() < 1e-6);
}

TEST_CASE("adam: the first steps are those of the paper's formulas") {
  Adam adam(1, {.rate = 0.1, .weight_decay = 0.5});
  Eigen::VectorXd w = Eigen::VectorXd::Constant(1, 2.0);
  double m = 0, v = 0, expected = 2;
  for (int t = 1; t <= 5; ++t) {
    const double g = 0.3 * t;
    adam.step(Eigen::VectorXd::Constant(1, g), w);
    m = 0.9 * m + 0.1 * g, v = 0.999 * v + 0.001 * g * g;
    expected -= 0.1 * 0.5 * expected;
    expected -= 0.1 * (m / (1 - std::pow(0.9, t))) / (std::sqrt(v / (1 - std::pow(0.999, t))) + 1e-8);
    CHECK(w(0) == oracle::relative(expected, 1e-13));
  }
}

TEST_CASE("adam: mini-batches reach the minimum of the whole, and a callback can stop") {
  const LinearProblem p(false);
  Eigen::VectorXd weights = Eigen::VectorXd::Zero(3);
  int epochs = 0;
  minimise(p.energy(), {.rate = 0.002}, 5000, weights, 10,
           [&](int epoch, const Eigen::VectorXd&) { return (epochs = epoch) < 3000; });
  CHECK(epochs == 3000);
  CHECK((weights - p.minimum).norm() < 0.02);  // the noise of single batches at this rate
}

TEST_CASE("laplace: equals the exact posterior of a linear model") {
  // The diagonal of the Hessian is the whole Hessian where the columns of the inputs are orthogonal.
  const LinearProblem p(true);
  const DiagonalGaussian q = laplace(p.energy(), p.minimum.vector());
  const PlainMatrix covariance = p.hessian.inverse();
  CHECK((covariance - diagonal_matrix(covariance.diagonal())).norm() < 1e-12);
  const auto draws = q.sample(4000, 1);
  for (Eigen::Index j = 0; j < 3; ++j) {
    const auto i = static_cast<std::size_t>(j);
    CHECK(q.sd(j) == oracle::relative(std::sqrt(covariance(i, i)), 1e-12));
    double mean = 0, square = 0;
    for (const auto& w : draws) mean += w(j) / 4000, square += std::pow(w(j) - q.mean(j), 2) / 4000;
    CHECK(std::abs(mean - q.mean(j)) < 4 * q.sd(j) / std::sqrt(4000.0));
    CHECK(square == oracle::relative(q.sd(j) * q.sd(j), 0.1));
  }
}

TEST_CASE("ivon: finds mean and variances of a linear model with orthogonal inputs") {
  LinearProblem p(true);
  // IVON's own prior: precision rows * damping around 0.
  const IvonOptions options{.rate = 0.1, .second_decay = 0.999, .damping = 0.05};
  const Energy energy(p.network, p.inputs.matrix(), p.targets.matrix(), p.noise, WeightPrior::none(p.network));
  const IvonState state = ivon(energy, options, 30000, Eigen::VectorXd::Zero(3), 3);
  REQUIRE(state.finite);
  const double precision = 1 / (p.noise * p.noise) + 40 * 0.05;
  const PlainMatrix mean = 1 / (p.noise * p.noise) / precision * (p.inputs.transpose() * p.targets);
  CHECK((state.mean - mean).norm() < 0.2);
  for (const double sd : state.sd(40, 0.05)) CHECK(sd == oracle::relative(1 / std::sqrt(precision), 0.1));
}

TEST_CASE("ivon: a run that leaves the numbers says so and stops") {
  const LinearProblem p(false);
  int epochs = 0;
  const IvonState state = ivon(p.energy(), {.rate = 1e200}, 100, Eigen::VectorXd::Ones(3), 1,
                               [&](int epoch, const IvonState&) { return (epochs = epoch) > 0; });
  CHECK(!state.finite);
  CHECK(epochs < 100);
}

}  // namespace dma::baselines
