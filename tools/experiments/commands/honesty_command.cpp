// dma-lab honesty: the promises of the default, each beside what is measured.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "models/network/bnn.h"
#include "models/table/scores.h"
#include "models/table/standardiser.h"
#include "tools/experiments/commands/commands.h"
#include "tools/experiments/commands/honesty_tables.h"
#include "tools/experiments/commands/score_table.h"
#include "tools/experiments/paper/thread_seconds.h"

namespace dma {

namespace {

using Eigen::MatrixXd;
using validation::honesty_names, validation::honesty_table, validation::HonestyTable, validation::NoDataTable;

struct HonestySettings {
  std::optional<std::vector<std::size_t>> hidden;  // widths of the layers; none: the fit chooses
  std::string method;                              // empty: the default
  std::uint64_t seed = 1;
};

struct HonestyRequest {
  std::size_t seeds = 3, no_data_seeds = 20, largest = 100'000;
  std::uint64_t first = 1;
  std::vector<std::string> tables = {};
  bool sizes = false;
  HonestySettings settings = {};
};

Bnn learned(const MatrixXd& x, const MatrixXd& y, const HonestySettings& own, double* said = nullptr) {
  const auto inputs = static_cast<std::size_t>(x.cols()), outputs = static_cast<std::size_t>(y.cols()),
             rows = static_cast<std::size_t>(x.rows());
  RegressionSettings settings = own.hidden ? regression_settings(inputs, *own.hidden, outputs, rows, own.method)
                                           : regression_settings(inputs, outputs, rows, own.method);
  settings.network.seed = own.seed;
  Bnn net(settings.network);
  const FitReport report = net.fit(x, y, settings.fit);
  if (said && !report.left_out.empty()) *said = report.left_out[0].scores.rmse;
  return net;
}

double rmse(const MatrixXd& a, const MatrixXd& b) { return std::sqrt((a - b).array().square().mean()); }

double rmse_of_linear(const HonestyTable& t) {
  const Standardiser standardiser = Standardiser::of(t.inputs);
  const auto with_ones = [&](const MatrixXd& x) {
    MatrixXd design(x.rows(), x.cols() + 1);
    design << standardiser.apply(x), Eigen::VectorXd::Ones(x.rows());
    return design;
  };
  const MatrixXd w = with_ones(t.inputs).completeOrthogonalDecomposition().solve(t.targets);
  return rmse(with_ones(t.test_inputs) * w, t.test_targets);
}

// The RMSE that the fit says of itself (0: none); the RMSE on fresh rows, of the mean there, and of least squares; and
// of the fresh rows the coverage, the log-likelihood and the least log density of one.
enum HonestyColumn : std::uint8_t { kSaid, kRmse, kOfMean, kOfLinear, kCoverage, kLogLikelihood, kWorstRow, kSeconds };
std::vector<ScoreColumn> honesty_columns() {
  return {{"said", 4},
          {"RMSE", 4},
          {"RMSE of mean", 4},
          {"RMSE of least squares", 4},
          {"95 % coverage", 3},
          {"log-likelihood", 3},
          {"worst row", 1, ScoreColumn::Shows::least},
          {"CPU s"}};
}

SplitScores judge(const HonestyTable& t, const HonestySettings& settings) {
  const double start = thread_seconds();
  double said = 0;
  const Bnn net = learned(t.inputs, t.targets, settings, &said);
  const Prediction predicted = net.predict(t.test_inputs);
  const Scores fresh = scores_of(predicted, t.test_targets)[0];
  const double worst_row = predicted.log_density(t.test_targets).minCoeff(), seconds = thread_seconds() - start;
  const double of_mean = rmse(MatrixXd::Constant(t.test_targets.rows(), 1, t.targets.mean()), t.test_targets);
  return {said, fresh.rmse, of_mean, rmse_of_linear(t), fresh.coverage_95, fresh.log_likelihood, worst_row, seconds};
}

// Without data nearby: fraction of the true function inside 95 % epistemic intervals, and epistemic sd there over that
// at the data.
SplitScores judge(const NoDataTable& t, const HonestySettings& settings) {
  const Bnn net = learned(t.inputs, t.targets, settings);
  const Prediction away = net.predict(t.gap_inputs), at_data = net.predict(t.inputs);
  const auto inside = (t.gap_targets - away.mean).array().abs() <= 1.96 * away.epistemic_sd.array();
  return {inside.cast<double>().mean(), away.epistemic_sd.mean() / at_data.epistemic_sd.mean()};
}

const char* verdict(bool kept) { return kept ? "kept" : "BROKEN"; }

// Scores by seed, which decides the table and the fit.
template <class Make>
std::vector<SplitScores> judged_over(const HonestyRequest& request, const std::string& name, std::size_t seeds,
                                     const Make& make) {
  return run_splits(name, seeds, 1, [&](std::size_t split) {
    HonestySettings own = request.settings;
    own.seed = request.first + split;
    return judge(make(own.seed), own);
  });
}
std::vector<SplitScores> judged_over(const HonestyRequest& request, const std::string& name, std::size_t seeds) {
  return judged_over(request, name, seeds, [&](std::uint64_t seed) { return honesty_table(name, seed); });
}

void judge_tables(const HonestyRequest& request) {
  constexpr double kAllowance = 1.05;  // times the RMSE of the better of mean and linear regression
  constexpr double kNoiseFree = 1e-3;  // data without noise are learned to a thousandth of their spread
  ScoreTable table("Means over seeds, and the least log density of a fresh row.", {"table"}, honesty_columns(),
                   {"RMSE at most", "promised coverage", ""});
  for (const std::string& name : request.tables.empty() ? honesty_names(false) : request.tables) {
    const auto results = judged_over(request, name, name == "10 rows" ? 5 * request.seeds : request.seeds);
    const HonestyTable promised = honesty_table(name, request.first);
    const double of_mean = mean_of(results, kOfMean), coverage = mean_of(results, kCoverage);
    const double most = std::max(kAllowance * std::min(of_mean, mean_of(results, kOfLinear)), kNoiseFree * of_mean);
    table.add(
        {name}, results,
        {fmt::format("{:.4f}", most), fmt::format("{:.2f} to {:.2f}", promised.least_coverage, promised.most_coverage),
         verdict(coverage >= promised.least_coverage && coverage <= promised.most_coverage &&
                 mean_of(results, kRmse) <= most)});
  }
}

// The scores that a fit reports, beside those of fresh rows: table by table, not on average.
void judge_sizes(const HonestyRequest& request) {
  constexpr double kMostOff = 0.08;
  std::size_t count = 0, kept = 0, covered = 0, near = 0;
  double sum = 0;
  ScoreTable table("One fit per row.", {"table", "seed"}, honesty_columns(), {"RMSE said, off by", ""});
  for (const std::string& name : request.tables.empty() ? honesty_names(true) : request.tables) {
    const HonestyTable promised = honesty_table(name, request.first);
    std::uint64_t seed = request.first;
    for (const SplitScores& r : judged_over(request, name, request.seeds)) {
      const double off = r[kSaid] / r[kRmse] - 1, coverage = r[kCoverage];
      const bool is_covered = coverage >= promised.least_coverage && coverage <= promised.most_coverage,
                 is_near = std::abs(off) <= kMostOff;
      ++count;
      sum += off;
      covered += is_covered;
      near += is_near;
      kept += is_covered && is_near;
      table.add({name, fmt::to_string(seed++)}, {r},
                {fmt::format("{:+.1f} %", 100 * off), verdict(is_covered && is_near)});
    }
  }
  fmt::print(
      "\nkept on {} of {}: coverage of fresh rows 93 to 97 % on {}, RMSE said within 8 % of theirs on {} (on average "
      "{:+.1f} %)\n",
      kept, count, covered, near, 100 * sum / static_cast<double>(count));
}

void judge_far(const HonestyRequest& request) {
  for (const bool in_gap : {true, false}) {
    const char* const where = in_gap ? "in a gap" : "one range beyond";
    const auto results =
        judged_over(request, where, request.no_data_seeds, in_gap ? &validation::gap_table : &validation::beyond_table);
    const double coverage = mean_of(results, 0), ratio = mean_of(results, 1);
    fmt::print(
        "{}- {}: {:.2f} of the function inside 95 % intervals (promised 0.80), epistemic sd {:.1f} times that at the "
        "data{}  {}\n",
        in_gap ? "\n" : "", where, coverage, ratio, in_gap ? " (3)" : "",
        verdict(coverage >= 0.8 && (!in_gap || ratio >= 3)));
  }
}

void run(HonestyRequest& request) {
  if (request.sizes) return judge_sizes(request);
  judge_tables(request);
  if (!request.settings.method.empty() || !request.tables.empty()) return;
  judge_far(request);
  for (std::size_t rows = 1000; rows <= request.largest; rows *= 10) {
    const SplitScores r = judged_over(request, "growing", 1, [&](std::uint64_t seed) {
      return validation::growing_table(static_cast<Eigen::Index>(rows), seed);
    })[0];
    fmt::print("- 10 inputs, {} rows: RMSE {:.4f}, noise 0.3000, {:.1f} CPU s\n", rows, r[kRmse], r[kSeconds]);
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
  command.add_option("--first-seed", request->first, "first of the seeds").capture_default_str();
  command.add_list("--hidden", request->settings.hidden, "widths of the hidden layers, as dma fit has them", true);
  command.add_option("--method", request->settings.method, "another method than the default's").value("joint|METHOD");
  command.add_option("--tables", request->tables, "one of the tables alone; may be given several times")
      .allow_extra_args(false);
  command.add_flag(
      "--sizes", request->sizes,
      "other tables, five functions in seven sizes: the score that each fit reports, beside that of fresh rows");
  command.add_option("--largest", request->largest, "rows of the largest table of the growing ones")
      .capture_default_str();
  command.footer("Example:\n  dma-lab honesty --seeds 3");
  command.callback([request] { run(*request); });
}

}  // namespace dma
