// Networks for classes: learning, and what is asked of them.
#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "engine/support/error.h"
#include "models/network/bnn_check.h"
#include "tools/dma/fit/table_model.h"

namespace dma {

Learned learn_classes(const TrainingData& data, const ClassifierOptions& options, const FitWatch& watch) {
  Learned learned;
  Classifier net(options);
  const auto begin = std::chrono::steady_clock::now();
  const double rows = total_weight(data.inputs.rows(), data.weights);
  const ClassLabels labels = data.labels();
  const auto on_epoch = [&](const ClassifierEpoch& e) {
    const double evidence = e.epoch.log_evidence / rows;
    learned.curves.resize(std::max(learned.curves.size(), e.part + 1));
    learned.curves[e.part].push_back(evidence);
    return !watch.on_epoch ||
           watch.on_epoch(
               {e.part, e.epoch.epoch, evidence,
                std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
                fmt::format("{}, epoch {} of at most {}, log evidence {:.4f} a row",
                            e.part == 0 ? "linear model" : fmt::format("network {} of {}", e.part, e.parts - 1),
                            e.epoch.epoch, e.epochs, evidence)});
  };
  const ClassifierReport report = net.fit(data.inputs, labels, on_epoch, data.weights);
  SavedClassifier saved{
      .features = data.features, .target = data.targets[0], .options = options, .memory = net.memory()};
  saved.coding = data.coding;
  saved.training = {
      .rows = data.rows(), .held_out_rows = data.held_out_rows(), .counts = labels.counts(), .report = report};
  try {
    check_saved(saved);
    learned.model = std::make_shared<ClassModel>(std::move(saved));
    (void)learned.model->probabilities(data.inputs);
  } catch (const Error& e) {
    fail("the fit failed: {}; {}", e.what(), repair_of_numbers(options.standardise));
  }
  learned.interrupted = report.interrupted;
  learned.reason = report.reason;
  learned.line = learned.model->sentences()[0];
  learned.left_out_probabilities = net.left_out();
  return learned;
}

void ClassModel::judge(const TrainingData& data) {
  saved_.training.held_out =
      class_scores_of(net_.predict(data.held_out_inputs), data.held_out_labels().of_rows, data.held_out_weights);
}

double ClassModel::products_per_row() const {
  const Classifier::Memory& memory = saved_.memory;
  double products = memory.neighbours ? static_cast<double>(memory.neighbours->memory().rows.size()) : 0;
  for (const Classifier::Part& part : memory.parts)
    products += std::pow(static_cast<double>(part.mean().size()), 2) * static_cast<double>(memory.classes.size());
  return products;
}

}  // namespace dma
