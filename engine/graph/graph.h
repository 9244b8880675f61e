// graph/: the model as its author writes it. May include messages/ and support/.
//
// A Graph has named variables and factors, connected through index maps. It checks nothing against a registry and
// computes nothing; compile() does that.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/support/lists.h"
#include "engine/support/text.h"

namespace dma {

// The name of a node: the user's, or a stem and a number ("v3", "product3", "log2_3"). Numbered names are formatted
// when read, not while a model of a million nodes is built.
std::string name_or_number(std::string_view given, std::string_view stem, std::uint32_t number);  // "v3" without a name

// Name of a variable; points to the user's name if there is one.
class NodeName {
 public:
  NodeName() = default;
  NodeName(const std::string* given, std::uint32_t number) : given_(given), number_(number) {}

  bool is_given() const { return given_ != nullptr; }  // false: it is a number
  std::uint32_t number() const { return number_; }     // place in the graph
  std::string text() const { return name_or_number(given_ == nullptr ? std::string_view() : *given_, "v", number_); }
  operator std::string() const { return text(); }  // NOLINT: to be read as the name itself
  friend bool operator==(const NodeName& a, std::string_view b) { return a.text() == b; }

 private:
  const std::string* given_ = nullptr;
  std::uint32_t number_ = 0;
};

// The names of the variables of a graph, or of its factors, as far as they are more than a stem and the node's number.
class NameTable {
 public:
  // The stem of the node with that number; nothing if there is no such node.
  using StemOf = std::function<std::optional<std::string_view>(std::uint32_t)>;

  explicit NameTable(std::string_view noun) : noun_(noun) {}
  // Null if the node's name is its stem and its number. The pointer stays valid until the node is renamed or forgotten.
  const std::string* own(std::uint32_t node) const;
  // The node with that name, own or numbered.
  std::optional<std::uint32_t> find(const std::string& name, const StemOf& stem_of) const;
  // Gives the next node the user's name for it; an Error if the user gave it before. Returns the node that had it as
  // its numbered name, if any, and now has a name of its own.
  std::optional<std::uint32_t> take(std::uint32_t node, const std::string& name, const StemOf& stem_of);
  // The next node has no name from the user: gives it one of its own if the user has taken its numbered one. Returns
  // true if so.
  bool number(std::uint32_t node, std::string_view stem);
  void forget(std::uint32_t node);  // its name is free again

 private:
  struct Entry {
    std::uint32_t node;
    bool is_of_user;
  };
  void set(std::uint32_t node, std::string name, bool is_of_user);
  void renumber(std::uint32_t node, std::string_view stem, std::uint64_t from);

  std::string_view noun_;
  std::unordered_map<std::string, Entry> nodes_;          // by name
  std::unordered_map<std::uint32_t, std::string> names_;  // by node
};

}  // namespace dma

template <>
struct fmt::formatter<dma::NodeName> : dma::TextFormatter {
  auto format(const dma::NodeName& name, format_context& context) const { return write(name.text(), context); }
};

namespace dma {

// Position of a node, and the mark of the graph that made it. An id without a mark (VariableId{3}) is valid for any
// graph.
template <class Node>
struct NodeId {
  std::uint32_t value;
  std::uint16_t graph = 0;

  bool is_of(std::uint16_t mark) const { return graph == mark || graph == 0; }  // true if that graph has it
  friend bool operator==(NodeId a, NodeId b) { return a.value == b.value; }
};
using VariableId = NodeId<struct VariableNode>;
using FactorId = NodeId<struct FactorNode>;

// The map from the slots of a plate to the elements of a variable. With m slots seen as R rows of C columns:
enum class Reach : std::uint8_t {
  identical,   // slot s -> element s
  row,         // slot s -> element s / C      (R elements)
  column,      // slot s -> element s % C      (C elements)
  all_to_one,  // slot s -> element 0          (1 element)
  gather,      // like gather, with a table that is data (see given())
  shift,       // slot t -> element t - lag    (see shift())
  given,       // as gather, with a table that is data (see given())
};

// One end of an edge, as passed to Graph::factor. A plain VariableId is the identical map on the next free port.
struct Connection {
  Connection(VariableId v) : variable(v) {}  // NOLINT: {w, x, p} is how a factor is written
  Connection(VariableId v, Reach r) : variable(v), reach(r) {}
  Connection(std::string_view port_name, Connection connection) : Connection(std::move(connection)) {
    port = std::string(port_name);
  }

