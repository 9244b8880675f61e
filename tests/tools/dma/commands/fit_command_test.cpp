// dma fit, predict and inspect: the real program, from a table to predictions.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "engine/support/json.h"
#include "factors/standard_registry.h"
#include "models/predict/table_model.h"
#include "tests/oracles/model_files.h"
#include "tests/tools/run_dma.h"
#include "tools/dma/io/csv.h"

namespace {

using namespace dma::testing;

// 60 rows of two inputs and two targets, in an order of columns that is not the model's.
std::string two_targets() {
  std::string csv = "name,b,a,target two,\"target, one\"\n";
  for (int i = 0; i < 60; ++i) {
    const double a = 0.1 * i - 3, b = (i * 7) % 11 - 5.0;
    csv += fmt::format("row{},{},{},{},{}\n", i, b, a, 10 + 3 * b - a, 0.5 * a * a + 0.01 * ((i * 13) % 7));
  }
  return csv;
}

const std::string kTwoTargets = "fit data.csv --target 'target, one' --target 'target two' --features a,b ";

Eigen::MatrixXd read_table(const TemporaryFolder& folder, const std::string& file, std::vector<std::string>& names) {
  dma::CsvReader reader(folder.path() / file);
  names = reader.names();
  std::vector<std::size_t> columns(names.size());
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  return reader.read(columns);
}

}  // namespace

TEST_CASE("dma fit: predictions of the program are those of the library, columns matched by name") {
  const TemporaryFolder folder;
  folder.write("data.csv", two_targets());
  require_dma(folder, kTwoTargets + "--hidden 8 --members 2 --epochs 20 --model model.json");
  folder.write("new.csv", "b;c;a\n2;text;1\n-3;;0.5\n");
  require_dma(folder, "predict model.json new.csv --out predictions.csv");
  std::vector<std::string> names;
  const Eigen::MatrixXd predictions = read_table(folder, "predictions.csv", names);
  CHECK(names == std::vector<std::string>{"target, one_mean", "target, one_sd", "target, one_epistemic_sd",
                                          "target, one_q2.5", "target, one_q97.5", "target two_mean", "target two_sd",
                                          "target two_epistemic_sd", "target two_q2.5", "target two_q97.5"});
  const dma::TableModel net =
      dma::TableModel::from_text(folder.read("model.json"), "model.json", dma::standard_registry());
  const auto expected = net.predict(Eigen::MatrixXd{{1, 2}, {0.5, -3}});
  for (Eigen::Index j = 0; j < 2; ++j) {
    CHECK(predictions.col(5 * j) == expected.mean.col(j));
    CHECK(predictions.col(5 * j + 1) == expected.sd.col(j));
    CHECK(predictions.col(5 * j + 2) == expected.epistemic_sd.col(j));
    CHECK(predictions.col(5 * j + 3) == expected.quantile(0.025).col(j));
    CHECK(predictions.col(5 * j + 4) == expected.quantile(0.975).col(j));
  }
  const auto json = json_of_dma(folder, "predict model.json new.csv --json");
  CHECK(json["rows"] == 2);
  CHECK(json["predictions"]["target two"]["mean"][1] == expected.mean(1, 1));
  CHECK(run_dma(folder, "predict model.json new.csv").output == folder.read("predictions.csv"));
}

TEST_CASE("dma fit: a report for programs, one for people that --quiet silences, pictures, and what inspect shows") {
  const TemporaryFolder folder;
  folder.write("data.csv", two_targets());
  const std::string fit = kTwoTargets + "--hidden 5 --epochs 3 --tolerance 0 --noise 0.5,2 --model model.json ";
  const auto json = json_of_dma(folder, fit + "--holdout 0.25 --json");
  CHECK(json["held_out"]["rows"] == 15);
  CHECK(json["training"]["rows"] == 45);
  CHECK(json["held_out"]["target two"]["rmse"].is_number());
  CHECK(json["held_out"]["target two"]["coverage_90"].is_number());
  CHECK(json["files"] == dma::Json::array({"model.json"}));
  const auto people = run_dma(folder, fit + "--holdout 0.25");
  check_holds(people.output, {"held out  target two, 15 rows: RMSE", "wrote     model.json"});
  CHECK(people.errors == "");  // no progress bar where nobody watches
  const auto quiet = run_dma(folder, fit + "--quiet --plot fit.svg --plot-training curve.svg", "PATH=/nowhere");
  CHECK(quiet.output + quiet.errors == "");
  CHECK(run_dma(folder, "inspect model.json --plot hinton.svg").errors == "");
  CHECK(folder.files() == std::vector<std::string>{"curve.svg", "data.csv", "fit.svg", "hinton.svg", "model.json"});
  CHECK(holds(folder.read("fit.svg"), "predicted = observed"));
  CHECK(holds(folder.read("hinton.svg"), "</svg>"));
  const auto record = json_of_dma(folder, "inspect model.json --json");
  CHECK(record["layers"].size() == 2);
  CHECK(record["layers"][0]["weights"] == 15);
  CHECK(record["training"]["epochs"] == dma::Json::array({3}));
  CHECK(record["noise"]["target two"].get<double>() == doctest::Approx(2));
  check_holds(run_dma(folder, "inspect model.json").output,
              {"network   2-5-2 with biases, 27 weights", "stopped by the limit"});
  require_dma(folder, kTwoTargets + "--hidden 5 --epochs 2 --members 3 --quiet --model model.json");
  run_dma(folder, "inspect model.json --plot weights.svg");
  CHECK(holds(folder.read("weights.svg"), ">Weights of network 1 of 3: area is"));
}

