// Checks that decide whether a fit is called a success.
#include <doctest/doctest.h>

#include <cmath>

#include "engine/support/text.h"
#include "models/network/bnn.h"
#include "models/predict/table_model.h"
#include "tests/oracles/relative.h"
#include "tests/oracles/scores.h"

namespace {

using namespace dma;

TableRows wave_of(double magnitude) {
  const auto x = [](Eigen::Index n) { return static_cast<double>(n) / 12 - 1; };
  return {oracle::filled(24, x), oracle::filled(24, [&](Eigen::Index n) {
            return magnitude * (std::sin(3 * x(n)) + 0.1 * std::cos(40 * x(n)));
          })};
}

TableModel fitted_model(const BnnOptions& options, const TableRows& rows, const LearnOptions& fit) {
  TableModel model = TableModel::network(options, {"x"}, {"y"});
  model.fit(rows, {.options = fit});
  return model;
}

TableModel briefly_fitted(const TableRows& rows) {
  RegressionSettings settings = regression_settings(1, {6}, 1, 24);
  settings.fit.epochs = 15;
  return fitted_model(settings.network, rows, settings.fit);
}

}  // namespace

TEST_CASE("model check: targets of any magnitude give the same network in other units") {
  const TableRows base = wave_of(1);
  const Prediction expected = briefly_fitted(base).predict(base.inputs);
  for (const double magnitude : {0x1p+520, 0x1p+1000, 0x1p-530, 0x1p-990}) {
    CAPTURE(magnitude);
    const TableRows rows = wave_of(magnitude);
    const TableModel model = briefly_fitted(rows);
    CHECK(model.check(rows).empty());
    const Prediction p = model.predict(rows.inputs);
    for (Eigen::Index n = 0; n < 24; ++n) {
      CHECK(p.mean(n, 0) / magnitude == oracle::relative(expected.mean(n, 0), 1e-6));
      CHECK(p.sd(n, 0) / magnitude == oracle::relative(expected.sd(n, 0), 1e-6));
    }
  }
}

TEST_CASE("model check: one huge outlier is survived") {
  for (const double outlier : {1e300, 1e308}) {
    CAPTURE(outlier);
    TableRows rows = wave_of(1);
    rows.targets(7, 0) = outlier;
    const TableModel model = briefly_fitted(rows);
    for (const LearnedVariable& own : model.method().variables())
      for (const Gaussian& belief : own.beliefs) CHECK((is_valid(belief) && belief.variance() > 0));
    CHECK(model.method().noise().at(0) > 0);
    CHECK(std::isfinite(model.method().noise()[0]));
    const Prediction p = model.predict_any(rows.inputs);
    CHECK(p.mean.allFinite());
    CHECK(p.sd.allFinite());
    CHECK(p.sd.minCoeff() > 0);
    if (outlier < 1e308) CHECK_NOTHROW((void)model.check(rows));  // its quantiles can be told
  }
}

TEST_CASE("model check: numbers beyond the priors are refused or doubted") {
  const TableRows rows = wave_of(1e12);
  BnnOptions options = paper_options({1, 6, 1});
  options.noise = 0.1;
  const TableModel model = fitted_model(options, rows, {.batches = 4, .epochs = 3});
  std::string said;
  try {
    said = model.check(rows);
  } catch (const Error& e) {
    said = e.what();
    CHECK(said.starts_with("the fit failed"));
  }
  CAPTURE(said);
  CHECK(said.find("let columns be standardised (--standardise)") != said.npos);
}

TEST_CASE("model check: predictions that their uncertainty does not explain are doubted") {
  const TableRows rows = wave_of(1);
  const TableModel model = briefly_fitted(rows);
  TableRows others = rows;
  others.targets = oracle::filled(24, [&](Eigen::Index n) { return rows.targets(n) + (n % 2 == 0 ? 20 : -20); });
  const std::string said = model.check(others);
  CAPTURE(said);
  CHECK(said.starts_with("predictions of 'y' are off by "));
  CHECK(said.find(" standard deviations on the rows they were learned from") != said.npos);
  others.targets = 100 + rows.targets.array();
  CHECK(model.check(others).find("times the spread of the column") != std::string::npos);
}

TEST_CASE("model check: a prediction must be a number with a spread, and its row is named") {
  const Eigen::MatrixXd ones = Eigen::MatrixXd::Ones(3, 2);
  const Prediction whole = Prediction::mix({{ones, ones, ones}});
  CHECK_NOTHROW(check_prediction(whole, {"a", "b"}));
  Prediction certain = whole, infinite = whole;
  certain.sd(1, 1) = 0;
  infinite.mean(2, 0) = HUGE_VAL;
  CHECK_THROWS_WITH_AS(check_prediction(certain, {"a", "b"}), doctest::Contains("'b' in row 2 overflows"), Error);
  CHECK_THROWS_WITH_AS(check_prediction(infinite, {"a", "b"}, 10), doctest::Contains("'a' in row 13 overflows"), Error);
}
