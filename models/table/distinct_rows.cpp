#include "models/table/distinct_rows.h"

#include <algorithm>
#include <numeric>

namespace dma {

namespace {

using Eigen::Index;

// -1, 0, 1 by the first entry that differs.
int compared(const Eigen::MatrixXd& m, Index a, Index b) {
  for (Index j = 0; j < m.cols(); ++j)
    if (m(a, j) != m(b, j)) return m(a, j) < m(b, j) ? -1 : 1;
  return 0;
}

Index distinct_values(const Eigen::VectorXd& column) {
  std::vector<double> values(column.begin(), column.end());
  std::ranges::sort(values);
  return static_cast<Index>(std::unique(values.begin(), values.end()) - values.begin());
}

}  // namespace

DistinctRows distinct_rows(const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& targets) {
  constexpr double kNearlyAll = 0.9;
  const auto rows = static_cast<std::size_t>(inputs.rows());
  DistinctRows all;
  all.first.resize(rows);
  std::iota(all.first.begin(), all.first.end(), Index{0});
  all.number = all.first;
  std::vector<Index> order = all.first;
  std::ranges::stable_sort(order, [&](Index a, Index b) { return compared(inputs, a, b) < 0; });
  std::vector<Index> head(rows);  // the first place of the group of equal inputs
  std::size_t groups = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    const bool repeats = i > 0 && compared(inputs, order[i - 1], order[i]) == 0;
    if (repeats && compared(targets, order[i - 1], order[i]) != 0) return all;
    head[static_cast<std::size_t>(order[i])] = repeats ? head[static_cast<std::size_t>(order[i - 1])] : order[i];
    groups += repeats ? 0 : 1;
  }
  if (groups == rows) return all;
  Index most = 0;
  for (Index j = 0; j < inputs.cols(); ++j) most = std::max(most, distinct_values(inputs.col(j)));
  if (static_cast<double>(most) < kNearlyAll * static_cast<double>(groups)) return all;
  DistinctRows found;
  std::vector<Index> place(rows);
  for (std::size_t n = 0; n < rows; ++n) {
    const auto first = static_cast<std::size_t>(head[n]);
    if (first == n) {
      place[n] = static_cast<Index>(found.first.size());
      found.first.push_back(static_cast<Index>(n));
    }
    found.number.push_back(place[first]);
  }
  return found;
}

}  // namespace dma
