// dma infer: what it prints, draws and refuses.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/support/json.h"
#include "tests/oracles/relative.h"
#include "tests/tools/run_dma.h"

namespace {

using namespace dma::testing;

const std::string kGraphs = DMA_SOURCE_DIR "/tools/examples/graphs/";

dma::Json inferred(const std::string& graph, const std::string& options = "") {
  const TemporaryFolder folder;
  return json_of_dma(folder, "infer '" + kGraphs + graph + "' --json " + options);
}

}  // namespace

TEST_CASE("infer: the sprinkler by cliques is exact, by sweeps nearly") {
  // Russell and Norvig: P(wet) = 0.6471, P(rain | wet) = 0.7079.
  const auto whole = inferred("sprinkler.json"), swept = inferred("sprinkler.json", "--schedule flooding");
  CHECK(whole["schedule"] == "exact");
  CHECK(whole["report"] == "exact: 1 clique, the widest of 3 variables with 8 entries");
  CHECK(std::abs(whole["beliefs"]["rain"]["mean"][1].get<double>() - 0.4581 / 0.6471) < 1e-12);
  CHECK(std::abs(whole["log_evidence"].get<double>() - std::log(0.6471)) < 1e-12);
  CHECK(swept["converged"] == true);
  CHECK(holds(swept["report"].get<std::string>(), "approximate: the graph has loops"));
  CHECK(std::abs(swept["beliefs"]["rain"]["mean"][1].get<double>() - 0.4581 / 0.6471) < 0.08);  // clouds count twice
}

TEST_CASE("infer: eight schools are solved in one exact sweep, and jointly to the same") {
  const auto once = inferred("eight_schools.json"), joint = inferred("eight_schools.json", "--schedule joint");
  CHECK(once["report"].get<std::string>().starts_with("exact"));
  CHECK(joint["report"].get<std::string>().starts_with("exact"));
  for (std::size_t i = 0; i < 8; ++i)
    CHECK(once["beliefs"]["effect"]["mean"][i].get<double>() ==
          dma::oracle::relative(joint["beliefs"]["effect"]["mean"][i].get<double>(), 1e-9));
  CHECK(once["log_evidence"].get<double>() == dma::oracle::relative(joint["log_evidence"].get<double>(), 1e-9));
}

TEST_CASE("infer: eight schools whose spread is not known") {
  const auto json = inferred("schools.json");
  CHECK(json["converged"] == true);
  CHECK(json["schedule"] == "joint");
  CHECK(json["hypers"]["tau"]["mean"].get<double>() == dma::oracle::relative(3.6, 0.02));
  CHECK(json["beliefs"]["mu"]["mean"][0].get<double>() == dma::oracle::relative(4.41, 0.02));
  const TemporaryFolder folder;
  const auto text = run_dma(folder, "infer '" + kGraphs + "schools.json'");
  CHECK(holds(text.output, "  tau       3.598 +- 3.2"));
  check_refused(folder, "infer '" + kGraphs + "schools.json' --schedule flooding",
                "only joint() knows hypers; leave the schedule to \"auto\" or \"joint\", or hyper 'tau' out");
}

TEST_CASE("infer: the other examples converge") {
  CHECK(inferred("smoother.json")["converged"] == true);
  const auto rating = inferred("rating.json");
  CHECK(rating["converged"] == true);
  CHECK(rating["beliefs"]["skill"]["mean"][0] > rating["beliefs"]["skill"]["mean"][1]);
}

TEST_CASE("infer: a text with beliefs, what nothing informs, the evidence, and the graph") {
  const TemporaryFolder folder;
  folder.write("g.json", R"({"variables": {"x": {}, "open": {"size": 2}, "y": {"observed": 3}, "z": {"size": 2}},
    "factors": [{"kind": "gaussian_noise", "connects": ["open", "z"], "parameters": {"variance": 1}},
                {"kind": "gaussian_prior", "connects": ["x"], "parameters": {"mean": 1, "variance": 1}},
                {"kind": "gaussian_noise", "connects": ["x", "y"], "parameters": {"variance": 1}}]})");
  const auto outcome = require_dma(folder, "infer g.json --dot g.dot");
  check_holds(outcome.output, {"N(2, 0.7071^2)", "nothing informs open[0], open[1], z[0], z[1]"});
  CHECK(holds(outcome.output, "log evidence: none; "));  // nothing is known of `open`
  CHECK(holds(folder.read("g.dot"), "N(2, 0.7071^2)"));
  const auto formula = run_dma(folder, "infer " + kGraphs + "decay.json");
  CHECK(holds(formula.output, "no value is given for t, y: dma fit data.csv --graph " + kGraphs +
                                  "decay.json --target y learns a, b, c from a table"));
}