TEST_CASE("dma fit: rows that the others do not predict are told, set aside, and no part of what is saved") {
  const TemporaryFolder folder;
  std::string wrong = "x,y\n", right = wrong;
  for (int i = 0; i < 100; ++i) {
    const double x = 0.06 * i - 3, y = 20 + 3 * x + 0.3 * std::sin(37.7 * i * i);
    wrong += fmt::format("{},{}\n", x, i % 40 == 7 ? 50 * y : y);
    if (i % 40 != 7) right += fmt::format("{},{}\n", x, y);
  }
  folder.write("wrong.csv", wrong);
  folder.write("right.csv", right);
  const std::string fit = " --target y --hidden 4 --members 1 --epochs 10 ";
  const auto outcome = run_dma(folder, "fit wrong.csv" + fit + "--model wrong.json --report page.html --json");
  const auto json = dma::parse_json(outcome.output);
  CHECK(json["training"]["rows"] == 97);
  CHECK(json["training"]["far_rows"] == 3);
  CHECK(json["training"]["far"] == dma::Json::array({7, 47, 87}));
  CHECK(outcome.errors == "");  // no doubts about the fit
  CHECK(holds(folder.read("page.html"), "beyond 10 sd of what the others predict"));
  const std::string told = run_dma(folder, "inspect wrong.json").output;
  CHECK(holds(told, "far       3 more rows lie beyond 10 sd of what the others predict"));
  require_dma(folder, "fit right.csv" + fit + "--model right.json --quiet");
  const auto same = [&] {
    return run_dma(folder, "predict wrong.json right.csv").output ==
           run_dma(folder, "predict right.json right.csv").output;
  };
  CHECK(same());
  for (const char* model : {"wrong.json", "right.json"})
    require_dma(folder, fmt::format("fit --update {} right.csv --quiet", model));
  CHECK(same());
}

TEST_CASE("dma factors: the table and its JSON list the same kinds") {
  const TemporaryFolder folder;
  const auto table = run_dma(folder, "factors");
  const auto json = json_of_dma(folder, "factors --json");
  CHECK(json.size() > 5);
  std::size_t for_joint = 0;                      // kinds without messages
  CHECK(!holds(table.output, "earned quality"));  // seconds of computing, for those who ask: --bands
  for (const auto& kind : json) {
    CHECK(holds(table.output, kind["kind"].get<std::string>()));
    CHECK(!kind["ports"].empty());
    for_joint += kind["methods"].empty() ? 1 : 0;
  }
  CHECK(for_joint > 0);
  CHECK(for_joint == count_of("joint() alone", table.output));
}

TEST_CASE("dma generate regression: deterministic rows of the paper's task") {
  const TemporaryFolder folder;
  require_dma(folder, "generate regression --seed 3 --out data.csv --grid grid.csv");
  CHECK(run_dma(folder, "generate regression --seed 3").output == folder.read("data.csv"));
  CHECK(run_dma(folder, "generate regression --seed 4").output != folder.read("data.csv"));
  std::vector<std::string> names;
  const Eigen::MatrixXd data = read_table(folder, "data.csv", names), grid = read_table(folder, "grid.csv", names);
  CHECK(data.rows() == 200);
  CHECK(data.col(0).minCoeff() >= -2.5);
  CHECK(data.col(0).maxCoeff() <= 1.5);
  CHECK(grid.rows() == 401);
  CHECK(grid(0, 0) == -5);
  CHECK(grid(400, 0) == 5);
}

