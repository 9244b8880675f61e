// A level that wanders, seen through noise, filtered as the readings come in: ten thousand steps, one at a time. Steps
// older than five have left the window and are summarised by one Gaussian.
//
// Prints:
//   at the end v19998 ~ N(-0.3013, 0.3084^2)
//   five steps before v19988 ~ N(-0.3148, 0.258^2)
//   compiled 9 times
#include <dma.h>
#include <fmt/core.h>

#include <cmath>

int main() {
  using namespace dma;
  GrowingGraph level(standard_registry(), {.lag = 5});
  VariableId before{0}, five_ago{0};
  for (int t = 0; t < 10'000; ++t) {
    Graph& g = level.graph();
    const auto x = g.variable(""), y = g.observed("");
    if (t == 0)
      g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", 100.0}});
    else
      g.factor("gaussian_noise", {before, x}, {{"variance", 0.01}});
    g.factor("gaussian_noise", {x, y}, {{"variance", 1.0}});
    level.observe(y, {std::sin(0.001 * t) + std::sin(7.0 * t * t)});
    level.update();
    if (t == 9'994) five_ago = x;
    before = x;
  }
  fmt::print("at the end {}\nfive steps before {}\ncompiled {} times\n", level.belief(before).text(),
             level.belief(five_ago).text(), level.compiled());
}
