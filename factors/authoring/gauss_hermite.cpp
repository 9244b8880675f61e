#include "factors/authoring/gauss_hermite.h"

#include <Eigen/Eigenvalues>
#include <cmath>

#include "engine/support/dense.h"

namespace dma {

// Golub and Welsch: eigenvalues of the Jacobi matrix of the Hermite polynomials, whose off-diagonal entries are
// sqrt(k). The symmetry of the rule is restored after rounding, so that odd moments vanish.
GaussHermite::GaussHermite(int points) {
  Eigen::VectorXd diagonal = Eigen::VectorXd::Zero(points), off(points - 1);
  for (int k = 1; k < points; ++k) off(k - 1) = std::sqrt(static_cast<double>(k));
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver;
  solver.computeFromTridiagonal(diagonal, off);
  for (Eigen::Index i = 0; i < points; ++i) {
    const Eigen::Index mirrored = points - 1 - i;
    nodes_.push_back(0.5 * (solver.eigenvalues()(i) - solver.eigenvalues()(mirrored)));
    const double one = solver.eigenvectors()(0, i), other = solver.eigenvectors()(0, mirrored);
    weights_.push_back(0.5 * (one * one + other * other));
  }
}

const GaussHermite& GaussHermite::fine(std::size_t inputs) {
  static const GaussHermite one(64), two(24), three(12);
  return inputs == 1 ? one : inputs == 2 ? two : three;
}

const GaussHermite& GaussHermite::coarse(std::size_t inputs) {
  static const GaussHermite one(48), two(18), three(9);
  return inputs == 1 ? one : inputs == 2 ? two : three;
}

}  // namespace dma
