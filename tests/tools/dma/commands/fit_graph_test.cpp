// dma fit --graph, predict and inspect: a graph of one's own from the command line.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/support/json.h"
#include "tests/oracles/files.h"
#include "tests/oracles/relative.h"
#include "tests/tools/run_dma.h"

namespace {

using dma::Json;
using dma::oracle::graph_file, dma::oracle::relative, dma::oracle::text_of_file;
using namespace dma::testing;

// y = a exp(-b t) + c, with noise of this variance.
Json decay(double variance = 0.01) {
  Json graph = dma::parse_json(text_of_file("../tools/examples/graphs/decay.json"));
  graph["factors"].back()["parameters"]["variance"] = variance;
  return graph;
}
Json factor(const char* kind, std::vector<const char*> connects) { return {{"kind", kind}, {"connects", connects}}; }

// 40 readings of a = 2.5, b = 0.8 and c = 0.5, with counts whose logarithm is the same curve.
std::string readings() {
  std::string csv = "t,y,n,other\n";
  for (int i = 0; i < 40; ++i) {
    const double t = 0.125 * i, f = 2.5 * std::exp(-0.8 * t) + 0.5;
    csv += fmt::format("{},{},{},{}\n", t, f + 0.1 * std::sin(17.0 * i * i), std::round(std::exp(f)), i % 3);
  }
  return csv;
}

std::string rows_of_groups(int first, int last) {
  std::string csv = "group,x,y\n";
  for (int i = first; i < last; ++i)
    csv += fmt::format("{},{},{}\n", i % 3, 0.1 * i, 2 * 0.1 * i + (i % 3) + 0.05 * std::sin(i * i));
  return csv;
}

double number(const Json& json) { return json.get<double>(); }

}  // namespace

TEST_CASE("dma fit --graph: a formula with a number and a count is fitted, saved, predicted and inspected") {
  const TemporaryFolder folder;
  folder.write("data.csv", readings());
  folder.write("graph.json", dma::json_text(decay()));
  folder.write("new.csv", "t\n0\n6\n");
  const auto json = json_of_dma(folder,
                                "fit data.csv --graph graph.json --target y --noise-model given --json "
                                "--model model.json");
  const double a = number(json["learned"]["a"]["mean"]), b = number(json["learned"]["b"]["mean"]),
               c = number(json["learned"]["c"]["mean"]);
  CHECK(a == relative(2.5, 0.1));
  CHECK(b == relative(0.8, 0.1));
  CHECK(json["features"] == Json({"t"}));
  const auto predicted = json_of_dma(folder, "predict model.json new.csv --json")["predictions"]["y"];
  CHECK(number(predicted["mean"][1]) == relative(a * std::exp(-6 * b) + c, 1e-7));
  CHECK(predicted["q2.5"][1] < predicted["mean"][1]);
  check_holds(run_dma(folder, "inspect model.json").output,
              {"target    y, gaussian noise, sd 0.1 (given)\n", "learned   a = "});
  // Noise learned, rows kept aside, and a note on columns that the graph does not know.
  const auto other = require_dma(folder, "fit data.csv --graph graph.json --target y --holdout 0.2");
  check_holds(other.output, {"(learned)", "held out  y, 8 rows: RMSE "});
  CHECK(holds(other.errors, "the graph observes no variable of the names 'n', 'other': ignored"));

  Json both = decay();
  both["variables"]["n"] = {{"observed", nullptr}};
  both["factors"].push_back(factor("poisson", {"f", "n"}));
  folder.write("both.json", dma::json_text(both));
  const auto fitted = require_dma(folder, "fit data.csv --graph both.json --target y --target n --model model.json");
  CHECK(holds(fitted.output, "target    n, poisson\n"));
  const auto said = json_of_dma(folder, "predict model.json new.csv --json")["predictions"];
  CHECK(number(said["y"]["mean"][0]) == relative(3, 0.05));
  CHECK(number(said["n"]["mean"][0]) == relative(std::exp(3.0), 0.15));
  CHECK(number(said["n"]["q97.5"][0]) == std::floor(number(said["n"]["q97.5"][0])));
}

