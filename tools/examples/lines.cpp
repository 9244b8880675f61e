// A mixture of regressions: 60 points lie on one of two lines, and nobody says which. Each point has a selector that
// picks the line it is read from. The priors differ, or both lines would stay the same. They are -1 - x and 1 + 2 x.
//
// Prints:
//   converged
//   first : -1.00 +- 0.04 and -0.97 +- 0.03 x
//   second:  1.00 +- 0.05 and  2.01 +- 0.03 x
//   58 % of the points are on the first
#include <dma.h>
#include <fmt/core.h>

#include <cmath>

int main() {
  using namespace dma;
  constexpr std::size_t kPoints = 60;
  std::vector<double> rows, y;
  for (std::size_t i = 0; i < kPoints; ++i) {
    const double x = 2 * std::sin(1.7 * static_cast<double>(i));
    y.push_back((i % 5 < 2 ? 1 + 2 * x : -1 - x) + 0.3 * std::sin(12.9898 * static_cast<double>(i * i)));
    rows.insert(rows.end(), {1, x});
  }
  Graph g;
  const auto share = g.variable("share", 1, "dirichlet(2)"), of = g.variable("of", kPoints, "categorical(2)");
  const auto seen = g.observed("seen", kPoints);
  const auto first = gaussian_prior(g, g.variable("first", 2), std::vector<double>{0, 1}, 4.0),
             second = gaussian_prior(g, g.variable("second", 2), std::vector<double>{0, -1}, 4.0);
  g.factor("dirichlet_prior", {share}, {{"concentration", {1, 1}}});
  g.factor("categorical_draw", {all_to_one(share), of});
  g.factor("mixture",
           {{"selector", of}, {"means", linear(g, first, rows)}, {"means", linear(g, second, rows)}, {"y", seen}},
           {{"variance", 0.05}});
  State state(compile(g, sequential(), standard_registry(), {.method = "ep"}));
  state.observe(seen, y);
  fmt::print("{}\n", run(state.plan(), state).converged() ? "converged" : "not converged");
  for (const auto& [name, line] : {std::pair{"first", first}, {"second", second}})
    fmt::print("{:6}: {:5.2f} +- {:.2f} and {:5.2f} +- {:.2f} x\n", name, state.belief(line).mean(0),
               state.belief(line).sd(0), state.belief(line).mean(1), state.belief(line).sd(1));
  fmt::print("{:.0f} % of the points are on the first\n", 100 * state.belief(share).mean(0, 0));
}
