// dma honesty: the promises of the default, each beside what is measured.
#include <fmt/format.h>

#include <memory>

#include "tools/dma/commands.h"
#include "tools/validation/honesty.h"
#include "tools/validation/honesty_tables.h"

namespace dma {

namespace {

struct HonestyRequest {
  std::size_t seeds = 3, no_data_seeds = 20, largest = 100'000;
  std::size_t hidden = 50;
  std::string method;
};

const char* verdict(bool kept) { return kept ? "kept" : "BROKEN"; }

void run(const HonestyRequest& request) {
  using namespace validation;
  fmt::print("{:<26}{:>9}{:>9}{:>9}{:>9}{:>10}{:>14}{:>9}{:>8}\n", "table", "rmse", "at most", "mean", "linear", "coverage", "promised",
             "log-lik", "seconds");
  for (const std::string& name : honesty_names()) {
    const HonestyResult r = measure_honesty(name, name == "10 rows" ? 5 * request.seeds : request.seeds, {request.hidden}, request.method);
    fmt::print("{:<26}{:>9.4f}{:>9.4f}{:>9.4f}{:>9.4f}{:>10.3f}{:>14}{:>9.3f}{:>8.2f}  {}\n", name, r.rmse, r.most_rmse, r.of_mean,
               r.of_linear, r.coverage, fmt::format("{:.2f} to {:.2f}", r.least_coverage, r.most_coverage), r.log_likelihood, r.seconds,
               verdict(r.kept()));
  }
  if (!request.method.empty()) return;
  const NoDataResult gap = measure_gap(request.no_data_seeds, {request.hidden}), beyond = measure_beyond(request.no_data_seeds, {request.hidden});
  fmt::print("\nin a gap: {:.2f} of the function inside 95 % intervals (promised 0.80), epistemic sd {:.1f} times that at the data (3)  {}\n",
             gap.coverage, gap.sd_ratio, verdict(gap.coverage >= 0.8 && gap.sd_ratio >= 3));
  fmt::print("one range beyond: {:.2f} of the function inside 95 % intervals (promised 0.80)  {}\n", beyond.coverage,
             verdict(beyond.coverage >= 0.8));
  const ExtrapolationResult network = measure_extrapolation(20, false), linear = measure_extrapolation(20, true);
  fmt::print("8-6-5-1 beyond the data: negative log-likelihood {:.3f} (promised 0.20), coverage {:.2f} (0.95); with slopes 1 {:.3f}, {:.2f}  {}\n",
             network.nll, network.coverage, linear.nll, linear.coverage, verdict(network.nll <= 0.20 && network.coverage >= 0.95));
  for (std::size_t rows = 1000; rows <= request.largest; rows *= 10) {
    double seconds = 0;
    const double found = measure_growth(rows, 1, seconds);
    fmt::print("10 inputs, {} rows: RMSE {:.4f}, noise 0.3000, {:.1f} s\n", rows, found, seconds);
  }
}

}  // namespace

void add_honesty_command(Command app) {
  auto request = std::make_shared<HonestyRequest>();
  const Command command = app.add_subcommand("honesty", "Measure what the default promises on tables made to expose over-confidence");
  command.add_option("--seeds", request->seeds, "tables of every kind").capture_default_str().between(1, 1000);
  command.add_option("--gap-seeds", request->no_data_seeds, "tables with a gap, and beyond the data").capture_default_str().between(1, 1000);
  command.add_option("--hidden", request->hidden, "units of the hidden layer").capture_default_str();
  command.add_option("--method", request->method, "another method than the default's");
  command.add_option("--largest", request->largest, "rows of the largest table of the growing ones").capture_default_str();
  command.footer("Example:\n  dma honesty --seeds 3");
  command.callback([request] { run(*request); });
}

}  // namespace dma
