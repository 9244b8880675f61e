// Inputs of a table that matter, by the evidence of a model in which every effect has a prior variance of its own:
//
//   y = constant + sum_j f_j(x_j) + sum_ij b_ij c_i c_j + noise of variance s,   c_j = sqrt2 cos(pi u_j),
//   f_j = a_j0 x_j + sum_k a_jk sqrt2 cos(pi k u_j),  u_j the rank of x_j, from 0 to 1,
//   a_jk ~ N(0, s v_j / max(1, k^2)),  b_ij ~ N(0, s v_ij)
//
// Effects enter one after the other, each with the variance of most evidence: the best of a single input while there is
// one, then the best of a pair. The price of one is the logarithm of how many there are to choose from, and the benefit
// of the doubt: on noise none enters.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/learn/gaussian/program/row_model.h"

namespace dma {

// y ~ N(0, s C), C = I + sum over effects of v F F^T, s that of most evidence. Rows of y and F that are multiplied by
// the root of w count as w rows: then `count`, if above 0, is how many there are. All but rest() asks products of
// features alone.
class EffectEvidence {
 public:
  explicit EffectEvidence(Vector targets, double count = 0);

  // One more effect, and its variance.
  void add(const Matrix& features, double variance = 0);
  struct Gain {
    double nats = 0, variance = 0;
  };
  // Gives an effect the variance of most evidence; returns its gain.
  Gain adjust(std::size_t effect);
  double mean_variance() const;
  double log_evidence() const;
  Vector rest() const;  // C^-1 y

  // Products of features F. A caller that asks for the gain after every new effect keeps them, and completes them by
  // those with the new effect.
  struct Products {
    Matrix with_themselves, with_effects;
    Vector with_targets;
  };
  void complete(Products& products, const Matrix& features) const;
  // Gain of one more effect, whose variance is chosen.
  Gain gain(const Products& products) const;
  Gain gain(const Matrix& features) const;

 private:
  void set_variance(std::size_t effect, double variance);

  Vector targets_;
  double count_;
  Matrix features_;           // A, of all effects
  std::vector<Index> first_;  // column of every effect, and the end
  Matrix square_;             // A^T A
  Vector with_targets_;       // A^T y
  Vector roots_;              // D, of the variances
  Matrix factor_;             // L, lower, of I + D A^T A D
  Vector known_;              // L^-1 D A^T y
  double squares_;            // y^T C^-1 y
};

// Features of an effect of one input: x, then sqrt2 cos(k t) / k, with cos(t) given.
Matrix effect_features(const Vector& x, const Vector& cosine);

// Factors on the prior variances of the inputs' weights, for models that learn `targets` from `rows`: kLeastRelevance
// to the power 1 - p for an input that matters with probability p. Inputs that matter by little each are not found one
// by one: where one linear effect of all that were not found has the evidence, they share a factor, the prior variance
// of its weights in ratio to that of what was found. Empty: inputs are alike, since none is found, or models can tell
// by themselves, for rows are many or inputs are few.
inline constexpr double kLeastRelevance = 1e-5;
// A row of weight w is w equal rows; no weights: 1.
Vector relevance_of(const Matrix& rows, const Matrix& targets, std::uint64_t seed, const Vector& weights = {});
// True if p is above 1/2; and all inputs for which it is.
bool is_relevant(double relevance);
std::vector<Index> inputs_that_matter(const Vector& relevance);
// An Error unless these may be the factors of so many inputs, or are none: they may come from a file.
void check_relevance(const Vector& relevance, Index inputs);

}  // namespace dma