TEST_CASE("dma fit: the model of the noise is an option, kept in the file, and refused where it means nothing") {
  const TemporaryFolder folder;
  std::string csv = "x,y\n";
  for (int i = 0; i < 60; ++i) csv += fmt::format("{},{}\n", 0.1 * i, 0.1 * i + 0.02 * i * std::sin(37.0 * i * i));
  folder.write("data.csv", csv);
  const std::string fit = "fit data.csv --target y --hidden 4 --members 1 ";
  for (const char* name : {"constant", "inputs"}) {
    require_dma(folder, fit + fmt::format("--noise-model {0} --model {0}.json", name));
    CHECK(holds(run_dma(folder, fmt::format("inspect {}.json", name)).output, fmt::format("(learned, {})", name)));
    CHECK(dma::oracle::json_in_model(folder.read(fmt::format("{}.json", name)))["options"]["noise_model"] == name);
  }
  check_refused(folder, fit + "--noise-model input", "--noise-model: there is no 'input'; did you mean 'inputs'?");
  check_refused(folder, fit + "--noise-model inputs --noise 0.1", "leave one of them away");
  check_refused(folder, fit + "--noise-model inputs --method hybrid",
                "--noise-model: inputs is known to joint learning only");
}

namespace {

// Fits data.csv of this folder to with.json; `says` is told, and `word` is not if the option is given.
void check_found(const TemporaryFolder& folder, const std::string& fit, const std::string& option, const char* says,
                 const char* word) {
  const auto without = require_dma(folder, fit + " --hidden 3 --members 1 " + option),
             with = require_dma(folder, fit + " --hidden 3 --members 1 --model with.json");
  CHECK_MESSAGE(holds(with.output, says), with.output);
  CHECK(!holds(without.output, word));
}

}  // namespace

TEST_CASE("dma fit: neighbours that take part are named, kept in the file and used by predict; without them none are") {
  const TemporaryFolder folder;
  std::string csv = "x,y\n";
  for (int i = 0; i < 200; ++i)
    csv += fmt::format("{},{}\n", 0.1 * i, std::sin(0.8 * i) + 0.02 * std::sin(37.0 * i * i));
  folder.write("data.csv", csv);
  check_found(folder, "fit data.csv --target y", "--no-neighbours", "nearest   neighbours 100 %, the models above 0 %",
              "neighbours");
  const auto shown = json_of_dma(folder, "inspect with.json --json");
  CHECK(shown["shares"]["neighbours"][0] > 0.99);
  CHECK(shown["lengthscales"]["y"].size() == 1);
  require_dma(folder, "predict with.json data.csv --out p.csv");
  std::vector<std::string> names;
  const Eigen::MatrixXd predicted = read_table(folder, "p.csv", names), table = read_table(folder, "data.csv", names);
  CHECK((predicted.col(0) - table.col(1)).cwiseAbs().maxCoeff() < 0.2);
}

TEST_CASE("dma fit: inputs on a logarithmic scale are named, and --no-log-inputs leaves them as they are") {
  const TemporaryFolder folder;
  std::string csv = "income,age,y\n";
  for (int i = 0; i < 80; ++i)
    csv += fmt::format("{},{},{}\n", std::exp(0.1 * (i * 37 % 80)), i, 0.1 * (i * 37 % 80) + 0.02 * std::sin(1.0 * i));
  folder.write("data.csv", csv);
  check_found(folder, "fit data.csv --target y --no-neighbours", "--no-log-inputs",
              "scale     logarithmic for income\n", "logarithmic");
  CHECK(json_of_dma(folder, "inspect with.json --json")["log_inputs"][0] == "income");
  folder.write("new.csv", "income,age\n,40\n");  // filled by the middle of the logarithms
  require_dma(folder, "predict with.json new.csv --out p.csv");
  std::vector<std::string> names;
  CHECK(std::abs(read_table(folder, "p.csv", names)(0, 0) - 3.95) < 0.1);
}

TEST_CASE("dma fit: a price with relative noise is learned by its logarithm; --no-log-target leaves it as it is") {
  const TemporaryFolder folder;
  std::string csv = "x,price\n";
  for (int i = 0; i < 120; ++i)
    csv += fmt::format("{},{:.3f}\n", 0.05 * (i * 37 % 120),
                       100 * std::exp(0.5 * (0.05 * (i * 37 % 120)) + 0.4 * std::sin(7.3 * i * i)));
  folder.write("data.csv", csv);
  check_found(folder, "fit data.csv --target price --no-neighbours --report page.html", "--no-log-target",
              "target    price, log-normal, noise sd 0.", "log-normal");
  CHECK(json_of_dma(folder, "inspect with.json --json")["log_targets"][0] == "price");
  require_dma(folder, "predict with.json data.csv --out p.csv");
  std::vector<std::string> names;
  CHECK(read_table(folder, "p.csv", names).minCoeff() > 0);  // quantiles too
  CHECK(holds(folder.read("page.html"), "noise of the logarithm"));
  folder.write("more.csv", "x,price\n1,-5\n");
  const auto refused = run_dma(folder, "fit more.csv --update with.json --model more.json");
  CHECK(refused.exit_code != 0);
  CHECK_MESSAGE(holds(refused.errors, "logarithms of numbers above 0"), refused.errors);
}

