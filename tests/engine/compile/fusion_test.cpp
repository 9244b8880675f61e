// Fusing product and sum into one inner_product kernel changes no belief.
#include "tests/oracles/random_messages.h"
#include "tests/oracles/solved.h"

namespace {

constexpr double kFusionTolerance = 1e-12;

struct FusedModel {
  Graph graph;
  std::vector<std::pair<VariableId, std::vector<double>>> values;
};

bool uses(const Plan& plan, std::string_view kind) {
  return std::ranges::any_of(plan->groups, [&](const Group& group) { return group.kind->name() == kind; });
}

// Runs both ways and compares all common beliefs; returns the largest distance.
double fused_against_unfused(const FusedModel& model, const Scheduler& rule, const std::string& method = "dma") {
  const Registry registry = standard_registry();
  const Plan fused = compile(model.graph, rule, registry, {.method = method}),
             plain = compile(model.graph, rule, registry, {.method = method, .fuse = false});
  CHECK(uses(fused, "inner_product"));
  CHECK(!uses(fused, "product"));
  CHECK(!uses(plain, "inner_product"));
  CHECK(fused->slots < plain->slots);
  State one(fused), other(plain);
  for (const auto& [variable, numbers] : model.values) one.observe(variable, numbers), other.observe(variable, numbers);
  const Report report = run(fused, one), plain_report = run(plain, other);
  CHECK(report.faults == 0);
  CHECK(report.sweeps == plain_report.sweeps);
  double worst = 0;
  for (std::uint32_t v = 0; v < model.graph.variables().size(); ++v)
    if (!fused->variables[v].eliminated)
      worst = std::max(worst, oracle::distance(one.belief(VariableId{v}), other.belief(VariableId{v})));
  return worst;
}

std::vector<Scheduler> fusing_rules() {
  return {forward_backward(), forward(), sequential({.tolerance = 0, .limit = 1}),
          sequential({.tolerance = 0, .limit = 3})};
}

enum class Prior { proper, none, point, mixed };

// A leaky-ReLU network; the first layer's weights have proper, flat or point-mass priors, or a mixture.
FusedModel network(const std::vector<std::size_t>& widths, Prior first_prior) {
  oracle::RandomMessages random(3);
  FusedModel model;
  Graph& g = model.graph;
  VariableId below = g.observed("input", widths[0]);
  std::vector<double> input;
  for (std::size_t i = 0; i < widths[0]; ++i)
    input.push_back(i == 1 ? 0.0 : random.sign() * random.log_uniform({0.1, 3}));
  model.values.emplace_back(below, input);
  for (std::size_t l = 1; l < widths.size(); ++l) {
    const std::size_t n = widths[l], m = widths[l - 1];
    const auto w = g.variable("", n * m), p = g.variable("", n * m), z = g.variable("", n);
    std::vector<double> means;
    for (std::size_t i = 0; i < n * m; ++i) means.push_back(random.sign() * random.uniform());
    const Prior prior = l == 1 ? first_prior : Prior::proper;
    std::vector<double> variances(n * m, prior == Prior::point ? 0.0 : 0.4);
    for (std::size_t i = 0; prior == Prior::mixed && i < variances.size(); i += 5)
      variances[i] = i % 2 == 0 ? 0.0 : 1e-30;
    if (prior != Prior::none) g.factor("gaussian_prior", {w}, {{"mean", means}, {"variance", variances}});
    g.factor("product", {w, column(below), p});
    g.factor("sum", {p, z});
    below = z;
    if (l + 1 == widths.size()) continue;
    below = g.variable("", n);
    g.factor("leaky_relu", {z, below}, {{"slope", 0.1}});
  }
  const auto y = g.observed("y", widths.back());
  g.factor("gaussian_noise", {below, y}, {{"variance", 0.04}});
  model.values.emplace_back(y, std::vector<double>(widths.back(), 0.7));
  return model;
}

// n points, k coefficients shared by all: the map to the coefficients is by column.
FusedModel regression(std::size_t n, std::size_t k) {
  oracle::RandomMessages random(4);
  FusedModel model;
  Graph& g = model.graph;
  const auto w = g.variable("w", k), x = g.observed("x", n * k), p = g.variable("p", n * k), z = g.variable("z", n),
             y = g.observed("y", n);
  g.factor("gaussian_prior", {w}, {{"mean", 0.5}, {"variance", 1.0}});
  g.factor("product", {column(w), x, p});
  g.factor("sum", {p, z});
  g.factor("gaussian_noise", {z, y}, {{"variance", 0.1}});
  std::vector<double> xs, ys;
  for (std::size_t i = 0; i < n * k; ++i) xs.push_back(random.sign() * random.log_uniform({0.1, 3}));
  for (std::size_t i = 0; i < n; ++i) ys.push_back(random.sign() * random.uniform());
  model.values = {{x, xs}, {y, ys}};
  return model;
}

// Scalar products and sums, merged by the engine.
FusedModel scalars() {
  FusedModel model;
  Graph& g = model.graph;
  for (int i = 0; i < 5; ++i) {
    const auto w = g.variable("", 2), x = g.variable("", 2), p = g.variable("", 2), z = g.variable(""),
               y = g.observed("");
    g.factor("gaussian_prior", {w}, {{"mean", 1.0 + i}, {"variance", 0.3}});
    g.factor("gaussian_prior", {x}, {{"mean", -0.5}, {"variance", 0.1 + i}});
    g.factor("product", {w, x, p});
    g.factor("sum", {p, z});
    g.factor("gaussian_noise", {z, y}, {{"variance", 0.2}});
    model.values.emplace_back(y, std::vector<double>{0.3 * i});
  }
  return model;
}

}  // namespace

