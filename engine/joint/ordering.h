// The sparsity of an information matrix, an elimination order with little fill, and the elimination tree of that order.
#pragma once

#include <optional>

#include "engine/joint/elimination.h"

namespace dma::joint_system {

using Indices = std::vector<std::uint32_t>;

// Distinct rows of at least two columns: plates repeat the same row many times.
Indices different_rows(const RowPattern& rows);

// Neighbours of each unknown: the unknowns that share a row with it.
struct Neighbours {
  std::vector<std::uint64_t> first;
  Indices list;
  std::span<const std::uint32_t> of(std::uint32_t v) const {
    return {list.data() + first[v], list.data() + first[v + 1]};
  }
};
// Returns nothing if the list would hold more than `most` entries.
std::optional<Neighbours> neighbours(const RowPattern& rows, const Indices& different, std::uint64_t most);

// Position -> unknown, by approximate minimum degree.
Indices minimum_degree(const Neighbours& graph, std::uint32_t unknowns);

// Parent of each position: the first later column that its column of the factor meets (Liu); kNowhere for the last of a
// component.
Indices elimination_tree(const Neighbours& graph, const Indices& order, const Indices& position);

// Children come before their parent, and subtrees are contiguous.
Indices post_order(const Indices& parent);

}  // namespace dma::joint_system
