// The rows of a table that lie nearest to given points.
#pragma once

#include <span>
#include <vector>

#include "engine/learn/gaussian/program/row_model.h"

namespace dma {

using IndexMatrix = Eigen::Matrix<Index, Eigen::Dynamic, Eigen::Dynamic>;

// A k-d tree up to kMostTreeColumns columns, products of blocks above: there a tree looks at nearly every row.
class NearestRows {
 public:
  static constexpr Index kMostTreeColumns = 15;

  explicit NearestRows(const Matrix& rows);

  // A column for each point: its `count` nearest rows by Euclidean distance, nearest first, of equally near ones the
  // first. `own` has of each point the number of the row that it is, which is left out; empty: points are no rows. As
  // many as there are where there are fewer.
  IndexMatrix find(const Matrix& points, Index count, std::span<const Index> own = {}) const;

 private:
  struct Node {
    Index begin, end;   // its rows
    Index column = -1;  // that is divided; below 0: a leaf
    double at = 0;
    Index right = 0;  // the left one comes next
  };
  class Found;
  void divide(const Matrix& rows, Index begin, Index end);
  void scan(const Matrix& points, std::vector<Found>& found) const;

  Matrix rows_;               // in the order of the tree
  std::vector<Index> order_;  // their numbers
  std::vector<Node> nodes_;
};

}  // namespace dma