  [[no_unique_address]] VariableId variable;
  Reach reach = Reach::identical;
  MostlyEmpty<std::string> port;  // empty: by position
  // For gather: the table; for a shift: the lag; for a given table: its length.
  MostlyEmpty<std::vector<std::uint32_t>> table;

  // Number of table entries; a given table may not be known yet.
  std::size_t entries() const { return reach == Reach::given ? table[0] : table.size(); }
  // The steps of a shift; 0 for other connections.
  std::int32_t lag() const { return reach == Reach::shift ? static_cast<std::int32_t>(table[0]) : 0; }
};

inline Connection row(VariableId v) { return {v, Reach::row}; }                // slot s of R x C reads element s / C
inline Connection column(VariableId v) { return {v, Reach::column}; }          // slot s of R x C reads element s % C
inline Connection all_to_one(VariableId v) { return {v, Reach::all_to_one}; }  // every slot reads the only element
Connection gather(VariableId v, std::vector<std::uint32_t> table);             // slot s reads element table[s]
// A gather whose table of that many entries is data, passed to every State (State::set_table) or with every example
// (learn/data.h). A season of games is then the graph of one game.
Connection given(VariableId v, std::size_t entries = 1);
// Slot t reads element t - lag (a later one if lag is negative). On variables of T elements the plate has the slots t
// for which every end has an element: {shift(x), x} is the T - 1 steps of a chain. Plain ends have T elements, or one
// per slot.
Connection shift(VariableId v, std::int32_t lag = 1);

// A parameter's value: one number for the whole plate, or one per slot (per term for a per-term parameter).
struct ParameterValue {
  ParameterValue(double number) : numbers{number} {}                                                  // NOLINT
  ParameterValue(const std::vector<double>& per_slot) : numbers(per_slot.begin(), per_slot.end()) {}  // NOLINT
  ParameterValue(std::initializer_list<double> list) : numbers(list.begin(), list.end()) {}           // NOLINT
  ShortList<double> numbers;
};
using ParameterList = ShortList<std::pair<std::string, ParameterValue>>;

// A value of a discrete variable of one element.
struct GateCase {
  VariableId variable;
  std::uint32_t value;
};

struct FactorOptions {
  std::string name = {};    // empty: the kind and a number
  std::string method = {};  // empty: the run's method
  // Damping: the fraction of a message's old value that stays in the new one, in [0, 1), where messages are sent
  // repeatedly; none: the schedule's damping.
  std::optional<double> damping = {};
  // The factor counts only if all these cases hold: a gate (engine/gates/gates.h); empty: always.
  std::vector<GateCase> when = {};
};
inline constexpr double kDampedBySchedule = -1;  // damping of a factor without its own

// The connections of a factor. For plain connections, the majority, the graph stores only the variables' numbers.
class Connections {
 public:
  Connections() = default;
  Connections(ShortList<Connection, 2> own) : own_(std::move(own)) {}  // NOLINT: {x, shift(y)}

  const Connection* begin() const { return list().begin(); }
  const Connection* end() const { return list().end(); }
  std::size_t size() const { return list().size(); }
  bool empty() const { return list().empty(); }
  const Connection& operator[](std::size_t i) const { return list()[i]; }

 private:
  friend class Graph;
  const ShortList<Connection, 2>& list() const { return elsewhere_ != nullptr ? *elsewhere_ : own_; }

  ShortList<Connection, 2> own_;
  const ShortList<Connection, 2>* elsewhere_ = nullptr;
};

class Graph {
 public:
  // Read-only views of variables and factors. Their pointers stay valid until the graph is changed.
  struct Variable {
    std::uint32_t size = 1;
    std::string_view family;  // name in the registry: "gamma", "categorical(3)"; empty: Gaussian
    bool observed = false;
    bool shared = false;
    NodeName name;
  };
  struct Factor {
    std::string_view kind;
    std::uint32_t number = 0;
    std::string_view given_name;  // empty: named by kind and number
    std::string_view method;
    Connections connections;
    std::span<const ParameterList::value_type> parameters;
    double damping = kDampedBySchedule;
    std::span<const GateCase> when;
    bool is_plain = true;  // only a kind, parameters and variables connected by the identical map to all ports in order

