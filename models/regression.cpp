#include "models/regression.h"

#include <algorithm>

namespace dma {

namespace {

constexpr double kSlope = 0.1;
constexpr double kPriorMeanScale = 0.5;
// Prior variance of a weight times its fan-in.
constexpr double kPriorVariance = 0.5;
constexpr double kEvidenceWeight = 5;
// The share of each change that is made at once.
constexpr double kStep = 0.5;
constexpr int kEpochs = 200;
constexpr double kLeastGain = 0.001;  // nats an epoch, see LearnOptions
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
  LearnOptions& fit = settings.fit;
  fit.batch_size = std::max(kRowsPerBatch, (rows + kMostBatches - 1) / kMostBatches);
  fit.epochs = kEpochs;
  fit.tolerance = 0;
  fit.least_gain = kLeastGain;
  fit.step = kStep;
  set_tempering(fit, kEvidenceWeight);
  fit.likelihood = LearnOptions::Likelihood::while_sweeping;
  return settings;
}

void set_tempering(LearnOptions& fit, double times) {
  fit.evidence_weight = times;
  fit.first_step = std::min(1.0, 1 / times);
}

}  // namespace dma