TEST_CASE("infer: what cannot be has no probability, and is said") {
  const TemporaryFolder folder;
  folder.write(
      "g.json",
      R"json({"variables": {"a": {"family": "categorical(2)"}, "b": {"family": "categorical(2)", "observed": 1}},
    "factors": [{"kind": "categorical_prior", "connects": ["a"], "parameters": {"probability": [1, 0]}},
                {"kind": "table", "connects": ["a", "b"], "parameters": {"probability": [1, 0, 0, 1]}}]})json");
  for (const char* const schedule : {"auto", "exact", "flooding"})
    check_refused(folder, fmt::format("infer g.json --schedule {}", schedule),
                  "'g.json': /variables/b: the observations have probability "
                  "zero: 'b' = 1 cannot be; change one of these observations");
  folder.write("one.json", R"json({"variables": {"a": {"family": "categorical(1)", "observed": 0}},
    "factors": [{"kind": "categorical_prior", "connects": ["a"], "parameters": {"probability": [1.0]}}]})json");
  const auto json = json_of_dma(folder, "infer one.json --json");
  CHECK(json["log_evidence"] == 0.0);
  CHECK(json["log_evidence_is_exact"] == true);
}

TEST_CASE("infer: a BIF file, observed by name") {
  const auto json = inferred("asia.bif", "--observe dysp=yes --observe asia=yes");
  CHECK(json["schedule"] == "exact");
  CHECK(json["beliefs"]["bronc"]["categories"][1] == "yes");
  CHECK(json["beliefs"]["dysp"]["mean"][1] == 1.0);
  // Lauritzen and Spiegelhalter (1988): bronchitis 0.811 after both.
  CHECK(std::abs(json["beliefs"]["bronc"]["mean"][1].get<double>() - 0.811) < 5e-4);
  const TemporaryFolder folder;
  const auto outcome = require_dma(folder, "infer '" + kGraphs + "asia.bif' --observe dysp=yes");
  check_holds(outcome.output, {"  dysp      = yes\n", "  bronc     no 0.166, yes 0.834\n"});
  check_refused(folder, "infer '" + kGraphs + "asia.bif' --observe dysp=ye",
                "variable 'dysp' has no category 'ye'; did you mean 'yes'?");
  check_refused(folder, "infer '" + kGraphs + "asia.bif' --observe dys=yes", "did you mean 'dysp'?");
  check_refused(folder, "infer '" + kGraphs + "asia.bif' --observe dysp", "NAME=VALUE is expected");
  check_refused(folder, "infer '" + kGraphs + "asia.bif' --observe tub=yes --observe either=no",
                "the observations have probability zero: 'tub' = yes and 'either' = no cannot be together");
}

TEST_CASE("infer: a g2o file, and the poses found as another") {
  const auto json = inferred("square.g2o", "");
  CHECK(json["schedule"] == "joint");
  CHECK(json["beliefs"]["pose"]["family"] == "pose2");
  CHECK(json["beliefs"]["pose"]["mean"].size() == 9);
  const TemporaryFolder folder;
  const std::string solved = (folder.path() / "solved.g2o").string();
  const auto outcome = require_dma(folder, "infer '" + kGraphs + "square.g2o' --poses '" + solved + "'");
  CHECK(holds(outcome.output, "  fixed      = (0, 0, 0)\njoint: converged"));  // without residuals
  // Solved again it stays where it is: the first gradient is that of the last time.
  const auto again = require_dma(folder, "infer '" + solved + "' --loss cauchy:100 --verbose");
  CHECK(holds(again.output, "objective: 0.187"));
  check_refused(folder, "infer '" + kGraphs + "square.g2o' --loss tukey", "the loss is 'tukey'");
  check_refused(folder, "infer '" + kGraphs + "asia.bif' --loss huber", "--loss is for g2o files of poses");
  check_refused(folder, "certify huber", "kind 'huber' has no messages");
}

