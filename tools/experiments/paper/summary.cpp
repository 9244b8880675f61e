#include "tools/experiments/paper/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/support/error.h"

namespace dma::reproduce {

const Json& result_of(const Results& results, std::string_view task, std::string_view method, std::uint64_t seed) {
  const std::string name = fit_name(std::string(task), std::string(method), seed);
  const auto found = results.find(name);
  if (found == results.end()) fail("the result of unit '{}' is missing", name);
  return found->second;
}

double value_of(const Json& json, const char* key) { return json_number(json.at(key)); }

std::vector<double> values_of(const Json& json) {
  std::vector<double> values;
  for (const Json& value : json) values.push_back(json_number(value));
  return values;
}

Summary summarise(const Results& results, const std::string& task, const std::string& name,
                  const std::vector<std::uint64_t>& seeds) {
  Summary s{.method = name, .title = method(name).title};
  for (const std::uint64_t seed : seeds) {
    const Json& r = result_of(results, task, name, seed);
    ++s.runs;
    if (!r.at("finite").get<bool>() || !(value_of(r, "train_nll") < kDivergedNll)) {
      ++s.diverged;
      continue;
    }
    s.epochs.push_back(r.at("epochs").get<double>());
    s.train.push_back(value_of(r, "train_nll"));
    s.nll.push_back(value_of(r, "extrapolation_nll"));
    s.noisy.push_back(value_of(r, "noisy_nll"));
    s.deviation.push_back(value_of(r.at("outside"), "deviation"));
    s.coverage_95.push_back(value_of(r.at("outside"), "coverage_95"));
  }
  return s;
}

std::vector<Unit> fit_units(const Options& options, const std::string& task, const std::vector<std::string>& names,
                            const std::vector<std::uint64_t>& seeds) {
  std::vector<Unit> units;
  for (const std::uint64_t seed : seeds)
    for (const std::string& name : names)
      units.push_back(fit_unit(task, name, seed, options.effort(), seed == options.seed));
  return units;
}

Table score_table(const Results& results, const std::string& caption, const std::string& task,
                  const std::vector<std::string>& names, const std::vector<std::uint64_t>& seeds,
                  const std::vector<PaperRow>& paper) {
  Table table{
      caption,
      {"method", "epochs", "train NLL", "extrapolation NLL: median", "95 % interval", "IQR", "mean", "paper: median",
       "paper: IQR", "noisy targets: median", "noisy targets: mean", "coverage deviation", "95 % coverage", "diverged"},
      {}};
  for (const std::string& name : names) {
    const Summary s = summarise(results, task, name, seeds);
    const auto found = std::ranges::find(paper, name, &PaperRow::method);
    const PaperRow row = found == paper.end() ? PaperRow{name} : *found;
    std::vector<std::string> cells = {s.title};
    if (s.nll.empty()) {
      cells.insert(cells.end(), 12, "–");
    } else {
      const Interval i = median_interval(s.nll);
      const auto number = [](double value) { return fmt::format("{:.2f}", value); };
      const double epochs = median(s.epochs);
      cells.insert(cells.end(),
                   {epochs == 0 ? "–" : fmt::format("{:g}", epochs), number(median(s.train)), number(median(s.nll)),
                    fmt::format("{:.2f} to {:.2f}", i.low, i.high), number(interquartile_range(s.nll)),
                    number(mean(s.nll)), row.median, row.iqr, number(median(s.noisy)), number(mean(s.noisy)),
                    number(median(s.deviation)), number(mean(s.coverage_95))});
    }
    cells.push_back(fmt::format("{} of {}", s.diverged, s.runs));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

Claim median_claim(std::string where, std::string text, double paper, const std::vector<double>& ours,
                   std::string why) {
  const bool holds = !ours.empty() && median_interval(ours).holds(paper);
  return {std::move(where),
          std::move(text),
          fmt::format("{:g}", paper),
          ours.empty() ? "no finite run" : median_text(ours),
          holds,
          holds ? "" : std::move(why)};
}

Claim claim(std::string where, std::string text, std::string paper, std::string ours, bool holds, std::string why) {
  return {std::move(where), std::move(text), std::move(paper), std::move(ours), holds, holds ? "" : std::move(why)};
}

std::vector<std::string> own_and(const std::vector<std::string>& others) {
  std::vector<std::string> all = own_methods();
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

}  // namespace dma::reproduce