TEST_CASE("fusion: networks of any priors, regressions and scalars have the same beliefs fused and not") {
  std::vector<FusedModel> models;
  for (const Prior prior : {Prior::proper, Prior::none, Prior::point, Prior::mixed})
    for (const auto& widths : {std::vector<std::size_t>{9, 7, 6, 2}, {4, 3, 2}, {3, 5, 4, 1}})
      models.push_back(network(widths, prior));
  const std::size_t networks = models.size();
  models.push_back(scalars());
  models.push_back(regression(30, 3));
  models.push_back(regression(7, 2));
  for (const Scheduler& rule : fusing_rules())
    for (std::size_t i = 0; i < models.size(); ++i)
      for (const char* const method : {"dma", "linearised"}) {
        if (method[0] == 'l' && i > 0 && i != networks) continue;  // a network with proper priors, and scalars
        INFO(rule.name, ", model ", i, ", ", method);
        CHECK(fused_against_unfused(models[i], rule, method) <= kFusionTolerance);
      }
}

TEST_CASE("fusion: far-range messages have the same beliefs fused and not") {
  // Squares of these means and products of these variances overflow.
  constexpr double kFarTolerance = 1e-8;
  for (const double scale : {1e-80, 1e-40, 1e40, 1e80}) {
    FusedModel model;
    Graph& g = model.graph;
    const auto w = g.variable("w", 3), x = g.variable("x", 3), p = g.variable("p", 3), z = g.variable("z"),
               y = g.observed("y");
    g.factor("gaussian_prior", {w}, {{"mean", std::vector<double>{scale, 0.0, -scale}}, {"variance", scale}});
    g.factor("gaussian_prior", {x}, {{"mean", scale}, {"variance", std::vector<double>{scale * scale, 1.0, 0.0}}});
    g.factor("product", {w, x, p});
    g.factor("sum", {p, z});
    g.factor("gaussian_noise", {z, y}, {{"variance", 1.0}});
    model.values.emplace_back(y, std::vector<double>{1.0});
    CAPTURE(scale);
    CHECK(fused_against_unfused(model, forward_backward()) <= kFarTolerance);
  }
}

