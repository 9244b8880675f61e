#include <algorithm>
#include <cmath>

#include "engine/certify/checks.h"
#include "engine/certify/curve.h"

namespace dma {

namespace {

// In standard deviations of what arrives: how far the marginal's peak is looked for, and how closely.
constexpr double kTiltedReach = 40, kStep = 0.01;
// The error of a mean in standard deviations, and of a variance, relative, that two quadratures leave.
constexpr double kMatched = 1e-4;
// If f is cut off inside a panel, an error is the square root of what it seems.
constexpr double kFine = 1e-9;

struct Exact {
  double mean, variance;  // in standard deviations of what arrives, from its mean
};

// The places where the density jumps, as at the ends of its support: a jump between the last point of a panel and its
// end would go unseen.
template <class LogWeight>
std::vector<double> jumps(const LogWeight& log_weight, double top) {
  constexpr double kNegligible = 40, kSteep = 0.5, kJump = 0.1;
  std::vector<double> found;
  const auto rise = [](double from, double to) { return from == to ? 0 : std::abs(to - from); };
  for (double t = -kTiltedReach, a = log_weight(t), b = a; t < kTiltedReach; t += kStep, a = b) {
    b = log_weight(t + kStep);
    if (std::max(a, b) < top - kNegligible || rise(a, b) < kSteep) continue;
    double low = t, high = t + kStep, from = a, to = b;
    for (int i = 0; i < 60; ++i) {
      const double middle = 0.5 * (low + high), at = log_weight(middle);
      if (rise(from, at) > rise(at, to))
        high = middle, to = at;
      else
        low = middle, from = at;
    }
    if (rise(from, to) > kJump) found.push_back(low);
  }
  return found;
}

// The moments of phi(t) exp(log_f(t)), traced around its highest point. Nothing where it has no mass.
std::optional<Exact> exact_marginal(const std::function<double(double)>& log_f, double tolerance) {
  const auto log_weight = [&](double t) {
    const double log = log_f(t) - 0.5 * t * t;
    return std::isnan(log) ? -kInfinity : log;
  };
  double top = -kInfinity, at = 0;
  for (double t = -kTiltedReach; t <= kTiltedReach; t += kStep)
    if (const double height = log_weight(t); height > top) top = height, at = t;
  if (!std::isfinite(top)) return {};
  double width = 1e-4 * kStep;
  while (width < kTiltedReach && std::min(log_weight(at - width), log_weight(at + width)) > top - 0.5) width *= 2;
  const auto weight = [&](double t) { return std::exp(log_weight(t) - top); };
  constexpr int kDepth = 40;  // f may be cut off anywhere
  std::vector<Hint> hints{{at, width}, {0, 1}};
  for (const double jump : jumps(log_weight, top)) hints.push_back({jump, kStep});
  const Curve curve = trace(weight, hints, {.tolerance = tolerance, .depth = kDepth});
  if (!(curve.mass > 0)) return {};
  return Exact{curve.mean(), curve.variance()};
}

}  // namespace

bool matches_moments(const Edge& edge) {
  const MessageFunction* const message = edge.kind->find_message(edge.method, edge.port);
  return edge.kind->log_density() && message != nullptr &&
         std::ranges::find(message->reads, edge.port) != message->reads.end();
}

TiltedMoments check_tilted(const Edge& edge, Scenarios scenarios, const CertifyOptions& options) {
  constexpr int kPerScenario = 4;
  TiltedMoments result;
  for (int i = 0; i < kPerScenario * options.scenarios; ++i) {
    edge.tell(options, "marginal", i, kPerScenario * options.scenarios);
    Scenario scenario = scenarios.ordinary();
    for (std::size_t p = 0; p < scenario.arrivals.size(); ++p)
      for (std::size_t t = 0; t < scenario.arrivals[p].size(); ++t)
        if (Natural& m = scenario.arrivals[p][t]; p != edge.port || t != edge.term)
          m = Gaussian::point(Gaussian(m).mean());
    const Gaussian incoming(edge.own(scenario));
    std::vector<double> values;
    std::size_t own = 0;
    for (std::size_t p = 0; p < scenario.arrivals.size(); ++p)
      for (std::size_t t = 0; t < scenario.arrivals[p].size(); ++t) {
        if (p == edge.port && t == edge.term) own = values.size();
        values.push_back(Gaussian(scenario.arrivals[p][t]).mean());
      }
    const auto exact = exact_marginal(
        [&](double t) {
          values[own] = incoming.mean() + t * incoming.sd();
          return edge.kind->log_density()(values, scenario.parameters);
        },
        std::min(options.tolerance, kFine));
    if (!exact) continue;
    const auto message = edge.message(scenario);
    const bool widens = exact->variance >= 1;
    if (!message) {
      if (!widens) ++result.missing;
      continue;
    }
    const Gaussian belief = incoming * *message;
    ++result.count;
    result.widened += widens;
    const double sd = std::sqrt(exact->variance), mean = (belief.mean() - incoming.mean()) / incoming.sd();
    result.mean_error = std::max(result.mean_error, std::abs(mean - exact->mean) / sd);
    // No proper message widens: of those the mean is asked for alone.
    if (!widens)
      result.variance_error =
          std::max(result.variance_error, std::abs(belief.variance() / incoming.variance() / exact->variance - 1));
  }
  result.holds =
      result.count > 0 && result.missing == 0 && result.mean_error <= kMatched && result.variance_error <= kMatched;
  return result;
}

}  // namespace dma
