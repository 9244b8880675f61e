// Points among the poses of a g2o file, against Gauss-Newton with derivatives by differences.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <Eigen/Geometry>
#include <cmath>
#include <numbers>

#include "engine/joint/joint.h"
#include "engine/support/error.h"
#include "factors/standard_registry.h"
#include "models/graphs/poses.h"
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

namespace {

struct Pose {
  PlainMatrix place = PlainMatrix(3, 1), turn = PlainMatrix::identity(3);
  Pose operator*(const Pose& other) const { return {place + turn * other.place, turn * other.turn}; }
  PlainMatrix sees(const PlainMatrix& point) const { return turn.transpose() * (point - place); }
};

PlainMatrix exp_by_series(const PlainMatrix& w) {
  const PlainMatrix cross{{0, -w[2], w[1]}, {w[2], 0, -w[0]}, {-w[1], w[0], 0}};
  PlainMatrix sum = PlainMatrix::identity(3), term = sum;
  for (int k = 1; k < 40 && term.norm() > 1e-20; ++k) sum += term = 1.0 / k * (term * cross);
  return sum;
}
PlainMatrix log_of(const PlainMatrix& turn) {  // less than half a turn
  const PlainMatrix twice =
      PlainMatrix::column({turn(2, 1) - turn(1, 2), turn(0, 2) - turn(2, 0), turn(1, 0) - turn(0, 1)});
  const double sine = 0.5 * twice.norm(), angle = std::atan2(sine, 0.5 * (turn.trace() - 1));
  return (sine < 1e-9 ? 0.5 : angle / (2 * sine)) * twice;
}
std::string text_of(const Pose& p) {
  const Eigen::Quaterniond q(Eigen::Matrix3d(p.turn.transpose().values().data()));  // column by column
  return fmt::format("{} {} {} {} {} {} {}", p.place[0], p.place[1], p.place[2], q.x(), q.y(), q.z(), q.w());
}

}  // namespace

