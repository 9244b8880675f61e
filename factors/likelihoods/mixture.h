// y ~ N(mean_k, variance_k) for the category k of a selector. With the arriving messages N(m_k, v_k) to the means, w_k
// to the selector and N(y; m, v) to y, and Z_k = N(m; m_k, v_k + variance_k + v):
//
//   to selector  log Z_k: exact
//   to y         the tilted distribution, sum of w_k Z_k N_k, projected to its moments and divided by y's message
//                (EP); if that has no positive variance, the moments of the mixture
//   to mean_k    with r_k = w_k Z_k / sum, y informs the mean with probability r_k: again projected and divided;
//                if that is not proper, the message of y to the power r_k, as in variational inference
#pragma once

#include <span>

#include "engine/kinds/message_loop.h"
#include "engine/messages/gaussian.h"
#include "factors/families/categorical.h"
#include "factors/families/gamma.h"

namespace dma {

struct Mixture {
  struct Parameters {
    std::span<const double> variances;  // by component
    static Parameters bind(const ParameterRow& row) { return {row.terms(0)}; }
  };
  using Selector = std::span<const CategoricalComponent>;
  using Means = std::span<const Gaussian>;

  static void to_selector(Means means, const Gaussian& y, Parameters p, std::span<CategoricalComponent> out);
  static GaussianOrFallback to_y(Selector selector, Means means, const Gaussian& y, Parameters p);
  static void to_means(Selector selector, Means means, const Gaussian& y, Parameters p,
                       std::span<GaussianOrFallback> out);
  // log of the sum over k of w_k Z_k, w as probabilities. Arguments in the order of the ports.
  static double log_integral(Components arrivals, Parameters p);
};

// y ~ N(mean_k, 1 / precision_k) with both unknown: Z_k and component k's messages are those of gaussian_precision
// (EP). A precision's tilted distribution, a mixture of its belief with and without y, is projected on its mean and
// variance.
struct NormalMixture {
  using Selector = Mixture::Selector;
  using Means = Mixture::Means;
  using Precisions = std::span<const Gamma>;

  static void to_selector(Means means, Precisions precisions, const Gaussian& y, std::span<CategoricalComponent> out);
  static GaussianOrFallback to_y(Selector selector, Means means, Precisions precisions, const Gaussian& y);
  static void to_means(Selector selector, Means means, Precisions precisions, const Gaussian& y,
                       std::span<GaussianOrFallback> out);
  static void to_precisions(Selector selector, Means means, Precisions precisions, const Gaussian& y,
                            std::span<OrFallback<Gamma>> out);
  static double log_integral(Components arrivals);
};

}  // namespace dma
