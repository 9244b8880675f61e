// Rows that are copies of others: learned as if they were observations of their own, they would make intervals too
// narrow.
#pragma once

#include <Eigen/Dense>
#include <vector>

namespace dma {

struct DistinctRows {
  std::vector<Eigen::Index> first;   // first place of every distinct row
  std::vector<Eigen::Index> number;  // place in `first` of the row that each repeats
  std::size_t copies() const { return number.size() - first.size(); }
};

// Rows count as copies where equal inputs always come with equal targets and some column tells nearly all distinct rows
// apart, as a measured number does. A table of few values, or one whose equal inputs were observed with different
// targets, repeats itself by nature: there every row is its own.
DistinctRows distinct_rows(const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& targets);

}  // namespace dma
