// A plate equals its scalar factors: every index map gives the beliefs of the graph written out element by element.
#include "schedules/sweeps.h"
#include "tests/oracles/random_graphs.h"
#include "tests/oracles/scalar_graph.h"
#include "tests/oracles/solved.h"

namespace {

// The two plans add the same numbers in different orders.
constexpr double kPlateError = 1e-11;

// One forward and one backward sweep, with or without an exact order of messages.
Scheduler one_sweep() {
  return {"one sweep", [](const Flow& flow) {
            Schedule schedule{"one sweep", {}};
            append_forward(flow, flow.levels(), schedule.visits);
            append_backward(flow, flow.levels(), schedule.visits);
            return schedule;
          }};
}

std::vector<Scheduler> fixed_rules() {
  return {one_sweep(),
          sequential({.tolerance = 0, .limit = 1}),
          sequential({.tolerance = 0, .limit = 4}),
          sequential({.tolerance = 0, .limit = 4, .damping = 0.25}),
          flooding({.tolerance = 0, .limit = 5}),
          flooding({.tolerance = 0, .limit = 5, .damping = 0.25})};
}

void check_same_run(const Graph& graph, const oracle::ScalarGraph& scalar, const Scheduler& rule, bool fuse) {
  static const Registry registry = standard_registry();
  const Plan plate_plan = compile(graph, rule, registry, {.fuse = fuse});
  const Plan scalar_plan = compile(scalar.graph, rule, registry, {.fuse = false});
  State plates(plate_plan), scalars(scalar_plan);
  // Two runs with different data on one state: the second must not depend on the first.
  for (const std::uint64_t seed : {1u, 2u}) {
    const auto values = oracle::random_values(graph, seed);
    for (std::uint32_t v = 0; v < values.size(); ++v) {
      if (!graph.variables()[v].observed) continue;
      plates.observe(VariableId{v}, values[v]);
      for (std::size_t i = 0; i < values[v].size(); ++i) scalars.observe(scalar.elements[v][i], values[v][i]);
    }
    CHECK(run(plate_plan, plates).faults == 0);
    CHECK(run(scalar_plan, scalars).faults == 0);
    for (std::uint32_t v = 0; v < values.size(); ++v) {
      if (plate_plan->variables[v].eliminated) continue;
      const Belief belief = plates.belief(VariableId{v});
      for (std::size_t i = 0; i < belief.size(); ++i) {
        INFO("rule.name ", rule.name, ", graph.variables()[v].name ", graph.variables()[v].name, ", i ", i, ", seed ",
             seed);
        CHECK(oracle::distance(belief[i], scalars.belief(scalar.elements[v][i])[0]) <= kPlateError);
      }
    }
  }
}

void check_plates(const Graph& graph, const std::vector<std::size_t>& slots) {
  const auto scalar = oracle::written_out(graph, slots);
  for (const Scheduler& rule : fixed_rules())
    for (const bool fuse : {false, true}) check_same_run(graph, scalar, rule, fuse);
}

void add_prior(Graph& graph, VariableId v, double mean = 0.4) {
  graph.factor("gaussian_prior", {v}, {{"mean", mean}, {"variance", 1.5}});
}

// x reaches a plate of six noise factors through `map`, which covers `size` elements.
template <class Map>
void check_noise(std::size_t size, const Map& map) {
  Graph graph;
  const auto x = graph.variable("x", size), hidden = graph.variable("hidden", 6), y = graph.observed("y", 6);
  add_prior(graph, x);
  graph.factor("gaussian_noise", {map(x), hidden}, {{"variance", std::vector<double>{0.1, 0.2, 0.3, 0.4, 0.5, 0.6}}});
  graph.factor("gaussian_noise", {hidden, y}, {{"variance", 0.5}});
  check_plates(graph, {size, 6, 6});
}

// The same with a product of two maps, and a rectifier behind it.
template <class MapX, class MapY>
void check_product(std::size_t x_size, const MapX& map_x, std::size_t y_size, const MapY& map_y) {
  Graph graph;
  const auto x = graph.variable("x", x_size), y = graph.variable("y", y_size), z = graph.variable("z", 6),
             r = graph.variable("r", 6), seen = graph.observed("seen", 6);
  add_prior(graph, x, 2.0);
  add_prior(graph, y, -1.0);
  graph.factor("product", {map_x(x), map_y(y), z});
  graph.factor("leaky_relu", {z, r}, {{"slope", 0.2}});
  graph.factor("gaussian_noise", {r, seen}, {{"variance", 0.3}});
  check_plates(graph, {x_size, y_size, 6, 6, 6});
}

// Six products grouped into sums whose total reaches `size` elements through `map` in `slots` slots.
template <class Map>
void check_sum(std::size_t size, std::size_t slots, const Map& map) {
  Graph graph;
  const auto w = graph.variable("w", 6), x = graph.observed("x", 6), p = graph.variable("p", 6),
             z = graph.variable("z", size), y = graph.observed("y", size);
  add_prior(graph, w, 0.7);
  graph.factor("product", {w, x, p});
  graph.factor("sum", {p, map(z)});
  graph.factor("gaussian_noise", {z, y}, {{"variance", 0.2}});
  check_plates(graph, {6, 6, slots, size});
}

const auto kIdentical = [](VariableId v) { return Connection(v); };
const auto kRow = [](VariableId v) { return row(v); };
const auto kColumn = [](VariableId v) { return column(v); };
const auto kAllToOne = [](VariableId v) { return all_to_one(v); };
auto gathered(std::vector<std::uint32_t> table) {
  return [table](VariableId v) { return gather(v, table); };
}

}  // namespace

