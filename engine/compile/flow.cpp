#include "engine/compile/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/depth_first_search.hpp>
#include <boost/graph/strong_components.hpp>
#include <boost/graph/topological_sort.hpp>
#include <boost/range/iterator_range.hpp>
#include <limits>
#include <map>
#include <numeric>

#include "engine/compile/chains.h"
#include "engine/compile/loops.h"
#include "engine/compile/recurrence.h"
#include "engine/compile/resolve.h"
#include "engine/support/text.h"

namespace dma {

namespace {

// Bipartite and directed by data flow; vertices: the variables, then the factors.
using Directed = boost::compressed_sparse_row_graph<boost::directedS>;

std::size_t vertices(const Resolved& graph) { return graph.variables.size() + graph.factors.size(); }

std::vector<std::pair<std::size_t, std::size_t>> edges_of(const Resolved& graph) {
  std::vector<std::pair<std::size_t, std::size_t>> edges;
  for (std::size_t f = 0; f < graph.factors.size(); ++f) {
    const auto& factor = graph.factors[f];
    const std::size_t vertex = graph.variables.size() + f;
    for (std::size_t p = 0; p < factor.ports.size(); ++p)
      for (const VariableId v : factor.ports[p].variables)
        if (factor.kind->ports()[p].output) edges.emplace_back(vertex, v.value);
        else edges.emplace_back(v.value, vertex);
  }
  return edges;
}

Directed bipartite(const Resolved& graph) {
  const auto edges = edges_of(graph);
  return Directed(boost::edges_are_unsorted_multi_pass, edges.begin(), edges.end(), vertices(graph));
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
    text += fmt::format("{}{}", text.empty() ? "" : " -> ",
                        is_variable ? graph.variables[v].name : graph.factors[v - graph.variables.size()].name());
  }
  fail("the data flow has a cycle: {}; forward_backward needs none, use flooding, sequential or residual", text);
}

// All vertices, each after those it feeds.
std::vector<std::size_t> reversed_order(const Resolved& graph, const Directed& g) {
  std::vector<std::size_t> reversed;
  reversed.reserve(boost::num_vertices(g));
  try {
    boost::topological_sort(g, std::back_inserter(reversed));
  } catch (const boost::not_a_dag&) {
    fail_on_cycle(graph, g);
  }
  return reversed;
}

// The components of the variables of a port with several terms; a port of one term has one component.
std::uintptr_t components_of(const Resolved& graph, const Resolved::Port& port) {
  return port.terms == 1 ? 1 : graph.variables[port.variables[0].value].family.components();
}

// Calls visit(number) for the numbers that must be equal for one kernel call to serve two factors. Factors of the model
// and of an example differ, because a learner treats their messages differently.
template <class Visit>
void for_each_trait(const Resolved& graph, const Resolved::Factor& factor, const Visit& visit) {
  visit(reinterpret_cast<std::uintptr_t>(factor.kind));
  visit((factor.slots == 1 ? 0u : 1u) + (connects_shared_alone(graph, factor) ? 2u : 0u));
  for (const auto& port : factor.ports)
    visit(reinterpret_cast<std::uintptr_t>(port.message)), visit(port.terms | components_of(graph, port) << 32);
  for (const auto& parameter : *factor.parameters) visit(parameter.terms);
  if (factor.damping == kDampedBySchedule) return;
  const auto bits = std::bit_cast<std::uint64_t>(factor.damping);
  visit(static_cast<std::uint32_t>(bits)), visit(static_cast<std::uint32_t>(bits >> 32));
}

// Numbers factors by class: one look into a table per factor, without allocation.
class Classes {
 public:
  explicit Classes(const Resolved& graph) : graph_(graph) {}

  std::uint32_t of(const Resolved::Factor& factor) {
    traits_.clear();
    for_each_trait(graph_, factor, [&](std::uintptr_t trait) { traits_.push_back(trait); });
    if (!followers_.empty() && traits_ == followers_[last_]->first) return last_ = followers_[last_]->second;
    const auto found = numbers_.emplace(traits_, static_cast<std::uint32_t>(numbers_.size())).first;
    if (!followers_.empty()) followers_[last_] = found;
    if (found->second == followers_.size()) followers_.push_back(found);
    return last_ = found->second;
  }

