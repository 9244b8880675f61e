// K classes: the class is the largest of u_k = x_k + N(0, noise), the multinomial probit. Given the largest, u_c, the
// others are independent and below it, so that with N(m_k, v_k) arriving on the scores and s_k^2 = v_k + noise
//
//   Z_c = integral of N(u; m_c, s_c^2) prod_{j != c} Phi((u - m_j) / s_j) du
//
// and all moments under it are integrals over one u, whose integrand is log-concave: by the trapezoidal rule around
// its mode, or, where a score is much narrower than the largest, by Gauss-Kronrod rules on panels cut where it is.
//
//   to class   log Z_c: exact
//   to scores  the moments of sum_c w_c Z_c tilted_c, w what arrives from the class, divided by what arrives (EP). With
//              the class known they are always proper; where they are not, nothing is said, which is counted.
#pragma once

#include <span>

#include "engine/kinds/message_loop.h"
#include "engine/messages/gaussian.h"
#include "factors/families/categorical.h"

namespace dma {

class Kind;

struct Argmax {
  struct Parameters {
    double noise;
  };
  using Scores = std::span<const Gaussian>;
  static void to_class(Scores scores, Parameters p, std::span<CategoricalComponent> out);
  static void to_scores(Scores scores, std::span<const CategoricalComponent> of_class, Parameters p,
                        std::span<GaussianOrFallback> out);
  // log of the sum over c of w_c Z_c: the scores, then the class. NaN if nothing is known of a score.
  static double log_integral(Components arrivals, Parameters p);
};

Kind argmax_kind();

}  // namespace dma