TEST_CASE("fusion: a variable that is read elsewhere, observed or shared is not fused away") {
  const Registry registry = standard_registry();
  const auto is_fused = [&](auto change) {
    Graph g;
    const auto w = g.variable("w", 3), x = g.variable("x", 3), z = g.variable("z");
    VariableId p = change(g, 3);
    g.factor("gaussian_prior", {w}, {{"mean", 0.0}, {"variance", 1.0}});
    g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", 1.0}});
    g.factor("product", {w, x, p});
    g.factor("sum", {p, z});
    return uses(compile(g, forward_backward(), registry), "inner_product");
  };
  CHECK(is_fused([](Graph& g, std::size_t n) { return g.variable("p", n); }));
  CHECK(!is_fused([](Graph& g, std::size_t n) { return g.observed("p", n); }));
  CHECK(!is_fused([](Graph& g, std::size_t n) { return g.shared("p", n); }));
  CHECK(!is_fused([](Graph& g, std::size_t n) {
    const auto p = g.variable("p", n);
    g.factor("gaussian_prior", {p}, {{"mean", 0.0}, {"variance", 9.0}});
    return p;
  }));
}

TEST_CASE("fusion: coefficients other than 1, and schedules that damp or reorder, keep product and sum apart") {
  Graph g;
  const auto w = g.variable("w", 2), x = g.variable("x", 2), p = g.variable("p", 2), z = g.variable("z");
  g.factor("gaussian_prior", {w}, {{"mean", 0.0}, {"variance", 1.0}});
  g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", 1.0}});
  g.factor("product", {w, x, p});
  const Registry registry = standard_registry();
  Graph weighted = g;
  weighted.factor("sum", {p, z}, {{"coefficients", std::vector<double>{1.0, -1.0}}});
  CHECK(!uses(compile(weighted, forward_backward(), registry), "inner_product"));
  g.factor("sum", {p, z});
  CHECK(uses(compile(g, forward_backward(), registry), "inner_product"));
  CHECK(!uses(compile(g, flooding(), registry), "inner_product"));
  CHECK(!uses(compile(g, residual(), registry), "inner_product"));
  CHECK(!uses(compile(g, sequential({.damping = 0.1}), registry), "inner_product"));
}

TEST_CASE("fusion: is left out where it would cost a tree its exact order") {
  // One coefficient: no loops. The fused factor would send to all slots of w before it receives messages from the
  // others.
  const FusedModel model = regression(7, 1);
  const Plan plan = compile(model.graph, forward_backward(), standard_registry());
  CHECK(!uses(plan, "inner_product"));
  State state(plan);
  double precision = 1, weighted = 0.5;
  for (const auto& [variable, numbers] : model.values) state.observe(variable, numbers);
  run(plan, state);
  const auto &xs = model.values[0].second, &ys = model.values[1].second;
  for (std::size_t i = 0; i < xs.size(); ++i) precision += xs[i] * xs[i] / 0.1, weighted += xs[i] * ys[i] / 0.1;
  const Belief z = state.belief(model.graph.find_variable("z"));
  for (std::size_t i = 0; i < xs.size(); ++i)
    CHECK(oracle::distance(z[i], Gaussian::from_moments(xs[i] * weighted / precision, xs[i] * xs[i] / precision)) <=
          kFusionTolerance);
}

TEST_CASE("fusion: the belief of a variable fused away is an error that shows how to see it") {
  const FusedModel model = regression(4, 2);
  const Plan plan = compile(model.graph, forward_backward(), standard_registry());
  State state(plan);
  for (const auto& [variable, numbers] : model.values) state.observe(variable, numbers);
  run(plan, state);
  CHECK_THROWS_WITH_AS(state.belief(model.graph.find_variable("p")),
                       "variable 'p' was fused away; compile with {.fuse = false} to see its belief", Error);
  CHECK_THROWS_WITH_AS(
      state.messages(model.graph.find_factor("product1"), "z"),
      "factor 'product1+sum2' is fused and has no port 'z'; compile with {.fuse = false} to see its messages", Error);
}
