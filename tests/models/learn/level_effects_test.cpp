#include "models/learn/level_effects.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "factors/standard_registry.h"
#include "models/learn/table_learner.h"
#include "models/network/bnn.h"
#include "models/network/classifier.h"
#include "models/predict/table_model.h"
#include "models/table/relevance.h"
#include "tests/oracles/random_matrices.h"
#include "tests/oracles/relative.h"
#include "tests/oracles/saved_network.h"
#include "tests/oracles/scores.h"

using namespace dma;
using oracle::chosen, oracle::farthest, oracle::filled, oracle::random_matrix, oracle::rmse;

namespace {

constexpr Index kLevels = 40, kRowsEach = 12, kRows = kLevels * kRowsEach;

// Growth: time, something idle, and who grows; every animal has a level and a slope of its own.
struct Growth {
  Matrix x = filled(kRows, 3, [](Index n, Index j) {
    return static_cast<double>(j == 0 ? n % kRowsEach : j == 1 ? (7 * n) % 5 : n / kRowsEach);
  });
  Matrix own = random_matrix(kLevels, 2, 1), noise = random_matrix(kRows, 1, 2);
  Matrix y(double spread) const {
    return filled(kRows, [&](Index n) {
      const Index l = n / kRowsEach;
      const double time = x(n, 0);
      return 40 + 8 * time + spread * (3 * own(l, 0) + 2 * own(l, 1) * time) + 2 * noise(n);
    });
  }
};

const BnnOptions kNetwork = {.layers = {3, 8, 1}, .levels = {0, 0, kLevels}, .members = 1};

// Every fifth row is kept aside.
struct Split {
  std::vector<Index> learned, aside;
  Split() {
    for (Index n = 0; n < kRows; ++n) ((n * 7) % 5 == 0 ? aside : learned).push_back(n);
  }
};

}  // namespace

TEST_CASE("effects of values: evidence finds levels and slopes that differ, and nothing in noise") {
  const Growth growth;
  const Matrix x = filled(kRows, 3, [&](Index n, Index j) { return j < 2 ? growth.x(n, j) / 5 : growth.x(n, j); });
  const std::vector<std::size_t> levels = {0, 0, kLevels};
  const std::vector<LevelEffects> found = level_effects(x, levels, growth.y(1) / 40, 1);
  REQUIRE(found.size() == 1);
  CHECK(found[0].column == 2);
  CHECK(found[0].levels == kLevels);
  CHECK(found[0].slopes == std::vector<std::size_t>{0});
  CHECK(level_effects(x, levels, growth.y(0) / 40, 1).empty());
  CHECK(level_effects(x, {0, 0, 0}, growth.y(1), 1).empty());
  int wrong = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    wrong += level_effects(x, levels, random_matrix(kRows, 1, seed), seed).empty() ? 0 : 1;
  CHECK(wrong <= 1);
  // Slopes are left away where there are millions of rows.
  const Matrix many = x.replicate(4000, 1), targets = growth.y(1).replicate(4000, 1);
  const std::vector<LevelEffects> few = level_effects(many, levels, targets, 1);
  REQUIRE(few.size() == 1);
  CHECK(few[0].levels == kLevels);
  CHECK(few[0].slopes.empty());
}

TEST_CASE("effects of values: a column of numbers that name something has them, one of a smooth function has not") {
  const Growth growth;
  const Split split;
  const auto fitted = [&](const Matrix& x, const Matrix& y) {
    Bnn net({.layers = {3, 8, 1}, .members = 1});
    const FitReport report = net.fit(x(split.learned, Eigen::all), y(split.learned, Eigen::all));
    return std::pair(std::move(net), report.effects);
  };
  // Animals by a number that says nothing of them: 100, 103, 106, ... in another order.
  Matrix x = growth.x;
  for (Index n = 0; n < kRows; ++n) x(n, 2) = 100 + 3 * static_cast<double>((17 * (n / kRowsEach)) % kLevels);
  const auto [named, effects] = fitted(x, growth.y(1));
  REQUIRE(effects.size() == 1);
  CHECK(effects[0].column == 2);
  CHECK(effects[0].levels == kLevels);
  CHECK(effects[0].values.size() == kLevels);
  CHECK(effects[0].slopes == std::vector<std::size_t>{0});
  const Matrix aside = growth.y(1)(split.aside, Eigen::all);
  CHECK(rmse(named.predict(x(split.aside, Eigen::all)).mean, aside) < 4);
  // A number that was not learned gets the prior.
  Matrix other = x.row(split.aside[0]);
  const double known = named.predict(other).sd(0);
  other(0, 2) = 101;
  CHECK(named.predict(other).sd(0) > known);
  CHECK(fitted(x, growth.y(0)).second.empty());
  const Matrix smooth = filled(kRows, [&](Index n) { return 5 * std::sin(0.05 * x(n, 2)) + growth.noise(n); });
  CHECK(fitted(x, smooth).second.empty());
  CHECK(possible_identifiers(x, {}).size() == 3);
  CHECK(possible_identifiers(random_matrix(50, 2, 1), {}).empty());
}

