#include "tools/experiments/tables/uci_report.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace dma::uci {

namespace {

struct Row {
  Summary rmse, log_likelihood, coverage, seconds, epochs;
  std::uint64_t refused = 0, replaced = 0;
};

Row row_of(const SetResult& result) {
  Row row;
  row.rmse = summarise(result.splits, [](const SplitResult& s) { return s.scores.rmse; });
  row.log_likelihood = summarise(result.splits, [](const SplitResult& s) { return s.scores.log_likelihood; });
  row.coverage = summarise(result.splits, [](const SplitResult& s) { return s.scores.coverage_95; });
  row.seconds = summarise(result.splits, [](const SplitResult& s) { return s.seconds; });
  row.epochs = summarise(result.splits, [](const SplitResult& s) { return s.epochs; });
  for (const auto& s : result.splits) row.refused += s.messages_refused, row.replaced += s.messages_replaced;
  return row;
}

}  // namespace

std::string line(const SetResult& result) {
  const Row r = row_of(result);
  return fmt::format(
      "{:<10} {:>2} splits  RMSE {:.3f} +- {:.3f}  log-likelihood {:.3f} +- {:.3f}  95 % coverage {:.3f}  {:.0f} "
      "epochs, {:.2f} CPU "
      "s a split",
      result.name, result.splits.size(), r.rmse.mean, r.rmse.standard_error, r.log_likelihood.mean,
      r.log_likelihood.standard_error, r.coverage.mean, r.epochs.mean, r.seconds.mean);
}

std::string markdown(const std::vector<SetResult>& results, std::string_view rows) {
  std::string text = fmt::format(
      "RMSE / log-likelihood on the {} rows, mean and standard error over the splits.\n\n"
      "| set | splits | dma | 95 % coverage | epochs | CPU s a split | PBP | TAGI | MC dropout | deep ensembles |\n"
      "|---|---|---|---|---|---|---|---|---|---|\n",
      rows);
  for (const SetResult& result : results) {
    const Row r = row_of(result);
    text += fmt::format("| {} | {} | {:.3f} ± {:.3f} / {:.3f} ± {:.3f} | {:.3f} | {:.0f} | {:.2f} |", result.name,
                        result.splits.size(), r.rmse.mean, r.rmse.standard_error, r.log_likelihood.mean,
                        r.log_likelihood.standard_error, r.coverage.mean, r.epochs.mean, r.seconds.mean);
    const auto others = published(result.name);
    for (std::size_t k = 0; k < 4; ++k)
      text += k < others.size() ? fmt::format(" {:.3g} / {:.2f} |", others[k].rmse, others[k].log_likelihood) : " - |";
    text += "\n";
  }
  return text;
}

std::string csv(const std::vector<SetResult>& results) {
  std::string text =
      "set,split,rmse,log_likelihood,coverage_50,coverage_90,coverage_95,epochs,seconds,messages_refused,"
      "messages_replaced\n";
  for (const SetResult& result : results)
    for (const SplitResult& s : result.splits)
      text += fmt::format("{},{},{},{},{},{},{},{},{:.3f},{},{}\n", result.name, s.split, s.scores.rmse,
                          s.scores.log_likelihood, s.scores.coverage_50, s.scores.coverage_90, s.scores.coverage_95,
                          s.epochs, s.seconds, s.messages_refused, s.messages_replaced);
  return text;
}

Json json(const std::vector<SetResult>& results) {
  Json all = Json::array();
  for (const SetResult& result : results) {
    const Row r = row_of(result);
    const auto summary = [](const Summary& s) { return Json{{"mean", s.mean}, {"standard_error", s.standard_error}}; };
    Json set{{"set", result.name},
             {"splits", result.splits.size()},
             {"rmse", summary(r.rmse)},
             {"log_likelihood", summary(r.log_likelihood)},
             {"coverage_95", summary(r.coverage)},
             {"seconds_per_split", summary(r.seconds)},
             {"epochs", summary(r.epochs)},
             {"messages_refused", r.refused},
             {"messages_replaced", r.replaced}};
    for (const Published& p : published(result.name))
      set["published"][p.system] = {{"rmse", p.rmse}, {"log_likelihood", p.log_likelihood}};
    all.push_back(std::move(set));
  }
  return all;
}

plot::Figure figure(const std::vector<SetResult>& results) {
  using plot::Colour, plot::Series, plot::Style;
  plot::Panel rmse{.title = "RMSE relative to PBP (lower is better)", .x = {"RMSE / RMSE of PBP"}};
  plot::Panel likelihood{.title = "log-likelihood minus that of PBP (higher is better)", .x = {"nats"}};
  struct System {
    std::string name;
    Colour colour;
  };
  const std::vector<System> systems = {{"PBP", Colour::grey},
                                       {"TAGI", Colour::sky},
                                       {"MC dropout", Colour::orange},
                                       {"deep ensembles", Colour::green},
                                       {"dma", Colour::vermillion}};
  for (const System& system : systems) {
    Series in_rmse{.title = system.name, .style = Style::points, .colour = system.colour, .width = 3},
        in_likelihood = in_rmse;
    double height = 0;
    for (const SetResult& result : results) {
      const auto others = published(result.name);
      height += 1;
      if (others.empty()) continue;
      const Row own = row_of(result);
      for (const Published& p : others)
        if (p.system == system.name || (system.name == "dma" && &p == &others[0])) {
          const bool ours = system.name == "dma";
          in_rmse.x.push_back((ours ? own.rmse.mean : p.rmse) / others[0].rmse);
          in_likelihood.x.push_back((ours ? own.log_likelihood.mean : p.log_likelihood) - others[0].log_likelihood);
          in_rmse.y.push_back(height);
          in_likelihood.y.push_back(height);
        }
    }
    rmse.series.push_back(std::move(in_rmse));
    likelihood.series.push_back(std::move(in_likelihood));
  }
  for (auto* panel : {&rmse, &likelihood}) {
    panel->x.tick = 0.4;
    for (const SetResult& result : results) panel->y.names.push_back(result.name);
    panel->y.low = 0.5, panel->y.high = static_cast<double>(results.size()) + 0.5;
  }
  return {.title = "", .panels = {rmse, likelihood}, .panel_width = 600};
}

}  // namespace dma::uci
