// The product's backward message (Prop. 3.2) is a division of log-normals: a graph of log_copy factors gives the same.
#include <doctest/doctest.h>

#include "engine/compile/compile.h"
#include "engine/run/run.h"
#include "factors/arithmetic/product.h"
#include "factors/standard_registry.h"
#include "schedules/forward_backward.h"
#include "tests/oracles/messages_agree.h"
#include "tests/oracles/random_messages.h"

namespace {

using namespace dma;

// z and y -> log_copy -> log z - log y -> log_copy -> x, for z and y of these signs.
Gaussian ratio_by_graph(const Gaussian& y, const Gaussian& z) {
  const double y_sign = y.tau < 0 ? -1 : 1, z_sign = z.tau < 0 ? -1 : 1;
  Graph g;
  const auto vy = g.variable("y"), vz = g.variable("z"), vx = g.variable("x");
  const auto ly = g.variable("log y", 1, "log_normal"), lz = g.variable("log z", 1, "log_normal"),
             lx = g.variable("log x", 1, "log_normal");
  g.factor("gaussian_prior", {vy}, {{"mean", y.mean()}, {"variance", y.variance()}});
  g.factor("gaussian_prior", {vz}, {{"mean", z.mean()}, {"variance", z.variance()}});
  g.factor("log_copy", {ly, vy}, {{"sign", y_sign}});
  g.factor("log_copy", {lz, vz}, {{"sign", z_sign}});
  g.factor("sum", {lz, ly, lx}, {{"coefficients", std::vector<double>{1.0, -1.0}}});
  const FactorId last = g.factor("log_copy", {lx, vx}, {{"sign", y_sign * z_sign}});
  static const Registry registry = standard_registry();
  const Plan plan = compile(g, forward_backward(), registry);
  State state(plan);
  CHECK(run(plan, state).faults == 0);
  return state.messages(last, "x")[0];
}

}  // namespace

TEST_CASE("log space: product backward equals log_copy, difference, log_copy to 1e-12") {
  // A log-variance near 1e-6 loses no digit to log1p; sums and an exponential of order-1 numbers cost a few ulps each.
  const oracle::Range range{"moderate", {0.1, 1e3}, {0.01, 100}, 1e-12};
  oracle::RandomMessages random(6);
  double worst = 0;
  for (int i = 0; i < 500; ++i) {
    const Gaussian y = random.proper(range), z = random.proper(range);
    worst = std::max(worst, oracle::distance(Product::to_factor(y, z), ratio_by_graph(y, z)));
  }
  MESSAGE("worst of 500: ", worst, ", seed 6");
  CHECK(worst <= range.tolerance);
}