TEST_CASE("effects of values: inputs that matter are found beside them") {
  constexpr Index kInputs = 25, kValues = 20, kSome = 240;
  const Matrix noise = random_matrix(kSome, kInputs, 3), levels = random_matrix(kValues, 1, 4);
  Matrix x(kSome, kInputs + 1);
  x << noise, filled(kSome, [](Index n) { return static_cast<double>(n % kValues); });
  const Matrix y = filled(kSome, [&](Index n) {
    return 2 * x(n, 3) + x(n, 7) + 3 * levels(n % kValues) + 0.5 * std::sin(static_cast<double>(13 * n));
  });
  std::vector<std::size_t> columns(kInputs + 1, 0);
  columns.back() = kValues;
  Bnn net({.layers = {kInputs + 1, 10, 1}, .levels = columns, .members = 1});
  const FitReport report = net.fit(x, y);
  CHECK(report.effects.size() == 1);
  const Vector relevance = net.jointly()->relevance();
  REQUIRE(relevance.size() == kInputs + 1);
  const std::vector<Index> seen = inputs_that_matter(relevance.head(kInputs));
  CHECK(seen == std::vector<Index>{3, 7});
  CHECK(report.left_out[0].scores.rmse < 0.6);
  CHECK(net.graph().variables().size() > 0);
}

TEST_CASE("effects of values: beside a line they have the dense posterior at the precisions that were learned") {
  const Growth growth;
  const Matrix y = growth.y(1);
  Bnn net({.layers = {3, 1}, .noise_model = NoiseModel::constant, .levels = kNetwork.levels, .members = 1});
  const FitReport report = net.fit(growth.x, y);
  REQUIRE(report.effects.size() == 1);
  REQUIRE(report.effects[0].slopes == std::vector<std::size_t>{0});
  const TableLearner& learner = *net.jointly();
  const GraphMixture& mixture = learner.graphs().mixture();
  const SharedPosterior& posterior = mixture.memory().members[0].last();
  // Weights of two inputs, constant, levels, slopes; the last of each is that of a value that no row has.
  const Index size = kLevels + 1, scalars = 3 + 2 * size;
  REQUIRE(posterior.state.mean.size() == scalars);
  REQUIRE(posterior.state.scale.size() == 3);
  const Matrix units = learner.input_units().apply(growth.x), targets = learner.target_units().apply(y);
  Matrix j = Matrix::Zero(kRows, scalars);
  for (Index n = 0; n < kRows; ++n) {
    const Index l = n / kRowsEach;
    j(n, 0) = units(n, 0), j(n, 1) = units(n, 1), j(n, 2) = 1;
    j(n, 3 + l) = 1, j(n, 3 + size + l) = units(n, 0);
  }
  const double noise = std::exp(posterior.state.noise[0].beta(0));
  Matrix precision = j.transpose() * j / noise;
  precision.diagonal() += mixture.prior_of(0).scaled(posterior.state.scale);
  const Vector mean = precision.llt().solve(j.transpose() * targets / noise);
  CHECK(farthest(posterior.state.mean, mean) < 1e-6);
  const Matrix covariance = precision.inverse();
  const auto marginals = mixture.marginals(0);
  CHECK(farthest(marginals.variance, Vector(covariance.diagonal())) < 1e-8);
  // Slopes were drawn with an sd of 2 for each unit of time, and the noise has 2.
  const double unit = learner.target_units().scale(0), time = learner.input_units().scale(0);
  const Vector prior_sd = mixture.prior_of(0).scaled(posterior.state.scale).cwiseInverse().cwiseSqrt();
  CHECK(prior_sd(3 + size) * unit / time == oracle::relative(2, 0.35));
  CHECK(std::sqrt(noise) * unit == oracle::relative(2, 0.15));
  CHECK(std::abs(marginals.mean(3 + kLevels)) < 1e-12);
  CHECK(marginals.variance(3 + kLevels) == oracle::relative(prior_sd(3) * prior_sd(3), 1e-9));
}

