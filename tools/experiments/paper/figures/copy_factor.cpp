// App. C.4: the error of the copy between a Gaussian and a log-normal, in closed form.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/certify/exact_message.h"
#include "factors/standard_registry.h"
#include "tools/experiments/paper/figures/appendix_c.h"

namespace dma::validation {

namespace {

// KL(LN(m, v) || N of the same moments) = log((e^v - 1) / v) / 2 + v / 2, whatever m (Lemma B.3 rearranged: the mean of
// the log-normal cancels).
double kl_of_log_variance(double v) { return 0.5 * std::log(std::expm1(v) / v) + 0.5 * v; }
double kl_of_ratio(double r) { return kl_of_log_variance(std::log1p(1 / (r * r))); }

plot::HeatMap heat_map(double x_low, double x_high, double y_low, double y_high, double (*kl)(double, double)) {
  constexpr int kCells = 120;
  plot::HeatMap map{.label = "KL (nats)", .scale = plot::Scale::log};
  for (int i = 0; i < kCells; ++i) {
    map.x.push_back(x_low + (x_high - x_low) * i / (kCells - 1));
    map.y.push_back(y_low + (y_high - y_low) * i / (kCells - 1));
  }
  for (const double y : map.y)
    for (const double x : map.x) map.z.push_back(kl(x, y));
  return map;
}

// The closed form against the message of the engine and an integral that knows neither.
double largest_difference_to_quadrature() {
  const Registry registry = standard_registry();
  const Kind& copy = registry.kind("log_copy");
  double largest = 0;
  for (const double mean : {-1.0, 0.0, 2.0})
    for (const double variance : {0.01, 0.1, 0.5}) {
      const Arrivals arrivals = {{Gaussian::from_moments(mean, variance)}, {Natural{}}};
      const std::vector<double> parameters = {1};
      const Gaussian message(evaluate(copy, "dma", copy.port("x"), arrivals, parameters).value().front());
      const double exact = trace_exact(copy, copy.port("x"), 0, arrivals, parameters, {message})->kl(message);
      largest = std::max(largest, std::abs(exact / kl_of_log_variance(variance) - 1));
    }
  return largest;
}

}  // namespace

void copy_factor(Section& section) {
  using namespace plot;
  Panel left{.title = "Step 1: log-normal to Gaussian",
             .x = {"log-mean", Scale::linear, -2, 2},
             .y = {"log standard deviation", Scale::linear, 0.02, 1},
             .heat = heat_map(-2, 2, 0.02, 1, [](double, double sd) { return kl_of_log_variance(sd * sd); }),
             .has_key = false};
  Panel right{.title = "Step 2: Gaussian to log-normal",
              .x = {"mean", Scale::linear, 0.5, 6},
              .y = {"standard deviation", Scale::linear, 0.05, 1.5},
              .heat = heat_map(0.5, 6, 0.05, 1.5, [](double mean, double sd) { return kl_of_ratio(mean / sd); }),
              .has_key = false};
  for (const double r : {2.0, 4.0, 8.0, 16.0})
    right.series.push_back({.style = Style::dashed, .colour = Colour::white, .x = {0.5, 6}, .y = {0.5 / r, 6 / r}});
  section.pictures.push_back(
      {"copy_factor", "C.4: the copy factor in closed form (dashed: r = 2, 4, 8, 16).", {.panels = {left, right}}});

  // KL r^2 = 3/4 + c / r^2 + ...: the intercept of a straight line through r = 10 ... 100.
  double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (int i = 0; i <= 30; ++i) {
    const double r = 2 * std::pow(50.0, i / 30.0), x = 1 / (r * r), y = kl_of_ratio(r) * r * r;
    if (r < 10) continue;
    n += 1, sx += x, sy += y, sxx += x * x, sxy += x * y;
  }
  const double slope = (n * sxy - sx * sy) / (n * sxx - sx * sx), coefficient = (sy - slope * sx) / n;
  section.claims.push_back({"C.4", "KL = coefficient / r^2 + O(r^-4)", "3/4", fmt::format("{:.6f}", coefficient),
                            std::abs(coefficient - 0.75) < 1e-3});
  const double difference = largest_difference_to_quadrature();
  section.claims.push_back(
      {"C.4", "the closed form, against the engine's message and quadrature; it depends on the log-variance alone", "-",
       fmt::format("within {:.0e} relative", difference), difference < 1e-6});
}

}  // namespace dma::validation
