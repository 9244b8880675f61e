// The linear trend below the Gaussian process of neighbours: a ridge regression on the columns, shrunk as their
// relevances say.
#pragma once

#include <cstdint>
#include <vector>

#include "models/neighbours/neighbour_kernel.h"

namespace dma {

struct Trend {
  Vector weights;         // of the columns, then the constant
  Vector left, left_out;  // what it leaves of each row, with and without that row
  Eigen::RowVectorXd centre;
  Matrix axes;    // of the columns, times the roots of their relevances
  Vector shrunk;  // inverse of the squares along each, with the ridge
  Vector weights_of_rows;

  // The one whose ridge predicts rows best that it leaves out. No weights: 1 for every row.
  static Trend fit(const Matrix& rows, const Vector& targets, const Vector& weights, const Vector& relevance);
  static Vector at(const Vector& weights, const Matrix& rows);

  // What leaving some rows out, each alone, changes in the errors of their own predictions. `apart` has a row, and 1,
  // less what neighbours of it stand for: a change of the trend that they share is in their values too.
  Vector change(const Matrix& rows, const std::vector<Index>& some, const Matrix& apart) const;
  // Of the weights, under what the process and the noise do to them.
  Matrix covariance(const Matrix& rows, const NeighbourKernel& kernel, std::uint64_t seed) const;
};

}  // namespace dma
