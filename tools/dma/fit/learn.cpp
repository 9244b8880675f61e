#include "tools/dma/fit/learn.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/support/fields.h"
#include "engine/support/text.h"
#include "factors/standard_registry.h"
#include "models/learn/mixing.h"
#include "models/learn/table_learner.h"
#include "tools/dma/io/read_file.h"

namespace dma {

namespace {

TableRows rows_to_learn(const TrainingData& data, TableModel& model) {
  TableRows rows{data.inputs, data.outputs, data.weights};
  if (GraphModel* graph = model.own_graph(); graph != nullptr && data.has_classes())
    rows.targets = graph->numbers_of(data.labels());
  return rows;
}

void check_same(const std::filesystem::path& path, const Json& saved, const Json& now) {
  for (const Json* options : {&saved, &now})
    for (const auto& [key, value] : options->items())
      if (key != "epochs" && key != "tolerance" && key != "patience" && key != "least_gain" &&
          saved.value(key, Json()) != now.value(key, Json()))
        fail("'{}' was made with {} = {}, but {} is given now; repeat the command that made it", path.string(), key,
             json_text(saved.value(key, Json())), json_text(now.value(key, Json())));
}

}  // namespace

ModelToLearn model_to_learn(const FitSettings& settings, const TrainingData& data,
                            const std::function<void(NetworkSettings&)>& adapt) {
  if (data.has_classes()) {
    const ClassifierOptions options = classifier_settings(settings);
    return {TableModel::classifier(options, data.features, data.targets[0], data.classes, data.coding),
            class_fit(options)};
  }
  NetworkSettings network = network_settings(settings, data.features.size(), data.targets.size(), data.rows());
  if (adapt) adapt(network);
  return {TableModel::network(network.network, data.features, data.targets, data.coding),
          {.options = network.fit},
          network.network.choose_width ? "" : network.reason};
}

Learned learn(TableModel model, TrainingData& data, WatchedFit fit) {
  const TableRows rows = rows_to_learn(data, model);
  fit.rows_elsewhere = data.rows_elsewhere;
  if (fit.began) fit.began(model);
  const TableReport report = model.fit(rows, fit);
  if (report.interrupted && fit.on_interruption) fit.on_interruption();
  data.drop(report.far);
  try {
    model.method().check();
  } catch (const Error& e) {
    fail("the fit failed: {}; {}, or another method or noise", e.what(), repair_of_numbers(model.standardises()));
  }
  Learned learned{.model = std::move(model), .interrupted = report.interrupted, .reason = report.form};
  learned.left_out = learned.model.method().left_out();
  if (learned.model.has_classes() && learned.left_out) {
    learned.left_out_probabilities = probabilities_of(learned.left_out->mean, learned.model.classes().size());
    learned.left_out.reset();
  }
  return learned;
}

void check_learned(Learned& learned, const TrainingData& data) {
  try {
    learned.warning = learned.model.check({data.inputs, data.outputs, data.weights});
  } catch (const Error& e) {
    if (!learned.interrupted) throw;
    learned.warning = e.what();  // more epochs may mend it
  }
}

TableRows held_out_of(const TrainingData& data, TableModel& model) {
  TableRows rows{data.held_out_inputs, data.held_out_outputs, data.held_out_weights};
  if (GraphModel* graph = model.own_graph(); graph != nullptr && data.has_classes())
    rows.targets = graph->numbers_of(data.held_out_labels());
  return rows;
}

ModelColumns columns_of(const TableModel& model) {
  return {model.features(), model.coding(), model.input_units(), model.own_graph() == nullptr && model.standardises()};
}

TableModel load_model(const std::filesystem::path& path) {
  return TableModel::from_text(read_file(path, "a model file"), path.string(), standard_registry());
}

TableModel resume_from(const std::filesystem::path& path, const TrainingData& data, const TableModel& model,
                       const LearnOptions& options) {
  TableModel saved = load_model(path);
  if (!saved.is_checkpoint())
    fail("'{}' is a finished model, not a checkpoint; --resume takes a file written by --checkpoint", path.string());
  if (saved.fingerprint() != data.fingerprint())
    fail(
        "'{}' belongs to other data, columns or held-out rows; repeat the command that made it, or start without "
        "--resume",
        path.string());
  BnnOptions now = model.network()->options();
  const BnnOptions& before = saved.network()->options();
  // Hidden layers and members that it has chosen.
  if (now.choose_width && before.choose_width && before.layers.front() == now.layers.front() &&
      before.layers.back() == now.layers.back())
    now.layers = before.layers;
  if (now.members == 0) now.members = before.members;
  check_same(path, written(before), written(now));
  check_same(path, written(saved.training().options), written(options));
  // A joint fit stopped in its first epoch may not have chosen its width or members: it begins anew.
  const TableLearner* const joint = saved.jointly();
  if (joint != nullptr && !joint->graphs().mixture().has_begun(1))
    return TableModel::network(model.network()->options(), data.features, data.targets, data.coding);
  return saved;
}

}  // namespace dma
