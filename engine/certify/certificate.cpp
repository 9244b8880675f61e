#include "engine/certify/certify.h"

#include <fmt/format.h>

#include <cmath>

namespace dma {

std::string_view name(Band band) {
  switch (band) {
    case Band::exact:
      return "exact";
    case Band::bounded:
      return "bounded";
    case Band::matched:
      return "matched";
    case Band::concentrated:
      return "concentrated";
    case Band::unbounded:
      return "unbounded";
  }
  return {};
}

Rate fit_rate(const std::vector<double>& x, const std::vector<double>& values) {
  double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0, syy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!(x[i] > 0) || !(values[i] > 0) || !std::isfinite(values[i])) continue;
    const double a = std::log(x[i]), b = std::log(values[i]);
    n += 1, sx += a, sy += b, sxx += a * a, sxy += a * b, syy += b * b;
  }
  constexpr double kRounding = 1e-12;
  const double spread = sxx - sx * sx / n;
  if (n < 2 || !(spread > kRounding * sxx)) return {};
  Rate rate;
  rate.exponent = (sxy - sx * sy / n) / spread;
  rate.constant = std::exp((sy - rate.exponent * sx) / n);
  const double residual = std::max(0.0, syy - sy * sy / n - rate.exponent * rate.exponent * spread);
  rate.uncertainty = n > 2 ? std::sqrt(residual / (n - 2) / spread) : kInfinity;
  return rate;
}

namespace {

std::string text(const Rate& rate) {
  if (rate.constant == 0) return "none";
  if (rate.uncertainty == kInfinity) return fmt::format("{:.2f}, of two points", rate.exponent);
  return fmt::format("{:.2f} +- {:.2f}", rate.exponent, rate.uncertainty);
}

std::string text(const EdgeCertificate& edge) {
  const Consistency& c = edge.consistency;
  const TiltedMoments& tilted = edge.tilted;
  std::string out = fmt::format("to {}: {}", edge.port, name(edge.band));
  out += tilted.count > 0 ? "\n" : fmt::format("; the exact message is {}\n", edge.proper ? "proper" : "improper");
  if (tilted.count > 0)
    out +=
        fmt::format("  marginal      {}: within {:.1e} sd of the mean, {:.1e} of the variance, over {} scenarios{}\n",
                    tilted.holds ? "matched" : "NOT MATCHED", tilted.mean_error, tilted.variance_error, tilted.count,
                    tilted.widened > 0
                        ? fmt::format("; of {} the mean alone, which no proper message can match whole", tilted.widened)
                        : "");
  if (!c.points.empty())
    out += fmt::format(
        "  consistency   {}: distance to the limit ~ width^({}), delta ~ width^({}), delta {:.2g} at width {:.0e}\n",
        c.holds ? "holds" : "FAILS", text(c.distance), text(c.delta), c.points.back().delta, c.points.back().width);
  if (edge.widening.is_checked && edge.widening.narrower == 0) out += "  widening      nothing to compare\n";
  if (edge.widening.narrower > 0)
    out += fmt::format("  widening      {}: for wide arrivals the exact sd is at most {:.3g} of the message's\n",
                       edge.widening.holds ? "holds" : "FAILS", edge.widening.narrower);
  out += fmt::format("  properness    {} faults in {} messages{}\n", edge.properness.faults, edge.properness.count,
                     edge.properness.faults == 0 ? "" : "; the first: " + edge.properness.first_fault);
  out += fmt::format("  independence  {} (largest change {:.2g} as its own edge varies)\n",
                     edge.independence.holds ? "yes" : "no", edge.independence.change);
  if (edge.moments.count > 0)
    out += fmt::format("  moments       within {:.1e} sd of the mean, {:.1e} of the variance, over {} scenarios\n",
                       edge.moments.mean_error, edge.moments.variance_error, edge.moments.count);
  if (edge.proper && !edge.master.points.empty())
    out +=
        fmt::format("  master bound  {}: largest delta {:.3g}, largest marginal KL / bound {:.3g}, over {} marginals\n",
                    edge.master.holds ? "holds" : "FAILS", edge.master.largest_delta, edge.master.largest_ratio,
                    edge.master.points.size());
  if (!edge.concentration.points.empty())
    out += fmt::format("  concentration {}: marginal KL ~ r^({}) by quadrature, r^({}) by samples; C = {:.3g}\n",
                       edge.concentration.holds ? "holds" : "FAILS", text(edge.concentration.exact),
                       text(edge.concentration.sampled), edge.concentration.exact.constant);
  for (const std::string& failure : edge.failures) out += fmt::format("  failure: {}\n", failure);
  return out;
}

}  // namespace

std::string Certificate::line() const {
  std::vector<std::string> parts;
  for (const EdgeCertificate& edge : edges) {
    std::string part = fmt::format("{} {}", edge.port, name(edge.band));
    if (edge.band == Band::bounded) part += fmt::format(" (largest delta {:.2g})", edge.master.largest_delta);
    if (edge.band == Band::concentrated) part += fmt::format(" (KL ~ r^{:.2f})", edge.concentration.exact.exponent);
    if (!edge.failures.empty()) part += fmt::format(" ({})", edge.failures.front());
    parts.push_back(part);
  }
  return fmt::format("{} ({}): {}; {}", kind, method, name(band), joined(parts));
}

std::string Certificate::text() const {
  std::string out = fmt::format("{} ({}): {}\n", kind, method, name(band));
  for (const EdgeCertificate& edge : edges) out += dma::text(edge);
  return out;
}

}  // namespace dma
