#include "tools/experiments/tables/classify_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/experiments/tables/mean_error.h"

namespace dma::classify {

namespace {

double nearest_rows(const TableReport& report) { return report.neighbours.empty() ? 0 : report.neighbours[0]; }

}  // namespace

std::string markdown(const std::vector<TableResult>& results, bool held_out) {
  std::string text = fmt::format(
      "Accuracy and log-loss on {}, mean and standard error over the folds; expected calibration error of all rows "
      "together, ten bins.\n\n"
      "| table | rows | inputs | classes | folds | accuracy | log-loss | worst row | calibration error | log-loss by "
      "left-out rows | fraction of networks beside the linear model | of neighbours | CPU s per fold "
      "|\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
      held_out ? "held-back training rows" : "unseen rows");
  for (const TableResult& r : results) {
    const auto mean = [&](auto value) { return mean_error(r.folds, value); };
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {:.1f} | {:.4f} | {:.4f} | {:.2f} | {:.2f} | {:.2f} |\n",
                        r.name, r.rows, r.inputs, r.classes, r.folds.size(),
                        mean([](const FoldResult& f) { return f.scores.accuracy; }).text(),
                        mean([](const FoldResult& f) { return f.scores.log_loss; }).text(),
                        std::ranges::min(r.folds, {}, &FoldResult::worst_row).worst_row, r.scores.calibration_error,
                        mean([](const FoldResult& f) { return f.report.left_out_classes->log_loss; }).mean,
                        mean([](const FoldResult& f) { return f.report.graphs; }).mean,
                        mean([](const FoldResult& f) { return nearest_rows(f.report); }).mean,
                        mean([](const FoldResult& f) { return f.seconds; }).mean);
  }
  return text;
}

}  // namespace dma::classify
