#include "tools/dma/commands/series_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/support/text.h"
#include "tools/dma/help/version.h"
#include "tools/dma/io/csv_text.h"
#include "tools/dma/page/chart.h"
#include "tools/dma/page/html.h"

namespace dma {

namespace {

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

void print_one(const SmoothedTable& series) {
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

Json json_of(const SmoothedTable& series) {
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

}  // namespace

SmoothedTable::SmoothedTable(SeriesTable series, SeriesChoice chosen, std::size_t forecast)
    : table(std::move(series)), choice(std::move(chosen)), found(choice.smooth(table.values, forecast)) {
  for (std::size_t t = 0; t < found.sd.size(); ++t) {
    band.low.push_back(found.quantile(t, 0.025));
    band.middle.push_back(found.quantile(t, 0.5));
    band.high.push_back(found.quantile(t, 0.975));
  }
}

void print_series(std::span<const SmoothedTable> all, const std::string& key) {
  for (const SmoothedTable& series : all) {
    if (!key.empty())
      fmt::print("{}{} {}\n", &series == all.data() ? "" : "\n", printable(key), printable(series.table.key));
    print_one(series);
  }
}

Json series_json(std::span<const SmoothedTable> all, const std::string& key) {
  if (key.empty()) return json_of(all.front());
  Json json{{"key", key}};
  for (const SmoothedTable& series : all) json["series"][series.table.key] = json_of(series);
  return json;
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
