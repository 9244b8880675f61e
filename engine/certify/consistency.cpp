#include <cmath>

#include "engine/certify/checks.h"
#include "engine/certify/exact_message.h"

namespace dma {

namespace {

constexpr double kNarrowest = 1e-3;
// The most that may be left at a thousandth of the width: the distance of a message that follows its inputs is a
// thousandth too, and delta ~ C width^2 is a millionth.
constexpr double kNearLimit = 0.02, kSmallDelta = 1e-3;
// Below this a delta is quadrature noise.
constexpr double kNoise = 1e-11;
// An improper exact message whose tail holds less than this per decade is as good as cut off.
constexpr double kNegligibleTail = 1e-10;

// The scenario with all arrivals changed but the one on the edge itself.
template <class Change>
Scenario with_others(const Edge& edge, Scenario scenario, const Change& change) {
  const Natural own = edge.own(scenario);
  for (auto& port : scenario.arrivals)
    for (Natural& m : port) m = change(Gaussian(m));
  edge.own(scenario) = own;
  return scenario;
}

// ... narrowed around their means.
Scenario narrowed(const Edge& edge, const Scenario& scenario, double width) {
  return with_others(edge, scenario, [width](const Gaussian& m) {
    return m.is_proper() ? Gaussian::from_moments(m.mean(), width * width / m.rho) : m;
  });
}

// True if a message that can be narrowed or widened arrives on another edge.
bool has_width(const Edge& edge, const Scenario& scenario) {
  for (std::size_t p = 0; p < scenario.arrivals.size(); ++p)
    for (std::size_t t = 0; t < scenario.arrivals[p].size(); ++t)
      if (!(p == edge.port && t == edge.term) && scenario.arrivals[p][t].is_proper()) return true;
  return false;
}

// Mean and sd of the exact message for point masses at the means: a point for a deterministic factor.
struct Limit {
  double mean, sd;
};
std::optional<Limit> limit(const Edge& edge, const Scenario& scenario) {
  const auto& kind = *edge.kind;
  if (kind.function()) {
    const Scenario narrow = narrowed(edge, scenario, 1e-6);
    const auto exact = ExactMessage::make(kind, edge.port, edge.term, narrow.arrivals, narrow.parameters);
    if (!exact) return std::nullopt;
    return Limit{exact->hints().front().centre, 0};
  }
  const Scenario known = with_others(edge, scenario, [](const Gaussian& m) { return Gaussian::point(m.mean()); });
  const auto curve = trace_exact(kind, edge.port, edge.term, known.arrivals, known.parameters);
  if (!curve || !curve->proper) return std::nullopt;
  return Limit{curve->mean(), std::sqrt(curve->variance())};
}

}  // namespace

Consistency check_consistency(const Edge& edge, Scenarios scenarios, const CertifyOptions& options) {
  Consistency result;
  const Scenario base = scenarios.ordinary();
  const auto goal = limit(edge, base);
  if (!goal) return result;
  const auto distance_of = [&](const Gaussian& message) {
    return std::hypot(message.mean() - goal->mean, (message.is_point() ? 0.0 : message.sd()) - goal->sd);
  };
  if (!has_width(edge, base)) {  // all is observed: the message has the moments of the exact one, or it has not
    const auto message = edge.message(base);
    if (!message || message->is_uniform()) return result;
    result.points.push_back({1, distance_of(*message) / goal->sd, std::numeric_limits<double>::quiet_NaN()});
    result.holds = result.points[0].distance <= kNearLimit;
    return result;
  }
  std::vector<double> widths, distances, deltas;
  for (int i = 0; i < options.widths; ++i) {
    edge.tell(options, "consistency", i, options.widths);
    const double width = std::pow(kNarrowest, static_cast<double>(i) / (options.widths - 1));
    const Scenario scenario = narrowed(edge, base, width);
    const auto message = edge.message(scenario);
    if (!message || message->is_uniform()) return result;
    const double distance = distance_of(*message);
    double delta = std::numeric_limits<double>::quiet_NaN();
    const auto curve = trace_exact(*edge.kind, edge.port, edge.term, scenario.arrivals, scenario.parameters, {*message},
                                   options.tolerance);
    if (curve && message->is_proper() && (curve->proper || curve->tail < kNegligibleTail))
      delta = std::max(0.0, curve->kl(*message));
    result.points.push_back({width, distance, delta});
    widths.push_back(width), distances.push_back(distance), deltas.push_back(delta > kNoise ? delta : 0.0);
  }
  result.distance = fit_rate(widths, distances);
  result.delta = fit_rate(widths, deltas);
  const double scale = std::max({result.points.front().distance, std::abs(goal->mean), goal->sd});
  const bool arrives = distances.back() <= kNearLimit * std::max(distances.front(), 1e-9 * scale);
  result.holds = arrives && !(deltas.back() > kSmallDelta);
  for (auto& point : result.points) point.distance /= scale;
  return result;
}

namespace {

// A hundred times as wide as ordinary arrivals, or nothing.
constexpr double kWidened = 100;
// Limits on the exact standard deviation relative to the message's, and on the distance of their means in standard
// deviations of the wider of the two. A message that is wider than the exact one does no harm.
constexpr double kMostNarrow = 1.05, kMostApart = 0.1;
// An exact message whose quadrature is off by more than this is not compared with.
constexpr double kRoughCurve = 1e-3;

}  // namespace

Widening check_widening(const Edge& edge, Scenarios scenarios, const CertifyOptions& options) {
  Widening result;
  const Scenario base = scenarios.ordinary();
  if (!has_width(edge, base)) return result;
  edge.tell(options, "widening");
  const Scenario wide = narrowed(edge, base, kWidened);
  const auto curve =
      trace_exact(*edge.kind, edge.port, edge.term, wide.arrivals, wide.parameters, {}, options.tolerance);
  const bool is_known = curve && curve->proper && std::isfinite(curve->mean()) && curve->variance() > 0 &&
                        std::isfinite(curve->variance()) && curve->error < kRoughCurve;
  const auto compare = [&](const Scenario& scenario, bool must_be_known) {
    const auto message = edge.message(scenario);
    if (!message || !message->is_proper() || (!is_known && !must_be_known)) return;
    const double sd = is_known ? std::sqrt(curve->variance()) : kInfinity;
    result.narrower = std::max(result.narrower, sd / message->sd());
    if (is_known)
      result.mean_error =
          std::max(result.mean_error, std::abs(message->mean() - curve->mean()) / std::max(sd, message->sd()));
  };
  compare(wide, false);
  compare(with_others(edge, base, [](const Gaussian& m) { return m.is_proper() ? Gaussian() : m; }), true);
  result.is_checked = true;
  result.holds = result.narrower <= kMostNarrow && result.mean_error <= kMostApart;
  return result;
}

}  // namespace dma
