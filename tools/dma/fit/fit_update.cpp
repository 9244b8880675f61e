#include "tools/dma/fit/fit_update.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "engine/support/error.h"
#include "engine/support/text.h"
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

// Rows without a target are no part of them.
NewRows read_rows_to_add(const FitRequest& request, const SavedBnn& saved) {
  NewRows rows = read_new_rows(
      request.data, {request.update, saved.features, saved.coding, saved.memory.inputs, saved.options.standardise},
      saved.targets);
  std::vector<Eigen::Index> kept;
  for (Eigen::Index n = 0; n < rows.targets.rows(); ++n)
    if (!rows.targets.row(n).hasNaN()) kept.push_back(n);
  if (const auto dropped = rows.targets.rows() - static_cast<Eigen::Index>(kept.size()); dropped > 0) {
    if (kept.empty()) fail("'{}': no row has a target; at least one is expected", request.data);
    rows.notes.push_back(fmt::format("{} of {} rows are left out: they have no target", dropped, rows.targets.rows()));
    rows.inputs = rows.inputs(kept, Eigen::all).eval();
    rows.targets = rows.targets(kept, Eigen::all).eval();
  }
  return rows;
}

}  // namespace

void fit_update(const FitRequest& request) {
  check_update_request(request);
  auto model = load_model(request.update);
  if (std::holds_alternative<SavedClassifier>(model))
    fail("--update: '{}' is a classifier, to which no rows can be added; fit old and new rows together",
         request.update.string());
  if (std::holds_alternative<GraphModel>(model))
    fail("--update: '{}' is a learned graph, to which the command adds no rows; fit old and new rows together",
         request.update.string());
  SavedBnn saved = std::get<SavedBnn>(std::move(model));
  if (saved.is_checkpoint())
    fail("'{}' is a checkpoint of a fit that has not ended; go on with --resume", request.update.string());
  const auto [inputs, outputs, notes] = read_rows_to_add(request, saved);
  Bnn net = make_bnn(saved);
  const std::vector<Scores> before = scores_of(net.predict(inputs), outputs);
  const std::size_t known = saved.training.rows;
  const bool settled = learn_more(net, saved, inputs, outputs);
  const std::filesystem::path file = request.model.empty() ? request.update : request.model;
  const std::string text = bnn_to_text(saved);
  (void)make_bnn(bnn_from_text(text, file.string()));  // as whoever reads the file will
  write_file(file, text);
  if (!request.quiet)
    for (const std::string& note : notes) say(note);
  if (request.json) {
    Json json{
        {"rows", saved.training.rows}, {"new_rows", inputs.rows()}, {"settled", settled}, {"files", {file.string()}}};
    for (std::size_t j = 0; j < before.size(); ++j) json["before"][saved.targets[j]] = to_json(before[j]);
    fmt::print("{}", readable(json));
  } else if (!request.quiet) {
    fmt::print("learned   {} rows on top of {}{}\n", inputs.rows(), known,
               settled ? "" : " (still changing at the limit of steps)");
    for (std::size_t j = 0; j < before.size(); ++j)
      fmt::print(
          "{}: before that, these rows were predicted with an RMSE of {:.4g}, and 95 % intervals held {:.0f} %\n",
          saved.targets[j], before[j].rmse, 100 * before[j].coverage_95);
    fmt::print("wrote     {}\n", printable(file.string()));
  }
}

}  // namespace dma
