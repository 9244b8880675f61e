// dma fit --graph, predict and inspect: a graph of one's own from the command line.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/support/json.h"
#include "tests/oracles/plain_matrix.h"
#include "tests/oracles/relative.h"
#include "tests/tools/run_dma.h"

namespace {

using dma::oracle::PlainMatrix;
using namespace dma::testing;

// y = a exp(-b t) + c, `factors` behind what computes f.
std::string decay(const std::string& factors, const std::string& prior_of_c = R"({"kind": "gaussian_prior",
      "connects": ["c"], "parameters": {"mean": 1, "variance": 4}},)") {
  return R"({"variables": {"a": {"shared": true}, "b": {"shared": true}, "c": {"shared": true},
    "t": {"observed": null}, "y": {"observed": null}, "unit": {"observed": -1},)" +
         std::string(!holds(factors, "\"n\"") ? "" : R"("n": {"observed": null},)") + R"(
    "bt": {}, "minus": {}, "fall": {}, "scaled": {}, "f": {}},
  "factors": [
    {"kind": "gaussian_prior", "connects": ["a"], "parameters": {"mean": 1, "variance": 4}},
    {"kind": "gaussian_prior", "connects": ["b"], "parameters": {"mean": 1, "variance": 4}},)" +
         prior_of_c + R"({"kind": "product", "connects": ["b", "t", "bt"]},
    {"kind": "product", "connects": ["bt", "unit", "minus"]},
    {"kind": "exponential", "connects": ["minus", "fall"]},
    {"kind": "product", "connects": ["a", "fall", "scaled"]},
    {"kind": "add", "connects": ["scaled", "c", "f"]})" +
         factors + "]}";
}
const std::string kNoise = R"(, {"kind": "gaussian_noise", "connects": ["f", "y"], "parameters": {"variance": 0.01}})";

// An effect for each of three groups, chosen by the column "group", and a slope.
const std::string kGroups = R"({"variables": {"effect": {"shared": true, "size": 3}, "w": {"shared": true},
    "x": {"observed": null}, "y": {"observed": null}, "wx": {}, "z": {}}, "factors": [
    {"kind": "gaussian_prior", "connects": ["effect"], "parameters": {"mean": 0, "variance": 9}},
    {"kind": "gaussian_prior", "connects": ["w"], "parameters": {"mean": 0, "variance": 9}},
    {"kind": "product", "connects": ["w", "x", "wx"]},
    {"kind": "add", "name": "group", "connects": ["wx", {"variable": "effect", "reach": "given"}, "z"]},
    {"kind": "gaussian_noise", "connects": ["z", "y"], "parameters": {"variance": 0.01}}]})";

// 40 readings, with counts whose logarithm is the same curve.
std::string readings() {
  std::string csv = "t,y,n,other\n";
  for (int i = 0; i < 40; ++i) {
    const double t = 0.125 * i, f = 2.5 * std::exp(-0.8 * t) + 0.5;
    csv += fmt::format("{},{},{},{}\n", t, f + 0.1 * std::sin(17.0 * i * i), std::round(std::exp(f)), i % 3);
  }
  return csv;
}

// Gauss-Newton steps on the readings, noise variance 0.01.
PlainMatrix steps() {
  PlainMatrix m = PlainMatrix::column({1, 1, 1});
  for (int step = 0; step < 200; ++step) {
    PlainMatrix precision = 0.25 * PlainMatrix::identity(3), slope = -0.25 * (m - PlainMatrix::column({1, 1, 1}));
    for (int i = 0; i < 40; ++i) {
      const double t = 0.125 * i, fall = std::exp(-m[1] * t);
      const PlainMatrix gain = PlainMatrix::column({fall, -m[0] * t * fall, 1});
      precision += 100 * gain * gain.transpose();
      slope += 100 * (2.5 * std::exp(-0.8 * t) + 0.5 + 0.1 * std::sin(17.0 * i * i) - m[0] * fall - m[2]) * gain;
    }
    m += precision.solve(slope);
  }
  return m;
}

}  // namespace

