#include "models/network/bnn.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/learn/gaussian/solver_form.h"
#include "engine/support/text.h"
#include "engine/support/whole_number.h"

namespace dma {

namespace {

constexpr int kJointEpochs = 100;
constexpr double kJointLeastGain = 0.0003;  // nats a left-out row and epoch, see SharedFitOptions

constexpr double kPriorMeanScale = 0.5;
// Prior variance of a weight times its fan-in.
constexpr double kPriorVariance = 0.5;
// The fraction of each change that is made at once.
constexpr double kStep = 0.5;
constexpr int kEpochs = 200;
constexpr double kLeastGain = 0.001;  // nats an epoch, see LearnOptions
constexpr std::size_t kRowsPerBatch = 3;
constexpr std::size_t kMostBatches = 2000;

void learn_jointly(RegressionSettings& settings) {
  settings.fit.batches = 1;
  settings.fit.epochs = kJointEpochs;
  settings.fit.tolerance = 0;
  settings.fit.least_gain = kJointLeastGain;
}

void learn_by_messages(std::size_t rows, const std::string& method, RegressionSettings& settings) {
  BnnOptions& network = settings.network;
  network.method = method;
  network.members = 1;
  network.linear_baseline = method == "hybrid" && network.layers.size() > 2;
  network.prior_mean_scale = kPriorMeanScale;
  network.prior_variance_scale = kPriorVariance * static_cast<double>(network.layers.size() - 1);
  LearnOptions& fit = settings.fit;
  fit.batch_size = std::max(kRowsPerBatch, (rows + kMostBatches - 1) / kMostBatches);
  fit.epochs = kEpochs;
  fit.tolerance = 0;
  fit.least_gain = kLeastGain;
  fit.step = kStep;
  fit.likelihood = LearnOptions::Likelihood::while_sweeping;
}

}  // namespace

RegressionSettings regression_settings(std::size_t inputs, std::vector<std::size_t> hidden, std::size_t outputs,
                                       std::size_t rows, const std::string& method) {
  RegressionSettings settings;
  settings.network.layers = {inputs};
  settings.network.layers.insert(settings.network.layers.end(), hidden.begin(), hidden.end());
  settings.network.layers.push_back(outputs);
  if (!method.empty() && method != "joint") {
    learn_by_messages(rows, method, settings);
    settings.reason = fmt::format("method {}, as asked for", method);
    return settings;
  }
  Index weights = 0;
  for (std::size_t l = 0; l + 1 < settings.network.layers.size(); ++l)
    weights += static_cast<Index>(settings.network.layers[l + 1] * (settings.network.layers[l] + 1));
  const SolverForm form = choose_form(static_cast<Index>(rows), static_cast<Index>(outputs), weights);
  settings.reason = form.reason;
  if (form.form != SolverForm::Form::none)
    learn_jointly(settings);
  else if (method == "joint")
    fail("method joint: {}", form.reason);
  else
    learn_by_messages(rows, "hybrid", settings);
  return settings;
}

RegressionSettings regression_settings(std::size_t inputs, std::size_t outputs, std::size_t rows,
                                       const std::string& method) {
  constexpr std::size_t kUsualWidth = 50;
  RegressionSettings settings = regression_settings(inputs, {kUsualWidth}, outputs, rows, method);
  if (settings.network.is_joint()) {
    settings.network.choose_width = true;
    settings.reason = "one Gaussian over all weights; rows held out choose the width";
  }
  return settings;
}

std::string bound_stored_messages(const BnnOptions& network, std::size_t rows, LearnOptions& fit) {
  if (fit.batch_size == 0) return {};
  double weights = 0;
  for (std::size_t l = 0; l + 1 < network.layers.size(); ++l)
    weights +=
        static_cast<double>(network.layers[l] + (network.bias ? 1 : 0)) * static_cast<double>(network.layers[l + 1]);
  const std::size_t batches = (rows + fit.batch_size - 1) / fit.batch_size;
  const double bytes = 16 * weights * static_cast<double>(batches * std::max<std::size_t>(1, network.members));
  if (bytes <= kMostStoredBytes) return {};
  const auto times = whole_number<std::size_t>(std::ceil(bytes / kMostStoredBytes), 1, batches);
  fit.batch_size *= times;
  return fmt::format("mini-batches of {} rows, so that messages take {:.2g} GB rather than {:.2g} (--batch-size)",
                     fit.batch_size, 1e-9 * bytes / static_cast<double>(times), 1e-9 * bytes);
}

// Measured on tables of 100 and 1,000 rows with 3 inputs: 300 and 1,000 units by a matrix over rows in four members 5.0
// and 15 s, 50 and 150 units by one over weights 2.1 and 13 s, 1,000 units by messages 0.17 s for 20 epochs.
double seconds_of_fit(const BnnOptions& network, const LearnOptions& fit, std::size_t rows) {
  constexpr double kByRows = 1.8e-7, kByWeights = 2.5e-8, kByMessages = 1.7e-8;
  const auto epochs = static_cast<double>(fit.epochs);
  const auto outputs = static_cast<double>(network.layers.back()), n = static_cast<double>(rows) * outputs;
  double weights = 0, sides = 0;
  for (std::size_t l = 0; l + 1 < network.layers.size(); ++l) {
    const auto from = static_cast<double>(network.layers[l]), to = static_cast<double>(network.layers[l + 1]);
    weights += (from + (network.bias ? 1 : 0)) * to, sides += from + to;
  }
  const auto given = static_cast<double>(std::max<std::size_t>(1, network.members));
  if (!network.is_joint()) return kByMessages * epochs * given * static_cast<double>(rows) * weights;
  const double members = network.members > 0
                             ? given
                             : static_cast<double>(affordable_members(
                                   static_cast<Index>(rows), static_cast<Index>(outputs), static_cast<Index>(weights)));
  const double products = n <= weights ? kByRows * n * n * (sides + n) : kByWeights * n * weights * weights;
  return members * products * epochs / kJointEpochs;
}

}  // namespace dma
