#include <algorithm>
#include <cmath>

#include "engine/certify/checks.h"
#include "engine/certify/exact_message.h"

namespace dma {

namespace {

// Incoming messages to form marginals with, relative to the exact message's own centre and width.
struct Incoming {
  double shift, width;
};
constexpr Incoming kIncoming[] = {{0, 0.4}, {0.7, 1}, {-1, 2}, {0, 6}};

}  // namespace

void check_against_exact(const Edge& edge, Scenarios scenarios, const CertifyOptions& options,
                         EdgeCertificate& result) {
  for (int i = 0; i < options.scenarios; ++i) {
    edge.tell(options, "moments", i, options.scenarios);
    Scenario scenario = scenarios.ordinary();
    const auto exact = ExactMessage::make(*edge.kind, edge.port, edge.term, scenario.arrivals, scenario.parameters);
    if (!exact) continue;
    const Hint hint = exact->hints().front();
    std::vector<Gaussian> also;
    for (const Incoming& in : kIncoming)
      also.push_back(Gaussian::from_moments(hint.centre + in.shift * hint.scale, std::pow(in.width * hint.scale, 2)));
    if (const auto message = edge.message(scenario)) also.push_back(*message);
    const auto curve =
        trace_exact(*edge.kind, edge.port, edge.term, scenario.arrivals, scenario.parameters, also, options.tolerance);
    result.proper = result.proper && curve->proper;
    MasterBound& master = result.master;
    master.quadrature_error = std::max(master.quadrature_error, curve->error);
    for (std::size_t k = 0; k < std::size(kIncoming); ++k) {
      const Gaussian& incoming = also[k];
      edge.own(scenario) = incoming;
      const auto message = edge.message(scenario);
      if (!message || message->is_uniform()) continue;
      if (message->is_point()) {
        master.largest_delta = kInfinity;
        continue;
      }
      const Curve marginal = curve->times(incoming);
      MasterBound::Point point{.r = signal_to_noise(*edge.kind, scenario, edge.port, edge.term)};
      point.marginal = std::max(0.0, marginal.kl(*message * incoming));
      if (curve->proper) {
        point.delta = std::max(0.0, curve->kl(*message));
        point.bound = std::exp(log_density(incoming, incoming.mean())) / (marginal.mass / curve->mass) * point.delta;
        // Both sides carry the error of the quadrature.
        const double slack = 10 * options.tolerance;
        if (point.marginal > point.bound + slack) master.holds = false;
        if (point.bound > slack) master.largest_ratio = std::max(master.largest_ratio, point.marginal / point.bound);
        master.largest_delta = std::max(master.largest_delta, point.delta);
      } else {
        point.delta = point.bound = kInfinity;
      }
      master.points.push_back(point);
      if (k > 0 || !curve->proper) continue;
      const double sd = std::sqrt(curve->variance());
      ++result.moments.count;
      result.moments.mean_error = std::max(result.moments.mean_error, std::abs(message->mean() - curve->mean()) / sd);
      result.moments.variance_error =
          std::max(result.moments.variance_error, std::abs(message->variance() / curve->variance() - 1));
    }
  }
}

}  // namespace dma
