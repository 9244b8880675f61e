// A model of every kind as a file, and back.
#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/support/fields.h"
#include "engine/support/text.h"
#include "models/predict/table_model.h"
#include "models/table/columns/column_types.h"
#include "tests/models/predict/model_examples.h"
#include "tests/oracles/model_files.h"
#include "tests/oracles/random_matrices.h"

namespace {

using namespace dma;
using namespace dma::oracle;

struct KindOfModel {
  const char* kind;
  std::function<LearnedModel()> learned;
  std::shared_ptr<const LearnedModel> example = {};  // fitted once, for tests that only look at it
};

const std::vector<KindOfModel>& all_kinds() {
  static const std::vector<KindOfModel> kinds = [] {
    std::vector<KindOfModel> all = {
        {"network", learned_by_messages},
        {"network", [] { return learned_jointly(3); }},
        {"network", [] { return learned_jointly(30); }},
        {"network", learned_tally},
        {"network", [] { return learned_jointly(30, Eigen::VectorXd::LinSpaced(40, 0.5, 4)); }},
        {"classifier",
         [] {
           return learned_classes({"a", "b", "c"});
         }},
        {"classifier",
         [] {
           return learned_classes({"no", "yes"});
         }},
        {"classifier", learned_directions},
        {"graph", learned_groups},
        {"graph", learned_counts},
        {"graph", learned_scores},
        {"graph", learned_choices}};
    for (KindOfModel& kind : all) kind.example = std::make_shared<const LearnedModel>(kind.learned());
    return all;
  }();
  return kinds;
}

// Rows that were not learned: all models have a number in their first column.
Eigen::MatrixXd fresh_rows(const LearnedModel& of) {
  Eigen::MatrixXd rows = of.rows.inputs.topRows(9);
  rows.col(0) *= 1.3;
  return rows;
}

bool says(const std::string& line, std::string_view what) {
  CAPTURE(line);
  return line.find(what) != line.npos;
}

// NaN is the noise of what has none.
bool same_numbers(const std::vector<double>& a, const std::vector<double>& b) {
  return std::ranges::equal(a, b, [](double x, double y) { return x == y || (x != x && y != y); });
}

void check_same_predictions(const TableModel& one, const TableModel& other, const Eigen::MatrixXd& rows) {
  if (one.has_classes()) {
    CHECK(one.probabilities(rows) == other.probabilities(rows));
    return;
  }
  const Prediction before = one.predict(rows), after = other.predict(rows);
  CHECK(before.mean == after.mean);
  CHECK(before.sd == after.sd);
  CHECK(before.epistemic_sd == after.epistemic_sd);
  CHECK(before.quantile(0.9) == after.quantile(0.9));
}

}  // namespace

TEST_CASE(
    "model file: a model of any kind predicts the same bits after text and back, and the text is the same again") {
  for (const KindOfModel& kind : all_kinds()) {
    CAPTURE(&kind - all_kinds().data());
    const LearnedModel& e = *kind.example;
    const std::string text = e.model.text();
    CHECK(model_kind(text) == kind.kind);
    CHECK(text.find("seconds") == text.npos);
    const TableModel again = read_again(text);
    CHECK(again.text() == text);
    CHECK(again.features() == e.model.features());
    CHECK(again.targets() == e.model.targets());
    CHECK(again.classes() == e.model.classes());
    CHECK(again.seed() == e.model.seed());
    CHECK(again.standardises() == e.model.standardises());
    CHECK(!again.is_checkpoint());
    check_same_predictions(e.model, again, fresh_rows(e));
    CHECK(same_numbers(again.method().noise(), e.model.method().noise()));
    CHECK(again.method().products_per_row() == e.model.method().products_per_row());
    CHECK(again.curves() == e.model.curves());
    const std::vector<LearnedVariable> before = e.model.method().variables(), after = again.method().variables();
    REQUIRE(after.size() == before.size());
    REQUIRE(!after.empty());
    for (std::size_t v = 0; v < after.size(); ++v) {
      CHECK(after[v].name == before[v].name);
      CHECK(after[v].rows == before[v].rows);
      CHECK(after[v].prior_variance == before[v].prior_variance);
      REQUIRE(after[v].beliefs.size() == before[v].beliefs.size());
      for (std::size_t i = 0; i < after[v].beliefs.size(); ++i) {
        CHECK(after[v].beliefs[i].mean() == before[v].beliefs[i].mean());
        CHECK(after[v].beliefs[i].variance() == before[v].beliefs[i].variance());
      }
    }
  }
}

