// What a factor f adds to a Gaussian that arrives, by quadrature: mass, mean and variance of N(x; m, v) f(x), and the
// message that gives the product of both that mean and variance (expectation propagation's). In the coordinate t = (x -
// m) / sqrt(v) of what arrives, with moments M and V of phi(t) f(t),
//
//   rho_t = 1 / V - 1     tau_t = M / V            rho = rho_t / v     tau = tau_t / sqrt(v) + m rho
//
// f may be narrow, heavy-tailed, cut off, or have several peaks: peaks are looked for on a grid that is even near 0 and
// geometric far out, every one is followed to its top, and the weight is integrated from there (peaks.h). Where f
// hardly varies within the width of what arrives, 1 / V - 1 would be rounding; what f has more than its value at 0 is
// integrated instead.
#pragma once

#include <optional>
#include <span>

#include "engine/kinds/message_loop.h"
#include "factors/authoring/peaks.h"

namespace dma {

struct Tilted {
  bool found = false;                 // false: no finite mass
  double log_mass = 0;                // log of the integral of phi f
  double mean = 0, tau = 0, rho = 0;  // M, tau_t, rho_t; rho < 0 where f widens
  double rounding = 0;                // of rho: a log f that is straight has none, or next to none of either sign
};

// `hints`: where else f may have a peak. `tolerance`: of the mass and of the second moment, relative. `visit(t, part)`
// sees the nodes of the integral and what is to be added up there, in proportion to phi f.
using NodeVisitor = CallTo<void(double, double)>;
Tilted tilt(const LogFactor& log_f, std::span<const double> hints = {}, double tolerance = 1e-12,
            const NodeVisitor* visit = nullptr);

// The answer for t_1 where log f hardly varies within the width of what arrives, or nothing.
inline constexpr std::size_t kMostFree = 3;
std::optional<Tilted> weak_tilt(const LogFactorOfSeveral& log_f, std::size_t count);

// The message of a factor to a proper arrival. Where f widens there is no proper one with both moments: it is a site of
// negative precision, and where none is kept (run.h) a message that keeps the mean, with as little precision as numbers
// allow, which is counted as replaced. A mass that was not found is no valid message.
GaussianOrFallback tilted_message(const Tilted& tilted, const Gaussian& arrived);

}  // namespace dma
