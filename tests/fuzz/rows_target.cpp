// Rows of likelihoods over a line of two unknowns that may be almost known already, some of them far on the wrong side.
// If the likelihood is log-concave the joint solver converges, and for one row sweeps find the same evidence.
#include <cmath>

#include "engine/joint/joint.h"
#include "engine/run/run.h"
#include "factors/authoring/from_function.h"
#include "factors/standard_registry.h"
#include "schedules/schedules.h"
#include "tests/fuzz/targets.h"

namespace dma::fuzz {

namespace {

const Registry& registry_of_rows() {
  static const Registry all = [] {
    Registry registry = standard_registry();
    registry.add(likelihood_from_log_density("laplace", [](double x, double y) { return -2 * std::abs(x - y); }));
    return registry;
  }();
  return all;
}

// A value that the kind may take for a line of this height, or, if far, for a different height.
double reading(std::string_view kind, double line, bool is_far) {
  if (kind == "laplace") return is_far ? -line : line + 0.3;
  if (kind == "poisson") return is_far ? 3 : std::floor(std::exp(std::fmin(line, 5)));
  const double most = kind == "binomial" ? 10 : 1;
  return (line > 0) != is_far ? most : 0;
}

}  // namespace

std::size_t fuzz_rows(Choices& choices) {
  static const std::vector<std::string> kinds = {"logistic", "probit", "poisson", "binomial", "laplace"};
  const std::string kind = choices.any_of(kinds);
  const std::size_t rows = choices.one_in(3) ? 1 : choices.between(2, 12);
  Graph g;
  const VariableId a = g.variable("a"), b = g.variable("b"), x = g.observed("x", rows), slope = g.variable("", rows),
                   z = g.variable("z", rows), y = g.observed("y", rows);
  for (const VariableId v : {a, b})
    g.factor("gaussian_prior", {v},
             {{"mean", 6 * choices.unit() - 3}, {"variance", std::exp(18 * choices.unit() - 14)}});
  g.factor("product", {all_to_one(b), x, slope});
  g.factor("add", {all_to_one(a), slope, z});
  if (kind == "binomial") g.factor(kind, {z, y}, {{"trials", 10.0}});
  else g.factor(kind, {z, y});
  std::vector<double> xs, ys;
  for (std::size_t r = 0; r < rows; ++r) {
    const bool is_far = choices.one_in(4);
    xs.push_back(is_far ? choices.ordinary() : 2 * choices.unit() - 1);
    ys.push_back(reading(kind, xs.back(), is_far));
  }
  const auto solved = [&](const Plan& plan) {
    State state(plan);
    state.observe(x, xs), state.observe(y, ys);
    const Report report = run(plan, state);
    promise(report.converged(), "'{}' for {} of '{}' of\n{}", report.line(), ys.back(), kind, describe(g));
    return log_evidence(plan, state);
  };
  const double whole = solved(compile(g, joint({.check_draws = 0}), registry_of_rows()));
  if (rows > 1) return 1;
  const double sweeps = solved(compile(g, flooding({.tolerance = 1e-10}), registry_of_rows(), {.method = "ep"}));
  promise(std::abs(sweeps - whole) <= 1e-8 * (1 + std::abs(whole)), "evidence {} by sweeps, {} by joint of\n{}", sweeps,
          whole, describe(g));
  return 1;
}

}  // namespace dma::fuzz
