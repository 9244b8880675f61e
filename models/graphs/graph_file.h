// A factor graph and what is observed in it as JSON that people read and write.
//
//   {
//     "variables": {
//       "skill": {"size": 3},
//       "rain": {"family": "bernoulli"},
//       "pulse": {"categories": ["LOW", "NORMAL", "HIGH"], "observed": "LOW"},   family categorical(3)
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
//                        "of": [{"factor": "effects", "parameter": "variance", "power": 2}]},
//                "spread": {"prior": {"half_normal": 1}, "covariance": ["row0", "row1"], "concentration": 2,
//                           "mean": [0, 0]}}
//
// The second is learn_covariance (vectors.h): the factors of the rows, with the "mean" of a prior, or the "gains" of
// noise, row after row. Its prior is that of the standard deviations.
//
// A variable may have a "start", as many numbers as it would have if observed: where the joint solver begins.
//
// A connection is the name of a variable, or an object with "variable" and, if wanted, "port" and "reach": identical,
// row, column, all_to_one, gather (with "table"), shift (with "lag"), given (a table that is data, of so many
// "entries"; see graph_model.h). A factor may have a "name", a "method" and a "damping" of its own, and count only
// "when": {"effective": "yes"} (engine/gates/gates.h); a variable may be "shared"; "description" is free text. BIF and
// UAI files are read as well (network_files.h), and g2o files of poses (poses.h).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/joint/hyper.h"
#include "engine/run/state.h"
#include "models/graphs/vectors.h"

namespace dma {

// An observation from the command line: pulse and LOW, or level and 1.5, or x and "1, 2, 3".
struct GivenText {
  std::string variable, value;
};
// Their variables, for those who ask many times.
std::unordered_set<std::string_view> variables_of(std::span<const GivenText> given);

struct GraphFile {
  struct Observation {
    VariableId variable;
    std::vector<std::optional<double>> values;
  };
  struct Covariance {  // the arguments of learn_covariance
    std::string name;
    VectorFactor factor;
    HyperPrior sd;
    double concentration = 1;
  };
  std::string description;
  Graph graph;
  std::vector<Observation> observations;
  std::vector<Observation> starts = {};  // where the joint solver begins
  std::vector<Hyper> hypers = {};
  std::vector<Covariance> covariances = {};
  std::string schedule, method;  // empty: not said
  std::vector<std::string> places = {};  // where the factors stand: "line 12"; empty: as in JSON

  // Adds observations, or replaces them. The variables must be observed ones; an unknown name or category is an Error
  // that offers the nearest one.
  void observe(std::span<const GivenText> given);
  // Both of them, for compile(graph, joint(options), ...).
  void add_hypers(JointOptions& options) const;
  // Gives a state of this graph everything that is observed, and one of joint() its starts.
  void observe(State& state) const;
};

// Variables that are given a value are observed. An Error says where in the file, as a JSON pointer or a line:
// "/factors/2/connects/0: ...".
GraphFile parse_graph(std::string_view text, std::span<const GivenText> given = {});
// A complaint about the graph, as compile() and run() make them, with the place in the file of the first factor or
// variable it names: "/factors/2: factor 'sum2' (sum): ...".
std::string located(const GraphFile& file, const std::string& complaint);
// The text that parse_graph reads as the same graph, digit by digit.
std::string graph_text(const GraphFile& file);

}  // namespace dma
