// dma predict: what a fitted model says about new rows.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/dma/commands/commands.h"
#include "tools/dma/fit/learn.h"
#include "tools/dma/fit/prediction_table.h"
#include "tools/dma/io/standard_streams.h"
#include "tools/dma/io/write_file.h"

namespace dma {

namespace {

struct PredictRequest {
  std::filesystem::path model, data, out;
  bool json = false;
};

void predict(const PredictRequest& request) {
  check_outputs({{"--out", request.out}}, {{"model", request.model}, {"data", request.data}});
  const TableModel model = load_model(request.model);
  const TrainingData rows =
      read_new_rows(TableSource(request.data), fmt::format("'{}'", request.model.string()), columns_of(model));
  for (const std::string& note : rows.notes) say(note);
  const std::vector<PredictedColumn> columns = predicted_columns(model, rows.inputs);
  write_or_print(request.out, request.json ? readable(json_of(columns)) : csv_of(columns));
}

}  // namespace

void add_predict_command(Command app) {
  auto request = std::make_shared<PredictRequest>();
  const Command command = app.add_subcommand("predict", "Predict new rows with a fitted model");
  command.footer(
      "Example:\n"
      "  dma predict model.json new.csv --out predictions.csv\n"
      "One row per row of the input. For a target y: y_mean, y_sd (noise included), y_epistemic_sd (without the "
      "noise), and the\n"
      "bounds y_q2.5 and y_q97.5 of the central 95 % interval. For a target of classes: y_class, the most probable "
      "one, and a\n"
      "probability y_p_NAME for each. Columns are matched by name; others are ignored. Missing cells, and values of "
      "text that the fit\n"
      "did not have, are named on standard error, and the other columns decide.");
  command.add_option("model", request->model, "model file of dma fit").required();
  command.add_option("data", request->data, "CSV file with the columns that the model was fitted on").required();
  command.add_option("--out", request->out, "file for the predictions (default: standard output)");
  command.add_flag("--json", request->json, "JSON instead of CSV");
  command.callback([request] { predict(*request); });
}

}  // namespace dma
