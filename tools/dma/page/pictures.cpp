#include "tools/dma/page/pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

namespace dma::report {

namespace {

using plot::Colour;
using plot::Panel;
using plot::Style;
using Doubles = std::vector<double>;

constexpr std::array kColours = {Colour::blue,   Colour::vermillion, Colour::green,
                                 Colour::orange, Colour::purple,     Colour::grey};

struct Span {
  double low = HUGE_VAL, high = -HUGE_VAL;
  void include(const Doubles& values) {
    for (const double v : values)
      if (std::isfinite(v)) low = std::min(low, v), high = std::max(high, v);
  }
  void widen(double fraction) {
    const double room = high > low ? fraction * (high - low) : std::max(1e-12, 0.1 * std::abs(low));
    low -= room, high += room;
  }
};

Doubles times(Doubles values, double factor) {
  for (double& v : values) v *= factor;
  return values;
}

Doubles column(const Json& rows, const char* key) {
  Doubles all;
  for (const Json& row : rows) all.push_back(json_number(row.at(key)));
  return all;
}

std::string percent_text(double fraction) { return fmt::format("{:.1f} %", 100 * fraction); }

// Found against stated fractions, in percent.
Panel fractions_panel(const Json& curve, const std::string& title, const std::string& x, const std::string& y) {
  const Doubles stated = column(curve, "stated"), found = column(curve, "found"), low = column(curve, "chance_low"),
                high = column(curve, "chance_high");
  std::vector<std::string> notes;
  for (std::size_t i = 0; i < stated.size(); ++i)
    notes.push_back(fmt::format("stated {}\nfound {}\nby chance {} to {}\n{} row{}", percent_text(stated[i]),
                                percent_text(found[i]), percent_text(low[i]), percent_text(high[i]),
                                curve[i].at("rows").get<std::size_t>(), curve[i].at("rows") == 1 ? "" : "s"));
  return {.title = title,
          .x = {.label = x, .low = -2, .high = 102},
          .y = {.label = y, .low = -2, .high = 102},
          .series = {{.title = "95 % by chance, if it is right",
                      .style = Style::band,
                      .colour = Colour::sky,
                      .x = times(stated, 100),
                      .y = times(low, 100),
                      .y_high = times(high, 100)},
                     {.style = Style::dashed, .colour = Colour::grey, .x = {0, 100}, .y = {0, 100}},
                     {.title = "found",
                      .style = Style::line_points,
                      .colour = Colour::blue,
                      .x = times(stated, 100),
                      .y = times(found, 100),
                      .notes = notes}}};
}

// A point of the observations, and what was said of it.
std::vector<std::string> notes_of(const Json& points) {
  std::vector<std::string> notes;
  for (std::size_t i = 0; i < points.at("observed").size(); ++i) {
    const auto number = [&](const char* key) { return four_digits(json_number(points.at(key)[i])); };
    notes.push_back(fmt::format("observed {}\npredicted {}\n95 %: {} to {}", number("observed"), number("predicted"),
                                number("low"), number("high")));
  }
  return notes;
}

}  // namespace

Panel agreement_panel(const Json& points, const std::string& target) {
  const Doubles observed = numbers_of(points.at("observed")), predicted = numbers_of(points.at("predicted"));
  const Doubles low = numbers_of(points.at("low")), high = numbers_of(points.at("high"));
  Span span, tall;
  span.include(observed), span.include(predicted), span.widen(0.05);
  tall.include(low), tall.include(high), tall.include({span.low, span.high}), tall.widen(0.02);
  return {.title = "Predicted against observed",
          .x = {.label = "observed " + target, .low = span.low, .high = span.high},
          .y = {.label = "predicted " + target, .low = tall.low, .high = tall.high},
          .series = {
              {.title = "95 % interval",
               .style = Style::bars,
               .colour = Colour::sky,
               .x = observed,
               .y = low,
               .y_high = high},
              {.style = Style::dashed, .colour = Colour::grey, .x = {span.low, span.high}, .y = {span.low, span.high}},
              {.title = "row",
               .style = Style::points,
               .colour = Colour::blue,
               .x = observed,
               .y = predicted,
               .width = 1,
               .notes = notes_of(points)}}};
}

Panel residual_panel(const Json& points, const std::string& target) {
  const Doubles predicted = numbers_of(points.at("predicted"));
  Doubles residual = numbers_of(points.at("observed"));
  for (std::size_t i = 0; i < residual.size(); ++i) residual[i] -= predicted[i];
  Span span;
  span.include(predicted), span.widen(0.05);
  std::vector<std::string> notes = notes_of(points);
  for (std::size_t i = 0; i < notes.size(); ++i)
    notes[i] = fmt::format("off by {}\n", four_digits(residual[i])) + notes[i];
  return {
      .title = "Residuals",
      .x = {.label = "predicted " + target, .low = span.low, .high = span.high},
      .y = {.label = "observed − predicted"},
      .series = {
          {.style = Style::dashed, .colour = Colour::grey, .x = {span.low, span.high}, .y = {0, 0}},
          {.style = Style::points, .colour = Colour::blue, .x = predicted, .y = residual, .width = 1, .notes = notes}}};
}

Panel coverage_panel(const Json& curve) {
  return fractions_panel(curve, "Coverage of intervals", "% an interval should hold", "% of rows inside");
}

Panel calibration_panel(const Json& curve) {
  return fractions_panel(curve, "Calibration curve", "% that should lie below a quantile", "% of rows below");
}

Panel reliability_panel(const Json& curve) {
  Panel panel =
      fractions_panel(curve, "Calibration curve", "% stated for the most probable class", "% of rows it is right for");
  panel.series[0].style = Style::bars;
  panel.series[2].style = Style::points;  // between bins with rows nothing was found
  // The axis begins where there are rows: a most probable class has at least 1 / classes.
  double least = 100;
  for (const double stated : panel.series[2].x) least = std::min(least, stated);
  panel.x.low = 10 * std::floor(least / 10 - 1e-9) - 2;
  return panel;
}

std::vector<Panel> dependence_panels(const Json& curves, const std::string& target) {
  Span span;
  for (const Json& curve : curves)
    for (const char* key : {"mean", "low", "high"}) span.include(numbers_of(curve.at(key)));
  span.widen(0.06);
  std::vector<Panel> panels;
  for (const Json& curve : curves) {
    const Doubles x = numbers_of(curve.at("x")), mean = numbers_of(curve.at("mean")), low = numbers_of(curve.at("low")),
                  high = numbers_of(curve.at("high")), deciles = numbers_of(curve.at("deciles"));
    const auto name = curve.at("name").get<std::string>();
    std::vector<std::string> notes;
    for (std::size_t i = 0; i < x.size(); ++i)
      notes.push_back(fmt::format("{} = {}\n{}: {}\n95 %: {} to {}", name, four_digits(x[i]), target,
                                  four_digits(mean[i]), four_digits(low[i]), four_digits(high[i])));
    panels.push_back(
        {.title = name,
         .x = {.label = name},
         .y = {.label = target, .low = span.low, .high = span.high},
         .series = {
             {.title = "95 %, at most", .style = Style::band, .colour = Colour::sky, .x = x, .y = low, .y_high = high},
             {.title = "tenths of the rows",
              .style = Style::bars,
              .colour = Colour::grey,
              .x = deciles,
              .y = Doubles(deciles.size(), span.low),
              .y_high = Doubles(deciles.size(), span.low + 0.04 * (span.high - span.low))},
             {.title = "mean prediction", .colour = Colour::blue, .x = x, .y = mean, .notes = notes}}});
  }
  return panels;
}

std::vector<Panel> class_dependence_panels(const Json& classes, const std::string& target) {
  double most = 0;
  for (const Json& own : classes)
    for (const Json& input : own.at("inputs"))
      for (const double fraction : numbers_of(input.at("mean"))) most = std::max(most, 100 * fraction);
  std::vector<Panel> panels;
  for (std::size_t i = 0; i < classes.at(0).at("inputs").size(); ++i) {
    const Json& first = classes[0].at("inputs")[i];
    const auto name = first.at("name").get<std::string>();
    const Doubles x = numbers_of(first.at("x"));
    Panel panel{.title = name,
                .x = {.label = name},
                .y = {.label = "% of " + target, .low = 0, .high = std::min(100.0, 1.1 * most)}};
    std::vector<std::string> notes;
    for (const double value : x) notes.push_back(fmt::format("{} = {}", name, four_digits(value)));
    for (std::size_t k = 0; k < classes.size(); ++k) {
      const Doubles mean = numbers_of(classes[k].at("inputs")[i].at("mean"));
      const auto own = classes[k].at("class").get<std::string>();
      for (std::size_t p = 0; p < x.size(); ++p) notes[p] += fmt::format("\n{}: {}", own, percent_text(mean[p]));
      panel.series.push_back({.title = own, .colour = kColours[k % kColours.size()], .x = x, .y = times(mean, 100)});
    }
    panel.series.back().notes = notes;
    panels.push_back(std::move(panel));
  }
  return panels;
}

Panel training_panel(const Json& members, const std::string& quantity, const std::vector<std::string>& names) {
  Panel panel{.title = "Training", .x = {.label = "epoch"}, .y = {.label = quantity}};
  for (std::size_t k = 0; k < members.size(); ++k) {
    const Doubles epochs = numbers_of(members[k].at("epoch")), values = numbers_of(members[k].at("value"));
    std::vector<std::string> notes;
    for (std::size_t i = 0; i < epochs.size(); ++i)
      notes.push_back(fmt::format("{}\nepoch {:.0f}: {}", names.at(k), epochs[i], four_digits(values[i])));
    panel.series.push_back({.title = names.at(k),
                            .style = Style::line_points,
                            .colour = kColours[k % kColours.size()],
                            .x = epochs,
                            .y = values,
                            .width = 1,
                            .notes = notes});
  }
  return panel;
}

}  // namespace dma::report
