// The part of System that orders its functions, and solves some of them for the noise they add.
#include <algorithm>
#include <tuple>

#include "engine/compile/plan_data.h"
#include "engine/joint/arguments.h"
#include "engine/joint/system.h"
#include "engine/kinds/kind.h"
#include "engine/support/text.h"

namespace dma::joint_system {

namespace {

// Shorter chains of functions are not worth solving for their noise.
constexpr std::uint32_t kDeep = 16;

// One slot of a function.
struct Node {
  std::uint32_t group, slot;
  std::uint32_t inputs = 0, outputs = 0;
  std::size_t first = 0;  // index of its first input element; outputs follow the inputs
  std::uint32_t waits = 0, level = 0, solved_for = kNowhere;
};

class Functions {
 public:
  explicit Functions(const PlanData& plan) : plan_(plan) {
    std::vector<std::uint32_t> slot(1);
    for (std::uint32_t g = 0; g < plan.groups.size(); ++g) {
      const Group& group = plan.groups[g];
      if (!is_function(*group.kind)) continue;
      for (slot[0] = 0; slot[0] < group.slots; ++slot[0]) {
        Node& node = nodes.emplace_back(Node{.group = g, .slot = slot[0], .first = elements_.size()});
        node.inputs = list_arguments(group, is_input, slot, elements_);
        node.outputs = list_arguments(group, is_output, slot, elements_);
      }
    }
  }

  std::span<std::uint32_t> inputs(const Node& node) { return {elements_.data() + node.first, node.inputs}; }
  std::span<std::uint32_t> outputs(const Node& node) {
    return {elements_.data() + node.first + node.inputs, node.outputs};
  }

  void order();
  bool are_linear(const std::vector<Role>& role);
  bool solve_for_noise(std::vector<Role>& role);
  std::uint32_t depth() const { return nodes.empty() ? 0 : std::ranges::max(nodes, {}, &Node::level).level; }

  std::vector<Node> nodes;
  std::vector<std::uint32_t> ready;  // nodes, each after those it reads from

