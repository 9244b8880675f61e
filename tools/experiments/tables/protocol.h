// The standard protocol: fit on the training rows of each split, score on its test rows in the target's units.
#pragma once

#include <functional>
#include <vector>

#include "models/network/regression.h"
#include "models/table/scores.h"
#include "tools/experiments/tables/data_folder.h"

namespace dma::uci {

struct SplitResult {
  std::size_t split = 0;
  Scores scores;
  double worst_row = 0;            // log density of the target that is least expected
  double seconds = 0, epochs = 0;  // of the processor; mean over members
};

struct ProtocolOptions {
  std::size_t jobs = 1;
  std::function<void(RegressionSettings&)> adjust = {};   // changes to the default settings
  std::string method = {};                                // empty: the default
  std::function<void(const SplitResult&)> on_split = {};  // called from one thread at a time
};

// Results in the order of the splits, whatever the number of jobs.
std::vector<SplitResult> run_protocol(const DataFolder& data, std::uint64_t seed, const ProtocolOptions& options);

// RMSE and log-likelihood as published; none for sets the tables do not have.
struct Published {
  std::string system;
  double rmse, log_likelihood;
};
std::vector<Published> published(const std::string& set);

}  // namespace dma::uci
