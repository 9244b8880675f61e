// A walk of poses with loop closures, from odometry to the solution of Levenberg-Marquardt.
#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <numbers>

#include "factors/authoring/from_function.h"
#include "tests/engine/joint/joint_models.h"
#include "tests/oracles/relative.h"

namespace {

using namespace dma;
using namespace dma::joint_test;

double wrap(double angle) { return std::remainder(angle, 2 * std::numbers::pi); }

// Laps around a square with steps of 1, measured with noise; passing a place again closes a loop.
struct PoseWalk {
  struct Edge {
    std::uint32_t from, to;
    double x, y, angle;
  };
  static constexpr double kSd = 0.1, kAngleSd = 0.08, kPrior = 1e-6;
  static constexpr std::uint32_t kPoses = 160, kSide = 10, kRound = 4 * kSide;
  std::vector<Edge> edges;
  std::vector<double> x{0}, y{0}, angle{0};  // odometry

  PoseWalk() {
    boost::random::mt19937_64 random(3);
    boost::random::normal_distribution<double> normal;
    const auto measure = [&](std::uint32_t from, std::uint32_t to, double dx, double dy, double turn) {
      edges.push_back(
          {from, to, dx + kSd * normal(random), dy + kSd * normal(random), wrap(turn + kAngleSd * normal(random))});
    };
    for (std::uint32_t t = 0; t + 1 < kPoses; ++t) {
      measure(t, t + 1, 1, 0, (t + 1) % kSide == 0 ? std::numbers::pi / 2 : 0);
      const Edge& e = edges.back();
      x.push_back(x[t] + std::cos(angle[t]) * e.x - std::sin(angle[t]) * e.y);
      y.push_back(y[t] + std::sin(angle[t]) * e.x + std::cos(angle[t]) * e.y);
      angle.push_back(angle[t] + e.angle);
    }
    for (std::uint32_t t = kRound; t < kPoses; t += 7) measure(t, t - kRound, 0, 0, 0);
  }

  // Residuals of one edge, of standard deviation 1, and their derivatives by (x, y, angle) of both ends.
  static Eigen::Vector3d residuals(const Edge& e, const Eigen::VectorXd& p, Eigen::Matrix<double, 3, 6>& by) {
    const double c = std::cos(p[3 * e.from + 2]), s = std::sin(p[3 * e.from + 2]);
    const double dx = p[3 * e.to] - p[3 * e.from], dy = p[3 * e.to + 1] - p[3 * e.from + 1];
    by << -c, -s, -s * dx + c * dy, c, s, 0,  //
        s, -c, -c * dx - s * dy, -s, c, 0,    //
        0, 0, -1, 0, 0, 1;
    Eigen::Vector3d r(c * dx + s * dy - e.x, -s * dx + c * dy - e.y,
                      wrap(p[3 * e.to + 2] - p[3 * e.from + 2] - e.angle));
    const Eigen::Vector3d scale(1 / kSd, 1 / kSd, 1 / kAngleSd);
    by = scale.asDiagonal() * by;
    return r.cwiseProduct(scale);
  }
  double objective(const Eigen::VectorXd& p) const {
    double sum = p.head(3).squaredNorm() / kPrior;
    Eigen::Matrix<double, 3, 6> by;
    for (const Edge& e : edges) sum += residuals(e, p, by).squaredNorm();
    return 0.5 * sum;
  }
  // Dense Levenberg-Marquardt: damping is divided by ten after a step that lowers the cost, multiplied by ten
  // otherwise.
  double solve(Eigen::VectorXd& p) const {
    double damping = 1e-6, at = objective(p);
    for (int solves = 0; solves < 300; ++solves) {
      Eigen::MatrixXd information = Eigen::MatrixXd::Zero(p.size(), p.size());
      Eigen::VectorXd pull = Eigen::VectorXd::Zero(p.size());
      information.diagonal().head(3).setConstant(1 / kPrior);
      pull.head(3) = -p.head(3) / kPrior;
      for (const Edge& e : edges) {
        Eigen::Matrix<double, 3, 6> by;
        const Eigen::Vector3d r = residuals(e, p, by);
        const Eigen::Index places[] = {3 * e.from, 3 * e.from + 1, 3 * e.from + 2,
                                       3 * e.to,   3 * e.to + 1,   3 * e.to + 2};
        for (int i = 0; i < 6; ++i) {
          pull[places[i]] -= by.col(i).dot(r);
          for (int j = 0; j < 6; ++j) information(places[i], places[j]) += by.col(i).dot(by.col(j));
        }
      }
      information.diagonal() *= 1 + damping;
      const Eigen::VectorXd moved = p + information.llt().solve(pull);
      const double found = objective(moved);
      damping *= found < at ? 0.1 : 10;
      if (!(found < at)) continue;
      const double fall = at - found;
      p = moved, at = found;
      if (fall < 1e-12 * at) break;
    }
    return at;
  }
};

}  // namespace