 private:
  const PlanData& plan_;
  std::vector<std::uint32_t> elements_;
};

// Kahn's algorithm.
void Functions::order() {
  std::vector<std::uint32_t> node_of(plan_.elements, kNowhere);  // node that computes each derived element
  for (std::uint32_t n = 0; n < nodes.size(); ++n) {
    nodes[n].waits = nodes[n].level = 0;
    for (const std::uint32_t e : outputs(nodes[n])) node_of[e] = n;
  }
  // Successors of each node.
  std::vector<std::uint32_t> first(nodes.size() + 1), waiting;
  const auto for_inputs = [&](const Node& node, const auto& visit) {
    for (const std::uint32_t e : inputs(node))
      if (node_of[e] != kNowhere) visit(node_of[e]);
  };
  for (Node& node : nodes) for_inputs(node, [&](std::uint32_t m) { ++first[m + 1], ++node.waits; });
  std::partial_sum(first.begin(), first.end(), first.begin());
  waiting.resize(first.back());
  auto next = first;
  for (std::uint32_t n = 0; n < nodes.size(); ++n)
    for_inputs(nodes[n], [&](std::uint32_t m) { waiting[next[m]++] = n; });
  ready.clear();
  for (std::uint32_t n = 0; n < nodes.size(); ++n)
    if (nodes[n].waits == 0) {
      nodes[n].level = 1;
      ready.push_back(n);
    }
  for (std::size_t k = 0; k < ready.size(); ++k)
    for (std::uint32_t i = first[ready[k]]; i < first[ready[k] + 1]; ++i) {
      Node& node = nodes[waiting[i]];
      node.level = std::max(node.level, nodes[ready[k]].level + 1);
      if (--node.waits == 0) ready.push_back(waiting[i]);
    }
  if (ready.size() < nodes.size()) {
    const auto stuck = std::ranges::find_if(nodes, [](const Node& n) { return n.waits > 0; });
    fail("joint: factor '{}' lies on a directed cycle of deterministic factors; put gaussian_noise somewhere on it",
         plan_.slot_name(stuck->group, stuck->slot));
  }
}

bool Functions::are_linear(const std::vector<Role>& role) {
  std::vector<std::uint8_t> is_known, free;
  for (const Role r : role) is_known.push_back(r == Role::known);
  for (const std::uint32_t n : ready) {
    free.clear();
    for (const std::uint32_t e : inputs(nodes[n])) free.push_back(!is_known[e]);
    const LinearIn& linear_in = plan_.groups[nodes[n].group].kind->linear_in();
    const bool is_any_free = std::ranges::find(free, 1) != free.end();
    if (is_any_free && !(linear_in && linear_in(free))) return false;
    for (const std::uint32_t e : outputs(nodes[n])) is_known[e] |= !is_any_free;
  }
  return true;
}

// A root with one function and one Gaussian prior as its only factors becomes derived: it follows from the function's
// output, and so on through outputs that no other factor reads. Nodes in a cycle have no waiting readers: their only
// reader is solved for them.
bool Functions::solve_for_noise(std::vector<Role>& role) {
  std::vector<std::uint32_t> uses(plan_.elements), reader(plan_.elements, kNowhere), priors(plan_.elements),
      others(plan_.elements), path;
  for (std::uint32_t n = 0; n < nodes.size(); ++n)
    for (const std::uint32_t e : inputs(nodes[n])) {
      ++uses[e];
      reader[e] = n;
    }
  for (const Group& group : plan_.groups) {
    if (is_function(*group.kind)) continue;
    path.clear();
    const std::uint32_t count = list_arguments(group, is_any, all_slots(group.slots), path);
    for (const std::uint32_t e : path) ++(count == 1 && is_density(*group.kind) ? priors : others)[e];
  }
  for (const auto& v : plan_.variables)
    for (std::uint32_t i = 0; v.shared && i < v.size; ++i) ++others[v.first_element + i];
  bool is_any_solved = false;
  for (std::uint32_t root = 0; root < plan_.elements; ++root) {
    if (role[root] != Role::root || uses[root] != 1 || priors[root] != 1 || others[root] != 0) continue;
    path.clear();
    std::uint32_t e = root;
    do {
      path.push_back(e);
      e = outputs(nodes[reader[e]])[0];
    } while (uses[e] == 1 && priors[e] + others[e] == 0);
    const bool is_free = std::ranges::all_of(path, [&](std::uint32_t p) {
      return nodes[reader[p]].solved_for == kNowhere && nodes[reader[p]].outputs == 1;
    });
    if (!is_free || uses[e] + priors[e] + others[e] == 0) continue;
    for (const std::uint32_t p : path) {
      Node& node = nodes[reader[p]];
      const auto at = std::ranges::find(inputs(node), p);
      node.solved_for = static_cast<std::uint32_t>(at - inputs(node).begin());
      std::swap(*at, outputs(node)[0]);
      role[p] = Role::derived;
    }
    role[e] = Role::root;
    is_any_solved = true;
  }
  return is_any_solved;
}

}  // namespace

void System::form_batches(const PlanData& plan, bool may_solve) {
  Functions functions(plan);
  functions.order();
  if (may_solve && functions.depth() > kDeep && functions.are_linear(role) && functions.solve_for_noise(role)) {
    is_solved_for_noise = true;
    functions.order();
  }
  const std::vector<Node>& nodes = functions.nodes;
  std::vector<std::uint32_t>& ready = functions.ready;
  const auto batch_of = [](const Node& node) { return std::tuple(node.level, node.group, node.solved_for); };
  std::ranges::sort(ready, {},
                    [&](std::uint32_t n) { return std::tuple_cat(batch_of(nodes[n]), std::tuple(nodes[n].slot)); });
  for (std::size_t k = 0; k < ready.size();) {
    const Node& head = nodes[ready[k]];
    Batch& batch = batches.emplace_back();
    batch.group = head.group;
    batch.solved_for = head.solved_for;
    for (; k < ready.size() && batch_of(nodes[ready[k]]) == batch_of(head); ++k)
      batch.slot.push_back(nodes[ready[k]].slot);
    const Group& group = plan.groups[head.group];
    batch.slots = static_cast<std::uint32_t>(batch.slot.size());
    batch.inputs = list_arguments(group, is_input, batch.slot, batch.arguments);
    batch.outputs = list_arguments(group, is_output, batch.slot, batch.results);
    if (const auto& size = group.kind->vector_size()) {
      batch.views = batch.outputs;
      if (size->inputs != 0 && (size->inputs != batch.inputs || size->outputs != batch.outputs))
        fail("joint: factor '{}' connects {} inputs and {} outputs, but the function of kind '{}' has {} and {}",
             plan.slot_name(head.group, head.slot), batch.inputs, batch.outputs, group.kind->name(), size->inputs,
             size->outputs);
    }
    if (batch.solved_for != kNowhere)
      std::ranges::swap_ranges(
          batch.results, std::span(batch.arguments).subspan(std::size_t{batch.solved_for} * batch.slots, batch.slots));
    if (batch.slots == group.slots) batch.slot.clear();
    batch.gains = gain_count;
    gain_count += std::uint64_t{batch.inputs} * batch.views * batch.slots;
    for (const std::uint32_t e : batch.results) level[e] = head.level;
  }
  // Functions of known elements are known; edges of the others.
  first_edge.assign(plan.elements + 1, 0);
  feeds_function.assign(plan.elements, 0);
  std::vector<std::uint8_t> free;
  for (const Batch& batch : batches)
    for (std::uint32_t s = 0; s < batch.slots; ++s) {
      free.clear();
      for (std::uint32_t i = 0; i < batch.inputs; ++i) {
        const std::uint32_t e = batch.arguments[i * batch.slots + s];
        free.push_back(role[e] != Role::known);
        feeds_function[e] = 1;
      }
      const auto count = static_cast<std::uint32_t>(std::ranges::count(free, 1));
      const LinearIn& linear_in = plan.groups[batch.group].kind->linear_in();
      if (count > 0 && !(linear_in && linear_in(free))) has_constant_gains = false;
      for (std::uint32_t o = 0; o < batch.outputs; ++o) {
        const std::uint32_t e = batch.results[o * batch.slots + s];
        if (count == 0) role[e] = Role::known;
        first_edge[e + 1] = count;
      }
    }
  std::partial_sum(first_edge.begin(), first_edge.end(), first_edge.begin());
  edges.resize(first_edge.back());
  for (const Batch& batch : batches)
    for (std::uint32_t s = 0; s < batch.slots; ++s)
      for (std::uint32_t o = 0; o < batch.outputs; ++o) {
        std::uint32_t at = first_edge[batch.results[o * batch.slots + s]];
        const std::uint64_t gains = batch.gains + (batch.views > 1 ? std::uint64_t{o} * batch.inputs * batch.slots : 0);
        for (std::uint32_t i = 0; i < batch.inputs; ++i)
          if (const std::uint32_t e = batch.arguments[i * batch.slots + s]; role[e] != Role::known)
            edges[at++] = {e, static_cast<std::uint32_t>(gains + i * batch.slots + s)};
      }
}

}  // namespace dma::joint_system