    std::string name() const { return name_or_number(given_name, kind, number); }  // given, or kind and number
  };

  // An array of `size` independent variables of one family, which the registry of compile() must know. An empty name is
  // replaced by a numbered one, which changes if the user later gives that name to another node.
  VariableId variable(std::string_view name, std::size_t size = 1, std::string_view family = {});
  // A variable whose value is given to every State before it runs.
  VariableId observed(std::string_view name, std::size_t size = 1, std::string_view family = {});
  // A variable whose belief is kept from example to example: weights, skills (see learn.h).
  VariableId shared(std::string_view name, std::size_t size = 1, std::string_view family = {});

  // Names of the values 0, 1, ... of a discrete variable; all different, one per value.
  void name_categories(VariableId id, std::vector<std::string> names);
  std::span<const std::string> categories(VariableId id) const;  // empty: they have no names
  // The value with that name, or a number as text; anything else is an Error that suggests the nearest name.
  double category(VariableId id, std::string_view name) const;
  // Adds a factor of a kind, whose ports are connected in their order: factor("product", {w, x, p}).
  FactorId factor(std::string_view kind, std::initializer_list<Connection> connections, ParameterList parameters = {},
                  FactorOptions options = {}) {
    return add(kind, connections, std::move(parameters), std::move(options));
  }
  // The same for connections that were put together before.
  FactorId factor(std::string_view kind, std::vector<Connection> connections, ParameterList parameters = {},
                  FactorOptions options = {}) {
    return add(kind, {std::move_iterator(connections.begin()), std::move_iterator(connections.end())},
               std::move(parameters), std::move(options));
  }
  // Copies a factor of another graph, without its gate, to variables of this one.
  FactorId factor_like(const Factor& other, std::vector<Connection> connections);

  GateCase gate_case(VariableId variable, double value) const;  // `value` must be a whole number from 0 on
  bool has_gates() const { return has_gates_; }                 // true if factors count only in certain cases
  Graph without_gates() const;                                  // the same factors without their gates

  // Removes the oldest nodes: the factors before `factor`, and the variables before `variable` except `kept`, which
  // ascends. Ids count on: those of the other nodes stay valid, one of a removed node is an Error. Such a graph can be
  // read and extended, but not compiled.
  void forget(std::uint32_t variable, std::uint32_t factor, std::span<const std::uint32_t> kept = {});
  bool has_forgotten() const { return first_variable_ > 0 || first_factor_ > 0; }  // true if nodes were removed
  // True if this variable was removed.
  bool has_forgotten(VariableId id) const {
    return id.is_of(mark_) && id.value < first_variable_ && early(id.value) == nullptr;
  }
  // The numbers of the next variable and factor.
  std::uint32_t next_variable() const { return first_variable_ + static_cast<std::uint32_t>(variables_.size()); }
  std::uint32_t next_factor() const { return first_factor_ + static_cast<std::uint32_t>(factors_.size()); }  // likewise

 private:
  Variable variable_at(std::size_t i) const;
  Factor factor_at(std::size_t i) const;

 public:
  using Variables = OnDemand<Graph, Variable, &Graph::variable_at>;
  using Factors = OnDemand<Graph, Factor, &Graph::factor_at>;
  Variables variables() const { return {*this, early_.size() + variables_.size()}; }  // in the order of their ids
  Factors factors() const { return {*this, factors_.size()}; }  // all factors, in the order in which they were added
  VariableId variable_id(std::size_t i) const;  // id of the variable at place i
  // The id of the factor at place i.
  FactorId factor_id(std::size_t i) const { return {first_factor_ + static_cast<std::uint32_t>(i), mark_}; }
  Variable operator[](VariableId id) const;  // an id of another graph is an Error
  Factor operator[](FactorId id) const;

  // Finds a variable by name; an unknown name is an Error that suggests the nearest one.
  VariableId find_variable(std::string_view name) const;
  FactorId find_factor(std::string_view name) const;  // likewise
  // Null if the variable has only a numbered name.
  const std::string* given_name(VariableId id) const {
    return record(id).is_named ? variable_names_.own(id.value) : nullptr;
  }
  NodeName name(VariableId id) const { return {given_name(id), id.value}; }  // given, or made from the number
  // The factor with that number, for loops over millions of factors: `factor` is reused. Factors with equal parameters
  // mostly share one list of them.
  void read(std::size_t number, Factor& factor) const;