TEST_CASE("dma fit --graph: a formula is what Gauss-Newton finds; saved, predicted, inspected") {
  const TemporaryFolder folder;
  folder.write("data.csv", readings());
  folder.write("graph.json", decay(kNoise));
  const auto json = json_of_dma(folder,
                                "fit data.csv --graph graph.json --target y --noise-model given --least-gain 0 --json "
                                "--model model.json");
  const PlainMatrix m = steps();
  CHECK(json["learned"]["a"]["mean"].get<double>() == dma::oracle::relative(m[0], 1e-7));
  CHECK(json["learned"]["b"]["mean"].get<double>() == dma::oracle::relative(m[1], 1e-7));
  CHECK(json["learned"]["c"]["mean"].get<double>() == dma::oracle::relative(m[2], 1e-7));
  CHECK(json["features"] == dma::Json({"t"}));
  folder.write("new.csv", "t\n0.5\n6\n");
  const auto predicted = json_of_dma(folder, "predict model.json new.csv --json");
  CHECK(predicted["predictions"]["y"]["mean"][1].get<double>() ==
        dma::oracle::relative(m[0] * std::exp(-6 * m[1]) + m[2], 1e-7));
  CHECK(predicted["predictions"]["y"]["q2.5"][1] < predicted["predictions"]["y"]["mean"][1]);
  const auto inspected = run_dma(folder, "inspect model.json");
  check_holds(inspected.output, {"target    y, gaussian noise, sd 0.1 (given)\n", "learned   a = "});
  // Noise learned, rows kept aside, and a note on a column that the graph does not know.
  const auto other = require_dma(folder, "fit data.csv --graph graph.json --target y --holdout 0.2");
  check_holds(other.output, {"(learned)", "held out  y, 8 rows: RMSE "});
  CHECK(holds(other.errors, "the graph observes no variable of the names 'n', 'other': ignored"));
}

TEST_CASE("dma fit --graph: a count and a number, each with its likelihood, on one formula") {
  const TemporaryFolder folder;
  folder.write("data.csv", readings());
  folder.write("graph.json", decay(kNoise + R"(, {"kind": "poisson", "connects": ["f", "n"]})"));
  const auto fitted = require_dma(folder, "fit data.csv --graph graph.json --target y --target n --model model.json");
  CHECK(holds(fitted.output, "target    n, poisson\n"));
  folder.write("new.csv", "t\n0\n");
  const auto predicted = json_of_dma(folder, "predict model.json new.csv --json");
  CHECK(predicted["predictions"]["y"]["mean"][0].get<double>() == dma::oracle::relative(3, 0.05));
  CHECK(predicted["predictions"]["n"]["mean"][0].get<double>() == dma::oracle::relative(std::exp(3.0), 0.15));
  const double high = predicted["predictions"]["n"]["q97.5"][0].get<double>();
  CHECK(high == std::floor(high));
}

TEST_CASE("dma fit --graph: a random intercept, its groups chosen by a column") {
  const TemporaryFolder folder;
  folder.write("graph.json", kGroups);
  std::string csv = "group,x,y\n";
  for (int i = 0; i < 30; ++i)
    csv += fmt::format("{},{},{}\n", i % 3, 0.1 * i, 2 * 0.1 * i + (i % 3) + 0.05 * std::sin(i * i));
  folder.write("data.csv", csv);
  const auto json = json_of_dma(folder, "fit data.csv --graph graph.json --target y --json --model model.json");
  CHECK(json["features"] == dma::Json({"x", "group"}));
  CHECK(json["learned"]["effect[2]"]["mean"].get<double>() == dma::oracle::relative(2, 0.05));
  folder.write("new.csv", "x,group\n1,3\n");
  check_refused(folder, "predict model.json new.csv",
                "column 'group' is 3 in row 1; it chooses an element: a whole number from 0 to 2 is expected");
}

