// Eigen views of parts of a front.
#pragma once

#include <Eigen/Core>

namespace dma::joint_system {

using FrontBlock = Eigen::Map<Eigen::MatrixXd, 0, Eigen::OuterStride<>>;
using ConstFrontBlock = Eigen::Map<const Eigen::MatrixXd, 0, Eigen::OuterStride<>>;

inline FrontBlock block(double* front, Eigen::Index stride, Eigen::Index row, Eigen::Index column, Eigen::Index rows,
                        Eigen::Index columns) {
  return {front + row + column * stride, rows, columns, Eigen::OuterStride<>(stride)};
}

}  // namespace dma::joint_system
