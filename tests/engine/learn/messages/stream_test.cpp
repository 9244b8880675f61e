// Examples that arrive as a stream: learned once, not kept.
#include "tests/oracles/learned_line.h"

namespace {

// y = w x + noise with one weight: whatever the order, the posterior is a sum.
struct StreamModel {
  Graph g;
  VariableId w = g.shared("w"), x = g.observed("x"), y = g.observed("y");

  std::vector<double> xs, ys;

  StreamModel() {
    for (int n = 0; n < 20; ++n) {
      xs.push_back(std::sin(n) + 1.5);
      ys.push_back(2 * xs.back() + std::cos(7 * n));
    }
    const VariableId z = g.variable("z");
    g.factor("gaussian_prior", {w}, {{"mean", 0.5}, {"variance", 2.0}});
    g.factor("product", {w, x, z});
    g.factor("gaussian_noise", {z, y}, {{"variance", 0.3}});
  }
  Learner learner() const {
    return {g, standard_registry(), forward_backward(), forward(), {.targets = {y}, .batches = 2, .epochs = 1}};
  }
  // Data only looks at numbers that are kept elsewhere.
  Data rows(std::size_t begin, std::size_t end) const {
    return {{x, std::span(xs).subspan(begin, end - begin)}, {y, std::span(ys).subspan(begin, end - begin)}};
  }
  void check_posterior(const Learner& learner, const std::vector<std::size_t>& learned) const {
    double rho = 1 / 2.0, tau = 0.5 * rho;
    for (const std::size_t n : learned) {
      rho += xs[n] * xs[n] / 0.3;
      tau += xs[n] * ys[n] / 0.3;
    }
    CHECK(learner.belief(w).mean() == oracle::relative(tau / rho, 1e-12));
    CHECK(learner.belief(w).variance() == oracle::relative(1 / rho, 1e-12));
  }
};

}  // namespace

TEST_CASE("stream: examples one by one, a few at a time, before and after a fit") {
  const StreamModel model;
  Learner learner = model.learner();
  for (std::size_t n = 0; n < 3; ++n) CHECK(learner.learn_one(model.rows(n, n + 1)).examples == 1);
  model.check_posterior(learner, {0, 1, 2});
  CHECK(learner.add(model.rows(3, 5)).examples == 2);
  model.check_posterior(learner, {0, 1, 2, 3, 4});
  (void)learner.fit(model.rows(5, 9));
  model.check_posterior(learner, {0, 1, 2, 3, 4, 5, 6, 7, 8});
  (void)learner.add(model.rows(9, 10));
  model.check_posterior(learner, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  (void)learner.fit(model.rows(5, 9));  // again: it is about its own examples, which are known already
  model.check_posterior(learner, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  learner.forget(1);
  model.check_posterior(learner, {0, 1, 2, 3, 4, 5, 6, 9});
}

TEST_CASE("stream: what was added is part of the memory") {
  const StreamModel model;
  Learner learner = model.learner();
  (void)learner.fit(model.rows(0, 4));
  (void)learner.add(model.rows(4, 6));
  model.check_posterior(learner, {0, 1, 2, 3, 4, 5});
  Learner other = model.learner();
  other.restore(learner.memory());
  CHECK(other.belief(model.w).mean() == learner.belief(model.w).mean());
  CHECK(other.belief(model.w).variance() == learner.belief(model.w).variance());
  Learner predicts(model.g, standard_registry(), forward_backward(), forward(), {.targets = {model.y}, .batches = 1});
  predicts.restore(learner.condensed_memory());
  CHECK(predicts.belief(model.w).mean() == oracle::relative(learner.belief(model.w).mean(), 1e-13));
  auto broken = learner.memory();
  broken.added_rho[0] = -1;
  CHECK_THROWS_WITH_AS(other.restore(broken), doctest::Contains("added examples to shared scalar 0 has tau"), Error);
  broken.added_rho.clear();
  CHECK_THROWS_WITH_AS(other.restore(broken), doctest::Contains("do not fit: 1 and 0 numbers"), Error);
}

TEST_CASE("stream: one means one, and wrong rows teach nothing") {
  const StreamModel model;
  Learner learner = model.learner();
  CHECK_THROWS_WITH_AS(learner.learn_one(model.rows(0, 2)),
                       "learn_one was given 2 examples; one is expected, and add() takes any number", Error);
  const std::vector<double> one{1.0};
  CHECK_THROWS_AS(learner.add(Data{{model.x, one}}), Error);  // without y
  model.check_posterior(learner, {});
}

TEST_CASE(
    "stream: an example that speaks of two of many scalars changes these alone, to the same bytes as all formed anew") {
  constexpr std::uint32_t kPlayers = 50;
  Graph g;
  const VariableId skill = g.shared("skill", kPlayers), lead = g.variable("lead"), points = g.observed("points");
  g.factor("gaussian_prior", {skill}, {{"mean", 1.0}, {"variance", 2.0}});
  const FactorId game = g.factor("sum", {given(skill, 2), lead}, {{"coefficients", std::vector<double>{1, -1}}});
  g.factor("gaussian_noise", {lead, points}, {{"variance", 0.5}});
  const auto make = [&] {
    return Learner(g, standard_registry(), forward_backward(), forward(), {.targets = {points}, .batches = 1});
  };
  Learner learner = make(), again = make();
  std::vector<double> mean(kPlayers, 1.0), variance(kPlayers, 2.0);
  for (std::uint32_t n = 0; n < 40; ++n) {
    const std::uint32_t a = n % 7, b = 7 + n % 5;
    const std::vector<std::uint32_t> players{a, b};
    const std::vector<double> seen{0.3 * n - 2};
    Data example{{points, seen}};
    example.tables = {{game, "terms", players}};
    (void)learner.learn_one(example);
    // Two independent Gaussians and their difference, by hand.
    const double all = variance[a] + variance[b] + 0.5, surprise = (seen[0] - (mean[a] - mean[b])) / all;
    mean[a] += variance[a] * surprise, mean[b] -= variance[b] * surprise;
    variance[a] -= variance[a] * variance[a] / all, variance[b] -= variance[b] * variance[b] / all;
  }
  const Belief found = learner.belief(skill);
  for (std::uint32_t i = 0; i < kPlayers; ++i) {
    CHECK(found.mean(i) == oracle::relative(mean[i], 1e-10));
    CHECK(found.variance(i) == oracle::relative(variance[i], 1e-10));
  }
  LearnMemory memory = learner.memory();
  memory.tau.assign(1, std::vector<double>(kPlayers)), memory.rho.assign(1, std::vector<double>(kPlayers)),
      memory.active.assign(1, true);
  again.restore(std::move(memory));
  for (std::uint32_t i = 0; i < kPlayers; ++i) CHECK(again.belief(skill)[i] == found[i]);
}
