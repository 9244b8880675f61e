#include "engine/run/run.h"

#include "tests/oracles/dense_gaussian.h"
#include "tests/oracles/random_graphs.h"
#include "tests/oracles/solved.h"

namespace {

// y_n = w_1 x_n1 + w_2 x_n2 + noise on four points: loops through both weights.
struct ReportedRegression {
  Graph graph;
  VariableId w = graph.variable("w", 2), x = graph.observed("x", 8), p = graph.variable("p", 8),
             z = graph.variable("z", 4), y = graph.observed("y", 4);
  ReportedRegression() {
    graph.factor("gaussian_prior", {w}, {{"mean", 0.0}, {"variance", 1.0}});
    graph.factor("product", {column(w), x, p});
    graph.factor("sum", {p, z});
    graph.factor("gaussian_noise", {z, y}, {{"variance", 0.1}});
  }
  Report solve(State& state) const {
    state.observe(x, {1.0, 0.5, -0.3, 1.0, 0.7, 0.6, 0.2, -0.4});
    state.observe(y, {1.5, 0.7, 1.3, -0.2});
    return run(state.plan(), state);
  }
};

const std::string kLoops =
    "one sweep of a graph with loops: approximate; iterate with flooding, sequential or residual";

}  // namespace

TEST_CASE("report: describes one sweep") {
  Graph g;
  const auto w = g.variable("w", 2), x = g.observed("x", 2), p = g.variable("p", 2), y = g.observed("y", 2);
  g.factor("gaussian_prior", {w}, {{"mean", 3.0}, {"variance", 1.0}});
  g.factor("product", {w, x, p}, {}, {.name = "times"});
  g.factor("gaussian_noise", {p, y}, {{"variance", 0.25}});
  const auto [plan, state, report] =
      oracle::solved(compile(g, forward_backward(), standard_registry()), {{x, {1.0, 2.0}}, {y, {0.5, 4.0}}});
  CHECK(report.stop == Report::Stop::exact);  // the observed values make the product linear
  CHECK(report.converged());
  CHECK(report.sweeps == 1);
  CHECK(report.messages == 6);  // product to z, noise to x, product to w; two slots each
  CHECK(report.messages == plan.messages_per_sweep());
  CHECK(report.faults == 0);
  CHECK(report.change == 0);
  // Arriving at the products: w = N(3, 1) twice, z = N(0.5, 0.25) and N(4, 0.25): |mean| / sd = 3, 1, 8.
  CHECK(report.signal_to_noise == doctest::Approx(1.0));
  CHECK(report.line() == "exact after 1 sweep: 6 messages, no faults");
  CHECK(report.text().find("1 at times[0].z (the concentrated-input theorem needs 2)") != std::string::npos);
}

TEST_CASE("report: a single sweep of a graph with loops is approximate, in the report and in the plan") {
  const ReportedRegression model;
  for (const bool fuse : {true, false}) {
    const Plan plan = compile(model.graph, forward_backward(), standard_registry(), {.fuse = fuse});
    State state(plan);
    const Report report = model.solve(state);
    CHECK(report.stop == Report::Stop::approximate);
    CHECK(!report.converged());
    CHECK(report.line() == kLoops);
    CHECK(report.text().find(kLoops) != std::string::npos);
    CHECK(describe(plan).find(kLoops) != std::string::npos);
    CHECK(plan.schedule_text().find(kLoops) != std::string::npos);
  }
}

