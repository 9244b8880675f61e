// Inner product: z = sum_t x_t y_t, a product factor for each t followed by a sum factor, without storing the products.
// The messages are those of product.h and sum.h, written for whole rows:
//
//  m_t = mx my                     v_t = vx vy + mx^2 vy + my^2 vx          (Prop. 3.1)
//  to z:   N(sum_t m_t, sum_t v_t)
//  to x_t: the sum's message to term t is N(c, k), c = mz - sum_{i != t} m_i, k = vz + sum_{i != t} v_i;
//          then (Prop. 3.2)
//          tau = s^2 my c / d,  rho = s^3 my^2 / d,  d = k + (1 - s) c^2,  s = my^2 / (my^2 + vy)
//
// and to y_t by symmetry. The sum over all other terms is stored as two sums, over those before and those after.
#pragma once

#include <span>

#include "engine/kinds/call.h"
#include "engine/kinds/held.h"
#include "engine/kinds/linear_view.h"

namespace dma {

// Array kernels; ports x (terms), y (terms), total.
struct InnerProduct {
  static double value(std::span<const double> xs_then_ys);

  static void linear_view(const LinearCall& call);
  // In every pair one factor is known.
  static bool linear_in(std::span<const std::uint8_t> free);

  static void to_total(const Call& call, Outcome& outcome);  // reads x, y
  // To x, y or both; reads x, y, total: by Prop. 3.2, or by linearisation (product_linearised.h).
  enum class Rule { direct, linearised };
  template <Rule kRule, bool kToX, bool kToY>
  static void to_terms(const Call& call, Outcome& outcome);

  // The same with x held as moments: see inner_product/held.cpp.
  static void held_to_total(const Call& call, HeldCavity& x, Outcome& outcome);
  template <Rule kRule, bool kToY>
  static void held_to_terms(const Call& call, HeldCavity& x, Outcome& outcome);
};

}  // namespace dma