// Rows of a linear model with known noise: what is learned in two parts is the posterior of all.
TEST_CASE("dma fit --update: rows added to a learned graph give what learning all at once gives") {
  const TemporaryFolder folder;
  folder.write("graph.json", kGroups);
  const auto rows = [](int first, int last) {
    std::string csv = "group,x,y\n";
    for (int i = first; i < last; ++i)
      csv += fmt::format("{},{},{}\n", i % 3, 0.1 * i, 2 * 0.1 * i + (i % 3) + 0.05 * std::sin(i * i));
    return csv;
  };
  folder.write("first.csv", rows(0, 20)), folder.write("more.csv", rows(20, 50)), folder.write("all.csv", rows(0, 50));
  const std::string fit = " --graph graph.json --target y --noise-model given --quiet --model ";
  require_dma(folder, "fit first.csv" + fit + "model.json");
  require_dma(folder, "fit all.csv" + fit + "all.json");
  const auto said = json_of_dma(folder, "fit --update model.json more.csv --model updated.json --json");
  CHECK(said["rows"] == 50);
  CHECK(said["settled"] == true);
  CHECK(said["before"]["y"]["rmse"].get<double>() < 0.1);
  const auto learned = [&](const std::string& model) {
    return json_of_dma(folder, "inspect --json " + model)["learned"];
  };
  const auto updated = learned("updated.json"), all = learned("all.json");
  for (const auto& [name, belief] : all.items()) {
    CHECK(updated[name]["mean"].get<double>() == dma::oracle::relative(belief["mean"].get<double>(), 1e-9));
    CHECK(updated[name]["sd"].get<double>() == dma::oracle::relative(belief["sd"].get<double>(), 1e-9));
  }
  CHECK(run_dma(folder, "inspect updated.json").output.find("training  50 rows, the last 30 on top of 20 before\n") !=
        std::string::npos);
  folder.write("wrong.csv", "group,x,y\n7,1,2\n");
  check_refused(folder, "fit --update model.json wrong.csv", "column 'group' is 7 in row 1");
  check_refused(folder, "fit --update model.json more.csv --report page.html",
                "--report: an update has no such option");
}

TEST_CASE("dma fit --graph: what is wrong is said with its place and the way out") {
  const TemporaryFolder folder;
  folder.write("data.csv", readings());
  folder.write("graph.json", decay(kNoise));
  folder.write("bare.json", decay(R"(, {"kind": "gaussian_prior", "connects": ["y"], "parameters": {"mean": 0,
    "variance": 1}})"));
  folder.write("prior.json", decay(kNoise, ""));
  folder.write("hanging.json", decay(R"(, {"kind": "gaussian_noise", "connects": ["f", "y"], "parameters":
    {"variance": 1}}, {"kind": "add", "connects": ["f", "bt", "wrong"]})"));
  std::string free = decay(kNoise);
  free.replace(free.find(R"("bt": {})"), 8, R"("bt": {}, "loose": {})");
  free.replace(free.find(R"(["bt", "unit", "minus"])"), 23, R"(["loose", "unit", "minus"])");
  folder.write("loose.json", free);
  folder.write("short.csv", "time,y\n1,2\n2,3\n");
  const std::string fit = "fit data.csv --target y --graph ";
  check_refused(folder, fit + "bare.json",
                "'bare.json': /variables/y: Gaussian learning: target 'y' has no likelihood; put gaussian_noise");
  check_refused(folder, fit + "prior.json",
                "'prior.json': /variables/c: Gaussian learning: shared variable 'c' has no Gaussian prior");
  check_refused(folder, fit + "hanging.json", "'hanging.json': /factors/");
  check_refused(folder, fit + "loose.json",
                "'loose.json': /variables/loose: Gaussian learning: variable 'loose' is computed by no function");
  check_refused(folder, "fit data.csv --target z --graph graph.json",
                "'graph.json': no variable 'z' in this graph; known: a, b, c, t, y");
  check_refused(folder, "fit data.csv --target f --graph graph.json",
                "'graph.json': /variables/f: target 'f' is not an observed variable of the graph");
  check_refused(folder, "fit short.csv --target y --graph graph.json",
                "'short.csv' has no column 't', which the graph observes");
  check_refused(folder, fit + "graph.json --hidden 5",
                "--hidden: a graph of your own has no such setting; leave it out");
  check_refused(folder, fit + "none.json", "none.json");
  for (const char* option : {"--checkpoint", "--resume"})
    check_refused(folder, fit + "graph.json " + option + " c.json",
                  std::string(option) + ": a graph of your own has no such option");
  check_refused(folder, fit + "graph.json --report graph.json", "--report 'graph.json' is the file that is read as");
  folder.write("mean.json", R"({"variables": {"m": {"shared": true}, "y": {"observed": null}}, "factors": [
    {"kind": "gaussian_prior", "connects": ["m"], "parameters": {"mean": 0, "variance": 9}},
    {"kind": "gaussian_noise", "connects": ["m", "y"], "parameters": {"variance": 1}}]})");
  check_refused(folder, fit + "mean.json --report page.html",
                "--report: the graph has no inputs, and all rows are alike");
}

