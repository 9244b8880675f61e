#include "tools/experiments/tables/uci.h"

#include <map>

#include "models/network/regression.h"
#include "models/table/scores.h"
#include "tools/experiments/paper/thread_seconds.h"

namespace dma::uci {

std::vector<ScoreColumn> columns() {
  using Shows = ScoreColumn::Shows;
  return {{"RMSE", 3, Shows::mean_and_error},
          {"log-likelihood", 3, Shows::mean_and_error},
          {"95 % coverage", 3},
          {"worst row", 1, Shows::least},
          {"epochs", 0},
          {"CPU s per split", 2}};
}

SplitScores run_split(const DataFolder& data, std::size_t split, std::uint64_t seed, const FitChanges& changes) {
  const Eigen::MatrixXd inputs = data.inputs(data.train[split], Eigen::all),
                        targets = data.targets(data.train[split], Eigen::all);
  const Eigen::MatrixXd test_inputs = data.inputs(data.test[split], Eigen::all),
                        test_targets = data.targets(data.test[split], Eigen::all);
  RegressionSettings settings =
      regression_settings(static_cast<std::size_t>(inputs.cols()), static_cast<std::size_t>(targets.cols()),
                          static_cast<std::size_t>(inputs.rows()), changes.method);
  settings.network.seed = seed + split;
  settings.network.neighbours &= !changes.no_neighbours;
  settings.network.log_inputs &= !changes.no_log_inputs;
  const double start = thread_seconds();
  Bnn net(settings.network);
  const FitReport report = net.fit(inputs, targets, settings.fit);
  double epochs = 0;
  for (const LearnReport& member : report.members)
    epochs += static_cast<double>(member.epochs.size()) / static_cast<double>(report.members.size());
  const Prediction predicted = net.predict(test_inputs);
  const Scores scores = scores_of(predicted, test_targets)[0];
  const double worst_row = predicted.log_density(test_targets).minCoeff();
  return {scores.rmse, scores.log_likelihood, scores.coverage_95, worst_row, epochs, thread_seconds() - start};
}

std::vector<std::string> published_systems() { return {"PBP", "TAGI", "MC dropout", "deep ensembles"}; }

// PBP: Hernandez-Lobato and Adams 2015. TAGI: Goulet, Nguyen and Amiri 2021. MC dropout, tuned: Mukhoti, Stenetorp and
// Gal 2018. Deep ensembles: Lakshminarayanan, Pritzel and Blundell 2017.
std::vector<std::string> published(const std::string& set) {
  static const std::map<std::string, std::vector<std::string>> kTable = {
      {"boston", {"3.01 / -2.57", "3.15 / -2.58", "2.9 / -2.40", "3.28 / -2.41"}},
      {"concrete", {"5.67 / -3.16", "5.87 / -3.20", "4.82 / -2.93", "6.03 / -3.06"}},
      {"energy", {"1.8 / -2.04", "1.32 / -1.81", "0.54 / -1.21", "2.09 / -1.38"}},
      {"wine", {"0.64 / -0.97", "0.639 / -0.98", "0.62 / -0.93", "0.64 / -0.94"}},
      {"yacht", {"1.02 / -1.63", "1.04 / -1.60", "0.67 / -1.25", "1.58 / -1.18"}}};
  const auto found = kTable.find(set);
  return found == kTable.end() ? std::vector<std::string>(4, "-") : found->second;
}

}  // namespace dma::uci