// Four poses and three points, observed by two sensors, one of which is mounted askew.
TEST_CASE("poses: landmarks of a g2o file in space") {
  const auto at = [](double x, double y, double z) { return PlainMatrix::column({x, y, z}); };
  const Pose offsets[2] = {{}, {at(0.2, -0.1, 0.3), exp_by_series(at(0.4, -1.1, 2))}};
  std::vector<Pose> truth(4);
  for (int i = 1; i < 4; ++i) {
    const auto v = static_cast<std::size_t>(i);
    truth[v] = truth[v - 1] * Pose{at(1, 0.1 * i, 0.3), exp_by_series(at(0.2 * i, -0.3, 1.2))};
  }
  const PlainMatrix points[3] = {at(2, 1, 0.5), at(-1, 2, 1), at(0.5, -1, 2)};
  const PlainMatrix weight{{16, 3, 1}, {3, 9, -2}, {1, -2, 12}};
  int next = 0;
  const auto noise = [&](double size) {
    const double phase = 1.7 * ++next;
    return at(size * std::sin(phase), size * std::cos(2 * phase), size * std::sin(3 * phase + 1));
  };
  struct Step {
    std::size_t a, b;
    Pose seen;
  };
  struct Sight {
    std::size_t a, p, offset;
    PlainMatrix seen;
  };
  std::vector<Step> steps;
  std::vector<Sight> sights;
  std::string text;
  for (std::size_t o = 0; o < 2; ++o) text += fmt::format("PARAMS_SE3OFFSET {} {}\n", o + 5, text_of(offsets[o]));
  text += "VERTEX_SE3:QUAT 0 0 0 0 0 0 0 1\nVERTEX_TRACKXYZ 11 -1.1 1.9 1\n";
  for (const auto& [a, b] : {std::pair<std::size_t, std::size_t>{0, 1}, {1, 2}, {2, 3}, {3, 0}}) {
    Pose seen{truth[a].sees(truth[b].place) + noise(0.1), truth[a].turn.transpose() * truth[b].turn};
    seen.turn = seen.turn * exp_by_series(noise(0.05));
    steps.push_back({a, b, seen});
    text += fmt::format("EDGE_SE3:QUAT {} {} {} 9 0 0 0 0 0 9 0 0 0 0 9 0 0 0 25 0 0 25 0 25\n", a, b, text_of(seen));
  }
  for (std::size_t p = 0; p < 3; ++p)
    for (std::size_t a = p; a < 4; ++a) {
      const std::size_t o = (a + p) % 2;
      const PlainMatrix seen = (truth[a] * offsets[o]).sees(points[p]) + noise(0.1);
      sights.push_back({a, p, o, seen});
      text += fmt::format("EDGE_SE3_TRACKXYZ {} {} {} {} {} {} 16 3 1 9 -2 12\n", a, 10 + p, o + 5, seen[0], seen[1],
                          seen[2]);
    }
  // Steps of all poses but the first, and points.
  const auto pose_at = [&](const PlainMatrix& u, std::size_t v) -> Pose {
    if (v == 0) return truth[0];
    const std::size_t first = 6 * (v - 1);
    return {truth[v].place + u.segment(first, 3), truth[v].turn * exp_by_series(u.segment(first + 3, 3))};
  };
  const auto point_at = [&](const PlainMatrix& u, std::size_t p) { return points[p] + u.segment(18 + 3 * p, 3); };
  const PlainMatrix root = weight.lower_root().transpose();
  const auto residuals = [&](const PlainMatrix& u) {
    PlainMatrix r(6 * steps.size() + 3 * sights.size(), 1);
    std::size_t next_row = 0;
    for (const Step& s : steps) {
      const Pose a = pose_at(u, s.a), b = pose_at(u, s.b);
      r.set_segment(next_row, 3 * s.seen.sees(a.sees(b.place)));
      r.set_segment(next_row + 3, 5 * log_of(s.seen.turn.transpose() * a.turn.transpose() * b.turn));
      next_row += 6;
    }
    for (const Sight& s : sights) {
      r.set_segment(next_row, root * ((pose_at(u, s.a) * offsets[s.offset]).sees(point_at(u, s.p)) - s.seen));
      next_row += 3;
    }
    return r;
  };
  const PlainMatrix u = solved(residuals, PlainMatrix(27, 1));
  PoseGraph poses = parse_g2o(text);
  const GraphFile file = poses.graph();
  const Plan plan = compile(file.graph, joint(), standard_registry());
  State state(plan);
  file.observe(state);
  CHECK(run(plan, state).joint->objective == oracle::relative(0.5 * dot(residuals(u), residuals(u)), 1e-9));
  CHECK(poses.by_vertex("'pose[0]', 'point[0]' and point[5]") == "'vertex 1', 'vertex 11 x' and vertex 10 z");
  poses.move_to(state);
  const PoseGraph again = parse_g2o(g2o_text(poses));  // with the offset applied to the measurements
  for (const PoseGraph::Vertex& v : again.vertices) {
    REQUIRE(v.is_point == (v.id >= 10));
    const PlainMatrix expected = v.is_point ? point_at(u, v.id - 10) : pose_at(u, v.id).place;
    CHECK((at(v.at[0], v.at[1], v.at[2]) - expected).norm() < 1e-6);
    if (v.is_point) continue;
    CHECK((exp_by_series(at(v.at[3], v.at[4], v.at[5])) - pose_at(u, v.id).turn).norm() < 1e-6);
  }
  const GraphFile written = again.graph();
  const Plan same = compile(written.graph, joint(), standard_registry());
  State found(same);
  written.observe(found);
  CHECK(run(same, found).joint->objective == oracle::relative(0.5 * dot(residuals(u), residuals(u)), 1e-9));
  CHECK(is_g2o(text));
  const auto refused = [&](const std::string& line, const char* why) {
    CHECK_THROWS_WITH_AS(parse_g2o(text + line), doctest::Contains(why), Error);
  };
  refused("EDGE_SE3_TRACKXYZ 1 10 7 0 0 0 1 0 0 1 0 1\n",
          "line 18: there is no offset '7'; a line PARAMS_SE3OFFSET 7 0 0 0 0 0 0 1 is expected before it");
  refused("EDGE_SE3_TRACKXYZ 1 10 0 0 0 1 0 0 1 0 1\n",
          "11 numbers; 12 are expected: two vertices and an offset, 3 of the point, 6 of the information");
  refused("PARAMS_SE3OFFSET 7 0 0 0\n", "4 numbers; 8 are expected: its own, 7 of the pose");
  refused("FIX 10\n", "vertex 10 is a point, and fixed; give it a VERTEX_TRACKXYZ line, or none");
  refused("VERTEX_XY 4 0 0\n", "'VERTEX_XY' is of 2 dimensions");
}
