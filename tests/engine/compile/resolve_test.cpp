// Invalid requests of a model to its factors are found before anything runs, for user-defined kinds too.
#include "engine/compile/resolve.h"

#include "engine/kinds/evaluate.h"
#include "tests/oracles/solved.h"

namespace {

std::string error_of(const Graph& g, const Registry& registry = standard_registry(),
                     const CompileOptions& options = {}) {
  return oracle::error_of([&] { (void)compile(g, flooding(), registry, options); });
}

constexpr std::size_t kLargest = 1073741823;  // largest number of elements of a variable

}  // namespace

TEST_CASE("resolve: a plate of rows and columns is no larger because one of its ends gathers from a longer variable") {
  Graph g;
  const auto a = g.variable("a", 2), b = g.variable("b", 2), c = g.variable("c", 6);
  for (const auto v : {a, b}) g.factor("gaussian_prior", {v}, {{"mean", 1.0}, {"variance", 1.0}});
  g.factor("product", {row(a), column(b), gather(c, {5, 0, 3, 1})});
  const Plan plan = compile(g, flooding(), standard_registry());
  CHECK(plan->groups.back().slots == 4);
  State state(plan);
  CHECK(run(plan, state).faults == 0);
}

TEST_CASE("resolve: the elements of all variables are counted without wrapping") {
  Graph g;
  for (int i = 0; i < 4; ++i)
    g.factor("gaussian_prior", {g.variable("", kLargest)}, {{"mean", 0.0}, {"variance", 1.0}});
  g.factor("gaussian_prior", {g.variable("last", 12)}, {{"mean", 0.0}, {"variance", 1.0}});
  CHECK(error_of(g) ==
        "variable 'last': the elements of the graph up to it number 4294967304, more "
        "than the 4294967294 a plan can count; make it smaller, or split the model");
}

TEST_CASE("resolve: the messages of all factors are counted without wrapping") {
  Graph g;
  const auto x = g.variable("x", kLargest);
  for (int i = 0; i < 5; ++i) g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", 1.0}});
  CHECK(error_of(g) ==
        "factor 'gaussian_prior4': the messages of the graph up to it number 5368709115, "
        "more than the 4294967294 a plan can count; make it smaller, or split the model");
}

TEST_CASE("resolve: the terms of a factor are counted without wrapping") {
  Graph g;
  const auto x = g.variable("x", kLargest), total = g.variable("total", kLargest);
  g.factor("sum", {column(x), total});
  CHECK(error_of(g).starts_with("factor 'sum0' (sum): its terms up to 'x' number 1152921502459363329, more than"));
}

TEST_CASE("resolve: ports that must have equally many terms have them, or the factor is refused") {
  Graph g;
  const auto a = g.variable("a"), b = g.variable("b"), c = g.variable("c"), d = g.variable("d"),
             total = g.variable("total");
  Graph named = g;
  g.factor("inner_product", {a, b, c, d, total});
  const std::string refused =
      "factor 'inner_product0' (inner_product): ports 'x' and 'y' must have equally many "
      "terms, but have 3 and 1; say which variable goes where: {\"x\", ...}, {\"y\", ...}";
  CHECK(error_of(g) == refused);
  named.factor("inner_product", {{"x", a}, {"x", b}, {"y", c}, {"y", d}, total});
  CHECK(error_of(named) == "");
}

TEST_CASE("resolve: a user's kind can ask for equally many terms, and evaluate keeps to it") {
  const auto first = [](std::span<const Gaussian> x, std::span<const Gaussian>) { return x[0]; };
  const Kind pairs =
      kind("pairs").variadic_input("x").variadic_input("y").same_terms("x", "y").output("z").message("dma", "z", first);
  Registry registry = standard_registry();
  registry.add(pairs);
  Graph g;
  const auto x = g.observed("x", 2), y = g.observed("y", 3), z = g.variable("z");
  g.factor("pairs", {x, y, z});
  CHECK(error_of(g, registry)
            .starts_with("factor 'pairs0' (pairs): ports 'x' and 'y' must have equally many terms, but have 2 and 3;"));
  CHECK_THROWS_WITH_AS(evaluate(pairs, "dma", 2, {{{}, {}}, {{}}, {{}}}),
                       "kind 'pairs': ports 'x' and 'y' take equally many messages, not 2 and 1", Error);
  CHECK_THROWS_WITH_AS(kind("k").variadic_input("x").input("y").same_terms("x", "y"),
                       "kind 'k': port 'y' is not variadic, it has one term", Error);
}

TEST_CASE("resolve: a variable on two ports of one factor is refused with the way out") {
  const std::string way_out =
      ", and would count as two independent variables; use a kind that takes "
      "it once: square for a product with itself, a coefficient of 2 for a sum";
  Graph g;
  const auto a = g.variable("a"), b = g.variable("b"), many = g.variable("many", 3), three = g.variable("three", 3);
  const auto refused = [&](auto add) {
    Graph own = g;
    add(own);
    return error_of(own);
  };
  CHECK(refused([&](Graph& own) {
          own.factor("product", {a, a, b});
        }) == "factor 'product0' (product): 'a' stands on two of its ports" + way_out);
  CHECK(refused([&](Graph& own) {
          own.factor("sum", {a, a, b});
        }) == "factor 'sum0' (sum): 'a' stands on two of its ports" + way_out);
  CHECK(refused([&](Graph& own) {
          own.factor("product", {gather(many, {0, 1, 2}), gather(many, {1, 0, 2}), three});
        }) == "factor 'product0' (product): 'many' stands on two of its ports (element 2 in slot 2)" + way_out);
  CHECK(refused([&](Graph& own) {
          own.factor("sum", {gather(many, {0, 1, 1}), b});
        }) == "factor 'sum0' (sum): 'many' stands on two of its ports (element 1 in slot 0)" + way_out);
}

