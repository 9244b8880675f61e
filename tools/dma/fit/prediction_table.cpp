#include "tools/dma/fit/prediction_table.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "engine/support/error.h"
#include "models/table/class_scores.h"
#include "tools/dma/io/csv_text.h"

namespace dma {

namespace {

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

}  // namespace

std::string prediction_csv(const Prediction& prediction, const std::vector<std::string>& targets) {
  const std::vector<Column> columns = columns_of(prediction);
  std::string out;
  const char* separator = "";
  for (const std::string& target : targets)
    for (const Column& column : columns) {
      out += fmt::format("{}{}", separator, csv_cell(fmt::format("{}_{}", target, column.name)));
      separator = ",";
    }
  for (Eigen::Index i = 0; i < columns[0].values.rows(); ++i) {
    separator = "\n";
    for (Eigen::Index j = 0; j < columns[0].values.cols(); ++j)
      for (const Column& column : columns) {
        out += fmt::format("{}{}", separator, column.values(i, j));
        separator = ",";
      }
  }
  out.push_back('\n');
  return out;
}

Json prediction_json(const Prediction& prediction, const std::vector<std::string>& targets) {
  const std::vector<Column> columns = columns_of(prediction);
  Json json;
  json["rows"] = columns[0].values.rows();
  for (std::size_t j = 0; j < targets.size(); ++j)
    for (const Column& column : columns) {
      Json values = Json::array();
      for (const double value : column.values.col(static_cast<Eigen::Index>(j))) values.push_back(json_number(value));
      json["predictions"][targets[j]][column.name] = std::move(values);
    }
  return json;
}

std::string probabilities_csv(const Eigen::MatrixXd& p, const std::string& target,
                              const std::vector<std::string>& classes) {
  std::string out = csv_cell(target + "_class");
  for (const std::string& name : classes) out += fmt::format(",{}", csv_cell(fmt::format("{}_p_{}", target, name)));
  const auto found = most_probable(p);
  for (Eigen::Index n = 0; n < p.rows(); ++n) {
    out += fmt::format("\n{}", csv_cell(classes[static_cast<std::size_t>(found[static_cast<std::size_t>(n)])]));
    for (Eigen::Index k = 0; k < p.cols(); ++k) out += fmt::format(",{}", p(n, k));
  }
  out.push_back('\n');
  return out;
}

Json probabilities_json(const Eigen::MatrixXd& p, const std::string& target, const std::vector<std::string>& classes) {
  Json json;
  json["rows"] = p.rows();
  Json& own = json["predictions"][target];
  own["class"] = Json::array();
  for (const Eigen::Index k : most_probable(p)) own["class"].push_back(classes[static_cast<std::size_t>(k)]);
  for (std::size_t k = 0; k < classes.size(); ++k) {
    Json& values = own["probabilities"][classes[k]] = Json::array();
    for (const double value : p.col(static_cast<Eigen::Index>(k))) values.push_back(json_number(value));
  }
  return json;
}

}  // namespace dma
