// The model as the user writes it: named variables and factors, connected through index maps. Nothing is checked
// against a registry and nothing is computed here; compile() does that.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/short_list.h"

namespace dma {

// The meaning of a message's two natural parameters on a variable.
enum class Family : std::uint8_t { gaussian, log_normal };
std::string_view name(Family family);

struct VariableId {
  std::uint32_t value;
  friend bool operator==(VariableId, VariableId) = default;
};
struct FactorId {
  std::uint32_t value;
  friend bool operator==(FactorId, FactorId) = default;
};

// How the slots of a plate reach the elements of a variable. With m slots seen as R rows of C columns:
enum class Reach : std::uint8_t {
  identical,   // slot s -> element s
  row,         // slot s -> element s / C      (R elements)
  column,      // slot s -> element s % C      (C elements)
  all_to_one,  // slot s -> element 0          (1 element)
  gather,      // slot s -> element table[s]
};

// One end of an edge, as passed to Graph::factor. A plain VariableId is the identical map on the next free port.
struct Connection {
  Connection(VariableId v) : variable(v) {}  // NOLINT: {w, x, p} is how a factor is written
  Connection(VariableId v, Reach r) : variable(v), reach(r) {}
  Connection(std::string_view port_name, Connection connection) : Connection(std::move(connection)) {
    port = port_name;
  }

  VariableId variable;
  Reach reach = Reach::identical;
  std::string port;                  // empty: by position
  std::vector<std::uint32_t> table;  // for Reach::gather
};

inline Connection row(VariableId v) { return {v, Reach::row}; }
inline Connection column(VariableId v) { return {v, Reach::column}; }
inline Connection all_to_one(VariableId v) { return {v, Reach::all_to_one}; }
Connection gather(VariableId v, std::vector<std::uint32_t> table);

// A parameter's value: one number for the whole plate, or one per slot (per term for a per-term parameter).
struct ParameterValue {
  ParameterValue(double number) : numbers{number} {}                                                        // NOLINT
  ParameterValue(const std::vector<double>& per_slot) : numbers(per_slot.begin(), per_slot.end()) {}  // NOLINT
  ShortList<double> numbers;
};
using ParameterList = std::vector<std::pair<std::string, ParameterValue>>;

struct FactorOptions {
  std::string name = {};    // empty: the kind and a number
  std::string method = {};  // empty: the method of the run
};

// The name somebody gave, or the stem and the number: "product3". Put into words when it is read, not when a model of many
// nodes is built.
std::string name_or_number(const std::string& given, std::string_view stem, std::uint32_t number);

class Graph {
 public:
  struct Variable {
    std::string name;
    std::uint32_t size = 1;
    Family family = Family::gaussian;
    bool observed = false;
    bool shared = false;
  };
  struct Factor {
    std::string given_name;  // empty: the kind and the number
    std::uint32_t number = 0;
    std::string kind;
    std::string method;
    std::vector<Connection> connections;
    ParameterList parameters;

    std::string name() const { return name_or_number(given_name, kind, number); }
  };

  // An array of `size` independent scalar variables. An empty name is replaced by a number.
  VariableId variable(std::string_view name, std::size_t size = 1, Family family = Family::gaussian);
  // A variable whose value is given to every State before it runs.
  VariableId observed(std::string_view name, std::size_t size = 1, Family family = Family::gaussian);
  // A variable whose belief outlives one example: weights, skills (see learn.h).
  VariableId shared(std::string_view name, std::size_t size = 1, Family family = Family::gaussian);

  FactorId factor(std::string_view kind, std::initializer_list<Connection> connections, ParameterList parameters = {},
                  FactorOptions options = {}) {
    return factor(kind, std::vector<Connection>(connections), std::move(parameters), std::move(options));
  }
  FactorId factor(std::string_view kind, std::vector<Connection> connections, ParameterList parameters = {},
                  FactorOptions options = {});

  const std::vector<Variable>& variables() const { return variables_; }
  const std::vector<Factor>& factors() const { return factors_; }
  const Variable& operator[](VariableId id) const { return variables_[id.value]; }
  const Factor& operator[](FactorId id) const { return factors_[id.value]; }

  // By name; an unknown name is an Error that offers the nearest one.
  VariableId find_variable(std::string_view name) const;
  FactorId find_factor(std::string_view name) const;

 private:
  VariableId add(std::string_view name, std::size_t size, Family family, bool observed, bool shared);

  std::vector<Variable> variables_;
  std::vector<Factor> factors_;
  // Names the user gave, and numbered ones that are not simply the stem and the position.
  std::unordered_map<std::string, std::uint32_t> variable_names_;
  std::unordered_map<std::string, std::uint32_t> factor_names_;
};

// "8 variables, 7 factors" and one line for each.
std::string describe(const Graph& graph);

}  // namespace dma
