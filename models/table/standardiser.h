// Columns shifted and scaled to mean 0 and standard deviation 1, and back. A constant column is only shifted. Whatever
// finite numbers a column holds, its shift is finite and its scale finite and positive.
#pragma once

#include <Eigen/Dense>

#include "engine/learn/worker_team.h"

namespace dma {

class Fields;

// log x for numbers from the `log_from` of their column on; below it the tangent there, which goes on to 0 and beyond.
// A column with `log_from` 0 stays as it is; empty: all do.
Eigen::MatrixXd with_logs(Eigen::MatrixXd data, const Eigen::RowVectorXd& log_from);

struct Standardiser {
  Eigen::RowVectorXd shift, scale;
  Eigen::RowVectorXd log_from = {};  // argument of with_logs(), which comes before shift and scale

  static Standardiser identity(Eigen::Index columns);
  static Standardiser of(const Eigen::MatrixXd& data, const Eigen::VectorXd& weights = {},
                         const Eigen::RowVectorXd& log_from = {});
  // Standardiser of the rows of all workers; or of one, whose rows may have weights.
  static Standardiser of(const Eigen::MatrixXd& data, const TeamSum& sum, const Eigen::VectorXd& weights = {},
                         const Eigen::RowVectorXd& log_from = {});
  bool is_log(Eigen::Index column) const { return log_from.size() > 0 && log_from(column) > 0; }
  // Mean of the logarithms over rows and columns, where columns are logarithmic: a log density of standardised
  // logarithms is too large by it, and by the log scales.
  double mean_log(const Eigen::MatrixXd& data, const Eigen::VectorXd& weights) const;
  bool fits(Eigen::Index columns) const;  // sizes and signs are possible: it may come from a file

  Eigen::MatrixXd apply(const Eigen::MatrixXd& data) const;
  Eigen::RowVectorXd centre() const;  // values that become 0
  Eigen::MatrixXd usual() const;      // rows that any model can predict: the centre, and a scale above and below it
  Eigen::MatrixXd undo(const Eigen::MatrixXd& data) const;  // logarithms stay
  // Standard deviations know no shift.
  Eigen::MatrixXd undo_scale(const Eigen::MatrixXd& deviations) const;
};

void list_fields(Fields& f, Standardiser& standardiser);

}  // namespace dma
