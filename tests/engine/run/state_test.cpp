#include "engine/run/run.h"

#include "tests/oracles/solved.h"

namespace {

constexpr double kStateError = 1e-14;

std::vector<Scheduler> backward_rules() { return {forward_backward(), flooding(), sequential(), residual()}; }

}  // namespace

TEST_CASE("state: an observed variable's belief is its value, and prints as such") {
  Graph g;
  const auto x = g.variable("x", 2), y = g.observed("y", 2), l = g.observed("l", 1, "log_normal"), e = g.variable("e");
  g.factor("gaussian_noise", {x, y}, {{"variance", 4.0}});
  g.factor("log_copy", {l, e});
  const auto [plan, state, report] =
      oracle::solved(compile(g, forward_backward(), standard_registry()), {{y, {2.0, -1.5}}, {l, 3.0}});
  CHECK(state.belief(y).text() == "y ~ = 2, = -1.5");
  CHECK(state.belief(x).text() == "x ~ N(2, 2^2), N(-1.5, 2^2)");
  CHECK(state.belief(l).mean() == doctest::Approx(3.0));
  CHECK(state.belief(e).mean() == doctest::Approx(3.0));
}

TEST_CASE("state: the cavity of a shared variable takes part as one more message") {
  Graph g;
  const auto w = g.shared("w", 2), y = g.observed("y", 2);
  g.factor("gaussian_noise", {w, y}, {{"variance", 0.5}});
  for (const Scheduler& rule : backward_rules()) {
    const Plan plan = compile(g, rule, standard_registry());
    State state(plan);
    state.observe(y, {1.0, 2.0});
    const MessageArrays cavity = state.cavity(w);
    cavity.tau[0] = 3.0, cavity.rho[0] = 1.5;
    run(plan, state);
    CHECK(oracle::distance(state.belief(w)[0], Gaussian(3.0 + 2.0, 1.5 + 2.0)) <= kStateError);
    CHECK(oracle::distance(state.belief(w)[1], Gaussian(4.0, 2.0)) <= kStateError);
    state.reset();
    CHECK(oracle::distance(state.belief(w)[0], Gaussian(3.0, 1.5)) <= kStateError);
  }
}

TEST_CASE("state: a plan's unobserved variables are predicted instead of asked for") {
  Graph g;
  const auto x = g.variable("x"), y = g.observed("y");
  g.factor("gaussian_prior", {x}, {{"mean", 1.0}, {"variance", 2.0}});
  g.factor("gaussian_noise", {x, y}, {{"variance", 0.5}});
  const auto [plan, state, report] = oracle::solved(compile(g, forward(), standard_registry(), {.unobserved = {y}}));
  CHECK(oracle::distance(state.belief(y)[0], Gaussian::from_moments(1.0, 2.5)) <= kStateError);
}

TEST_CASE("state: a parameter of a factor that was fused is refused with the way out") {
  Graph g;
  const auto w = g.variable("w", 2), x = g.observed("x", 2), p = g.variable("p", 2), z = g.variable("z");
  g.factor("gaussian_prior", {w}, {{"mean", 0.0}, {"variance", 1.0}});
  g.factor("product", {w, x, p});
  const FactorId sum = g.factor("sum", {p, z});
  const Plan plan = compile(g, forward_backward(), standard_registry());
  State state(plan);
  CHECK_THROWS_WITH_AS(
      state.set_parameter(sum, "coefficients", 2.0),
      "factor 'product1+sum2' is fused and has no parameter 'coefficients'; compile with {.fuse = false} "
      "to set it",
      Error);
}

TEST_CASE("state: two priors sharper than a double can add up leave the point between them") {
  Graph g;
  const auto x = g.variable("x");
  for (int i = 0; i < 2; ++i) g.factor("gaussian_prior", {x}, {{"mean", 1.0}, {"variance", 1e-308}});
  for (const Scheduler& rule : backward_rules()) {
    const auto [plan, state, report] = oracle::solved(compile(g, rule, standard_registry()));
    CHECK(state.belief(x).mean() == 1);
    CHECK(state.belief(x).variance() == 0);
  }
}

