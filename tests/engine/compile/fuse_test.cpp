// Only pairs whose messages and parameters the fused kind represents are fused.
#include "tests/oracles/solved.h"

namespace {

bool has_kind(const Plan& plan, std::string_view kind) {
  return std::ranges::any_of(plan->groups, [&](const Group& group) { return group.kind->name() == kind; });
}

// z = w_1 x_1 + w_2 x_2; the belief of z is available fused and unfused.
struct FusedPair {
  Graph graph;
  VariableId w, x, p, z;
  explicit FusedPair(FactorOptions sum = {}, ParameterList sum_parameters = {})
      : w(graph.variable("w", 2)), x(graph.variable("x", 2)), p(graph.variable("p", 2)), z(graph.variable("z")) {
    graph.factor("gaussian_prior", {w}, {{"mean", 1.0}, {"variance", 1.0}});
    graph.factor("gaussian_prior", {x}, {{"mean", 1.0}, {"variance", 0.0}});
    graph.factor("product", {w, x, p});
    graph.factor("sum", {p, z}, std::move(sum_parameters), std::move(sum));
  }
  Plan plan(const Registry& registry, bool fuse = true, const std::string& method = "dma") const {
    return compile(graph, forward_backward(), registry, {.method = method, .fuse = fuse});
  }
  Gaussian belief(const Registry& registry, bool fuse, const std::string& method = "dma") const {
    const Plan made = plan(registry, fuse, method);
    State state(made);
    run(made, state);
    return state.belief(z)[0];
  }
};

Gaussian forty_two(std::span<const Gaussian>) { return Gaussian::from_moments(42, 1); }
Gaussian forty_two_to_x(const Gaussian&, const Gaussian&) { return Gaussian::from_moments(42, 1); }

}  // namespace

TEST_CASE("fuse: a consumer under a user's method is never fused") {
  Registry registry = standard_registry();
  registry.extend("sum").message("mine", "total", forty_two);
  const FusedPair pair({.method = "mine"}), plain;
  for (const bool fuse : {false, true}) CHECK(pair.belief(registry, fuse) == Gaussian::from_moments(42, 1));
  CHECK(has_kind(plain.plan(registry), "inner_product"));
  for (const bool fuse : {false, true}) CHECK(plain.belief(registry, fuse, "mine") == Gaussian::from_moments(42, 1));
}

TEST_CASE("fuse: a user's message under the method of the run is not left out") {
  Registry consumer = standard_registry(), producer = standard_registry();
  consumer.extend("sum").message("dma", "total", forty_two);
  const FusedPair pair;
  for (const bool fuse : {false, true}) CHECK(pair.belief(consumer, fuse) == Gaussian::from_moments(42, 1));
  // A message of the producer to another port than the one fused away.
  producer.extend("product").message("mine", "x", forty_two_to_x);
  CHECK(!has_kind(pair.plan(producer, true, "mine"), "inner_product"));
}

namespace {

Gaussian shifted_sum(std::span<const Gaussian> x, std::span<const Gaussian> y, double shift) {
  double mean = shift;
  for (std::size_t t = 0; t < x.size(); ++t) mean += x[t].mean() * y[t].mean();
  return Gaussian::from_moments(mean, 1);
}
struct Shift {
  double shift;
};

// A fused kind with one parameter of its own, named as one of sum's or not.
Registry with_parameter(const std::string& name, bool has_default) {
  const Registry standard = standard_registry();
  Kind fused = kind("shifted").variadic_input("x").variadic_input("y").same_terms("x", "y").output("total");
  if (has_default)
    fused.optional_parameter(name, 10.0, finite());
  else
    fused.parameter(name, finite());
  fused.message("dma", "total", [](std::span<const Gaussian> x, std::span<const Gaussian> y, Shift s) {
    return shifted_sum(x, y, s.shift);
  });
  const auto nothing = [](std::span<const Gaussian>, const Gaussian&, std::span<Gaussian> out) {
    for (Gaussian& m : out) m = Gaussian::uniform();
  };
  fused.message("dma", "x", nothing, from("y", "total")).message("dma", "y", nothing, from("x", "total"));
  Registry registry;
  for (const auto& [kind_name, of_standard] : standard.kinds()) registry.add(of_standard);
  registry.extend("sum").optional_parameter("offset", 0.0, finite());
  registry.add(fused);
  registry.fuse({.producer = "product", .via = "z", .consumer = "sum", .into = "terms", .fused = "shifted"});
  return registry;
}

}  // namespace

