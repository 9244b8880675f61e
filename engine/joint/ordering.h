// Where a sparse information matrix has numbers, the order in which its fill stays small, and the tree of that order.
#pragma once

#include <optional>

#include "engine/joint/elimination.h"

namespace dma::joint_system {

using Indices = std::vector<std::uint32_t>;

// Rows that are different sets of columns, of at least two: plates repeat the same one many times.
Indices different_rows(const RowPattern& rows);

// Neighbours of each unknown: those it meets in a row.
struct Neighbours {
  std::vector<std::uint64_t> first;
  Indices list;
  std::span<const std::uint32_t> of(std::uint32_t v) const {
    return {list.data() + first[v], list.data() + first[v + 1]};
  }
};
// None where their list would hold more than `most`: it ends there.
std::optional<Neighbours> neighbours(const RowPattern& rows, const Indices& different, std::uint64_t most);

// Position -> unknown by approximate minimum degree.
Indices minimum_degree(const Neighbours& graph, std::uint32_t unknowns);

// By position: the first later column that a column of the factor meets (Liu); kNone for the last of a component.
Indices elimination_tree(const Neighbours& graph, const Indices& order, const Indices& position);

// Children stand before their parent, and a subtree stands together.
Indices post_order(const Indices& parent);

}  // namespace dma::joint_system
