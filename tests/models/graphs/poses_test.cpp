// Graphs of poses, against Levenberg-Marquardt by hand (tools/experiments/baselines/pose_solver.h).
#include "models/graphs/expressions.h"
#include "models/graphs/graph_file.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <Eigen/Geometry>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numbers>
#include <sstream>

#include "engine/joint/joint.h"
#include "engine/support/json.h"
#include "engine/support/text.h"
#include "factors/authoring/from_function.h"
#include "factors/standard_registry.h"
#include "tests/oracles/files.h"
#include "tests/oracles/plain_matrix.h"
#include "tests/oracles/relative.h"
#include "tools/experiments/baselines/pose_solver.h"

namespace {

using namespace dma;

// GTSAM's example of a noisy square, and the poses expected by its test, within 1e-2.
constexpr const char* kToy =
    "VERTEX_SE2 0 0.000000 0.000000 0.000000\nVERTEX_SE2 1 0.774115 1.183389 1.576173\n"
    "VERTEX_SE2 2 -0.262420 2.047059 -3.127594\nVERTEX_SE2 3 -1.605649 0.993891 -1.561134\n"
    "EDGE_SE2 0 1 0.774115 1.183389 1.576173 1 0 0 1 0 1\nEDGE_SE2 1 2 0.869231 1.031877 1.579418 1 0 0 1 0 1\n"
    "EDGE_SE2 2 3 1.357840 1.034262 1.566460 1 0 0 1 0 1\nEDGE_SE2 2 0 0.303492 1.865011 -3.113898 1 0 0 1 0 1\n"
    "EDGE_SE2 0 3 -0.928526 0.993695 -1.563542 1 0 0 1 0 1\n";

struct Run {
  explicit Run(const GraphFile& file) : plan(compile(file.graph, joint(), standard_registry())), state(plan) {
    file.observe(state);
    report = run(plan, state);
  }
  Plan plan;
  State state;
  Report report;
};

// Laps of a helix, or of a circle, with noise, loops between laps, and full matrices that all differ.
PoseGraph helix(bool is_3d, std::uint32_t poses, double noise) {
  boost::random::mt19937_64 random(7);
  boost::random::normal_distribution<double> normal;
  const std::size_t n = is_3d ? 6 : 3;
  constexpr std::uint32_t kRound = 8;
  const auto pose = [&](std::uint32_t t) {
    const double angle = 2 * std::numbers::pi / kRound * t;
    const double tilt = is_3d ? 0.3 * std::sin(t) : 0;
    return Eigen::Translation3d(std::cos(angle), std::sin(angle), is_3d ? 0.1 * t : 0) *
           Eigen::AngleAxisd(angle, Eigen::Vector3d::UnitZ()) * Eigen::AngleAxisd(tilt, Eigen::Vector3d::UnitX());
  };
  std::string text;
  const auto add = [&](std::uint32_t a, std::uint32_t b) {
    oracle::PlainMatrix z(n, 1), root = oracle::PlainMatrix::identity(n);
    for (std::size_t i = 0; i < n; ++i) z[i] = noise * normal(random);
    for (std::size_t i = 0; i < n * n; ++i) root(i % n, i / n) += 0.2 * normal(random);
    const oracle::PlainMatrix information = 1 / (noise * noise) * (root * root.transpose());
    const Eigen::Isometry3d seen(pose(a).inverse() * pose(b));
    const Eigen::Vector3d place = seen.translation();
    const Eigen::Matrix3d turn = seen.rotation();
    text += fmt::format("EDGE_{} {} {} {} {}", is_3d ? "SE3:QUAT" : "SE2", a, b, place[0] + z[0], place[1] + z[1]);
    if (is_3d) {
      const Eigen::Vector3d w(z[3], z[4], z[5]);
      const Eigen::Quaterniond q(turn * Eigen::AngleAxisd(w.norm(), w.normalized()).toRotationMatrix());
      text += fmt::format(" {} {} {} {} {}", place[2] + z[2], q.x(), q.y(), q.z(), q.w());
    } else {
      text += fmt::format(" {}", std::atan2(turn(1, 0), turn(0, 0)) + z[2]);
    }
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = i; j < n; ++j) text += fmt::format(" {}", information(i, j));
    text += "\n";
  };
  for (std::uint32_t t = 0; t + 1 < poses; ++t) {
    add(t, t + 1);
    if (t >= kRound) add(t - kRound, t);
  }
  return parse_g2o(text);
}

