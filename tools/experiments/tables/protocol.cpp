#include "tools/experiments/tables/protocol.h"

#include <time.h>

#include <cmath>
#include <map>
#include <mutex>

#include "engine/support/parallel.h"
#include "tools/experiments/paper/thread_seconds.h"

namespace dma::uci {

namespace {

SplitResult run_split(const DataFolder& data, std::size_t split, std::uint64_t seed, const ProtocolOptions& options) {
  const Eigen::MatrixXd inputs = data.inputs(data.train[split], Eigen::all),
                        targets = data.targets(data.train[split], Eigen::all);
  const Eigen::MatrixXd test_inputs = data.inputs(data.test[split], Eigen::all),
                        test_targets = data.targets(data.test[split], Eigen::all);
  RegressionSettings settings =
      regression_settings(static_cast<std::size_t>(inputs.cols()), static_cast<std::size_t>(targets.cols()),
                          static_cast<std::size_t>(inputs.rows()), options.method);
  settings.network.seed = seed + split;
  if (options.adjust) options.adjust(settings);
  SplitResult result;
  result.split = split;
  const double start = thread_seconds();
  Bnn net(settings.network);
  const FitReport report = net.fit(inputs, targets, settings.fit);
  for (const LearnReport& member : report.members)
    result.epochs += static_cast<double>(member.epochs.size()) / static_cast<double>(report.members.size());
  const Prediction predicted = net.predict(test_inputs);
  result.scores = scores_of(predicted, test_targets)[0];
  result.worst_row = predicted.log_density(test_targets).minCoeff();
  result.seconds = thread_seconds() - start;
  return result;
}

}  // namespace

std::vector<SplitResult> run_protocol(const DataFolder& data, std::uint64_t seed, const ProtocolOptions& options) {
  std::vector<SplitResult> results(data.train.size());
  std::mutex reporting;
  parallel_for(results.size(), options.jobs, [&](std::size_t split) {
    results[split] = run_split(data, split, seed, options);
    const std::lock_guard lock(reporting);
    if (options.on_split) options.on_split(results[split]);
  });
  return results;
}

std::vector<Published> published(const std::string& set) {
  // PBP: Hernandez-Lobato and Adams 2015. TAGI: Goulet, Nguyen and Amiri 2021. MC dropout, tuned: Mukhoti, Stenetorp
  // and Gal
  // 2018. Deep ensembles: Lakshminarayanan, Pritzel and Blundell 2017.
  static const std::map<std::string, std::vector<Published>> kTable = {
      {"boston",
       {{"PBP", 3.01, -2.57}, {"TAGI", 3.15, -2.58}, {"MC dropout", 2.90, -2.40}, {"deep ensembles", 3.28, -2.41}}},
      {"concrete",
       {{"PBP", 5.67, -3.16}, {"TAGI", 5.87, -3.20}, {"MC dropout", 4.82, -2.93}, {"deep ensembles", 6.03, -3.06}}},
      {"energy",
       {{"PBP", 1.80, -2.04}, {"TAGI", 1.32, -1.81}, {"MC dropout", 0.54, -1.21}, {"deep ensembles", 2.09, -1.38}}},
      {"wine",
       {{"PBP", 0.64, -0.97}, {"TAGI", 0.639, -0.98}, {"MC dropout", 0.62, -0.93}, {"deep ensembles", 0.64, -0.94}}},
      {"yacht",
       {{"PBP", 1.02, -1.63}, {"TAGI", 1.04, -1.60}, {"MC dropout", 0.67, -1.25}, {"deep ensembles", 1.58, -1.18}}},
  };
  const auto found = kTable.find(set);
  return found == kTable.end() ? std::vector<Published>{} : found->second;
}

}  // namespace dma::uci