TEST_CASE("resolve: neighbours of one variable, and a known value twice, are no repetition") {
  Graph chain;
  const auto x = chain.variable("x", 3);
  chain.factor("gaussian_noise", {gather(x, {0, 1}), gather(x, {1, 2})}, {{"variance", 1.0}});
  CHECK(error_of(chain) == "");
  Graph known;
  const auto a = known.observed("a"), b = known.variable("b");
  known.factor("product", {a, a, b});
  const auto [plan, state, report] =
      oracle::solved(compile(known, forward_backward(), standard_registry()), {{a, 3.0}});
  CHECK(state.belief(b).mean(0) == 9.0);
  CHECK(error_of(known, standard_registry(), {.unobserved = {a}})
            .starts_with("factor 'product0' (product): 'a' stands on two"));
}

TEST_CASE(
    "resolve: a port that is observed needs no message function, one that is not is told which methods have one") {
  const auto half = [](const Gaussian& y) { return Gaussian::from_moments(y.mean(), 2 * y.variance() + 1); };
  Registry registry = standard_registry();
  registry.add(kind("seen").input("x").output("y").message("ep", "x", half));
  Graph g;
  const auto x = g.variable("x"), y = g.observed("y");
  g.factor("seen", {x, y});
  const auto [plan, state, report] =
      oracle::solved(compile(g, forward_backward(), registry, {.method = "ep"}), {{y, 2.0}});
  CHECK(state.belief(x).mean(0) == 2.0);
  CHECK(error_of(g, registry, {.method = "ep", .predicted = {y}}) ==
        "factor 'seen0' (seen) has no message to port 'y', which leads to 'y'; no method of 'seen' "
        "has one: observe the variable at port 'y', or register kind.message(\"ep\", \"y\", ...)");
  CHECK(error_of(g, registry, {.method = "linearised"}) ==
        "factor 'seen0' (seen) has no message to port 'x', which "
        "leads to 'x'; method 'linearised' has none; known: ep");
  CHECK_THROWS_WITH_AS(evaluate(registry.kind("seen"), "dma", 0, {{{}}, {{}}}),
                       "kind 'seen' has no message to port 'x'; method 'dma' has none; known: ep", Error);
}

TEST_CASE("resolve: under the default method a kind without it takes the one that it has") {
  for (const char* likelihood : {"logistic", "probit", "poisson"}) {
    Graph g;
    const auto x = g.variable("x"), y = g.observed("y");
    g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", 1.0}});
    g.factor(likelihood, {x, y});
    std::vector<double> means;
    for (const CompileOptions& options : {CompileOptions{}, CompileOptions{.kind_methods = {{likelihood, "ep"}}}}) {
      const auto [plan, state, report] =
          oracle::solved(compile(g, forward_backward(), standard_registry(), options), {{y, 1.0}});
      means.push_back(state.belief(x).mean(0));
    }
    CHECK(means[0] == means[1]);
    CHECK(means[0] != 0);
  }
}

TEST_CASE("resolve: options that name no variable of the graph are an error") {
  Graph g;
  g.factor("gaussian_prior", {g.variable("x")}, {{"mean", 0.0}, {"variance", 1.0}});
  CHECK(error_of(g, standard_registry(), {.unobserved = {VariableId{5}}}) ==
        "compile: unobserved names a variable that is not of this graph (number 5 of 1)");
  CHECK(error_of(g, standard_registry(), {.predicted = {VariableId{1}}}) ==
        "compile: predicted names a variable that is not of this graph (number 1 of 1)");
}

TEST_CASE("resolve: a wrong number of parameter values is reported once") {
  Graph g;
  const auto x = g.variable("x"), y = g.variable("y", 2);
  Graph one = g, terms = g;
  one.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", std::vector<double>{1.0, 2.0}}});
  CHECK(error_of(one) == "factor 'gaussian_prior0' (gaussian_prior): parameter 'variance' has 2 values; expected 1");
  terms.factor("sum", {y, x}, {{"coefficients", std::vector<double>{1.0, 2.0, 3.0}}});
  CHECK(error_of(terms) ==
        "factor 'sum0' (sum): parameter 'coefficients' has 3 values; expected 1 or 2 (one per term)");
}

TEST_CASE("resolve: a registry of two kinds with exact messages runs, though neither has the default method") {
  Registry registry;
  registry.add(gaussian_prior_kind()).add(gaussian_noise_kind());
  Graph g;
  const auto x = g.variable("x"), next = g.variable("next"), y = g.observed("y");
  g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", 1.0}});
  g.factor("gaussian_noise", {x, next}, {{"variance", 1.0}});
  g.factor("gaussian_noise", {next, y}, {{"variance", 1.0}});
  for (const Plan& plan : {compile(g, forward_backward(), registry), compile(g, joint(), registry)}) {
    State state(plan);
    state.observe(y, 3.0);
    run(plan, state);
    CHECK(state.belief(x)[0].mean() == doctest::Approx(1.0));            // 3 / (1 + 2): y is x plus noise of variance 2
    CHECK(state.belief(x)[0].variance() == doctest::Approx(2.0 / 3.0));  // 1 / (1 + 1/2)
  }
  CHECK(error_of(g, registry, {.method = "dna"}).starts_with("compile: no method 'dna'"));
}
