// The promise that a repeated run allocates nothing, for every solver and for functions of one's own; and the places
// where it does not hold, as tools/docs/promises.md lists them.
#include "tests/oracles/allocations.h"

#include "factors/authoring/from_function.h"
#include "tests/oracles/solved.h"

namespace {

// Allocations of a third run with other values.
std::uint64_t allocations_of(const Plan& plan, const std::function<void(State&, int)>& observe) {
  State state(plan);
  for (int i = 0; i < 2; ++i) {
    observe(state, i);
    (void)run(plan, state);
  }
  observe(state, 2);
  const std::uint64_t before = oracle::allocations();
  {
    const Report report = run(plan, state);
    CHECK(report.stop != Report::Stop::diverged);
  }
  return oracle::allocations() - before;
}

Registry own_kinds() {
  Registry registry = standard_registry();
  registry.add(factor_from_function("angle", [](double x) { return std::atan(x); }));
  registry.add(factor_from_function("wave", [](double x, double y) { return std::sin(x) * y; }));
  registry.add(factor_from_function("blend", [](double x, double y, double z) { return x * y + std::tanh(z); }));
  registry.add(factor_from_vector_function("polar", 2, 2, [](auto x, auto) {
    using std::atan2, std::hypot;
    return std::array{hypot(x[0], x[1]), atan2(x[1], x[0])};
  }));
  registry.add(likelihood_from_log_density("counts",
                                           [](double a, double b, double y) { return y * (a + b) - std::exp(a + b); }));
  registry.add(likelihood_from_log_density("laplace", [](double x, double y) { return -std::abs(x - y); }));
  return registry;
}

// Some unknowns, one function of them, and a reading of it, which is the first variable.
Graph reading_of(const std::string& kind, std::size_t inputs) {
  Graph g;
  const VariableId y = g.observed("y"), out = g.variable("out");
  std::vector<Connection> ends;
  for (std::size_t i = 0; i < inputs; ++i) {
    const VariableId x = g.variable("");
    g.factor("gaussian_prior", {x}, {{"mean", 0.5 + static_cast<double>(i)}, {"variance", 0.1}});
    ends.emplace_back(x);
  }
  ends.emplace_back(out);
  g.factor(kind, ends);
  g.factor("gaussian_noise", {out, y}, {{"variance", 0.2}});
  return g;
}

auto see(VariableId y) {
  return [y](State& state, int i) { state.observe(y, 0.3 + 0.1 * i); };
}

}  // namespace

TEST_CASE("allocations: none in a repeated run with a function of one's own, by sweeps or by joint, checked or not") {
  const Registry registry = own_kinds();
  const std::pair<const char*, std::size_t> kinds[] = {{"angle", 1}, {"wave", 2}, {"blend", 3}, {"product", 2}};
  for (const auto& [kind, inputs] : kinds) {
    const Graph g = reading_of(kind, inputs);
    CAPTURE(kind);
    for (const Scheduler& rule : {forward_backward(), flooding(), sequential(), residual()})
      CHECK(allocations_of(compile(g, rule, registry), see({0})) == 0);
    CHECK(allocations_of(compile(g, joint({.check_draws = 0}), registry), see({0})) == 0);
    CHECK(allocations_of(compile(g, joint(), registry), see({0})) == 0);
  }
}

TEST_CASE("allocations: none in a repeated run of a network, fused or not") {
  Graph g;
  const auto w = g.variable("w", 12), x = g.observed("x", 4), p = g.variable("p", 12), z = g.variable("z", 3),
             a = g.variable("a", 3), y = g.observed("y", 3);
  g.factor("gaussian_prior", {w}, {{"mean", 0.3}, {"variance", 1.0}});
  g.factor("product", {w, column(x), p});
  g.factor("sum", {p, z});
  g.factor("leaky_relu", {z, a}, {{"slope", 0.1}});
  g.factor("gaussian_noise", {a, y}, {{"variance", 0.1}});
  CHECK(oracle::allocations() > 0);  // the counter works
  for (const Scheduler& rule : {forward_backward(), forward(), flooding(), sequential(), residual()})
    for (const bool fuse : {true, false}) {
      CAPTURE(rule.name);
      CHECK(allocations_of(compile(g, rule, standard_registry(), {.fuse = fuse}), [&](State& state, int i) {
              state.observe(x, {1.0, -0.5, 0.2, 2.0 + i});
              state.observe(y, {0.5, -1.0, 0.1});
            }) == 0);
    }
}

TEST_CASE("allocations: none with a function of several outputs and exact derivatives, or a likelihood of one's own") {
  const Registry registry = own_kinds();
  Graph polar;
  const VariableId x = polar.variable("x", 2), r = polar.variable("r"), a = polar.variable("a"),
                   y = polar.observed("y");
  polar.factor("gaussian_prior", {x}, {{"mean", {1.0, 0.5}}, {"variance", 0.1}});
  polar.factor("polar", {{"x", gather(x, {0})}, {"x", gather(x, {1})}, {"y1", r}, {"y2", a}});
  polar.factor("gaussian_noise", {r, y}, {{"variance", 0.1}});
  CHECK(allocations_of(compile(polar, joint(), registry), see(y)) == 0);
  Graph two;  // by cubature
  const VariableId first = two.variable("first"), second = two.variable("second"), count = two.observed("count");
  for (const VariableId v : {first, second}) two.factor("gaussian_prior", {v}, {{"mean", 0.5}, {"variance", 2.0}});
  two.factor("counts", {first, second, count});
  CHECK(allocations_of(compile(two, forward_backward(), registry, {.method = "ep"}), see(count)) == 0);
  for (const char* const kind : {"laplace", "student_t_noise"}) {
    CAPTURE(kind);
    Graph g;
    const VariableId m = g.variable("m"), seen = g.observed("y");
    g.factor("gaussian_prior", {m}, {{"mean", 1.0}, {"variance", 2.0}});
    g.factor(kind, {m, seen}, kind[0] == 'l' ? ParameterList{} : ParameterList{{"scale", 0.3}, {"degrees", 4.0}});
    CHECK(allocations_of(compile(g, flooding(), registry), see(seen)) == 0);
    CHECK(allocations_of(compile(g, joint(), registry), see(seen)) == 0);
  }
}

TEST_CASE("allocations: exact() makes the text of its report, and nothing else") {
  Graph g;
  const VariableId a = g.variable("a", 1, "categorical(2)"), b = g.variable("b", 1, "categorical(2)"),
                   c = g.variable("c", 1, "categorical(3)"), y = g.observed("y", 1, "categorical(2)");
  g.factor("categorical_prior", {a}, {{"probability", {0.7, 0.3}}});
  g.factor("table", {a, b}, {{"probability", {0.2, 0.8, 0.6, 0.4}}});
  g.factor("table", {a, b, c}, {{"probability", {0.1, 0.2, 0.7, 0.3, 0.3, 0.4, 0.5, 0.25, 0.25, 0.6, 0.2, 0.2}}});
  g.factor("table", {c, y}, {{"probability", {0.9, 0.1, 0.5, 0.5, 0.2, 0.8}}});
  const auto observe = [&](State& state, int i) { state.observe(y, i % 2); };
  CHECK(allocations_of(compile(g, exact(), standard_registry()), observe) == 1);
  CHECK(allocations_of(compile(g, flooding(), standard_registry()), observe) == 0);
}