TEST_CASE("infer: the points of a g2o file are shown, and vertices are named by their numbers") {
  const TemporaryFolder folder;
  folder.write("p.g2o",
               "VERTEX_SE2 0 0 0 0\nVERTEX_SE2 1 1 0 0\nVERTEX_XY 33 1 1\nVERTEX_SE2 7 5 6 1\nVERTEX_SE2 8 6 6 1\n"
               "EDGE_SE2 0 1 2 0 0 1 0 0 1 0 1\nEDGE_SE2 7 8 1 0 0 1 0 0 1 0 1\nEDGE_SE2_XY 0 33 1.5 1 1 0 1\n");
  const auto outcome = require_dma(folder, "infer p.g2o");
  CHECK(
      outcome.output.starts_with("  vertex 1    (2, 0, 0) +- (1, 1, 1)\n"
                                 "  vertex 7    uniform\n  vertex 8    uniform\n  fixed       = (0, 0, 0)\n"
                                 "  vertex 33 x  N(1.5, 1^2)\n  vertex 33 y  N(1, 1^2)\njoint: singular"));
  check_holds(outcome.output, {"nothing determines 'vertex 7', 'vertex 8'", "nothing informs vertex 7, vertex 8\n"});
  const auto json = json_of_dma(folder, "infer p.g2o --json");
  CHECK(json["beliefs"]["point"]["mean"].size() == 2);
}

TEST_CASE("infer: a run that diverges is printed, and is no success") {
  const TemporaryFolder folder;
  // Five sums of all five unknowns, with signs that set them against each other.
  folder.write("g.json",
               R"({"variables": {"x": {"size": 5}, "y": {"size": 5, "observed": [0, 1, 2, 3, 4]}}, "factors": [
    {"kind": "gaussian_prior", "connects": ["x"], "parameters": {"mean": 1, "variance": 100}},
    {"kind": "gaussian_linear", "parameters": {"variance": 1,
                                               "A": [-3, -3, -3, -1, -2, 3, 3, -1, -1, 2, -2, 2, -3, 2, 3, -2, 1, 3, 1, 3, 2, -1, 2, 1, 2]},
     "connects": [{"variable": "x", "reach": "gather", "table": [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4,
                                                                 0, 1, 2, 3, 4, 0, 1, 2, 3, 4]}, "y"]}]})");
  for (const char* const how : {"", "--json"}) {
    const auto outcome = run_dma(folder, fmt::format("infer g.json --schedule flooding {}", how));
    CHECK(outcome.exit_code == 2);
    CHECK(holds(outcome.output, "diverged, stopped after"));
    CHECK(holds(outcome.errors, "the run diverged, so that its beliefs are no answer; try"));
  }
  require_dma(folder, "infer g.json --schedule joint");
}

TEST_CASE("infer: cliques that are too wide are named, and the sweeps that take their place") {
  // A grid of 20 x 20 spins: its widest clique has about 20 of them, 2^21 entries or so.
  const TemporaryFolder folder;
  std::string text = "MARKOV\n400\n";
  for (int i = 0; i < 400; ++i) text += "2 ";
  text += "\n760\n";
  for (int i = 0; i < 20; ++i)
    for (int j = 0; j < 20; ++j) {
      if (j < 19) text += fmt::format("2 {} {}\n", 20 * i + j, 20 * i + j + 1);
      if (i < 19) text += fmt::format("2 {} {}\n", 20 * i + j, 20 * i + j + 20);
    }
  for (int i = 0; i < 760; ++i) text += "4 1.5 1 1 1.5\n";
  folder.write("grid.uai", text);
  const auto outcome = require_dma(folder, "infer grid.uai --memory-limit 20MB");
  check_holds(outcome.output, {"flooding: converged after", "\nnot exact: the widest clique joins "});
  check_refused(folder, "infer grid.uai --memory-limit 20MB --schedule exact", "or raise --memory-limit");
  const auto bounded = require_dma(folder, "infer grid.uai --schedule tree_reweighted");
  CHECK(holds(bounded.output, "beliefs approximate, log evidence between "));
  CHECK(holds(bounded.output, "approximate: an upper bound, by tree-reweighted messages; it is at least "));
}