// Rows of a linear model with known noise: learning in two parts gives the posterior of all.
TEST_CASE("dma fit --graph: groups chosen by a column; rows added give the result of learning all at once") {
  const TemporaryFolder folder;
  folder.write("graph.json", graph_file("groups.json"));
  folder.write("first.csv", rows_of_groups(0, 20));
  folder.write("more.csv", rows_of_groups(20, 50));
  folder.write("all.csv", rows_of_groups(0, 50));
  const std::string fit = " --graph graph.json --target y --noise-model given --model ";
  require_dma(folder, "fit first.csv" + fit + "model.json --quiet");
  const auto json = json_of_dma(folder, "fit all.csv" + fit + "all.json --json");
  CHECK(json["features"] == Json({"x", "group"}));
  CHECK(number(json["learned"]["effect[2]"]["mean"]) == relative(2, 0.05));
  const auto said = json_of_dma(folder, "fit --update model.json more.csv --model updated.json --json");
  CHECK(said["rows"] == 50);
  CHECK(said["settled"] == true);
  CHECK(number(said["before"]["y"]["rmse"]) < 0.1);
  const auto updated = json_of_dma(folder, "inspect --json updated.json")["learned"];
  for (const auto& [name, belief] : json["learned"].items()) {
    CHECK(number(updated[name]["mean"]) == relative(number(belief["mean"]), 1e-9));
    CHECK(number(updated[name]["sd"]) == relative(number(belief["sd"]), 1e-9));
  }
  CHECK(holds(run_dma(folder, "inspect updated.json").output, "training  50 rows, the last 30 on top of 20 before\n"));
  folder.write("wrong.csv", "group,x,y\n3,1,2\n");
  check_refused(folder, "predict model.json wrong.csv",
                "column 'group' is 3 in row 1; it chooses an element: a whole number from 0 to 2 is expected");
  check_refused(folder, "fit --update model.json wrong.csv", "column 'group' is 3 in row 1");
  check_refused(folder, "fit --update model.json more.csv --report page.html",
                "--report: an update has no such option");
}

TEST_CASE("dma fit --graph: errors give the place in the file and the way out") {
  const TemporaryFolder folder;
  folder.write("data.csv", readings());
  folder.write("graph.json", dma::json_text(decay()));
  folder.write("short.csv", "time,y\n1,2\n2,3\n");
  Json bare = decay(), prior = bare, hanging = bare, loose = bare;
  bare["factors"].back() =
      dma::parse_json(R"({"kind": "gaussian_prior", "connects": ["y"], "parameters": {"mean": 0, "variance": 1}})");
  prior["factors"].erase(2);
  hanging["factors"].push_back(factor("add", {"f", "bt", "wrong"}));
  loose["variables"]["loose"] = Json::object();
  loose["factors"][4]["connects"][0] = "loose";
  folder.write("bare.json", dma::json_text(bare)), folder.write("prior.json", dma::json_text(prior));
  folder.write("hanging.json", dma::json_text(hanging)), folder.write("loose.json", dma::json_text(loose));
  folder.write("mean.json", R"({"variables": {"m": {"shared": true}, "y": {"observed": null}}, "factors": [
    {"kind": "gaussian_prior", "connects": ["m"], "parameters": {"mean": 0, "variance": 9}},
    {"kind": "gaussian_noise", "connects": ["m", "y"], "parameters": {"variance": 1}}]})");
  folder.write("sizes.json", dma::oracle::network_file(1, "2, 0", "0.5"));
  const std::string fit = "fit data.csv --target y --graph ";
  const std::pair<std::string, const char*> said[] = {
      {fit + "bare.json",
       "'bare.json': /variables/y: Gaussian learning: target 'y' has no likelihood; put gaussian_noise"},
      {fit + "prior.json", "'prior.json': /variables/c: Gaussian learning: shared variable 'c' has no Gaussian prior"},
      {fit + "hanging.json", "'hanging.json': /factors/"},
      {fit + "loose.json",
       "'loose.json': /variables/loose: Gaussian learning: variable 'loose' is computed by no function"},
      {fit + "sizes.json",
       "'sizes.json': /choices/sizes/units: 0 is found; a whole number from 1 to 100000 is expected"},
      {"fit data.csv --target z --graph graph.json",
       "'graph.json': no variable 'z' in this graph; known: a, b, c, t, y"},
      {"fit data.csv --target f --graph graph.json",
       "'graph.json': /variables/f: target 'f' is not an observed variable of the graph"},
      {"fit short.csv --target y --graph graph.json", "'short.csv' has no column 't', which the graph observes"},
      {fit + "graph.json --hidden 5", "--hidden: a graph of your own has no such setting; leave it out"},
      {fit + "graph.json --preset paper", "--preset: "},
      {fit + "none.json", "none.json"},
      {fit + "graph.json --checkpoint c.json", "--checkpoint: only networks for numbers leave checkpoints"},
      {fit + "graph.json --features t", "--features: the graph says which columns it observes"},
      {fit + "graph.json --report graph.json", "--report 'graph.json' is the file that is read as"},
      {fit + "mean.json --report page.html", "--report: the graph has no inputs, and all rows are alike"}};
  for (const auto& [arguments, expected] : said) check_refused(folder, arguments, expected);
}

