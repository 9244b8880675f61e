// dma smooth: a series smoothed, its gaps filled, and forecast.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/support/error.h"
#include "engine/support/text.h"
#include "models/series/state_space.h"
#include "tools/dma/commands/commands.h"
#include "tools/dma/commands/series_table.h"
#include "tools/dma/io/progress.h"
#include "tools/dma/io/write_file.h"
#include "tools/dma/pictures/gnuplot.h"

namespace dma {

namespace {

constexpr std::size_t kMostForecasts = 1'000'000;

struct SmoothRequest {
  std::filesystem::path data, out, plot;
  std::string column, time, model = "trend";
  std::size_t season = 0, forecast = 0;
  bool json = false;
};

// "walk", "trend", "motion", or "ar:0.6,-0.3".
Process process_named(const std::string& model) {
  if (model == "walk") return random_walk();
  if (model == "trend") return local_trend();
  if (model == "motion") return motion();
  if (!model.starts_with("ar:")) {
    const std::string known[] = {"walk", "trend", "motion", "ar:c1,c2,..."};
    fail("--model: there is no model '{}'{}", model, suggestion(model, known));
  }
  std::vector<double> coefficients;
  for (const char *at = model.data() + 3, *const end = model.data() + model.size(); at <= end;) {
    double value = 0;
    const auto [rest, code] = std::from_chars(at, end, value);
    if (code != std::errc{} || (rest != end && *rest != ','))
      fail("--model: '{}' is given; coefficients with commas between them are expected, as in ar:0.6,-0.3", model);
    coefficients.push_back(value);
    at = rest + 1;
  }
  return autoregressive(std::move(coefficients));
}

// As many digits as the standard deviation leaves: values around a million with one of 2 are told apart.
std::string in_digits(double value, double sd) {
  constexpr int kOfTheSd = 3, kMostDigits = 17;
  const double ahead = std::floor(std::log10(std::max(std::abs(value), sd))) - std::floor(std::log10(sd));
  return fmt::format(
      "{:.{}g}", value,
      std::isfinite(ahead) ? std::clamp(kOfTheSd + static_cast<int>(ahead), kOfTheSd, kMostDigits) : kMostDigits);
}

void print_found(const SeriesTable& table, const StateSpace& model, const StateSpace::Learned& learned,
                 const Smoothed& found) {
  std::size_t missing = 0;
  for (const auto& value : table.values) missing += !value;
  fmt::print("{} values of '{}'{}\n", table.values.size() - missing, table.name,
             missing > 0 ? fmt::format(", {} missing", missing) : "");
  fmt::print("noise, as standard deviations a step, by evidence{}:\n",
             learned.converged ? "" : " (still rising when the search reached its limit)");
  for (const StateSpace::Variance& variance : model.variances())
    fmt::print("  {:<16} {:.4g}\n", variance.name, std::sqrt(variance.value));
  fmt::print("log evidence {:.2f}\n", found.log_evidence);
  if (found.sd.size() == table.values.size()) return;
  fmt::print("{:>14} {:>14} {:>14} {:>14}\n", table.time_name, "forecast", "2.5 %", "97.5 %");
  for (std::size_t t = table.values.size(); t < found.sd.size(); ++t) {
    const Interval interval = interval_at(found, t);
    fmt::print("{:>14.10g} {:>14} {:>14} {:>14}\n", table.time(t), in_digits(found.signal.mean[t], found.sd[t]),
               in_digits(interval.low, found.sd[t]), in_digits(interval.high, found.sd[t]));
  }
}

struct SolvedSeries {
  StateSpace model;
  StateSpace::Learned learned;
  Smoothed found;
};

// On a terminal it says how far it has come.
SolvedSeries solve_series(std::vector<Process> processes, const SeriesTable& table, std::size_t forecast) {
  ProgressLine progress;
  const char* doing = "learning how much it wanders";
  const auto on_solve = [&](int solves, double log_evidence) {
    progress.show(fmt::format("{} values, {}: {} times solved, log evidence {:.2f}", table.values.size(), doing, solves,
                              log_evidence));
  };
  StateSpace model(std::move(processes), {.on_solve = on_solve});
  const StateSpace::Learned learned = model.learn(table.values);
  doing = "averaging over what it may be";
  Smoothed found = model.smooth(table.values, forecast);
  return {std::move(model), learned, std::move(found)};
}

void smooth(const SmoothRequest& request) {
  plot::check_picture(request.plot);
  check_outputs({{"--out", request.out}, {"--plot", request.plot}}, {{"data", request.data}});
  std::vector<Process> processes{process_named(request.model)};
  if (request.season != 0) processes.push_back(seasonal(request.season));
  const SeriesTable table = read_series(request.data, request.column, request.time);
  const auto [model, learned, found] = solve_series(std::move(processes), table, request.forecast);
  if (!request.out.empty()) write_file(request.out, series_csv(table, found));
  std::string skipped;
  if (!request.plot.empty()) skipped = plot::draw_picture(series_figure(table, found), request.plot);
  if (request.json) {
    Json json = series_json(table, model, found);
    json["settled"] = learned.converged;
    json["solves"] = learned.evaluations;
    fmt::print("{}", readable(json));
    return;
  }
  print_found(table, model, learned, found);
  if (!request.out.empty()) fmt::print("table    {}\n", printable(request.out.string()));
  if (!request.plot.empty()) fmt::print("picture  {}\n", printable(skipped.empty() ? request.plot.string() : skipped));
}

}  // namespace

void add_smooth_command(Command app) {
  auto request = std::make_shared<SmoothRequest>();
  const Command command = app.add_subcommand("smooth", "Smooth and forecast a series");
  command.footer(
      "Example:\n"
      "  dma smooth sales.csv --model trend --season 12 --forecast 24 --plot sales.svg\n"
      "Rows are steps of equal length; an empty cell is a missing value. With --time the rows may leave steps out.\n"
      "Models: walk (a level that wanders), trend (a level with a slope), motion (position and velocity),\n"
      "ar:0.6,-0.3 (autoregressive, around 0, with these coefficients). How much everything wanders is learned by "
      "evidence.");
  command.add_option("data", request->data, "CSV file with the series").required();
  command.add_option("--column", request->column, "the column of values (default: the last)");
  command.add_option("--time", request->time, "the column of times (default: a row a step)");
  command.add_option("--model", request->model, "what the series is made of; ar: with coefficients, ar:0.6,-0.3")
      .value("walk|trend|motion|ar:")
      .capture_default_str();
  command.add_option("--season", request->season, "steps of a season that is added (default: none)").between(2, 10000);
  command.add_option("--forecast", request->forecast, "steps beyond the end")
      .between(0, static_cast<int>(kMostForecasts))
      .capture_default_str();
  command.add_option("--out", request->out, "file for the table of all steps");
  command.add_option("--plot", request->plot, "picture, .svg or .png");
  command.add_flag("--json", request->json, "JSON instead of text");
  command.callback([request] { smooth(*request); });
}

}  // namespace dma
