// The default beside its runner-ups, on rows that no choice was made by: every choice is one change of the default's settings, all
// are fitted to the same tables and scored on the same rows.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "models/network/joint_regression.h"
#include "models/table/scores.h"

namespace dma::uci {

struct Choice {
  std::string name;
  std::function<void(JointRegressionOptions&)> change;
};
// The first is the default.
const std::vector<Choice>& choices();

struct ScoredTable {
  std::string name;
  Eigen::MatrixXd inputs, targets, scored_inputs, scored_targets;
};

struct ChoiceScore {
  Scores scores;
  double left_out = 0;  // log density of a learned row, left out
  double evidence = 0;  // the best member's, a row
  double seconds = 0;
};
ChoiceScore score_choice(const Choice& choice, const ScoredTable& table, std::uint64_t seed);

// scores[table][split][choice].
struct ChoiceScores {
  std::vector<std::string> tables;
  std::vector<Choice> tried;
  std::vector<std::vector<std::vector<ChoiceScore>>> scores;
};
// Adds choices that take, table by table, whichever of some others has the best evidence or the best left-out rows.
void add_selections(ChoiceScores& all);
// Per choice and table: log-likelihood minus the default's with its standard error over splits; RMSE over the default's; coverage.
std::string choices_text(const ChoiceScores& all);

}  // namespace dma::uci
