// dma-lab honesty: the promises of the default, each beside what is measured.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

#include "tools/experiments/commands/commands.h"
#include "tools/experiments/tables/honesty.h"
#include "tools/experiments/tables/honesty_tables.h"

namespace dma {

namespace {

struct HonestyRequest {
  std::size_t seeds = 3, no_data_seeds = 20, largest = 100'000;
  std::uint64_t first = 1;
  validation::Hidden hidden = {};
  std::vector<std::string> tables = {};
  std::string method;
  bool exact = false, sizes = false;
};

const char* verdict(bool kept) { return kept ? "kept" : "BROKEN"; }

// The exact posterior is part of it where it is asked for: what nobody can do better than is no promise broken.
void extrapolation(const HonestyRequest& request) {
  using namespace validation;
  constexpr double kMostNll = 0.20, kLeastCoverage = 0.95, kAsGood = 0.01;
  const Seeds seeds{request.no_data_seeds, request.first};
  const ExtrapolationResult network = measure_extrapolation("joint", seeds),
                            linear = measure_extrapolation("joint-linear", seeds);
  fmt::print(
      "8-6-5-1 beyond the data, seeds {} to {}, as dma-lab reproduce scores it: negative log-likelihood {:.3f} "
      "(promised {:.2f}), coverage "
      "{:.2f} ({:.2f}); with slopes 1 {:.3f}, {:.2f}",
      seeds.first, seeds.first + seeds.count - 1, network.nll, kMostNll, network.coverage, kLeastCoverage, linear.nll,
      linear.coverage);
  double most = kMostNll;
  if (request.exact) {
    const ExtrapolationResult exact = measure_extrapolation("exact", seeds);
    fmt::print("; the exact posterior {:.3f}, {:.2f}", exact.nll, exact.coverage);
    most = std::max(most, exact.nll + kAsGood);
  }
  fmt::print("  {}\n", verdict(network.nll <= most && network.coverage >= kLeastCoverage));
}

// What a fit says of itself, beside what fresh rows say: of every table, not on average.
void judge_sizes(const HonestyRequest& request) {
  using namespace validation;
  constexpr double kMostOff = 0.08;
  std::size_t count = 0, kept = 0, covered = 0, near = 0;
  double sum = 0;
  fmt::print("{:<30}{:>6}{:>9}{:>9}{:>8}{:>10}{:>8}\n", "table", "seed", "said", "rmse", "off", "coverage", "CPU s");
  for (const std::string& name : request.tables.empty() ? sized_names() : request.tables)
    for (std::uint64_t seed = request.first; seed < request.first + request.seeds; ++seed) {
      const HonestyResult r = measure_honesty(name, {1, seed}, request.hidden, request.method);
      const double off = r.said / r.rmse - 1;
      const bool is_covered = r.coverage >= r.least_coverage && r.coverage <= r.most_coverage,
                 is_near = std::abs(off) <= kMostOff;
      ++count, sum += off, covered += is_covered, near += is_near, kept += is_covered && is_near;
      fmt::print("{:<30}{:>6}{:>9.4f}{:>9.4f}{:>+6.1f} %{:>10.3f}{:>8.2f}  {}\n", name, seed, r.said, r.rmse, 100 * off,
                 r.coverage, r.seconds, verdict(is_covered && is_near));
      std::fflush(stdout);
    }
  fmt::print(
      "kept on {} of {}: coverage of fresh rows 93 to 97 % on {}, RMSE said within 8 % of theirs on {} (on average "
      "{:+.1f} %)\n",
      kept, count, covered, near, 100 * sum / static_cast<double>(count));
}

void run(const HonestyRequest& request) {
  using namespace validation;
  if (request.sizes) return judge_sizes(request);
  fmt::print("{:<28}{:>9}{:>9}{:>9}{:>9}{:>9}{:>10}{:>14}{:>9}{:>8}\n", "table", "said", "rmse", "at most", "mean",
             "linear", "coverage", "promised", "log-lik", "CPU s");
  for (const std::string& name : request.tables.empty() ? honesty_names() : request.tables) {
    const std::size_t seeds = name == "10 rows" ? 5 * request.seeds : request.seeds;
    const HonestyResult r = measure_honesty(name, {seeds, request.first}, request.hidden, request.method);
    fmt::print("{:<28}{:>9.4f}{:>9.4f}{:>9.4f}{:>9.4f}{:>9.4f}{:>10.3f}{:>14}{:>9.3f}{:>8.2f}  {}\n", name, r.said,
               r.rmse, r.most_rmse, r.of_mean, r.of_linear, r.coverage,
               fmt::format("{:.2f} to {:.2f}", r.least_coverage, r.most_coverage), r.log_likelihood, r.seconds,
               verdict(r.kept()));
    std::fflush(stdout);
  }
  if (!request.method.empty() || !request.tables.empty()) return;
  const Seeds seeds{request.no_data_seeds, request.first};
  const NoDataResult gap = measure_gap(seeds, request.hidden), beyond = measure_beyond(seeds, request.hidden);
  fmt::print(
      "\nin a gap: {:.2f} of the function inside 95 % intervals (promised 0.80), epistemic sd {:.1f} times that at the "
      "data (3)  {}\n",
      gap.coverage, gap.sd_ratio, verdict(gap.coverage >= 0.8 && gap.sd_ratio >= 3));
  fmt::print("one range beyond: {:.2f} of the function inside 95 % intervals (promised 0.80)  {}\n", beyond.coverage,
             verdict(beyond.coverage >= 0.8));
  extrapolation(request);
  for (std::size_t rows = 1000; rows <= request.largest; rows *= 10) {
    double seconds = 0;
    const double found = measure_divergence(rows, request.first, seconds);
    fmt::print("10 inputs, {} rows: RMSE {:.4f}, noise 0.3000, {:.1f} CPU s\n", rows, found, seconds);
  }
}

}  // namespace

void add_honesty_command(Command app) {
  auto request = std::make_shared<HonestyRequest>();
  const Command command =
      app.add_subcommand("honesty", "Measure what the default promises on tables made to expose over-confidence");
  command.add_option("--seeds", request->seeds, "tables of every kind").capture_default_str().between(1, 1000);
  command.add_option("--gap-seeds", request->no_data_seeds, "tables with a gap, beyond the data, and of 8-6-5-1")
      .capture_default_str()
      .between(1, 1000);
  command.add_option("--first-seed", request->first, "of the seeds").capture_default_str();
  command.add_list("--hidden", request->hidden, "widths of the hidden layers, as dma fit has them", true);
  command.add_option("--method", request->method, "another method than the default's").value("joint|METHOD");
  command.add_option("--tables", request->tables, "one of the tables alone; may be given several times")
      .allow_extra_args(false);
  command.add_flag("--sizes", request->sizes,
                   "other tables, five functions in seven sizes: what every fit says of itself, beside fresh rows");
  command.add_flag("--exact", request->exact,
                   "also the exact posterior of 8-6-5-1, by Hamiltonian Monte Carlo (minutes)");
  command.add_option("--largest", request->largest, "rows of the largest table of the growing ones")
      .capture_default_str();
  command.footer("Example:\n  dma-lab honesty --seeds 3");
  command.callback([request] { run(*request); });
}

}  // namespace dma
