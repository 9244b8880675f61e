#include "factors/authoring/from_function.h"

#include "engine/kinds/evaluate.h"
#include "factors/arithmetic/leaky_relu_linearised.h"
#include "factors/arithmetic/product_linearised.h"
#include "tests/oracles/quadrature.h"
#include "tests/oracles/solved.h"

namespace {

Gaussian message(const Kind& kind, std::size_t target, const std::vector<Gaussian>& arrivals) {
  Arrivals all;
  for (const Gaussian& a : arrivals) all.push_back({a});
  return Gaussian(evaluate(kind, "linearised", target, all).value()[0]);
}

void check_equal(const Gaussian& a, const Gaussian& b, double tolerance) {
  CHECK(a.rho == oracle::relative(b.rho, tolerance));
  CHECK(a.tau == oracle::relative(b.tau, tolerance));
}

}  // namespace

TEST_CASE("from_function: softplus has the moments that adaptive quadrature gives") {
  const auto softplus = [](double x) { return std::log1p(std::exp(x)); };
  const Kind kind = factor_from_function("softplus", softplus);
  for (const double mean : {-3.0, 0.0, 2.0})
    for (const double variance : {0.1, 1.0, 4.0}) {
      const Gaussian x = Gaussian::from_moments(mean, variance);
      const double expected = oracle::expectation(softplus, x);
      const double spread = oracle::expectation([&](double t) { return std::pow(softplus(t) - expected, 2); }, x);
      check_equal(message(kind, 1, {x, {}}), Gaussian::from_moments(expected, spread), 1e-8);
    }
}

TEST_CASE("from_function: x y gives the closed-form linearised product messages where z adds nothing to the belief") {
  const Kind kind = factor_from_function("times", [](double a, double b) { return a * b; });
  const Gaussian x = Gaussian::from_moments(1.5, 0.7), y = Gaussian::from_moments(-2, 0.4),
                 z = Gaussian::from_moments(1, 1e9);
  check_equal(message(kind, 2, {x, y, z}), ProductLinearised::to_z(x, y), 1e-12);
  check_equal(message(kind, 0, {x, y, z}), ProductLinearised::to_factor(x, y, z), 1e-6);
  check_equal(message(kind, 1, {x, y, z}), ProductLinearised::to_factor(y, x, z), 1e-6);
  const Gaussian known = Gaussian::point(3), near = Gaussian::from_moments(1, 2);
  check_equal(message(kind, 0, {x, known, near}), ProductLinearised::to_factor(x, known, near), 1e-9);
}

TEST_CASE("from_function: it is linearised at the belief, not at x's own message") {
  Registry registry = standard_registry();
  registry.add(factor_from_function("exp", [](double x) { return std::exp(x); }));
  for (const double sd : {0.1, 0.5}) {
    Graph g;
    const VariableId x = g.variable("x"), e = g.variable("e"), y = g.observed("y");
    g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", 4.0}});
    g.factor("exp", {x, e});
    g.factor("gaussian_noise", {e, y}, {{"variance", sd * sd}});
    const Plan plan = compile(g, forward_backward(), registry);
    State state(plan);
    state.observe(y, 3.0);
    CHECK(run(plan, state).faults == 0);
    const auto exact = oracle::matched([&](double t) { return std::exp(-0.5 * std::pow((std::exp(t) - 3) / sd, 2)); },
                                       Gaussian::from_moments(0, 4), std::log(3.0));
    CHECK(std::abs(state.belief(x).mean() - exact.mean) < (sd == 0.1 ? 0.05 : 0.2) * std::sqrt(exact.variance));
    CHECK(state.belief(x).variance() == oracle::relative(exact.variance, sd == 0.1 ? 0.01 : 0.17));
  }
}

TEST_CASE("from_function: a sharp output fixes its input, on either side of the prior") {
  const Kind kind = factor_from_function("cube", [](double x) { return x * x * x + x; });
  for (const double x : {-2.0, 0.1, 5.0}) {
    const Gaussian to_x = message(kind, 0, {Gaussian::from_moments(0, 4), Gaussian::point(x * x * x + x)});
    CHECK(to_x.mean() == oracle::relative(x, 1e-6));
    CHECK(to_x.sd() < 1e-5);
  }
}