void check_against_oracle(const PoseGraph& poses, double cauchy) {
  const baselines::SolvedPoses expected = baselines::solve_poses(poses, cauchy, true);
  const Run found(poses.graph(cauchy > 0 ? Loss{"cauchy", cauchy} : Loss{}));
  CAPTURE(found.report.line());
  CHECK(found.report.stop == Report::Stop::converged);
  CHECK(found.report.joint->objective == oracle::relative(expected.objective, 1e-7));
  PoseGraph moved = poses;
  moved.move_to(found.state);
  const std::size_t n = poses.is_3d ? 6 : 3, places = poses.is_3d ? 3 : 2;
  const oracle::PlainMatrix covariance = expected.covariance;
  const VariableId pose{0};
  const Belief belief = found.state.belief(pose);
  for (std::size_t v = 1; v < poses.vertices.size(); ++v) {
    const std::size_t first = n * (v - 1);
    for (std::size_t i = 0; i < places; ++i)
      CHECK(std::abs(moved.vertices[v].at[i] - expected.places[v][static_cast<Eigen::Index>(i)]) < 1e-4);
    if (cauchy > 0) continue;  // its weighted information differs
    // The position of the oracle moves in the frame of the body.
    const oracle::PlainMatrix turn = expected.turns[v],
                              block = turn * covariance.block(first, first, places, places) * turn.transpose();
    for (std::size_t i = 0; i < n; ++i) {
      const double variance = i < places ? block(i, i) : covariance(first + i, first + i);
      CHECK(belief.variance(v - 1, i) == oracle::relative(variance, 1e-3));
    }
  }
}

