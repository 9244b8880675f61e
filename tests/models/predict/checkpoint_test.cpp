// A fit that was stopped goes on from its file to the bytes of one that was not.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "models/network/message_network.h"
#include "models/predict/table_model.h"
#include "tests/models/predict/model_examples.h"
#include "tests/oracles/random_matrices.h"

namespace {

using namespace dma;
using namespace dma::oracle;

TableModel begun_again(const TableModel& model) {
  return TableModel::network(model.network()->options(), model.features(), model.targets());
}

// A fit that is told to stop after so many epochs.
TableFit stopped_after(const TableFit& fit, int epochs, int& asked) {
  TableFit stopped = fit;
  asked = 0;
  stopped.on_epoch = [&asked, epochs](const TableEpoch&) { return ++asked < epochs; };
  return stopped;
}

}  // namespace

TEST_CASE("checkpoint: of messages, it goes on to the same bits as a fit that never stopped") {
  const LearnedModel e = learned_by_messages();
  TableFit longer = e.fit;
  longer.options.epochs = 9;
  TableModel undisturbed = begun_again(e.model);
  undisturbed.fit(e.rows, longer);
  const std::string text = e.model.text("30x1");
  TableModel resumed = read_again(text);
  CHECK(resumed.is_checkpoint());
  CHECK(resumed.fingerprint() == "30x1");
  CHECK(resumed.text("30x1") == text);
  resumed.fit(e.rows, longer);
  CHECK(resumed.predict_any(e.rows.inputs).mean == undisturbed.predict(e.rows.inputs).mean);
  CHECK(resumed.predict_any(e.rows.inputs).sd == undisturbed.predict(e.rows.inputs).sd);
  CHECK(resumed.text() == undisturbed.text());
}

TEST_CASE("checkpoint: of messages, it goes on from every epoch at which it was written") {
  const LearnedModel e = learned_by_messages();
  const std::string finished = e.model.text();
  for (const int stop_at : {1, 3, 4, 6, 8}) {
    CAPTURE(stop_at);
    int asked = 0;
    TableModel stopped = begun_again(e.model);
    std::string text;
    TableFit fit = e.fit;
    fit.on_epoch = [&](const TableEpoch&) {
      if (++asked == stop_at) text = stopped.text("30x1");  // while it learns
      return true;
    };
    stopped.fit(e.rows, fit);
    CHECK(stopped.text() == finished);
    TableModel resumed = read_again(text);
    resumed.fit(e.rows, e.fit);
    CHECK(resumed.text() == finished);
  }
}

TEST_CASE("checkpoint: of a joint fit, it goes on to the bytes of an undisturbed one") {
  const LearnedModel whole = learned_jointly(5);
  const std::string finished = whole.model.text();
  for (const bool while_learning : {false, true})
    for (const int stop_at : {3, 9, 14}) {
      CAPTURE(stop_at);
      CAPTURE(while_learning);
      int asked = 0;
      TableModel parts = begun_again(whole.model);
      std::string text;
      TableFit fit = stopped_after(whole.fit, stop_at, asked);
      if (while_learning)
        fit.on_epoch = [&](const TableEpoch&) {
          if (++asked == stop_at) text = parts.text("40x2");
          return asked < stop_at;
        };
      REQUIRE(parts.fit(whole.rows, fit).interrupted);
      if (!while_learning) text = parts.text("40x2");
      TableModel resumed = read_again(text);
      CHECK(resumed.is_checkpoint());
      CHECK(resumed.text("40x2") == text);
      resumed.fit(whole.rows, whole.fit);
      CHECK(resumed.predict(whole.rows.inputs).mean == whole.model.predict(whole.rows.inputs).mean);
      CHECK(resumed.predict(whole.rows.inputs).sd == whole.model.predict(whole.rows.inputs).sd);
      CHECK(resumed.text() == finished);
    }
}

