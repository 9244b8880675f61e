// Kernels under which the rows of a table are most probable: by the evidence of all rows (process.h), or, of large
// tables, by the densities of rows given those next to them (neighbour_kernel.h).
#pragma once

#include <functional>
#include <span>

#include "models/neighbours/process.h"

namespace dma {

inline constexpr double kLeastNoiseVariance = 1e-10;  // in standardised units: exact data for all purposes

// Numbers of a kernel that have no bounds: a shift of all logarithms of lengthscales, a further one of each column that
// has a lengthscale of its own, log s, log of what v has above its least, and the logarithm of the slopes' prior
// variance. Lengthscales without shifts are such that r_j / l_j^2 sums to 1 over the columns, r the relevances.
class KernelNumbers {
 public:
  // `by_column`: whether columns have lengthscales of their own; then those that matter do.
  KernelNumbers(Vector relevance, bool by_column, double least_noise);

  Index size() const { return static_cast<Index>(own_.size()) + 4; }
  struct Setting {
    NeighbourKernel kernel;
    LinePrior line;
  };
  Setting at(const Vector& numbers, double constant) const;
  Vector of(const Setting& setting) const;
  // A first guess: the line leaves a part of the variance to s and v.
  Vector start(double variance, double left_by_line) const;
  // The gradient by these numbers, from that by the logarithms of l, s, v and, if there is one, of the slopes' prior
  // variance.
  Vector gradient(const Vector& numbers, const Vector& by_logs) const;
  // Adds log density and gradient of the prior, whose middle is the start.
  double add_prior(const Vector& numbers, const Vector& middle, Vector& gradient) const;

 private:
  Vector relevance_, usual_;  // usual_: logarithms of lengthscales
  std::vector<Index> own_;    // columns with lengthscales of their own
  double least_noise_;
};

struct KernelChoice {
  Vector relevance;
  bool by_column = true;
  double least_noise = kLeastNoiseVariance;
  std::uint64_t seed = 1;
  std::size_t jobs = 1;
  std::function<void(double)> told = {};  // fraction that is done
};

// By the evidence of the rows, of at most kMostEvidenceRows of them. Where a start is given it is near the answer.
inline constexpr Index kMostEvidenceRows = 600;
KernelNumbers::Setting likeliest_process(const ProcessRows& table, const KernelChoice& choice,
                                         const std::vector<KernelNumbers::Setting>& starts = {});

// By densities of the rows `of` given those next to them among all rows; `values` are the targets without a line.
NeighbourKernel likeliest_kernel(const Matrix& rows, const Vector& values, const Vector& weights,
                                 const std::vector<Index>& of, const KernelNumbers::Setting& start,
                                 const KernelChoice& choice);

}  // namespace dma
