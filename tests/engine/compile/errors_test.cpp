// Every wrong input is refused before anything runs, in one line with what was found, what was expected, and where.
#include "tests/oracles/solved.h"

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// The error of compile() for a graph of x[3], y[3], z and a factor added by the test.
template <class Add>
std::string error_of(const Add& add, const CompileOptions& options = {}) {
  return oracle::error_of([&] {
    Graph g;
    const auto x = g.variable("x", 3), y = g.variable("y", 3), z = g.variable("z");
    g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", 1.0}});
    g.factor("gaussian_prior", {y}, {{"mean", 0.0}, {"variance", 1.0}});
    g.factor("gaussian_prior", {z}, {{"mean", 0.0}, {"variance", 1.0}});
    add(g, x, y, z);
    (void)compile(g, forward_backward(), standard_registry(), options);
  });
}

#define REFUSED(message, ...)                                                                                 \
  CHECK(error_of([&]([[maybe_unused]] Graph& g, [[maybe_unused]] VariableId x, [[maybe_unused]] VariableId y, \
                     [[maybe_unused]] VariableId z) { __VA_ARGS__; }) == std::string(message))

}  // namespace

TEST_CASE("errors: unknown names come with the nearest spelling and the list of known ones") {
  const std::string unknown = error_of([](Graph& g, auto x, auto y, auto) { g.factor("gausian_noise", {x, y}); });
  CHECK(unknown.starts_with(
      "factor 'gausian_noise3': no factor kind 'gausian_noise'; did you mean 'gaussian_noise'? known: "));
  for (const char* kind : {"copy", "gaussian_noise", "leaky_relu", "product", "sum"})
    CHECK(unknown.find(kind) != std::string::npos);
  const std::string far = error_of([](Graph& g, auto x, auto y, auto) { g.factor("transmogrify", {x, y}); });
  CHECK(far.starts_with("factor 'transmogrify3': no factor kind 'transmogrify'; known: "));
  REFUSED("factor 'copy3' (copy) has no port 'copys'; did you mean 'copies'? known: x, copies",
          g.factor("copy", {{"x", x}, {"copys", y}}));
  REFUSED(
      "factor 'gaussian_noise3' (gaussian_noise) has no parameter 'varience'; did you mean 'variance'? known: variance",
      g.factor("gaussian_noise", {x, y}, {{"varience", 1.0}}));
  REFUSED("factor 'copy3' (copy) has no parameter 'variance'; none are known",
          g.factor("copy", {x, y}, {{"variance", 1.0}}));
}

TEST_CASE("errors: an unknown method is refused wherever it is named") {
  const auto nothing = [](Graph&, auto, auto, auto) {};
  const std::string whole = error_of(nothing, {.method = "dna"});
  CHECK(whole.starts_with("compile: no method 'dna'; did you mean 'dma'? known: "));
  const std::string by_kind = error_of(nothing, {.kind_methods = {{"product", "dmaa"}}});
  CHECK(by_kind.starts_with("kind 'product': no method 'dmaa'; did you mean 'dma'? known: dma"));
  const std::string factor = error_of([](Graph& g, auto x, auto y, auto) {
    g.factor("leaky_relu", {x, y}, {{"slope", 0.1}}, {.name = "r", .method = "dmb"});
  });
  CHECK(factor.starts_with("factor 'r' (leaky_relu): no method 'dmb'; did you mean 'dma'? known: dma"));
  CHECK(error_of(nothing, {.kind_methods = {{"produkt", "dma"}}})
            .starts_with("no factor kind 'produkt'; did you mean 'product'?"));
}

TEST_CASE("errors: missing, extra and doubled ports list the ports there are") {
  REFUSED("factor 'product3' (product): port 'z' is not connected; it has the ports x, y, z",
          g.factor("product", {x, y}));
  REFUSED("factor 'sum3' (sum): port 'total' is not connected; it has the ports terms..., total", g.factor("sum", {x}));
  REFUSED("factor 'gaussian_noise3' (gaussian_noise) is connected to 3 variables but has only the ports x, y",
          g.factor("gaussian_noise", {x, y, z}, {{"variance", 1.0}}));
  REFUSED("factor 'product3' (product): port 'x' is connected twice", g.factor("product", {{"x", x}, {"x", y}, z}));
}

TEST_CASE("errors: a family mismatch names both families") {
  REFUSED("factor 'product3' (product): port 'y' wants a gaussian variable but 'l' is log_normal",
          g.factor("product", {x, g.variable("l", 3, "log_normal"), y}));
  REFUSED("factor 'sum3' (sum): its variables must be of one family, but 'x' is gaussian and 'l' is log_normal",
          g.factor("sum", {x, g.variable("l", 1, "log_normal")}));
}

