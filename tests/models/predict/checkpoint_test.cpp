// A fit that was stopped goes on from its file to the bytes of one that was not.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "models/network/message_network.h"
#include "models/predict/table_model.h"
#include "tests/models/predict/model_examples.h"
#include "tests/oracles/random_matrices.h"

namespace {

using namespace dma;
using namespace dma::oracle;

using Beginning = std::function<TableModel()>;

Beginning beginning_of(const LearnedModel& learned) {
  return [&learned] {
    return TableModel::network(learned.model.network()->options(), learned.model.features(), learned.model.targets());
  };
}

// Stops a fit after so many epochs and goes on from its file, which was written then or, for `while_learning`, inside
// the last epoch. Returns the number of epochs of both parts.
int check_goes_on(const Beginning& begin, const TableModel& whole, const TableRows& rows, const TableFit& fit,
                  int stop_at, bool while_learning = false) {
  CAPTURE(stop_at);
  CAPTURE(while_learning);
  TableModel parts = begin();
  std::string text;
  int epochs = 0;
  TableFit watched = fit;
  watched.on_epoch = [&](const TableEpoch&) {
    if (++epochs == stop_at && while_learning) text = parts.text("some rows");
    return epochs < stop_at;
  };
  REQUIRE(parts.fit(rows, watched).interrupted);
  if (!while_learning) text = parts.text("some rows");
  TableModel resumed = read_again(text);
  CHECK(resumed.is_checkpoint());
  CHECK(resumed.text("some rows") == text);
  watched.on_epoch = [&](const TableEpoch&) { return ++epochs > 0; };
  resumed.fit(rows, watched);
  CHECK(resumed.predict_any(rows.inputs).mean == whole.predict_any(rows.inputs).mean);
  CHECK(resumed.predict_any(rows.inputs).sd == whole.predict_any(rows.inputs).sd);
  CHECK(resumed.text() == whole.text());
  return epochs;
}

}  // namespace

TEST_CASE("checkpoint: a fit by messages goes on from every epoch at which it was written, and beyond its end") {
  const LearnedModel e = learned_by_messages();
  const std::string finished = e.model.text("30x1");
  TableFit longer = e.fit;
  longer.options.epochs = 9;
  TableModel undisturbed = beginning_of(e)(), resumed = read_again(finished);
  undisturbed.fit(e.rows, longer);
  CHECK(resumed.fingerprint() == "30x1");
  resumed.fit(e.rows, longer);
  CHECK(resumed.text() == undisturbed.text());
  for (const int stop_at : {1, 3, 5, 6}) check_goes_on(beginning_of(e), e.model, e.rows, e.fit, stop_at, true);
}

TEST_CASE("checkpoint: a joint fit goes on, with weights of rows too") {
  const LearnedModel whole = learned_jointly(5),
                     weighted = learned_jointly(30, Eigen::VectorXd::LinSpaced(40, 0, 4));  // the first row is left out
  for (const int stop_at : {3, 9, 14})
    for (const bool while_learning : {false, true})
      check_goes_on(beginning_of(whole), whole.model, whole.rows, whole.fit, stop_at, while_learning);
  for (const int stop_at : {2, 8})
    check_goes_on(beginning_of(weighted), weighted.model, weighted.rows, weighted.fit, stop_at);
}

TEST_CASE("checkpoint: a joint fit on its growing subsets, and one whose sizes are chosen, go on") {
  const Eigen::MatrixXd x = random_matrix(150, 1, 1), noise = random_matrix(150, 1, 2);
  const TableRows rows{x, (2 * x.array()).sin() + 0.1 * noise.array()};
  const BnnOptions alone{.layers = {1, 2, 1}, .neighbours = false, .members = 1, .seed = 3};
  BnnOptions with_neighbours = alone, chosen = alone;  // neighbours take most of the time, and are learned last
  with_neighbours.neighbours = true;
  chosen.layers = {1, 10, 1}, chosen.choose_width = true, chosen.members = 0;
  for (const BnnOptions& options : {alone, with_neighbours, chosen}) {
    CAPTURE(options.neighbours);
    CAPTURE(options.choose_width);
    const Beginning begin = [&] { return TableModel::network(options, {"a"}, {"y"}); };
    TableModel whole = begin();
    int all = 0;
    std::vector<std::string> stages;
    TableFit fit{.options = {.epochs = options.choose_width ? 6 : 12}};
    TableFit watched = fit;
    watched.options.on_stage = [&](const LearnStage& stage) {
      if (stages.empty() || stages.back() != stage.what) stages.push_back(stage.what);
    };
    watched.on_epoch = [&](const TableEpoch&) { return ++all > 0; };
    whole.fit(rows, watched);
    if (options.choose_width) {
      for (const int stop_at : {3, all - 2}) check_goes_on(begin, whole, rows, fit, stop_at);
      continue;
    }
    CHECK(stages.at(0) == "networks");
    CHECK(stages.at(1) == "linear model");
    CHECK(std::ranges::find(stages, "7 of 150 rows") != stages.end());
    CHECK(std::ranges::find(stages, "all rows") != stages.end());
    for (int stop_at = options.neighbours ? all - 1 : 1; stop_at < all; stop_at += stop_at < 8 ? 1 : 9)
      CHECK(check_goes_on(begin, whole, rows, fit, stop_at) == all);
  }
}
