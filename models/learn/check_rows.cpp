#include "models/learn/check_rows.h"

#include "engine/learn/gaussian/program/row_model.h"
#include "engine/support/checksum.h"

namespace dma {

TableRows TableRows::some(const std::vector<Eigen::Index>& which) const {
  return {inputs(which, Eigen::all), targets(which, Eigen::all), weights_of(weights, which)};
}

void check_rows(const TableRows& rows, std::size_t outputs) {
  if (rows.inputs.rows() == 0 && rows.targets.rows() == 0) fail("fit: there are no rows");
  if (rows.targets.rows() != rows.inputs.rows())
    fail("fit: {} rows of inputs but {} of targets", rows.inputs.rows(), rows.targets.rows());
  if (static_cast<std::size_t>(rows.targets.cols()) != outputs)
    fail("fit: the targets have {} columns but the network {} outputs", rows.targets.cols(), outputs);
  if (!rows.inputs.allFinite() || !rows.targets.allFinite())
    fail("fit: the data hold a value that is not a finite number");
}

void check_weights(const Eigen::VectorXd& weights, Eigen::Index rows) {
  if (weights.size() != rows)
    fail("{} weights are given for {} rows; one for every row is expected", weights.size(), rows);
  constexpr double kLeast = 1e-100, kMost = 1e100;  // the noise of a row is divided by it
  for (Eigen::Index n = 0; n < rows; ++n)
    if (weights(n) != 0 && !(weights(n) >= kLeast && weights(n) <= kMost))
      fail("row {} has a weight of {}; 0 or a number from {} to {} is expected", n + 1, weights(n), kLeast, kMost);
  if (!(weights.array() > 0).any()) fail("all weights are 0; at least one row to learn from is expected");
}

std::vector<Eigen::Index> rows_that_count(const Eigen::VectorXd& weights) {
  std::vector<Eigen::Index> rows;
  for (Eigen::Index n = 0; n < weights.size(); ++n)
    if (weights(n) > 0) rows.push_back(n);
  return rows;
}

std::uint64_t checksum_of(const TableRows& rows) {
  Checksum sum;
  const Eigen::MatrixXd weights = rows.weights;
  for (const Eigen::MatrixXd* matrix : {&rows.inputs, &rows.targets, &weights}) {
    if (matrix->size() == 0) continue;
    const Eigen::Index shape[] = {matrix->rows(), matrix->cols()};
    sum.add({reinterpret_cast<const unsigned char*>(shape), sizeof shape});
    sum.add({reinterpret_cast<const unsigned char*>(matrix->data()),
             static_cast<std::size_t>(matrix->size()) * sizeof(double)});
  }
  return sum.value();
}

}  // namespace dma
