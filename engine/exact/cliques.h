// The cliques that appear when the unknown nodes of a discrete graph are eliminated one by one, and the tree they form.
// The elimination order minimises either the links added (min-fill) or the clique size, whichever gives fewer entries
// in all.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/compile/plan_data.h"
#include "engine/exact/discrete.h"

namespace dma::clique_tree {

struct Clique {
  // Nodes in reverse elimination order, the same order in all cliques: those shared with the parent come before its
  // own.
  std::vector<std::uint32_t> nodes;
  std::uint32_t shared = 0;
  std::uint32_t parent = kNowhere;  // a later clique
  std::size_t entries = 1, shared_entries = 1;
  std::vector<std::uint32_t> scopes;  // factors multiplied into it
};

struct CliqueTree {
  // Counts before it allocates: an Error if the tables exceed `bytes`; it names the width and the variables of the
  // widest clique.
  CliqueTree(const DiscreteGraph& discrete, const Values& values, const PlanData& plan, std::uint64_t bytes);

  std::vector<Clique> cliques;       // children before parents
  std::vector<std::uint32_t> home;   // by node: the clique that owns it; kNowhere if its value is known
  std::vector<std::uint32_t> known;  // scopes whose nodes are all known
  std::uint32_t widest = kNowhere;   // clique with the most entries
  std::string text() const;          // "27 cliques, the widest of 5 variables with 1024 entries"
};

}  // namespace dma::clique_tree
