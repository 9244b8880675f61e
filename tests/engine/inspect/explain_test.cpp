#include "engine/inspect/inspect.h"

#include "tests/oracles/solved.h"

namespace dma {

TEST_CASE("explain: precisions of prior and two observations split exactly") {
  Graph g;
  const auto x = g.variable("x"), a = g.observed("a"), b = g.observed("b");
  const auto prior = g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", 1.0}});
  const auto precise = g.factor("gaussian_noise", {x, a}, {{"variance", 1.0 / 6}}, {.name = "precise"});
  const auto vague = g.factor("gaussian_noise", {x, b}, {{"variance", 1.0 / 3}}, {.name = "vague"});
  const auto [plan, state, report] =
      oracle::solved(compile(g, forward_backward(), standard_registry()), {{a, 1.0}, {b, 2.0}});
  const Explanation e = explain(plan, state, x);
  REQUIRE(e.elements.size() == 1);
  CHECK(e.elements[0].belief == static_cast<const Natural&>(state.belief(x)[0]));
  CHECK(e.fraction(prior) == doctest::Approx(0.1));
  CHECK(e.fraction(precise) == doctest::Approx(0.6));
  CHECK(e.fraction(vague) == doctest::Approx(0.3));
  CHECK(e.elements[0].sources[0].name == "precise.x");
  CHECK(e.line() == "x: most of the precision from precise (60%)");
  CHECK(e.text().find("30.0%  vague.x") != std::string::npos);
  const std::string dot = to_dot(g, standard_registry(), e);
  CHECK(dot.find("label=\"60%\"") != std::string::npos);
  CHECK(dot.find("penwidth=5.00") != std::string::npos);  // 0.5 + 7.5 * 0.6
}

TEST_CASE("explain: the fractions of every element add up to one") {
  Graph g;
  const auto w = g.shared("w", 4), x = g.observed("x", 4), p = g.variable("p", 4), z = g.variable("z"),
             y = g.observed("y");
  g.factor("gaussian_prior", {w}, {{"mean", 0.5}, {"variance", 1.0}});
  g.factor("product", {w, x, p});
  g.factor("sum", {p, z});
  g.factor("gaussian_noise", {z, y}, {{"variance", 0.1}});
  for (const bool fuse : {true, false}) {
    const Plan plan = compile(g, forward_backward(), standard_registry(), {.fuse = fuse});
    State state(plan);
    state.observe(x, {1, 2, -1, 0.5}), state.observe(y, 1.0);
    const MessageArrays cavity = state.cavity(w);
    for (std::size_t i = 0; i < 4; ++i) cavity.tau[i] = 0.3, cavity.rho[i] = 0.7;
    run(plan, state);
    const Explanation e = explain(plan, state, w);
    bool stored = false;
    for (const auto& element : e.elements) {
      double sum = 0;
      for (const auto& source : element.sources) sum += source.fraction, stored |= source.name == "learned elsewhere";
      CHECK(sum == doctest::Approx(1));
    }
    CHECK(stored);
  }
}

TEST_CASE("explain: a variable that nothing informs is named as such") {
  Graph g;
  const auto x = g.variable("x", 2), y = g.variable("y", 2);
  g.factor("leaky_relu", {x, y}, {{"slope", 0.1}});
  const auto [plan, state, report] = oracle::solved(compile(g, forward_backward(), standard_registry()));
  const Explanation e = explain(plan, state, x);
  CHECK(e.line() == "x: nothing informs it");
  CHECK(e.text().find("nothing informs it") != std::string::npos);
  CHECK(to_dot(g, standard_registry(), e).find("style=dashed") != std::string::npos);
}

TEST_CASE("explain: a point mass has all of the precision") {
  Graph g;
  const auto x = g.observed("x"), y = g.variable("y");
  g.factor("leaky_relu", {x, y}, {{"slope", 0.5}});
  const auto prior = g.factor("gaussian_prior", {y}, {{"mean", 0.0}, {"variance", 1.0}});
  const auto [plan, state, report] = oracle::solved(compile(g, forward_backward(), standard_registry()), {{x, -2.0}});
  const Explanation e = explain(plan, state, y);
  CHECK(e.elements[0].sources[0].fraction == 1);
  CHECK(e.fraction(prior) == 0);
}

}  // namespace dma