TEST_CASE(
    "model file: the same fit gives the same bytes; its record and the scores of rows held out stay with the model") {
  for (const KindOfModel& kind : all_kinds()) {
    CAPTURE(&kind - all_kinds().data());
    LearnedModel e = kind.learned();
    CHECK(e.model.text() == kind.example->model.text());
    e.model.judge(e.rows.some({0, 7, 11}));
    const std::string text = e.model.text();
    const TableModel again = read_again(text);
    CHECK(again.text() == text);
    const TrainingRecord &before = e.model.training(), &after = again.training();
    CHECK(after.rows == static_cast<std::size_t>(e.rows.inputs.rows()));
    CHECK(after.held_out_rows == 3);
    CHECK(after.weight == e.rows.weights.sum());
    CHECK(after.counts == before.counts);
    CHECK(after.line == before.line);
    CHECK(after.report.form == before.report.form);
    CHECK(after.report.graphs == before.report.graphs);
    CHECK(after.report.neighbours == before.report.neighbours);
    CHECK(after.report.frequencies == before.report.frequencies);
    CHECK(written(after.options) == written(before.options));
    REQUIRE(after.report.members.size() == before.report.members.size());
    for (std::size_t k = 0; k < after.report.members.size(); ++k)
      CHECK(after.report.members[k].stop == before.report.members[k].stop);
    REQUIRE(after.report.left_out.size() == before.report.left_out.size());
    for (std::size_t j = 0; j < after.report.left_out.size(); ++j) {
      CHECK(after.report.left_out[j].explained == before.report.left_out[j].explained);
      CHECK(written(after.report.left_out[j].scores) == written(before.report.left_out[j].scores));
    }
    CHECK(after.held_out.size() == (e.model.has_classes() ? 0 : e.model.targets().size()));
    CHECK(written(after.held_out) == written(before.held_out));
    REQUIRE(after.held_out_classes.has_value() == e.model.has_classes());
    REQUIRE(after.report.left_out_classes.has_value() == e.model.has_classes());
    if (!e.model.has_classes()) continue;
    CHECK(after.counts.size() == e.model.classes().size());
    CHECK(written(*after.held_out_classes) == written(*before.held_out_classes));
    CHECK(written(*after.report.left_out_classes) == written(*before.report.left_out_classes));
    CHECK(written(after.report.of_frequencies) == written(before.report.of_frequencies));
  }
}

TEST_CASE("model file: columns of text are coded after reading as before") {
  const std::vector<std::string> cells = {"red", "blue", "", "red", "green", "blue", "red", "green", "blue", "blue"};
  const std::vector<TableColumn> table = {{.name = "colour", .cells = cells}};
  const ColumnCoding coding{{column_rule(table[0], false)}};
  const Eigen::MatrixXd x = coding.encode(table), y = random_matrix(10, 1, 1);
  TableModel model = TableModel::network({.layers = {static_cast<std::size_t>(x.cols()), 2, 1}, .members = 1},
                                         coding.columns(), {"y"}, coding);
  model.fit({x, y}, {.options = {.epochs = 5}});
  const std::string text = model.text();
  const TableModel again = read_again(text);
  CHECK(again.text() == text);
  CHECK(again.coding().lines() == coding.lines());
  CHECK(again.coding().encode(table) == x);
  CHECK(says(refusal_with(text, "/features/0", "size"), "'m.dma' is damaged"));
  CHECK(says(refusal_with(text, "/columns", Json::array({7})), "'m.dma' is damaged"));
}

TEST_CASE("model file: logarithmic scales are kept") {
  for (const KindOfModel& kind : {all_kinds()[0], all_kinds()[1], all_kinds()[4], all_kinds()[10]}) {
    const LearnedModel& e = *kind.example;
    const Eigen::VectorXd log_from = Eigen::VectorXd::Constant(e.rows.inputs.cols(), 0.25);
    const std::string text = changed_model(e.model.text(), "/learned/inputs/log_from", packed(log_from));
    const TableModel read = read_again(text);
    CHECK(read.input_units().log_from == log_from.transpose());
    CHECK(read.text() == text);
    const Eigen::MatrixXd rows = fresh_rows(e);
    CHECK(read.predict_any(rows).mean != e.model.predict_any(rows).mean);
  }
}

