// The cliques that appear when the unknown nodes of a network are eliminated one by one, and the tree they form. Nodes
// are eliminated by the fewest links that elimination adds (min-fill), or by the smallest clique it makes, whichever
// gives fewer entries in all.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/exact/network.h"

namespace dma::clique_tree {

struct Clique {
  // The last eliminated first: those it shares with its parent stand before its own, everywhere in the same order.
  std::vector<std::uint32_t> nodes;
  std::uint32_t shared = 0;
  std::uint32_t parent = kNone;  // a later clique
  std::size_t entries = 1, shared_entries = 1;
  std::vector<std::uint32_t> scopes;  // the factors that are multiplied into it
};

struct CliqueTree {
  // Counts before it allocates: more bytes than these are an Error with the width and the variables of the widest.
  CliqueTree(const Network& network, const Values& values, const PlanData& plan, std::uint64_t bytes);

  std::vector<Clique> cliques;       // children before parents
  std::vector<std::uint32_t> home;   // of every node: the clique that it is an own node of; kNone if it is known
  std::vector<std::uint32_t> known;  // scopes all of whose nodes are known
  std::uint32_t widest = kNone;      // clique of most entries
  std::string text() const;          // "27 cliques, the widest of 5 variables with 1024 entries"
};

}  // namespace dma::clique_tree
