#include "tools/dma/fit/prediction_table.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "models/table/scores.h"
#include "tools/dma/io/csv_text.h"

namespace dma {

std::vector<PredictedColumn> predicted_columns(const TableModel& model, const Eigen::MatrixXd& inputs) {
  std::vector<PredictedColumn> columns;
  if (model.has_classes()) {
    const std::string& target = model.targets()[0];
    const Eigen::MatrixXd p = model.probabilities(inputs);
    columns.push_back({target + "_class", {target, "class"}, {}});
    for (const Eigen::Index k : most_probable(p))
      columns[0].names.push_back(model.classes()[static_cast<std::size_t>(k)]);
    for (const std::string& name : model.classes())
      columns.push_back(
          {fmt::format("{}_p_{}", target, name), {target, "probabilities", name}, p.col(std::ssize(columns) - 1)});
    return columns;
  }
  const Prediction p = model.predict(inputs);
  const Eigen::MatrixXd low = p.quantile(0.025), high = p.quantile(0.975);
  for (std::size_t j = 0; j < model.targets().size(); ++j)
    for (const auto& [name, values] : {std::pair{"mean", &p.mean},
                                       {"sd", &p.sd},
                                       {"epistemic_sd", &p.epistemic_sd},
                                       {"q2.5", &low},
                                       {"q97.5", &high}})
      columns.push_back({fmt::format("{}_{}", model.targets()[j], name),
                         {model.targets()[j], name},
                         values->col(static_cast<Eigen::Index>(j))});
  return columns;
}

std::string csv_of(const std::vector<PredictedColumn>& columns) {
  std::string out;
  for (const PredictedColumn& column : columns) out += (&column == &columns[0] ? "" : ",") + csv_cell(column.header);
  for (Eigen::Index n = 0; n < columns.back().numbers.size(); ++n)
    for (const PredictedColumn& column : columns) {
      out.push_back(&column == &columns[0] ? '\n' : ',');
      out += column.names.empty() ? fmt::format("{}", column.numbers(n))
                                  : csv_cell(column.names[static_cast<std::size_t>(n)]);
    }
  return out + "\n";
}

Json json_of(const std::vector<PredictedColumn>& columns) {
  Json json;
  json["rows"] = columns.back().numbers.size();
  for (const PredictedColumn& column : columns) {
    Json* one = &json["predictions"];
    for (const std::string& key : column.keys) one = &(*one)[key];
    *one = column.names;
    for (const double value : column.numbers) one->push_back(json_number(value));
  }
  return json;
}

}  // namespace dma
