// Measurements of angles, rotations and poses: variables of the families angle, rotation, pose2 and pose3, solved by
// joint(). A pose2 is x, y and an angle; a pose3 is x, y, z and a rotation, written as its axis times its angle.
// Beliefs are over steps: a position moves in the frame of the world, a rotation turns in that of the body.
//
//   const VariableId x = g.variable("x", 3, "pose2");
//   point_prior(g, gather(x, {0}), {0, 0, 0}, SpreadMatrix::covariance(...));
//   between(g, gather(x, {0, 1}), gather(x, {1, 2}), {1, 0, 0.1, 1, 0, 0.2}, SpreadMatrix::precision(...));
//
// A connection may have many points; measurement and matrix are then shared, or given per point.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/graphs/graph_file.h"
#include "models/graphs/vectors.h"

namespace dma {

// Each function returns the variable of its residuals, one per measured number. b in the frame of a: log(measured^-1
// a^-1 b) is noise.
VariableId between(Graph& g, const Connection& a, const Connection& b, const std::vector<double>& measured,
                   const SpreadMatrix& matrix, const Loss& loss = {});
// The step from `at` to x is noise, along the directions of the belief.
VariableId point_prior(Graph& g, const Connection& x, const std::vector<double>& at, const SpreadMatrix& matrix,
                       const Loss& loss = {});
// The distance from pose x to the point p, a block of 2 or 3 numbers.
VariableId range(Graph& g, const Connection& x, const Connection& p, const std::vector<double>& measured,
                 const SpreadMatrix& matrix, const Loss& loss = {});
// The direction of p in the frame of x: an angle, or azimuth and elevation.
VariableId bearing(Graph& g, const Connection& x, const Connection& p, const std::vector<double>& measured,
                   const SpreadMatrix& matrix, const Loss& loss = {});
// The point p in the frame of x.
VariableId landmark(Graph& g, const Connection& x, const Connection& p, const std::vector<double>& measured,
                    const SpreadMatrix& matrix, const Loss& loss = {});

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
