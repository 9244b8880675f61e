// Apps. C.1 and C.2: the master theorem over 192 leaky-ReLU settings, and the tightness of its bound.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "engine/certify/exact_message.h"
#include "factors/standard_registry.h"
#include "tools/experiments/paper/figures.h"

namespace dma::reproduce {

using namespace plot;

namespace {

constexpr double kSlopes[] = {0.1, 0.3, 0.5};
// Below this delta the message is exact to the accuracy of the quadrature, and a ratio says nothing.
constexpr double kLeastDelta = 1e-9;

struct BoundSweep {
  int count = 0, measurable = 0, violations = 0;
  double largest = 0;
};

template <class Visit>
BoundSweep sweep(double mean_y, double mean_x, const Visit& visit) {
  constexpr int kRatios = 16;
  BoundSweep result;
  for (const double slope : kSlopes)
    for (const double width : {0.5, 1.0, 1.5, 2.0})
      for (int i = 0; i < kRatios; ++i) {
        const ReluSetting setting{slope, width, 0.5 + 6.5 * i / (kRatios - 1), mean_y, mean_x};
        const ReluError error = relu_error(setting);
        ++result.count;
        if (error.delta > kLeastDelta) {
          ++result.measurable;
          result.largest = std::max(result.largest, error.ratio());
        }
        if (error.marginal > error.bound + kLeastDelta) ++result.violations;
        visit(setting, error);
      }
  return result;
}

// The same sweep for other means: which of the paper's numbers depend on what it does not state.
void other_choices(Writer& w) {
  double low = 1, high = 0;
  int violations = 0, choices = 0;
  for (const double mean_y : {-3.0, -1.0, 0.5, 1.0, 2.0, 3.0})
    for (const double mean_x : {-1.0, 0.0, 0.5, 1.0}) {
      const BoundSweep s = sweep(mean_y, mean_x, [](const ReluSetting&, const ReluError&) {});
      low = std::min(low, s.largest);
      high = std::max(high, s.largest);
      violations += s.violations;
      ++choices;
    }
  w.claim("C.1", "the bound holds whatever the means that the paper does not state", "-",
          fmt::format("{} choices of means, {} settings: {} violations; largest ratio from {:.2f} to {:.3f}", choices,
                      192 * choices, violations, low, high),
          violations == 0);
}

// Actual marginal KL against the bound, one parameter at a time.
struct Tightness {
  std::vector<double> x, actual, bound, ratio;

