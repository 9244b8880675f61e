// Columns of a table that cannot teach anything.
#pragma once

#include <Eigen/Dense>
#include <string>
#include <vector>

namespace dma {

struct IdleColumns {
  std::vector<Eigen::Index> kept;  // the other ones, in their order
  std::string text;                // one line about those left out; empty if there are none
};

// Features that are constant, or copies of earlier ones up to shift and scale: they say nothing, or nothing new.
IdleColumns idle_columns(const Eigen::MatrixXd& features, const std::vector<std::string>& names);

}  // namespace dma
