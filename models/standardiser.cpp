#include "models/standardiser.h"

#include <cmath>

namespace dma {

Standardiser Standardiser::identity(Eigen::Index columns) {
  return {Eigen::RowVectorXd::Zero(columns), Eigen::RowVectorXd::Ones(columns)};
}

Standardiser Standardiser::of(const Eigen::MatrixXd& data) {
  Standardiser s{data.colwise().mean(), Eigen::RowVectorXd::Ones(data.cols())};
  for (Eigen::Index j = 0; j < data.cols(); ++j) {
    const double sd = std::sqrt((data.col(j).array() - s.shift(j)).square().mean());
    // Rounding gives a constant column a spread of a few ulps of its value.
    constexpr double kConstant = 1e-12;
    if (sd > kConstant * std::abs(s.shift(j))) s.scale(j) = sd;
  }
  return s;
}

Eigen::MatrixXd Standardiser::apply(const Eigen::MatrixXd& data) const {
  return (data.rowwise() - shift).array().rowwise() / scale.array();
}
Eigen::MatrixXd Standardiser::undo(const Eigen::MatrixXd& data) const { return undo_scale(data).rowwise() + shift; }
Eigen::MatrixXd Standardiser::undo_scale(const Eigen::MatrixXd& deviations) const {
  return deviations.array().rowwise() * scale.array();
}

}  // namespace dma
