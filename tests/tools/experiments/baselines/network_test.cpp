// The one gradient of all baselines, against automatic differentiation of a network written anew.
#include "tools/experiments/baselines/network.h"

#include <doctest/doctest.h>

#include <cmath>

#include "engine/support/text.h"
#include "tests/oracles/dual.h"
#include "tests/oracles/relative.h"
#include "tools/experiments/baselines/random_normal.h"

namespace dma::baselines {

namespace {

using namespace dma::testing;

struct Problem {
  Network network{{3, 4, 3, 2}, {0.3, 0.7}};
  Eigen::MatrixXd inputs, targets;
  Eigen::VectorXd weights;
  WeightPrior prior = WeightPrior::centred(network, 1.5);

  explicit Problem(Eigen::Index rows) {
    RandomNormal normal(5);
    inputs = normal.vector(3 * rows).reshaped(rows, 3);
    targets = normal.vector(2 * rows).reshaped(rows, 2);
    weights = normal.vector(network.weights());
    prior.mean = normal.vector(network.weights());
  }
  Energy energy() const { return {network, inputs, targets, 0.6, prior}; }
};

// The energy written with loops over scalars of any kind.
template <class T>
T energy_of(const Problem& p, const std::vector<T>& weights) {
  T sum = 0.0;
  for (Eigen::Index n = 0; n < p.inputs.rows(); ++n) {
    std::vector<T> a;
    for (const double x : p.inputs.row(n)) a.push_back(T(x));
    std::size_t at = 0;
    for (std::size_t l = 0; l + 1 < p.network.layers.size(); ++l) {
      std::vector<T> z(p.network.layers[l + 1], T(0.0));
      for (T& unit : z)
        for (const T& in : a) unit = unit + weights[at++] * in;
      if (l < p.network.slopes.size())
        for (T& unit : z)
          if (plain(unit) <= 0) unit = T(p.network.slopes[l]) * unit;
      a = z;
    }
    for (Eigen::Index k = 0; k < p.targets.cols(); ++k) {
      const T off = a[static_cast<std::size_t>(k)] - T(p.targets(n, k));
      sum = sum + T(0.5 / (0.6 * 0.6)) * off * off;
    }
  }
  for (std::size_t j = 0; j < weights.size(); ++j) {
    const T off = weights[j] - T(p.prior.mean(static_cast<Eigen::Index>(j)));
    sum = sum + T(0.5 * p.prior.precision(static_cast<Eigen::Index>(j))) * off * off;
  }
  return sum;
}

}  // namespace

TEST_CASE("baselines: value and gradient equal automatic differentiation, over several blocks of rows") {
  const Problem p(300);
  Eigen::VectorXd gradient;
  const double value = p.energy().gradient(p.weights, gradient);
  for (Eigen::Index j = 0; j < p.weights.size(); ++j) {
    std::vector<Dual<double>> dual;
    for (Eigen::Index i = 0; i < p.weights.size(); ++i) dual.push_back({p.weights(i), i == j ? 1.0 : 0.0});
    const Dual<double> e = energy_of(p, dual);
    CHECK(e.value == oracle::relative(value, 1e-12));
    CHECK(gradient(j) == oracle::relative(e.slope, 1e-11));
  }
}

TEST_CASE("baselines: the Hessian's diagonal equals second-order automatic differentiation") {
  const Problem p(15);
  const Eigen::VectorXd diagonal = p.energy().hessian_diagonal(p.weights);
  using Second = Dual<Dual<double>>;
  for (Eigen::Index j = 0; j < p.weights.size(); ++j) {
    std::vector<Second> dual;
    for (Eigen::Index i = 0; i < p.weights.size(); ++i) {
      const double along = i == j ? 1 : 0;
      dual.push_back({Dual<double>(p.weights(i), along), Dual<double>(along, 0)});
    }
    CHECK(diagonal(j) == oracle::relative(energy_of(p, dual).slope.slope, 1e-11));
  }
}

TEST_CASE("baselines: mini-batches add up to the whole") {
  const Problem p(50);
  const Energy energy(p.network, p.inputs, p.targets, 0.6, WeightPrior::none(p.network));
  Eigen::VectorXd whole, first, second;
  const double value = energy.gradient(p.weights, whole);
  const double parts =
      energy.likelihood_gradient(p.weights, 0, 20, first) + energy.likelihood_gradient(p.weights, 20, 30, second);
  CHECK(value == oracle::relative(parts, 1e-13));
  CHECK((whole - first - second).norm() < 1e-10 * whole.norm());
}

TEST_CASE("baselines: wrong sizes are refused with what was found and expected") {
  const Problem p(5);
  CHECK_THROWS_WITH_AS(p.network.outputs(Eigen::VectorXd::Zero(3), p.inputs), "the network has 30 weights, 3 are given",
                       Error);
  CHECK_THROWS_AS(Energy(p.network, p.inputs, p.targets.col(0), 0.6, p.prior), Error);
  CHECK_THROWS_AS(Energy(p.network, p.inputs, p.targets, 0, p.prior), Error);
}

}  // namespace dma::baselines