TEST_CASE("from_function: parameters by slot reach the function, its messages and the joint solver") {
  Registry registry = standard_registry();
  registry.add(factor_from_function("line", [](double x, std::span<const double> p) { return p[0] * x + p[1]; },
                                    "y = a x + b", {{"a", finite()}, {"b", finite(), 0.0}}));
  Graph g;
  const VariableId x = g.variable("x", 2), m = g.variable("m", 2), y = g.observed("y", 2);
  g.factor("gaussian_prior", {x}, {{"mean", 1.0}, {"variance", 2.0}});
  g.factor("line", {x, m}, {{"a", std::vector<double>{2, -3}}, {"b", 0.5}});
  g.factor("gaussian_noise", {m, y}, {{"variance", 0.7}});
  for (const bool by_joint : {false, true}) {
    const auto [plan, state, report] = oracle::solved(
        by_joint ? compile(g, joint(), registry) : compile(g, forward_backward(), registry), {{y, {4.0, -1.0}}});
    for (std::size_t i = 0; i < 2; ++i) {
      const double a = i == 0 ? 2 : -3, off = (i == 0 ? 4.0 : -1.0) - 0.5, precision = 1 / 2.0 + a * a / 0.7;
      CHECK(state.belief(x).variance(i) == oracle::relative(1 / precision, 1e-8));
      CHECK(state.belief(x).mean(i) == oracle::relative((1 / 2.0 + a * off / 0.7) / precision, 1e-8));
    }
  }
}

TEST_CASE("from_function: three inputs of a linear function are exact both ways") {
  const Kind kind = factor_from_function("plane", [](double a, double b, double c) { return a - 2 * b + 0.5 * c; });
  const Gaussian a = Gaussian::from_moments(1, 1), b = Gaussian::from_moments(2, 0.5),
                 c = Gaussian::from_moments(-1, 2);
  const Gaussian y = Gaussian::from_moments(0.3, 0.1);
  check_equal(message(kind, 3, {a, b, c, y}), Gaussian::from_moments(1 - 4 - 0.5, 1 + 4 * 0.5 + 0.25 * 2), 1e-12);
  check_equal(message(kind, 1, {a, b, c, y}), Gaussian::from_moments((0.3 - 1 + 0.5) / -2, (0.1 + 1 + 0.25 * 2) / 4),
              1e-12);
}

TEST_CASE("from_function: a user's factor runs in a graph of the standard registry under every method") {
  Registry registry = standard_registry();
  registry.add(factor_from_function("squared", [](double x) { return x * x; }));
  Graph g;
  const VariableId x = g.variable("x", 3), s = g.variable("s", 3), y = g.observed("y", 3);
  g.factor("gaussian_prior", {x}, {{"mean", 2.0}, {"variance", 0.1}});
  g.factor("squared", {x, s});
  g.factor("gaussian_noise", {s, y}, {{"variance", 0.01}});
  for (const char* method : {"dma", "ep", "linearised", "hybrid"}) {
    const auto [plan, state, report] =
        oracle::solved(compile(g, forward_backward(), registry, {.method = method}), {{y, {4.0, 4.4, 3.6}}});
    CHECK(report.faults == 0);
    CHECK(state.belief(x).mean(1) == oracle::relative(2.1, 0.02));
    CHECK(state.belief(x).mean(2) < state.belief(x).mean(0));
  }
}

TEST_CASE("from_function: if the function is not a number, messages are refused and the run reports it") {
  Registry registry = standard_registry();
  registry.add(factor_from_function("root", [](double x) { return std::sqrt(x); }));
  const auto faults_with_prior_at = [&](double mean) {
    Graph g;
    const auto x = g.variable("x"), z = g.variable("z"), y = g.observed("y");
    g.factor("gaussian_prior", {x}, {{"mean", mean}, {"variance", 0.01}});
    g.factor("root", {x, z});
    g.factor("gaussian_noise", {z, y}, {{"variance", 1.0}});
    const Report report = oracle::solved(compile(g, forward_backward(), registry), {{y, 2.0}}).report;
    CHECK(report.converged() == (mean > 0));
    return report.faults;
  };
  CHECK(faults_with_prior_at(4.0) == 0);
  CHECK(faults_with_prior_at(-4.0) == 2);  // to z, and back to x
}

