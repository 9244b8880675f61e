#include "engine/compile/loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/support/text.h"

namespace dma {

Forest::Forest(std::size_t nodes) : leader_(nodes), size_(nodes, 1), parent_(nodes) {
  std::iota(leader_.begin(), leader_.end(), 0u);
  std::iota(parent_.begin(), parent_.end(), 0u);
}

std::uint32_t Forest::leader(std::uint32_t node) {
  while (leader_[node] != node) node = leader_[node] = leader_[leader_[node]];
  return node;
}

bool Forest::join(std::uint32_t a, std::uint32_t b) {
  std::uint32_t x = leader(a), y = leader(b);
  if (x == y) return false;
  if (size_[x] > size_[y]) std::swap(x, y), std::swap(a, b);
  leader_[x] = y;
  size_[y] += size_[x];
  // The smaller tree hangs from a: the parents between a and its root change places with their children.
  for (std::uint32_t node = a, above = b; above != node;) {
    const std::uint32_t next = parent_[node];
    parent_[node] = above;
    if (next == node) break;
    above = std::exchange(node, next);
  }
  return true;
}

std::vector<std::uint32_t> Forest::path(std::uint32_t a, std::uint32_t b) const {
  const auto to_root = [&](std::uint32_t node) {
    std::vector<std::uint32_t> nodes{node};
    while (parent_[node] != node) nodes.push_back(node = parent_[node]);
    return nodes;
  };
  std::vector<std::uint32_t> up = to_root(a), down = to_root(b);
  std::uint32_t meeting = up.back();
  while (!up.empty() && !down.empty() && up.back() == down.back()) meeting = up.back(), up.pop_back(), down.pop_back();
  up.push_back(meeting);
  up.insert(up.end(), down.rbegin(), down.rend());
  return up;
}

namespace {

constexpr std::size_t kMostNamed = 6;

const Resolved::Variable& variable_at(const Resolved& graph, const Resolved::Port& port, std::uint32_t element) {
  if (port.variables.size() == 1) return graph.variables[port.variables[0].value];
  return *(std::ranges::upper_bound(graph.variables, element, {}, &Resolved::Variable::first_element) - 1);
}

std::string names_of(const Resolved& graph, const std::vector<std::uint32_t>& loop) {
  std::vector<std::string> names;
  for (const std::uint32_t node : loop) {
    if (node >= graph.elements) continue;  // a slot of a factor
    if (names.size() == kMostNamed) {
      names.emplace_back("...");
      break;
    }
    const auto& v = *(std::ranges::upper_bound(graph.variables, node, {}, &Resolved::Variable::first_element) - 1);
    const std::uint32_t element = (node - v.first_element) / v.family.components();
    names.push_back(v.elements() == 1 ? v.name.text() : fmt::format("{}[{}]", v.name, element));
  }
  return joined(names);
}

}  // namespace

std::string find_loop(const Resolved& graph) {
  std::size_t slots = 0;
  for (const auto& factor : graph.factors) slots += factor.slots;
  Forest forest(graph.elements + slots);
  std::vector<bool> is_whole(graph.variables.size());  // its elements were joined into one
  std::uint32_t node = graph.elements;
  for (const auto& factor : graph.factors)
    for (std::uint32_t s = 0; s < factor.slots; ++s, ++node)
      for (const auto& port : factor.ports)
        for (std::uint32_t t = 0; t < port.terms;) {
          const std::uint32_t e = port.elements(s * port.terms + t);
          const Resolved::Variable& v = variable_at(graph, port, e);
          t += v.family.components();
          if (v.cuts) continue;
          const auto number = static_cast<std::size_t>(&v - graph.variables.data());
          if (port.elements.is_given && !is_whole[number]) {
            is_whole[number] = true;
            for (std::uint32_t other = v.first_element; other < v.first_element + v.size;
                 other += v.family.components())
              if (other != e && !forest.join(e, other)) return names_of(graph, forest.path(e, other));
          }
          if (!forest.join(e, node)) return names_of(graph, forest.path(e, node));
        }
  return {};
}

}  // namespace dma
