#include "tools/dma/commands/fit_classifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/support/error.h"
#include "engine/support/text.h"
#include "models/files/classifier_file.h"
#include "models/network/bnn_check.h"
#include "tools/dma/commands/fit_report.h"
#include "tools/dma/fit/classifier_summary.h"
#include "tools/dma/help/command_line.h"
#include "tools/dma/io/interrupt.h"
#include "tools/dma/io/progress.h"
#include "tools/dma/io/standard_streams.h"
#include "tools/dma/io/write_file.h"
#include "tools/dma/page/report.h"
#include "tools/dma/pictures/fit_figures.h"

namespace dma {

namespace {

void check_classifier_request(const FitRequest& request) {
  const auto refuse = [](const char* option, const char* why) {
    fail("{}: {}; leave it out, or fit a target of numbers", option, why);
  };
  if (!request.plot_training.empty())
    refuse("--plot-training", "a classifier has no picture of its training but the one of --report");
  if (!request.checkpoint.empty()) refuse("--checkpoint", "a classifier is learned in one go");
  if (!request.resume.empty()) refuse("--resume", "a classifier is learned in one go");
}

struct LearnedClasses {
  Classifier classifier;
  ClassifierReport report;
  int signal = 0;
  std::vector<std::vector<double>> evidence = {};  // a row, after every epoch of every part
};

LearnedClasses learn_classes(const FitRequest& request, const ClassifierOptions& options, const TrainingData& data) {
  LearnedClasses learned{Classifier(options), {}};
  const double rows = total_weight(data.inputs.rows(), data.weights);
  InterruptWatch interrupt(request.seconds_to_learn());
  std::optional<ProgressLine> progress;
  if (!request.quiet && !request.json) progress.emplace();
  learned.report = learned.classifier.fit(data.inputs, data.labels(), [&](const ClassifierEpoch& e) {
    learned.evidence.resize(std::max(learned.evidence.size(), e.part + 1));
    learned.evidence[e.part].push_back(e.epoch.log_evidence / rows);
    if (progress)
      progress->show(fmt::format("{}, epoch {} of at most {}, log evidence {:.4f} a row",
                                 e.part == 0 ? "linear model" : fmt::format("network {} of {}", e.part, e.parts - 1),
                                 e.epoch.epoch, e.epochs, e.epoch.log_evidence / rows));
    return !interrupt.requested();
  }, data.weights);
  learned.signal = interrupt.signal();
  return learned;
}

// Of rows kept aside where there are any, else of the learned ones, each left out.
plot::Figure picture_of(const Classifier& model, const TrainingData& data) {
  const bool held_out = data.held_out_rows() > 0;
  const Eigen::MatrixXd probabilities = held_out ? model.predict(data.held_out_inputs) : model.left_out();
  const ClassLabels& labels = held_out ? data.held_out_labels() : data.labels();
  return classes_figure(model, data,
                        {probabilities, labels.of_rows, data.labels().names,
                         fmt::format("{} rows{}", probabilities.rows(), held_out ? " kept aside" : ", each left out")});
}

}  // namespace

void fit_classifier(const FitRequest& request, const TrainingData& data) {
  check_classifier_request(request);
  const ClassifierOptions options = classifier_for(request.settings);
  const LearnedClasses learned = learn_classes(request, options, data);
  SavedClassifier saved{
      .features = data.features, .target = data.targets[0], .options = options, .memory = learned.classifier.memory()};
  saved.coding = data.coding;
  saved.training = {.rows = data.rows(),
                    .held_out_rows = data.held_out_rows(),
                    .counts = data.labels().counts(),
                    .report = learned.report};
  try {
    check_saved(saved);  // as whoever reads the file will
    check_probabilities(learned.classifier.predict(data.inputs));
  } catch (const Error& e) {
    fail("the fit failed: {}; {}", e.what(), repair_of_numbers(options.standardise));
  }
  if (data.held_out_rows() > 0)
    saved.training.held_out =
        class_scores_of(learned.classifier.predict(data.held_out_inputs), data.held_out_labels().of_rows,
                        data.held_out_weights);
  if (!request.quiet) tell_of_columns(request, data);
  FitOutputs outputs(request);
  outputs.write_model([&] { return classifier_to_text(saved); });
  if (learned.signal != 0 && !learned.report.interrupted)
    std::raise(learned.signal);  // it came when nothing was left to learn

  outputs.draw(request.plot, [&] { return picture_of(learned.classifier, data); });
  outputs.tell(summary_json(saved), summary_text(saved), {honest_sentence(saved)}, [&] {
    return report::report_of({saved, learned.classifier, data, learned.evidence}, {request.command_line, request.data});
  });
  if (learned.report.interrupted) {
    end_early(request, learned.signal);
  }
}

}  // namespace dma
