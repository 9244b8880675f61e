#include "tools/dma/fit/fit_update.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/support/fields.h"
#include "engine/support/text.h"
#include "factors/standard_registry.h"
#include "tools/dma/fit/learn.h"
#include "tools/dma/io/standard_streams.h"
#include "tools/dma/io/write_file.h"

namespace dma {

namespace {

void check_update_request(const FitRequest& request) {
  constexpr std::string_view kUnderstood[] = {"data",   "--update", "--model",    "--weights", "--strict", "--seed",
                                              "--jobs", "--json",   "--progress", "--verbose", "--quiet"};
  for (const std::string& option : request.given)
    if (std::ranges::find(kUnderstood, option) == std::end(kUnderstood))
      fail("{}: an update has no such option; leave it out", option);
  if (!request.model.empty()) check_outputs({{"--model", request.model}}, {{"data", request.data}});
  check_outputs({{"--update", request.update}}, {{"data", request.data}});
}

}  // namespace

void fit_update(const FitRequest& request) {
  check_update_request(request);
  const std::filesystem::path file = request.model.empty() ? request.update : request.model;
  TableModel model = load_model(request.update);
  const std::vector<std::string>& targets = model.targets();
  const std::size_t known = model.training().rows;
  if (model.has_classes())
    fail(
        "--update: '{}' predicts classes, and rows are added to models of numbers alone; fit old and new rows together",
        request.update.string());
  const TrainingData rows = read_new_rows(TableSource(request.data), fmt::format("'{}'", request.update.string()),
                                          columns_of(model), targets, request.weights);
  const std::vector<std::string>& notes = rows.notes;
  const auto added = static_cast<std::size_t>(rows.inputs.rows());
  std::vector<Scores> before;  // scores of the new rows, predicted by the old ones
  if (rows.inputs.cols() > 0) before = scores_of(model.predict(rows.inputs), rows.outputs, rows.weights);
  bool settled = false;
  try {
    settled = model.update({rows.inputs, rows.outputs, rows.weights});
  } catch (const Error& e) {
    fail("'{}': {}", request.update.string(), e.what());
  }
  const std::string text = model.text();
  (void)TableModel::from_text(text, "the updated model", standard_registry());  // as whoever reads the file will
  write_file(file, text);
  if (!request.quiet)
    for (const std::string& note : notes) say(note);
  if (request.json) {
    Json json{{"rows", known + added}, {"new_rows", added}, {"settled", settled}, {"files", {file.string()}}};
    for (std::size_t j = 0; j < before.size(); ++j) json["before"][targets[j]] = written(before[j]);
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