TEST_CASE("state: beliefs and messages of extreme priors are finite, few or many at a variable") {
  const std::vector<double> means{0, 1, -1e150, 1e300, -1e308}, variances{1e-308, 1e-160, 1, 1e200, 1e308};
  for (const int copies : {1, 2, 7})
    for (const double m : means)
      for (const double v : variances) {
        Graph g;
        const auto x = g.variable("x"), y = g.variable("y");
        for (int i = 0; i < copies; ++i) {
          g.factor("gaussian_prior", {x}, {{"mean", m}, {"variance", v}});
          g.factor("gaussian_prior", {x}, {{"mean", -m}, {"variance", 3 * v}});
          g.factor("gaussian_noise", {x, y}, {{"variance", 1.0}});
        }
        for (const Scheduler& rule : {flooding({.limit = 4}), sequential({.limit = 4}), residual({.limit = 4})}) {
          State state(compile(g, rule, standard_registry()));
          run(state.plan(), state, {.diagnose = false});
          INFO("m ", m, ", v ", v, ", copies ", copies, ", rule.name ", rule.name);
          for (const VariableId variable : {x, y}) {
            CHECK(is_valid(state.belief(variable)[0]));
            CHECK(std::isfinite(state.belief(variable).mean()));
          }
        }
      }
}

TEST_CASE("state: the id of another graph's variable is refused, though this graph has one of that number") {
  Graph ours, theirs;
  const auto x = ours.variable("x"), y = ours.observed("y");
  const auto noise = ours.factor("gaussian_noise", {x, y}, {{"variance", 1.0}});
  const auto their_x = theirs.variable("x"), their_y = theirs.observed("y");
  const auto their_noise = theirs.factor("gaussian_noise", {their_x, their_y}, {{"variance", 1.0}});
  CHECK_THROWS_AS(ours.factor("gaussian_prior", {their_x}), Error);
  CHECK_THROWS_WITH_AS(ours[their_x], doctest::Contains("another one gave this id"), Error);

  State state(compile(ours, forward_backward(), standard_registry()));
  CHECK_THROWS_WITH_AS(state.observe(their_y, 1.0), doctest::Contains("is not of the graph of this plan"), Error);
  CHECK_THROWS_AS(state.observe(their_y, {1.0}), Error);
  CHECK_THROWS_AS(state.observe_missing(their_y), Error);
  CHECK_THROWS_AS(state.is_given(their_y), Error);
  state.observe(y, 1.0);
  run(state.plan(), state);
  CHECK_THROWS_AS(state.belief(their_x), Error);
  CHECK_THROWS_AS(state.cavity(their_x), Error);
  CHECK_THROWS_AS(state.messages(their_noise, "x"), Error);
  CHECK_THROWS_AS(state.set_parameter(their_noise, "variance", 2.0), Error);
  state.set_parameter(noise, "variance", 2.0);

  const Graph copy = ours;  // its ids mean the same
  State of_copy(compile(copy, forward_backward(), standard_registry()));
  CHECK_NOTHROW(of_copy.observe(y, 1.0));
  CHECK_NOTHROW(of_copy.observe(VariableId{1}, 1.0));  // by number alone
}

TEST_CASE("belief: moments of all elements at once, and an element that is not there is refused") {
  Graph g;
  const auto x = g.variable("x", 2);
  g.factor("gaussian_prior", {x}, {{"mean", std::vector{1.0, 2.0}}, {"variance", std::vector{0.5, 0.25}}});
  const auto [plan, state, report] = oracle::solved(compile(g, forward_backward(), standard_registry()));
  const Belief belief = state.belief(x);
  CHECK(belief.means() == std::vector<double>{1, 2});
  CHECK(belief.variances() == std::vector<double>{0.5, 0.25});
  CHECK_THROWS_WITH_AS(belief.mean(7), "belief of 'x': there is no element 7; it has 2", Error);
  CHECK_THROWS_AS(belief.variance(2), Error);
  CHECK_THROWS_AS(belief.sd(2), Error);
  CHECK_THROWS_AS(belief[2], Error);
}

