// The contents of a Plan (compile.h): the places of all messages, and the operations of one sweep. Private.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "engine/compile/compile.h"
#include "engine/compile/schedule.h"
#include "engine/compile/variable_table.h"
#include "engine/graph/graph.h"
#include "engine/graph/index_map.h"
#include "engine/kinds/chain.h"
#include "engine/kinds/port_set.h"
#include "engine/support/lists.h"

namespace dma {

class Kind;
class Registry;
class Solver;
struct MessageFunction;
struct PairKernel;
struct Resolved;

// Names of the factors of a plan; groups have the places of their messages.
class FactorTable {
 public:
  struct Factor {
    const Kind* kind = nullptr;
    std::uint32_t number = 0;
    std::string_view given_name;  // empty: the kind and the number
    std::string_view method;
    ShortList<FactorId> origins;  // the factors of the user's graph it stands for

    std::string name() const;
  };

  FactorTable() = default;
  explicit FactorTable(const Resolved& graph);

  std::size_t size() const { return sort_of_.size(); }
  Factor operator[](std::size_t i) const;
  bool are_all_of_graph() const { return numbers_.empty() && fused_ == 0; }  // factor i is the graph's factor i
  std::string name(std::size_t i) const { return (*this)[i].name(); }

 private:
  struct Sort {
    const Kind* kind;
    std::string_view method;
    friend bool operator==(const Sort&, const Sort&) = default;
  };
  // For fused or named factors.
  struct Special {
    std::string given_name;
    ShortList<FactorId> origins;
  };
  std::vector<Sort> sorts_;
  std::vector<std::uint16_t> sort_of_;
  std::size_t fused_ = 0;
  std::vector<std::uint32_t> numbers_;  // empty: the number of a factor is its position
  std::unordered_map<std::uint32_t, Special> specials_;
};

// With more messages at one element, a message to it is not computed by adding up all others.
inline constexpr std::uint32_t kManyMessages = 32;

// Factors whose messages are computed together: one factor of the graph, or many scalar ones of the same kind merged
// into one plate. Slots are numbered through all members.
struct Group {
  struct Port {
    std::uint32_t terms = 1;
    std::uint32_t first_slot = 0;             // index of its messages in State
    std::uint32_t first_arrival = kNowhere;   // arrivals by slot, if any are gathered
    std::uint32_t first_combined = kNowhere;  // arrivals by element of its variable, if any are combined
    IndexMap elements;                        // (slot, term) -> element
    const MessageFunction* message = nullptr;
  };
  struct Parameter {
    std::uint32_t first = 0;  // in State's parameters
    bool per_slot = false;
    std::uint32_t terms = 1;
  };
  const Kind* kind = nullptr;
  std::vector<std::uint32_t> members;     // factors of the resolved graph
  std::vector<std::uint32_t> first_slot;  // first slot of each member
  std::uint32_t slots = 0;
  std::uint32_t columns = 0;       // the plate as slots / columns rows
  std::uint32_t first_memory = 0;  // first of its slots in State's memory
  double damping = 0;              // damping of messages that are sent repeatedly
  std::vector<Port> ports;
  std::vector<Parameter> parameters;

