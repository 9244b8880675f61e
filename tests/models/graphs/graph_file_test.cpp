#include "models/graphs/graph_file.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/compile/compile.h"
#include "engine/joint/joint.h"
#include "engine/run/run.h"
#include "engine/support/json.h"
#include "engine/support/text.h"
#include "factors/standard_registry.h"
#include "schedules/schedules.h"
#include "tests/oracles/files.h"
#include "tests/oracles/relative.h"

using namespace dma;

TEST_CASE("graph file: written and read again, nothing changes") {
  for (const auto& entry : std::filesystem::directory_iterator(DMA_SOURCE_DIR "/tools/examples/graphs")) {
    if (entry.path().extension() != ".json") continue;
    CAPTURE(entry.path().string());
    const std::string text = oracle::text_of_file("../tools/examples/graphs/" + entry.path().filename().string()),
                      written = graph_text(parse_graph(text));
    CHECK(graph_text(parse_graph(written)) == written);
    CHECK(parse_json(written) == parse_json(text));
  }
}

TEST_CASE("graph file: every number, name and connection survives") {
  GraphFile file;
  Graph& g = file.graph;
  const auto a = g.variable("a/b~c \"quoted\"", 4), p = g.variable("p", 2, "gamma"), w = g.shared("w", 2),
             y = g.observed("y", 2);
  g.factor("gaussian_prior", {a},
           {{"mean", std::vector<double>{0.1, 1e-300, -5e300, 1.0 / 3}}, {"variance", kInfinity}});
  g.factor(
      "sum",
      {Connection("terms", gather(a, {3, 0, 1, 1})), row(w), column(w), all_to_one(w), shift(a, -2), given(w, 3), y},
      {}, {.name = "s", .method = "ep", .damping = 0.3});
  g.factor("gamma_prior", {p}, {{"shape", 2.0}, {"rate", 0.1}});
  file.observations.push_back({y, {0.1 + 0.2, std::nullopt}});
  file.schedule = "flooding", file.method = "ep", file.description = "text";
  const std::string text = graph_text(file);
  const GraphFile again = parse_graph(text);
  CHECK(graph_text(again) == text);
  CHECK(again.graph.factors()[0].parameters[0].second.numbers[3] == 1.0 / 3);
  CHECK(again.graph.factors()[0].parameters[1].second.numbers[0] == kInfinity);
  CHECK(*again.observations[0].values[0] == 0.1 + 0.2);
  CHECK(!again.observations[0].values[1]);
  CHECK(again.graph.factors()[1].connections[4].lag() == -2);
  CHECK(again.graph.factors()[1].connections[5].reach == Reach::given);
  CHECK(again.graph.factors()[1].connections[5].entries() == 3);
  CHECK(again.graph.factors()[1].damping == 0.3);
  CHECK(again.graph[again.graph.find_variable("w")].shared);
}

TEST_CASE("graph file: an observed variable without a value stays an observed one") {
  GraphFile file;
  const auto x = file.graph.variable("x", 2), y = file.graph.observed("y", 2);
  file.graph.factor("gaussian_noise", {x, y}, {{"variance", 1.0}});
  const GraphFile again = parse_graph(graph_text(file));
  CHECK(again.graph[again.graph.find_variable("y")].observed);
  CHECK(again.observations.size() == 1);
  CHECK(again.observations[0].values == std::vector<std::optional<double>>(2));
}

TEST_CASE("graph file: a key that stands twice is refused with its place") {
  const std::string factor =
      R"({"kind": "gaussian_prior", "connects": ["x"], "parameters": {"mean": 0, "variance": 1}})";
  CHECK_THROWS_WITH_AS(parse_graph(R"({"variables": {"x": {}, "x": {"size": 2}}, "factors": [)" + factor + "]}"),
                       "/variables/x: the key appears twice in one object; remove one", Error);
  CHECK_THROWS_WITH_AS(parse_graph(R"({"variables": {"x": {}}, "factors": [)" + factor +
                                   R"(, {"kind": "sum", "connects": [1, {"a~": [], "a~": 2}]}]})"),
                       "/factors/1/connects/1/a~0: the key appears twice in one object; remove one", Error);
  CHECK(parse_graph(R"({"variables": {"x": {}}, "factors": [)" + factor + "," + factor + "]}").graph.factors().size() ==
        2);
}

