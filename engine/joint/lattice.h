// The mode of a log density of a few numbers, and a lattice around it that covers all but a negligible part of its
// mass. Sums over a lattice are spectrally accurate for smooth densities: with equal steps of one standard deviation
// the mass of a Gaussian has an error of 1e-8. Two things keep the points few.
//
//  - Coordinates z = sinh(a u) / a along the axes at the mode, evenly spaced in u: near the mode they are standard
//  deviations;
//    far out, where logarithms of scales have tails of many standard deviations, points are farther apart.
//  - The lattice is body-centred: u is a multiple of integers that are all even or all odd. It aliases like a cubic
//    one of steps smaller by sqrt(2), with 2^(n/2 - 1) times fewer points in n dimensions.
//
// Above six dimensions a lattice has too many points; evenly spread draws from a wider Gaussian (a cloud) are weighted
// instead.
#pragma once

#include <Eigen/Core>
#include <functional>

namespace dma::joint_system {

using LogDensityOfFew = std::function<double(const Eigen::VectorXd&)>;  // -inf outside of its domain

struct Mode {
  Eigen::VectorXd at;
  Eigen::MatrixXd axes;  // columns as long as standard deviations, at the mode
  bool is_found = false;
  Eigen::Index open = -1;  // index of the number that diverged, if there is no mode; -1: none did
};
// Newton's method in a trust region, with derivatives by differences. An Error thrown by `f` passes through.
Mode find_mode(const LogDensityOfFew& f, Eigen::VectorXd start);

// Visits points with all but a negligible part of the mass, neighbours after each other, from the mode on; or the
// cloud. A point is skipped if a concave log density would be negligible there. `visit` returns the log density f; the
// integral is the sum of exp(f + log_weight + log_cell). Returns false if there were too many points, or if the points
// are too far apart: the sums over even and over odd integers then differ.
inline constexpr Eigen::Index kMostOnLattice = 6;
struct LatticeSize {
  double step = 0;  // that of a cubic lattice as accurate, in standard deviations
  double drop = 0;  // fall of the log density to the edge
};
LatticeSize lattice_size(Eigen::Index dimensions);
double log_cell(const Mode& mode);
using VisitPoint = std::function<double(const Eigen::VectorXd& at, double log_weight)>;
bool visit_points(const Mode& mode, const VisitPoint& visit);

}  // namespace dma::joint_system
