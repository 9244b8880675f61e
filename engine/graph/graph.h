// graph/: the model as its author writes it. May include messages/ and support/.
//
// The model as the user writes it: named variables and factors, connected through index maps. Nothing is checked
// against a registry and nothing is computed here; compile() does that.
#pragma once

#include <boost/container/deque.hpp>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/support/mostly_empty.h"
#include "engine/support/short_list.h"

namespace dma {

// Which of a graph's nodes: its position, and the mark of the graph that made it. Without a mark (VariableId{3}) it is
// of whatever graph it is given to.
template <class Node>
struct NodeId {
  std::uint32_t value;
  std::uint16_t graph = 0;

  bool is_of(std::uint16_t mark) const { return graph == mark || graph == 0; }
  friend bool operator==(NodeId a, NodeId b) { return a.value == b.value; }
};
using VariableId = NodeId<struct VariableNode>;
using FactorId = NodeId<struct FactorNode>;

// How the slots of a plate reach the elements of a variable. With m slots seen as R rows of C columns:
enum class Reach : std::uint8_t {
  identical,   // slot s -> element s
  row,         // slot s -> element s / C      (R elements)
  column,      // slot s -> element s % C      (C elements)
  all_to_one,  // slot s -> element 0          (1 element)
  gather,      // slot s -> element table[s]
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
  MostlyEmpty<std::string> port;                  // empty: by position
  MostlyEmpty<std::vector<std::uint32_t>> table;  // for gather; of a shift the lag, of a given table its length

  // Entries of the table, which may not be known yet.
  std::size_t entries() const { return reach == Reach::given ? table[0] : table.size(); }
  std::int32_t lag() const { return reach == Reach::shift ? static_cast<std::int32_t>(table[0]) : 0; }
};

inline Connection row(VariableId v) { return {v, Reach::row}; }
inline Connection column(VariableId v) { return {v, Reach::column}; }
inline Connection all_to_one(VariableId v) { return {v, Reach::all_to_one}; }
Connection gather(VariableId v, std::vector<std::uint32_t> table);
// A gather whose table of that many entries is data: given to every State (State::set_table), or with every example
// (learn/data.h). A season of games is then the graph of one game.
Connection given(VariableId v, std::size_t entries = 1);
// Slot t reads element t - lag: the one before it, or those lag before (after it, if lag is negative). Of variables of T
// elements the plate then has the slots t for which every end has an element: {shift(x), x} is the T - 1 steps of a
// chain. Plain ends have T elements as well, or one for each slot.
Connection shift(VariableId v, std::int32_t lag = 1);

// A parameter's value: one number for the whole plate, or one per slot (per term for a per-term parameter).
struct ParameterValue {
  ParameterValue(double number) : numbers{number} {}                                                  // NOLINT
  ParameterValue(const std::vector<double>& per_slot) : numbers(per_slot.begin(), per_slot.end()) {}  // NOLINT
  ParameterValue(std::initializer_list<double> list) : numbers(list.begin(), list.end()) {}           // NOLINT
  ShortList<double> numbers;
};
using ParameterList = ShortList<std::pair<std::string, ParameterValue>>;

struct FactorOptions {
  std::string name = {};    // empty: the kind and a number
  std::string method = {};  // empty: the method of the run
  // The share of a message's old value that stays in the new one, in [0, 1), where messages are sent again and again;
  // nothing: as the schedule says.
  std::optional<double> damping = {};
};
inline constexpr double kDampedBySchedule = -1;  // of a factor that says nothing of its own

// The name somebody gave, or the stem and the number: "product3", "log2_3". Put into words when it is read, not when a
// model of many nodes is built.
std::string name_or_number(const std::string& given, std::string_view stem, std::uint32_t number);

class Graph {
 public:
  struct Variable {
    std::string name;
    std::uint32_t size = 1;
    MostlyEmpty<std::string> family;  // as the registry names it: "gamma", "categorical(3)"; empty: Gaussian
    bool observed = false;
    bool shared = false;
  };
  struct Factor {
    std::string kind;
    std::uint32_t number = 0;
    MostlyEmpty<std::string> given_name;  // empty: the kind and the number
    MostlyEmpty<std::string> method;
    ShortList<Connection, 2> connections;
    ParameterList parameters;
    double damping = kDampedBySchedule;

    std::string name() const { return name_or_number(given_name, kind, number); }
  };
  // Grow by blocks: nothing is moved when a model of many nodes is built one by one.
  using BlockSize = boost::container::deque_options<boost::container::block_size<64u>>::type;
  using Variables = boost::container::deque<Variable, void, BlockSize>;
  using Factors = boost::container::deque<Factor, void, BlockSize>;

  // An array of `size` independent variables of one family, which the registry of compile() must know. An empty name is replaced by a number, and by another one should
  // somebody later give that name to something else.
  VariableId variable(std::string_view name, std::size_t size = 1, std::string_view family = {});
  // A variable whose value is given to every State before it runs.
  VariableId observed(std::string_view name, std::size_t size = 1, std::string_view family = {});
  // A variable whose belief outlives one example: weights, skills (see learn.h).
  VariableId shared(std::string_view name, std::size_t size = 1, std::string_view family = {});

  FactorId factor(std::string_view kind, std::initializer_list<Connection> connections, ParameterList parameters = {},
                  FactorOptions options = {}) {
    return add(kind, connections, std::move(parameters), std::move(options));
  }
  FactorId factor(std::string_view kind, std::vector<Connection> connections, ParameterList parameters = {},
                  FactorOptions options = {}) {
    return add(kind, {std::move_iterator(connections.begin()), std::move_iterator(connections.end())},
               std::move(parameters), std::move(options));
  }

  const Variables& variables() const { return variables_; }
  const Factors& factors() const { return factors_; }
  const Variable& operator[](VariableId id) const;  // an id of another graph is an Error
  const Factor& operator[](FactorId id) const;

  // By name; an unknown name is an Error that offers the nearest one.
  VariableId find_variable(std::string_view name) const;
  FactorId find_factor(std::string_view name) const;

  // In every id it gives; copies of a graph have the same, so that ids mean the same in them.
  std::uint16_t mark() const { return mark_; }

 private:
  static std::uint16_t next_mark();
  VariableId add(std::string_view name, std::size_t size, std::string_view family, bool observed, bool shared);
  FactorId add(std::string_view kind, ShortList<Connection, 2>&& connections, ParameterList&& parameters,
               FactorOptions&& options);

  Variables variables_;
  Factors factors_;
  // Names the user gave, and numbered ones that are not simply the stem and the position.
  struct Named {
    std::uint32_t position;
    bool by_number = false;
  };
  using Names = std::unordered_map<std::string, Named>;
  template <class Items>
  static void take_name(const std::string& name, Names& names, Items& items, std::string_view what);

  Names variable_names_, factor_names_;
  std::uint16_t mark_ = next_mark();
};

// "8 variables, 7 factors" and one line for each.
std::string describe(const Graph& graph);

}  // namespace dma