TEST_CASE("checkpoint: of a joint fit on its growing subsets, it goes on to the bytes of an undisturbed one") {
  const Eigen::MatrixXd x = random_matrix(150, 1, 1);
  const Eigen::MatrixXd y = x.array().sin() + 0.1 * random_matrix(150, 1, 2).array();
  const TableRows rows{x, y};
  const TableFit fit{.options = {.epochs = 12}};
  for (const bool neighbours : {false, true}) {  // they take most of the time, and are learned when all else is
    CAPTURE(neighbours);
    const BnnOptions options{.layers = {1, 2, 1}, .neighbours = neighbours, .members = 1, .seed = 3};
    const auto model = [&] { return TableModel::network(options, {"a"}, {"y"}); };
    TableModel whole = model();
    int all = 0;
    std::vector<std::string> stages;
    TableFit watched = fit;
    watched.options.on_stage = [&](const LearnStage& stage) {
      if (stages.empty() || stages.back() != stage.what) stages.push_back(stage.what);
    };
    watched.on_epoch = [&](const TableEpoch&) { return ++all > 0; };
    whole.fit(rows, watched);
    CHECK(stages.at(0) == "networks");
    CHECK(stages.at(1) == "linear model");
    CHECK(std::ranges::find(stages, "7 of 150 rows") != stages.end());
    CHECK(std::ranges::find(stages, "all rows") != stages.end());
    for (int stop_at = neighbours ? all - 1 : 1; stop_at < all; stop_at += stop_at < 8 ? 1 : 9) {
      CAPTURE(stop_at);
      int epochs = 0;
      TableModel parts = model();
      REQUIRE(parts.fit(rows, stopped_after(fit, stop_at, epochs)).interrupted);
      CHECK(epochs == stop_at);
      TableModel resumed = read_again(parts.text("150x1"));
      TableFit rest = fit;
      rest.on_epoch = [&](const TableEpoch&) { return ++epochs > 0; };
      resumed.fit(rows, rest);
      CHECK(epochs == all);
      CHECK(resumed.predict(x).mean == whole.predict(x).mean);
      CHECK(resumed.predict(x).sd == whole.predict(x).sd);
    }
  }
}

TEST_CASE("checkpoint: sizes, smoothing and members that learning has chosen are those that it goes on with") {
  const Eigen::MatrixXd x = random_matrix(150, 1, 1);
  const TableRows rows{x, (2 * x.array()).sin() + 0.1 * random_matrix(150, 1, 2).array()};
  const TableFit fit{.options = {.epochs = 6}};
  const BnnOptions options{.layers = {1, 10, 1}, .neighbours = false, .choose_width = true, .seed = 3};
  const auto model = [&] { return TableModel::network(options, {"a"}, {"y"}); };
  TableModel whole = model();
  int all = 0;
  TableFit counted = fit;
  counted.on_epoch = [&](const TableEpoch&) { return ++all > 0; };
  whole.fit(rows, counted);
  for (const int stop_at : {3, all - 2}) {
    CAPTURE(stop_at);
    int epochs = 0;
    TableModel parts = model();
    REQUIRE(parts.fit(rows, stopped_after(fit, stop_at, epochs)).interrupted);
    TableModel resumed = read_again(parts.text("150x1"));
    CHECK(resumed.network()->options().layers == whole.network()->options().layers);
    CHECK(resumed.network()->options().members == whole.network()->options().members);
    resumed.fit(rows, fit);
    CHECK(resumed.predict(x).mean == whole.predict(x).mean);
    CHECK(resumed.predict(x).sd == whole.predict(x).sd);
  }
}

TEST_CASE("checkpoint: of rows with weights, it goes on to the same bytes") {
  LearnedModel whole = learned_jointly(30, Eigen::VectorXd::LinSpaced(40, 0, 4));  // the first row is left out
  for (const int stop_at : {2, 8}) {
    CAPTURE(stop_at);
    int asked = 0;
    TableModel parts = begun_again(whole.model);
    REQUIRE(parts.fit(whole.rows, stopped_after(whole.fit, stop_at, asked)).interrupted);
    TableModel resumed = read_again(parts.text("40x2"));
    resumed.fit(whole.rows, whole.fit);
    CHECK(resumed.text() == whole.model.text());
  }
}
