// The order of messages on a graph without loops: Flow::exact_order.
#include <algorithm>
#include <bit>
#include <deque>
#include <map>
#include <numeric>

#include "engine/compile/chains.h"
#include "engine/compile/schedule.h"

namespace dma {

namespace {

// Finds complete arrivals by counting the messages still missing at every variable. The arrival at an edge (port,
// variable) is complete once all other edges of the variable have sent; if several slots of the port share an element,
// its own message counts among the others.
class Readiness {
 public:
  Readiness(const Resolved& graph, std::size_t ports) : graph_(graph), missing_(graph.variables.size()) {
    edges_.reserve(ports);
    first_port_.reserve(graph.factors.size());
    waiting_.reserve(ports);
    first_edge_.reserve(ports + 1);
    for (std::uint32_t f = 0; f < graph.factors.size(); ++f) {
      first_port_.push_back(static_cast<std::uint32_t>(waiting_.size()));
      for (std::uint32_t p = 0; p < graph.factors[f].ports.size(); ++p) add_edges(f, p);
    }
    first_edge_.push_back(static_cast<std::uint32_t>(edges_.size()));
    sort_edges_by_variable();
  }

  // Calls on_progress(factor, port) for every port with at most one incomplete arrival.
  template <class OnProgress>
  void start(const OnProgress& on_progress) {
    for (std::size_t port = 0; port < waiting_.size(); ++port)
      if (const Edge& e = edges_[first_edge_[port]]; waiting_[port] == 1) on_progress(e.factor, e.port);
    for (std::uint32_t v = 0; v < missing_.size(); ++v) settle(v, on_progress);
  }
  // Records that the message was sent to all its variables.
  template <class OnProgress>
  void send(MessageId message, const OnProgress& on_progress) {
    for (std::uint32_t i = first_edge(message), end = i + edge_count(message); i < end; ++i) mark_sent(i, on_progress);
  }
  // Records that the message was sent while one arrival on its own port was incomplete: it is final for that variable
  // only. Returns whether the port has no other variable.
  template <class OnProgress>
  bool send_early(MessageId message, const OnProgress& on_progress) {
    mark_sent(incomplete_edge(message), on_progress);
    return edge_count(message) == 1;
  }

  // The number of incomplete arrivals on a port.
  std::uint32_t waiting(MessageId port) const { return waiting_[first_port_[port.factor] + port.port]; }
  // True if a message that reads its own port, where one arrival is incomplete, is final for that arrival's variable:
  // each variable must have one term of every slot, so that a message to it reads only the others.
  bool allows_early(MessageId message) const {
    const auto& port = graph_.factors[message.factor].ports[message.port];
    if (waiting(message) != 1) return false;
    std::uint32_t one_of_each = 0;
    for (const VariableId v : port.variables) one_of_each += graph_.variables[v.value].family.components();
    if (one_of_each != port.terms) return false;
    const Edge& e = edges_[incomplete_edge(message)];
    return e.sends && !e.sent && !e.waits_for_own;
  }

 private:
  struct Edge {
    std::uint32_t factor, port, variable;
    bool sends, waits_for_own, sent = false, complete = false;
  };

  std::uint32_t first_edge(MessageId m) const { return first_edge_[first_port_[m.factor] + m.port]; }
  std::uint32_t edge_count(MessageId m) const {
    return first_edge_[first_port_[m.factor] + m.port + 1] - first_edge(m);
  }
  std::uint32_t incomplete_edge(MessageId m) const {
    std::uint32_t i = first_edge(m);
    while (edges_[i].complete) ++i;
    return i;
  }
  void add_edges(std::uint32_t f, std::uint32_t p) {
    const auto& factor = graph_.factors[f];
    const auto& port = factor.ports[p];
    const std::uint32_t messages = factor.slots * port.terms;
    const bool shares_elements = messages > 1 && !is_injective(port.elements, messages);
    first_edge_.push_back(static_cast<std::uint32_t>(edges_.size()));
    waiting_.push_back(static_cast<std::uint32_t>(port.variables.size()));
    for (const VariableId v : port.variables) {
      // An observed variable waits for no message.
      const bool sends = port.message != nullptr && !graph_.variables[v.value].cuts;
      missing_[v.value] += sends;
      edges_.push_back({f, p, v.value, sends, sends && shares_elements});
    }
  }
  void sort_edges_by_variable() {
    first_at_.assign(missing_.size() + 1, 0);
    for (const Edge& e : edges_) ++first_at_[e.variable + 1];
    std::partial_sum(first_at_.begin(), first_at_.end(), first_at_.begin());
    at_.resize(edges_.size());
    auto next = first_at_;
    for (std::uint32_t i = 0; i < edges_.size(); ++i) at_[next[edges_[i].variable]++] = i;
  }
  template <class OnProgress>
  void mark_sent(std::uint32_t i, const OnProgress& on_progress) {
    if (!edges_[i].sends || edges_[i].sent) return;
    edges_[i].sent = true;
    --missing_[edges_[i].variable];
    settle(edges_[i].variable, on_progress);
  }
  // Arrivals are complete only if at most one message is missing, so each variable is examined at most twice.
  template <class OnProgress>
  void settle(std::uint32_t v, const OnProgress& on_progress) {
    if (missing_[v] > 1) return;
    for (std::uint32_t k = first_at_[v]; k < first_at_[v + 1]; ++k) {
      Edge& e = edges_[at_[k]];
      const bool own_missing = e.sends && !e.sent;
      if (e.complete || missing_[v] != (own_missing && !e.waits_for_own ? 1u : 0u)) continue;
      e.complete = true;
      if (--waiting_[first_port_[e.factor] + e.port] <= 1) on_progress(e.factor, e.port);
    }
  }

