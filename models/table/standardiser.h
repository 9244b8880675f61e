// Columns shifted and scaled to mean 0 and standard deviation 1, and back. A constant column is only shifted. Whatever
// finite numbers a column holds, its shift is finite and its scale finite and positive.
#pragma once

#include <Eigen/Dense>

#include "engine/learn/worker_team.h"

namespace dma {

struct Standardiser {
  Eigen::RowVectorXd shift, scale;

  static Standardiser identity(Eigen::Index columns);
  static Standardiser of(const Eigen::MatrixXd& data, const Eigen::VectorXd& weights = {});
  // Of the rows of all workers; or of one, whose rows may have weights.
  static Standardiser of(const Eigen::MatrixXd& data, const TeamSum& sum, const Eigen::VectorXd& weights = {});

  Eigen::MatrixXd apply(const Eigen::MatrixXd& data) const;
  Eigen::MatrixXd undo(const Eigen::MatrixXd& data) const;
  // Standard deviations know no shift.
  Eigen::MatrixXd undo_scale(const Eigen::MatrixXd& deviations) const;
};

}  // namespace dma
