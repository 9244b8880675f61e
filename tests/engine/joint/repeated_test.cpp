// Repeated runs of one state reuse what did not change and give the results of a fresh state.
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_01.hpp>

#include "tests/engine/joint/joint_models.h"
#include "tests/oracles/allocations.h"
#include "tests/oracles/solved.h"

namespace {

using namespace dma::joint_test;

// Everything that can be set in a state, as numbers.
struct Settings {
  std::vector<double> y, x, targets, coefficients{0.5, -1, 2};
  std::vector<bool> missing = std::vector<bool>(30);
  double noise = 0.3, prior = 1, mean = 0.1;
  std::vector<double> target_noise = std::vector<double>(4, 0.2);
};

struct Model {
  Graph g;
  Axis axis{g, 30, ""};
  VariableId w = g.variable("w", 3), x = g.observed("x", 12), z = g.variable("z", 4), t = g.observed("t", 4),
             total = g.variable("total");
  FactorId noise = g.factor("gaussian_noise", {gather(axis.v, {0}), gather(w, {0})}, {{"variance", 0.3}});
  FactorId prior = g.factor("gaussian_prior", {w}, {{"mean", 0.1}, {"variance", 1.0}});
  FactorId sum = g.factor("sum", {w, total}, {{"coefficients", std::vector<double>{0.5, -1, 2}}});
  FactorId targets = {};

  Model() {
    g.factor("inner_product", {gather(w, {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2}), x, z});
    targets = g.factor("gaussian_noise", {z, t}, {{"variance", std::vector<double>(4, 0.2)}});
    g.factor("gaussian_noise", {total, gather(axis.p, {3})}, {{"variance", 0.4}});
  }
  void apply(State& state, const Settings& s) const {
    state.observe(axis.y, s.y);
    for (std::size_t i = 0; i < s.missing.size(); ++i)
      if (s.missing[i]) state.observe_missing(axis.y, i);
    state.observe(x, s.x);
    state.observe(t, s.targets);
    state.set_parameter(noise, "variance", s.noise);
    state.set_parameter(prior, "variance", s.prior);
    state.set_parameter(prior, "mean", s.mean);
    state.set_parameter(sum, "coefficients", s.coefficients);
    state.set_parameter(targets, "variance", s.target_noise);
  }
};

}  // namespace

TEST_CASE("joint: after any sequence of changes a state finds what a fresh one finds") {
  const Model model;
  const Plan plan = compile(model.g, joint(), standard_registry());
  State state(plan);
  boost::random::mt19937_64 random(3);
  const auto uniform = [&] { return boost::random::uniform_01<double>()(random); };
  Settings s;
  for (std::size_t i = 0; i < 30; ++i) s.y.push_back(series(i));
  for (std::size_t i = 0; i < 12; ++i) s.x.push_back(series(i + 5));
  for (std::size_t i = 0; i < 4; ++i) s.targets.push_back(series(i + 50));
  for (int turn = 0; turn < 60; ++turn) {
    CAPTURE(turn);
    switch (static_cast<int>(9 * uniform())) {
      case 0:
        s.y[static_cast<std::size_t>(30 * uniform())] = uniform();
        break;
      case 1:
        s.x[static_cast<std::size_t>(12 * uniform())] = uniform();
        break;
      case 2:
        s.noise = 0.1 + uniform();
        break;
      case 3:
        s.coefficients[static_cast<std::size_t>(3 * uniform())] = uniform();
        break;
      case 4:
        s.missing[static_cast<std::size_t>(30 * uniform())].flip();
        break;
      case 5:
        s.target_noise[static_cast<std::size_t>(4 * uniform())] = 0.1 + uniform();
        break;
      case 6: {  // a refused run leaves no trace
        Settings bad = s;
        bad.prior = 0, bad.noise = 7;
        bad.x[0] += 1;
        model.apply(state, bad);
        for (int again = 0; again < 2; ++again) CHECK_THROWS_AS((void)run(plan, state), Error);
        break;
      }
      case 7:
        s.mean = uniform();
        break;
      default:
        break;  // nothing changes
    }
    State fresh(plan);
    model.apply(state, s);
    model.apply(fresh, s);
    const Report report = run(plan, state), expected = run(plan, fresh);
    CHECK(report.line() == expected.line());
    for (const VariableId v : {model.axis.p, model.axis.v, model.w, model.z, model.total}) {
      const Belief a = state.belief(v), b = fresh.belief(v);
      for (std::size_t i = 0; i < a.size(); ++i) {
        CHECK(a.mean(i) == b.mean(i));
        CHECK(a.variance(i) == b.variance(i));
      }
    }
    CHECK(JointPosterior(state).log_evidence() == JointPosterior(fresh).log_evidence());
  }
}

TEST_CASE("joint: a repeated run of small fronts allocates nothing, with new values or new noise") {
  Graph g;
  const Axis axis(g, 400, "");
  const VariableId c = g.variable("c");
  const FactorId prior = g.factor("gaussian_prior", {c}, {{"mean", 0.0}, {"variance", 1.0}});
  const Plan plan = compile(g, joint(), standard_registry());
  State state(plan);
  std::vector<double> values(400, 0.5);
  state.observe(axis.y, values);
  (void)run(plan, state);
  values[7] = 2;
  state.observe(axis.y, values);
  std::uint64_t before = oracle::allocations();
  (void)run(plan, state);
  CHECK(oracle::allocations() == before);
  state.set_parameter(prior, "variance", 2.0);
  before = oracle::allocations();
  (void)run(plan, state);
  CHECK(oracle::allocations() == before);
  CHECK(state.belief(c).variance() == 2);
}
