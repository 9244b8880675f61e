// Draws with unknown probabilities: a category with those of a Dirichlet variable, a yes or no with that of a beta one.
// Both receive counts a_k (the parameters of the Dirichlet or beta message) with sum s, and weights w_k of the
// outcomes.
//
//   to the outcome   a_k / s: exact
//   exact            observed outcome: one more of its category, the conjugate update; missing
//                    outcome: uniform
//   ep               the tilted distribution is the mixture of Dirichlet(a + e_k) with fractions r_k ~ w_k a_k;
//                    projected on its mean and on the sum of its variances, and divided by the arriving message; the
//                    fractions r_k if that is no message
//   vmp              r_k ~ w_k exp(digamma(a_k + r_k)), to the fixed point of the factor: r_k more of each category,
//                    and to the outcome exp(digamma(a_k + r_k))
#pragma once

#include <span>

#include "engine/kinds/message_loop.h"
#include "engine/messages/family.h"
#include "factors/families/bernoulli.h"
#include "factors/families/beta.h"
#include "factors/families/categorical.h"
#include "factors/families/dirichlet.h"

namespace dma {

struct CategoricalDraw {
  using Probabilities = std::span<const DirichletComponent>;
  using Outcome = std::span<const CategoricalComponent>;

  static void to_outcome(Probabilities p, std::span<CategoricalComponent> outcome);
  static void to_probabilities(Outcome outcome, std::span<DirichletComponent> p);
  struct Ep {
    static void to_probabilities(Probabilities p, Outcome outcome, std::span<OrFallback<DirichletComponent>> out);
  };
  struct Vmp {
    static void to_outcome(Probabilities p, Outcome outcome, std::span<CategoricalComponent> out);
    static void to_probabilities(Probabilities p, Outcome outcome, std::span<DirichletComponent> out);
  };
  // Arguments: probabilities, outcome.
  static double log_integral(Components arrivals);
  static double expected_log(Components beliefs);  // E[log probability of the outcome]
};

struct BernoulliDraw {
  static Bernoulli to_outcome(const Beta& p);
  static Beta to_probability(const Bernoulli& outcome);
  struct Ep {
    static OrFallback<Beta> to_probability(const Beta& p, const Bernoulli& outcome);
  };
  struct Vmp {
    static Bernoulli to_outcome(const Beta& p, const Bernoulli& outcome);
    static Beta to_probability(const Beta& p, const Bernoulli& outcome);
  };
  static double log_integral(Components arrivals);
  static double expected_log(Components beliefs);  // E[log probability of the outcome]
};

}  // namespace dma