  Tightness(double low, double high, double ReluSetting::*field) {
    constexpr int kPoints = 60;
    for (int i = 0; i < kPoints; ++i) {
      ReluSetting setting;
      setting.*field = low + (high - low) * i / (kPoints - 1);
      const ReluError e = relu_error(setting);
      x.push_back(setting.*field);
      actual.push_back(e.marginal);
      bound.push_back(e.bound);
      ratio.push_back(e.delta > kLeastDelta ? e.ratio() : 0.0);
    }
  }
  Panel panel(std::string title, std::string label) const {
    return {.title = std::move(title),
            .x = {std::move(label)},
            .y = {"KL (nats)", Scale::log, 1e-5, 2},
            .series = {{.title = "actual", .x = x, .y = actual, .width = 3},
                       {.title = "bound", .style = Style::dashed, .colour = Colour::black, .x = x, .y = bound}}};
  }
};

bool rises(const std::vector<double>& y) { return std::ranges::is_sorted(y); }
// Differences below the least delta are rounding, in any order.
bool falls(const std::vector<double>& y) {
  return std::ranges::is_sorted(y, [](double a, double b) { return a > b + kLeastDelta; });
}

}  // namespace

ReluError relu_error(const ReluSetting& setting) {
  static const Registry registry = standard_registry();
  const Kind& relu = registry.kind("leaky_relu");
  const double sd_y = std::abs(setting.mean_y) / setting.r;
  const Gaussian incoming = Gaussian::from_moments(setting.mean_x, setting.width * setting.width);
  const Arrivals arrivals = {{incoming}, {Gaussian::from_moments(setting.mean_y, sd_y * sd_y)}};
  const std::vector<double> parameters = {setting.slope};
  const Gaussian message(evaluate(relu, "dma", relu.port("x"), arrivals, parameters).value().front());
  const Curve exact = trace_exact(relu, relu.port("x"), 0, arrivals, parameters, {message, incoming}, 1e-10).value();
  const Curve marginal = exact.times(incoming);
  const double delta = std::max(0.0, exact.kl(message));
  const double supremum = std::exp(log_density(incoming, incoming.mean()));
  return {delta, std::max(0.0, marginal.kl(message * incoming)), supremum / (marginal.mass / exact.mass) * delta};
}

void master_theorem(Writer& w) {
  Panel scatter{.title = "Message error and marginal error",
                .x = {"message KL delta (nats)", Scale::log},
                .y = {"marginal KL (nats)", Scale::log, 1e-10}};
  Panel ratios{
      .title = "Marginal KL / bound", .x = {"signal-to-noise ratio r"}, .y = {"ratio", Scale::linear, 0, 1.15}};
  const Colour colours[] = {Colour::blue, Colour::orange, Colour::green};
  for (std::size_t i = 0; i < std::size(kSlopes); ++i)
    for (Panel* panel : {&scatter, &ratios})
      panel->series.push_back(
          {.title = fmt::format("slope {}", kSlopes[i]), .style = Style::points, .colour = colours[i]});
  double prefactor = 0;
  const ReluSetting chosen;
  const BoundSweep result = sweep(chosen.mean_y, chosen.mean_x, [&](const ReluSetting& s, const ReluError& e) {
    if (e.delta <= kLeastDelta) return;
    const auto i = static_cast<std::size_t>(std::ranges::find(kSlopes, s.slope) - std::begin(kSlopes));
    scatter.series[i].x.push_back(e.delta);
    scatter.series[i].y.push_back(e.marginal);
    ratios.series[i].x.push_back(s.r);
    ratios.series[i].y.push_back(e.ratio());
    prefactor = std::max(prefactor, e.bound / e.delta);
  });
  const auto line = [](std::string title, Style style, Colour own, std::vector<double> x, std::vector<double> y) {
    return Series{.title = std::move(title), .style = style, .colour = own, .x = std::move(x), .y = std::move(y)};
  };
  scatter.series.push_back(line(fmt::format("C delta, largest C = {:.1f}", prefactor), Style::dashed, Colour::black,
                                {1e-9, 1}, {1e-9 * prefactor, prefactor}));
  ratios.series.push_back(line("bound", Style::dashed, Colour::black, {0.5, 7}, {1, 1}));
  ratios.series.push_back(line("paper's maximum 0.97", Style::dotted, Colour::vermillion, {0.5, 7}, {0.97, 0.97}));
  w.picture("master_theorem", "C.1: the master theorem in 192 leaky-ReLU settings.",
            {.panels = {scatter, ratios}, .panel_width = 560, .panel_height = 440});
  w.claim("C.1", "all 192 settings stay below the bound", "192 of 192",
          fmt::format("{} of {} ({} of them with delta > 1e-9)", result.count - result.violations, result.count,
                      result.measurable),
          result.violations == 0);
  w.claim("C.1", "largest marginal KL / bound", "0.97", fmt::format("{:.3f}", result.largest),
          std::abs(result.largest - 0.97) < 0.005);
  w.text(
      fmt::format("C.1, C.2: r = |mean_y| / sd_y leaves mean_y open, and the mean of the incoming message is not "
                  "given. mean_y = {}, mean_x = {} was picked after a scan of some 600 combinations for agreement with "
                  "the text of C.2, so the 0.68 of the width sweep is fitted. The largest ratio of C.1 depends on this "
                  "choice; that it stays below 1 does not.",
                  chosen.mean_y, chosen.mean_x));
  other_choices(w);
}

void bound_tightness(Writer& w) {
  const Tightness by_r(0.5, 7, &ReluSetting::r), by_slope(0.05, 0.98, &ReluSetting::slope),
      by_width(0.2, 2, &ReluSetting::width);
  w.picture("bound_tightness", "C.2: the actual marginal KL and its bound.",
            {.panels = {by_r.panel("(a) slope 0.3, width 1", "signal-to-noise ratio r"),
                        by_slope.panel("(b) r = 2, width 1", "leaky slope"),
                        by_width.panel("(c) r = 2, slope 0.3", "incoming width")},
             .panel_width = 460});
  const double r = std::ranges::max(by_r.ratio), slope = std::ranges::max(by_slope.ratio),
               width = std::ranges::max(by_width.ratio);
  w.claim("C.2", "the bound is above the actual KL in all three sweeps", "strictly above",
          fmt::format("largest ratio {:.2f} (r), {:.2f} (slope), {:.2f} (width)", r, slope, width),
          std::max({r, slope, width}) < 1);
  w.claim("C.2", "the largest ratio of all three sweeps is 0.68, in the width sweep", "0.68",
          fmt::format("width sweep {:.2f}; r sweep {:.2f}, at its large-r end", width, r), width >= std::max(r, slope));
  const auto monotone = [](bool holds) { return holds ? "monotone" : "not monotone"; };
  w.claim("C.2a", "the bound falls with r", "monotone", monotone(falls(by_r.bound)), falls(by_r.bound));
  const double peak = by_r.x[static_cast<std::size_t>(std::ranges::max_element(by_r.actual) - by_r.actual.begin())];
  w.claim("C.2a", "the actual KL peaks near r = 2 to 3", "2 to 3", two_digits(peak), peak >= 1.9 && peak <= 3.1);
  const bool both_fall = falls(by_slope.actual) && falls(by_slope.bound);
  w.claim("C.2b", "actual KL and bound fall as the slope goes to 1", "monotone", monotone(both_fall), both_fall);
  w.claim("C.2c", "the actual KL rises with the width, the bound falls", "yes",
          fmt::format("actual {}, bound {}", rises(by_width.actual) ? "rises" : "does not rise throughout",
                      falls(by_width.bound) ? "falls" : "does not fall throughout"),
          rises(by_width.actual) && falls(by_width.bound));
  w.text(
      "C.2a: a peak between 2 and 3 needs mean_y < 0 (the steep branch of the inverse); but then the actual KL no "
      "longer rises throughout the width sweep. No pair of means that was tried gives every statement of the caption "
      "at once.");
}

}  // namespace dma::reproduce
