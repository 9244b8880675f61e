// Fewer columns for tables with more of them than can be learned from: the directions in which rows differ most, and
// one number for what is left over.
//
// With as many directions as rows less one nothing is lost: the rest is 0 in every learned row, its weights keep their
// prior, and a new row that leaves the span of the learned ones is doubted by as much as it does.
#pragma once

#include <Eigen/Dense>

namespace dma {

struct PrincipalDirections {
  Eigen::MatrixXd basis;  // columns x directions, orthonormal; empty: columns stay as they are

  // The `directions` of centred rows with the largest variance.
  static PrincipalDirections of(const Eigen::MatrixXd& rows, Eigen::Index directions);

  bool used() const { return basis.size() > 0; }
  // Coordinates in the basis, then the length of what is left over.
  Eigen::MatrixXd apply(const Eigen::MatrixXd& rows) const;
};

}  // namespace dma
