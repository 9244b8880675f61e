#include "models/neighbours/nearest_rows.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "engine/support/dense.h"

namespace dma {

// The nearest rows so far, the furthest of them on top.
class NearestRows::Found {
 public:
  Found(Index count, Index own) : count_(static_cast<std::size_t>(count)), own_(own) {}

  void offer(double distance, Index row) {
    if (distance > limit_ || row == own_) return;
    const std::pair one(distance, row);
    if (heap_.size() == count_) {
      if (!(one < heap_.front())) return;
      std::ranges::pop_heap(heap_);
      heap_.pop_back();
    }
    heap_.push_back(one);
    std::ranges::push_heap(heap_);
    if (heap_.size() == count_) limit_ = heap_.front().first;
  }
  double limit() const { return limit_; }
  auto sorted() {
    std::ranges::sort_heap(heap_);
    return std::move(heap_);
  }

 private:
  std::size_t count_;
  Index own_;
  double limit_ = std::numeric_limits<double>::infinity();
  std::vector<std::pair<double, Index>> heap_;
};

NearestRows::NearestRows(const Matrix& rows) : order_(static_cast<std::size_t>(rows.rows())) {
  std::iota(order_.begin(), order_.end(), Index{0});
  if (rows.cols() <= kMostTreeColumns && rows.rows() > 0) divide(rows, 0, rows.rows());
  rows_ = rows(order_, Eigen::all);
}

void NearestRows::divide(const Matrix& rows, Index begin, Index end) {
  constexpr Index kLeaf = 24;
  const auto node = nodes_.size();
  nodes_.push_back({begin, end});
  if (end - begin <= kLeaf) return;
  const auto first = order_.begin() + begin, last = order_.begin() + end;
  Index widest = 0;
  double width = 0;
  for (Index j = 0; j < rows.cols(); ++j) {
    const auto [low, high] = std::ranges::minmax(std::span(first, last), {}, [&](Index row) { return rows(row, j); });
    if (rows(high, j) - rows(low, j) > width) width = rows(high, j) - rows(low, j), widest = j;
  }
  if (width == 0) return;  // equal rows
  const Index middle = begin + (end - begin) / 2;
  std::nth_element(first, order_.begin() + middle, last,
                   [&](Index a, Index b) { return std::pair(rows(a, widest), a) < std::pair(rows(b, widest), b); });
  nodes_[node].column = widest;
  nodes_[node].at = rows(order_[static_cast<std::size_t>(middle)], widest);
  divide(rows, begin, middle);
  nodes_[node].right = static_cast<Index>(nodes_.size());
  divide(rows, middle, end);
}

// Products of a block of rows with all points: |a - b|^2 = |a|^2 + |b|^2 - 2 a.b.
void NearestRows::scan(const Matrix& points, std::vector<Found>& found) const {
  constexpr Index kBlock = 2048;
  const Vector squares = points.rowwise().squaredNorm();
  for (Index begin = 0; begin < rows_.rows(); begin += kBlock) {
    const auto block = rows_.middleRows(begin, std::min(kBlock, rows_.rows() - begin));
    Matrix distances = -2 * product_by_transposed(block, points);
    distances.colwise() += block.rowwise().squaredNorm();
    for (Index p = 0; p < points.rows(); ++p)
      for (Index i = 0; i < block.rows(); ++i)
        found[static_cast<std::size_t>(p)].offer(std::max(0.0, distances(i, p) + squares(p)), begin + i);
  }
}

IndexMatrix NearestRows::find(const Matrix& points, Index count, std::span<const Index> own) const {
  count = std::min(count, rows_.rows() - (own.empty() ? 0 : 1));
  if (count <= 0) return IndexMatrix(0, points.rows());
  std::vector<Found> found;
  for (Index p = 0; p < points.rows(); ++p)
    found.emplace_back(count, own.empty() ? -1 : own[static_cast<std::size_t>(p)]);
  if (nodes_.empty()) scan(points, found);
  Eigen::ArrayXd distances;
  Eigen::RowVectorXd point, beyond;  // beyond: offset of the point from the cell, by column
  const auto visit = [&](const auto& self, std::size_t node, double outside, Found& nearest) -> void {
    const Node& n = nodes_[node];
    if (n.column < 0) {
      distances.setZero(n.end - n.begin);
      for (Index j = 0; j < rows_.cols(); ++j)
        distances += (rows_.col(j).segment(n.begin, n.end - n.begin).array() - point(j)).square();
      for (Index i = n.begin; i < n.end; ++i)
        nearest.offer(distances(i - n.begin), order_[static_cast<std::size_t>(i)]);
      return;
    }
    const double off = point(n.column) - n.at, before = beyond(n.column);
    const auto left = node + 1, right = static_cast<std::size_t>(n.right);
    self(self, off < 0 ? left : right, outside, nearest);
    // Less by a little, so that rounding loses no row that is as near.
    const double further = outside - before * before + off * off;
    if (further * (1 - 1e-12) > nearest.limit()) return;
    beyond(n.column) = off;
    self(self, off < 0 ? right : left, further, nearest);
    beyond(n.column) = before;
  };
  IndexMatrix nearest(count, points.rows());
  for (Index p = 0; p < points.rows(); ++p) {
    Found& own_nearest = found[static_cast<std::size_t>(p)];
    if (!nodes_.empty()) {
      point = points.row(p);
      beyond.setZero(point.size());
      visit(visit, 0, 0.0, own_nearest);
    }
    Index i = 0;
    for (const auto& [distance, row] : own_nearest.sorted()) nearest(i++, p) = row;
  }
  return nearest;
}

}  // namespace dma