TEST_CASE("dma fit --graph: classes by softmax are saved, predicted and inspected") {
  const TemporaryFolder folder;
  std::string csv = "x,c\n";
  for (int i = 0; i < 40; ++i)
    csv += fmt::format("{},{}\n", std::sin(i), std::sin(i) + std::sin(7 * i) > 0 ? "blue" : "red");
  folder.write("data.csv", csv), folder.write("graph.json", graph_file("scores.json"));
  folder.write("new.csv", "x\n0\n0.7\n");
  const std::string fit = "fit data.csv --graph graph.json --target c ";
  const auto json = json_of_dma(folder, fit + "--holdout 0 --json --model model.json --report r.html");
  CHECK(number(json["learned"]["w[1]"]["mean"]) == relative(-number(json["learned"]["w[0]"]["mean"]), 1e-6));
  CHECK(json["left_out"]["c"]["accuracy"] > 0.6);
  CHECK(holds(folder.read("r.html"), "softmax"));
  const auto p = json_of_dma(folder, "predict model.json new.csv --json")["predictions"]["c"];
  CHECK(p["class"][1] == "blue");
  CHECK(number(p["probabilities"]["red"][0]) == relative(0.5, 1e-9));
  CHECK(run_dma(folder, "predict model.json new.csv").output.starts_with("c_class,c_p_red,c_p_blue\nre"));
  check_holds(run_dma(folder, "inspect model.json").output,
              {"target    c, softmax: red (", "left out  c, each row predicted by the others: accuracy "});
  check_refused(folder, "fit data.csv --update model.json --model other.json",
                "predicts classes, and rows are added to models of numbers alone");
  folder.write("data.csv", csv + "0,green\n1,green\n");
  check_refused(folder, fit, "target 'c' has no class 'green'");
}

TEST_CASE("dma fit --graph --preset table: a network of one's own is learned as those of dma fit are, size chosen") {
  const TemporaryFolder folder;
  std::string csv = "x,y\n", fresh = "x\n";
  for (int i = 0; i < 150; ++i) {
    const double x = 3 * std::sin(12.9898 * i * i);
    csv += fmt::format("{},{}\n", 1000 + 100 * x, 5 * std::sin(x) + 20 + 0.3 * std::sin(37.7 * i * i));
  }
  for (int i = 0; i < 40; ++i) fresh += fmt::format("{}\n", 700 + 15 * i);
  folder.write("data.csv", csv), folder.write("fresh.csv", fresh);
  folder.write("graph.json", dma::oracle::network_file(1, "2, 8", "0.5, 0.2"));
  const std::string fit = "fit data.csv --target y --graph graph.json ";
  const auto fitted = require_dma(folder, fit + "--preset table --epochs 40 --json --model model.json");
  const auto json = dma::parse_json(fitted.output);
  CHECK(json["features"] == Json({"x"}));
  CHECK(number(json["left_out"]["y"]["rmse"]) < 1);
  CHECK(json["learned"].contains("W1[7]"));
  CHECK(!json["learned"].contains("W1[8]"));
  CHECK(fitted.errors == "");
  const auto mean = json_of_dma(folder, "predict model.json fresh.csv --json")["predictions"]["y"]["mean"];
  double squares = 0;
  for (std::size_t i = 0; i < 40; ++i)
    squares += std::pow(number(mean[i]) - (5 * std::sin(-3 + 0.15 * static_cast<double>(i)) + 20), 2);
  CHECK(std::sqrt(squares / 40) < 1);
  CHECK(holds(run_dma(folder, "inspect model.json").output, "units = 8"));
  // Without the preset nothing is standardised or chosen: the graph as it stands, of two units, cannot do that.
  const auto alone = json_of_dma(folder, fit + "--json");
  CHECK(!alone["learned"].contains("W1[2]"));
  CHECK(number(alone["left_out"]["y"]["rmse"]) > 1);
}