  const Resolved& graph_;
  std::vector<Edge> edges_;
  std::vector<std::uint32_t> first_at_, at_;  // variable -> its first entry in the second; edges by variable
  std::vector<std::uint32_t> missing_;        // variable -> messages not sent yet
  std::vector<std::uint32_t> first_port_;     // factor -> its first entry in the next two
  std::vector<std::uint32_t> waiting_;        // port -> incomplete arrivals
  std::vector<std::uint32_t> first_edge_;     // port -> its first edge; one more at the end
};

// Messages become ready when all their arrivals are complete. Messages to a variadic port read that port too, and two
// of them that meet at a variable wait for each other: one is then sent early, while the arrival from that variable is
// open, and again for the other variables when it is complete. Messages of chains are sent together once they wait only
// for each other.
class Ordering {
 public:
  Ordering(const Resolved& graph, const Flow& flow)
      : flow_(flow),
        readiness_(graph, flow.ports()),
        ready_ports_(flow.factors()),
        done_(flow.factors()),
        chains_(graph, flow) {}

  std::optional<ExactOrder> order() {
    std::size_t wanted = 0;
    for (std::uint32_t f = 0; f < flow_.factors(); ++f) {
      wanted += flow_.targets(f).size();
      offer(f);
    }
    order_.messages.reserve(wanted);
    readiness_.start(on_progress_);
    do send_all_ready();
    while (send_one_early() || send_chains());
    if (finished_ != wanted) return {};
    return std::move(order_);
  }

 private:
  using QueueKey = std::pair<std::uint32_t, std::uint32_t>;  // class and target
  struct Queue {
    std::vector<MessageId> messages = {};
    std::size_t next = 0;
  };

  void progress(std::uint32_t f, std::uint32_t p) {
    if (flow_.reads(f, p).has(p)) early_.push_back({f, p});
    if (readiness_.waiting({f, p}) > 0) return;
    ready_ports_[f].add(p);
    offer(f);
  }
  void offer(std::uint32_t f) {
    for (const std::uint32_t p : flow_.targets(f) - done_[f]) {
      const PortSet open = flow_.reads(f, p) - ready_ports_[f];
      if (open == PortSet{p}) early_.push_back({f, p});
      if (!open.empty()) continue;
      done_[f].add(p);
      queue_of({flow_.kernel_class(f), p}).messages.push_back({f, p});
    }
  }
  // Consecutive ready messages mostly belong to one queue.
  Queue& queue_of(QueueKey key) {
    if (last_ == ready_.end() || last_->first != key) last_ = ready_.try_emplace(key).first;
    return last_->second;
  }
  // Empties one queue before the next, so that a chain becomes one long run.
  void send_all_ready() {
    for (auto queue = ready_.begin(); queue != ready_.end(); queue = ready_.begin()) {
      while (queue->second.next < queue->second.messages.size()) {
        order_.messages.push_back(queue->second.messages[queue->second.next++]);
        ++finished_;
        readiness_.send(order_.messages.back(), on_progress_);
      }
      ready_.erase(queue);
      last_ = ready_.end();
    }
  }
  // Returns false if no message can be sent early.
  bool send_one_early() {
    while (!early_.empty()) {
      const MessageId m = early_.front();
      early_.pop_front();
      const bool is_due = (flow_.targets(m.factor) - done_[m.factor]).has(m.port);
      const bool reads_rest = flow_.reads(m.factor, m.port) - ready_ports_[m.factor] == PortSet{m.port};
      if (!is_due || !reads_rest || !readiness_.allows_early(m)) continue;
      order_.messages.push_back(m);
      if (readiness_.send_early(m, on_progress_)) done_[m.factor].add(m.port), ++finished_;
      return true;
    }
    return false;
  }

