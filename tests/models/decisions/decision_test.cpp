// Decisions under uncertainty, against sums written out.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "engine/support/text.h"
#include "factors/standard_registry.h"
#include "models/decisions/decision.h"

namespace {

using namespace dma;

// Raiffa's oil wildcatter: a hole is dry, wet or soaking; a seismic test shows no, an open or a closed structure.
struct Wildcatter {
  Graph graph;
  VariableId oil = graph.variable("oil", 1, "categorical(3)"), test;
  const std::vector<double> prior{0.5, 0.3, 0.2}, shown{0.6, 0.3, 0.1, 0.3, 0.4, 0.3, 0.1, 0.4, 0.5};
  const std::vector<double> utility{0, 0, 0, -70, 50, 200};  // leave it, drill

  explicit Wildcatter(bool is_tested)
      : test(is_tested ? graph.observed("test", 1, "categorical(3)") : graph.variable("test", 1, "categorical(3)")) {
    graph.factor("categorical_prior", {oil}, {{"probability", prior}});
    graph.factor("table", {oil, test}, {{"probability", shown}});
  }
};

}  // namespace

TEST_CASE("decide: the oil wildcatter drills, and what the test is worth to him") {
  const Wildcatter w(false);
  const Plan plan = compile(w.graph, exact(), standard_registry());
  State state(plan);
  (void)run(plan, state);
  const ExactPosterior posterior(state);
  const Decision best = decide(posterior, {w.oil}, w.utility);
  CHECK(best.action == 1);
  CHECK(best.utility == doctest::Approx(20));
  CHECK(best.utilities[0] == 0);
  double informed = 0;
  for (std::size_t t = 0; t < 3; ++t) {
    double drill = 0;
    for (std::size_t o = 0; o < 3; ++o) drill += w.prior[o] * w.shown[3 * o + t] * w.utility[3 + o];
    informed += std::max(0.0, drill);
  }
  CHECK(informed == doctest::Approx(32.5));
  CHECK(value_of_information(posterior, {w.oil}, w.utility, w.test) == doctest::Approx(informed - 20));
  // Observing the oil itself has the largest possible value: 0.3 * 50 + 0.2 * 200 - 20.
  CHECK(value_of_information(posterior, {w.oil}, w.utility, w.oil) == doctest::Approx(35));
}

TEST_CASE("decide: given what was seen; to see it again is worth nothing") {
  const Wildcatter w(true);
  const Plan plan = compile(w.graph, exact(), standard_registry());
  State state(plan);
  state.observe(w.test, 0);
  (void)run(plan, state);
  const ExactPosterior posterior(state);
  const Decision best = decide(posterior, {w.oil}, w.utility);
  CHECK(best.action == 0);
  CHECK(best.utilities[1] == doctest::Approx((-70 * 0.3 + 50 * 0.09 + 200 * 0.02) / 0.41));
  CHECK(value_of_information(posterior, {w.oil}, w.utility, w.test) == 0);
  std::string text;
  try {
    (void)decide(posterior, {w.oil}, {1, 2, 3, 4});
  } catch (const Error& error) {
    text = error.what();
  }
  CHECK(text ==
        "decide: 4 utilities are given; a number for each action "
        "and each of the 3 combinations of the causes is expected");
}
