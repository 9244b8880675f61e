// Tilted moments of a factor of several variables (tilted.h): the message to the first of them,
//
//   M, V of t_1 under phi(t_1) ... phi(t_k) f(t_1, ..., t_k),      k = 2 or 3,
//
// by Gauss-Hermite cubature around the mode, in coordinates in which the density is N(0, I) to the second order. Where
// a finer and a coarser rule disagree (f is cut off, or has tails or peaks that this does not see), t_k, ..., t_2 are
// integrated out one inside the other instead: as robust as one variable is, at a hundred times the cost of each.
#pragma once

#include "factors/authoring/tilted.h"

namespace dma {

inline constexpr std::size_t kMostFree = 3;

// log f(t_1, ..., t_k), by reference.
class LogFactorOfSeveral {
 public:
  template <class F>
  LogFactorOfSeveral(const F& f)
      : object_(&f),
        call_([](const void* object, const double* t) -> double { return (*static_cast<const F*>(object))(t); }) {}
  double operator()(const double* t) const { return call_(object_, t); }

 private:
  const void* object_;
  double (*call_)(const void*, const double*);
};

// hints[i]: where else f may have a peak, along t_i.
Tilted tilt_first(const LogFactorOfSeveral& log_f, std::size_t count, const std::span<const double>* hints);

}  // namespace dma