TEST_CASE("state: a plate that had one number takes one for each slot, and a copy has them too") {
  Graph g;
  const auto x = g.variable("x", 3);
  const FactorId prior = g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", 1.0}});
  const Plan plan = compile(g, forward_backward(), standard_registry());
  State state(plan);
  state.set_parameter(prior, "variance", std::vector<double>{1.0, 4.0, 9.0});
  state.set_parameter(prior, "mean", 5.0);
  State copy = state.copy();
  state.set_parameter(prior, "variance", 2.0);
  run(plan, state), run(plan, copy);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(state.belief(x)[i].variance() == doctest::Approx(2.0));
    CHECK(copy.belief(x)[i].variance() == doctest::Approx(static_cast<double>((i + 1) * (i + 1))));
    CHECK(copy.belief(x).mean(i) == doctest::Approx(5.0));
  }
}

TEST_CASE("state: a value that a likelihood cannot have is refused by name, and leaves the state as it was") {
  const auto refused = [](const char* kind, std::vector<double> values) -> std::string {
    Graph g;
    const auto x = g.variable("x", values.size()), y = g.observed("y", values.size());
    g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", 1.0}});
    g.factor(kind, {x, y}, {}, {.name = "seen", .method = "ep"});
    const Plan plan = compile(g, flooding(), standard_registry());
    State state(plan);
    try {
      state.observe(y, values);
    } catch (const Error& error) {
      CHECK_THROWS_WITH(run(plan, state), doctest::Contains("'y'"));  // y has no value
      return error.what();
    }
    return {};
  };
  CHECK(refused("poisson", {3, -1}) ==
        "variable 'y', element 1: the observed value is -1; factor 'seen[1]' expects a whole number in [0, inf)");
  CHECK(refused("poisson", {1.5}) ==
        "variable 'y', element 0: the observed value is 1.5; factor 'seen' expects a whole number in [0, inf)");
  CHECK(refused("poisson", {0, 7}).empty());
  CHECK(refused("probit", {1, 0, 2}) ==
        "variable 'y', element 2: the observed value is 2; factor 'seen[2]' expects one of -1, 0, 1");
  CHECK(refused("logistic", {0.5}) ==
        "variable 'y', element 0: the observed value is 0.5; factor 'seen' expects one of -1, 0, 1");
  CHECK(refused("logistic", {-1, 1, 0}).empty());
}

TEST_CASE("state: a value that a family cannot have is refused by name") {
  const auto refused = [](const char* family, double value) -> std::string {
    Graph g;
    const auto y = g.observed("y", 2, family);
    const std::string name = family;
    if (name == "gamma") g.factor("gamma_prior", {y}, {{"shape", 1.0}, {"rate", 1.0}});
    if (name == "beta") g.factor("beta_prior", {y}, {{"a", 1.0}, {"b", 1.0}});
    if (name == "bernoulli") g.factor("bernoulli_prior", {y}, {{"probability", 0.5}});
    if (name == "categorical(3)") g.factor("categorical_prior", {y}, {{"probability", {0.2, 0.3, 0.5}}});
    const Plan plan = compile(g, flooding(), standard_registry());
    State state(plan);
    return oracle::error_of([&] { state.observe(y, {name == "beta" ? 0.5 : 1.0, value}); });
  };
  CHECK(refused("gamma", -2).find("variable 'y', element 1: the observed value is -2; a positive number is expected") ==
        0);
  CHECK(refused("beta", 1.5)
            .find("variable 'y', element 1: the observed value is 1.5; a number between 0 and 1 is expected") == 0);
  CHECK(refused("bernoulli", 0.5).find("variable 'y', element 1: the observed value is 0.5; 0 or 1 is expected") == 0);
  CHECK(refused("categorical(3)", 3).find("variable 'y', element 1: the observed value is 3; ") == 0);
  CHECK(refused("categorical(3)", 1.5).find("variable 'y', element 1: the observed value is 1.5; ") == 0);
}
