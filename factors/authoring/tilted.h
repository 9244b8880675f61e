// Tilted moments of a factor f, by quadrature: mass, mean and variance of N(x; m, v) f(x) for an arriving N(m, v), and
// the message of expectation propagation, whose product with it has that mean and variance. In the coordinate t = (x -
// m) / sqrt(v), with moments M and V of phi(t) f(t),
//
//   rho_t = 1 / V - 1     tau_t = M / V            rho = rho_t / v     tau = tau_t / sqrt(v) + m rho
//
// f may be narrow, heavy-tailed, cut off, or have several peaks: peaks are searched on a grid that is even near 0 and
// geometric far out, each is refined to its maximum, and the integration starts from there (peaks.h). If f hardly
// varies within the width of N(m, v), 1 / V - 1 would be rounding; the integral of f - f(0) is used instead.
#pragma once

#include <optional>
#include <span>

#include "engine/kinds/message_loop.h"
#include "factors/authoring/peaks.h"

namespace dma {

struct Tilted {
  bool found = false;                 // false: no finite mass
  double log_mass = 0;                // log of the integral of phi f
  double mean = 0, tau = 0, rho = 0;  // M, tau_t, rho_t; rho < 0 if f widens
  double rounding = 0;                // rounding error of rho, which is 0 for a linear log f
};

// `hints`: other places where f may have a peak or a kink. `tolerance`: relative, of the mass and of the second moment.
// `visit(t, part)` sees the nodes of the integral and their contributions, proportional to phi f.
using NodeVisitor = CallTo<void(double, double)>;
Tilted tilt(const LogFactor& log_f, std::span<const double> hints = {}, double tolerance = 1e-12,
            const NodeVisitor* visit = nullptr);

// The same for a log-concave f: its only peak is climbed to instead of searched for, in about half the time.
Tilted tilt_log_concave(const LogFactor& log_f, std::span<const double> hints = {});

// The result for t_1 if log f hardly varies within the width of the arriving messages; otherwise nothing.
inline constexpr std::size_t kMostFree = 3;
std::optional<Tilted> weak_tilt(const LogFactorOfSeveral& log_f, std::size_t count);

// The message of a factor to a proper arriving message. If f widens, no proper message has both moments: the result
// then has negative precision, and if that cannot be stored (run.h), a message with the mean and the smallest
// representable precision replaces it, which is counted. Without a mass the message is not valid.
GaussianOrFallback tilted_message(const Tilted& tilted, const Gaussian& arrived);

}  // namespace dma
