// Classes through the real program: fit, predict, inspect, and what they refuse.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/support/json.h"
#include "tests/oracles/random_matrices.h"
#include "tests/oracles/relative.h"
#include "tests/tools/run_dma.h"

namespace {

using namespace dma::testing;

// Three kinds of flower by the two numbers that tell them apart, and one that does not.
std::string flowers(int rows, bool chance = false) {
  const Eigen::MatrixXd x = dma::oracle::random_matrix(rows, 3, 1);
  std::string text = "length,width,idle,kind\n";
  const char* names[] = {"lily", "ox eye", "rose"};
  for (int n = 0; n < rows; ++n) {
    const double length = chance ? 0 : n % 3 == 0 ? -2 : 2, width = chance ? 0 : n % 3 == 1 ? 2 : -1;
    text += fmt::format("{},{},{},{}\n", 5 + length + 0.7 * x(n, 0), 3 + width + 0.7 * x(n, 1), x(n, 2), names[n % 3]);
  }
  return text;
}

const std::string kFitFlowers = "fit data.csv --target kind --hidden 6 --members 1 ";

}  // namespace

TEST_CASE("classifier command: a target of text is fitted, predicted and inspected") {
  const TemporaryFolder folder;
  folder.write("data.csv", flowers(120));
  const auto fit = require_dma(folder, kFitFlowers + "--holdout 0.2 --model model.json");
  check_holds(fit.output,
              {"target    kind: lily", "left out  ", "held out  kind, 24 rows: accuracy", "wrote     model.json",
               "kind: classifies 100.0 % of the 24 rows kept aside", "probabilities are off by"});

  const auto predicted = require_dma(folder, "predict model.json data.csv");
  CHECK(predicted.output.starts_with("kind_class,kind_p_lily,\"kind_p_ox eye\",kind_p_rose\n"));
  CHECK(std::ranges::count(predicted.output, '\n') == 121);
  const auto json = json_of_dma(folder, "predict model.json data.csv --json");
  const auto& own = json.at("predictions").at("kind");
  int hits = 0;
  for (std::size_t n = 0; n < 120; ++n) {
    double sum = 0, most = 0;
    std::string name;
    for (const auto& [of, values] : own.at("probabilities").items()) {
      sum += values[n].get<double>();
      if (values[n].get<double>() > most) most = values[n], name = of;
    }
    CHECK(sum == dma::oracle::relative(1, 1e-12));
    CHECK(own.at("class")[n] == name);
    hits += name == (n % 3 == 0 ? "lily" : n % 3 == 1 ? "ox eye" : "rose");
  }
  CHECK(hits > 110);

  const auto inspected = run_dma(folder, "inspect model.json");
  check_holds(inspected.output, {"clear sign", "kind: classifies "});
  const auto summary = json_of_dma(folder, "inspect model.json --json");
  CHECK(summary.at("classes").size() == 3);
  CHECK(summary.at("layers").size() >= 1);
  CHECK(summary.at("held_out").at("rows") == 24);
  require_dma(folder, "inspect model.json --plot weights.svg");
  CHECK(holds(folder.read("weights.svg"), "Weights: area is |posterior mean|"));
}

TEST_CASE("classifier command: labels of chance are called what they are") {
  const TemporaryFolder folder;
  folder.write("data.csv", flowers(90, true));
  const auto fit = run_dma(folder, kFitFlowers + "--plot classes.svg");
  CHECK(holds(folder.read("classes.svg"), "90 rows, each left out"));
  CHECK_MESSAGE(holds(fit.output, "kind: no structure found: predicts the class frequencies"), fit.output);
  const auto json = json_of_dma(folder, kFitFlowers + "--json");
  CHECK(json.at("left_out").at("kind").at("log_loss").get<double>() < 1.12);
}

TEST_CASE("classifier command: numbers are classes only if that is said") {
  const TemporaryFolder folder;
  std::string table = "x,y\n";
  for (int n = 0; n < 40; ++n) table += fmt::format("{},{}\n", n, n < 20 ? 0 : 1);
  folder.write("data.csv", table);
  const std::string fit = "fit data.csv --target y --hidden 3 --members 1 ";
  CHECK(holds(run_dma(folder, fit + "--epochs 3").output, "noise sd"));
  CHECK(holds(run_dma(folder, fit + "--classes").output, "target    y: 0 (20 rows), 1 (20 rows)"));
}

TEST_CASE("classifier command: a classifier's file in the wrong place, and tables without its columns, are refused") {
  const TemporaryFolder folder;
  folder.write("data.csv", flowers(60));
  folder.write("numbers.csv", "x,y\n1,2\n2,3\n3,5\n4,7\n");
  folder.write("other.csv", "length,breadth,idle\n1,2,3\n");
  require_dma(folder, kFitFlowers + "--quiet --model model.json");
  check_refused(folder, "fit numbers.csv --target y --resume model.json",
                "'model.json' is a finished model, not a checkpoint");
  check_refused(folder, "predict model.json other.csv", "has no column 'width', which 'model.json' was fitted on");
  check_refused(folder, "fit data.csv --update model.json",
                "--update: 'model.json' predicts classes, and rows are added to models of numbers alone");
  check_refused(folder, kFitFlowers + "--resume model.json", "--resume: only networks for numbers leave checkpoints");
  folder.write("model.json", folder.read("model.json").substr(0, 2000));
  check_refused(folder, "predict model.json data.csv", "'model.json'");
}
