#include "tools/experiments/paper/figures/reference.h"

#include <fmt/format.h>

#include <cmath>

#include "engine/certify/exact_message.h"
#include "factors/standard_registry.h"

namespace dma::validation {

Marginal marginal(std::string_view kind_name, const Scenario& scenario, std::string_view port_name,
                  const AppendixOptions& options) {
  static const Registry registry = standard_registry();
  const Kind& kind = registry.kind(kind_name);
  const std::size_t port = kind.port(port_name);
  const Gaussian incoming(scenario.arrivals[port][0]);
  const Gaussian message(evaluate(kind, "dma", port, scenario.arrivals, scenario.parameters).value().front());
  Marginal result{.belief = message * incoming};
  const WeightedSamples samples = sample_marginal(kind, scenario, port, 0, options.samples, options.seed);
  result.histogram = histogram(samples);
  result.sampled = kl(result.histogram, result.belief);
  result.floor = histogram_floor(result.histogram.fraction.size(), samples.effective());
  const auto exact =
      trace_exact(kind, port, 0, scenario.arrivals, scenario.parameters, {message, incoming, result.belief});
  result.exact = exact->times(incoming).kl(result.belief);
  return result;
}

plot::Panel marginal_panel(std::string title, std::string label, const Marginal& marginal) {
  using namespace plot;
  const Histogram& h = marginal.histogram;
  Series samples{.title = "importance sampling", .style = Style::area, .colour = Colour::grey};
  // Five bins together: 500 are for the KL, 100 for the eye.
  constexpr std::size_t kTogether = 5;
  for (std::size_t i = 0; i + kTogether <= h.fraction.size(); i += kTogether) {
    double fraction = 0;
    for (std::size_t k = 0; k < kTogether; ++k) fraction += h.fraction[i + k];
    samples.x.push_back(h.centre(i + kTogether / 2));
    samples.y.push_back(fraction / (h.width() * static_cast<double>(kTogether)));
  }
  Series belief{.title = "DMA", .colour = Colour::blue, .width = 3};
  const double low = std::min(h.low, marginal.belief.mean() - 4 * marginal.belief.sd());
  const double high = std::max(h.high, marginal.belief.mean() + 4 * marginal.belief.sd());
  for (int i = 0; i <= 200; ++i) {
    belief.x.push_back(low + (high - low) * i / 200);
    belief.y.push_back(std::exp(log_density(marginal.belief, belief.x.back())));
  }
  return {.title = fmt::format("{}: KL {:.3f} nats", title, marginal.exact),
          .x = {std::move(label)},
          .y = {"density", Scale::linear, 0},
          .series = {std::move(samples), std::move(belief)}};
}

}  // namespace dma::validation