TEST_CASE(
    "report: of a product with an observed input the exact messages are named exact, by methods that compute them") {
  for (const char* const method : {"dma", "linearised", "vmp", "ep"})
    for (const bool fuse : {true, false}) {
      const bool is_exact = method[0] == 'd' || method[0] == 'l';
      oracle::GivenGraph given;
      Graph& g = given.graph;
      std::vector<Connection> terms;
      for (int i = 0; i < 3; ++i) {
        const auto w = g.variable(""), x = g.observed(""), p = g.variable("");
        g.factor("gaussian_prior", {w}, {{"mean", 0.5 * i}, {"variance", 1.0 + i}});
        g.factor("product", {w, x, p});
        given.observed[x.value] = 1.5 - i;
        terms.emplace_back(p);
      }
      const auto z = g.variable("z"), y = g.observed("y");
      terms.emplace_back(z);
      g.factor("sum", terms);
      g.factor("gaussian_noise", {z, y}, {{"variance", 0.04}});
      given.observed[y.value] = 1.3;
      State state(compile(g, forward_backward(), standard_registry(), {.method = method, .fuse = fuse}));
      given.observe_in(state);
      CAPTURE(method);
      CHECK(state.has_exact_messages() == is_exact);
      if (!is_exact) continue;
      CHECK(run(state.plan(), state).stop == Report::Stop::exact);
      const auto truth = oracle::dense_posterior(g, given.observed);
      for (const std::uint32_t w : {0u, 3u, 6u}) {
        CHECK(state.belief(VariableId{w}).mean() == oracle::relative(truth.mean[w], 1e-10));
        CHECK(state.belief(VariableId{w}).sd() == oracle::relative(std::sqrt(truth.variance[w]), 1e-10));
      }
    }
}

TEST_CASE("report: a square between its two roots tells x nothing, and is not called converged") {
  // x ~ N(m, 1), x^2 observed as 4: for m = 0 the posterior has half of its mass around -2 and half around 2, and none
  // at 0.
  const auto solved = [](double m, const Scheduler& rule) {
    Graph g;
    const auto x = g.variable("x"), s = g.variable("s"), y = g.observed("y");
    g.factor("gaussian_prior", {x}, {{"mean", m}, {"variance", 1.0}});
    g.factor("square", {x, s});
    g.factor("gaussian_noise", {s, y}, {{"variance", 0.1}});
    State state(compile(g, rule, standard_registry()));
    state.observe(y, 4.0);
    return run(state.plan(), state);
  };
  for (const Scheduler& rule : {forward_backward(), flooding()}) {
    const Report between = solved(0, rule);
    CHECK(!between.converged());
    CHECK(between.stop == Report::Stop::approximate);
    CHECK(between.line().starts_with("approximate: a function of slope 0 there tells its input nothing"));
    CHECK(solved(1.5, rule).converged());
  }
}

TEST_CASE("report: messages refused on the way, and not in the last sweep, are no divergence") {
  // A fixed point far away: the approach needs more sweeps than allowed, and one message is refused at the beginning.
  Registry registry = standard_registry();
  registry.add(kind("slow")
                   .input("x")
                   .output("y")
                   .message("dma", "x", [](const Gaussian&) { return Gaussian::uniform(); })
                   .message("dma", "y", [](const Gaussian& x) {
                     return x.rho < 2 ? Gaussian{0.0, -1.0} : x;
                   }));
  Graph g;
  VariableId last = g.variable("");
  g.factor("gaussian_prior", {last}, {{"mean", 1.0}, {"variance", 1.0}});
  const VariableId seen = g.observed("seen"), far = g.variable("far");
  g.factor("slow", {last, far});
  for (int t = 0; t < 20; ++t) {
    const VariableId next = g.variable("");
    g.factor("gaussian_noise", {last, next}, {{"variance", 0.01}});
    last = next;
  }
  g.factor("gaussian_noise", {last, seen}, {{"variance", 0.01}});
  const auto solved = [&](int limit) {
    State state(compile(g, flooding({.limit = limit}), registry));
    state.observe(seen, 1.0);
    return run(state.plan(), state);
  };
  CHECK(solved(10).stop == Report::Stop::diverged);  // still refused
  const Report report = solved(22);
  CHECK(report.faults > 10);
  CHECK(report.stop == Report::Stop::limit);
  CHECK(solved(60).stop == Report::Stop::converged);
}