TEST_CASE("plates: gaussian_noise through every index map equals scalar factors") {
  check_noise(6, kIdentical);
  check_noise(2, kRow);
  check_noise(3, kRow);
  check_noise(2, kColumn);
  check_noise(1, kAllToOne);
  check_noise(4, gathered({3, 0, 2, 2, 1, 0}));
}

TEST_CASE("plates: a gather that is affine equals scalar factors, whole periods or not") {
  check_noise(6, gathered({0, 1, 2, 3, 4, 5}));
  check_noise(8, gathered({2, 3, 4, 5, 6, 7}));
  check_noise(3, gathered({0, 0, 1, 1, 2, 2}));
  check_noise(2, gathered({0, 1, 0, 1, 0, 1}));
  check_noise(4, gathered({0, 1, 2, 3, 0, 1}));  // a period and a half
  check_noise(2, gathered({0, 0, 0, 0, 1, 1}));  // a row and a half
  check_noise(3, gathered({1, 1, 1, 1, 1, 1}));
  check_noise(2, gathered({0, 0, 1, 0, 0, 1}));
}

TEST_CASE("plates: product through pairs of index maps equals scalar factors") {
  check_product(6, kIdentical, 6, kIdentical);
  check_product(3, kRow, 2, kColumn);
  check_product(2, kRow, 3, kColumn);
  check_product(2, kRow, 2, gathered({0, 1, 0, 1, 0, 1}));  // columns of another plate
  check_product(1, kAllToOne, 6, kIdentical);
  check_product(1, kAllToOne, 1, kAllToOne);
  check_product(4, gathered({3, 0, 2, 2, 1, 0}), 3, kColumn);
  check_product(4, gathered({0, 1, 2, 3, 0, 1}), 2, gathered({0, 0, 0, 0, 1, 1}));
}

TEST_CASE("plates: sum with its total behind every index map equals scalar factors, fused or not") {
  check_sum(3, 3, kIdentical);
  check_sum(1, 1, kIdentical);
  check_sum(2, 3, gathered({1, 0, 1}));
  check_sum(2, 6, gathered({0, 1, 0, 1, 0, 1}));
  check_sum(3, 6, gathered({0, 0, 1, 1, 2, 2}));
  check_sum(2, 3, gathered({0, 1, 0}));
  check_sum(1, 3, gathered({0, 0, 0}));
}

TEST_CASE("plates: sum gathers terms from several variables, with coefficients") {
  Graph graph;
  const auto a = graph.variable("a", 6), b = graph.variable("b", 3), c = graph.variable("c", 2),
             z = graph.variable("z", 3), y = graph.observed("y", 3);
  for (const VariableId v : {a, b, c}) add_prior(graph, v);
  // Each of three sums takes two of a, one of b and all of c.
  graph.factor("sum", {a, b, column(c), z}, {{"coefficients", std::vector<double>{1.0, -2.0, 0.5, 3.0, 1.5}}});
  graph.factor("gaussian_noise", {z, y}, {{"variance", 0.2}});
  check_plates(graph, {6, 3, 2, 3, 3});
}

TEST_CASE("plates: copies of one variable equal scalar factors") {
  Graph graph;
  const auto x = graph.variable("x", 3), a = graph.variable("a", 3), b = graph.variable("b", 3),
             y = graph.observed("y", 3);
  add_prior(graph, x);
  graph.factor("copy", {x, a, b});
  graph.factor("gaussian_noise", {a, y}, {{"variance", 0.2}});
  graph.factor("gaussian_noise", {b, y}, {{"variance", 0.7}});
  check_plates(graph, {3, 3, 3, 3});
}

TEST_CASE("plates: scalar factors with different parameters equal plates under residual") {
  Graph graph;
  const auto x = graph.variable("x", 4), hidden = graph.variable("hidden", 4), y = graph.observed("y", 4);
  add_prior(graph, x);
  graph.factor("gaussian_noise", {x, hidden}, {{"variance", std::vector<double>{0.1, 0.4, 1.6, 6.4}}});
  graph.factor("gaussian_noise", {hidden, y}, {{"variance", std::vector<double>{5.0, 0.5, 0.05, 0.005}}});
  const auto scalar = oracle::written_out(graph, {4, 4, 4});
  check_same_run(graph, scalar, residual({.tolerance = 1e-14}), false);
  check_same_run(graph, scalar, forward_backward(), false);
}

TEST_CASE("plates: a variable of many scalar factors with different parameters equals a plate") {
  // Enough for the totals of high-degree variables, behind a first factor of the same kind.
  std::vector<double> variances;
  for (int i = 0; i < 40; ++i) variances.push_back(0.1 + 0.05 * i);
  Graph graph;
  const auto mean = graph.variable("mean"), x = graph.variable("x"), hidden = graph.variable("hidden", 40),
             y = graph.observed("y", 40);
  add_prior(graph, mean);
  graph.factor("gaussian_noise", {mean, x}, {{"variance", 2.0}});
  graph.factor("gaussian_noise", {all_to_one(x), hidden}, {{"variance", variances}});
  graph.factor("gaussian_noise", {hidden, y}, {{"variance", 0.3}});
  check_plates(graph, {1, 1, 40, 40});
}
