// A factor graph and its observations as JSON that people read and write.
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
// Unknown parameters, which the joint solver integrates out (engine/joint/hyper.h):
//
//     "hypers": {"tau": {"prior": {"half_cauchy": 5},
//                        "of": [{"factor": "effects", "parameter": "variance", "power": 2}]},
//                "spread": {"prior": {"half_normal": 1}, "covariance": ["row0", "row1"], "concentration": 2,
//                           "mean": [0, 0]}}
//
// The second is learn_covariance (vectors.h): the factors of the rows, with the "mean" of a prior, or the "gains" of
// noise, row by row. Its prior is that of the standard deviations.
//
// Numbers may be left open, for learning to choose: "choices" (graph_choices.h).
//
// A variable may have a "start", with as many numbers as an observation: the joint solver's starting values.
//
// A connection is the name of a variable, or an object with "variable" and, if wanted, "port" and "reach": identical,
// row, column, all_to_one, gather (with "table"), shift (with "lag"), given (a table that is data, of so many
// "entries"; see graph_model.h). A factor may have a "name", a "method" and a "damping" of its own, and count only
// "when": {"effective": "yes"} (engine/gates/gates.h); a variable may be "shared"; "description" is free text. Files in
// the formats BIF and UAI (discrete_files.h) and g2o files of poses (poses.h) are read as well.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/joint/hyper.h"
#include "models/graphs/vectors.h"

namespace dma {

class State;

// Numbers that a file leaves open (graph_choices.h).
struct GraphChoices {
  std::vector<std::string> size_names = {};
  std::vector<std::vector<std::size_t>> sizes = {};  // to try, one of every name
  std::string smoothing_name = {};
  std::vector<double> smoothings = {};
  std::string text = {};  // the whole file
  bool empty() const { return text.empty(); }
};

// An observation from the command line: pulse and LOW, or level and 1.5, or x and "1, 2, 3".
struct GivenText {
  std::string variable, value;
};
// Their variables, as a set for repeated look-ups.
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
  std::vector<Observation> starts = {};  // starting values of the joint solver
  std::vector<Hyper> hypers = {};
  std::vector<Covariance> covariances = {};
  std::string schedule, method;          // empty: not given
  using Choices = GraphChoices;
  Choices choices = {};                  // numbers that it leaves open; the graph has the first of each
  std::vector<std::string> places = {};  // location of each factor: "line 12"; empty: its JSON pointer

  // The same file with these choices.
  GraphFile chosen(const std::vector<std::size_t>& sizes, double smoothing) const;

  // Adds observations, or replaces them. The variables must be observed; an unknown name or category is an Error that
  // suggests the nearest one.
  void observe(std::span<const GivenText> given);
  // Adds both hypers and covariances, for compile(graph, joint(options), ...).
  void add_hypers(JointOptions& options) const;
  // Sets all observations in a state of this graph, and the starts for joint().
  void observe(State& state) const;
};

// Variables with a value are observed. An Error gives the location in the file, as a JSON pointer or a line:
// "/factors/2/connects/0: ...".
GraphFile parse_graph(std::string_view text, std::span<const GivenText> given = {});
// An error message of compile() or run(), prefixed with the location in the file of the first factor or variable it
// names: "/factors/2: factor 'sum2' (sum): ...".
std::string located(const GraphFile& file, const std::string& complaint);
// The text that parse_graph reads as the same graph, digit by digit.
std::string graph_text(const GraphFile& file);

}  // namespace dma
