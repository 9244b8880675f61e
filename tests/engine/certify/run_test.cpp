// Certificates of a run against brute force: on graphs with one approximate message the bound is never violated.
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_real_distribution.hpp>

#include "engine/certify/certify.h"
#include "factors/arithmetic/leaky_relu.h"
#include "tests/oracles/solved.h"

namespace dma {

namespace {

constexpr std::uint64_t kSeed = 20;

// KL(p / mass || q) by the midpoint rule on a fine grid.
double brute_force_kl(const std::function<double(double)>& p, const Gaussian& q, double low, double high) {
  constexpr int kCells = 40'000;
  const double h = (high - low) / kCells;
  double mass = 0, sum = 0;
  for (int i = 0; i < kCells; ++i) {
    const double x = low + (i + 0.5) * h, value = p(x);
    if (!(value > 0)) continue;
    mass += value * h;
    sum += value * h * (std::log(value) - log_density(q, x));
  }
  return sum / mass - std::log(mass);
}

double density(double x, double mean, double variance) {
  return std::exp(log_density(Gaussian::from_moments(mean, variance), x));
}

EdgeError edge_of(const RunCertificate& c, std::string_view kind) {
  for (const EdgeError& edge : c.edges)
    if (edge.kind == kind) return edge;
  throw std::runtime_error("no such edge");
}

}  // namespace

TEST_CASE("run certificate: the bound is never violated around a leaky rectifier") {
  boost::random::mt19937_64 engine(kSeed);
  const auto draw = [&](double low, double high) {
    return boost::random::uniform_real_distribution<double>(low, high)(engine);
  };
  for (int trial = 0; trial < 20; ++trial) {
    const double mean = draw(-2, 2), variance = draw(0.2, 3), slope = draw(0.1, 0.8), noise = draw(0.1, 2),
                 seen = draw(-2, 3);
    Graph g;
    const auto x = g.variable("x"), y = g.variable("y"), data = g.observed("data");
    g.factor("gaussian_prior", {x}, {{"mean", mean}, {"variance", variance}});
    g.factor("leaky_relu", {x, y}, {{"slope", slope}});
    g.factor("gaussian_noise", {y, data}, {{"variance", noise}});
    const State state = oracle::solved(compile(g, forward_backward(), standard_registry()), {{data, seen}}).state;
    INFO("mean " << mean << " variance " << variance << " slope " << slope << " noise " << noise << " seen " << seen);

    const LeakyRelu::Parameters p{slope};
    const auto true_x = [&](double v) {
      return density(v, mean, variance) * density(seen, LeakyRelu::value(v, p), noise);
    };
    const double kl_x = brute_force_kl(true_x, state.belief(x)[0], -25, 25);
    const EdgeError to_x = edge_of(certificate(state.plan(), state, x), "leaky_relu");
    CHECK(*to_x.marginal == oracle::relative(kl_x, 1e-4));
    CHECK(kl_x <= *to_x.bound + 1e-9);

    const auto true_y = [&](double v) {
      return density(LeakyRelu::inverse(v, p), mean, variance) / (v > 0 ? 1 : slope) * density(seen, v, noise);
    };
    const double kl_y = brute_force_kl(true_y, state.belief(y)[0], -25, 25);
    const EdgeError to_y = edge_of(certificate(state.plan(), state, y), "leaky_relu");
    CHECK(*to_y.marginal == oracle::relative(kl_y, 1e-3));
    CHECK(kl_y <= *to_y.bound + 1e-9);
  }
}

TEST_CASE(
    "run certificate: what arrives is the product of all other "
    "messages; the bound is peak times delta over the overlap") {
  const double mean = -0.4, variance = 1.5, extra = 0.8, extra_noise = 2, slope = 0.35, noise = 0.6, seen = 0.7;
  Graph g;
  const auto x = g.variable("x"), y = g.variable("y"), data = g.observed("data"), more = g.observed("more");
  g.factor("gaussian_prior", {x}, {{"mean", mean}, {"variance", variance}});
  g.factor("gaussian_noise", {x, more}, {{"variance", extra_noise}});
  g.factor("leaky_relu", {x, y}, {{"slope", slope}});
  g.factor("gaussian_noise", {y, data}, {{"variance", noise}});
  const State state =
      oracle::solved(compile(g, forward_backward(), standard_registry()), {{data, seen}, {more, extra}}).state;

  const auto exact = [&](double v) { return density(seen, LeakyRelu::value(v, {slope}), noise); };
  const Gaussian incoming = Gaussian::from_moments(mean, variance) * Gaussian::from_moments(extra, extra_noise);
  const Gaussian belief = state.belief(x)[0], message = belief / incoming;
  const auto incoming_density = [&](double v) { return std::exp(log_density(incoming, v)); };
  const double delta = brute_force_kl(exact, message, -40, 40);
  const double marginal = brute_force_kl([&](double v) { return exact(v) * incoming_density(v); }, belief, -40, 40);
  double mass = 0, overlap = 0;
  constexpr int kCells = 40'000;
  for (int i = 0; i < kCells; ++i) {
    const double v = -40 + 80.0 * (i + 0.5) / kCells;
    mass += exact(v), overlap += exact(v) * incoming_density(v);
  }
  const double bound = incoming_density(incoming.mean()) / (overlap / mass) * delta;

  const EdgeError edge = edge_of(certificate(state.plan(), state, x), "leaky_relu");
  CHECK(*edge.delta == oracle::relative(delta, 1e-4));
  CHECK(*edge.marginal == oracle::relative(marginal, 1e-4));
  CHECK(*edge.bound == oracle::relative(bound, 1e-4));
}

TEST_CASE("run certificate: a factor may have any number of inputs") {
  constexpr std::uint32_t kWeights = 40;
  for (const bool fuse : {true, false}) {
    Graph g;
    const auto w = g.variable("w", kWeights), x = g.observed("x", kWeights), p = g.variable("p", kWeights);
    const auto z = g.variable("z"), data = g.observed("data");
    g.factor("gaussian_prior", {w}, {{"mean", 0.5}, {"variance", 0.0}});
    g.factor("product", {w, x, p});
    g.factor("sum", {p, z});
    g.factor("gaussian_noise", {z, data}, {{"variance", 0.5}});
    const auto [plan, state, report] =
        oracle::solved(compile(g, forward_backward(), standard_registry(), {.fuse = fuse}),
                       {{x, std::vector<double>(kWeights, 1.0)}, {data, 19.0}});
    CHECK_FALSE(certificate(plan, state).edges.empty());
  }
}

TEST_CASE("run certificate: every edge of a graph, in a line and a table") {
  Graph g;
  const auto x = g.variable("x", 3), y = g.variable("y", 3), data = g.observed("data", 3);
  g.factor("gaussian_prior", {x}, {{"mean", 0.2}, {"variance", 1.0}});
  g.factor("leaky_relu", {x, y}, {{"slope", 0.1}}, {.name = "hidden"});
  g.factor("gaussian_noise", {y, data}, {{"variance", 0.5}});
  auto [plan, state, report] =
      oracle::solved(compile(g, forward_backward(), standard_registry()), {{data, {-0.5, 0.1, 2.0}}});
  const RunCertificate all = certificate(plan, state);
  CHECK(all.line().find("largest bound") != std::string::npos);
  CHECK(all.worst()->kind == "leaky_relu");
  CHECK(all.text().find("hidden[") != std::string::npos);
  for (const EdgeError& edge : all.edges)
    if (edge.kind != "leaky_relu") CHECK(edge.delta == 0.0);
  // Without messages nothing is certified.
  state.observe(data, {-0.5, 0.1, 3.0});
  CHECK_THROWS_WITH_AS((void)certificate(plan, state), doctest::Contains("was not run, or its inputs changed"), Error);
  const Plan joined = compile(g, joint(), standard_registry());
  State other(joined);
  CHECK_THROWS_WITH_AS((void)certificate(joined, other), doctest::Contains("joint sends no messages"), Error);
  CHECK_THROWS_WITH_AS((void)certificate(plan, other), doctest::Contains("belongs to another plan"), Error);
}

}  // namespace dma
