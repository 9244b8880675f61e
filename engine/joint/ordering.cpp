#include "engine/joint/ordering.h"

#include <Eigen/OrderingMethods>
#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace dma::joint_system {

Indices different_rows(const RowPattern& rows) {
  std::unordered_multimap<std::uint64_t, std::uint32_t> seen;
  Indices different;
  for (std::uint32_t r = 0; r < rows.rows(); ++r) {
    const auto row = rows.row(r);
    if (row.size() < 2) continue;
    std::uint64_t hash = 1469598103934665603u;
    for (const std::uint32_t c : row) hash = (hash ^ c) * 1099511628211u;
    const auto [from, to] = seen.equal_range(hash);
    if (std::any_of(from, to, [&](const auto& other) { return std::ranges::equal(rows.row(other.second), row); }))
      continue;
    seen.emplace(hash, r);
    different.push_back(r);
  }
  return different;
}

std::optional<Neighbours> neighbours(const RowPattern& rows, const Indices& different, std::uint64_t most) {
  const std::uint32_t n = rows.unknowns;
  std::vector<std::uint64_t> first_row(n + 1);
  for (const std::uint32_t r : different)
    for (const std::uint32_t c : rows.row(r)) ++first_row[c + 1];
  std::partial_sum(first_row.begin(), first_row.end(), first_row.begin());
  Indices rows_at(first_row[n]);
  auto next = first_row;
  for (const std::uint32_t r : different)
    for (const std::uint32_t c : rows.row(r)) rows_at[next[c]++] = r;
  Neighbours out;
  out.first.reserve(n + 1);
  out.first.push_back(0);
  Indices mark(n, kNowhere);
  for (std::uint32_t v = 0; v < n; ++v) {
    mark[v] = v;
    for (std::uint64_t k = first_row[v]; k < first_row[v + 1]; ++k)
      for (const std::uint32_t c : rows.row(rows_at[k]))
        if (mark[c] != v) {
          mark[c] = v;
          out.list.push_back(c);
        }
    if (out.list.size() > most) return std::nullopt;
    out.first.push_back(out.list.size());
  }
  return out;
}

Indices minimum_degree(const Neighbours& graph, std::uint32_t n) {
  // Eigen drops columns without a diagonal entry.
  Eigen::SparseMatrix<char, Eigen::ColMajor, int> pattern(static_cast<int>(n), static_cast<int>(n));
  pattern.resizeNonZeros(static_cast<Eigen::Index>(graph.list.size() + n));
  int* next = pattern.innerIndexPtr();
  for (std::uint32_t v = 0; v < n; ++v) {
    pattern.outerIndexPtr()[v] = static_cast<int>(next - pattern.innerIndexPtr());
    int* const begin = next;
    *next++ = static_cast<int>(v);
    for (const std::uint32_t other : graph.of(v)) *next++ = static_cast<int>(other);
    std::sort(begin, next);
  }
  pattern.outerIndexPtr()[n] = static_cast<int>(next - pattern.innerIndexPtr());
  std::fill_n(pattern.valuePtr(), pattern.nonZeros(), char{1});
  Eigen::AMDOrdering<int>::PermutationType permutation;
  Eigen::AMDOrdering<int>()(pattern.selfadjointView<Eigen::Lower>(), permutation);
  Indices order(n);
  for (std::uint32_t k = 0; k < n; ++k) order[k] = static_cast<std::uint32_t>(permutation.indices()[k]);
  return order;
}

Indices elimination_tree(const Neighbours& graph, const Indices& order, const Indices& position) {
  const auto n = static_cast<std::uint32_t>(order.size());
  Indices parent(n, kNowhere), ancestor(n, kNowhere);
  for (std::uint32_t j = 0; j < n; ++j)
    for (const std::uint32_t v : graph.of(order[j]))
      for (std::uint32_t i = position[v]; i < j && i != kNowhere;) {
        const std::uint32_t next = ancestor[i];
        ancestor[i] = j;
        if (next == kNowhere) parent[i] = j;
        if (next == j) break;
        i = next;
      }
  return parent;
}

Indices post_order(const Indices& parent) {
  const auto n = static_cast<std::uint32_t>(parent.size());
  Indices child(n, kNowhere), sibling(n, kNowhere), out, stack;
  for (std::uint32_t j = n; j-- > 0;)
    if (parent[j] != kNowhere) {
      sibling[j] = child[parent[j]];
      child[parent[j]] = j;
    }
  out.reserve(n);
  for (std::uint32_t root = 0; root < n; ++root) {
    if (parent[root] != kNowhere) continue;
    stack.push_back(root);
    while (!stack.empty()) {
      const std::uint32_t j = stack.back();
      if (child[j] != kNowhere) {
        stack.push_back(child[j]);
        child[j] = sibling[child[j]];
      } else {
        out.push_back(j);
        stack.pop_back();
      }
    }
  }
  return out;
}

}  // namespace dma::joint_system
