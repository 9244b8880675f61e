// Two clusters: which of the numbers belong together, where are the clusters, and is one cluster enough? Each number
// has a selector, a categorical variable, that picks one of the means.
//
// Prints:
//   categorical(2): converged
//     mean -1.90 +- 0.34
//     mean  1.87 +- 0.31
//     0.3 is of the upper one with probability 0.820
//     log evidence -19.7629, approximate: the graph has loops: the Bethe approximation
//   categorical(1): converged
//     mean  0.29 +- 0.22
//     log evidence -46.5003, approximate: some messages are projections: EP's estimate
//   two clusters are better than one by 26.7 in log evidence
#include <dma.h>
#include <fmt/core.h>

int main() {
  using namespace dma;
  const std::vector<double> numbers{-2.3, 1.9, 2.6, -1.6, 2.0, -2.2, 0.3, 1.7, 2.4, -1.9};

  const auto fit = [&](const char* family, const std::vector<double>& weights, const std::vector<double>& starts) {
    Graph g;
    const auto of = g.variable("of", numbers.size(), family), seen = g.observed("seen", numbers.size());
    const auto means = gaussian_prior(g, g.variable("means", weights.size()), starts, 4.0);
    g.factor("categorical_prior", {of}, {{"probability", weights}});
    g.factor("mixture", {of, column(means), seen}, {{"variance", 0.5}});
    const Plan plan = compile(g, flooding({.tolerance = 1e-8, .damping = 0.6}), standard_registry(), {.method = "ep"});
    State state(plan);
    state.observe(seen, numbers);
    const Report report = run(plan, state);
    fmt::print("{}: {}\n", family, report.converged() ? "converged" : report.line());
    for (std::size_t k = 0; k < weights.size(); ++k)
      fmt::print("  mean {:5.2f} +- {:.2f}\n", state.belief(means).mean(k), state.belief(means).sd(k));
    if (weights.size() == 2)
      fmt::print("  {} is of the upper one with probability {:.3f}\n", numbers[6], state.belief(of).mean(6, 1));
    fmt::print("  {}\n", evidence(plan, state));
    return log_evidence(plan, state);
  };
  const double two = fit("categorical(2)", {0.5, 0.5}, {-2.0, 2.0}), one = fit("categorical(1)", {1.0}, {0.0});
  fmt::print("two clusters are better than one by {:.1f} in log evidence\n", two - one);
}