TEST_CASE("infer: a factor in a gate counts where its file says") {
  // x is 1 for sure, or 9 times in 10; it was seen to be 1: 0.5 and 0.45.
  const TemporaryFolder folder;
  folder.write(
      "g.json",
      R"json({"variables": {"sure": {"categories": ["no", "yes"]}, "x": {"family": "bernoulli", "observed": 1}},
    "factors": [{"kind": "categorical_prior", "connects": ["sure"], "parameters": {"probability": [0.5, 0.5]}},
                {"kind": "bernoulli_prior", "connects": ["x"], "parameters": {"probability": 1}, "when": {"sure": "yes"}},
                {"kind": "bernoulli_prior", "connects": ["x"], "parameters": {"probability": 0.9}, "when": {"sure": 0}}]})json");
  for (const char* const schedule : {"auto", "exact", "flooding"}) {
    const auto outcome = require_dma(folder, fmt::format("infer g.json --schedule {}", schedule));
    check_holds(outcome.output, {"no 0.4737, yes 0.5263", "2 cases, the likeliest sure = "});
  }
}

TEST_CASE("infer: a kind without the usual method is solved by the one it has") {
  const TemporaryFolder folder;
  folder.write("g.json", R"json({"variables": {"z": {"family": "categorical(2)"}, "y": {"observed": 0.4},
    "m": {"size": 2, "observed": [-1, 2]}}, "factors": [
    {"kind": "categorical_prior", "connects": ["z"], "parameters": {"probability": [0.3, 0.7]}},
    {"kind": "mixture", "connects": ["z", "m", "y"], "parameters": {"variance": [1, 4]}}]})json");
  CHECK(!holds(json_of_dma(folder, "infer g.json --json")["report"].get<std::string>(), "refused"));
}

TEST_CASE("infer: counts that are none are refused by name, and a square says no more than it can") {
  const auto answer = [](const std::string& kind, double observed) {
    const TemporaryFolder folder;
    folder.write("g.json", fmt::format(R"({{"variables": {{"x": {{}}, "y": {{"observed": {}}}}}, "factors": [
      {{"kind": "gaussian_prior", "connects": ["x"], "parameters": {{"mean": 0, "variance": 1}}}},
      {{"kind": "{}", "connects": ["x", "y"]}}]}})",
                                       observed, kind));
    const auto outcome = run_dma(folder, "infer g.json --evidence");
    return outcome.output + outcome.errors;
  };
  for (const double no_count : {-2.0, 2.5})
    CHECK(holds(answer("poisson", no_count), fmt::format("the observed value is {}; factor 'poisson", no_count)));
  CHECK(!holds(answer("poisson", 2), "expects"));
  CHECK(holds(answer("square", 4), "approximate"));
  CHECK(holds(answer("exponential", -1), "the observed value is -1; factor 'exponential"));
}

TEST_CASE("infer: a graph, or a file, above the limit of memory is refused, and one below it is solved") {
  const TemporaryFolder folder;
  folder.write("g.json", R"({"variables": {"x": {"size": 20000}}, "factors": [
    {"kind": "gaussian_prior", "connects": ["x"], "parameters": {"mean": 0, "variance": 1}}]})");
  require_dma(folder, "infer g.json");
  check_refused(folder, "infer g.json --memory-limit 1MB", "the graph would take about 0.00");
  check_refused(folder, "infer g.json --memory-limit 1kB",
                "'g.json' is larger than 6.2e-05 MB; a graph file is expected, of no more");
  check_refused(folder, "infer g.json --memory-limit '8 elephants'",
                "--memory-limit is '8 elephants'; a size such as 500MB or 8GB is expected");
  check_refused(folder, "infer /dev/zero", "'/dev/zero' is not text: it has a byte 0; a graph file is expected");
  check_refused(folder, "predict /dev/zero g.json",
                "'/dev/zero' is not text: it has a byte 0; a model file is expected");
}
