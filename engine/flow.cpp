#include "engine/flow.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/connected_components.hpp>
#include <boost/graph/depth_first_search.hpp>
#include <boost/graph/topological_sort.hpp>
#include <map>
#include <numeric>
#include <tuple>

#include "engine/error.h"

namespace dma {

namespace {

// Bipartite and directed by data flow; vertices: the variables, then the factors.
using Directed = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;
using Undirected = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS>;

template <class AnyGraph>
AnyGraph bipartite(const Resolved& graph) {
  AnyGraph g(graph.variables.size() + graph.factors.size());
  for (std::size_t f = 0; f < graph.factors.size(); ++f) {
    const auto& factor = graph.factors[f];
    const std::size_t vertex = graph.variables.size() + f;
    for (std::size_t p = 0; p < factor.ports.size(); ++p)
      for (const VariableId v : factor.ports[p].variables)
        if (factor.kind->ports()[p].output) boost::add_edge(vertex, v.value, g);
        else boost::add_edge(v.value, vertex, g);
  }
  return g;
}

// Remembers the path of the search so that the first back edge yields the cycle it closes.
struct CycleFinder : boost::dfs_visitor<> {
  CycleFinder(std::vector<std::size_t>& path, std::vector<std::size_t>& cycle) : path_(path), cycle_(cycle) {}
  template <class V, class G>
  void discover_vertex(V v, const G&) { path_.push_back(v); }
  template <class V, class G>
  void finish_vertex(V, const G&) { path_.pop_back(); }
  template <class E, class G>
  void back_edge(E e, const G& g) {
    if (!cycle_.empty()) return;
    cycle_.assign(std::ranges::find(path_, boost::target(e, g)), path_.end());
    cycle_.push_back(boost::target(e, g));
  }
  std::vector<std::size_t>& path_;
  std::vector<std::size_t>& cycle_;
};

[[noreturn]] void fail_on_cycle(const Resolved& graph, const Directed& g) {
  std::vector<std::size_t> path, cycle;
  boost::depth_first_search(g, boost::visitor(CycleFinder(path, cycle)));
  std::string text;
  for (const std::size_t v : cycle) {
    const bool is_variable = v < graph.variables.size();
    const auto& label = is_variable ? graph.variables[v].name : graph.factors[v - graph.variables.size()].name;
    text += fmt::format("{}{}", text.empty() ? "" : " -> ", label);
  }
  fail("the data flow has a cycle: {}; forward_backward needs none, use flooding, sequential or residual", text);
}

// What must be equal for two factors' messages to be computed by one kernel call; factors of the model and of an example
// are told apart because a learner treats their messages differently.
auto class_key(const Resolved& graph, const Resolved::Factor& factor) {
  std::vector<const void*> messages;
  std::vector<std::uint32_t> shape;
  for (const auto& port : factor.ports) messages.push_back(port.message), shape.push_back(port.terms);
  for (const auto& parameter : factor.parameters) shape.push_back(parameter.terms);
  return std::tuple(factor.kind->name(), messages, shape, factor.slots == 1, connects_shared_alone(graph, factor));
}

}  // namespace

Flow::Flow(const Resolved& graph) : graph_(&graph) {
  std::map<decltype(class_key(graph, graph.factors[0])), std::uint32_t> classes;
  for (const auto& factor : graph.factors) {
    std::uint32_t inputs = 0, outputs = 0, targets = 0;
    for (std::size_t p = 0; p < factor.ports.size(); ++p) {
      (factor.kind->ports()[p].output ? outputs : inputs) |= 1u << p;
      if (factor.ports[p].message != nullptr) targets |= 1u << p;
    }
    input_ports_.push_back(inputs);
    output_ports_.push_back(outputs);
    target_ports_.push_back(targets);
    class_.push_back(classes.emplace(class_key(graph, factor), static_cast<std::uint32_t>(classes.size())).first->second);
  }
}

std::uint32_t Flow::reads(std::size_t factor, std::size_t port) const {
  std::uint32_t mask = 0;
  if (const MessageFunction* message = graph_->factors[factor].ports[port].message)
    for (const std::size_t p : message->reads) mask |= 1u << p;
  return mask;
}

std::uint32_t Flow::reads(std::size_t factor) const {
  std::uint32_t mask = 0;
  for (std::size_t p = 0; p < graph_->factors[factor].ports.size(); ++p) mask |= reads(factor, p);
  return mask;
}

std::vector<std::uint32_t> Flow::by_class() const {
  std::vector<std::uint32_t> order(factors());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t f) { return class_[f]; });
  return order;
}

bool Flow::is_acyclic() const {
  std::vector<std::size_t> path, cycle;
  boost::depth_first_search(bipartite<Directed>(*graph_), boost::visitor(CycleFinder(path, cycle)));
  return cycle.empty();
}

std::vector<std::vector<std::uint32_t>> Flow::levels() const {
  const auto g = bipartite<Directed>(*graph_);
  std::vector<std::size_t> reversed;
  try {
    boost::topological_sort(g, std::back_inserter(reversed));
  } catch (const boost::not_a_dag&) {
    fail_on_cycle(*graph_, g);
  }
  const std::size_t variables = graph_->variables.size();
  std::vector<std::uint32_t> depth(boost::num_vertices(g));
  std::vector<std::vector<std::uint32_t>> levels;
  for (auto v = reversed.rbegin(); v != reversed.rend(); ++v) {
    for (const auto& edge : boost::make_iterator_range(boost::out_edges(*v, g))) {
      const std::size_t next = boost::target(edge, g);
      depth[next] = std::max(depth[next], depth[*v] + (*v < variables ? 1 : 0));
    }
    if (*v < variables) continue;
    if (levels.size() <= depth[*v]) levels.resize(depth[*v] + 1);
    levels[depth[*v]].push_back(static_cast<std::uint32_t>(*v - variables));
  }
  for (auto& level : levels)
    std::ranges::sort(level, {}, [&](std::uint32_t f) { return std::pair(class_[f], f); });
  return levels;
}

std::size_t Flow::connected_components() const {
  const auto g = bipartite<Undirected>(*graph_);
  std::vector<std::size_t> component(boost::num_vertices(g));
  return static_cast<std::size_t>(boost::connected_components(g, component.data()));
}

}  // namespace dma