  // Returns false if no chain is ready.
  bool send_chains() {
    const std::size_t before = order_.messages.size();
    for (auto& chain : chains_.next(done_)) {
      if (!chain.offsets.empty())
        order_.chains.push_back(
            {static_cast<std::uint32_t>(order_.messages.size()), chain.step, std::move(chain.offsets)});
      for (const MessageId m : chain.messages) {
        done_[m.factor].add(m.port);
        order_.messages.push_back(m);
      }
    }
    finished_ += order_.messages.size() - before;
    const std::size_t after = order_.messages.size();
    for (std::size_t i = before; i < after; ++i) readiness_.send(order_.messages[i], on_progress_);
    return after > before;
  }

  struct OnProgress {
    Ordering* ordering;
    void operator()(std::uint32_t f, std::uint32_t p) const { ordering->progress(f, p); }
  };

  const Flow& flow_;
  Readiness readiness_;
  const OnProgress on_progress_{this};
  ExactOrder order_;
  std::size_t finished_ = 0;
  std::vector<PortSet> ready_ports_, done_;  // by factor
  std::map<QueueKey, Queue> ready_;
  std::map<QueueKey, Queue>::iterator last_ = ready_.end();
  ChainFinder chains_;
  std::deque<MessageId> early_;  // messages that may wait for nothing but one arrival on their own port
};

// The same graph with a factor for each slot and a variable for each element.
struct OneByOne {
  explicit OneByOne(const Resolved& plates) {
    std::vector<std::uint32_t> variable_of(plates.elements);
    for (const Resolved::Variable& v : plates.variables)
      for (std::uint32_t i = 0; i < v.size; i += v.family.components()) {
        std::fill_n(variable_of.begin() + v.first_element + i, v.family.components(),
                    static_cast<std::uint32_t>(graph.variables.size()));
        graph.variables.push_back(v);
        graph.variables.back().first_element = v.first_element + i;
        graph.variables.back().size = v.family.components();
      }
    graph.elements = plates.elements;
    for (std::uint32_t f = 0; f < plates.factors.size(); ++f)
      for (std::uint32_t s = 0; s < plates.factors[f].slots; ++s) {
        factor.push_back(f), slot.push_back(s);
        Resolved::Factor& one = graph.factors.emplace_back(plates.factors[f]);
        one.slots = 1, one.is_along_chain = 0;
        for (Resolved::Port& port : one.ports) {
          std::vector<std::uint32_t> elements;
          port.variables = {};
          for (std::uint32_t t = 0; t < port.terms; ++t) {
            elements.push_back(port.elements(s * port.terms + t));
            const VariableId v{variable_of[elements.back()]};
            if (t == 0 || port.variables.back() != v) port.variables.push_back(v);
          }
          port.elements = simplified({.table = std::move(elements)});
        }
      }
  }
  Resolved graph;
  std::vector<std::uint32_t> factor, slot;  // by factor of `graph`: its factor and slot among the plates
};

// FNV-1a word by word: orders have millions of messages.
class OrderSum {
 public:
  void add(MessageId m) { add(std::uint64_t{m.factor} << 32 | m.slot), add(m.port); }
  void add(const Chained& chain) {
    add(std::uint64_t{chain.first} << 1 | (chain.step > 0 ? 1u : 0u));
    for (const std::int64_t offset : chain.offsets) add(static_cast<std::uint64_t>(offset));
  }
  std::uint64_t value() const { return value_ | 1; }  // never 0

 private:
  void add(std::uint64_t word) { value_ = std::rotl((value_ ^ word) * 0x100000001b3, 29); }
  std::uint64_t value_ = 0xcbf29ce484222325;
};

std::uint64_t sum_of(const ExactOrder& order) {
  OrderSum sum;
  for (const MessageId& m : order.messages) sum.add(m);
  for (const Chained& chain : order.chains) sum.add(chain);
  return sum.value();
}

}  // namespace

bool Flow::is_exact_order(const Schedule& schedule) const {
  if (exact_order_ == 0 || schedule.order != Schedule::Order::once) return false;
  OrderSum sum;
  for (const Visit& v : schedule.visits) {
    if (v.send.size() != 1 || v.refresh != reads(v.factor, v.send.first())) return false;
    sum.add(MessageId{v.factor, v.send.first(), v.slot});
  }
  for (const Chained& chain : schedule.chains) sum.add(chain);
  return sum.value() == exact_order_;
}

std::optional<ExactOrder> Flow::exact_order(bool slot_by_slot) const {
  exact_order_ = 0;
  if (auto order = Ordering(*graph_, *this).order()) return exact_order_ = sum_of(*order), order;
  const auto is_array = [](const Resolved::Variable& v) { return v.elements() > 1; };
  if (!slot_by_slot || std::ranges::none_of(graph_->variables, is_array) || has_loops()) return {};
  const OneByOne scalar(*graph_);
  auto order = Ordering(scalar.graph, Flow(scalar.graph)).order();
  if (!order) return {};
  for (MessageId& m : order->messages) m = {scalar.factor[m.factor], m.port, scalar.slot[m.factor]};
  exact_order_ = sum_of(*order);
  return order;
}

}  // namespace dma