namespace {

// All values and gains at one slot: by output, then by output and input.
std::vector<double> looked_at(const Kind& kind, const std::vector<double>& x) {
  const std::size_t outputs = kind.vector_size()->outputs;
  std::vector<double> out(outputs * (1 + x.size()));
  kind.linear_view()({.slots = 1,
                      .inputs = x.size(),
                      .outputs = outputs,
                      .values = x.data(),
                      .value = out.data(),
                      .gains = out.data() + outputs});
  return out;
}

}  // namespace

TEST_CASE("from_function: a function of several outputs has the gains of calculus") {
  const Kind by_duals = factor_from_vector_function("polar", 2, 2, [](auto x, auto) {
    return std::array{hypot(x[0], x[1]), atan2(x[1], x[0])};
  });
  const Kind by_differences =
      factor_from_vector_function("polar", 2, 2, [](std::span<const double> x, std::span<const double>) {
        return std::vector<double>{std::hypot(x[0], x[1]), std::atan2(x[1], x[0])};
      });
  const double a = 1.5, b = -0.7, r = std::sqrt(a * a + b * b);
  const std::vector<double> expected = {r, std::atan2(b, a), a / r, b / r, -b / (r * r), a / (r * r)};
  const std::vector<double> exact = looked_at(by_duals, {a, b}), near = looked_at(by_differences, {a, b});
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(exact[i] == oracle::relative(expected[i], 1e-15));
    CHECK(near[i] == oracle::relative(expected[i], 1e-11));
  }
  // Every function of a dual number, against differences.
  const auto all = [](auto x, auto) {
    using T = typename decltype(x)::value_type;
    using std::sqrt, std::exp, std::log, std::sin, std::cos, std::tan, std::asin, std::acos, std::atan, std::tanh;
    using std::abs, std::pow, std::log1p, std::expm1, std::sinh, std::cosh, std::erf;
    std::vector<std::remove_const_t<T>> y = {exp(x[0]),
                                             log(x[0]),
                                             sqrt(x[0]),
                                             sin(x[0]),
                                             cos(x[0]),
                                             tan(x[0]),
                                             asin(x[0]),
                                             acos(x[0]),
                                             atan(x[0]),
                                             tanh(x[0]),
                                             abs(-x[0]),
                                             pow(x[0], 2.5),
                                             pow(x[0], x[1]),
                                             log1p(x[0]),
                                             expm1(x[0]),
                                             sinh(x[0]),
                                             cosh(x[0]),
                                             erf(x[0]),
                                             x[0] / x[1] - 3 * x[0] + 1 / x[1] - x[1] * x[1]};
    return y;
  };
  const std::vector<double> duals = looked_at(factor_from_vector_function("all", 2, 19, all), {0.4, 1.7});
  const std::vector<double> differences =
      looked_at(factor_from_vector_function(
                    "all", 2, 19, [&](std::span<const double> x, std::span<const double> p) { return all(x, p); }),
                {0.4, 1.7});
  for (std::size_t i = 0; i < duals.size(); ++i) CHECK(duals[i] == oracle::relative(differences[i], 1e-9, 1));
  // A constant power of a negative number, and a root of an input at its edge: other derivatives are unaffected.
  const std::vector<double> edges =
      looked_at(factor_from_vector_function("edges", 2, 2,
                                            [](auto x, auto) {
                                              using T = std::remove_const_t<typename decltype(x)::value_type>;
                                              using std::sqrt, std::pow;
                                              return std::vector<T>{pow(x[0], T(2)), x[0] + sqrt(x[1])};
                                            }),
                {-3, 0});
  CHECK(edges == std::vector<double>{9, -3, -6, 0, 1, kInfinity});
}

