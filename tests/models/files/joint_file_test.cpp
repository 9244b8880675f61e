#include "models/files/joint_file.h"

#include <doctest/doctest.h>

#include <cmath>

#include "engine/support/error.h"
#include "models/files/bnn_file.h"
#include "tests/oracles/random_matrices.h"

namespace {

using namespace dma;

struct SavedExample {
  Bnn net;
  SavedBnn saved;
  Eigen::MatrixXd inputs, targets;
};

const LearnOptions kFit{.epochs = 12};

// With fewer weights than rows (a factor is saved), or more (the rows are).
SavedExample fitted_and_saved(std::size_t hidden, bool checkpoint = false, const Eigen::VectorXd& weights = {}) {
  const Eigen::MatrixXd x = oracle::random_matrix(40, 2, 1);
  const Eigen::MatrixXd y = x.col(0).array().sin() + 0.1 * oracle::random_matrix(40, 1, 2).array();
  Bnn net({.layers = {2, hidden, 1}, .members = 2, .seed = 3});
  net.fit(x, y, kFit, {}, weights);
  SavedBnn saved{.features = {"a", "b"},
                 .targets = {"y"},
                 .options = net.options(),
                 .memory = net.memory(!checkpoint),
                 .training = {.rows = 40, .options = kFit, .left_out = net.last_fit().left_out}};
  if (checkpoint) saved.data_fingerprint = "40x2";
  return {std::move(net), std::move(saved), x, y};
}

}  // namespace

TEST_CASE("joint file: a saved network predicts the same bytes, from a factor and from rows, of any weights") {
  for (const auto& [hidden, weights] : {std::pair{3u, Eigen::VectorXd()}, std::pair{30u, Eigen::VectorXd()},
                                        std::pair{30u, Eigen::VectorXd(Eigen::VectorXd::LinSpaced(40, 0.5, 4))}}) {
    const SavedExample e = fitted_and_saved(hidden, false, weights);
    const std::string text = bnn_to_text(e.saved);
    const Bnn again = make_bnn(bnn_from_text(text, "m.json"));
    const Eigen::MatrixXd fresh = oracle::random_matrix(9, 2, 5);
    const Prediction before = e.net.predict(fresh), after = again.predict(fresh);
    CHECK(before.mean == after.mean);
    CHECK(before.sd == after.sd);
    CHECK(before.quantile(0.9) == after.quantile(0.9));
    CHECK(again.weights(0)[0].mean() == e.net.weights(0)[0].mean());
    CHECK(again.weights(0)[0].variance() == e.net.weights(0)[0].variance());
    CHECK(bnn_to_text(bnn_from_text(text, "m.json")) == text);
  }
}

TEST_CASE("joint file: an interrupted fit goes on from its file to the bytes of an undisturbed one") {
  const SavedExample whole = fitted_and_saved(5);
  for (const int stop_at : {3, 9, 14}) {
    int epochs = 0;
    Bnn parts(BnnOptions{.layers = {2, 5, 1}, .members = 2, .seed = 3});
    const auto report =
        parts.fit(whole.inputs, whole.targets, kFit, [&](const BnnEpoch&) { return ++epochs < stop_at; });
    REQUIRE(report.interrupted);
    SavedBnn saved = whole.saved;
    saved.options = parts.options();
    saved.memory = parts.memory(false);
    saved.data_fingerprint = "40x2";
    Bnn resumed = make_bnn(bnn_from_text(bnn_to_text(saved), "c.json"));
    resumed.fit(whole.inputs, whole.targets, kFit);
    CAPTURE(stop_at);
    CHECK(resumed.predict(whole.inputs).mean == whole.net.predict(whole.inputs).mean);
    CHECK(resumed.predict(whole.inputs).sd == whole.net.predict(whole.inputs).sd);
  }
}

TEST_CASE(
    "joint file: a fit interrupted on its growing subsets goes on from its file to the bytes of an undisturbed one") {
  const Eigen::MatrixXd x = oracle::random_matrix(150, 1, 1);
  const Eigen::MatrixXd y = x.array().sin() + 0.1 * oracle::random_matrix(150, 1, 2).array();
  for (const bool neighbours : {false, true}) {  // they take most of the time, and are learned when all else is
    CAPTURE(neighbours);
    const BnnOptions options{.layers = {1, 2, 1}, .neighbours = neighbours, .members = 1, .seed = 3};
    Bnn whole(options);
    int all = 0;
    std::vector<std::string> stages;
    LearnOptions watched = kFit;
    watched.on_stage = [&](const LearnStage& stage) {
      if (stages.empty() || stages.back() != stage.what) stages.push_back(stage.what);
    };
    whole.fit(x, y, watched, [&](const BnnEpoch&) { return ++all > 0; });
    CHECK(stages.at(0) == "networks");
    CHECK(stages.at(1) == "linear model");
    CHECK(std::ranges::find(stages, "7 of 150 rows") != stages.end());
    CHECK(std::ranges::find(stages, "all rows") != stages.end());
    for (int stop_at = neighbours ? all - 1 : 1; stop_at < all; stop_at += stop_at < 8 ? 1 : 9) {
      int epochs = 0;
      Bnn parts(options);
      REQUIRE(parts.fit(x, y, kFit, [&](const BnnEpoch&) { return ++epochs < stop_at; }).interrupted);
      CHECK(epochs == stop_at);
      const SavedBnn saved{.features = {"a"},
                           .targets = {"y"},
                           .options = parts.options(),
                           .memory = parts.memory(false),
                           .training = {.rows = 150, .options = kFit},
                           .data_fingerprint = "150x1"};
      Bnn resumed = make_bnn(bnn_from_text(bnn_to_text(saved), "c.json"));
      resumed.fit(x, y, kFit, [&](const BnnEpoch&) { return ++epochs > 0; });
      CAPTURE(stop_at);
      CHECK(epochs == all);
      CHECK(resumed.predict(x).mean == whole.predict(x).mean);
      CHECK(resumed.predict(x).sd == whole.predict(x).sd);
    }
  }
}

TEST_CASE("joint file: what does not fit is refused") {
  const SavedExample e = fitted_and_saved(3);
  const auto refused = [&](const auto& damage) {
    SavedBnn saved = e.saved;
    damage(*saved.memory.joint);
    try {
      check_saved(saved);
    } catch (const Error&) {
      return true;
    }
    return false;
  };
  using Memory = JointRegression::Memory;
  CHECK(!refused([](Memory&) {}));
  CHECK(refused([](Memory& m) { m.network_fraction = 1.5; }));
  CHECK(refused([](Memory& m) { m.width_reason = "3 hidden units\x1b[2J"; }));
  CHECK(refused([](Memory& m) { m.members.pop_back(); }));
  CHECK(refused([](Memory& m) { m.lowest.resize(1); }));
  CHECK(refused([](Memory& m) { m.members[0].plain_posterior->factor.resize(0, 0); }));
  CHECK(refused([](Memory& m) { m.members[0].plain_posterior->factor(0, 0) = -1; }));
  CHECK(refused([](Memory& m) { m.members[0].plain_posterior->state.mean(0) = std::nan(""); }));
  CHECK(refused([](Memory& m) { m.members[0].plain_posterior->tails[0].scale = 0; }));
  CHECK(refused([](Memory& m) { m.members[0].plain.noise.clear(); }));
}
