// One of K classes, as a function of Gaussian unknowns:
//
//   argmax       the class of the largest score x_k + N(0, noise): the multinomial probit
//   softmax      class c with probability exp(x_c) / sum_k exp(x_k): argmax with Gumbel noise
//   multinomial  how many of n such draws are of each class; the counts are observed. Scores and counts have an end for
//                each class: {"scores", a}, {"scores", b}, {"counts", na}, {"counts", nb} for arrays of rows
//   ordered      class y, a number from 0, which is observed, if u = x + logistic noise lies between two of K - 1 cut
//                points, the y-th and the next: probability s(b - x) - s(a - x), s(t) = 1 / (1 + exp(-t)), or 0 unless
//                a < b. The cut points may be unknown too
//   interval     the class is the interval between K - 1 given cut points that contains x + N(0, noise). With two
//                classes: whether it is above the cut point
//
// All unknowns are independent given one more number: the largest score, the value of u, or for counts the log rate r
// of Poisson draws (counts of means exp(x_k - r), given their sum, have the multinomial's probabilities). So the
// integral over all unknowns reduces to one over that number: exact for any K, by common_cause.h.
//
//   to class     log Z_c, Z_c = P(class c) given the arriving messages
//   to unknowns  the moments of sum_c w_c Z_c tilted_c, w the class's message, divided by the arriving message (EP).
//                With the class known they are always proper; where they are not, the mean is kept (tilted.h).
//
// Each message concerns one score, but a class is independent of a shift of all scores. If scores are functions of few
// unknowns, as in a regression, fix one class's score at 0: otherwise variances come out too small.
//
// log_integral: log of the sum over c of w_c Z_c, or of the probability of the counts. NaN if the message of an unknown
// is uniform.
#pragma once

#include <span>
#include <vector>

#include "engine/kinds/kind.h"
#include "factors/families/categorical.h"

namespace dma {

using Scores = std::span<const Gaussian>;
using ClassMessage = std::span<const CategoricalComponent>;
using ToClass = std::span<CategoricalComponent>;
using ToScores = std::span<GaussianOrFallback>;

struct Argmax {
  struct Parameters {
    double noise;
  };
  static void to_class(Scores scores, Parameters p, ToClass out);
  static void to_scores(Scores scores, ClassMessage of_class, Parameters p, ToScores out);
  static double log_integral(Components arrivals, Parameters p);
};

struct Softmax {
  static void to_class(Scores scores, ToClass out);
  static void to_scores(Scores scores, ClassMessage of_class, ToScores out);
  static double log_integral(Components arrivals);
};

struct Multinomial {
  static void to_scores(Scores scores, std::span<const Gaussian> counts, ToScores out);
  // Arguments: the scores, then the counts; softmax uses it too, with a class as a single count.
  static double log_density(std::span<const double> values);
  static double log_integral(Components arrivals);
};

struct Ordered {
  static GaussianOrFallback to_x(const Gaussian& x, Scores cuts, const Gaussian& y);
  static void to_cuts(const Gaussian& x, Scores cuts, const Gaussian& y, ToScores out);
  static double log_density(std::span<const double> values);  // arguments: x, the cut points and y
  static double log_integral(Components arrivals);
};

struct Interval {
  struct Parameters {
    double noise;
    std::span<const double> cuts;
    static Parameters bind(const ParameterRow& row) { return {row.number(0), row.terms(1)}; }
  };
  static std::vector<double> prepare(std::span<const double> given, const PortComponents& components);
  static void to_class(const Gaussian& x, Parameters p, ToClass out);
  static GaussianOrFallback to_x(const Gaussian& x, ClassMessage of_class, Parameters p);
  // Arguments: x, and an indicator of each class.
  static double log_density(std::span<const double> values, Parameters p);
  static double log_integral(Components arrivals, Parameters p);
};

}  // namespace dma
