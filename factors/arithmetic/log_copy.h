// Copy between a Gaussian x and a log-normal: f(x, l) = delta(x - sign exp(l)), sign = +1 or -1; the message about
// exp(l) is a log-normal. In both directions the message is the member of the other family with the same mean and
// variance (App. C.4):
//
//   to log    log-variance log(1 + v/m^2),  log-mean log|m| - log-variance/2
//   to x      mean sign exp(ml + vl/2),     variance mean^2 (exp(vl) - 1)
//
// Its error KL(LN || N) is 3/(4 r^2) + O(r^-4), r = |m| / sqrt(v).
#pragma once

#include <cmath>

#include "engine/kinds/block_loop.h"
#include "engine/kinds/linear_view.h"
#include "engine/messages/gaussian.h"
#include "factors/families/log_normal.h"

namespace dma {

struct LogCopy {
  struct Parameters {
    double sign;  // +1 or -1: the half-line of x
  };

  static double value(double log_x, Parameters p) { return p.sign * std::exp(log_x); }

  // No log-normal on this half-line has a mean on the other side or at 0: such a Gaussian (or point mass) has no
  // counterpart, and the message is uniform.
  static LogNormal to_log(Gaussian x, Parameters p);

  static Gaussian to_x(LogNormal l, Parameters p);

  // E[sign exp(l)] = sign exp(m + v/2) is its own derivative by m, and twice that by v.
  static void linear_view(const LinearCall& call);

  // The same for blocks of slots whose messages are all proper: each special function has its own loop, so that calls
  // do not wait for each other.
  static bool block_to_log(const SlotBlock& block);  // reads x
  static bool block_to_x(const SlotBlock& block);    // reads log
};

}  // namespace dma