 private:
  const Resolved& graph_;
  std::vector<std::uintptr_t> traits_;
  using Numbers = std::map<std::vector<std::uintptr_t>, std::uint32_t>;
  Numbers numbers_;
  // By class: the class that last followed it. Graphs are built in loops, where it most often follows again.
  std::vector<Numbers::const_iterator> followers_;
  std::uint32_t last_ = 0;
};

// An exact message reads a port of several components only for the other variables there; with one variable, not at
// all.
bool reads_itself_for_nothing(const Resolved& graph, const Resolved::Port& port) {
  return port.message->method == kExact && port.terms > 1 && port.terms == components_of(graph, port);
}

// By target: the ports its message reads.
PortSets reads_of(const Resolved& graph, const Resolved::Factor& factor) {
  PortSets reads{};
  for (std::size_t p = 0; p < factor.ports.size(); ++p)
    if (const MessageFunction* message = factor.ports[p].message)
      for (const std::size_t q : message->reads)
        if (q != p || !reads_itself_for_nothing(graph, factor.ports[p])) reads[p].add(q);
  return reads;
}

}  // namespace

std::size_t Flow::factors() const { return graph_->factors.size(); }
std::string Flow::name(std::size_t factor) const { return graph_->factors[factor].name(); }
const Kind& Flow::kind(std::size_t factor) const { return *graph_->factors[factor].kind; }
const std::string& Flow::port_name(std::size_t factor, std::size_t port) const {
  return kind(factor).ports()[port].name;
}

Flow::Flow(const Resolved& graph) : graph_(&graph) {
  Classes classes(graph);
  const std::size_t count = graph.factors.size();
  for (auto* const ports : {&input_ports_, &output_ports_, &target_ports_}) ports->reserve(count);
  class_.reserve(count);
  for (const auto& factor : graph.factors) {
    PortSet inputs, outputs, targets;
    std::uint32_t last_input = 0, first_output = std::numeric_limits<std::uint32_t>::max();
    for (std::size_t p = 0; p < factor.ports.size(); ++p) {
      const bool is_output = factor.kind->ports()[p].output;
      (is_output ? outputs : inputs).add(p);
      if (factor.ports[p].message != nullptr) targets.add(p);
      for (const VariableId v : factor.ports[p].variables)
        if (is_output) first_output = std::min(first_output, v.value + 1);
        else last_input = std::max(last_input, v.value + 1);
    }
    ports_ += factor.ports.size();
    leads_to_later_variables_ &= last_input < first_output;
    input_ports_.push_back(inputs);
    output_ports_.push_back(outputs);
    target_ports_.push_back(targets);
    class_.push_back(classes.of(factor));
    if (class_.back() == class_reads_.size()) class_reads_.push_back(reads_of(graph, factor));
  }
}

PortSet Flow::reads(std::size_t factor) const {
  PortSet all;
  for (const PortSet of_port : class_reads_[class_[factor]]) all |= of_port;
  return all;
}

std::vector<std::uint32_t> Flow::by_class() const {
  std::vector<std::uint32_t> order(factors());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t f) { return class_[f]; });
  return order;
}

bool Flow::is_acyclic() const {
  std::vector<std::size_t> path, cycle;
  boost::depth_first_search(bipartite(*graph_), boost::visitor(CycleFinder(path, cycle)));
  return cycle.empty();
}

bool Flow::has_loops() const { return !find_loop(*graph_).empty(); }

void Flow::refuse_cycles() const {
  if (leads_to_later_variables_ || flows_along_chains(*graph_) || is_acyclic() || !has_loops()) return;
  fail_on_cycle(*graph_, bipartite(*graph_));
}

std::vector<std::vector<std::uint32_t>> Flow::levels() const {
  const auto g = bipartite(*graph_);
  const std::vector<std::size_t> reversed = reversed_order(*graph_, g);
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

// Defined here because Boost.Graph is included by this file alone.
std::vector<std::vector<std::uint32_t>> strong_parts(std::uint32_t values, std::span<const Need> needs) {
  std::vector<std::pair<std::size_t, std::size_t>> edges;
  for (const Need& need : needs) edges.emplace_back(need.of, need.on);
  const Directed graph(boost::edges_are_unsorted_multi_pass, edges.begin(), edges.end(), values);
  std::vector<std::size_t> part_of(values);
  std::vector<std::vector<std::uint32_t>> parts(boost::strong_components(  // each after those it has edges to
      graph, boost::make_iterator_property_map(part_of.begin(), boost::get(boost::vertex_index, graph))));
  for (std::uint32_t v = 0; v < values; ++v) parts[part_of[v]].push_back(v);
  return parts;
}

}  // namespace dma