TEST_CASE("errors: plate sizes that do not fit are reported with both sizes") {
  REFUSED(
      "factor 'gaussian_noise3' (gaussian_noise): plate sizes do not fit: 'x' has 3 elements but "
      "'z' has 1; wrap one in row(), column(), all_to_one() or gather(), or give both the same size",
      g.factor("gaussian_noise", {x, z}, {{"variance", 1.0}}));
  REFUSED(
      "factor 'gaussian_noise3' (gaussian_noise): column(x) has 3 elements, which do not divide the plate of 4 slots",
      g.factor("gaussian_noise", {column(x), g.variable("four", 4)}, {{"variance", 1.0}}));
  REFUSED("factor 'gaussian_noise3' (gaussian_noise): all_to_one(x) needs a variable of one element, but 'x' has 3",
          g.factor("gaussian_noise", {all_to_one(x), y}, {{"variance", 1.0}}));
  REFUSED("factor 'gaussian_noise3' (gaussian_noise): gather(x) asks for element 3 but 'x' has 3 elements",
          g.factor("gaussian_noise", {gather(x, {0, 3, 1}), y}, {{"variance", 1.0}}));
  REFUSED("factor 'sum3' (sum): plate sizes do not fit: 'x' has 3 elements, which do not divide among 2 slots",
          g.factor("sum", {x, g.variable("two", 2)}));
  REFUSED(
      "factor 'gaussian_noise3' (gaussian_noise): parameter 'variance' has 2 values; expected 1 or 3 (one per slot)",
      g.factor("gaussian_noise", {x, y}, {{"variance", std::vector<double>{1.0, 2.0}}}));
}

TEST_CASE("errors: an empty gather is refused") {
  REFUSED("factor 'gaussian_noise3' (gaussian_noise): gather(x) has an empty table; name one element for each slot",
          g.factor("gaussian_noise", {gather(x, {}), y}, {{"variance", 1.0}}));
}