std::string complaint(const auto& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("poses: the noisy square ends where others have it") {
  PoseGraph poses = parse_g2o(kToy);
  const Run found(poses.graph());
  CHECK(found.report.joint->objective == oracle::relative(baselines::solve_poses(poses).objective, 1e-9));
  poses.move_to(found.state);
  const double expected[4][3] = {
      {0, 0, 0}, {0.955797, 1.137643, 1.543041}, {0.129867, 1.989651, 3.201259}, {-1.047715, 0.933789, 4.743682}};
  for (std::size_t v = 0; v < 4; ++v)
    for (std::size_t i = 0; i < 3; ++i)
      CHECK(std::abs(std::remainder(poses.vertices[v].at[i] - expected[v][i], i < 2 ? 1e9 : 2 * std::numbers::pi)) <
            1e-2);
}

TEST_CASE("poses: objective, poses and variances are those of Levenberg-Marquardt by hand") {
  check_against_oracle(helix(false, 40, 0.05), 0);
  check_against_oracle(helix(true, 40, 0.05), 0);
}

TEST_CASE("poses: a loss lets loops that are wrong go") {
  PoseGraph poses = helix(true, 40, 0.05);
  poses.edges.back().measured[0] += 7;
  poses.edges[poses.edges.size() - 5].measured[4] += 1;
  check_against_oracle(poses, 1);
  PoseGraph clean = helix(true, 40, 0.05);
  clean.move_to(Run(clean.graph()).state);
  const auto error_of = [&](const Loss& loss) {
    PoseGraph moved = poses;
    moved.move_to(Run(poses.graph(loss)).state);
    double worst = 0;
    for (std::size_t v = 0; v < clean.vertices.size(); ++v)
      for (std::size_t i = 0; i < 3; ++i)
        worst = std::max(worst, std::abs(moved.vertices[v].at[i] - clean.vertices[v].at[i]));
    return worst;
  };
  const double bent = error_of({});
  CHECK(bent > 0.5);
  CHECK(error_of(parse_loss("huber:3")) < 0.4 * bent);
  CHECK(error_of(parse_loss("cauchy:4")) < 0.2 * bent);
}

TEST_CASE("poses: a function of a pose by a lambda is differentiated along its steps") {
  // The direction of the body's x axis, and the position, as measured by a compass and a beacon.
  Registry registry = standard_registry();
  const auto seen = [](auto x, auto) {
    using std::cos, std::sin, std::sqrt;
    const auto square = x[3] * x[3] + x[4] * x[4] + x[5] * x[5];
    const auto angle = sqrt(square);
    const auto s = sin(angle) / angle, c = (1 - cos(angle)) / square;
    return std::array{1 - c * (x[4] * x[4] + x[5] * x[5]) + 0 * x[0],
                      s * x[5] + c * x[3] * x[4],
                      c * x[3] * x[5] - s * x[4],
                      x[0],
                      x[1],
                      x[2]};
  };
  registry.add(factor_from_vector_function("by_duals", 6, 6, seen));
  registry.add(factor_from_vector_function(
      "by_differences", 6, 6, [seen](std::span<const double> x, std::span<const double> p) { return seen(x, p); }));
  std::vector<std::vector<double>> variances;
  for (const std::string kind : {"by_duals", "by_differences"}) {
    Graph g;
    const VariableId x = g.variable("x", 1, "pose3"), r = g.variable("r", 6), y = g.observed("y", 6);
    point_prior(g, x, {1, 2, 3, 0.3, -2.9, 0.5},
                SpreadMatrix::covariance({1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0,
                                          0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1}));
    g.factor(kind, {x,
                    {"y1", gather(r, {0})},
                    {"y2", gather(r, {1})},
                    {"y3", gather(r, {2})},
                    {"y4", gather(r, {3})},
                    {"y5", gather(r, {4})},
                    {"y6", gather(r, {5})}});
    g.factor("gaussian_noise", {r, y}, {{"variance", 0.01}});
    const Plan plan = compile(g, joint(), registry);
    State state(plan);
    state.observe(y, {-0.9, 0.2, -0.38, 1.1, 2.2, 3.3});
    set_start(state, x, std::vector<double>{1, 2, 3, 0.3, -2.9, 0.5});
    CHECK(run(plan, state).converged());
    // The information by hand: prior, positions, and the derivative of R exp(w) e_x by w, R (w x e_x).
    const std::vector<double> means = state.belief(x).means();
    const Eigen::Map<const Eigen::Vector3d> w(means.data() + 3);
    const Eigen::Matrix3d turn = Eigen::AngleAxisd(w.norm(), w.normalized()).toRotationMatrix();
    const Eigen::Vector3d axis = turn.col(0);
    CHECK((axis - Eigen::Vector3d(-0.9, 0.2, -0.38)).norm() < 0.1);
    variances.push_back(state.belief(x).variances());
    CHECK(variances.back()[0] == oracle::relative(1 / 101.0, 1e-6));
    CHECK(variances.back()[4] == oracle::relative(1 / 101.0, 0.02));
    CHECK(variances.back()[3] > 0.5);  // a turn about the observed axis stays unknown
  }
  for (std::size_t i = 0; i < 6; ++i) CHECK(variances[0][i] == oracle::relative(variances[1][i], 1e-7));
}

TEST_CASE("poses: landmarks by range and bearing, the evidence of angles, and draws on the manifold") {
  Graph g;
  const VariableId x = g.variable("x", 3, "pose2"), p = g.variable("p", 4);
  const std::vector<double> tight = {1e-6, 0, 0, 0, 1e-6, 0, 0, 0, 1e-6}, loose = {0.04, 0, 0, 0, 0.04, 0, 0, 0, 0.01};
  point_prior(g, gather(x, {0}), {0, 0, 0}, SpreadMatrix::covariance(tight));
  between(g, gather(x, {0, 1}), gather(x, {1, 2}), {2, 0, 0}, SpreadMatrix::covariance(loose));
  const double root2 = std::sqrt(2.0), turn = std::numbers::pi / 4;
  range(g, gather(x, {0, 1, 2}), gather(p, {0, 1, 0, 1, 2, 3}), {2 * root2, 2, 2}, SpreadMatrix::covariance({0.01}));
  bearing(g, gather(x, {0, 1, 2}), gather(p, {0, 1, 0, 1, 2, 3}), {turn, 2 * turn, 2 * turn},
          SpreadMatrix::covariance({0.0025}));
  Plan plan = compile(g, joint(), standard_registry());
  State state(plan);
  set_start(state, p, std::vector<double>{1, 1, 3, 1});
  CHECK(run(plan, state).converged());
  const std::vector<double> wanted = {2, 2, 4, 2};
  for (std::size_t i = 0; i < 4; ++i) CHECK(state.belief(p).mean(i) == oracle::relative(wanted[i], 1e-6));

  // Two readings of an angle across the half turn: the evidence of a Gaussian, and draws within the range of angles.
  Graph a;
  const VariableId heading = a.variable("heading", 1, "angle");
  point_prior(a, heading, {3.1}, SpreadMatrix::covariance({0.04}));
  point_prior(a, heading, {-3.1}, SpreadMatrix::covariance({0.01}));
  plan = compile(a, joint(), standard_registry());
  State angles(plan);
  CHECK(run(plan, angles).converged());
  const double apart = 2 * std::numbers::pi - 6.2;
  CHECK(JointPosterior(angles).log_evidence() ==
        oracle::relative(-0.5 * (apart * apart / 0.05 + std::log(2 * std::numbers::pi * 0.05)), 1e-9));
  CHECK(angles.belief(heading).variance() == oracle::relative(0.008, 1e-9));
  CHECK(std::abs(std::remainder(angles.belief(heading).mean() - (3.1 + 0.8 * apart), 2 * std::numbers::pi)) < 1e-9);
  const JointSamples draws = JointPosterior(angles).sample(200, 3);
  const JointDraws chains = draw_posterior(angles, {.chains = 2, .warm_up = 20, .draws = 40, .leaps = 3});
  double low = 0, high = 0;
  for (std::size_t d = 0; d < draws.size(); ++d)
    low = std::min(low, draws(d, heading)), high = std::max(high, draws(d, heading));
  CHECK(low > -std::numbers::pi);
  CHECK(high <= std::numbers::pi);
  CHECK(high - low > 6);  // on both sides of the cut
  CHECK(chains.r_hat < 1.5);
}

TEST_CASE("poses: a g2o file is written as it is read, and wrong lines are named") {
  for (const bool is_3d : {false, true}) {
    const PoseGraph poses = helix(is_3d, 12, 0.05);
    const std::string text = g2o_text(poses);
    const PoseGraph again = parse_g2o(text);
    CHECK(again.vertices.size() == poses.vertices.size());
    CHECK(baselines::solve_poses(again).objective == oracle::relative(baselines::solve_poses(poses).objective, 1e-9));
    CHECK(parse_graph(text).graph.factors().size() == poses.graph().graph.factors().size());
    CHECK(parse_graph(graph_text(poses.graph())).starts.size() == 1);
  }
  const Json all = parse_json(oracle::text_of_file("models/graphs/refused.json"));
  for (const Json& row : all["g2o"])
    CHECK(complaint([&] { (void)parse_g2o(row[0].get<std::string>()); }).starts_with(row[1].get<std::string>()));
}

TEST_CASE("poses: a range of zero is solved, and its report shows that no Gaussian fits") {
  for (const std::size_t n : {2u, 3u}) {
    Graph g;
    const VariableId x = g.observed("x", 1, n == 2 ? "pose2" : "pose3"), p = g.variable("p", n);
    g.factor("gaussian_prior", {p}, {{"mean", 0.0}, {"variance", 100.0}});
    range(g, x, p, {0}, SpreadMatrix::covariance({0.01}));
    const Plan plan = compile(g, joint(), standard_registry());
    State state(plan);
    state.observe(x, std::vector<double>(n == 2 ? 3 : 6));
    const Report report = run(plan, state);
    CAPTURE(report.line());
    CHECK(report.converged());
    CHECK(report.line().find("does not fit") != std::string::npos);
    for (std::size_t k = 0; k < n; ++k) CHECK(std::abs(state.belief(p).mean(k)) < 1e-6);
  }
}

TEST_CASE("poses: undetermined poses are named, and keep their values") {
  PoseGraph poses = parse_g2o(
      "VERTEX_SE2 0 0 0 0\nVERTEX_SE2 1 1 0 0\nVERTEX_SE2 7 5 6 1\nVERTEX_SE2 8 6 6 1\n"
      "EDGE_SE2 0 1 2 0 0 1 0 0 1 0 1\nEDGE_SE2 7 8 1 0 0 1 0 0 1 0 1\n");
  const GraphFile file = poses.graph();
  const Plan plan = compile(file.graph, joint(), standard_registry());
  State state(plan);
  file.observe(state);
  const Report report = run(plan, state);
  CHECK(report.stop == Report::Stop::singular);
  CHECK(report.joint->undetermined == "'pose[1]', 'pose[2]'");
  poses.move_to(state);
  CHECK(poses.vertices[1].at[0] == doctest::Approx(2));
  CHECK(poses.vertices[2].at == std::vector<double>{5, 6, 1});
  CHECK(poses.vertices[3].at == std::vector<double>{6, 6, 1});
}

TEST_CASE("poses: points of the wrong sort or size are refused in one line") {
  const SpreadMatrix one = SpreadMatrix::covariance({1});
  Graph g;
  const VariableId x = g.variable("x", 2, "pose2"), y = g.variable("y", 2);
  CHECK(complaint([&] { (void)between(g, y, y, {0}, one); }) ==
        "between: variable 'y' is gaussian; an angle, rotation, pose2 or pose3 is expected");
  CHECK(complaint([&] {
          (void)point_prior(g, x, {0, 0}, one);
        }) == "offset of 'x': 2 numbers are measured; 3 or, for each of 2, 6 are expected");
  CHECK(complaint([&] { (void)parse_loss("tukey"); }) ==
        "the loss is 'tukey'; huber or cauchy is expected, or huber:1.5 with its width in standard deviations");
  g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", 1.0}});
  const auto compiled = [](const Graph& graph) {
    return complaint([&] { (void)compile(graph, joint(), standard_registry()); });
  };
  CHECK(compiled(g).find("wants a gaussian variable but 'x' is pose2") != std::string::npos);
  Graph shared;
  point_prior(shared, shared.shared("x", 1, "angle"), {0}, one);
  CHECK(compiled(shared) ==
        "joint: variable 'x' is angle and shared; points "
        "on manifolds cannot be learned from examples");
  Graph seen;
  const VariableId a = seen.observed("a", 1, "angle");
  point_prior(seen, a, {0}, one);
  const Plan plan = compile(seen, joint(), standard_registry());
  State state(plan);
  CHECK(complaint([&] { state.observe(a, {1.0, 2.0}); }) != "");
  state.observe(a, std::nullopt);
  CHECK(complaint([&] { (void)run(plan, state); }) ==
        "joint: a value of 'a' is missing, and it is angle; joint() infers gaussian variables only");
}

// The public graphs, if DMA_POSES names a folder of them. Prints objective and processor time next to the hand-written
// solver's.
TEST_CASE("poses: public graphs end where Levenberg-Marquardt does") {
  const char* const folder = std::getenv("DMA_POSES");
  if (folder == nullptr) return;
  const auto since = [](std::clock_t start) { return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC; };
  const Registry registry = standard_registry();
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    const PoseGraph poses = parse_g2o(text.str());
    baselines::SolvedPoses expected;
    Report report;
    double by_hand = 1e9, jointly = 1e9;  // the best of several runs
    for (std::size_t turn = 0; turn == 0 || turn < 20'000 / poses.vertices.size(); ++turn) {
      std::clock_t start = std::clock();
      expected = baselines::solve_poses(poses);
      by_hand = std::min(by_hand, since(start));
      start = std::clock();
      const GraphFile file = poses.graph();
      const Plan plan = compile(file.graph, joint({.check_draws = 0}), registry);
      State state(plan);
      file.observe(state);
      report = run(plan, state);
      jointly = std::min(jointly, since(start));
    }
    fmt::print("{}: by hand {:.10g} in {:.4g} s, {} solves; joint {:.10g} in {:.4g} s, {:.2f} times; {}\n",
               entry.path().filename().string(), expected.objective, by_hand, expected.solves, report.joint->objective,
               jointly, jointly / by_hand, report.line());
    CHECK(report.joint->objective <= expected.objective * (1 + 1e-6) + 1e-9);
  }
}
