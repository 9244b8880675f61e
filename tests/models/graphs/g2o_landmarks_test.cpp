// Points among the poses of a g2o file, against Gauss-Newton with derivatives by differences.
#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

#include "engine/joint/joint.h"
#include "engine/support/text.h"
#include "factors/standard_registry.h"
#include "models/graphs/expressions.h"
#include "models/graphs/graph_file.h"
#include "tests/oracles/plain_matrix.h"
#include "tests/oracles/relative.h"

using namespace dma;

namespace {

using oracle::PlainMatrix;

// Gauss-Newton from this start, with derivatives by differences.
PlainMatrix solved(const auto& residuals, PlainMatrix u) {
  for (int i = 0; i < 20; ++i) {
    const PlainMatrix r = residuals(u);
    PlainMatrix slopes(r.rows(), u.rows());
    for (std::size_t k = 0; k < u.rows(); ++k) {
      PlainMatrix above = u, below = u;
      above[k] += 1e-6, below[k] -= 1e-6;
      const PlainMatrix by = residuals(above) - residuals(below);
      for (std::size_t n = 0; n < r.rows(); ++n) slopes(n, k) = by[n] / 2e-6;
    }
    u -= (slopes.transpose() * slopes).solve(slopes.transpose() * r);
  }
  return u;
}

}  // namespace

TEST_CASE("poses: landmarks of a g2o file") {
  const std::string text =
      "VERTEX_SE2 0 0 0 0\nVERTEX_XY 9 1.2 2.1\nEDGE_SE2 0 1 2.1 0 1.5 9 0 0 9 0 25\n"
      "EDGE_SE2 1 2 1.9 0.1 1.6 9 0 0 9 0 25\nEDGE_SE2 2 3 2 0 1.62 9 0 0 9 0 25\n"
      "EDGE_SE2 3 0 2.05 -0.1 1.55 9 0 0 9 0 25\nEDGE_SE2_XY 0 9 1 2 16 3 16\nEDGE_SE2_XY 1 9 2.1 0.9 16 3 16\n"
      "EDGE_SE2_XY 2 9 1 0.1 16 3 16\nEDGE_SE2_XY 1 8 1 -1 16 0 16\nEDGE_SE2_XY 2 8 -1.1 3.1 16 0 16\n";
  PoseGraph poses = parse_g2o(text);
  PlainMatrix u = PlainMatrix::column({2.1, 0, 1.5, 2, 2, 3.1, 0, 2, -1.6, 1.2, 2.1, 3, 1});  // poses 1 to 3, 9 and 8
  const auto residuals = [&](const PlainMatrix& at) {
    PlainMatrix r(3 * 4 + 2 * 5, 1);
    std::size_t next = 0;
    for (const PoseGraph::Edge& e : poses.edges) {
      const auto place = [&](std::uint32_t v) {
        const auto id = static_cast<std::size_t>(poses.vertices[v].id);
        if (id > 7) return PlainMatrix::column({at[id == 9 ? 9 : 11], at[id == 9 ? 10 : 12], 0});
        return id == 0 ? PlainMatrix(3, 1) : at.segment(3 * (id - 1), 3);
      };
      const auto turned_back = [](double angle, double x, double y) {
        const double c = std::cos(angle), s = std::sin(angle);
        return std::pair(c * x + s * y, c * y - s * x);
      };
      const PlainMatrix a = place(e.from), b = place(e.to);
      const std::size_t n = e.measured.size();
      const double turn = n == 3 ? e.measured[2] : 0;
      const auto [ahead, left] = turned_back(a[2], b[0] - a[0], b[1] - a[1]);
      const auto [x, y] = turned_back(turn, ahead - e.measured[0], left - e.measured[1]);
      const PlainMatrix own = PlainMatrix::column({x, y, std::remainder(b[2] - a[2] - turn, 2 * std::numbers::pi)});
      PlainMatrix information(n, n);
      for (std::size_t i = 0; i < n * n; ++i) information[i] = e.information[i];
      r.set_segment(next, information.lower_root().transpose() * own.segment(0, n)), next += n;
    }
    return r;
  };
  u = solved(residuals, u);
  const GraphFile file = poses.graph();
  const Plan plan = compile(file.graph, joint(), standard_registry());
  State state(plan);
  file.observe(state);
  CHECK(run(plan, state).joint->objective == oracle::relative(0.5 * dot(residuals(u), residuals(u)), 1e-8));
  poses.move_to(state);
  for (const PoseGraph::Vertex& v : parse_g2o(g2o_text(poses)).vertices) {
    const std::size_t first = v.id == 9 ? 9 : v.id == 8 ? 11 : 3 * (static_cast<std::size_t>(v.id) - 1);
    CHECK(v.is_point == (v.id > 7));
    for (std::size_t k = 0; v.id > 0 && k < 2; ++k) CHECK(v.at[k] == oracle::relative(u[first + k], 1e-5));
  }
  CHECK_THROWS_WITH_AS(parse_g2o(text + "FIX 9\n"), doctest::Contains("vertex 9 is a point, and fixed;"), Error);
  CHECK_THROWS_WITH_AS(parse_g2o(text + "EDGE_SE2 9 1 1 0 0 1 0 0 1 0 1\n"), doctest::Contains("vertices 9 "), Error);
}
