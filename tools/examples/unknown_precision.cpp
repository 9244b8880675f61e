// A line through points with unknown noise: its precision is a variable, of the gamma family. Two methods on one graph:
// expectation propagation by quadrature, and variational messages, which underestimate the slope's variance.
//
// Prints:
//   ep: converged
//     slope     1.538 +- 0.250
//     precision 2.140 +- 0.937: precision ~ gamma(5.217, 2.438)
//   vmp: converged
//     slope     1.538 +- 0.232
//     precision 2.112 +- 0.862: precision ~ gamma(6, 2.842)
#include <dma.h>
#include <fmt/core.h>

int main() {
  using namespace dma;
  const std::vector<double> x{-1.4, -1.1, -0.8, -0.3, 0.0, 0.2, 0.5, 0.9, 1.2, 1.5};
  const std::vector<double> y{-2.6, -1.0, -1.9, 0.1, -0.4, 0.9, 0.3, 1.0, 2.7, 1.9};
  Graph g;
  const auto slope = gaussian_prior(g, g.variable("slope"), 0.0, 4.0);
  const auto precision = g.variable("precision", 1, "gamma");
  g.factor("gamma_prior", {precision}, {{"shape", 1.0}, {"rate", 1.0}});
  const auto at = g.observed("x", x.size()), seen = g.observed("y", x.size());
  const auto line = product(g, all_to_one(slope), at, "line");
  g.factor("gaussian_precision", {line, all_to_one(precision), seen});

  for (const char* method : {"ep", "vmp"}) {
    const Plan plan = compile(g, flooding({.tolerance = 1e-8, .damping = 0.5}), standard_registry(),
                              {.kind_methods = {{"gaussian_precision", method}}});
    State state(plan);
    state.observe(at, x);
    state.observe(seen, y);
    const Report report = run(plan, state);
    fmt::print("{}: {}\n", method, report.converged() ? "converged" : report.line());
    const Belief s = state.belief(slope), p = state.belief(precision);
    fmt::print("  slope     {:.3f} +- {:.3f}\n  precision {:.3f} +- {:.3f}: {}\n", s.mean(), s.sd(), p.mean(), p.sd(),
               p);
  }
}
