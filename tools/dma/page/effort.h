// Bounds on the work for a report. They depend on sizes alone, so that one seed gives one report.
#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <vector>

namespace dma::report {

struct Effort {
  Eigen::Index rows = 0;             // rows whose columns are shuffled
  Eigen::Index columns = 0;          // that are shuffled
  Eigen::Index dependence_rows = 0;  // over which partial dependence is averaged
  int shuffles = 5;
  Eigen::Index dependences = 6;  // inputs with a curve, at most, per output
  Eigen::Index grid = 21;        // values on a curve
};

// For predictions that cost so many products a row: a few seconds' worth, or what 50 rows of every column cost if that
// is less than a minute's; beyond, fewer columns.
Effort effort_for(double products_per_row, Eigen::Index rows, Eigen::Index columns, Eigen::Index outputs);

// The columns to look at where they cannot all be: those that go most with what is predicted (largest correlation with
// any output), in their order.
std::vector<Eigen::Index> columns_to_shuffle(const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& predicted,
                                             Eigen::Index most);

// At most so many of the rows 0, ..., rows - 1, in their order, drawn by the seed.
std::vector<Eigen::Index> sample_rows(Eigen::Index rows, Eigen::Index most, std::uint64_t seed);

}  // namespace dma::report
