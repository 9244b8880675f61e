// dma smooth: a series smoothed, its gaps filled, and forecast.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "engine/support/parallel.h"
#include "engine/support/text.h"
#include "tools/dma/commands/commands.h"
#include "tools/dma/commands/series_output.h"
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

std::vector<std::string> input_names(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> names;
  for (std::string name; std::getline(in, name, ',');) names.push_back(name);
  return names;
}

// "12", "7,365.25", "none", or "auto": those that the values show.
std::optional<std::vector<double>> seasons_named(const std::string& text) {
  constexpr double kLeast = 2;
  if (text == "auto") return {};
  if (text == "none") return std::vector<double>();
  auto seasons = listed_numbers(text);
  if (!seasons || !std::ranges::all_of(*seasons, [](double s) { return s >= kLeast && s <= kLongestSeason; }))
    fail("--season: '{}' is given; a number from {} to {} is expected, several with commas between them, or none", text,
         kLeast, kLongestSeason);
  return seasons;
}

SmoothedTable smoothed(const SmoothRequest& request, SeriesTable table, ProgressLine& progress) {
  const std::size_t forecast = std::max(request.forecast, table.ahead);
  if (!table.inputs.empty() && forecast > table.ahead)
    fail("--forecast: {} steps are asked for, but inputs are known of {}; add rows with inputs and an empty value",
         forecast, table.ahead);
  table.time.check_end(table.values.size() + forecast);
  const auto on_solve = [&](const std::string& name, int solves) {
    progress.show(fmt::format("{}{}{} values, {}: {} times solved", table.key, table.key.empty() ? "" : ": ",
                              table.values.size(), name, solves));
  };
  SeriesChoice choice =
      requested_series(table.values, {request.model, seasons_named(request.season), request.log},
                       table.time.usual_seasons(), {.inputs = table.inputs, .horizon = forecast, .on_solve = on_solve});
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
  if (request.json) return fmt::print("{}", readable(series_json(all, request.key)));
  print_series(all, request.key);
  for (const auto& [what, file] : {std::pair("table    ", request.out), std::pair("picture  ", request.plot),
                                   std::pair("report   ", request.report)})
    if (!file.empty()) fmt::print("{}{}\n", what, printable(file.string()));
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
