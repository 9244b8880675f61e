#include "tools/dma/fit/fit_update.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "engine/support/error.h"
#include "engine/support/text.h"
#include "factors/standard_registry.h"
#include "models/files/bnn_file.h"
#include "tools/dma/fit/mixed_table.h"
#include "tools/dma/fit/prediction_table.h"
#include "tools/dma/fit/saved_fit.h"
#include "tools/dma/io/model_file.h"
#include "tools/dma/io/standard_streams.h"
#include "tools/dma/io/write_file.h"

namespace dma {

namespace {

void check_update_request(const FitRequest& request) {
  const auto refuse = [](const char* option, const char* why) {
    fail("{} is given with --update; {}: leave it away", option, why);
  };
  if (!request.targets.empty()) refuse("--target", "the model knows its targets");
  if (!request.features.empty()) refuse("--features", "the model knows its columns");
  if (request.numbers_are_classes) refuse("--classes", "a classifier is not updated");
  if (request.holdout != 0) refuse("--holdout", "all rows are learned");
  if (!request.resume.empty() || !request.checkpoint.empty())
    refuse("--resume or --checkpoint", "an update is one short step");
  if (!request.plot.empty() || !request.plot_training.empty())
    refuse("a picture", "the old rows are not there to be drawn");
  if (!request.report.empty()) refuse("--report", "the old rows are not there to be judged by");
  if (!request.model.empty()) check_outputs({{"--model", request.model}}, {{"data", request.data}});
  check_outputs({{"--update", request.update}}, {{"data", request.data}});
}

// Rows without a target, or of weight 0, are no part of them.
NewRows read_rows_to_add(const FitRequest& request, const SavedBnn& saved) {
  NewRows rows = read_new_rows(
      request.data, {request.update, saved.features, saved.coding, saved.memory.inputs, saved.options.standardise},
      saved.targets, request.weights);
  if (!request.weights.empty()) check_column_of_weights(request.data, request.weights, rows.weights);
  const auto keep = [&](const auto& is_kept, const char* why) {
    std::vector<Eigen::Index> kept;
    const Eigen::Index all = rows.targets.rows();
    for (Eigen::Index n = 0; n < all; ++n)
      if (is_kept(n)) kept.push_back(n);
    if (std::ssize(kept) == all) return;
    if (kept.empty()) fail("'{}': no row has a target; at least one is expected", request.data);
    rows.notes.push_back(fmt::format("{} of {} rows are left out: {}", all - std::ssize(kept), all, why));
    rows.inputs = rows.inputs(kept, Eigen::all).eval();
    rows.targets = rows.targets(kept, Eigen::all).eval();
    rows.weights = weights_of(rows.weights, kept);
  };
  keep([&](Eigen::Index n) { return weight_of(rows.weights, n) > 0; }, "their weight is 0");
  keep([&](Eigen::Index n) { return !rows.targets.row(n).hasNaN(); }, "they have no target");
  return rows;
}

constexpr std::string_view kUpdated = "the updated model";

// What an update did.
struct Updated {
  std::vector<std::string> targets, notes;
  std::size_t known = 0, added = 0;
  std::vector<Scores> before;  // how the new rows were predicted by the old ones
  bool settled = false;
  std::string text = {};  // of the model
};

Updated updated(const FitRequest& request, SavedBnn saved) {
  if (saved.is_checkpoint())
    fail("'{}' is a checkpoint of a fit that has not ended; go on with --resume", request.update.string());
  const auto [inputs, outputs, weights, notes] = read_rows_to_add(request, saved);
  Bnn net = make_bnn(saved);
  Updated all{saved.targets, notes, saved.training.rows, static_cast<std::size_t>(inputs.rows()),
              scores_of(net.predict(inputs), outputs, weights)};
  all.settled = learn_more(net, saved, inputs, outputs, weights);
  all.text = bnn_to_text(saved);
  (void)make_bnn(bnn_from_text(all.text, kUpdated));  // as whoever reads the file will
  return all;
}

Updated updated(const FitRequest& request, GraphModel model) {
  if (model.has_classes())
    fail("'{}' has learned classes by a graph, to which rows cannot be added; fit all rows together",
         request.update.string());
  if (!request.weights.empty())
    fail("--weights: '{}' is a graph of your own, whose rows have none; leave it out", request.update.string());
  CsvReader reader(request.data);
  std::vector<std::size_t> places;
  for (const auto* names : {&model.inputs(), &model.targets()})
    for (const std::string& name : *names) places.push_back(reader.column(name));
  const Eigen::MatrixXd rows = reader.read(places);
  const auto columns = static_cast<Eigen::Index>(model.inputs().size());
  const Eigen::MatrixXd inputs = rows.leftCols(columns), outputs = rows.rightCols(rows.cols() - columns);
  Updated all{model.targets(), {}, model.training.rows, static_cast<std::size_t>(rows.rows()), {}};
  if (columns > 0) all.before = scores_of(model.predict(inputs), outputs);
  all.settled = model.update(inputs, outputs);
  if (columns > 0) check_prediction(model.predict(inputs), model.targets());
  all.text = graph_model_text(model);
  (void)graph_model_from(all.text, kUpdated, standard_registry());
  return all;
}

Updated updated(const FitRequest& request, const SavedClassifier&) {
  fail("--update: '{}' is a classifier, to which no rows can be added; fit old and new rows together",
       request.update.string());
}

}  // namespace

void fit_update(const FitRequest& request) {
  check_update_request(request);
  const std::filesystem::path file = request.model.empty() ? request.update : request.model;
  const auto [targets, notes, known, added, before, settled, text] = std::visit(
      [&](auto&& model) { return updated(request, std::move(model)); }, load_model(request.update));
  write_file(file, text);
  if (!request.quiet)
    for (const std::string& note : notes) say(note);
  if (request.json) {
    Json json{{"rows", known + added}, {"new_rows", added}, {"settled", settled}, {"files", {file.string()}}};
    for (std::size_t j = 0; j < before.size(); ++j) json["before"][targets[j]] = to_json(before[j]);
    fmt::print("{}", readable(json));
  } else if (!request.quiet) {
    fmt::print("learned   {} row{} on top of {}{}\n", added, added == 1 ? "" : "s", known,
               settled ? "" : " (still changing at the limit of steps)");
    for (std::size_t j = 0; j < before.size(); ++j)
      fmt::print(
          "{}: before that, these rows were predicted with an RMSE of {:.4g}, and 95 % intervals held {:.0f} %\n",
          targets[j], before[j].rmse, 100 * before[j].coverage_95);
    fmt::print("wrote     {}\n", printable(file.string()));
  }
}

}  // namespace dma
