// The first passes of compile: match factors with kinds, ports with variables, parameters with domains and targets with
// message functions. All errors of a model are found here.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/compile/compile.h"
#include "engine/compile/variable_table.h"
#include "engine/graph/graph.h"
#include "engine/graph/index_map.h"
#include "engine/kinds/registry.h"
#include "engine/support/lists.h"

namespace dma {

// A graph after resolution: factors as plates over the elements of all variables laid side by side.
struct Resolved {
  struct Variable {
    NodeName name;  // kept by `names`
    std::uint32_t first_element = 0,
                  size = 1;  // in components: a variable of a family with several has that many times its elements
    Family family = {};
    bool observed = false, shared = false;
    bool wants_messages = true;  // not observed, or to be predicted, or possibly missing
    bool cuts = false;           // observed and never missing: no message passes through it

    std::uint32_t elements() const { return family.components() == 1 ? size : size / family.components(); }
  };
  struct Port {
    const MessageFunction* message = nullptr;  // null: no variable behind the port wants a message
    ShortList<VariableId> variables;           // without repetition
    IndexMap elements;                         // (slot, term) -> element
    std::uint32_t terms = 1;                   // messages per slot
  };
  struct Parameter {
    ShortList<double> values;
    std::uint32_t terms = 1;
    bool per_slot = false;
  };
  using Parameters = ShortList<Parameter>;
  struct Factor {
    // Every pass of compile reads these, so they come first.
    const Kind* kind = nullptr;
    std::uint32_t slots = 1;
    std::uint32_t number : 30 = 0;
    std::uint32_t is_along_chain : 1 = 0;   // one of its ends is shifted
    std::uint32_t has_given_table : 1 = 0;  // one of its ends has a table that is data
    ShortList<Port, 2> ports;
    const Parameters* parameters = nullptr;  // kept by `parameters` of the graph; many factors have the same
    const std::string* method = nullptr;     // as the registry spells it, which outlives the graph
    double damping = kDampedBySchedule;
    MostlyEmpty<std::string> given_name;           // empty: the kind and the number
    MostlyEmpty<std::vector<FactorId>>
        fused_from;  // the factors of the graph it stands for; empty: the one of its number

    std::string name() const { return name_or_number(given_name.get(), kind->name(), number); }
    ShortList<FactorId> origins() const;
  };
  std::vector<Variable> variables;
  std::vector<Factor> factors;
  std::shared_ptr<std::list<Parameters>> parameters = std::make_shared<std::list<Parameters>>();
  std::shared_ptr<const GivenNames> names = std::make_shared<const GivenNames>();
  std::uint32_t elements = 0;
  std::uint16_t mark = 0;  // mark of the user's graph
  std::vector<const Kind*> kinds = {};  // kinds of the factors before fusion
  bool has_plates = false;              // some factor has several slots, or lies along a chain
};

Resolved resolve(const Graph& graph, const Registry& registry, const CompileOptions& options);

// Sets the message function of every port that leads to an unobserved variable; throws if the method has none.
void resolve_messages(const Resolved& graph, Resolved::Factor& factor);

// True if all variables of the factor are shared: it belongs to no example.
bool connects_shared_alone(const Resolved& graph, const Resolved::Factor& factor);

// For solvers that need every table at compile time.
void refuse_given_tables(const Resolved& graph, std::string_view who);

// Replaces the pairs of factors that the registry can fuse.
void fuse(Resolved& graph, const Registry& registry);

}  // namespace dma
