// The mode of a log density of a few numbers, and a lattice over all that counts of it. The rule of trapezoids on it is
// spectrally accurate: steps of one standard deviation leave an error of 1e-8 in the mass of a Gaussian. Of more than
// six numbers a lattice has too many points; a cloud of evenly spread draws from a wider Gaussian is weighed instead.
#pragma once

#include <Eigen/Core>
#include <functional>

namespace dma::joint_system {

using LogDensityOfFew = std::function<double(const Eigen::VectorXd&)>;  // -inf: outside of its domain

struct Mode {
  Eigen::VectorXd at;
  Eigen::MatrixXd axes;  // columns as long as standard deviations, at the mode
  bool is_found = false;
  Eigen::Index open = -1;  // without a mode: the number that ran away, if one did
};
// Newton's method in a trust region, by differences. An Error of `f` passes through.
Mode find_mode(const LogDensityOfFew& f, Eigen::VectorXd start);

// Visits lattice points, the mode first, each a neighbour of one visited before where the density is not yet
// negligible, until there are none left; or the cloud. `visit` returns the log density f; the integral is the sum of
// exp(f + log_weight + log_cell). False: there were too many.
inline constexpr Eigen::Index kMostOnLattice = 6;
struct LatticeSize {
  double step, drop;  // in standard deviations; of the log density where it ends
};
LatticeSize lattice_size(Eigen::Index dimensions);
double log_cell(const Mode& mode);
using VisitPoint = std::function<double(const Eigen::VectorXd& at, double log_weight)>;
bool visit_points(const Mode& mode, const VisitPoint& visit);

}  // namespace dma::joint_system