TEST_CASE("dma fit --graph: classes by softmax are those of Newton's steps; saved, predicted, inspected") {
  const TemporaryFolder folder;
  const std::string graph = R"({"variables": {"w": {"shared": true, "size": 2}, "x": {"observed": null},
    "c": {"observed": null, "categories": ["red", "blue"]}, "scores": {"size": 2}}, "factors": [
    {"kind": "gaussian_prior", "connects": ["w"], "parameters": {"mean": 0, "variance": 2}},
    {"kind": "product", "connects": ["w", {"variable": "x", "reach": "all_to_one"}, "scores"]},
    {"kind": "softmax", "connects": ["scores", "c"]}]})";
  std::string csv = "x,c\n";
  double w = 0, curvature = 0;  // of w[1] = -w[0], which the rows alone tell apart: sigmoid(2 w x)
  for (int i = 0; i < 40; ++i)
    csv += fmt::format("{},{}\n", std::sin(i), std::sin(i) + std::sin(7 * i) > 0 ? "blue" : "red");
  for (int step = 0; step < 50; ++step) {
    double slope = -w;  // two of variance 2
    curvature = 1;
    for (int i = 0; i < 40; ++i) {
      const double x = 2 * std::sin(i), p = 1 / (1 + std::exp(-w * x));
      slope += x * ((std::sin(i) + std::sin(7 * i) > 0 ? 1 : 0) - p), curvature += x * x * p * (1 - p);
    }
    w += slope / curvature;
  }
  folder.write("data.csv", csv), folder.write("graph.json", graph), folder.write("new.csv", "x\n0\n0.7\n");
  const auto fitted =
      run_dma(folder, "fit data.csv --graph graph.json --target c --holdout 0 --json --model model.json");
  REQUIRE_MESSAGE(fitted.exit_code == 0, fitted.errors);
  const auto json = dma::parse_json(fitted.output);
  CHECK(json["learned"]["w[1]"]["mean"].get<double>() == dma::oracle::relative(w, 1e-3));
  // Of the sum w[0] + w[1] nothing is learned: half of it has variance 1.
  CHECK(json["learned"]["w[1]"]["sd"].get<double>() == dma::oracle::relative(std::sqrt(1 + 1 / curvature), 0.02));
  CHECK(json["left_out"]["c"]["accuracy"] > 0.6);
  const auto p = json_of_dma(folder, "predict model.json new.csv --json")["predictions"]["c"];
  CHECK(p["class"][1] == "blue");
  CHECK(p["probabilities"]["red"][0].get<double>() == dma::oracle::relative(0.5, 1e-9));
  CHECK(run_dma(folder, "predict model.json new.csv").output.substr(0, 27) == "c_class,c_p_red,c_p_blue\nre");
  const auto inspected = run_dma(folder, "inspect model.json");
  check_holds(inspected.output,
              {"target    c, softmax: red (", "left out  c, each row predicted by the others: accuracy "});
  check_refused(folder, "fit data.csv --update model.json --model other.json",
                "predicts classes, and rows are added to models of numbers alone");
  require_dma(folder, "fit data.csv --graph graph.json --target c --report r.html");
  CHECK(holds(folder.read("r.html"), "softmax"));
  folder.write("data.csv", csv + "0,green\n1,green\n");
  check_refused(folder, "fit data.csv --graph graph.json --target c", "target 'c' has no class 'green'");
}

