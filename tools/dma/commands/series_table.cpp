#include "tools/dma/commands/series_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>

#include "engine/messages/gaussian.h"
#include "engine/support/error.h"
#include "tools/dma/fit/mixed_table.h"
#include "tools/dma/help/version.h"
#include "tools/dma/io/csv_text.h"
#include "tools/dma/page/chart.h"
#include "tools/dma/page/html.h"

namespace dma {

namespace {

std::size_t column_of_values(const CsvReader& reader, const std::string& column, const std::string& time) {
  if (!column.empty()) return reader.column(column);
  const std::size_t last = reader.names().size() - 1;
  if (!time.empty() && reader.column(time) == last)
    fail("'{}': its last column, '{}', is the time; say with --column which one holds the values",
         reader.path().string(), time);
  return last;
}

std::optional<double> value_of(double cell) { return std::isnan(cell) ? std::nullopt : std::optional(cell); }

// Two rows of one step, as rounding makes them, are their mean.
void place_values(const Eigen::VectorXd& cells, std::span<const std::size_t> steps, SeriesTable& table) {
  table.values.resize(steps.empty() ? 0 : steps.back() + 1);
  double count = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto value = value_of(cells[static_cast<Eigen::Index>(i)]);
    std::optional<double>& now = table.values[steps[i]];
    count = now ? count : 0;
    if (value) now = now.value_or(0) + (*value - now.value_or(0)) / ++count;
  }
}

// Steps without a row have no value, so that any input does.
void place_inputs(const std::filesystem::path& file, const Eigen::MatrixXd& cells, std::span<const std::size_t> steps,
                  SeriesTable& table) {
  for (std::size_t j = 0; j < table.inputs.size(); ++j) {
    table.inputs[j].values.resize(table.values.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const double cell = cells(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
      if (std::isnan(cell))
        fail("'{}', row {}: the input '{}' is missing; fill it in, or delete the row", file.string(), i + 1,
             table.inputs[j].name);
      table.inputs[j].values[steps[i]] = cell;
    }
  }
  while (!table.inputs.empty() && !table.values.empty() && !table.values.back()) table.values.pop_back(), ++table.ahead;
}

bool begins_with_date(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string header, line;
  return std::getline(in, header) && std::getline(in, line) &&
         is_date(unquoted(line.substr(0, line.find_first_of(",;\t"))));
}

}  // namespace

SeriesTable read_series(const std::filesystem::path& file, const std::string& column, const std::string& time,
                        const std::vector<std::string>& inputs) {
  const TableSource source(file);
  const CsvReader reader = source.open();
  std::vector<std::size_t> columns{column_of_values(reader, column, time)};
  SeriesTable table;
  table.name = reader.names()[columns[0]];
  for (const std::string& input : inputs) {
    columns.push_back(reader.column(input)), table.inputs.push_back({input, {}});
    if (columns.back() == columns[0]) fail("'{}' is given both as an input and as the values", input);
  }
  const bool has_time = !time.empty() || (columns[0] != 0 && begins_with_date(file));
  if (has_time) columns.push_back(time.empty() ? 0 : reader.column(time));
  table.has_unread_columns = column.empty() && columns.size() < reader.names().size();
  if (has_time && columns.front() == columns.back()) fail("'{}' is given both as the time and as the values", time);
  const MixedTable cells = source.read(columns);
  std::vector<std::size_t> steps;
  if (has_time) {
    table.time_name = reader.names()[columns.back()];
    const TableColumn times = cells.column(columns.size() - 1);
    double number = 0;
    const bool has_dates = !times.cells.empty() && !parse_number(times.cells[0], number);
    if (has_dates) {
      table.time = SeriesTime::of_dates(file, times.cells, steps);
    } else {
      const Eigen::VectorXd numbers = cells.numbers_of(columns.size() - 1);
      table.time = SeriesTime::of_numbers(file, {numbers.data(), static_cast<std::size_t>(numbers.size())}, steps);
    }
  } else {
    steps.resize(cells.rows());
    std::iota(steps.begin(), steps.end(), std::size_t{0});
  }
  place_values(cells.numbers_of(0), steps, table);
  Eigen::MatrixXd explaining(cells.numbers.rows(), std::ssize(inputs));
  for (std::size_t j = 0; j < inputs.size(); ++j)
    explaining.col(static_cast<Eigen::Index>(j)) = cells.numbers_of(j + 1);
  place_inputs(file, explaining, steps, table);
  return table;
}

std::size_t SeriesTable::missing() const {
  return static_cast<std::size_t>(std::ranges::count_if(values, [](const auto& value) { return !value; }));
}

SeriesBand band_of(const Smoothed& found) {
  SeriesBand band;
  for (std::size_t t = 0; t < found.sd.size(); ++t) {
    band.low.push_back(found.quantile(t, 0.025));
    band.middle.push_back(found.quantile(t, 0.5));
    band.high.push_back(found.quantile(t, 0.975));
  }
  return band;
}

std::string series_csv(const SeriesTable& table, const Smoothed& found, const SeriesBand& band) {
  std::string out = fmt::format("{},{}", csv_cell(table.time_name), csv_cell(table.name));
  for (const char* const what : {"mean", "sd", "signal_sd", "q2.5", "q50", "q97.5"})
    out += fmt::format(",{}", csv_cell(fmt::format("{}_{}", table.name, what)));
  for (const Track& state : found.states) out += fmt::format(",{0}_mean,{0}_sd", state.name);
  for (std::size_t t = 0; t < found.sd.size(); ++t) {
    const bool is_seen = t < table.values.size() && table.values[t];
    out +=
        fmt::format("\n{},{},{},{},{},{},{},{}", table.time.text(t), is_seen ? fmt::format("{}", *table.values[t]) : "",
                    found.signal.mean[t], found.sd[t], found.signal.sd[t], band.low[t], band.middle[t], band.high[t]);
    for (const Track& state : found.states) out += fmt::format(",{},{}", state.mean[t], state.sd[t]);
  }
  out.push_back('\n');
  return out;
}

Json series_json(const SeriesTable& table, const SeriesChoice& choice, const Smoothed& found, const SeriesBand& band) {
  Json json{{"column", table.name},
            {"model", choice.best().candidate.name},
            {"logarithm", choice.best().candidate.is_log},
            {"log_evidence", found.log_evidence}};
  for (const SeriesChoice::Scored& scored : choice.models())
    json["models"].push_back({{"model", scored.candidate.name},
                              {"logarithm", scored.candidate.is_log},
                              {"log_score", scored.score},
                              {"weight", scored.weight}});
  for (const StateSpace::Variance& variance : choice.best().model.variances())
    json["variances"][variance.name] = {{"value", variance.value}, {"learned", variance.learned}};
  for (std::size_t j = 0; j < table.inputs.size(); ++j)
    json["inputs"][table.inputs[j].name] = {{"weight", found.weights.mean[j]}, {"sd", found.weights.sd[j]}};
  json["values"] = table.values.size();
  json["forecasts"] = found.sd.size() - table.values.size();
  for (std::size_t t = 0; t < found.sd.size(); ++t) {
    json["time"].push_back(table.time.is_date() ? Json(table.time.text(t)) : Json(table.time.number(t)));
    json["mean"].push_back(found.signal.mean[t]);
    json["sd"].push_back(found.sd[t]);
    json["signal_sd"].push_back(found.signal.sd[t]);
  }
  json["q2.5"] = band.low, json["q50"] = band.middle, json["q97.5"] = band.high;
  json["unusual"] = Json::array();
  for (const UnusualStep& step : unusual_steps(found))
    json["unusual"].push_back(
        {{"step", step.t}, {"kind", step.is_level ? "level" : "value"}, {"surprise", step.surprise}});
  for (const Track& state : found.states) json["states"][state.name] = {{"mean", state.mean}, {"sd", state.sd}};
  return json;
}

std::string series_page(const SeriesTable& table, const SeriesChoice& choice, const Smoothed& found,
                        const SeriesBand& band, const std::string& command) {
  using page::escaped;
  const auto number = [](double value) { return fmt::format("{:.5g}", value); };
  const std::size_t seen = table.values.size() - table.missing();
  std::string body = fmt::format("<h1>{}</h1>\n<p class=\"lead\">{}</p>\n", escaped(table.name),
                                 escaped(series_name(choice.best().candidate)));
  body += fmt::format("<p>{} values, {} missing, {} to {}; {} steps forecast. Log evidence {:.2f}.</p>\n", seen,
                      table.missing(), escaped(table.time.text(0)), escaped(table.time.text(table.values.size() - 1)),
                      found.sd.size() - table.values.size(), found.log_evidence);
  body += "<div class=\"series\">" +
          page::figure(series_figure(table, band).panels[0], "The median, and what 95 % of values are within.") +
          "</div>\n";
  page::Table models{.columns = {"model", "log score", "weight"}};
  for (const SeriesChoice::Scored& one : choice.models())
    models.rows.push_back({escaped(series_name(one.candidate)), fmt::format("{:.2f}", one.score),
                           fmt::format("{:.0f} %", 100 * one.weight)});
  body += "<h2 id=\"models\">Models that were tried</h2>\n" + page::html(models);
  page::Table noises{.columns = {"noise", "standard deviation a step"}};
  for (const StateSpace::Variance& variance : choice.best().model.variances())
    noises.rows.push_back({escaped(variance.name), number(std::sqrt(variance.value))});
  body += page::html(noises);
  page::Table unusual{.columns = {escaped(table.time_name), "", "standard deviations"}};
  for (const UnusualStep& step : unusual_steps(found))
    unusual.rows.push_back(
        {escaped(table.time.text(step.t)), step.is_level ? "level" : "value", fmt::format("{:+.1f}", step.surprise)});
  body += "<h2 id=\"unusual\">Unusual steps</h2>\n" + (unusual.rows.empty() ? "<p>None.</p>\n" : page::html(unusual));
  page::Table ahead{.columns = {escaped(table.time_name), "forecast", "2.5 %", "97.5 %"}};
  for (std::size_t t = table.values.size(); t < found.sd.size(); ++t)
    ahead.rows.push_back(
        {escaped(table.time.text(t)), number(band.middle[t]), number(band.low[t]), number(band.high[t])});
  if (!ahead.rows.empty()) body += "<h2 id=\"forecast\">Forecast</h2>\n" + page::html(ahead);
  body += fmt::format("<h2 id=\"again\">Do it again</h2>\n<pre>{}</pre>\n<p class=\"soft\">dma {}</p>\n",
                      escaped(command), escaped(std::string(version())));
  return page::document(table.name, body);
}

namespace {

// Numbers are years with their fractions: of a few years, dates stand in their place.
plot::Axis date_axis(const SeriesTable& table, std::size_t steps) {
  constexpr double kFewYears = 4;
  constexpr std::size_t kCharacters = 44;  // of all ticks together
  plot::Axis axis{.label = table.time_name};
  if (!table.time.is_date() || table.time.number(steps) - table.time.number(0) > kFewYears) return axis;
  const std::size_t count = std::min(steps, kCharacters / table.time.text(0).size());
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t t = (2 * i + 1) * steps / (2 * count);
    axis.names.push_back(table.time.text(t)), axis.places.push_back(table.time.number(t));
  }
  return axis;
}

}  // namespace