TEST_CASE("effects of values: a network with them predicts rows kept aside, and values not seen with their spread") {
  const Growth growth;
  const Split split;
  const Matrix y = growth.y(1), x = chosen(growth.x, split.learned), aside = chosen(growth.x, split.aside),
               truth = chosen(y, split.aside);
  Bnn net(kNetwork), without({.layers = {2, 8, 1}, .members = 1});
  const FitReport report = net.fit(x, chosen(y, split.learned));
  without.fit(x.leftCols(2), chosen(y, split.learned));
  REQUIRE(report.effects.size() == 1);
  const Prediction p = net.predict(aside);
  const double error = rmse(p.mean, truth);
  CHECK(error < 3);  // the noise has 2
  CHECK(error < 0.35 * rmse(without.predict(aside.leftCols(2)).mean, truth));
  CHECK(report.left_out.at(0).scores.rmse == oracle::relative(error, 0.25));
  const double inside = oracle::inside_95(p.cumulative(truth));
  CHECK(inside > 0.88);
  // At the end of time a slope of sd 2 makes 22 of spread, and a level 3.
  Matrix last = growth.x.row(kRowsEach - 1).replicate(2, 1);
  last(1, 2) = kLevels;
  const Prediction seen_or_not = net.predict(last);
  CHECK(seen_or_not.sd(0) < 4);
  CHECK(seen_or_not.sd(1) == oracle::relative(22, 0.4));
  CHECK(seen_or_not.mean(1) == oracle::relative(40 + 8 * 11, 0.1));
  // The effects of every value are there by name, and the graph has them.
  std::size_t effects = 0;
  for (const LearnedVariable& own : net.method().variables())
    effects += own.name.starts_with("level") ? own.beliefs.size() : 0;
  CHECK(effects == 2 * (kLevels + 1));
  CHECK_NOTHROW(net.graph().find_variable("level1_x1"));

  const Bnn again = oracle::read_again(net);
  CHECK(again.predict(aside).mean == p.mean);
  CHECK(again.predict(last).sd == seen_or_not.sd);
  const auto refused = [&](const std::string& where, Json value) {
    CAPTURE(where);
    Json damaged = oracle::saved_network(net);
    damaged.at(Json::json_pointer("/effects" + where)) = std::move(value);
    CHECK_THROWS_AS(oracle::read_network(net.options(), damaged), Error);
  };
  refused("", Json::array());
  refused("/0/column", 1);
  refused("/0/column", 9);
  refused("/0/levels", 0);
  refused("/0/levels", kLevels + 1);
  refused("/0/slopes", {2});
  refused("/0/slopes", {7});
}

TEST_CASE("effects of values: on noise with forty values the fit is that without the column") {
  const Growth growth;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const Matrix y = random_matrix(kRows, 1, 100 + seed);
    Bnn net(kNetwork), without({.layers = {2, 8, 1}, .members = 1});
    CHECK(net.fit(growth.x, y).effects.empty());
    without.fit(growth.x.leftCols(2), y);
    CHECK(net.predict(growth.x).mean == without.predict(growth.x.leftCols(2)).mean);
    CHECK(net.predict(growth.x).sd == without.predict(growth.x.leftCols(2)).sd);
  }
}

TEST_CASE("effects of values: classes have them too, and text with many values is numbered for them") {
  const Growth growth;
  const Matrix drawn = random_matrix(kRows, 1, 9);
  const auto name_of = [](Index level) { return fmt::format("animal {}", 1000 - level); };
  std::vector<std::string> cells, labels;
  for (Index n = 0; n < kRows; ++n) {
    cells.push_back(name_of(n / kRowsEach));
    labels.push_back(2 * growth.own(n / kRowsEach, 0) + 0.5 * drawn(n) > 0 ? "heavy" : "light");
  }
  const std::vector<double> time(growth.x.col(0).begin(), growth.x.col(0).end());
  ColumnCoding coding{
      {column_rule({.name = "time", .numbers = time}, false), column_rule({.name = "animal", .cells = cells}, false)}};
  REQUIRE(coding.columns() == std::vector<std::string>{"time", "animal"});
  CHECK(coding.levels({"time", "animal"}) == std::vector<std::size_t>{0, kLevels});
  CHECK(coding.levels({"time"}).empty());
  const auto coded = [&](const std::vector<std::string>& animals) {
    const std::vector<double> times(animals.size(), 3.0);
    const std::vector<TableColumn> table = {{.name = "time", .numbers = times}, {.name = "animal", .cells = animals}};
    return coding.encode(table);
  };
  CHECK(coded({"nobody", ""}).col(1) == Vector::Constant(2, kLevels));
  const std::vector<TableColumn> table = {{.name = "time", .numbers = time}, {.name = "animal", .cells = cells}};
  const ClassLabels classes = ClassLabels::of(labels);
  TableModel model = TableModel::classifier({.hidden = std::vector<std::size_t>{4}, .members = 1}, {"time", "animal"},
                                            "weight", classes.names, coding);
  const TableReport report = model.fit(
      {coding.encode(table), filled(kRows, [&](Index n) { return static_cast<double>(classes.of_rows[n]); })}, {});
  REQUIRE(report.effects.size() == 1);
  CHECK(report.form.find("each of 40 values of 'animal' has its own level") != std::string::npos);
  CHECK(report.left_out_classes->accuracy > 0.8);
  CHECK(report.of_frequencies.accuracy < 0.7);
  Index strongest = 0;
  growth.own.col(0).maxCoeff(&strongest);
  const Matrix p = model.probabilities(coded({name_of(strongest), "nobody"}));
  CHECK(p(0, 0) > 0.9);
  CHECK(std::abs(p(1, 0) - 0.5) < 0.3);
  const std::string text = model.text();
  const TableModel again = TableModel::from_text(text, "model", standard_registry());
  CHECK(again.probabilities(coded({name_of(3), "nobody"})) == model.probabilities(coded({name_of(3), "nobody"})));
  CHECK(again.text() == text);
}
