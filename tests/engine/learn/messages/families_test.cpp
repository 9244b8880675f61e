// Shared variables of other families than the Gaussian: their messages are added and subtracted all the same.
#include <numeric>

#include "tests/oracles/learned_line.h"

namespace {

// One example: a category, drawn with shared probabilities.
struct Counting {
  Graph g;
  VariableId p = g.shared("p", 1, "dirichlet(3)"), z = g.observed("z", 1, "categorical(3)");
  std::vector<double> concentration = {0.5, 1.0, 2.5}, seen = {0, 2, 2, 1, 2, 0, 2, 2};

  Counting() {
    g.factor("dirichlet_prior", {p}, {{"concentration", concentration}});
    g.factor("categorical_draw", {p, z});
  }
  Learner learner(std::size_t batches) const {
    return {g, standard_registry(), forward_backward(), forward(), {.targets = {z}, .batches = batches, .epochs = 3}};
  }
  std::vector<double> counts(std::size_t first, std::size_t last) const {
    std::vector<double> all = concentration;
    for (std::size_t i = 0; i < seen.size(); ++i)
      if (i < first || i >= last) all[static_cast<std::size_t>(seen[i])] += 1;
    return all;
  }
};

void check_counts(const Belief& belief, const std::vector<double>& counts) {
  for (std::size_t k = 0; k < counts.size(); ++k)
    CHECK(belief.message(0)[k].tau + 1 == oracle::relative(counts[k], 1e-13));
}

}  // namespace

TEST_CASE("families: the learner counts categories exactly, forgets a mini-batch and predicts the next one") {
  const Counting model;
  Learner learner = model.learner(4);
  const LearnReport report = learner.fit({{model.z, model.seen}});
  CHECK(report.faults == 0);
  check_counts(learner.belief(model.p), model.counts(0, 0));
  // The training log-likelihood: that of each category by the mean of the probabilities.
  const auto counts = model.counts(0, 0);
  const double all = std::accumulate(counts.begin(), counts.end(), 0.0);
  double log_likelihood = 0;
  for (const double k : model.seen) log_likelihood += std::log(counts[static_cast<std::size_t>(k)] / all);
  CHECK(report.epochs.back().log_likelihood ==
        oracle::relative(log_likelihood / static_cast<double>(model.seen.size()), 1e-12));
  std::vector<double> means(3), variances(3);
  learner.predict({{model.z, std::vector<double>{0}}}, means, variances);
  for (std::size_t k = 0; k < 3; ++k) CHECK(means[k] == oracle::relative(counts[k] / all, 1e-12));
  learner.forget(1);
  check_counts(learner.belief(model.p), model.counts(2, 4));
}

TEST_CASE("families: examples in a stream count like those of a mini-batch, and memory is restored") {
  const Counting model;
  Learner fitted = model.learner(2), streamed = model.learner(1);
  (void)fitted.fit({{model.z, model.seen}});
  for (const double k : model.seen) (void)streamed.learn_one({{model.z, std::vector<double>{k}}});
  check_counts(streamed.belief(model.p), model.counts(0, 0));
  Learner again = model.learner(2);
  again.restore(fitted.memory());
  check_counts(again.belief(model.p), model.counts(0, 0));
}

TEST_CASE("families: the learner's gamma precision of many readings is the conjugate one") {
  const std::vector<double> readings = {0.3, -1.2, 2.1, 0.4, -0.6, 1.7, -2.2, 0.1, 0.9};
  Graph g;
  const auto precision = g.shared("precision", 1, "gamma"), mean = g.observed("mean"), y = g.observed("y");
  g.factor("gamma_prior", {precision}, {{"shape", 2.0}, {"rate", 1.5}});
  g.factor("gaussian_precision", {mean, precision, y});
  const std::vector<double> means(readings.size(), 0.25);
  double square = 0;
  for (const double x : readings) square += (x - 0.25) * (x - 0.25);
  for (const char* const method : {"ep", "vmp"}) {
    CAPTURE(method);
    Learner learner(g, standard_registry(), forward_backward(), forward(), {.targets = {y}, .batches = 3, .epochs = 4},
                    {.method = method});
    const LearnReport report = learner.fit({{mean, means}, {y, readings}});
    CHECK(report.faults == 0);
    const Natural found = learner.belief(precision).message(0)[0];
    CHECK(found.tau + 1 == oracle::relative(2.0 + 0.5 * static_cast<double>(readings.size()), 1e-9));
    CHECK(found.rho == oracle::relative(1.5 + 0.5 * square, 1e-9));
  }
}

TEST_CASE("families: memory of a gaussian variable may not hold a negative precision, that of a beta one may") {
  Graph g;
  const auto p = g.shared("p", 1, "beta"), x = g.observed("x", 1, "bernoulli"), w = g.shared("w"), y = g.observed("y");
  g.factor("beta_prior", {p}, {{"a", 2.0}, {"b", 2.0}});
  g.factor("bernoulli_draw", {p, x});
  g.factor("gaussian_prior", {w}, {{"mean", 0.0}, {"variance", 1.0}});
  g.factor("gaussian_noise", {w, y}, {{"variance", 1.0}});
  const auto restored = [&](std::vector<double> rho) {
    Learner learner(g, standard_registry(), forward_backward(), forward(), {.targets = {y}, .batches = 1});
    LearnMemory memory;
    memory.tau = {{0.5, 0.5}}, memory.rho = {std::move(rho)}, memory.active = {true};
    learner.restore(std::move(memory));
    return learner.belief(p).message(0)[0].rho;
  };
  CHECK(restored({-0.25, 1.0}) == doctest::Approx(0.75));
  CHECK_THROWS_AS((void)restored({1.0, -0.25}), Error);
  CHECK_THROWS_AS((void)restored({std::nan(""), 1.0}), Error);
}
