// A factor graph and what is observed in it as JSON that people read and write.
//
//   {
//     "variables": {
//       "skill": {"size": 3},
//       "rain": {"family": "bernoulli"},
//       "seen": {"size": 2, "observed": [1.5, null]},                null: missing
//       "dice": {"family": "dirichlet(2)", "observed": [0.4, 0.6]}   of several elements: a list of such lists
//     },
//     "factors": [
//       {"kind": "gaussian_prior", "connects": ["skill"], "parameters": {"mean": 0, "variance": 4}},
//       {"kind": "gaussian_noise", "connects": [{"variable": "skill", "reach": "gather", "table": [0, 2]}, "seen"],
//        "parameters": {"variance": 1}}
//     ],
//     "schedule": "flooding", "method": "ep"
//   }
//
// Parameters that are not known, integrated over by the joint solver (engine/joint/hyper.h):
//
//     "hypers": {"tau": {"prior": {"half_cauchy": 5},
//                        "of": [{"factor": "effects", "parameter": "variance", "power": 2}]}}
//
// A connection is the name of a variable, or an object with "variable" and, if wanted, "port" and "reach": identical,
// row, column, all_to_one, gather (with "table"), shift (with "lag"). A factor may have a "name", a "method" and a
// "damping" of its own; a variable may be "shared"; "description" is free text.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/joint/hyper.h"
#include "engine/run/state.h"

namespace dma {

struct GraphFile {
  struct Observation {
    VariableId variable;
    std::vector<std::optional<double>> values;
  };
  std::string description;
  Graph graph;
  std::vector<Observation> observations;
  std::vector<Hyper> hypers = {};  // for JointOptions
  std::string schedule, method;    // empty: not said

  // Gives a state of this graph everything that is observed.
  void observe(State& state) const;
};

// An Error says where in the file, as a JSON pointer: "/factors/2/connects/0: ...".
GraphFile parse_graph(std::string_view text);
// A complaint about the graph, as compile() and run() make them, with the place in the file of the first factor or
// variable it names: "/factors/2: factor 'sum2' (sum): ...".
std::string located(const GraphFile& file, const std::string& complaint);
// The text that parse_graph reads as the same graph, digit by digit.
std::string graph_text(const GraphFile& file);

}  // namespace dma
