// App. C.2: actual marginal KL against the bound, one parameter at a time.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "tools/experiments/paper/figures/appendix_c.h"
#include "tools/experiments/paper/figures/relu_setting.h"

namespace dma::validation {

namespace {

constexpr int kPoints = 60;
constexpr double kSmallest = 1e-9;  // smallest delta that is compared, as in C.1

struct Sweep {
  std::vector<double> x, actual, bound, ratio;

  Sweep(double low, double high, const std::function<ReluSetting(double)>& setting) {
    for (int i = 0; i < kPoints; ++i) {
      x.push_back(low + (high - low) * i / (kPoints - 1));
      const ReluError e = relu_error(setting(x.back()));
      actual.push_back(e.marginal);
      bound.push_back(e.bound);
      ratio.push_back(e.delta > kSmallest ? e.ratio() : 0.0);
    }
  }
  double largest_ratio() const { return std::ranges::max(ratio); }
  double peak() const { return x[static_cast<std::size_t>(std::ranges::max_element(actual) - actual.begin())]; }
};

bool rises(const std::vector<double>& y) { return std::ranges::is_sorted(y); }
bool falls(const std::vector<double>& y) {
  // Values below this are rounding, in any order.
  return std::ranges::is_sorted(y, [](double a, double b) { return a > b + kSmallest; });
}

plot::Panel panel(std::string title, std::string label, const Sweep& sweep) {
  using namespace plot;
  return {
      .title = std::move(title),
      .x = {std::move(label)},
      .y = {"KL (nats)", Scale::log, 1e-5, 2},
      .series = {{.title = "actual", .x = sweep.x, .y = sweep.actual, .width = 3},
                 {.title = "bound", .style = Style::dashed, .colour = Colour::black, .x = sweep.x, .y = sweep.bound}},
  };
}

}  // namespace

void bound_tightness(Section& section) {
  const ReluSetting base{.slope = 0.3, .width = 1, .r = 2, .mean_y = kChosenMeanY, .mean_x = kChosenMeanX};
  const auto with = [&](double ReluSetting::*field) {
    return [=](double value) {
      ReluSetting s = base;
      s.*field = value;
      return s;
    };
  };
  const Sweep by_r(0.5, 7, with(&ReluSetting::r));
  const Sweep by_slope(0.05, 0.98, with(&ReluSetting::slope));
  const Sweep by_width(0.2, 2, with(&ReluSetting::width));
  section.pictures.push_back({"bound_tightness",
                              "C.2: the actual marginal KL and its bound.",
                              {.panels = {panel("(a) slope 0.3, width 1", "signal-to-noise ratio r", by_r),
                                          panel("(b) r = 2, width 1", "leaky slope", by_slope),
                                          panel("(c) r = 2, slope 0.3", "incoming width", by_width)},
                               .panel_width = 460}});

  const double r = by_r.largest_ratio(), slope = by_slope.largest_ratio(), width = by_width.largest_ratio();
  auto& claims = section.claims;
  claims.push_back({"C.2", "the bound is above the actual KL in all three sweeps", "strictly above",
                    fmt::format("largest ratio {:.2f} (r), {:.2f} (slope), {:.2f} (width)", r, slope, width),
                    std::max({r, slope, width}) < 1});
  claims.push_back({"C.2", "the largest ratio of all three sweeps is 0.68, in the width sweep", "0.68",
                    fmt::format("width sweep {:.2f}; r sweep {:.2f}, at its large-r end", width, r),
                    width >= std::max(r, slope)});
  claims.push_back({"C.2a", "the bound falls with r", "monotone", falls(by_r.bound) ? "monotone" : "not monotone",
                    falls(by_r.bound)});
  claims.push_back({"C.2a", "the actual KL peaks near r = 2 to 3", "2 to 3", fmt::format("{:.2f}", by_r.peak()),
                    by_r.peak() >= 1.9 && by_r.peak() <= 3.1});
  claims.push_back({"C.2b", "actual KL and bound fall as the slope goes to 1", "monotone",
                    falls(by_slope.actual) && falls(by_slope.bound) ? "monotone" : "not monotone",
                    falls(by_slope.actual) && falls(by_slope.bound)});
  claims.push_back({"C.2c", "the actual KL rises with the width, the bound falls", "yes",
                    fmt::format("actual {}, bound {}", rises(by_width.actual) ? "rises" : "does not rise throughout",
                                falls(by_width.bound) ? "falls" : "does not fall throughout"),
                    rises(by_width.actual) && falls(by_width.bound)});
  section.text.push_back(
      "C.2a: a peak between 2 and 3 needs mean_y < 0 (the steep branch of the inverse); but then the actual KL no "
      "longer rises throughout the width sweep. No pair of means that was tried gives every statement of the caption "
      "at once.");
}

}  // namespace dma::validation