plot::Figure series_figure(const SeriesTable& table, const SeriesBand& band) {
  plot::Series past{.title = "95 % of values", .style = plot::Style::band, .colour = plot::Colour::sky};
  plot::Series ahead{.title = "forecast", .style = plot::Style::band, .colour = plot::Colour::orange};
  plot::Series line{.title = "smoothed", .style = plot::Style::line};
  plot::Series points{.title = table.name, .style = plot::Style::points, .colour = plot::Colour::black, .width = 1.2};
  for (std::size_t t = 0; t < band.low.size(); ++t) {
    const double time = table.time.number(t);
    const auto add = [&](plot::Series& drawn) {
      drawn.x.push_back(time), drawn.y.push_back(band.low[t]), drawn.y_high.push_back(band.high[t]);
    };
    if (t < table.values.size()) add(past);
    if (t + 1 >= table.values.size()) add(ahead);
    line.x.push_back(time), line.y.push_back(band.middle[t]);
    if (t < table.values.size() && table.values[t]) points.x.push_back(time), points.y.push_back(*table.values[t]);
  }
  plot::Panel panel{.title = table.name, .x = date_axis(table, band.low.size()), .y = {table.name}};
  panel.series = {past};
  if (band.low.size() > table.values.size()) panel.series.push_back(ahead);
  panel.series.push_back(line), panel.series.push_back(points);
  return {.panels = {panel}, .panel_width = 820, .panel_height = 420};
}

}  // namespace dma
