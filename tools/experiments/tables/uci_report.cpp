#include "tools/experiments/tables/uci_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/experiments/tables/mean_error.h"

namespace dma::uci {

std::string markdown(const std::vector<SetResult>& results, std::string_view rows) {
  std::string text = fmt::format(
      "RMSE / log-likelihood on the {} rows, mean and standard error over the splits; the least log density of a "
      "row.\n\n"
      "| set | splits | dma | 95 % coverage | worst row | epochs | CPU s per split | PBP | TAGI | MC dropout | "
      "deep ensembles |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|\n",
      rows);
  for (const SetResult& result : results) {
    const auto mean = [&](auto value) { return mean_error(result.splits, value); };
    text += fmt::format("| {} | {} | {} / {} | {:.3f} | {:.1f} | {:.0f} | {:.2f} |", result.name, result.splits.size(),
                        mean([](const SplitResult& s) { return s.scores.rmse; }).text(),
                        mean([](const SplitResult& s) { return s.scores.log_likelihood; }).text(),
                        mean([](const SplitResult& s) { return s.scores.coverage_95; }).mean,
                        std::ranges::min(result.splits, {}, &SplitResult::worst_row).worst_row,
                        mean([](const SplitResult& s) { return s.epochs; }).mean,
                        mean([](const SplitResult& s) { return s.seconds; }).mean);
    const auto others = published(result.name);
    for (std::size_t k = 0; k < 4; ++k)
      text += k < others.size() ? fmt::format(" {:.3g} / {:.2f} |", others[k].rmse, others[k].log_likelihood) : " - |";
    text += "\n";
  }
  return text;
}

}  // namespace dma::uci