  std::size_t member_at(std::uint64_t slot) const {
    return static_cast<std::size_t>(std::ranges::upper_bound(first_slot, slot) - first_slot.begin()) - 1;
  }
  std::uint32_t slots_of(std::size_t member) const {
    return (member + 1 < first_slot.size() ? first_slot[member + 1] : slots) - first_slot[member];
  }
};

// arrivals[i] = product of the sources' messages at element first_element + i: the message from a variable to all
// factors that have not sent to it yet, or reach it by an injective map.
struct Combine {
  struct Source {
    std::uint32_t first_slot, slots;
    IndexMap elements;  // identical: slot i is element i
  };
  std::uint32_t first_arrival = 0, first_element = 0, size = 0;
  std::vector<Source> sources;
};

// arrivals[q] = product of all messages at the element of q but its own, for slots q of one port.
struct GatherOthers {
  std::uint32_t group = 0, port = 0;
  std::uint32_t first = 0, count = 0;  // in (slot, term) units
  std::uint32_t row = 0;               // number of neighbouring elements that the slots repeat; 0: they do not
  bool at_hubs = false;                // few slots, at elements with very many messages (hubs.h)
};

// The place of the messages that arrive on a port.
struct ReadView {
  enum class From : std::uint8_t { uniform, messages, arrivals } from = From::uniform;
  std::uint32_t first = 0;
  std::uint32_t row = 0, column = 0;
  friend bool operator==(const ReadView&, const ReadView&) = default;
};

// One kernel call: the messages to one port, for a range of slots.
struct Send {
  std::uint32_t group = 0, port = 0;
  std::uint32_t first = 0, count = 0;
  std::vector<ReadView> reads;       // for a plate
  const PairKernel* pair = nullptr;  // also sends to its second port
  // Slot after slot, found by the incidence; each slot may read messages of the one before.
  bool is_chain = false;
  int step = 1;
  PortSet refresh = {}, keep = {};  // ports gathered first, and ports that a later visit reads again
  bool at_hubs = false;             // some elements have very many messages: each slot stores its arrivals
};

// Messages of a chain that read their neighbours at constant places: at each step the next slot of every message in
// turn, each reading earlier ones.
struct ChainSend {
  // Slot s reads the message at `at` + s (+ s components, if there are several).
  struct Source {
    std::int64_t at;
    bool is_arrival;  // a gathered arrival, otherwise a message
  };
  struct Message {
    std::uint32_t group, port;
    std::int64_t first;                      // slot at the first step
    std::vector<std::vector<Source>> reads;  // by argument of the message function
    bool remembers = true;                   // it is Gaussian, so a slot's message may be passed to the next directly
  };
  // Consecutive steps with the same messages and sources.
  struct Segment {
    std::uint32_t count;
    std::vector<Message> messages;
  };
  int step = 1;                 // from one slot to the next: 1 or -1
  bool is_beside_last = false;  // independent of the chain before it
  std::vector<Segment> segments;
};

using Operation = std::variant<Combine, GatherOthers, Send, ChainSend>;

struct SlotRange {
  std::uint32_t first, count;
};

// The data that State::observe needs of one variable, close together.
struct ValueSlots {
  std::uint32_t first_slot = kNowhere, size = 0;
  bool observed = false, given = false;
  bool keeps_values = false;     // values are stored unchanged
  bool is_plain_number = false;  // observed, one element, keeps values
  bool has_missing = false;      // some elements have no value in this run
};

struct PlanData {
  using Variable = VariableTable::Variable;

  std::uint16_t mark = 0;                    // mark of the user's graph
  std::shared_ptr<const Registry> registry;  // keeps kinds and message functions alive
  VariableTable variables;
  FactorTable factors;  // factors of the fused graph
  std::vector<Group> groups;
  struct Membership {
    std::uint32_t group = kNowhere, member = 0;
  };
  std::vector<Membership> memberships;  // one per factor of the user's graph
  Schedule schedule;
  // All messages, those to missing values included, are exact; or they are while no value is missing, because known
  // inputs make their factors linear.
  bool has_exact_messages = false, is_exact_given_values = false;
  const Kind* approximating = nullptr;   // the first kind with approximate messages; null: all are exact
  bool is_gaussian = false;              // all variables are Gaussian
  std::string loop;                      // variables on a loop, for an iterative schedule (loops.h); empty: a tree
  std::shared_ptr<const Solver> solver;  // engine/run/solver.h; null: sweeps of messages by the schedule
  std::string solver_text;               // for describe()

  std::vector<Operation> constants;   // messages that depend on parameters only
  std::vector<Operation> operations;  // one sweep
  // For residual order: the first operation and send of each visit, and one more; the visits that read each variable.
  std::vector<std::uint32_t> first_operation, first_send;
  std::vector<std::vector<std::uint32_t>> visits_at;
  std::vector<std::vector<std::uint32_t>> informed_by;  // by visit: the variables it sends to
  std::vector<std::uint8_t> reaches_an_element_twice;   // by visit: its factor reaches an element more than once
  std::vector<SlotRange> resets;                        // messages that are uniform at the start of a run
  std::vector<SlotRange> arrival_resets;                // likewise arrivals

  std::uint32_t slots = 0, arrivals = 0, elements = 0;
  std::uint32_t first_message = 0;  // earlier slots hold values and cavities
  std::uint32_t scratch = 0;        // doubles of working memory of a kernel
  std::uint32_t memory = 0;         // doubles that kinds keep
  std::vector<double> parameters;
  // engine/kinds/chain.h, if operations gather by element or a port has no affine map; empty otherwise.
  std::vector<std::uint32_t> element_of_slot, first_incident, incident_slots;
  bool gathers_by_element = false;
  bool has_hubs = false;           // some operation is at hubs
  bool forms_totals = false;       // some operation adds up all messages at an element
  std::uint32_t given_tables = 0;  // number of ports whose tables are data; a State then has its own incidence

  Incidence incidence() const { return {first_incident.data(), incident_slots.data(), element_of_slot.data()}; }
  // An id of another graph is an Error.
  Variable variable(VariableId id) const;
  Membership membership(FactorId id) const;
  std::size_t bytes() const;  // size of a State and of the index tables it reads
  std::size_t messages_per_sweep() const;
  std::string schedule_text() const;  // the schedule in words
  // "product3[17]": factor and slot within it.
  std::string slot_name(std::uint32_t group, std::uint64_t slot) const;
  std::string element_name(std::uint32_t element) const;  // "x[3]"
};

}  // namespace dma
