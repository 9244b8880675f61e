// dma smooth: a series smoothed, its gaps filled, and forecast.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/support/error.h"
#include "engine/support/parallel.h"
#include "engine/support/text.h"
#include "models/series/series_choice.h"
#include "models/series/series_seasons.h"
#include "tools/dma/commands/commands.h"
#include "tools/dma/commands/series_table.h"
#include "tools/dma/io/progress.h"
#include "tools/dma/io/write_file.h"
#include "tools/dma/pictures/svg.h"

namespace dma {

namespace {

struct SmoothRequest {
  std::filesystem::path data, out, plot, report;
  std::string command_line, column, time, key, model = "auto", season = "auto", inputs;
  std::size_t forecast = 0;
  std::optional<bool> log;
  bool json = false;
};

std::vector<std::string> input_names(std::string_view text) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    names.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

// "12", "7,365.25", "none", or "auto": what the values show.
struct Seasons {
  std::vector<double> steps;
  bool are_certain = true;
};

using OnSolve = std::function<void(const std::string& name, int solves)>;

Seasons seasons_named(const std::string& text, const SeriesTable& table, const OnSolve& on_solve) {
  constexpr double kLeast = 2;
  if (text == "none") return {};
  if (text == "auto") return {seasons_seen(table.values, table.time.usual_seasons(), on_solve), false};
  Seasons seasons;
  for (const char *at = text.data(), *const end = text.data() + text.size(); at <= end;) {
    double value = 0;
    const auto [rest, code] = std::from_chars(at, end, value);
    if (code != std::errc{} || (rest != end && *rest != ',') || !(value >= kLeast && value <= kLongestSeason))
      fail("--season: '{}' is given; a number from {} to {} is expected, several with commas between them, or none",
           text, kLeast, kLongestSeason);
    seasons.steps.push_back(value);
    at = rest + 1;
  }
  return seasons;
}

std::vector<SeriesCandidate> candidates_for(const SmoothRequest& request, const SeriesTable& table,
                                            const OnSolve& on_solve) {
  const Seasons seasons = seasons_named(request.season, table, on_solve);
  UsualSeriesOptions options = series_named(request.model);
  options.seasons = seasons.steps, options.seasons_are_certain = seasons.are_certain;
  if (request.log) options.scale = *request.log ? SeriesScale::logarithm : SeriesScale::plain;
  return usual_series(table.values, options);
}

// As many digits as the standard deviation leaves: values around a million with one of 2 are told apart.
std::string in_digits(double value, double sd) {
  constexpr int kOfTheSd = 3, kMostDigits = 17;
  const double ahead = std::floor(std::log10(std::max(std::abs(value), sd))) - std::floor(std::log10(sd));
  return fmt::format(
      "{:.{}g}", value,
      std::isfinite(ahead) ? std::clamp(kOfTheSd + static_cast<int>(ahead), kOfTheSd, kMostDigits) : kMostDigits);
}

void print_choice(const SeriesChoice& choice) {
  const auto& models = choice.models();
  fmt::print("model    {}", series_name(choice.best().candidate));
  if (models.size() > 1)
    fmt::print(", {:.1f} nats ahead of {}", models[0].score - models[1].score, series_name(models[1].candidate));
  std::string mixed;
  for (std::size_t i = 1; i < models.size() && models[i].weight > 0; ++i)
    mixed += fmt::format("{}{} {:.0f} %", mixed.empty() ? "" : ", ", series_name(models[i].candidate),
                         100 * models[i].weight);
  fmt::print("\n{}", mixed.empty() ? "" : fmt::format("mixed    {:.0f} % with {}\n", 100 * models[0].weight, mixed));
}

void print_unusual(const SeriesTable& table, const Smoothed& found) {
  constexpr std::size_t kMostUnusual = 8;
  const std::vector<UnusualStep> steps = unusual_steps(found);
  for (std::size_t i = 0; i < std::min(steps.size(), kMostUnusual); ++i) {
    const auto& [t, surprise, is_level] = steps[i];
    fmt::print("unusual  {}: {} {:.1f} standard deviations {} the {} expect\n", table.time.text(t),
               is_level ? "the level moves to" : fmt::format("{:g},", table.values[t].value_or(0)), std::abs(surprise),
               surprise > 0 ? "above what" : "below what", is_level ? "steps around it" : "other values");
  }
  if (steps.size() > kMostUnusual) fmt::print("unusual  {} more (--json)\n", steps.size() - kMostUnusual);
}

void print_found(const SmoothedTable& series) {
  const auto& [table, choice, found, band] = series;
  const std::size_t missing = table.missing();
  const auto& best = choice.best();
  fmt::print("{} values of '{}'{}", table.values.size() - missing, table.name,
             missing > 0 ? fmt::format(", {} missing", missing) : "");
  if (table.time.is_date())
    fmt::print(", {} to {} in steps of {}{}", table.time.text(0), table.time.text(table.values.size() - 1),
               table.time.step_text(), table.time.is_rounded() ? ", to which the times are rounded" : "");
  fmt::print("\n");
  if (table.has_unread_columns)
    fmt::print("column   {}, the last one; --column takes another, --time and --inputs use others\n", table.name);
  print_choice(choice);
  fmt::print("noise, as standard deviations per step{}{}:\n", best.candidate.is_log ? " of the logarithm" : "",
             best.learned.converged ? "" : " (still rising when the search reached its limit)");
  for (const StateSpace::Variance& variance : best.model.variances())
    if (variance.learned) fmt::print("  {:<16} {:.4g}\n", variance.name, std::sqrt(variance.value));
  for (std::size_t j = 0; j < table.inputs.size(); ++j)
    fmt::print("input    {}: {:.4g} +- {:.2g}{}\n", table.inputs[j].name, found.weights.mean[j], found.weights.sd[j],
               best.candidate.is_log ? " of the logarithm" : "");
  fmt::print("log evidence {:.2f}\n", found.log_evidence);
  print_unusual(table, found);
  if (found.sd.size() == table.values.size()) return;
  fmt::print("{:>16} {:>14} {:>14} {:>14}\n", table.time_name, "forecast", "2.5 %", "97.5 %");
  for (std::size_t t = table.values.size(); t < found.sd.size(); ++t) {
    const double sd = (band.high[t] - band.low[t]) / 4;
    fmt::print("{:>16} {:>14} {:>14} {:>14}\n", table.time.text(t), in_digits(band.middle[t], sd),
               in_digits(band.low[t], sd), in_digits(band.high[t], sd));
  }
}

SmoothedTable smoothed(const SmoothRequest& request, SeriesTable table, ProgressLine& progress) {
  const std::size_t forecast = std::max(request.forecast, table.ahead);
  if (!table.inputs.empty() && forecast > table.ahead)
    fail("--forecast: {} steps are asked for, but inputs are known of {}; add rows with inputs and an empty value",
         forecast, table.ahead);
  table.time.check_end(table.values.size() + forecast);
  const OnSolve on_solve = [&](const std::string& name, int solves) {
    progress.show(fmt::format("{}{}{} values, {}: {} times solved", table.key, table.key.empty() ? "" : ": ",
                              table.values.size(), name, solves));
  };
  SeriesChoice choice(candidates_for(request, table, on_solve), table.values,
                      {.inputs = table.inputs, .horizon = forecast, .on_solve = on_solve});
  return {std::move(table), std::move(choice), forecast};
}

// Errors name the series that they come from if there are several.
std::vector<SmoothedTable> smoothed_all(const SmoothRequest& request, std::vector<SeriesTable> tables) {
  std::vector<std::optional<SmoothedTable>> found(tables.size());
  ProgressLine progress;
  parallel_for(tables.size(), all_processors(), [&](std::size_t i) {
    const std::string key = tables[i].key;
    try {
      found[i].emplace(smoothed(request, std::move(tables[i]), progress));
    } catch (const Error& error) {
      if (key.empty()) throw;
      fail("{} '{}': {}", request.key, key, error.what());
    }
  });
  std::vector<SmoothedTable> all;
  for (std::optional<SmoothedTable>& one : found) all.push_back(std::move(*one));
  return all;
}

void print_all(const SmoothRequest& request, std::span<const SmoothedTable> all) {
  if (request.json) {
    if (request.key.empty()) return fmt::print("{}", readable(series_json(all.front())));
    Json json{{"key", request.key}};
    for (const SmoothedTable& series : all) json["series"][series.table.key] = series_json(series);
    return fmt::print("{}", readable(json));
  }
  for (const SmoothedTable& series : all) {
    if (!request.key.empty())
      fmt::print("{}{} {}\n", &series == all.data() ? "" : "\n", printable(request.key), printable(series.table.key));
    print_found(series);
  }
  if (!request.out.empty()) fmt::print("table    {}\n", printable(request.out.string()));
  if (!request.plot.empty()) fmt::print("picture  {}\n", printable(request.plot.string()));
  if (!request.report.empty()) fmt::print("report   {}\n", printable(request.report.string()));
}

void smooth(const SmoothRequest& request) {
  plot::check_picture(request.plot);
  check_outputs({{"--out", request.out}, {"--plot", request.plot}, {"--report", request.report}},
                {{"data", request.data}});
  (void)series_named(request.model);  // before the file is read
  const std::vector<SmoothedTable> all = smoothed_all(
      request, read_series(request.data, {request.column, request.time, request.key, input_names(request.inputs)}));
  if (!request.out.empty()) write_file(request.out, series_csv(all, request.key));
  if (!request.plot.empty()) plot::draw_picture(series_figure(all), request.plot);
  if (!request.report.empty()) write_file(request.report, series_page(all, request.command_line));
  print_all(request, all);
}

}  // namespace

void add_smooth_command(Command app, const std::string& command_line) {
  auto request = std::make_shared<SmoothRequest>();
  request->command_line = command_line;
  const Command command = app.add_subcommand("smooth", "Smooth and forecast a series");
  command.footer(
      "Example:\n"
      "  dma smooth airpassengers.csv --forecast 24 --plot passengers.svg\n"
      "  dma smooth shops.csv --key shop --time day --inputs price,holiday --report shops.html\n"
      "Rows are steps of equal length; an empty cell is a missing value. With --time, or a first column of dates\n"
      "(1949-01, 1949-01-31, 1949-01-31T12:30), the rows may leave steps out.\n"
      "Models: walk (a level that wanders), trend (a level with a slope), ar (autoregressive around a mean), motion\n"
      "(position and velocity), ar:0.6,-0.3 (around 0, with these coefficients). auto tries walk, trend and ar, with\n"
      "and without seasons and logarithms, and takes what best predicts each value from those before it and, with\n"
      "--forecast, as many steps ahead; models of nearly equal score are mixed. Variances are learned by evidence.");
  command.add_option("data", request->data, "CSV file with the series").required();
  command.add_option("--column", request->column, "the column of values (default: the last)");
  command.add_option("--time", request->time,
                     "the column of times (default: the first if it has dates; otherwise rows are steps)");
  command.add_option("--key", request->key, "the column whose equal cells make one series each: a shop, a sensor");
  command
      .add_option(
          "--inputs", request->inputs,
          "columns that explain, with commas: prices, holidays; each has a coefficient. Rows with an empty value "
          "at the end give their future")
      .value("NAME,...");
  command.add_option("--model", request->model, "parts of the series; ar: with coefficients, ar:0.6,-0.3")
      .value("auto|walk|trend|ar|motion|ar:")
      .capture_default_str();
  command
      .add_option("--season", request->season,
                  "steps of a season, several with commas; none; or auto, by dates and values")
      .value("STEPS")
      .capture_default_str();
  command.add_flag("--log,!--no-log", request->log,
                   "model the logarithms: forecasts stay above 0 and seasons grow with the level (default: chosen)");
  command.add_option("--forecast", request->forecast, "steps beyond the end")
      .between(0, static_cast<int>(kMostForecasts))
      .capture_default_str();
  command.add_option("--out", request->out, "file for the table of all steps");
  command.add_option("--plot", request->plot, "picture, .svg");
  command.add_option("--report", request->report, "page with the picture, models, unusual steps and forecast, .html");
  command.add_flag("--json", request->json, "JSON instead of text");
  command.callback([request] { smooth(*request); });
}

}  // namespace dma
