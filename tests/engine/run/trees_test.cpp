// On a tree, message passing is exact: every belief is the marginal of the joint Gaussian.
#include "tests/oracles/dense_gaussian.h"
#include "tests/oracles/random_graphs.h"
#include "tests/oracles/solved.h"

namespace {

using oracle::DensePosterior;
using oracle::GivenGraph;

// The dense solve of a system of 500 unknowns of order 1 loses at most 4 digits.
constexpr double kTreeError = 1e-9;
constexpr std::uint64_t kTreeSeed = 7;

// The largest error of any belief: means in units of max(1, |mean|), variances relative to the prior scale 1 or to
// themselves.
double largest_error(const GivenGraph& given, const State& state, const DensePosterior& truth) {
  double worst = 0;
  for (std::uint32_t v = 0; v < given.graph.variables().size(); ++v) {
    const Belief belief = state.belief(VariableId{v});
    worst = std::max(worst, std::abs(belief.mean() - truth.mean[v]) / std::max(1.0, std::abs(truth.mean[v])));
    worst =
        std::max(worst, std::abs(belief.variance() - truth.variance[v]) / std::max(1.0, std::abs(truth.variance[v])));
  }
  return worst;
}

}  // namespace

TEST_CASE("trees: every schedule reaches the dense solution on random trees of up to 300 variables, damped or not") {
  const Registry registry = standard_registry();
  std::size_t largest = 0;
  for (std::uint64_t i = 0; i < 200; ++i) {
    const double fraction = static_cast<double>(i * 7919 % 200) / 199;
    const GivenGraph given =
        oracle::random_tree(kTreeSeed + i, 2 + static_cast<std::size_t>(298 * fraction * fraction));
    const DensePosterior truth = oracle::dense_posterior(given.graph, given.observed);
    const auto check = [&](const Scheduler& rule, Report::Stop stop) {
      const oracle::Solved found = oracle::solved(compile(given.graph, rule, registry), given.values());
      INFO(rule.name, ", seed ", kTreeSeed + i, ", ", given.graph.variables().size(), " variables");
      CHECK(found.report.faults == 0);
      CHECK_MESSAGE(found.report.stop == stop, found.report.line());
      CHECK(largest_error(given, found.state, truth) <= kTreeError);
    };
    check(forward_backward(), Report::Stop::exact);
    largest = std::max(largest, given.graph.variables().size());
    // An undamped message is final after as many sweeps as the tree is deep; a damped one approaches it as 0.3^n.
    if (i % 16 == 0)
      for (const double damping : {0.0, 0.3})
        for (const auto& rule : {flooding, sequential, residual})
          check(rule({.tolerance = 1e-13, .limit = 2000, .damping = damping}), Report::Stop::converged);
  }
  CHECK(largest >= 300);
}
