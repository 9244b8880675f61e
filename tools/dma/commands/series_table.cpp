#include "tools/dma/commands/series_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "engine/messages/gaussian.h"
#include "engine/support/error.h"
#include "tools/dma/io/csv.h"
#include "tools/dma/io/csv_text.h"

namespace dma {

namespace {

constexpr double kSameStep = 1e-3;  // of a step: times are rounded when they are written down
constexpr double kMostSteps = 1e7;  // more is a mistake in the times
constexpr double kQuantile = 1.959963984540054;

std::size_t column_of_values(const CsvReader& reader, const std::string& column, const std::string& time) {
  if (!column.empty()) return reader.column(column);
  const std::size_t last = reader.names().size() - 1;
  if (!time.empty() && reader.column(time) == last)
    fail("'{}': its last column, '{}', is the time; say with --column which one holds the values",
         reader.path().string(), time);
  return last;
}

std::optional<double> value_of(double cell) { return std::isnan(cell) ? std::nullopt : std::optional(cell); }

// The times must lie on a grid of equal steps.
void place_on_grid(const std::filesystem::path& file, const Eigen::VectorXd& times, const Eigen::VectorXd& cells,
                   SeriesTable& table) {
  double step = kInfinity;
  for (Eigen::Index i = 0; i < times.size(); ++i) {
    if (std::isnan(times[i]))
      fail("'{}', row {}: the time is missing; fill it in, or delete the row", file.string(), i + 1);
    if (i == 0) continue;
    if (!(times[i] > times[i - 1]))
      fail("'{}', row {}: the time {} does not come after {}; sort the rows by time, each time once", file.string(),
           i + 1, times[i], times[i - 1]);
    step = std::min(step, times[i] - times[i - 1]);
  }
  table.first_time = times[0], table.step = times.size() > 1 ? step : 1;
  for (Eigen::Index i = 0; i < times.size(); ++i) {
    const double at = (times[i] - times[0]) / table.step, place = std::round(at);
    if (place > kMostSteps)
      fail("'{}', row {}: the time {} is {:.0f} steps of {} after the first; are the times right?", file.string(),
           i + 1, times[i], place, table.step);
    if (std::abs(at - place) > kSameStep)
      fail(
          "'{}', row {}: the time {} is {:.3f} steps of {} after the first; equal steps are expected, with rows left "
          "out where "
          "nothing was measured",
          file.string(), i + 1, times[i], at, table.step);
    table.values.resize(static_cast<std::size_t>(place));
    table.values.push_back(value_of(cells[i]));
  }
}

}  // namespace

SeriesTable read_series(const std::filesystem::path& file, const std::string& column, const std::string& time) {
  CsvReader reader(file);
  std::vector<std::size_t> columns{column_of_values(reader, column, time)};
  SeriesTable table;
  table.name = reader.names()[columns[0]];
  if (!time.empty()) columns.push_back(reader.column(time)), table.time_name = time;
  if (columns.size() == 2 && columns[0] == columns[1]) fail("'{}' is given both as the time and as the values", time);
  const Eigen::MatrixXd cells = reader.read(columns, CsvReader::Missing::is_nan);
  if (time.empty()) {
    for (const double cell : cells.col(0)) table.values.push_back(value_of(cell));
  } else {
    place_on_grid(file, cells.col(1), cells.col(0), table);
  }
  return table;
}

Interval interval_at(const Smoothed& found, std::size_t t) {
  return {found.signal.mean[t] - kQuantile * found.sd[t], found.signal.mean[t] + kQuantile * found.sd[t]};
}

std::string series_csv(const SeriesTable& table, const Smoothed& found) {
  fmt::memory_buffer out;
  const auto append = std::back_inserter(out);
  fmt::format_to(append, "{},{}", csv_cell(table.time_name), csv_cell(table.name));
  for (const char* const what : {"mean", "sd", "signal_sd", "q2.5", "q97.5"})
    fmt::format_to(append, ",{}", csv_cell(fmt::format("{}_{}", table.name, what)));
  for (const Track& state : found.states) fmt::format_to(append, ",{0}_mean,{0}_sd", state.name);
  for (std::size_t t = 0; t < found.sd.size(); ++t) {
    const bool is_seen = t < table.values.size() && table.values[t];
    const Interval interval = interval_at(found, t);
    fmt::format_to(append, "\n{},{},{},{},{},{},{}", table.time(t), is_seen ? fmt::format("{}", *table.values[t]) : "",
                   found.signal.mean[t], found.sd[t], found.signal.sd[t], interval.low, interval.high);
    for (const Track& state : found.states) fmt::format_to(append, ",{},{}", state.mean[t], state.sd[t]);
  }
  out.push_back('\n');
  return fmt::to_string(out);
}

Json series_json(const SeriesTable& table, const StateSpace& model, const Smoothed& found) {
  Json json{{"column", table.name}, {"log_evidence", found.log_evidence}};
  for (const StateSpace::Variance& variance : model.variances())
    json["variances"][variance.name] = {{"value", variance.value}, {"learned", variance.learned}};
  json["values"] = table.values.size();
  json["forecasts"] = found.sd.size() - table.values.size();
  for (std::size_t t = 0; t < found.sd.size(); ++t) {
    const Interval interval = interval_at(found, t);
    json["time"].push_back(table.time(t));
    json["mean"].push_back(found.signal.mean[t]);
    json["sd"].push_back(found.sd[t]);
    json["signal_sd"].push_back(found.signal.sd[t]);
    json["q2.5"].push_back(interval.low);
    json["q97.5"].push_back(interval.high);
  }
  for (const Track& state : found.states) json["states"][state.name] = {{"mean", state.mean}, {"sd", state.sd}};
  return json;
}

plot::Figure series_figure(const SeriesTable& table, const Smoothed& found) {
  plot::Series past{.title = "95 % of values", .style = plot::Style::band, .colour = plot::Colour::sky};
  plot::Series ahead{.title = "forecast", .style = plot::Style::band, .colour = plot::Colour::orange};
  plot::Series line{.title = "smoothed", .style = plot::Style::line};
  plot::Series points{.title = table.name, .style = plot::Style::points, .colour = plot::Colour::black, .width = 1.2};
  for (std::size_t t = 0; t < found.sd.size(); ++t) {
    const double time = table.time(t);
    const Interval interval = interval_at(found, t);
    const auto add = [&](plot::Series& band) {
      band.x.push_back(time), band.y.push_back(interval.low), band.y_high.push_back(interval.high);
    };
    if (t < table.values.size()) add(past);
    if (t + 1 >= table.values.size()) add(ahead);
    line.x.push_back(time), line.y.push_back(found.signal.mean[t]);
    if (t < table.values.size() && table.values[t]) points.x.push_back(time), points.y.push_back(*table.values[t]);
  }
  plot::Panel panel{.title = table.name, .x = {table.time_name}, .y = {table.name}};
  panel.series = {past};
  if (found.sd.size() > table.values.size()) panel.series.push_back(ahead);
  panel.series.push_back(line), panel.series.push_back(points);
  return {.panels = {panel}, .panel_width = 820, .panel_height = 420};
}

}  // namespace dma
