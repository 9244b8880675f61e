// Points among the poses of a g2o file, beside Gauss-Newton by differences.
#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numbers>

#include "engine/joint/joint.h"
#include "engine/support/error.h"
#include "factors/standard_registry.h"
#include "models/graphs/poses.h"

using namespace dma;

TEST_CASE("poses: landmarks of a g2o file") {
  const std::string text =
      "VERTEX_SE2 0 0 0 0\nVERTEX_XY 9 1.2 2.1\nEDGE_SE2 0 1 2.1 0 1.5 9 0 0 9 0 25\n"
      "EDGE_SE2 1 2 1.9 0.1 1.6 9 0 0 9 0 25\nEDGE_SE2 2 3 2 0 1.62 9 0 0 9 0 25\n"
      "EDGE_SE2 3 0 2.05 -0.1 1.55 9 0 0 9 0 25\nEDGE_SE2_XY 0 9 1 2 16 3 16\nEDGE_SE2_XY 1 9 2.1 0.9 16 3 16\n"
      "EDGE_SE2_XY 2 9 1 0.1 16 3 16\nEDGE_SE2_XY 1 8 1 -1 16 0 16\nEDGE_SE2_XY 2 8 -1.1 3.1 16 0 16\n";
  PoseGraph poses = parse_g2o(text);
  Eigen::VectorXd u{{2.1, 0, 1.5, 2, 2, 3.1, 0, 2, -1.6, 1.2, 2.1, 3, 1}};  // poses 1 to 3, landmarks 9 and 8
  const auto residuals = [&](const Eigen::VectorXd& at) {
    Eigen::VectorXd r(3 * 4 + 2 * 5);
    Eigen::Index next = 0;
    for (const PoseGraph::Edge& e : poses.edges) {
      const auto place = [&](std::uint32_t v) -> Eigen::Vector3d {
        const auto id = static_cast<Eigen::Index>(poses.vertices[v].id);
        if (id > 7) return {at[id == 9 ? 9 : 11], at[id == 9 ? 10 : 12], 0};
        return id == 0 ? Eigen::Vector3d(0, 0, 0) : Eigen::Vector3d(at.segment(3 * (id - 1), 3));
      };
      const Eigen::Vector3d a = place(e.from), b = place(e.to);
      const auto n = static_cast<Eigen::Index>(e.measured.size());
      const double turn = n == 3 ? e.measured[2] : 0;
      const Eigen::Vector2d off = Eigen::Rotation2Dd(-a[2]) * (b - a).head(2) - Eigen::Vector2d(e.measured.data());
      Eigen::Vector3d own;
      own << Eigen::Rotation2Dd(-turn) * off, std::remainder(b[2] - a[2] - turn, 2 * std::numbers::pi);
      const Eigen::MatrixXd root = Eigen::Map<const Eigen::MatrixXd>(e.information.data(), n, n).llt().matrixU();
      r.segment(next, n) = root * own.head(n), next += n;
    }
    return r;
  };
  for (int i = 0; i < 20; ++i) {
    const Eigen::VectorXd r = residuals(u);
    Eigen::MatrixXd slopes(r.size(), u.size());
    for (Eigen::Index k = 0; k < u.size(); ++k) {
      const Eigen::VectorXd by = 1e-6 * Eigen::VectorXd::Unit(u.size(), k);
      slopes.col(k) = (residuals(u + by) - residuals(u - by)) / 2e-6;
    }
    u -= (slopes.transpose() * slopes).ldlt().solve(slopes.transpose() * r);
  }
  const GraphFile file = poses.graph();
  const Plan plan = compile(file.graph, joint(), standard_registry());
  State state(plan);
  file.observe(state);
  CHECK(run(plan, state).joint->objective == doctest::Approx(0.5 * residuals(u).squaredNorm()).epsilon(1e-8));
  poses.move_to(state);
  for (const PoseGraph::Vertex& v : parse_g2o(g2o_text(poses)).vertices) {
    const Eigen::Index first = v.id == 9 ? 9 : v.id == 8 ? 11 : 3 * (static_cast<Eigen::Index>(v.id) - 1);
    CHECK(v.is_point == (v.id > 7));
    for (Eigen::Index k = 0; v.id > 0 && k < 2; ++k)
      CHECK(v.at[static_cast<std::size_t>(k)] == doctest::Approx(u[first + k]).epsilon(1e-5));
  }
  CHECK_THROWS_WITH_AS(parse_g2o(text + "FIX 9\n"), doctest::Contains("vertex 9 is a point, and fixed;"), Error);
  CHECK_THROWS_WITH_AS(parse_g2o(text + "EDGE_SE2 9 1 1 0 0 1 0 0 1 0 1\n"), doctest::Contains("vertices 9 "), Error);
}
