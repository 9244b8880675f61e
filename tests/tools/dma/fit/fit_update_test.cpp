// dma fit --update: rows added to a model, without the old ones.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/support/json.h"
#include "factors/standard_registry.h"
#include "models/predict/table_model.h"
#include "tests/tools/run_dma.h"
#include "tools/dma/io/csv.h"

namespace {

using namespace dma::testing;

std::string rows_between(int first, int last) {
  std::string csv = "x,z,y\n";
  for (int i = first; i < last; ++i) {
    const double x = 3 * std::sin(12.9898 * i * i), z = std::cos(78.233 * i);
    csv += fmt::format("{},{},{}\n", x, z, std::sin(x) + 0.3 * z + 0.1 * std::sin(37.7 * i * i));
  }
  return csv;
}

dma::TableModel read_model(const TemporaryFolder& folder, const std::string& file) {
  return dma::TableModel::from_text(folder.read(file), file, dma::standard_registry());
}

}  // namespace

TEST_CASE("dma fit --update: more rows make the model better, as if they had been there") {
  const TemporaryFolder folder;
  folder.write("first.csv", rows_between(0, 80));
  folder.write("more.csv", rows_between(80, 160));
  folder.write("all.csv", rows_between(0, 160));
  folder.write("fresh.csv", rows_between(160, 360));
  require_dma(folder, "fit first.csv --target y --hidden 12 --members 3 --model first.json --quiet");
  require_dma(folder, "fit all.csv --target y --hidden 12 --members 3 --model all.json --quiet");
  const auto json = json_of_dma(folder, "fit --update first.json more.csv --model updated.json --json");
  CHECK(json["rows"] == 160);
  CHECK(json["new_rows"] == 80);
  CHECK(json["before"]["y"]["rmse"].get<double>() > 0);
  dma::CsvReader reader(folder.path() / "fresh.csv");
  const std::vector<std::size_t> columns = {0, 1, 2};
  const Eigen::MatrixXd fresh = reader.read(columns);
  const auto error = [&](const std::string& model) {
    return dma::scores_of(read_model(folder, model).predict(fresh.leftCols(2)), fresh.col(2))[0];
  };
  const auto first = error("first.json"), updated = error("updated.json"), all = error("all.json");
  MESSAGE("RMSE " << first.rmse << " before, " << updated.rmse << " updated, " << all.rmse << " of all rows; coverage "
                  << first.coverage_95 << ", " << updated.coverage_95 << ", " << all.coverage_95);
  CHECK(updated.rmse < first.rmse);
  CHECK(updated.rmse < 1.3 * all.rmse);
  CHECK(updated.coverage_95 > 0.9);
  // In place, and once more; the file says how many rows it has seen.
  require_dma(folder, "fit --update updated.json fresh.csv");
  CHECK(read_model(folder, "updated.json").training().rows == 360);
  require_dma(folder, "inspect updated.json");
}

TEST_CASE("dma fit --update --weights: a row of weight 2 is two rows, one of weight 0 is left out") {
  const TemporaryFolder folder;
  folder.write("first.csv", rows_between(0, 60));
  require_dma(folder, "fit first.csv --target y --hidden 5 --members 1 --model m.json --quiet");
  const std::string more = "x,z,y,w\n0.5,0.1,0.6,2\n-1,0.4,-0.7,1\n2,2,9,0\n1.5,-0.3,0.8,1\n";
  folder.write("weighted.csv", more);
  folder.write("repeated.csv", "x,z,y\n0.5,0.1,0.6\n0.5,0.1,0.6\n-1,0.4,-0.7\n1.5,-0.3,0.8\n");
  const auto weighted = require_dma(folder, "fit --update m.json weighted.csv --weights w --model a.json");
  CHECK(holds(weighted.errors, "1 of 4 rows are left out: their weight is 0"));
  CHECK(holds(weighted.output, "learned   3 rows on top of 60"));
  require_dma(folder, "fit --update m.json repeated.csv --model b.json --quiet");
  const auto predicted = [&](const std::string& model) {
    return read_model(folder, model).predict(Eigen::MatrixXd{{0.4, 0.1}, {-1, 0.3}});
  };
  const dma::Prediction a = predicted("a.json"), b = predicted("b.json");
  CHECK((a.mean - b.mean).cwiseAbs().maxCoeff() < 0.02 * b.sd.minCoeff());
  CHECK((a.sd - b.sd).cwiseAbs().maxCoeff() < 0.01 * b.sd.minCoeff());
  CHECK(read_model(folder, "a.json").training().weight == 64);
  // And once more on top of those, without weights.
  require_dma(folder, "fit --update a.json repeated.csv --quiet");
  CHECK(read_model(folder, "a.json").training().weight == 68);
  folder.write("bad.csv", "x,z,y,w\n0.5,0.1,0.6,-1\n");
  const std::string update = "fit --update m.json ";
  check_refused(folder, update + "bad.csv --weights w", "'bad.csv', row 1, column 'w': the weight of the row is -1");
  check_refused(folder, update + "repeated.csv --weights w", "no column 'w'");
  check_refused(folder, update + "repeated.csv --weights z", "--weights: 'z' is a column that 'm.json' was fitted on");
}

TEST_CASE("dma fit --update: wrong requests are one line, and the model stays as it was") {
  const TemporaryFolder folder;
  folder.write("data.csv", rows_between(0, 30));
  require_dma(folder, "fit data.csv --target y --hidden 3 --epochs 3 --model m.json --quiet");
  require_dma(folder, "fit data.csv --target y --hidden 3 --epochs 3 --method hybrid --model h.json --quiet");
  folder.write("header.csv", "x,z,y\n");
  folder.write("other.csv", "x,zz,y\n1,2,3\n");
  folder.write("far.csv", "x,z,y\n1,1e300,3\n");
  folder.write("text.csv", "x,z,y\n1,red,3\n");
  const std::string model = folder.read("m.json");
  const auto refused = [&](const std::string& arguments, const std::string& expected) {
    check_refused(folder, "fit " + arguments, expected);
    CHECK(folder.read("m.json") == model);
  };
  refused("--update m.json header.csv", "rows");
  refused("--update m.json other.csv", "no column 'z'");
  refused("--update m.json far.csv", "too far");
  refused("--update m.json text.csv", "red");
  refused("--update m.json data.csv --target y", "--target: an update has no such option; leave it out");
  refused("--update m.json data.csv --holdout 0.1", "--holdout: an update has no such option; leave it out");
  refused("--update nothing.json data.csv", "nothing.json");
  refused("--update data.csv data.csv", "data.csv");
  refused("--update h.json data.csv", "rows are added to a joint fit alone");
  refused("data.csv", "--target is missing");
}
