// The mode of a log density of a few numbers, and a lattice around it that covers all but a negligible part of its
// mass. The trapezoidal rule on the lattice is spectrally accurate: with steps of one standard deviation the mass of a
// Gaussian has an error of 1e-8. Above six dimensions a lattice has too many points; evenly spread draws from a wider
// Gaussian (a cloud) are weighted instead.
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

// Visits lattice points, the mode first and then neighbours of the point visited last, as long as the density is not
// negligible there; or visits the cloud. `visit` returns the log density f; the integral is the sum of exp(f +
// log_weight + log_cell). Returns false if there were too many points.
inline constexpr Eigen::Index kMostOnLattice = 6;
struct LatticeSize {
  double step, drop;  // in standard deviations; in log density at the edge
};
LatticeSize lattice_size(Eigen::Index dimensions);
double log_cell(const Mode& mode);
using VisitPoint = std::function<double(const Eigen::VectorXd& at, double log_weight)>;
bool visit_points(const Mode& mode, const VisitPoint& visit);

}  // namespace dma::joint_system
