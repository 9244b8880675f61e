// A custom network: a hidden layer whose activation is a lambda (softplus), a skip connection past it, and two targets
// of different kinds on this one trunk, a number with Gaussian noise and a count. All weights are learned as one
// Gaussian; each target contributes its likelihood's slope and curvature.
//
// Prints:
//   x = -1: y -1.29 +- 0.20 (curve -1.30); n 0.8, in 95 % of rows from 0 to 3
//   x =  0: y  0.01 +- 0.20 (curve  0.00); n 2.8, in 95 % of rows from 0 to 6
//   x =  1: y  1.26 +- 0.20 (curve  1.30); n 9.6, in 95 % of rows from 4 to 16
//   noise of y 0.20; log rate of n = trunk + 1.00
#include <dma_models.h>
#include <fmt/core.h>

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/poisson_distribution.hpp>
#include <cmath>
#include <vector>

int main() {
  using namespace dma;
  Registry registry = standard_registry();
  registry.add(factor_from_function("softplus", [](double x) { return std::log1p(std::exp(x)); }));

  constexpr std::size_t kUnits = 6;
  Graph g;
  const auto x = g.observed("x"), y = g.observed("y"), n = g.observed("n");
  const auto weights = [&](const char* name, std::size_t size) {
    return gaussian_prior(g, g.shared(name, size), 0.0, 1.0);
  };
  const auto before = add(g, product(g, weights("w", kUnits), all_to_one(x)), weights("b", kUnits));
  const auto layer = apply(g, "softplus", {before});
  const auto hidden = sum(g, product(g, weights("v", kUnits), layer));
  const auto trunk = add(g, hidden, product(g, weights("skip", 1), x), "trunk");
  gaussian_noise(g, trunk, 0.01, y);
  g.factor("poisson", {add(g, trunk, weights("level", 1), "log rate"), n});

  boost::random::mt19937_64 random(1);
  boost::random::normal_distribution<double> normal;
  std::vector<double> xs, ys, ns;
  for (int i = 0; i < 200; ++i) {
    const double at = -2 + 0.02 * i, curve = std::sin(1.5 * at) + 0.3 * at;
    xs.push_back(at);
    ys.push_back(curve + 0.2 * normal(random));
    ns.push_back(boost::random::poisson_distribution<int>(std::exp(curve + 1))(random));
  }

  GaussianLearner learner(g, registry, {y, n}, {.learn_noise = true});
  learner.fit({{x, xs}, {y, ys}, {n, ns}});
  const std::vector<double> new_xs = {-1, 0, 1};
  const Prediction p = learner.predict({{x, new_xs}});
  for (Eigen::Index i = 0; i < 3; ++i)
    fmt::print("x = {:2}: y {:5.2f} +- {:.2f} (curve {:5.2f}); n {:.1f}, in 95 % of rows from {} to {}\n",
               new_xs[static_cast<std::size_t>(i)], p.mean(i, 0), p.sd(i, 0),
               std::sin(1.5 * new_xs[static_cast<std::size_t>(i)]) + 0.3 * new_xs[static_cast<std::size_t>(i)],
               p.mean(i, 1), p.quantile(0.025)(i, 1), p.quantile(0.975)(i, 1));
  fmt::print("noise of y {:.2f}; log rate of n = trunk + {:.2f}\n", std::sqrt(learner.noise_variance(0)),
             learner.belief(g.find_variable("level"))[0].mean());
}
