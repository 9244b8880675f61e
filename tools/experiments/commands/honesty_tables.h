// Made tables on which an over-confident default shows itself: noise, weak and strong signals, few rows, useless
// columns.
#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <string>
#include <vector>

namespace dma::validation {

struct HonestyTable {
  std::string name;
  Eigen::MatrixXd inputs, targets, test_inputs, test_targets;  // the same law, fresh rows
  double least_coverage = 0.90, most_coverage = 0.99;          // bounds on the coverage of 95 % intervals
};

std::vector<std::string> honesty_names(bool sized);  // sized: five functions, each in seven sizes
// A table by name, from a seed.
HonestyTable honesty_table(const std::string& name, std::uint64_t seed);

// A smooth function of ten inputs with noise 0.3.
HonestyTable growing_table(Eigen::Index rows, std::uint64_t seed);

// sin(2x) learned on [-2, 2], or on [-2, -0.7] and [0.7, 2]; the test rows lie where no data are: inside the gap, or
// from the end of the range to one range-width beyond. Their targets are the function itself.
struct NoDataTable {
  Eigen::MatrixXd inputs, targets, gap_inputs, gap_targets;
};
NoDataTable gap_table(std::uint64_t seed);
NoDataTable beyond_table(std::uint64_t seed);

}  // namespace dma::validation