TEST_CASE(
    "graph file: the probabilities of a Dirichlet variable are observed as lists, and null where they are missing") {
  const auto solved = [](const std::string& size, const std::string& observed) {
    const GraphFile file = parse_graph(R"json({"variables": {"z": {"family": "categorical(3)", "size": )json" + size +
                                       R"json(}, "p": {"family": "dirichlet(3)", "size": )json" + size +
                                       R"json(, "observed": )json" + observed +
                                       R"json(}}, "factors": [
      {"kind": "dirichlet_prior", "connects": ["p"], "parameters": {"concentration": [1, 2, 3]}},
      {"kind": "categorical_draw", "connects": ["p", "z"]}]})json");
    CHECK(graph_text(parse_graph(graph_text(file))) == graph_text(file));
    const VariableId p = file.graph.find_variable("p");
    const Plan plan = compile(file.graph, forward_backward(), standard_registry(), {.may_be_missing = {p}});
    State state(plan);
    file.observe(state);
    (void)run(plan, state);
    std::vector<double> out;
    if (observed.find("null") == std::string::npos) out.push_back(log_evidence(plan, state));
    const Belief z = state.belief(file.graph.find_variable("z"));
    for (std::size_t i = 0; i < z.size(); ++i)
      for (std::size_t k = 0; k < 3; ++k) out.push_back(z.mean(i, k));
    return out;
  };
  const double density = std::log(60 * 0.3 * 0.5 * 0.5);  // density of dirichlet(1, 2, 3) at (0.2, 0.3, 0.5)
  const auto one = solved("1", "[0.2, 0.3, 0.5]");
  CHECK(one[0] == oracle::relative(density, 1e-12));
  for (const std::size_t k : {0u, 1u, 2u}) CHECK(one[1 + k] == oracle::relative(std::array{0.2, 0.3, 0.5}[k], 1e-12));
  const auto two = solved("2", "[null, [0.2, 0.3, 0.5]]");
  for (const std::size_t k : {0u, 1u, 2u}) {
    CHECK(two[k] == oracle::relative(std::array{1, 2, 3}[k] / 6.0, 1e-12));  // the mean of the prior
    CHECK(two[3 + k] == oracle::relative(std::array{0.2, 0.3, 0.5}[k], 1e-12));
  }
  CHECK_THROWS_WITH_AS(solved("1", "[0.2, null, 0.5]"),
                       "variable 'p', element 0: some of its 3 numbers are missing; give all of them, or none", Error);
  CHECK_THROWS_WITH_AS(solved("1", "[0.2, 0.8]"), "variable 'p' was given 2 values but has 1 elements of 3 numbers",
                       Error);
}