TEST_CASE("model file: rows are added after reading to the same bits as before writing") {
  for (const std::size_t k : {1u, 2u, 3u, 4u, 8u, 9u, 11u}) {
    CAPTURE(k);
    LearnedModel e = all_kinds()[k].learned();
    TableModel again = read_again(e.model.text());
    TableRows more = e.rows.some({1, 4, 6, 7});
    more.inputs.col(0) *= 1.1;
    CHECK(e.model.update(more) == again.update(more));
    check_same_predictions(e.model, again, fresh_rows(e));
    CHECK(again.text() == e.model.text());
    CHECK(again.training().rows == e.model.training().rows);
    CHECK(read_again(again.text()).text() == again.text());
  }
  for (const std::size_t k : {0u, 5u, 10u}) {
    const LearnedModel& e = *all_kinds()[k].example;
    const std::string text = e.model.text();
    TableModel again = read_again(text);
    CHECK_THROWS_WITH_AS(again.update(e.rows), doctest::Contains("fit"), Error);
    CHECK(again.text() == text);
  }
}

TEST_CASE("model file: cut short anywhere, or with any changed bit, it is refused in one line") {
  for (const KindOfModel& kind : all_kinds()) {
    const std::string text = kind.example->model.text();
    CHECK(refusal_of(text) == "none");
    for (std::size_t length = 0; length < text.size(); length += 1 + length / 40)
      CHECK(says(refusal_of(std::string_view(text).substr(0, length)), "cut short"));
    const std::size_t stride = &kind == all_kinds().data() ? 13 : 1 + text.size() / 100;
    for (std::size_t i = 0; i < text.size(); i += i < 100 ? 1 : stride)
      for (const int bit : {1, 2, 16, 128}) {
        std::string changed = text;
        changed[i] = static_cast<char>(changed[i] ^ bit);
        CAPTURE(i);
        CHECK(refusal_of(changed) != "none");
      }
  }
}

TEST_CASE("model file: other files, and those of other versions, are each named") {
  const std::string text = all_kinds()[0].example->model.text(), classes = all_kinds()[4].example->model.text(),
                    graph = all_kinds()[7].example->model.text();
  CHECK(says(refusal_of("x,y\n1,2\n"), "it begins with \"x,y\""));
  CHECK(says(refusal_of("{\"variables\": {}}"), "is not a model of dma"));
  CHECK(says(refusal_of("{\n  \"format\": \"dma-bnn\",\n  \"version\": 2,"), "was written by an earlier dma"));
  CHECK(says(refusal_of("dma model 3" + text.substr(11)), "version 3"));
  CHECK(says(refusal_of(model_file("learner", {})),
             "is a learner; a network or a checkpoint or a classifier or a graph is expected"));
  for (const char* kind : {"network", "checkpoint", "classifier", "graph"})
    CHECK(says(refusal_of(model_file(kind, {})), "damaged"));
  for (const std::string& file : {text, classes, graph})
    for (const char* kind : {"network", "checkpoint", "classifier", "graph"})
      if (model_kind(file) != kind) {
        CAPTURE(kind);
        CHECK(says(refusal_of(model_file(kind, json_in_model(file))), "damaged"));
      }
  CHECK(says(refusal_of(model_file("checkpoint", json_in_model(text))), "fingerprint"));
}

TEST_CASE("model file: a fit that was stopped keeps the members that it has learned") {
  const LearnedModel& e = *all_kinds()[1].example;
  for (const int epochs : {1, 9, 15}) {
    int asked = 0;
    TableFit fit = e.fit;
    fit.on_epoch = [&](const TableEpoch&) { return ++asked < epochs; };
    TableModel stopped = TableModel::network(e.model.network()->options(), {"a", "b"}, {"y"});
    REQUIRE(stopped.fit(e.rows, fit).interrupted);
    const TableModel again = read_again(stopped.text());
    CHECK(again.training().report.interrupted);
    check_same_predictions(stopped, again, fresh_rows(e));
    CHECK(again.network()->options().members == (epochs > 6 ? 2 : 1));
    CHECK(read_again(again.text()).text() == again.text());
  }
}
