#include "tools/experiments/tables/choices.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "models/network/regression.h"
#include "tests/oracles/random_matrices.h"
#include "tools/experiments/tables/data_folder.h"

using namespace dma;

TEST_CASE("choices: the first is what dma fit does") {
  const Eigen::MatrixXd x = oracle::random_matrix(50, 3, 1), fresh = oracle::random_matrix(30, 3, 2);
  const Eigen::MatrixXd y = x.col(0) + x.col(1).cwiseAbs() + 0.3 * oracle::random_matrix(50, 1, 3);
  const Eigen::MatrixXd fresh_y = fresh.col(0) + fresh.col(1).cwiseAbs();
  constexpr std::uint64_t kSeed = 5;
  const uci::ChoiceScore found = uci::score_choice(uci::choices().at(0), {"made", x, y, fresh, fresh_y}, kSeed);
  RegressionSettings settings = regression_settings(3, {50}, 1, 50);
  settings.network.seed = kSeed;
  Bnn net(settings.network);
  const FitReport report = net.fit(x, y, settings.fit);
  const Scores expected = scores_of(net.predict(fresh), fresh_y).at(0);
  CHECK(found.scores.rmse == doctest::Approx(expected.rmse));
  CHECK(found.scores.log_likelihood == doctest::Approx(expected.log_likelihood));
  CHECK(found.left_out == doctest::Approx(report.left_out.at(0).scores.log_likelihood));
}

TEST_CASE("choices: a selection takes what has the best evidence, or the best left-out rows, and pays for all") {
  uci::ChoiceScores all{{"made"}, {{"default", {}}, {"hidden 50,50", {}}}, {{{{}, {}}}}};
  auto& split = all.scores[0][0];
  split[0] = {.scores = {.rmse = 1, .log_likelihood = -1}, .left_out = -1, .evidence = -3, .seconds = 1};
  split[1] = {.scores = {.rmse = 2, .log_likelihood = -2}, .left_out = -2, .evidence = -1, .seconds = 2};
  uci::add_selections(all);
  REQUIRE(all.tried.size() == 4);  // jitters were not tried: no selection among them
  CHECK(all.tried[2].name == "depth by evidence");
  CHECK(split[2].scores.rmse == 2);
  CHECK(split[3].scores.rmse == 1);
  CHECK(split[3].seconds == 3);
  CHECK(uci::choices_text(all).find("depth by left-out rows") != std::string::npos);
}

TEST_CASE("choices: rows held back are training rows") {
  uci::DataFolder data{"made", {}, {}, {{}}, {{100, 101}}};
  for (Eigen::Index n = 0; n < 40; ++n) data.train[0].push_back(n);
  uci::hold_back(data);
  CHECK(data.test[0] == std::vector<Eigen::Index>{0, 10, 20, 30});
  CHECK(data.train[0].size() == 36);
  CHECK(std::ranges::find(data.train[0], 100) == data.train[0].end());
}