TEST_CASE("graph file: hypers are read, and errors give the location") {
  const auto read = [](const std::string& hypers) {
    return parse_graph(R"({"variables": {"x": {}}, "factors": [{"kind": "gaussian_prior", "name": "p",
      "connects": ["x"], "parameters": {"mean": 0, "variance": 1}}], "hypers": )" +
                       hypers + "}");
  };
  const GraphFile file = read(R"({"s": {"prior": {"gamma": [2, 3]}, "of": [{"factor": "p", "parameter": "variance",
    "power": -1, "times": [4]}]}})");
  REQUIRE(file.hypers.size() == 1);
  CHECK(file.hypers[0].name == "s");
  CHECK(file.hypers[0].prior.numbers == std::vector<double>{2, 3});
  CHECK(file.hypers[0].uses[0].power == -1);
  CHECK(graph_text(parse_graph(graph_text(file))) == graph_text(file));
  CHECK_THROWS_WITH_AS(read(R"({"s": {"of": []}})"),
                       "/hypers/s: hyper 's' has no prior; give it one, such as \"prior\": {\"half_cauchy\": 1}",
                       Error);
  CHECK_THROWS_WITH_AS(read(R"({"s": {"prior": {"half_cauchy": [1, 2]}, "of": []}})"),
                       "/hypers/s/prior: prior 'half_cauchy' takes 1 number, not 2", Error);
  CHECK_THROWS_WITH_AS(read(R"({"s": {"prior": {"half_couchy": 1}, "of": []}})"),
                       "/hypers/s/prior: there is no prior 'half_couchy'; did you mean 'half_cauchy'? known: "
                       "half_cauchy, half_normal, half_student_t, gamma, log_normal, correlation, flat",
                       Error);
}

TEST_CASE("graph file: a covariance that is learned is the same after it was written and read") {
  GraphFile file;
  Graph& g = file.graph;
  const auto x = g.variable("x", 8), y = g.observed("y", 8);
  const VectorFactor prior = gaussian_vector_prior(g, x, {0.5, -1}, SpreadMatrix::covariance({1, 0.2, 0.2, 2}));
  const VectorFactor noise =
      gaussian_vector_noise(g, x, y, SpreadMatrix::covariance({1, 0, 0, 1}), {1, 0.25, 0, 1.0 / 3});
  file.observations.push_back({y, {1.5, -0.7, 2.1, 0.2, -1.4, -1.9, 0.3, -0.6}});
  file.hypers.push_back(hyper("scale", HyperPrior::half_cauchy(1), {{noise.rows[0], "variance", 2}}));
  file.covariances.push_back({"spread", prior, HyperPrior::half_normal(1), 2});
  const auto solved = [](const GraphFile& from) {
    JointOptions options;
    from.add_hypers(options);
    const Plan plan = compile(from.graph, joint(options), standard_registry());
    State state(plan);
    from.observe(state);
    CHECK(run(plan, state).converged());
    const JointPosterior posterior(state);
    std::vector<double> out = learned_covariance(posterior, "spread", from.covariances[0].factor);
    out.insert(out.end(), {posterior.log_evidence(), posterior.hyper("scale").mean(),
                           state.belief(from.graph.find_variable("x")).mean(3)});
    return out;
  };
  const std::string text = graph_text(file);
  const GraphFile again = parse_graph(text);
  CHECK(graph_text(again) == text);
  CHECK(again.covariances.size() == 1);
  CHECK(solved(again) == solved(file));
  file.covariances = {{"noise", noise, HyperPrior::gamma(2, 1)}};  // with gains instead of a mean
  CHECK(parse_graph(graph_text(file)).covariances[0].factor.gains == noise.gains);
  const auto refused = [&](const std::string& from, const std::string& to, const char* why) {
    std::string wrong = text;
    REQUIRE(wrong.find(from) != std::string::npos);
    wrong.replace(wrong.find(from), from.size(), to);
    CHECK_THROWS_WITH_AS(parse_graph(wrong), why, Error);
  };
  refused("\"mean\": [0.5,-1.0]", "\"mean\": [0.5]",
          "/hypers/spread: 2 rows, 1 means and 0 gains; a mean, or as many gains, for each row are expected");
  GraphFile wrong = file;
  wrong.covariances[0].sd = HyperPrior::correlation(1);
  JointOptions options;
  CHECK_THROWS_WITH_AS(wrong.add_hypers(options),
                       "learn_covariance: prior 'correlation' is for correlations; the "
                       "standard deviations of 'noise' need one for positive numbers",
                       Error);
  refused("\"concentration\"", "\"concetration\"",
          "/hypers/spread: there is no key 'concetration' here; did you mean 'concentration'? known: prior, "
          "covariance, concentration, mean, gains");
}
