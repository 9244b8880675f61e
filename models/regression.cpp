#include "models/regression.h"

#include <algorithm>

namespace dma {

namespace {

constexpr double kSlope = 0.1;
constexpr double kPriorMeanScale = 0.5;
// Prior variance of a weight times its fan-in.
constexpr double kPriorVariance = 0.5;
constexpr double kEvidenceWeight = 5;
// Half of each change is made at once, and in the first epoch just enough for every row to count once.
constexpr double kStep = 0.5, kFirstStep = 1 / kEvidenceWeight;
constexpr int kEpochs = 100;
constexpr std::size_t kRowsPerBatch = 3;
// Every batch stores a message per weight: this bounds the memory on large tables.
constexpr std::size_t kMostBatches = 2000;

}  // namespace

RegressionSettings regression_settings(std::size_t inputs, std::vector<std::size_t> hidden, std::size_t outputs,
                                       std::size_t rows) {
  RegressionSettings settings;
  BnnOptions& network = settings.network;
  network.layers = {inputs};
  network.layers.insert(network.layers.end(), hidden.begin(), hidden.end());
  network.layers.push_back(outputs);
  network.slopes = kSlope;
  network.bias = true;
  network.standardise = true;
  network.prior_mean_scale = kPriorMeanScale;
  network.prior_variance_scale = kPriorVariance * static_cast<double>(hidden.size() + 1);
  network.method = "hybrid";
  FitOptions& fit = settings.fit;
  fit.batch_size = std::max(kRowsPerBatch, (rows + kMostBatches - 1) / kMostBatches);
  fit.epochs = kEpochs;
  fit.tolerance = 0;
  fit.evidence_weight = kEvidenceWeight;
  fit.step = kStep;
  fit.first_step = kFirstStep;
  fit.likelihood = LearnOptions::Likelihood::while_sweeping;
  return settings;
}

}  // namespace dma