TEST_CASE("fuse: the parameters of the fused kind are set") {
  const auto mean = [](const Registry& registry, const FusedPair& pair) { return pair.belief(registry, true).mean(); };
  CHECK(mean(with_parameter("shift", true), FusedPair()) == 12.0);
  // The consumer's parameter of the same name is used.
  CHECK(mean(with_parameter("offset", false), FusedPair()) == 2.0);
  CHECK(mean(with_parameter("offset", false), FusedPair({}, {{"offset", 7.0}})) == 9.0);
  // No default and no source: not fused.
  CHECK(!has_kind(FusedPair().plan(with_parameter("shift", false)), "shifted"));
  // Parameters unknown to the fused kind prevent fusion.
  CHECK(!has_kind(FusedPair({}, {{"offset", 7.0}}).plan(with_parameter("shift", true)), "shifted"));
}

TEST_CASE("fuse: two rules that want one factor get it once") {
  // The total of one product and sum is the only term of another sum: the first rule to match fuses its pair, and all
  // factors stay.
  Registry registry = standard_registry();
  registry.add(
      kind("also")
          .variadic_input("x")
          .variadic_input("y")
          .same_terms("x", "y")
          .output("total")
          .message("dma", "total",
                   [](std::span<const Gaussian> x, std::span<const Gaussian> y) { return shifted_sum(x, y, 0); })
          .message(
              "dma", "x",
              [](std::span<const Gaussian>, const Gaussian&, std::span<Gaussian> out) {
                std::ranges::fill(out, Gaussian());
              },
              from("y", "total"))
          .message(
              "dma", "y",
              [](std::span<const Gaussian>, const Gaussian&, std::span<Gaussian> out) {
                std::ranges::fill(out, Gaussian());
              },
              from("x", "total")));
  registry.fuse({.producer = "product", .via = "z", .consumer = "sum", .into = "terms", .fused = "also"});
  const FusedPair pair;
  const Plan plan = pair.plan(registry);
  CHECK(has_kind(plan, "inner_product"));
  CHECK(!has_kind(plan, "also"));
  CHECK(plan->factors.size() == 3);
  CHECK(pair.belief(registry, true) == pair.belief(registry, false));
}

TEST_CASE("fuse: the result of a rule can be the producer of the next rule") {
  // double_sum = sum of sums: the fused factor of the first rule is the producer of the second.
  const auto none = [](std::span<const Gaussian>, const Gaussian&, std::span<Gaussian> out) {
    std::ranges::fill(out, Gaussian());
  };
  Registry registry = standard_registry();
  registry.add(
      kind("outer")
          .variadic_input("x")
          .variadic_input("y")
          .output("total")
          .message("dma", "total",
                   [](std::span<const Gaussian> x, std::span<const Gaussian> y) { return shifted_sum(x, y, 100); })
          .message("dma", "x", none, from("y", "total"))
          .message("dma", "y", none, from("x", "total")));
  registry.fuse({.producer = "inner_product", .via = "total", .consumer = "sum", .into = "terms", .fused = "outer"});
  FusedPair pair;
  const auto end = pair.graph.variable("end");
  pair.graph.factor("sum", {pair.z, end});
  const Plan plan = pair.plan(registry);
  CHECK(has_kind(plan, "outer"));
  CHECK(plan->factors.size() == 3);
  CHECK(plan->factors[plan->factors.size() - 1].origins.size() == 3);
  State state(plan);
  run(plan, state);
  CHECK(state.belief(end).mean(0) == 102.0);
}

TEST_CASE("fuse: a rule whose kinds do not fit is refused when it is registered") {
  Registry registry = standard_registry();
  CHECK_THROWS_WITH_AS(
      registry.fuse({.producer = "product", .via = "x", .consumer = "sum", .into = "terms", .fused = "inner_product"}),
      "fusion of 'product' and 'sum': 'x' must be an output of one term and 'terms' a variadic port", Error);
  CHECK_THROWS_WITH_AS(
      registry.fuse({.producer = "add", .via = "z", .consumer = "sum", .into = "terms", .fused = "product"}),
      "fusion of 'add' and 'sum': 'product' must have the other ports "
      "of the first, made variadic, and then those of the second",
      Error);
}