  // Stored in every id; copies of a graph share it, so ids of one are valid in the other.
  std::uint16_t mark() const { return mark_; }

 private:
  // Stored form: indices into tables of the graph, from 1; 0 is the default.
  struct VariableRecord {
    std::uint32_t size = 1;
    std::uint16_t family = 0;
    bool observed = false, shared = false, is_named = false;
  };
  struct FactorRecord {
    std::uint32_t first_end = 0;  // index of the first variable of plain connections, counting forgotten ones
    std::uint32_t parameters = 0;
    std::uint32_t kind : 30 = 0;
    std::uint32_t is_named : 1 = 0, is_special : 1 = 0;
  };
  // Rarely used fields of a factor: its own method, damping or gate, or connections that are not plain.
  struct Special {
    std::string method;
    double damping = kDampedBySchedule;
    ShortList<Connection, 2> connections;
    std::vector<GateCase> when;
  };
  struct SharedParameters {
    ParameterList list;
    std::uint32_t uses = 0;  // by factors; 0: free
  };
  // Grows by blocks: building a model node by node moves nothing.
  template <class Item>
  class Blocks {
   public:
    std::size_t size() const { return end() - first_; }
    const Item& operator[](std::size_t i) const { return blocks_[(first_ + i) / kItems][(first_ + i) % kItems]; }
    Item& operator[](std::size_t i) { return blocks_[(first_ + i) / kItems][(first_ + i) % kItems]; }
    Item& emplace_back(const Item& item = {}) {
      if (end() % kItems == 0) blocks_.emplace_back().reserve(kItems);
      return blocks_.back().emplace_back(item);
    }
    void drop_front(std::size_t count) {
      first_ += count;
      blocks_.erase(blocks_.begin(), blocks_.begin() + static_cast<std::ptrdiff_t>(first_ / kItems));
      first_ %= kItems;
    }

   private:
    static constexpr std::size_t kItems = 512;
    std::size_t end() const { return blocks_.empty() ? 0 : (blocks_.size() - 1) * kItems + blocks_.back().size(); }
    std::size_t first_ = 0;  // items of the first block that are gone
    std::vector<std::vector<Item>> blocks_;
  };

  const VariableRecord& record(VariableId id) const {  // throws if the id is of no node of this graph; inline for speed
    const std::uint32_t place = id.value - first_variable_;
    if (place >= variables_.size() || !id.is_of(mark_)) return early_or_refused(id);
    return variables_[place];
  }
  void check(VariableId id) const { (void)record(id); }
  const VariableRecord* early(std::uint32_t variable) const;  // null: none
  const VariableRecord& early_or_refused(VariableId id) const;
  void drop(std::uint32_t variable);
  static std::uint16_t next_mark();
  VariableId add(std::string_view name, std::size_t size, std::string_view family, bool observed, bool shared);
  FactorId add(std::string_view kind, ShortList<Connection, 2>&& connections, ParameterList&& parameters,
               FactorOptions&& options);
  std::uint32_t number_of(ParameterList&& parameters);
  NameTable::StemOf variable_stems() const;
  NameTable::StemOf factor_stems() const;

  // The first numbers in the lists below; ends are numbered modulo 2^32.
  std::uint32_t first_variable_ = 0, first_factor_ = 0, first_end_ = 0;
  Blocks<VariableRecord> variables_;
  Blocks<FactorRecord> factors_;
  Blocks<std::uint32_t> ends_;
  std::vector<std::pair<std::uint32_t, VariableRecord>> early_;  // before the first variable, kept by forget()
  std::unordered_map<std::uint32_t, Special> specials_;          // by factor
  std::deque<std::string> kinds_, families_;
  std::deque<SharedParameters> parameters_;
  std::vector<std::uint32_t> free_parameters_;            // entries of that list, from 1
  std::array<std::uint32_t, 64> recent_parameters_ = {};  // latest one-number parameter lists, by hash
  NameTable variable_names_{"variable"}, factor_names_{"factor"};
  std::unordered_map<std::uint32_t, std::vector<std::string>> categories_;  // by variable
  std::uint16_t mark_ = next_mark();
  bool has_gates_ = false;
};

// "8 variables, 7 factors", then one line per node.
std::string describe(const Graph& graph);

}  // namespace dma