TEST_CASE("errors: parameters out of their domain name the domain and the way out") {
  REFUSED("factor 'gaussian_noise3' (gaussian_noise): parameter 'variance' is -1, but must be in [0, inf)",
          g.factor("gaussian_noise", {x, y}, {{"variance", -1.0}}));
  REFUSED("factor 'gaussian_noise3' (gaussian_noise): parameter 'variance' is nan, but must be in [0, inf)",
          g.factor("gaussian_noise", {x, y}, {{"variance", kNaN}}));
  REFUSED(
      "factor 'gaussian_prior3' (gaussian_prior): parameter 'variance' is -0.5, but must be in [0, inf]; 0 is a point "
      "mass, inf no prior at all",
      g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", -0.5}}));
  REFUSED("factor 'gaussian_prior3' (gaussian_prior) needs the parameter 'variance', a number in [0, inf]",
          g.factor("gaussian_prior", {x}, {{"mean", 0.0}}));
  REFUSED("factor 'gaussian_noise3' (gaussian_noise): parameter 'variance' is given twice",
          g.factor("gaussian_noise", {x, y}, {{"variance", 1.0}, {"variance", 2.0}}));
  for (const char* slope : {"0", "1.5", "-0.1"}) {
    const std::string text = error_of([&](Graph& g, auto x, auto y, auto) {
      g.factor("leaky_relu", {x, y}, {{"slope", std::stod(slope)}});
    });
    CHECK(text.starts_with("factor 'leaky_relu3' (leaky_relu): parameter 'slope' is " + std::string(slope) +
                           ", but must be in (0, 1]; "));
    CHECK(text.find("use a small positive slope such as 0.01") != std::string::npos);
  }
}

TEST_CASE("errors: names are unique, sizes positive, variables of this graph and connected") {
  REFUSED("two variables are named 'x'; give each its own name, or an empty one to have it numbered", g.variable("x"));
  REFUSED("two factors are named 'f'; give each its own name, or an empty one to have it numbered",
          g.factor("copy", {x, y}, {}, {.name = "f"});
          g.factor("copy", {x, y}, {}, {.name = "f"}));
  REFUSED("variable 'none' has size 0; a size from 1 to 1073741823 is expected", g.variable("none", 0));
  REFUSED("factor 3 (copy) is connected to a variable that is not of this graph",
          g.factor("copy", {x, VariableId{99}}));
  REFUSED("variable 'alone' is connected to nothing; connect a factor to it or remove it", g.variable("alone"));
  CHECK_THROWS_WITH_AS((void)compile(Graph(), forward_backward(), standard_registry()),
                       "the graph has no factors; add some before compiling it", Error);
}

TEST_CASE("errors: observations must be given, of the right length and finite") {
  Graph g;
  const auto x = g.variable("x", 2), y = g.observed("y", 2);
  g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", 1.0}});
  g.factor("gaussian_noise", {x, y}, {{"variance", 1.0}});
  const Plan plan = compile(g, forward_backward(), standard_registry());
  State state(plan);
  CHECK_THROWS_WITH_AS(run(plan, state), "observed variable 'y' has no value; call state.observe(y, ...) before run",
                       Error);
  CHECK_THROWS_WITH_AS(state.observe(y, 1.0), "variable 'y' was given 1 values but has 2 elements", Error);
  CHECK_THROWS_WITH_AS(state.observe(y, {1.0, kNaN}),
                       "variable 'y', element 1: the observed value is nan; a finite number is expected", Error);
  CHECK_THROWS_WITH_AS(state.observe(y, {kInfinity, 1.0}),
                       "variable 'y', element 0: the observed value is inf; a finite number is expected", Error);
  CHECK_THROWS_WITH_AS(state.observe(x, {1.0, 2.0}),
                       "variable 'x' is not observed; declare it with graph.observed(...)", Error);
  CHECK_THROWS_WITH_AS(run(plan, state), "observed variable 'y' has no value; call state.observe(y, ...) before run",
                       Error);
}

TEST_CASE("errors: a state of another plan is refused") {
  Graph g;
  g.factor("gaussian_prior", {g.variable("x")}, {{"mean", 0.0}, {"variance", 1.0}});
  const Plan plan = compile(g, forward_backward(), standard_registry());
  const Plan other = compile(g, flooding(), standard_registry());
  State state(plan);
  CHECK_THROWS_WITH_AS(run(other, state),
                       "this state belongs to another plan; make one for this plan: State state(plan)", Error);
}

TEST_CASE("errors: two contradictory point masses name the variable and both values") {
  for (const bool plate : {false, true}) {
    Graph g;
    const auto x = g.variable("x", plate ? 2 : 1), y = g.observed("y", plate ? 2 : 1);
    g.factor("gaussian_prior", {x}, {{"mean", 1.0}, {"variance", 0.0}});
    g.factor("gaussian_noise", {x, y}, {{"variance", 0.0}});
    const Plan plan = compile(g, forward_backward(), standard_registry());
    State state(plan);
    state.observe(y, plate ? std::vector<double>{1.0, 2.0} : std::vector<double>{2.0});
    const std::string where = plate ? "element 1" : "element 0";
    CHECK_THROWS_WITH_AS(run(plan, state),
                         ("variable 'x', " + where +
                          ": it is exactly 1 and exactly 2 at the same time; change an "
                          "observation, or give one of its factors a positive variance")
                             .c_str(),
                         Contradiction);
    state.observe(y, plate ? std::vector<double>{1.0, 1.0} : std::vector<double>{1.0});
    CHECK_NOTHROW(run(plan, state));
    CHECK(state.belief(x).mean(0) == 1.0);
  }
}

TEST_CASE("errors: iteration options out of range are refused") {
  Graph g;
  g.factor("gaussian_prior", {g.variable("x")}, {{"mean", 0.0}, {"variance", 1.0}});
  const auto error = [&](Iteration iteration) {
    return oracle::error_of([&] { (void)compile(g, flooding(iteration), standard_registry()); });
  };
  CHECK(error({.damping = 1.0}) == "schedule 'flooding': damping is 1; it must be in [0, 1)");
  CHECK(error({.damping = kNaN}) == "schedule 'flooding': damping is nan; it must be in [0, 1)");
  CHECK(error({.tolerance = -1.0}) == "schedule 'flooding': tolerance is -1; it must be 0 or more");
  CHECK(error({.limit = 0}) == "schedule 'flooding': the limit is 0 sweeps; at least 1 is expected");
}

TEST_CASE("errors: set_parameter checks names, domains and sizes") {
  Graph g;
  const auto x = g.variable("x", 2), y = g.observed("y", 2);
  g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", 1.0}});
  const FactorId noise =
      g.factor("gaussian_noise", {x, y}, {{"variance", std::vector<double>{1.0, 2.0}}}, {.name = "noise"});
  const Plan plan = compile(g, forward_backward(), standard_registry());
  State state(plan);
  CHECK_THROWS_WITH_AS(state.set_parameter(noise, "varianc", 1.0),
                       "factor 'noise' has no parameter 'varianc'; did you mean 'variance'? known: variance", Error);
  CHECK_THROWS_WITH_AS(state.set_parameter(noise, "variance", -1.0),
                       "factor 'noise': parameter 'variance' is -1, but must be in [0, inf)", Error);
  CHECK_THROWS_WITH_AS(state.set_parameter(noise, "variance", std::vector<double>{1.0, 2.0, 3.0}),
                       "factor 'noise': parameter 'variance' takes 1 or 2 values, not 3", Error);
}
