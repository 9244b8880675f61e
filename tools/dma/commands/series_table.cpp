#include "tools/dma/commands/series_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <unordered_map>

#include "engine/messages/gaussian.h"
#include "engine/support/error.h"
#include "tools/dma/fit/mixed_table.h"
#include "tools/dma/help/version.h"
#include "tools/dma/io/csv_text.h"
#include "tools/dma/page/chart.h"
#include "tools/dma/page/html.h"

namespace dma {

namespace {

std::optional<double> value_of(double cell) { return std::isnan(cell) ? std::nullopt : std::optional(cell); }

// The values of two rows of one step, as rounding of times makes them, are averaged.
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

// Steps without a row have no value, so their inputs do not matter and are 0.
void place_inputs(const std::string& where, const Eigen::MatrixXd& cells, std::span<const std::size_t> steps,
                  SeriesTable& table) {
  for (std::size_t j = 0; j < table.inputs.size(); ++j) {
    table.inputs[j].values.resize(table.values.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const double cell = cells(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
      if (std::isnan(cell))
        fail("{}, row {}: the input '{}' is missing; fill it in, or delete the row", where, i + 1,
             table.inputs[j].name);
      table.inputs[j].values[steps[i]] = cell;
    }
  }
  while (!table.inputs.empty() && !table.values.empty() && !table.values.back()) {
    table.values.pop_back();
    ++table.ahead;
  }
}

bool begins_with_date(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string header, line;
  return std::getline(in, header) && std::getline(in, line) &&
         is_date(unquoted(line.substr(0, line.find_first_of(",;\t"))));
}

// Columns that are read, each for one use.
struct UsedColumns {
  const CsvReader& reader;
  std::vector<std::size_t> places;
  std::vector<std::string> uses;

  void add(std::size_t place, const std::string& use) {
    const auto other = std::ranges::find(places, place);
    if (other != places.end())
      fail("'{}': the column '{}' is given both as {} and as {}; name another{}", reader.path().string(),
           reader.names()[place], uses[static_cast<std::size_t>(other - places.begin())], use,
           use == "the values" ? " with --column" : "");
    places.push_back(place);
    uses.push_back(use);
  }
};

// The rows of a key.
struct KeyedRows {
  std::string key;
  std::vector<Eigen::Index> rows;
};

std::vector<KeyedRows> rows_by_key(const MixedTable& cells) {
  std::vector<KeyedRows> groups;
  std::unordered_map<std::string, std::size_t> place_of;
  for (std::size_t i = 0; i < cells.rows(); ++i) {
    const std::string& key = cells.cells[0][i];
    if (key.empty())
      fail("'{}', row {}: the key '{}' is missing; fill it in, or delete the row", cells.path.string(), i + 1,
           cells.names[0]);
    const auto [place, is_new] = place_of.try_emplace(key, groups.size());
    if (is_new) groups.push_back({key, {}});
    groups[place->second].rows.push_back(static_cast<Eigen::Index>(i));
  }
  return groups;
}

}  // namespace

std::vector<SeriesTable> read_series(const std::filesystem::path& file, const SeriesColumns& named) {
  const TableSource source(file);
  const CsvReader reader = source.open();
  UsedColumns used{reader, {}, {}};
  const std::size_t last = reader.names().size() - 1;
  const std::size_t place = named.values.empty() ? last : reader.column(named.values);
  const bool has_key = !named.key.empty();
  const bool has_time = !named.time.empty() || (place != 0 && begins_with_date(file));
  if (has_key) used.add(reader.column(named.key), "the key");
  if (has_time) used.add(named.time.empty() ? 0 : reader.column(named.time), "the time");
  used.add(place, "the values");
  SeriesTable empty;
  empty.name = reader.names()[place];
  for (const std::string& input : named.inputs) {
    used.add(reader.column(input), "an input");
    empty.inputs.push_back({input, {}});
  }
  empty.has_unread_columns = named.values.empty() && used.places.size() < reader.names().size();
  const MixedTable cells = source.read(used.places, has_key);

  const std::size_t time_place = has_key, first = time_place + has_time;
  const Eigen::VectorXd values = cells.numbers_of(first);
  Eigen::MatrixXd inputs(cells.numbers.rows(), std::ssize(named.inputs));
  for (std::size_t j = 0; j < named.inputs.size(); ++j)
    inputs.col(static_cast<Eigen::Index>(j)) = cells.numbers_of(first + 1 + j);
  TableColumn times;
  Eigen::VectorXd numbers;
  double number = 0;
  if (has_time) {
    times = cells.column(time_place);
    empty.time_name = cells.names[time_place];
    if (times.cells.empty() || parse_number(times.cells[0], number)) numbers = cells.numbers_of(time_place);
  }

  std::vector<KeyedRows> groups(1);
  if (has_key) {
    groups = rows_by_key(cells);
  } else {
    groups[0].rows.resize(cells.rows());
    std::iota(groups[0].rows.begin(), groups[0].rows.end(), Eigen::Index{0});
  }
  std::vector<SeriesTable> all;
  for (const auto& [key, rows] : groups) {
    SeriesTable& table = all.emplace_back(empty);
    table.key = key;
    const std::string where =
        fmt::format("'{}'{}", file.string(), has_key ? fmt::format(", {} '{}'", named.key, shown(key)) : std::string());
    std::vector<std::size_t> steps(rows.size());
    std::iota(steps.begin(), steps.end(), std::size_t{0});
    if (numbers.size() > 0) {
      const Eigen::VectorXd own = numbers(rows);
      table.time = SeriesTime::of_numbers(where, {own.data(), rows.size()}, steps);
    } else if (has_time && !rows.empty()) {
      std::vector<std::string> own;
      for (const Eigen::Index row : rows) own.push_back(times.cells[static_cast<std::size_t>(row)]);
      table.time = SeriesTime::of_dates(where, own, steps);
    }
    place_values(values(rows), steps, table);
    place_inputs(where, inputs(rows, Eigen::all), steps, table);
  }
  return all;
}

std::size_t SeriesTable::missing() const {
  return static_cast<std::size_t>(std::ranges::count_if(values, [](const auto& value) { return !value; }));
}

SmoothedTable::SmoothedTable(SeriesTable series, SeriesChoice chosen, std::size_t forecast)
    : table(std::move(series)), choice(std::move(chosen)), found(choice.smooth(table.values, forecast)) {
  for (std::size_t t = 0; t < found.sd.size(); ++t) {
    band.low.push_back(found.quantile(t, 0.025));
    band.middle.push_back(found.quantile(t, 0.5));
    band.high.push_back(found.quantile(t, 0.975));
  }
}

std::string series_csv(std::span<const SmoothedTable> all, const std::string& key) {
  const SeriesTable& first = all.front().table;
  std::string out = key.empty() ? "" : csv_cell(key) + ",";
  out += fmt::format("{},{}", csv_cell(first.time_name), csv_cell(first.name));
  for (const char* const what : {"mean", "sd", "signal_sd", "q2.5", "q50", "q97.5"})
    out += fmt::format(",{}", csv_cell(fmt::format("{}_{}", first.name, what)));
  if (key.empty())
    for (const Track& state : all.front().found.states) out += fmt::format(",{0}_mean,{0}_sd", state.name);
  for (const auto& [table, choice, found, band] : all)
    for (std::size_t t = 0; t < found.sd.size(); ++t) {
      const bool is_seen = t < table.values.size() && table.values[t];
      out += key.empty() ? "\n" : fmt::format("\n{},", csv_cell(table.key));
      out +=
          fmt::format("{},{},{},{},{},{},{},{}", table.time.text(t), is_seen ? fmt::format("{}", *table.values[t]) : "",
                      found.signal.mean[t], found.sd[t], found.signal.sd[t], band.low[t], band.middle[t], band.high[t]);
      if (key.empty())
        for (const Track& state : found.states) out += fmt::format(",{},{}", state.mean[t], state.sd[t]);
    }
  out.push_back('\n');
  return out;
}

Json series_json(const SmoothedTable& series) {
  const auto& [table, choice, found, band] = series;
  const SeriesChoice::Scored& best = choice.best();
  Json json{{"column", table.name},
            {"model", best.candidate.name},
            {"logarithm", best.candidate.is_log},
            {"log_evidence", found.log_evidence},
            {"settled", best.learned.converged},
            {"solves", best.learned.evaluations}};
  for (const SeriesChoice::Scored& scored : choice.models())
    json["models"].push_back({{"model", scored.candidate.name},
                              {"logarithm", scored.candidate.is_log},
                              {"log_score", scored.score},
                              {"weight", scored.weight}});
  for (const StateSpace::Variance& variance : best.model.variances())
    json["variances"][variance.name] = {{"value", variance.value}, {"learned", variance.learned}};
  for (std::size_t j = 0; j < table.inputs.size(); ++j)
    json["inputs"][table.inputs[j].name] = {{"weight", found.weights.mean[j]}, {"sd", found.weights.sd[j]}};
  json["values"] = table.values.size();
  json["forecasts"] = found.sd.size() - table.values.size();
  for (std::size_t t = 0; t < found.sd.size(); ++t)
    json["time"].push_back(table.time.is_date() ? Json(table.time.text(t)) : Json(table.time.number(t)));
  json["mean"] = found.signal.mean;
  json["sd"] = found.sd;
  json["signal_sd"] = found.signal.sd;
  json["q2.5"] = band.low;
  json["q50"] = band.middle;
  json["q97.5"] = band.high;
  json["unusual"] = Json::array();
  for (const UnusualStep& step : unusual_steps(found))
    json["unusual"].push_back(
        {{"step", step.t}, {"kind", step.is_level ? "level" : "value"}, {"surprise", step.surprise}});
  for (const Track& state : found.states) json["states"][state.name] = {{"mean", state.mean}, {"sd", state.sd}};
  return json;
}

namespace {

plot::Panel panel_of(const SmoothedTable& series);

// The part of a page that tells of one series.
std::string section_of(const SmoothedTable& series) {
  using page::escaped;
  const auto& [table, choice, found, band] = series;
  const auto number = [](double value) { return fmt::format("{:.5g}", value); };
  const std::size_t seen = table.values.size() - table.missing();
  std::string body =
      fmt::format("<h1>{}</h1>\n<p class=\"lead\">{}</p>\n", escaped(table.key.empty() ? table.name : table.key),
                  escaped(series_name(choice.best().candidate)));
  body += fmt::format("<p>{} values, {} missing, {} to {}; {} steps forecast. Log evidence {:.2f}.</p>\n", seen,
                      table.missing(), escaped(table.time.text(0)), escaped(table.time.text(table.values.size() - 1)),
                      found.sd.size() - table.values.size(), found.log_evidence);
  body += "<div class=\"series\">" +
          page::figure(panel_of(series), "The median, and the interval that holds 95 % of values.") + "</div>\n";
  page::Table models{.columns = {"model", "log score", "weight"}};
  for (const SeriesChoice::Scored& one : choice.models())
    models.rows.push_back({escaped(series_name(one.candidate)), fmt::format("{:.2f}", one.score),
                           fmt::format("{:.0f} %", 100 * one.weight)});
  body += "<h2>Models that were tried</h2>\n" + page::html(models);
  page::Table noises{.columns = {"noise", "standard deviation per step"}};
  for (const StateSpace::Variance& variance : choice.best().model.variances())
    noises.rows.push_back({escaped(variance.name), number(std::sqrt(variance.value))});
  body += page::html(noises);
  page::Table inputs{.columns = {"input", "coefficient", "standard deviation"}};
  for (std::size_t j = 0; j < table.inputs.size(); ++j)
    inputs.rows.push_back({escaped(table.inputs[j].name), number(found.weights.mean[j]), number(found.weights.sd[j])});
  if (!inputs.rows.empty())
    body += fmt::format("<h2>Inputs</h2>\n<p>The {} changes by the coefficient if the input rises by 1.</p>\n{}",
                        choice.best().candidate.is_log ? "logarithm of the value" : "value", page::html(inputs));
  page::Table unusual{.columns = {escaped(table.time_name), "", "standard deviations"}};
  for (const UnusualStep& step : unusual_steps(found))
    unusual.rows.push_back(
        {escaped(table.time.text(step.t)), step.is_level ? "level" : "value", fmt::format("{:+.1f}", step.surprise)});
  body += "<h2>Unusual steps</h2>\n" + (unusual.rows.empty() ? "<p>None.</p>\n" : page::html(unusual));
  page::Table ahead{.columns = {escaped(table.time_name), "forecast", "2.5 %", "97.5 %"}};
  for (std::size_t t = table.values.size(); t < found.sd.size(); ++t)
    ahead.rows.push_back(
        {escaped(table.time.text(t)), number(band.middle[t]), number(band.low[t]), number(band.high[t])});
  if (!ahead.rows.empty()) body += "<h2>Forecast</h2>\n" + page::html(ahead);
  return body;
}

}  // namespace

std::string series_page(std::span<const SmoothedTable> all, const std::string& command) {
  std::string body;
  for (const SmoothedTable& series : all) body += section_of(series);
  body += fmt::format("<h2>Do it again</h2>\n<pre>{}</pre>\n<p class=\"soft\">dma {}</p>\n", page::escaped(command),
                      page::escaped(std::string(version())));
  return page::document(all.front().table.name, body);
}

namespace {

// Times are years with fractions; an axis of a few years shows dates instead.
plot::Axis date_axis(const SeriesTable& table, std::size_t steps) {
  constexpr double kFewYears = 4;
  constexpr std::size_t kCharacters = 44;  // all ticks together
  plot::Axis axis{.label = table.time_name};
  if (!table.time.is_date() || table.time.number(steps) - table.time.number(0) > kFewYears) return axis;
  const std::size_t count = std::min(steps, kCharacters / table.time.text(0).size());
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t t = (2 * i + 1) * steps / (2 * count);
    axis.names.push_back(table.time.text(t));
    axis.places.push_back(table.time.number(t));
  }
  return axis;
}

plot::Panel panel_of(const SmoothedTable& series) {
  const auto& [table, choice, found, band] = series;
  plot::Series past{.title = "95 % of values", .style = plot::Style::band, .colour = plot::Colour::sky};
  plot::Series ahead{.title = "forecast", .style = plot::Style::band, .colour = plot::Colour::orange};
  plot::Series line{.title = "smoothed", .style = plot::Style::line};
  plot::Series points{.title = table.name, .style = plot::Style::points, .colour = plot::Colour::black, .width = 1.2};
  for (std::size_t t = 0; t < band.low.size(); ++t) {
    const double time = table.time.number(t);
    const auto add = [&](plot::Series& drawn) {
      drawn.x.push_back(time);
      drawn.y.push_back(band.low[t]);
      drawn.y_high.push_back(band.high[t]);
    };
    if (t < table.values.size()) add(past);
    if (t + 1 >= table.values.size()) add(ahead);
    line.x.push_back(time);
    line.y.push_back(band.middle[t]);
    if (t >= table.values.size() || !table.values[t]) continue;
    points.x.push_back(time);
    points.y.push_back(*table.values[t]);
  }
  const std::string& title = table.key.empty() ? table.name : table.key;
  plot::Panel panel{.title = title, .x = date_axis(table, band.low.size()), .y = {table.name}};
  panel.series = {past};
  if (band.low.size() > table.values.size()) panel.series.push_back(ahead);
  panel.series.push_back(line);
  panel.series.push_back(points);
  return panel;
}

}  // namespace

plot::Figure series_figure(std::span<const SmoothedTable> all) {
  plot::Figure figure{.columns = 1, .panel_width = 820, .panel_height = 420};
  for (const SmoothedTable& series : all) figure.panels.push_back(panel_of(series));
  return figure;
}

}  // namespace dma
