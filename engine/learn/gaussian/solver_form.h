// The form of Gaussian learning that suits a table, from rows, outputs, scalars and memory.
#pragma once

#include <cstdint>
#include <string>

#include "engine/learn/gaussian/curvature/curvature.h"

namespace dma {

struct SolverForm {
  enum class Form { dual, primal, growing, none } form = Form::primal;
  std::string reason;               // one line
  std::size_t members_at_once = 1;  // members that there is memory for

  std::unique_ptr<Curvature> curvature() const;
};

// Products of an epoch: `count` (rows times outputs) times the square of the smaller of `count` and `scalars`.
double products_of_epoch(Index count, Index scalars);

// Graphs from different draws that one core learns in about two seconds, each so many times: 1 to 4.
std::size_t affordable_members(Index rows, Index outputs, Index scalars, Index times = 1);

// `may_be_dual`: a matrix over rows would do (curvature.h).
inline constexpr double kMostGaussianBytes = 4e9;
SolverForm choose_form(Index rows, Index outputs, Index scalars, bool may_grow = true,
                       double memory_limit_bytes = kMostGaussianBytes, bool may_be_dual = true);

}  // namespace dma
