// Formulas with a function of their own, their constants and noise learned. Enzyme kinetics (Michaelis and Menten),
// rate v s / (k + s), on the rates of a reaction treated with puromycin (M. A. Treloar 1974; D. M. Bates and D. G.
// Watts, Nonlinear Regression Analysis, 1988, find v = 212.7 +- 6.9, k = 0.0641 +- 0.0083 by least squares), and
// logistic growth l / (1 + exp(-(r t + m))) with l = 3, r = 1.8, m = -4.
//
// Prints:
//   enzyme:  v = 212.5 +- 7.3  k = 0.06409 +- 0.0087  noise 12
//   growth:  l = 2.961 +- 0.036  r = 1.854 +- 0.08  m = -4.069 +- 0.16  noise 0.096
#include <dma_models.h>
#include <fmt/core.h>

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <vector>

using namespace dma;

void print(const char* what, const Graph& g, const GaussianLearner& learner,
           std::initializer_list<VariableId> constants) {
  fmt::print("{}:", what);
  for (const VariableId v : constants)
    fmt::print("  {} = {:.4g} +- {:.2g}", g[v].name, learner.belief(v)[0].mean(), learner.belief(v)[0].sd());
  fmt::print("  noise {:.2g}\n", std::sqrt(learner.noise_variance(0)));
}

int main() {
  Registry registry = standard_registry();
  registry.add(factor_from_function("saturation", [](double v, double k, double s) { return v * s / (k + s); }));
  registry.add(factor_from_function("sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }));
  {
    Graph g;
    const auto v = gaussian_prior(g, g.shared("v"), 150.0, 1e4), k = gaussian_prior(g, g.shared("k"), 0.1, 0.01);
    const auto s = g.observed("s"), y = g.observed("y");
    gaussian_noise(g, apply(g, "saturation", {v, k, s}), 100.0, y);
    const std::vector<double> concentrations = {.02, .02, .06, .06, .11, .11, .22, .22, .56, .56, 1.1, 1.1},
                              rates = {76, 47, 97, 107, 123, 139, 159, 152, 191, 201, 207, 200};
    GaussianLearner learner(g, registry, {y}, {.learn_noise = true});
    learner.fit({{s, concentrations}, {y, rates}});
    print("enzyme", g, learner, {v, k});
  }
  Graph g;
  const auto l = gaussian_prior(g, g.shared("l"), 1.0, 9.0), r = gaussian_prior(g, g.shared("r"), 1.0, 4.0),
             m = gaussian_prior(g, g.shared("m"), 0.0, 9.0), t = g.observed("t"), y = g.observed("y");
  gaussian_noise(g, product(g, l, apply(g, "sigmoid", {add(g, product(g, r, t), m)})), 0.01, y);
  boost::random::mt19937_64 random(1);
  boost::random::normal_distribution<double> normal;
  std::vector<double> ts, ys;
  for (int i = 0; i < 40; ++i) {
    ts.push_back(0.125 * i);
    ys.push_back(3 / (1 + std::exp(4 - 1.8 * ts.back())) + 0.1 * normal(random));
  }
  GaussianLearner learner(g, registry, {y}, {.learn_noise = true});
  learner.fit({{t, ts}, {y, ys}});
  print("growth", g, learner, {l, r, m});
}