TEST_CASE("report: correlations that sweeps leave out are named, and those of another design are not") {
  // A line far from the origin: its height there and its slope are almost perfectly correlated.
  const auto solved = [](double from) {
    Graph g;
    const auto height = g.variable("height"), slope = g.variable("slope"), tau = g.variable("tau", 1, "gamma"),
               z = g.variable("z", 12), y = g.observed("y", 12);
    for (const VariableId w : {height, slope}) g.factor("gaussian_prior", {w}, {{"mean", 0.0}, {"variance", 100.0}});
    g.factor("gamma_prior", {tau}, {{"shape", 2.0}, {"rate", 2.0}});
    std::vector<double> rows, seen;
    for (int i = 0; i < 12; ++i) {
      rows.insert(rows.end(), {1, from + i});
      seen.push_back(2 + 0.5 * (from + i) + (i % 3 - 1));
    }
    g.factor("linear", {all_to_one(height), all_to_one(slope), z}, {{"A", rows}});
    g.factor("gaussian_precision", {z, all_to_one(tau), y});
    State state(compile(g, flooding({.limit = 5000, .damping = 0.5}), standard_registry(),
                        {.kind_methods = {{"gaussian_precision", "vmp"}}}));
    state.observe(y, seen);
    return run(state.plan(), state);
  };
  const Report far = solved(20);
  CHECK(std::abs(far.correlation) > 0.95);
  CHECK(far.text().find("height and slope are correlated by -0.9") != std::string::npos);
  CHECK(far.line().find("loops, and messages of gaussian_precision") != std::string::npos);
  CHECK(solved(-5.5).correlation == 0);
}

TEST_CASE("report: a product of two unknowns on a tree is said to be an approximation") {
  // a ~ N(0, 1), x ~ N(1, 1), a x = 1 +- 0.32.
  Graph g;
  const auto a = g.variable("a"), x = g.variable("x"), p = g.variable("p"), y = g.observed("y");
  g.factor("gaussian_prior", {a}, {{"mean", 0.0}, {"variance", 1.0}});
  g.factor("gaussian_prior", {x}, {{"mean", 1.0}, {"variance", 1.0}});
  g.factor("product", {a, x, p});
  g.factor("gaussian_noise", {p, y}, {{"variance", 0.1}});
  constexpr double kExact = 0.596;  // the mean of a, by sums over a grid of both
  for (const Scheduler& rule : {forward_backward(), flooding()}) {
    const auto [plan, state, report] = oracle::solved(compile(g, rule, standard_registry()), {{y, 1.0}});
    CHECK(std::abs(state.belief(a).mean() - kExact) > 0.2);
    CHECK(report.stop == Report::Stop::converged);
    CHECK(report.line().find(", approximate: by messages of product; compare with joint()") != std::string::npos);
    CHECK(report.caveat() == "messages of kind 'product' are approximations");
    CHECK(report.text().find("worth: approximate: messages of kind 'product' are approximations\n") !=
          std::string::npos);
  }
}

TEST_CASE("report: the line of any run fits its columns, whatever the names") {
  Graph g;
  const std::string name(150, 'n');
  const auto u = g.variable(name + "u"), v = g.variable(name + "v");
  for (const double variance : {1.0, 2.0})
    g.factor("gaussian_noise", {u, v}, {{"variance", variance}}, {.name = name + (variance > 1 ? "2" : "1")});
  for (const auto& plan : {compile(g, flooding(), standard_registry()), compile(g, joint(), standard_registry()),
                           compile(g, forward_backward(), standard_registry())}) {
    State state(plan);
    const Report report = run(plan, state);
    CAPTURE(report.line());
    CHECK(report.line().size() <= Report::kColumns);
  }
}

TEST_CASE("report: the forward half of a schedule is approximate") {
  const ReportedRegression model;
  State state(compile(model.graph, forward(), standard_registry()));
  CHECK(model.solve(state).stop == Report::Stop::approximate);
}

TEST_CASE("run: a warm start of a single sweep is refused") {
  const ReportedRegression model;
  State state(compile(model.graph, forward_backward(), standard_registry()));
  model.solve(state);
  CHECK_THROWS_WITH_AS(run(state.plan(), state, {.warm = true}),
                       doctest::Contains("makes a single sweep on fresh messages"), Error);
}
