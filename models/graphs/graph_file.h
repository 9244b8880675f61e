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
// Unknown parameters, which the joint solver integrates out (engine/joint/joint.h):
//
//     "hypers": {"tau": {"prior": {"half_cauchy": 5},
//                        "of": [{"factor": "effects", "parameter": "variance", "power": 2}]},
//                "spread": {"prior": {"half_normal": 1}, "covariance": ["row0", "row1"], "concentration": 2,
//                           "mean": [0, 0]}}
//
// The second is learn_covariance: the factors of the rows, with the "mean" of a prior, or the "gains" of
// noise, row by row. Its prior is that of the standard deviations.
//
// Numbers may be left open, for learning to choose: "choices" (graph_choices.h).
//
// A variable may have a "start", with as many numbers as an observation: the joint solver's starting values.
//
// A connection is the name of a variable, or an object with "variable" and, if wanted, "port" and "reach": identical,
// row, column, all_to_one, gather (with "table"), shift (with "lag"), given (a table that is data, of so many
// "entries"; see table_model.h). A factor may have a "name", a "method" and a "damping" of its own, and count only
// "when": {"effective": "yes"} (engine/gates/gates.h); a variable may be "shared"; "description" is free text. Files in
// the formats BIF and UAI (discrete_files.h) and g2o files of poses are read as well.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/joint/joint.h"
#include "models/graphs/expressions.h"

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

// "cauchy", or "huber:1.5" with its width; empty: no loss.
Loss parse_loss(const std::string& text);

// A graph of poses as g2o writes it: VERTEX_SE2, EDGE_SE2, VERTEX_SE3:QUAT, EDGE_SE3:QUAT and FIX; points of the plane
// by VERTEX_XY and EDGE_SE2_XY.
struct PoseGraph {
  struct Vertex {
    std::uint64_t id;
    std::vector<double> at;  // as a pose2, a pose3 or a point of the plane; empty until placed
    bool is_fixed = false, is_point = false;
  };
  struct Edge {
    std::uint32_t from, to;                     // indices in `vertices`
    std::vector<double> measured, information;  // n numbers, and n x n
  };
  bool is_3d = false;
  std::vector<Vertex> vertices;
  std::vector<Edge> edges;

  // Variables "pose", of the poses that are not fixed, in their order, "fixed", and "point", two numbers each.
  // If the file fixes no pose, the first one is fixed. The loss applies to loop closures: edges between poses that are
  // not consecutive.
  GraphFile graph(const Loss& loss = {}) const;
  // Replaces element names of that graph in a text by vertices: "vertex 7" for "pose[2]", "vertex 9 x" for "point[0]".
  std::string by_vertex(std::string text) const;
  // Moves the vertices to their means in a state of that graph; undetermined ones stay.
  void move_to(const State& state);
};

bool is_g2o(std::string_view text);  // by its first words
// An Error gives the line, the text found and what was expected. Vertices without a line are placed along the edges.
PoseGraph parse_g2o(std::string_view text);
std::string g2o_text(const PoseGraph& graph);  // in the format g2o

}  // namespace dma
