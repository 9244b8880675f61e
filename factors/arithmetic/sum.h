// Weighted sum: f(x_1, ..., x_k, z) = delta(z - sum_j c_j x_j). All messages are exact (Gaussians are closed under it):
//
//   to z      mean sum_j c_j m_j                            variance sum_j c_j^2 v_j
//   to x_j    mean (m_z - sum_{i != j} c_i m_i) / c_j       variance (v_z + sum_{i != j} c_i^2 v_i) / c_j^2
//
// A term with coefficient 0 is ignored, whatever its message, and receives the uniform message. Any other uniform
// message makes every message that depends on it uniform. Point masses only give a point mass.
#pragma once

#include <span>

#include "engine/kinds/block_loop.h"
#include "engine/kinds/linear_view.h"
#include "engine/messages/gaussian.h"

namespace dma {

struct Sum {
  // Here and below, empty coefficients are all 1.
  static double value(std::span<const double> terms, std::span<const double> coefficients);

  static Gaussian to_total(std::span<const Gaussian> terms, std::span<const double> coefficients);

  // All messages to the terms, in O(k) without allocation. `out` has the size of `terms` and does not overlap it.
  static void to_terms(std::span<const Gaussian> terms, const Gaussian& total, std::span<const double> coefficients,
                       std::span<Gaussian> out);

  // The factor kind's messages, with its coefficients as parameters.
  struct Parameters {
    std::span<const double> coefficients;
    static Parameters bind(const ParameterRow& row) { return {row.terms(0)}; }
  };
  static Gaussian message_to_total(std::span<const Gaussian> terms, Parameters p) {
    return to_total(terms, p.coefficients);
  }
  static void message_to_terms(std::span<const Gaussian> terms, const Gaussian& total, Parameters p,
                               std::span<Gaussian> out) {
    to_terms(terms, total, p.coefficients, out);
  }

  static void linear_view(const LinearCall& call);

  // The same for blocks of slots whose terms and results are all proper and whose coefficients are not 0.
  static bool block_to_total(const SlotBlock& block);  // reads terms
  static bool block_to_terms(const SlotBlock& block);  // reads terms, total
};

}  // namespace dma
