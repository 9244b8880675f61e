// dma predict: what a fitted network says about new rows.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <variant>

#include "engine/support/error.h"
#include "tools/dma/commands/commands.h"
#include "tools/dma/fit/classifier_summary.h"
#include "tools/dma/fit/mixed_table.h"
#include "tools/dma/fit/prediction_table.h"
#include "tools/dma/io/csv.h"
#include "tools/dma/io/model_file.h"
#include "tools/dma/io/standard_streams.h"
#include "tools/dma/io/write_file.h"

namespace dma {

namespace {

struct PredictRequest {
  std::filesystem::path model, data, out;
  bool json = false;
};

template <class Saved>
NewRows read_inputs(const PredictRequest& request, const Saved& saved) {
  return read_new_rows(
      request.data, {request.model, saved.features, saved.coding, saved.memory.inputs, saved.options.standardise});
}

void say_notes(const NewRows& rows) {
  for (const std::string& note : rows.notes) say(note);
}

std::string numbers_predicted(const PredictRequest& request, SavedBnn saved) {
  const NewRows rows = read_inputs(request, saved);
  const std::vector<std::string> targets = saved.targets;
  Bnn net = make_bnn(std::move(saved));
  const Prediction prediction = net.predict(rows.inputs);
  check_prediction(prediction, targets);
  say_notes(rows);
  return request.json ? readable(prediction_json(prediction, targets)) : prediction_csv(prediction, targets);
}

std::string classes_text(const PredictRequest& request, const Eigen::MatrixXd& probabilities,
                         const std::string& target, const std::vector<std::string>& classes) {
  check_probabilities(probabilities);
  return request.json ? readable(probabilities_json(probabilities, target, classes))
                      : probabilities_csv(probabilities, target, classes);
}

std::string graph_predicted(const PredictRequest& request, const GraphModel& model) {
  CsvReader reader(request.data);
  std::vector<std::size_t> places;
  for (const std::string& name : model.inputs()) places.push_back(reader.column(name));
  const Eigen::MatrixXd inputs = reader.read(places);
  if (model.has_classes())
    return classes_text(request, model.probabilities(inputs), model.targets()[0], model.classes());
  const Prediction prediction = model.predict(inputs);
  check_prediction(prediction, model.targets());
  return request.json ? readable(prediction_json(prediction, model.targets()))
                      : prediction_csv(prediction, model.targets());
}

std::string classes_predicted(const PredictRequest& request, const SavedClassifier& saved) {
  const NewRows rows = read_inputs(request, saved);
  say_notes(rows);
  return classes_text(request, make_classifier(saved).predict(rows.inputs), saved.target, saved.memory.classes);
}

void predict(const PredictRequest& request) {
  check_outputs({{"--out", request.out}}, {{"model", request.model}, {"data", request.data}});
  const std::string text = std::visit(
      [&](auto&& saved) {
        if constexpr (std::is_same_v<std::decay_t<decltype(saved)>, SavedBnn>)
          return numbers_predicted(request, std::move(saved));
        else if constexpr (std::is_same_v<std::decay_t<decltype(saved)>, GraphModel>)
          return graph_predicted(request, saved);
        else
          return classes_predicted(request, saved);
      },
      load_model(request.model));
  if (request.out.empty())
    fmt::print("{}", text);
  else
    write_file(request.out, text);
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
      "text "
      "that the fit\n"
      "did not have, are told, and the other columns decide.");
  command.add_option("model", request->model, "model file of dma fit").required();
  command.add_option("data", request->data, "CSV file with the columns that the model was fitted on").required();
  command.add_option("--out", request->out, "file for the predictions (default: standard output)");
  command.add_flag("--json", request->json, "JSON instead of CSV");
  command.callback([request] { predict(*request); });
}

}  // namespace dma