TEST_CASE("dma fit --graph --preset table: a network of one's own is learned as those of dma fit are, size chosen") {
  const TemporaryFolder folder;
  const std::string graph = R"json({"variables": {"x": {"observed": null}, "y": {"observed": null},
    "w": {"shared": true, "size": "n"}, "v": {"shared": true, "size": "n"}, "b": {"shared": true, "size": "n"},
    "c": {"shared": true}, "near": {}, "wx": {"size": "n"}, "p": {"size": "n"}, "h": {"size": "n"},
    "vh": {"size": "n"}, "s": {}, "f": {}}, "factors": [
    {"kind": "gaussian_prior", "connects": ["w"], "parameters": {"mean": 0, "variance": 0.5}},
    {"kind": "gaussian_prior", "connects": ["b"], "parameters": {"mean": 0, "variance": 0.5}},
    {"kind": "gaussian_prior", "connects": ["v"], "parameters": {"mean": 0, "variance": "1 / (n + 1)"}},
    {"kind": "gaussian_prior", "connects": ["c"], "parameters": {"mean": 0, "variance": "1 / (n + 1)"}},
    {"kind": "gaussian_noise", "connects": ["x", "near"], "parameters": {"variance": "jitter * jitter"}},
    {"kind": "product", "connects": ["w", {"variable": "near", "reach": "all_to_one"}, "wx"]},
    {"kind": "add", "connects": ["wx", "b", "p"]},
    {"kind": "leaky_relu", "connects": ["p", "h"], "parameters": {"slope": 0.1}},
    {"kind": "product", "connects": ["v", "h", "vh"]}, {"kind": "sum", "connects": ["vh", "s"]},
    {"kind": "add", "connects": ["s", "c", "f"]},
    {"kind": "gaussian_noise", "connects": ["f", "y"], "parameters": {"variance": 0.1}}],
    "choices": {"sizes": {"n": [2, 8]}, "smoothing": {"jitter": [0.5, 0.2]}}})json";
  std::string csv = "x,y\n", fresh = "x\n";
  for (int i = 0; i < 150; ++i) {
    const double x = 3 * std::sin(12.9898 * i * i);
    csv += fmt::format("{},{}\n", 1000 + 100 * x, 5 * std::sin(x) + 20 + 0.3 * std::sin(37.7 * i * i));
  }
  for (int i = 0; i < 40; ++i) fresh += fmt::format("{}\n", 700 + 15 * i);
  folder.write("data.csv", csv), folder.write("graph.json", graph), folder.write("fresh.csv", fresh);
  const std::string fit = "fit data.csv --target y --graph graph.json --preset table --epochs 40 ";
  const auto fitted = require_dma(folder, fit + "--json --model model.json");
  const auto json = dma::parse_json(fitted.output);
  CHECK(json["features"] == dma::Json({"x"}));
  CHECK(json["left_out"]["y"]["rmse"].get<double>() < 1);
  CHECK(json["learned"].contains("w[7]"));
  CHECK(!json["learned"].contains("w[8]"));
  CHECK(fitted.errors == "");
  require_dma(folder, fit + "--quiet --model again.json");
  CHECK(folder.read("again.json") == folder.read("model.json"));
  const auto predicted = json_of_dma(folder, "predict model.json fresh.csv --json");
  double squares = 0;
  for (int i = 0; i < 40; ++i) {
    const double off = predicted["predictions"]["y"]["mean"][static_cast<std::size_t>(i)].get<double>() -
                       (5 * std::sin(-3 + 0.15 * i) + 20);
    squares += off * off;
  }
  CHECK(std::sqrt(squares / 40) < 1);
  const std::string shown = run_dma(folder, "inspect model.json").output;
  CHECK_MESSAGE(holds(shown, "n = 8"), shown);
  // Without the preset nothing is standardised or chosen: the graph as it stands, of two units, cannot do that.
  const auto alone = json_of_dma(folder, "fit data.csv --target y --graph graph.json --json");
  CHECK(!alone["learned"].contains("w[2]"));
  CHECK(alone["left_out"]["y"]["rmse"].get<double>() > 1);
  check_refused(folder, "fit data.csv --target y --graph graph.json --preset paper", "--preset: ");
  std::string wrong = graph;
  wrong.replace(wrong.find("[2, 8]"), 6, "[2, 0]");
  folder.write("wrong.json", wrong);
  check_refused(folder, "fit data.csv --target y --graph wrong.json",
                "'wrong.json': /choices/sizes/n: 0 is found; a whole number from 1 to 100000 is expected");
}