TEST_CASE("from_function: twelve inputs, three outputs and an array of data, solved jointly") {
  // Linear, so that the kind `linear` is the oracle.
  constexpr std::size_t kInputs = 12, kOutputs = 3;
  std::vector<double> a;
  for (std::size_t i = 0; i < kInputs * kOutputs; ++i) a.push_back(std::sin(1.0 + static_cast<double>(i * i)));
  Registry registry = standard_registry();
  registry.add(factor_from_vector_function("matrix", kInputs, kOutputs,
                                           [](auto x, std::span<const double> p) {
                                             std::vector<std::remove_const_t<typename decltype(x)::element_type>> y(
                                                 std::size_t{kOutputs});
                                             for (std::size_t o = 0; o < kOutputs; ++o)
                                               for (std::size_t i = 0; i < kInputs; ++i)
                                                 y[o] += p[o * kInputs + i] * x[i];
                                             return y;
                                           },
                                           "y = A x", {array_parameter("A")}));
  const auto solved = [&](bool is_vector) {
    Graph g;
    const VariableId u = g.variable("u", 5), v = g.variable("v", 7), y = g.observed("y", 3);
    g.factor("gaussian_prior", {u}, {{"mean", 0.5}, {"variance", 2.0}});
    g.factor("gaussian_prior", {v}, {{"mean", -0.5}, {"variance", 1.0}});
    if (is_vector) {
      const VariableId one = g.variable("one"), two = g.variable("two"), three = g.variable("three");
      g.factor("matrix", {{"x", column(u)}, {"x", column(v)}, {"y1", one}, {"y2", two}, {"y3", three}}, {{"A", a}});
      g.factor("gaussian_noise", {one, gather(y, {0})}, {{"variance", 0.1}});
      g.factor("gaussian_noise", {two, gather(y, {1})}, {{"variance", 0.1}});
      g.factor("gaussian_noise", {three, gather(y, {2})}, {{"variance", 0.1}});
    } else {
      const VariableId z = g.variable("z", 3);
      g.factor("linear", {{"x", column(u)}, {"x", column(v)}, {"y", z}}, {{"A", a}});
      g.factor("gaussian_noise", {z, y}, {{"variance", 0.1}});
    }
    const auto [plan, state, report] = oracle::solved(compile(g, joint(), registry), {{y, {1.0, 2.0, -1.0}}});
    CHECK(report.converged());
    std::vector<double> out;
    for (const VariableId x : {u, v})
      for (std::size_t i = 0; i < state.belief(x).size(); ++i)
        out.insert(out.end(), {state.belief(x).mean(i), state.belief(x).variance(i)});
    out.push_back(JointPosterior(state).log_evidence());
    return out;
  };
  const std::vector<double> vector = solved(true), linear = solved(false);
  for (std::size_t i = 0; i < linear.size(); ++i) CHECK(vector[i] == oracle::relative(linear[i], 1e-9));
}

TEST_CASE("from_function: a kind has at most 16 ports") {
  Kind many = kind("many");
  for (int i = 0; i < 16; ++i) many.input("x" + std::to_string(i));
  CHECK_THROWS_WITH_AS(many.input("more"), "kind 'many' has more than 16 ports", Error);
}

TEST_CASE("from_function: errors of several outputs name the kind") {
  Registry registry = standard_registry();
  registry.add(factor_from_vector_function("short", 2, 3, [](auto x, auto) { return std::array{x[0], x[1]}; }));
  registry.add(kind("silent").input("x").output("y").function([](auto x, auto) { return 2 * x[0]; }));
  const auto complaint = [&](const char* kind, std::size_t inputs, std::size_t outputs, bool is_joint) -> std::string {
    Graph g;
    const VariableId x = g.variable("x", inputs);
    g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", 1.0}});
    std::vector<Connection> ends{all_to_one(x)};
    if (inputs > 1) ends[0] = Connection(x);
    for (std::size_t o = 0; o < outputs; ++o) ends.emplace_back(g.variable("y" + std::to_string(o)));
    g.factor(kind, ends, {}, {.name = "f"});
    return oracle::error_of([&] {
      const Plan plan = is_joint ? compile(g, joint(), registry) : compile(g, forward_backward(), registry);
      State state(plan);
      (void)run(plan, state);
    });
  };
  CHECK(complaint("short", 2, 3, true) ==
        "kind 'short': its function returned 2 numbers, but it has 3 outputs; return one for each of them");
  CHECK(complaint("short", 4, 3, true) ==
        "joint: factor 'f' connects 4 inputs and 3 outputs, but the function of kind 'short' has 2 and 3");
  CHECK(complaint("silent", 1, 1, true).empty());  // a function suffices for joint
  CHECK(complaint("silent", 1, 1, false) ==
        "factor 'f': kind 'silent' has no messages; solve the graph by joint(), or register kind.message(...)");
}