TEST_CASE("joint: a pose graph from odometry ends where Levenberg-Marquardt with wrapped angles does, in few solves") {
  const PoseWalk walk;
  Registry registry = standard_registry();
  registry.add(factor_from_function(
      "ahead", [](double dx, double dy, double a) { return std::cos(a) * dx + std::sin(a) * dy; }));
  registry.add(factor_from_function(
      "aside", [](double dx, double dy, double a) { return std::cos(a) * dy - std::sin(a) * dx; }));
  registry.add(factor_from_function("turn", [](double a, double b, double seen) { return wrap(b - a - seen); }));
  Graph g;
  const std::size_t edges = walk.edges.size();
  const VariableId x = g.variable("x", PoseWalk::kPoses), y = g.variable("y", PoseWalk::kPoses),
                   angle = g.variable("angle", PoseWalk::kPoses);
  for (const VariableId v : {x, y, angle})
    g.factor("gaussian_prior", {gather(v, {0})}, {{"mean", 0.0}, {"variance", PoseWalk::kPrior}});
  std::vector<std::uint32_t> from, to, pairs;
  std::vector<double> seen_x, seen_y, seen_angle;
  for (const PoseWalk::Edge& e : walk.edges) {
    from.push_back(e.from), to.push_back(e.to), pairs.push_back(e.to), pairs.push_back(e.from);
    seen_x.push_back(e.x), seen_y.push_back(e.y), seen_angle.push_back(e.angle);
  }
  const VariableId dx = g.variable("dx", edges), dy = g.variable("dy", edges), ahead = g.variable("", edges),
                   aside = g.variable("", edges), turn = g.variable("", edges), sx = g.observed("sx", edges),
                   sy = g.observed("sy", edges), sa = g.observed("sa", edges), zero = g.observed("zero", edges);
  const ParameterList difference = {{"coefficients", std::vector<double>{1, -1}}};
  g.factor("sum", {gather(x, pairs), dx}, difference);
  g.factor("sum", {gather(y, pairs), dy}, difference);
  g.factor("ahead", {dx, dy, gather(angle, from), ahead});
  g.factor("aside", {dx, dy, gather(angle, from), aside});
  g.factor("turn", {gather(angle, from), gather(angle, to), sa, turn});
  g.factor("gaussian_noise", {ahead, sx}, {{"variance", PoseWalk::kSd * PoseWalk::kSd}});
  g.factor("gaussian_noise", {aside, sy}, {{"variance", PoseWalk::kSd * PoseWalk::kSd}});
  g.factor("gaussian_noise", {turn, zero}, {{"variance", PoseWalk::kAngleSd * PoseWalk::kAngleSd}});
  const Plan plan = compile(g, joint(), registry);
  State state(plan);
  state.observe(sx, seen_x), state.observe(sy, seen_y), state.observe(sa, seen_angle);
  state.observe(zero, std::vector<double>(edges, 0.0));
  set_start(state, x, walk.x), set_start(state, y, walk.y), set_start(state, angle, walk.angle);
  const Report report = run(plan, state);
  CAPTURE(report.line());
  Eigen::VectorXd p(3 * PoseWalk::kPoses);
  for (Eigen::Index t = 0; t < PoseWalk::kPoses; ++t) {
    const auto i = static_cast<std::size_t>(t);
    p.segment<3>(3 * t) = Eigen::Vector3d(walk.x[i], walk.y[i], walk.angle[i]);
  }
  CHECK(walk.objective(p) > 1000);
  const double objective = walk.solve(p);
  CHECK(objective < 100);
  CHECK(report.stop == Report::Stop::converged);
  CHECK(report.joint->objective == oracle::relative(objective, 1e-8));
  CHECK(report.joint->iterations < 40);
  for (std::size_t t = 0; t < PoseWalk::kPoses; ++t)
    CHECK(std::abs(state.belief(x).mean(t) - p[3 * static_cast<Eigen::Index>(t)]) < 1e-5);
}
