#include "tools/experiments/tables/classify_report.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace dma::classify {

namespace {

struct FoldMean {
  double mean = 0, standard_error = 0;
};

template <class Value>
FoldMean over_folds(const TableResult& result, const Value& value) {
  const auto count = static_cast<double>(result.folds.size());
  FoldMean found;
  double squares = 0;
  for (const FoldResult& fold : result.folds) found.mean += value(fold) / count;
  for (const FoldResult& fold : result.folds) squares += std::pow(value(fold) - found.mean, 2);
  found.standard_error = std::sqrt(squares / (count - 1) / count);
  return found;
}

struct Means {
  explicit Means(const TableResult& r)
      : accuracy(over_folds(r, [](const FoldResult& f) { return f.scores.accuracy; })),
        log_loss(over_folds(r, [](const FoldResult& f) { return f.scores.log_loss; })),
        calibration_error(over_folds(r, [](const FoldResult& f) { return f.scores.calibration_error; })),
        left_out(over_folds(r, [](const FoldResult& f) { return f.report.left_out.log_loss; })),
        network(over_folds(r, [](const FoldResult& f) { return f.report.network_fraction; })),
        linear(over_folds(r, [](const FoldResult& f) { return f.report.linear_fraction; })),
        neighbours(over_folds(r, [](const FoldResult& f) { return f.report.neighbours_fraction; })),
        seconds(over_folds(r, [](const FoldResult& f) { return f.seconds; })) {}
  FoldMean accuracy, log_loss, calibration_error, left_out, network, linear, neighbours, seconds;
};

}  // namespace

std::string line(const TableResult& result) {
  const Means m(result);
  return fmt::format(
      "{:<14} {} folds  accuracy {:.4f} +- {:.4f}  log-loss {:.4f} +- {:.4f}  calibration error {:.4f}  {:.2f} CPU s a "
      "fold",
      result.name, result.folds.size(), m.accuracy.mean, m.accuracy.standard_error, m.log_loss.mean,
      m.log_loss.standard_error, result.scores.calibration_error, m.seconds.mean);
}

std::string markdown(const std::vector<TableResult>& results, bool held_out) {
  std::string text = fmt::format(
      "Accuracy and log-loss on {}, mean and standard error over the folds; expected calibration error of all rows "
      "together, ten bins.\n\n"
      "| table | rows | inputs | classes | folds | accuracy | log-loss | calibration error | log-loss foretold by "
      "left-out rows | fraction of "
      "network / linear model / neighbours | CPU s a fold |\n|---|---|---|---|---|---|---|---|---|---|---|\n",
      held_out ? "held-back training rows" : "unseen rows");
  for (const TableResult& r : results) {
    const Means m(r);
    text += fmt::format(
        "| {} | {} | {} | {} | {} | {:.4f} ± {:.4f} | {:.4f} ± {:.4f} | {:.4f} | {:.4f} | {:.2f} / {:.2f} / {:.2f} | "
        "{:.2f} |\n",
        r.name, r.rows, r.inputs, r.classes, r.folds.size(), m.accuracy.mean, m.accuracy.standard_error,
        m.log_loss.mean, m.log_loss.standard_error, r.scores.calibration_error, m.left_out.mean, m.network.mean,
        m.linear.mean, m.neighbours.mean, m.seconds.mean);
  }
  return text;
}

Json json(const std::vector<TableResult>& results) {
  Json all = Json::array();
  for (const TableResult& r : results) {
    const Means m(r);
    const auto mean = [](const FoldMean& f) {
      return Json{{"mean", json_number(f.mean)}, {"standard_error", json_number(f.standard_error)}};
    };
    Json table = {{"table", r.name}, {"rows", r.rows}, {"inputs", r.inputs}, {"classes", r.classes}};
    table["accuracy"] = mean(m.accuracy);
    table["log_loss"] = mean(m.log_loss);
    table["calibration_error"] = json_number(r.scores.calibration_error);
    table["calibration_error_of_folds"] = mean(m.calibration_error);
    table["seconds_per_fold"] = mean(m.seconds);
    table["folds"] = Json::array();
    for (const FoldResult& f : r.folds)
      table["folds"].push_back({{"fold", f.fold + 1},
                                {"accuracy", json_number(f.scores.accuracy)},
                                {"log_loss", json_number(f.scores.log_loss)},
                                {"calibration_error", json_number(f.scores.calibration_error)},
                                {"left_out_log_loss", json_number(f.report.left_out.log_loss)},
                                {"network_share", json_number(f.report.network_fraction)},
                                {"linear_share", json_number(f.report.linear_fraction)},
                                {"neighbours_share", json_number(f.report.neighbours_fraction)},
                                {"seconds", json_number(f.seconds)}});
    all.push_back(std::move(table));
  }
  return all;
}

}  // namespace dma::classify
