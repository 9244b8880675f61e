// dma-lab honesty: the promises of the default, each beside what is measured.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

#include "tools/experiments/commands/commands.h"
#include "tools/experiments/tables/honesty.h"
#include "tools/experiments/tables/mean_error.h"

namespace dma {

namespace {

using namespace validation;

struct HonestyRequest {
  std::size_t seeds = 3, no_data_seeds = 20, largest = 100'000;
  std::uint64_t first = 1;
  std::vector<std::string> tables = {};
  bool sizes = false;
  HonestySettings settings = {};
};

const char* verdict(bool kept) { return kept ? "kept" : "BROKEN"; }

// One result per seed of the table that `make` makes.
template <class Make>
auto judged_over(const HonestyRequest& request, std::size_t seeds, const Make& make) {
  std::vector<decltype(judge(make(1), request.settings))> results;
  for (std::uint64_t seed = request.first; seed < request.first + seeds; ++seed) {
    HonestySettings own = request.settings;
    own.seed = seed;
    results.push_back(judge(make(seed), own));
  }
  return results;
}

void judge_tables(const HonestyRequest& request) {
  constexpr double kAllowance = 1.05;  // of the RMSE of the better of mean and linear regression
  constexpr double kNoiseFree = 1e-3;  // data without noise are learned to a thousandth of their spread
  fmt::print("{:<28}{:>9}{:>9}{:>9}{:>9}{:>9}{:>10}{:>14}{:>9}{:>11}{:>8}\n", "table", "said", "rmse", "at most",
             "mean", "linear", "coverage", "promised", "log-lik", "worst row", "CPU s");
  for (const std::string& name : request.tables.empty() ? honesty_names() : request.tables) {
    const std::size_t seeds = name == "10 rows" ? 5 * request.seeds : request.seeds;
    const auto results = judged_over(request, seeds, [&](std::uint64_t seed) { return honesty_table(name, seed); });
    const HonestyTable promised = honesty_table(name, request.first);
    const auto mean = [&](auto value) { return mean_error(results, value).mean; };
    const double rmse = mean([](const Honesty&r) { return r.fresh.rmse; }),
                 coverage = mean([](const Honesty&r) { return r.fresh.coverage_95; }),
                 of_mean = mean([](const Honesty&r) { return r.of_mean; }),
                 of_linear = mean([](const Honesty&r) { return r.of_linear; });
    const double most = std::max(kAllowance * std::min(of_mean, of_linear), kNoiseFree * of_mean);
    fmt::print("{:<28}{:>9.4f}{:>9.4f}{:>9.4f}{:>9.4f}{:>9.4f}{:>10.3f}{:>14}{:>9.3f}{:>11.1f}{:>8.2f}  {}\n", name,
               mean([](const Honesty& r) { return r.said; }), rmse, most, of_mean, of_linear, coverage,
               fmt::format("{:.2f} to {:.2f}", promised.least_coverage, promised.most_coverage),
               mean([](const Honesty& r) { return r.fresh.log_likelihood; }),
               std::ranges::min(results, {}, &Honesty::worst_row).worst_row,
               mean([](const Honesty& r) { return r.seconds; }),
               verdict(coverage >= promised.least_coverage && coverage <= promised.most_coverage && rmse <= most));
    std::fflush(stdout);
  }
}

// What a fit says of itself, beside what fresh rows say: of every table, not on average.
void judge_sizes(const HonestyRequest& request) {
  constexpr double kMostOff = 0.08;
  std::size_t count = 0, kept = 0, covered = 0, near = 0;
  double sum = 0;
  fmt::print("{:<30}{:>6}{:>9}{:>9}{:>8}{:>10}{:>9}{:>11}{:>8}\n", "table", "seed", "said", "rmse", "off", "coverage",
             "log-lik", "worst row", "CPU s");
  for (const std::string& name : request.tables.empty() ? sized_names() : request.tables) {
    const HonestyTable promised = honesty_table(name, request.first);
    std::uint64_t seed = request.first;
    for (const Honesty& r :
         judged_over(request, request.seeds, [&](std::uint64_t s) { return honesty_table(name, s); })) {
      const double off = r.said / r.fresh.rmse - 1, coverage = r.fresh.coverage_95;
      const bool is_covered = coverage >= promised.least_coverage && coverage <= promised.most_coverage,
                 is_near = std::abs(off) <= kMostOff;
      ++count;
      sum += off;
      covered += is_covered;
      near += is_near;
      kept += is_covered && is_near;
      fmt::print("{:<30}{:>6}{:>9.4f}{:>9.4f}{:>+6.1f} %{:>10.3f}{:>9.3f}{:>11.1f}{:>8.2f}  {}\n", name, seed++, r.said,
                 r.fresh.rmse, 100 * off, coverage, r.fresh.log_likelihood, r.worst_row, r.seconds,
                 verdict(is_covered && is_near));
      std::fflush(stdout);
    }
  }
  fmt::print(
      "kept on {} of {}: coverage of fresh rows 93 to 97 % on {}, RMSE said within 8 % of theirs on {} (on average "
      "{:+.1f} %)\n",
      kept, count, covered, near, 100 * sum / static_cast<double>(count));
}

void judge_far(const HonestyRequest& request) {
  for (const bool in_gap : {true, false}) {
    const auto results = judged_over(request, request.no_data_seeds, in_gap ? &gap_table : &beyond_table);
    const double coverage = mean_error(results, [](const HonestyFar&r) { return r.coverage; }).mean,
                 ratio = mean_error(results, [](const HonestyFar&r) { return r.sd_ratio; }).mean;
    fmt::print(
        "{}: {:.2f} of the function inside 95 % intervals (promised 0.80), epistemic sd {:.1f} times that at the "
        "data{}  {}\n",
        in_gap ? "\nin a gap" : "one range beyond", coverage, ratio, in_gap ? " (3)" : "",
        verdict(coverage >= 0.8 && (!in_gap || ratio >= 3)));
  }
}

void run(HonestyRequest& request) {
  if (request.sizes) return judge_sizes(request);
  judge_tables(request);
  if (!request.settings.method.empty() || !request.tables.empty()) return;
  judge_far(request);
  for (std::size_t rows = 1000; rows <= request.largest; rows *= 10) {
    const Honesty r = judged_over(
        request, 1, [&](std::uint64_t seed) { return growing_table(static_cast<Eigen::Index>(rows), seed); })[0];
    fmt::print("10 inputs, {} rows: RMSE {:.4f}, noise 0.3000, {:.1f} CPU s\n", rows, r.fresh.rmse, r.seconds);
  }
}

}  // namespace

void add_honesty_command(Command app) {
  auto request = std::make_shared<HonestyRequest>();
  const Command command =
      app.add_subcommand("honesty", "Measure what the default promises on tables made to expose over-confidence");
  command.add_option("--seeds", request->seeds, "tables of every kind").capture_default_str().between(1, 1000);
  command.add_option("--gap-seeds", request->no_data_seeds, "tables with a gap, and beyond the data")
      .capture_default_str()
      .between(1, 1000);
  command.add_option("--first-seed", request->first, "of the seeds").capture_default_str();
  command.add_list("--hidden", request->settings.hidden, "widths of the hidden layers, as dma fit has them", true);
  command.add_option("--method", request->settings.method, "another method than the default's").value("joint|METHOD");
  command.add_option("--tables", request->tables, "one of the tables alone; may be given several times")
      .allow_extra_args(false);
  command.add_flag("--sizes", request->sizes,
                   "other tables, five functions in seven sizes: what every fit says of itself, beside fresh rows");
  command.add_option("--largest", request->largest, "rows of the largest table of the growing ones")
      .capture_default_str();
  command.footer("Example:\n  dma-lab honesty --seeds 3");
  command.callback([request] { run(*request); });
}

}  // namespace dma
