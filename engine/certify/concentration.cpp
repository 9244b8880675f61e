#include <cmath>

#include "engine/certify/checks.h"
#include "engine/certify/exact_message.h"
#include "engine/certify/sampling.h"

namespace dma {

namespace {

constexpr double kLowest = 2, kHighest = 64;
// The asymptotic rate is read off from here on. Below, the message is no narrower than the incoming one, which hides
// its error: with an incoming message 0.4 of the limit wide, a product's KL falls only like r^-1.1 between 4 and 24.
constexpr double kFrom = 8;
// "Falls like 1/r^2" with room for the next order of the expansion.
constexpr double kSlowest = -1.7;
// Fewer than the paper's 500: their number sets how small a KL the samples can show.
constexpr std::size_t kBins = 100;

// Every arrival but the edge's own, and but values, at signal-to-noise ratio r; the own one fixed, off the exact limit
// by half its width.
Scenario at_ratio(const Edge& edge, Scenario scenario, double r) {
  for (std::size_t p = 0; p < scenario.arrivals.size(); ++p)
    for (Natural& m : scenario.arrivals[p]) {
      if (m.is_point()) continue;  // observed
      const double mean = Gaussian(m).mean();
      // Log-normal is the one other family that can be certified: the logarithm of one with ratio r has standard
      // deviation sqrt(log(1 + 1/r^2)).
      const bool logarithm = edge.kind->ports()[p].family.value_or(std::string(kGaussian)) != kGaussian;
      m = Gaussian::from_moments(mean, logarithm ? std::log1p(1 / (r * r)) : mean * mean / (r * r));
    }
  return scenario;
}

}  // namespace

Concentration check_concentration(const Edge& edge, Scenarios scenarios, const CertifyOptions& options) {
  Concentration result;
  const Scenario base = scenarios.ordinary();
  const auto limit = ExactMessage::make(*edge.kind, edge.port, edge.term, base.arrivals, base.parameters);
  if (!limit) return result;
  const Hint hint = limit->hints().front();
  const double width = std::max(std::abs(hint.centre), 0.1);
  const Gaussian incoming = Gaussian::from_moments(hint.centre + 0.5 * width, width * width);
  std::vector<double> ratios, sampled, exact;
  for (int i = 0; i < options.ratios; ++i) {
    edge.tell(options, "concentration", i, options.ratios);
    const double r = kLowest * std::pow(kHighest / kLowest, static_cast<double>(i) / (options.ratios - 1));
    Scenario scenario = at_ratio(edge, base, r);
    edge.own(scenario) = incoming;
    const auto message = edge.message(scenario);
    if (!message) return result;
    const Gaussian belief = *message * incoming;
    Concentration::Point point{.r = r};
    if (options.samples > 0) {
      const WeightedSamples samples =
          sample_marginal(*edge.kind, scenario, edge.port, edge.term, options.samples, options.seed);
      point.sampled = kl(histogram(samples, kBins), belief);
      point.floor = histogram_floor(kBins, samples.effective());
    }
    const auto curve = trace_exact(*edge.kind, edge.port, edge.term, scenario.arrivals, scenario.parameters,
                                   {incoming, belief}, options.tolerance);
    point.exact = curve->times(incoming).kl(belief);
    result.points.push_back(point);
    if (r < kFrom) continue;
    ratios.push_back(r);
    exact.push_back(point.exact);
    sampled.push_back(point.sampled > 2 * point.floor ? point.sampled - point.floor : 0.0);
  }
  result.exact = fit_rate(ratios, exact);
  result.sampled = fit_rate(ratios, sampled);
  result.holds = result.exact.constant > 0 && result.exact.exponent <= kSlowest;
  return result;
}

}  // namespace dma
