#include "models/files/classifier_file.h"

#include <algorithm>
#include <cmath>

#include "engine/support/error.h"
#include "engine/support/fields.h"
#include "engine/support/usable.h"
#include "models/files/bnn_file.h"
#include "models/files/joint_file.h"
#include "models/files/model_file.h"

namespace dma {

void list_fields(Fields& f, ClassScores& s) {
  f("accuracy", s.accuracy);
  f("log_loss", s.log_loss);
  f("calibration_error", s.calibration_error);
}

void list_fields(Fields& f, ClassifierOptions& o) {
  f("hidden", o.hidden);
  f("slope", o.slope);
  f("smoothing", o.smoothing);
  f("prior_variance_scale", o.prior_variance_scale);
  f("standardise", o.standardise);
  f("neighbours", o.neighbours);
  f("log_inputs", o.log_inputs);
  f("members", o.members);
  f("epochs", o.epochs);
  f("seed", o.seed);
}

void list_fields(Fields& f, ClassifierTraining& t) {
  f("rows", t.rows);
  f("held_out_rows", t.held_out_rows);
  f("rows_of_classes", t.counts);
  f("reason", t.report.reason);
  f("epochs", t.report.epochs);
  f("settled", t.report.settled);
  f("interrupted", t.report.interrupted);
  f("frequencies_fraction", t.report.frequencies_fraction);
  f("linear_fraction", t.report.linear_fraction);
  f("network_fraction", t.report.network_fraction);
  f("neighbours_fraction", t.report.neighbours_fraction);
  f("left_out", t.report.left_out);
  f("frequencies", t.report.frequencies);
  f("held_out", t.held_out);
}

void list_fields(Fields& f, Classifier::Part& p) {
  f("hidden", p.hidden);
  f("fraction", p.fraction);
  f("posterior", p.posterior);
}

void list_fields(Fields& f, ClassNeighbours::Memory& m) {
  f("fraction", m.fraction);
  f("width", m.width);
  f("doubt", m.doubt);
  f("scales", m.scales);
  f("rows", m.rows);
  f("classes", m.classes);
  f("row_weights", m.weights);
}

void list_fields(Fields& f, SavedClassifier& saved) {
  Classifier::Memory& memory = saved.memory;
  f("features", saved.features);
  f("target", saved.target);
  f("columns", saved.coding.rules);
  f("classes", memory.classes);
  f("options", saved.options);
  f("training", saved.training);
  f("inputs", memory.inputs);
  f("directions", memory.directions.basis);
  f("frequencies", memory.frequencies);
  f("frequencies_fraction", memory.frequencies_fraction);
  f("parts", memory.parts);
  std::optional<ClassNeighbours::Memory> neighbours;
  if (memory.neighbours) neighbours = memory.neighbours->memory();
  f("neighbours", neighbours);
  if (!f.is_reading() || !neighbours) return;
  neighbours->frequencies = memory.frequencies;
  check_class_neighbours(*neighbours, memory.inputs.shift.size());
  memory.neighbours = std::make_shared<const ClassNeighbours>(std::move(*neighbours));
}

Json to_json(const ClassScores& scores) { return written(scores); }
Json to_json(const ClassifierOptions& options) { return written(options); }

std::string classifier_to_text(const SavedClassifier& saved) {
  return model_file(model_kinds::kClassifier, written(saved));
}

SavedClassifier classifier_from_text(std::string_view text, std::string_view source) {
  SavedClassifier saved;
  read_model(text, source, {model_kinds::kClassifier}, [&](const Json& json) {
    read_into(json, saved);
    check_saved(saved);
  });
  saved.source = source;
  return saved;
}

Classifier make_classifier(const SavedClassifier& saved) {
  std::optional<Classifier> classifier;
  blaming(saved.source, [&] {
    classifier.emplace(saved.options);
    classifier->restore(saved.memory);
    if (!saved.source.empty())
      expect(classifier->predict(saved.memory.inputs.usual()).allFinite(),
             "it predicts no probability where its inputs have their means");
  });
  return std::move(*classifier);
}

}  // namespace dma
