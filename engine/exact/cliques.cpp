#include "engine/exact/cliques.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "engine/support/text.h"

namespace dma::clique_tree {

namespace {

using NodeList = std::vector<std::uint32_t>;  // sorted
using Links = std::vector<NodeList>;          // the neighbours of every node

Links links_of(const DiscreteGraph& discrete, const Values& values) {
  Links links(discrete.nodes.size());
  for (const Scope& scope : discrete.scopes)
    for (const std::uint32_t a : discrete.nodes_of(scope))
      for (const std::uint32_t b : discrete.nodes_of(scope))
        if (a != b && values[a] == kNowhere && values[b] == kNowhere) links[a].push_back(b);
  for (NodeList& list : links) {
    std::ranges::sort(list);
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return links;
}

// Costs the shorter list times the logarithm of the longer one.
template <class Visit>
void for_common(const NodeList& a, const NodeList& b, const Visit& visit) {
  if (a.size() > b.size()) return for_common(b, a, visit);
  for (const std::uint32_t node : a)
    if (std::ranges::binary_search(b, node)) visit(node);
}

// An eliminated node, and its neighbours at that time, which become linked with each other.
struct Eliminated {
  std::uint32_t node;
  NodeList others;
};

enum class Rule { fewest_links, smallest_clique };

class Elimination {
 public:
  Elimination(const DiscreteGraph& discrete, const Values& values, Links links, Rule rule)
      : rule_(rule),
        links_(std::move(links)),
        logs_(links_.size()),
        size_(links_.size()),
        missing_(links_.size()),
        keys_(links_.size()) {
    for (std::uint32_t v = 0; v < links_.size(); ++v) logs_[v] = std::log2(discrete.nodes[v].values);
    for (std::uint32_t a = 0; a < links_.size(); ++a) {
      const auto count = static_cast<std::int64_t>(links_[a].size());
      missing_[a] += count * (count - 1) / 2;
      size_[a] = logs_[a];
      for (const std::uint32_t b : links_[a]) {
        size_[a] += logs_[b];
        if (a < b) for_common(links_[a], links_[b], [&](std::uint32_t c) { --missing_[c]; });
      }
    }
    for (std::uint32_t v = 0; v < links_.size(); ++v)
      if (values[v] == kNowhere) queue_.insert(keys_[v] = key(v));
  }

  // Returns false if a clique has more than 2^most entries; that clique is the last one.
  bool run(double most, std::vector<Eliminated>& order) {
    while (!queue_.empty()) {
      const std::uint32_t v = std::get<2>(*queue_.begin());
      queue_.erase(queue_.begin());
      order.push_back({v, links_[v]});
      if (size_[v] > most) return false;
      eliminate(v);
    }
    return true;
  }

 private:
  using Key = std::tuple<double, double, std::uint32_t>;
  Key key(std::uint32_t v) const {
    const auto missing = static_cast<double>(missing_[v]);
    return rule_ == Rule::fewest_links ? Key{missing, size_[v], v} : Key{size_[v], missing, v};
  }

  void eliminate(std::uint32_t v) {
    const NodeList others = std::move(links_[v]);
    touched_ = others;
    for (const std::uint32_t u : others) {
      std::int64_t met = 0;
      for_common(links_[u], others, [&](std::uint32_t) { ++met; });
      missing_[u] -= static_cast<std::int64_t>(links_[u].size()) - 1 - met;  // pairs of v and nodes it has no link to
      links_[u].erase(std::ranges::lower_bound(links_[u], v));
      size_[u] -= logs_[v];
    }
    for (std::size_t i = 0; i < others.size(); ++i)
      for (std::size_t j = i + 1; j < others.size(); ++j)
        if (!std::ranges::binary_search(links_[others[i]], others[j])) link(others[i], others[j]);
    std::ranges::sort(touched_);
    touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
    for (const std::uint32_t u : touched_) {
      queue_.erase(keys_[u]);
      queue_.insert(keys_[u] = key(u));
    }
  }

  void link(std::uint32_t a, std::uint32_t b) {
    std::int64_t met = 0;
    for_common(links_[a], links_[b], [&](std::uint32_t c) {
      --missing_[c];
      ++met;
      touched_.push_back(c);
    });
    for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
      missing_[from] += static_cast<std::int64_t>(links_[from].size()) - met;
      size_[from] += logs_[to];
    }
    links_[a].insert(std::ranges::lower_bound(links_[a], b), b);
    links_[b].insert(std::ranges::lower_bound(links_[b], a), a);
  }

  Rule rule_;
  Links links_;
  std::vector<double> logs_, size_;    // base-2 logs: values of a node, entries of its clique
  std::vector<std::int64_t> missing_;  // links missing between neighbours of a node
  std::vector<Key> keys_;
  std::set<Key> queue_;
  NodeList touched_;
};

// Leaves out cliques contained in another: the clique of w, if some v had w and the neighbours of w for neighbours.
std::vector<Clique> maximal_cliques(const DiscreteGraph& discrete, const std::vector<Eliminated>& order,
                                    NodeList& home) {
  const auto steps = static_cast<std::uint32_t>(order.size());
  NodeList position(discrete.nodes.size(), kNowhere), holder(steps, kNowhere), last;
  for (std::uint32_t i = 0; i < steps; ++i) position[order[i].node] = i;
  std::vector<NodeList> own;
  for (std::uint32_t i = 0; i < steps; ++i) {
    if (holder[i] == kNowhere) {
      holder[i] = static_cast<std::uint32_t>(own.size());
      own.emplace_back();
      last.push_back(i);
    }
    own[holder[i]].push_back(i);
    last[holder[i]] = i;
    std::uint32_t next = kNowhere;
    for (const std::uint32_t u : order[i].others) next = std::min(next, position[u]);
    if (next != kNowhere && holder[next] == kNowhere && order[next].others.size() + 1 == order[i].others.size())
      holder[next] = holder[i];
  }
  NodeList sorted(own.size());
  for (std::uint32_t c = 0; c < sorted.size(); ++c) sorted[c] = c;
  std::ranges::sort(sorted, {}, [&](std::uint32_t c) { return last[c]; });
  std::vector<Clique> cliques;
  home.assign(discrete.nodes.size(), kNowhere);
  for (const std::uint32_t c : sorted) {
    Clique clique;
    const Eliminated& first = order[own[c][0]];
    clique.nodes = first.others;
    clique.nodes.push_back(first.node);
    std::ranges::sort(clique.nodes, std::greater(), [&](std::uint32_t v) { return position[v]; });
    clique.shared = static_cast<std::uint32_t>(clique.nodes.size() - own[c].size());
    for (const std::uint32_t i : own[c]) home[order[i].node] = static_cast<std::uint32_t>(cliques.size());
    cliques.push_back(std::move(clique));
  }
  for (Clique& clique : cliques)
    if (clique.shared > 0) clique.parent = home[clique.nodes[clique.shared - 1]];
  return cliques;
}

double entries_of(const DiscreteGraph& discrete, std::span<const std::uint32_t> nodes) {
  double product = 1;
  for (const std::uint32_t v : nodes) product *= discrete.nodes[v].values;
  return product;
}

// Bytes for the tables and both messages of every clique.
double bytes_of(const DiscreteGraph& discrete, const std::vector<Clique>& cliques) {
  double numbers = 0;
  for (const Clique& c : cliques)
    numbers += entries_of(discrete, c.nodes) + 2 * entries_of(discrete, std::span(c.nodes).first(c.shared));
  return numbers * sizeof(double);
}

[[noreturn]] void refuse(const DiscreteGraph& discrete, const PlanData& plan, NodeList widest, double bytes,
                         double limit) {
  constexpr std::size_t kNamed = 8;
  const double entries = entries_of(discrete, widest);
  std::ranges::sort(widest);
  std::string names;
  for (std::size_t i = 0; i < std::min(kNamed, widest.size()); ++i)
    names += fmt::format("{}'{}'", i == 0 ? "" : ", ", plan.element_name(discrete.nodes[widest[i]].element));
  if (widest.size() > kNamed) names += fmt::format(" and {} more", widest.size() - kNamed);
  fail("exact: the widest clique joins {} variables ({}) in {:.3g} entries; {:.3g} GB are needed, more than the limit "
       "of {:.3g} GB; sweep with a schedule, such as flooding(), which is approximate, bound the evidence by "
       "tree_reweighted(), or raise exact({{.memory = ...}})",
       widest.size(), names, entries, bytes / 1e9, limit / 1e9);
}

// The unknown nodes of a factor are pairwise linked; the links are counted before they are made.
void check_scopes(const DiscreteGraph& discrete, const Values& values, const PlanData& plan, double limit) {
  constexpr double kBytesPerLink = 16;  // both ends, and a copy of them
  double links = 0;
  NodeList unknown;
  for (const Scope& scope : discrete.scopes) {
    unknown.clear();
    for (const std::uint32_t v : discrete.nodes_of(scope))
      if (values[v] == kNowhere) unknown.push_back(v);
    const auto count = static_cast<double>(unknown.size());
    links += 0.5 * count * (count - 1);
    const double bytes = std::max(entries_of(discrete, unknown) * sizeof(double), kBytesPerLink * links);
    if (bytes > limit) refuse(discrete, plan, unknown, bytes, limit);
  }
}

}  // namespace

CliqueTree::CliqueTree(const DiscreteGraph& discrete, const Values& values, const PlanData& plan, std::uint64_t limit) {
  check_scopes(discrete, values, plan, static_cast<double>(limit));
  const Links links = links_of(discrete, values);
  const double most = std::log2(static_cast<double>(limit) / sizeof(double));
  double bytes = HUGE_VAL;
  NodeList too_wide;
  for (const Rule rule : {Rule::fewest_links, Rule::smallest_clique}) {
    std::vector<Eliminated> order;
    if (!Elimination(discrete, values, links, rule).run(most, order)) {
      NodeList nodes = order.back().others;
      nodes.push_back(order.back().node);
      if (too_wide.empty() || entries_of(discrete, nodes) < entries_of(discrete, too_wide)) too_wide = std::move(nodes);
      continue;
    }
    NodeList homes;
    std::vector<Clique> found = maximal_cliques(discrete, order, homes);
    const double needed = bytes_of(discrete, found);
    if (needed < bytes) {
      bytes = needed;
      cliques = std::move(found);
      home = std::move(homes);
    }
  }
  const auto size_of = [&](const Clique& c) { return entries_of(discrete, c.nodes); };
  if (bytes == HUGE_VAL) {
    const double least = entries_of(discrete, too_wide) * sizeof(double);
    refuse(discrete, plan, std::move(too_wide), least, static_cast<double>(limit));
  }
  if (bytes > static_cast<double>(limit))
    refuse(discrete, plan, std::ranges::max_element(cliques, {}, size_of)->nodes, bytes, static_cast<double>(limit));
  for (Clique& c : cliques) {
    c.entries = static_cast<std::size_t>(size_of(c));
    c.shared_entries = static_cast<std::size_t>(entries_of(discrete, std::span(c.nodes).first(c.shared)));
  }
  for (std::uint32_t i = 0; i < cliques.size(); ++i)
    if (widest == kNowhere || cliques[i].entries > cliques[widest].entries) widest = i;
  for (std::uint32_t s = 0; s < discrete.scopes.size(); ++s) {
    // Children come before parents: the clique of the node eliminated first contains them all.
    std::uint32_t first = kNowhere;
    for (const std::uint32_t v : discrete.nodes_of(discrete.scopes[s])) first = std::min(first, home[v]);
    (first == kNowhere ? known : cliques[first].scopes).push_back(s);
  }
}

std::string CliqueTree::text() const {
  if (cliques.empty()) return "nothing is unknown";
  const Clique& c = cliques[widest];
  return fmt::format("{} clique{}, the widest of {} variable{} with {} entries", cliques.size(),
                     cliques.size() == 1 ? "" : "s", c.nodes.size(), c.nodes.size() == 1 ? "" : "s", c.entries);
}

}  // namespace dma::clique_tree
