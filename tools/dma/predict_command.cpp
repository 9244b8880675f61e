// dma predict: what a fitted network says about new rows.
#include <fmt/format.h>

#include <filesystem>
#include <iterator>
#include <memory>

#include "engine/support/error.h"
#include "tools/dma/commands.h"
#include "tools/dma/csv.h"
#include "tools/dma/model_file.h"
#include "tools/dma/write_file.h"

namespace dma {

namespace {

struct PredictRequest {
  std::filesystem::path model, data, out;
  bool json = false;
};

// The numbers given for every target of every row.
struct Column {
  const char* name;
  Eigen::MatrixXd values;  // rows x targets
};

std::vector<Column> columns_of(const Prediction& p) {
  return {{"mean", p.mean},
          {"sd", p.sd},
          {"epistemic_sd", p.epistemic_sd},
          {"q2.5", p.quantile(0.025)},
          {"q97.5", p.quantile(0.975)}};
}

std::string as_csv(const std::vector<Column>& columns, const std::vector<std::string>& targets) {
  fmt::memory_buffer out;
  const auto append = std::back_inserter(out);
  const char* separator = "";
  for (const std::string& target : targets)
    for (const Column& column : columns) {
      fmt::format_to(append, "{}{}", separator, csv_cell(fmt::format("{}_{}", target, column.name)));
      separator = ",";
    }
  for (Eigen::Index i = 0; i < columns[0].values.rows(); ++i) {
    separator = "\n";
    for (Eigen::Index j = 0; j < columns[0].values.cols(); ++j)
      for (const Column& column : columns) {
        fmt::format_to(append, "{}{}", separator, column.values(i, j));
        separator = ",";
      }
  }
  out.push_back('\n');
  return fmt::to_string(out);
}

std::string as_json(const std::vector<Column>& columns, const std::vector<std::string>& targets) {
  Json json;
  json["rows"] = columns[0].values.rows();
  for (std::size_t j = 0; j < targets.size(); ++j)
    for (const Column& column : columns) {
      Json values = Json::array();
      for (const double value : column.values.col(static_cast<Eigen::Index>(j))) values.push_back(json_number(value));
      json["predictions"][targets[j]][column.name] = std::move(values);
    }
  return readable(json);
}

Eigen::MatrixXd read_inputs(const PredictRequest& request, const SavedBnn& saved) {
  CsvReader reader(request.data);
  std::vector<std::size_t> columns;
  for (const std::string& feature : saved.features) {
    if (!reader.has(feature))
      fail("'{}' has no column '{}', which '{}' was fitted on{}", request.data.string(), feature,
           request.model.string(), suggestion(feature, reader.names()));
    columns.push_back(reader.column(feature));
  }
  return reader.read(columns);
}

void predict(const PredictRequest& request) {
  SavedBnn saved = load_bnn(request.model);
  const Eigen::MatrixXd inputs = read_inputs(request, saved);
  const std::vector<std::string> targets = saved.targets;
  Bnn net = make_bnn(std::move(saved));
  const auto columns = columns_of(net.predict(inputs));
  const std::string text = request.json ? as_json(columns, targets) : as_csv(columns, targets);
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
      "bounds y_q2.5 and y_q97.5 of the central 95 % interval. Columns are matched by name; others are ignored.");
  command.add_option("model", request->model, "model file of dma fit").required();
  command.add_option("data", request->data, "CSV file with the columns that the model was fitted on").required();
  command.add_option("--out", request->out, "file for the predictions (default: standard output)");
  command.add_flag("--json", request->json, "JSON instead of CSV");
  command.callback([request] { predict(*request); });
}

}  // namespace dma
