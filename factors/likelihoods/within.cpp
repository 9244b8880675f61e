#include "factors/likelihoods/within.h"

#include "engine/kinds/kind.h"
#include "engine/support/quadrature.h"
#include "factors/authoring/normal.h"

namespace dma {

namespace {

// The closed form is used for windows at least this wide and no farther out: cancellation then costs three digits at
// most.
constexpr double kWide = 1, kNear = 4;
// The density below exp(-40) of that at the nearer end is neglected.
constexpr double kDecay = 40;
constexpr int kPanels = 4;

// The window (a, a + width), a + width / 2 >= 0.
Tilted cut(double a, double width) {
  const double b = a + width;
  if (width >= kWide && a <= kNear) {
    const double low = normal::density(a), high = normal::density(b);
    const double mass =
        a < 0 ? normal::distribution(b) - normal::distribution(a) : normal::distribution(-a) - normal::distribution(-b);
    const double mean = (low - high) / mass, lost = mean * mean + (b * high - a * low) / mass, variance = 1 - lost;
    return {.found = true, .log_mass = std::log(mass), .mean = mean, .tau = mean / variance, .rho = lost / variance};
  }
  // exp(-(a s + s^2 / 2)) for s from the nearer end.
  const double reach = a < 0 ? width : std::min(width, 2 * kDecay / (a + std::sqrt(a * a + 2 * kDecay)));
  const auto density = [a](double s) { return std::exp(-s * (a + 0.5 * s)); };
  double mass = 0, first = 0, second = 0;
  for (int i = 0; i < kPanels; ++i)
    for (const auto& p : quadrature::Panel(density, reach * i / kPanels, reach * (i + 1) / kPanels).points) {
      const double fraction = p.kronrod * p.value;
      mass += fraction;
      first += fraction * p.x;
      second += fraction * p.x * p.x;
    }
  const double off = first / mass, mean = a + off,
               variance = second / mass - off * off;  // the offset is of the size of the spread
  return {.found = variance > 0,
          .log_mass = std::log(mass * normal::kInverseSqrtTwoPi) - 0.5 * a * a,
          .mean = mean,
          .tau = mean / variance,
          .rho = (1 - variance) / variance};
}

Tilted tilted(const Gaussian& x, double margin) {
  // Reflected so that the window lies on the positive side.
  const double root = std::sqrt(x.rho), centre = std::abs(x.tau / root), half = margin * root;
  Tilted result = cut(centre - half, 2 * half);
  if (x.tau > 0) {
    result.mean = -result.mean;
    result.tau = -result.tau;
  }
  return result;
}

}  // namespace

Gaussian Within::to_x(const Gaussian& x, Parameters p) {
  if (!x.is_proper()) return Gaussian::uniform();
  const Tilted t = tilted(x, p.margin);
  return t.found ? Gaussian(tilted_message(t, x)) : Gaussian::uniform();
}

double Within::log_integral(const Gaussian& x, Parameters p) {
  if (x.is_point()) return log_density(x.tau, p);
  return x.is_uniform() ? 0 : tilted(x, p.margin).log_mass;
}

Kind within_kind() {
  return kind("within", "|x| <= margin")
      .input("x")
      .parameter("margin", above(0), finite())
      .log_density([](auto v, auto p) { return Within::log_density(v[0], {p[0]}); })
      .log_integral([](auto m, auto p) { return Within::log_integral(Gaussian(m[0]), {p[0]}); })
      .message<&Within::to_x>("ep", "x", from("x"));
}

}  // namespace dma