TEST_CASE("dma fit: a table of any cells is fitted, predicted, updated and inspected; by hand it is the same model") {
  const TemporaryFolder folder;
  const auto colour = [](int n) { return n % 5 == 1 ? "green" : n % 5 == 2 ? "blue" : "red"; };
  std::string mixed = "id,colour,open,x,y\n", by_hand = "colour=red,colour=blue,colour=green,open,x,y\n";
  for (int n = 0; n < 60; ++n) {
    const std::string c = colour(n);
    const double x = (n * 7) % 13, y = (c == "red" ? 3 : c == "blue" ? -2 : 0) + 0.2 * x + 0.01 * ((n * 11) % 7);
    mixed += fmt::format("k{},{},{},{},\"${:.2f}\"\n", n, c, n % 3 == 0 ? "yes" : "no", x, y);
    by_hand += fmt::format("{},{},{},{},{},{:.2f}\n", c == "red" ? 1 : 0, c == "blue" ? 1 : 0, c == "green" ? 1 : 0,
                           n % 3 == 0 ? 1 : 0, x, y);
  }
  folder.write("mixed.csv", mixed);
  folder.write("hand.csv", by_hand);
  const std::string options = " --target y --hidden 4 --members 1 --epochs 20 ";
  const auto fit = require_dma(folder, "fit mixed.csv" + options + "--columns --model mixed.json --report mixed.html");
  check_holds(fit.errors, {"columns left out: 'id' (text with 60 values in 60 rows)",
                           "columns made into numbers: 'colour' (text), 'open' (yes or no)"});
  CHECK(holds(fit.output, "column    colour: text with 3 values, a column for each: red, blue, green"));
  CHECK(holds(folder.read("mixed.html"), "made of it"));
  require_dma(folder, "fit hand.csv" + options + "--quiet --model hand.json");
  CHECK(run_dma(folder, "predict mixed.json mixed.csv").output == run_dma(folder, "predict hand.json hand.csv").output);
  auto with = dma::oracle::json_in_model(folder.read("mixed.json"));
  with["columns"] = dma::Json::array();
  CHECK(with == dma::oracle::json_in_model(folder.read("hand.json")));

  folder.write("new.csv", "x,colour,open\n1,purple,yes\n2,red,\n");
  const auto predicted = require_dma(folder, "predict mixed.json new.csv");
  check_holds(predicted.errors, {"'colour': a value that the fit did not have ('purple'); the other columns decide",
                                 "'open': a cell is missing"});
  folder.write("more.csv", "x,colour,open,y\n1,red,no,3.2\n2,blue,yes,\n3,blue,yes,-1.4\n");
  const auto updated = require_dma(folder, "fit --update mixed.json more.csv");
  CHECK(holds(updated.errors, "1 of 3 rows are left out"));
  CHECK(json_of_dma(folder, "inspect mixed.json --json")["columns"].size() == 4);
}

TEST_CASE("dma fit: a time that is too short leaves a usable model, and says how to go on; progress is told") {
  const TemporaryFolder folder;
  require_dma(folder, "generate regression --out data.csv");
  const auto hurried = require_dma(folder, "fit data.csv --target y --model model.json --time 0.001s --progress");
  check_holds(hurried.errors, {"the time was over before all was learned; go on with: ", "first epoch  0:01 so far\n"});
  CHECK(holds(hurried.output, "there is no time to try others"));
  require_dma(folder, "predict model.json data.csv");
  require_dma(folder, "fit data.csv --target y --hidden 3 --quiet --model a.json");
  require_dma(folder, "fit data.csv --target y --hidden 3 --quiet --model b.json --time 100h");
  CHECK(folder.read("a.json") == folder.read("b.json"));
  for (const char* wrong : {"0", "-3", "soon", "5days", "1e9", "nan", "3 s"})
    check_refused(folder, fmt::format("fit data.csv --target y --time '{}'", wrong),
                  fmt::format("--time: '{}' is given; a time above 0 such as 30s, 5min or 1.5h is expected", wrong));
}
