// A formula with unknown constants and unknown noise, y = a exp(-b t) + c, learned from 40 readings: one Gaussian over
// a, b and c, found by Gauss-Newton steps on the row program of the graph.
//
// Prints:
//   row program: inputs 1, shared scalars 3, outputs 1, steps 4
//     affine     bt (1) = b t
//     linear     -bt (1) = bt
//     function   decay (1) = exponential(-bt)
//     affine     f (1) = a decay + c
//   16 epochs, settled; log evidence 26.32; 3.0 scalars determined by the examples
//   a = 2.48 +- 0.06
//   b = 0.77 +- 0.05
//   c = 0.47 +- 0.04
//   noise 0.096; at t = 6 0.50, and 95 % of readings between 0.30 and 0.70
#include <dma_models.h>
#include <fmt/core.h>

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <vector>

int main() {
  using namespace dma;
  Graph g;
  const auto a = gaussian_prior(g, g.shared("a"), 1.0, 4.0), b = gaussian_prior(g, g.shared("b"), 1.0, 4.0),
             c = gaussian_prior(g, g.shared("c"), 1.0, 4.0);
  const auto t = g.observed("t"), y = g.observed("y");
  const auto decay = exponential(g, affine(g, product(g, b, t, "bt"), -1.0, 0.0, "-bt"), "decay");
  gaussian_noise(g, add(g, product(g, a, decay, "scaled"), c, "f"), 1.0, y);

  boost::random::mt19937_64 random(1);
  boost::random::normal_distribution<double> normal;
  std::vector<double> ts, ys;
  for (int i = 0; i < 40; ++i) {
    ts.push_back(0.125 * i);
    ys.push_back(2.5 * std::exp(-0.8 * ts.back()) + 0.5 + 0.1 * normal(random));
  }

  GaussianLearner learner(g, standard_registry(), {y}, {.learn_noise = true});
  fmt::print("{}", describe(learner.program()));
  fmt::print("{}\n", learner.fit({{t, ts}, {y, ys}}).line());
  for (const VariableId v : {a, b, c})
    fmt::print("{} = {:.2f} +- {:.2f}\n", g[v].name, learner.belief(v)[0].mean(), learner.belief(v)[0].sd());
  const std::vector<double> later = {6};
  const Prediction p = learner.predict({{t, later}});
  fmt::print("noise {:.3f}; at t = 6 {:.2f}, and 95 % of readings between {:.2f} and {:.2f}\n",
             std::sqrt(learner.noise_variance(0)), p.mean(0, 0), p.quantile(0.025)(0, 0), p.quantile(0.975)(0, 0));
}
