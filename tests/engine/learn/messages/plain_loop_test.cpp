// Mini-batches that are learned in parts, with one stored message for all of them.
#include <random>

#include "tests/oracles/learned_line.h"

namespace {

// y = w x + noise: what an example says of w does not depend on what is known of it, so that every way to count
// examples once is exact.
struct PartsLine {
  Graph graph;
  VariableId w = graph.shared("w"), x = graph.observed("x"), y = graph.observed("y");
  std::vector<double> xs, ys;
  static constexpr double kVariance = 0.25, kPrior = 4;

  explicit PartsLine(std::size_t examples) {
    const VariableId z = graph.variable("z");
    graph.factor("gaussian_prior", {w}, {{"mean", 0.0}, {"variance", kPrior}});
    graph.factor("product", {w, x, z});
    graph.factor("gaussian_noise", {z, y}, {{"variance", kVariance}});
    std::mt19937_64 random(7);
    std::normal_distribution<double> normal;
    for (std::size_t n = 0; n < examples; ++n) {
      xs.push_back(normal(random));
      ys.push_back(1.5 * xs.back() + 0.5 * normal(random));
    }
  }
  Learner learner(LearnOptions options) const {
    options.targets = {y};
    options.tolerance = 0;
    return {graph, standard_registry(), forward_backward(), forward(), std::move(options)};
  }
  Data data() const { return {{x, xs}, {y, ys}}; }
  void check_exact(const Learner& learner, std::size_t first_example) const {
    double tau = 0, rho = 1 / kPrior;
    for (std::size_t n = first_example; n < xs.size(); ++n)
      tau += xs[n] * ys[n] / kVariance, rho += xs[n] * xs[n] / kVariance;
    const Gaussian found = learner.belief(w)[0];
    CHECK(found.mean() == oracle::relative(tau / rho, 1e-10));
    CHECK(found.variance() == oracle::relative(1 / rho, 1e-10));
  }
};

// y = w u + noise with u unknown but for its prior: what an example says of w depends on what is known of it.
struct PartsBilinear {
  Graph graph;
  VariableId w = graph.shared("w"), y = graph.observed("y");
  std::vector<double> ys;

  explicit PartsBilinear(std::size_t examples, bool with_prior) {
    const VariableId u = graph.variable("u"), z = graph.variable("z");
    if (with_prior) graph.factor("gaussian_prior", {w}, {{"mean", 0.5}, {"variance", 2.0}});
    graph.factor("gaussian_prior", {u}, {{"mean", 1.0}, {"variance", 0.3}});
    graph.factor("product", {w, u, z});
    graph.factor("gaussian_noise", {z, y}, {{"variance", 0.2}});
    std::mt19937_64 random(3);
    std::normal_distribution<double> normal;
    for (std::size_t n = 0; n < examples; ++n) ys.push_back(1.4 + normal(random));
  }
};

// The same by hand: a plain loop over parts, with one sweep of the graph of an example as all it knows of messages.
Natural parts_by_hand(std::size_t examples, std::size_t batches, std::size_t parts, double step, int epochs) {
  const PartsBilinear model(examples, false);
  const Plan plan = compile(model.graph, forward_backward(), standard_registry());
  State state(plan);
  std::vector<Natural> messages(batches);
  const Natural prior{0.5 / 2.0, 1 / 2.0};
  for (int epoch = 0; epoch < epochs; ++epoch)
    for (std::size_t b = 0; b < batches; ++b) {
      const auto count = static_cast<double>(parts);
      const Natural fraction{messages[b].tau / count, messages[b].rho / count};
      Natural known = prior, fresh{0, 0};
      for (const Natural& message : messages) known = {known.tau + message.tau, known.rho + message.rho};
      const std::size_t begin = b * examples / batches, size = (b + 1) * examples / batches - begin;
      for (std::size_t p = 0; p < parts; ++p) {
        const Natural cavity{known.tau - fraction.tau, known.rho - fraction.rho};
        Natural now = cavity;
        for (std::size_t n = begin + p * size / parts; n < begin + (p + 1) * size / parts; ++n) {
          state.cavity(model.w).set(0, now);
          state.observe(model.y, model.ys[n]);
          run(plan, state);
          const Gaussian belief = state.belief(model.w)[0];
          now = {belief.mean() / belief.variance(), 1 / belief.variance()};
        }
        const Natural own{fraction.tau + step * (now.tau - cavity.tau - fraction.tau),
                          fraction.rho + step * (now.rho - cavity.rho - fraction.rho)};
        fresh = {fresh.tau + own.tau, fresh.rho + own.rho};
        known = {cavity.tau + own.tau, cavity.rho + own.rho};
      }
      messages[b] = fresh;
    }
  Natural all = prior;
  for (const Natural& message : messages) all = {all.tau + message.tau, all.rho + message.rho};
  return all;
}

}  // namespace

TEST_CASE(
    "parts: where messages depend on what is known, learning is the plain loop that takes out a fraction of one stored "
    "message") {
  const PartsBilinear model(24, true);
  for (const std::size_t parts : {1u, 3u, 8u})
    for (const double step : {1.0, 0.5}) {
      Learner learner(model.graph, standard_registry(), forward_backward(), forward(),
                      {.targets = {model.y},
                       .batches = 2,
                       .parts = parts,
                       .epochs = 5,
                       .tolerance = 0,
                       .first_step = step,
                       .step = step});
      learner.fit({{model.y, model.ys}});
      const Natural expected = parts_by_hand(24, 2, parts, step, 5);
      const Gaussian found = learner.belief(model.w)[0];
      CAPTURE(parts);
      CHECK(found.mean() == oracle::relative(expected.tau / expected.rho, 1e-10));
      CHECK(1 / found.variance() == oracle::relative(expected.rho, 1e-10));
    }
}

TEST_CASE("parts: a variable that is frozen keeps its stored messages") {
  PartsLine line(60);
  Learner learner = line.learner({.batches = 3, .parts = 4, .epochs = 2});
  learner.fit(line.data());
  const auto before = learner.memory().rho;
  learner.freeze(line.w);
  learner.set_stopping({.epochs = 4, .tolerance = 0});
  learner.fit(line.data());
  CHECK(learner.memory().rho == before);
}

TEST_CASE("parts: stored precisions stay messages, whatever an epoch unlearns") {
  // The second set says nothing of w; what is left of the first may not be a rounded little less than nothing.
  PartsLine line(60);
  Learner learner = line.learner({.batches = 1, .parts = 7, .epochs = 1});
  learner.fit(line.data());
  std::ranges::fill(line.xs, 0.0);
  learner.set_stopping({.epochs = 2, .tolerance = 0});
  learner.fit(line.data());
  CHECK(learner.memory().rho[0][0] == 0);
  Learner again = line.learner({.batches = 1, .parts = 7, .epochs = 1});
  CHECK_NOTHROW(again.restore(learner.memory()));
}

TEST_CASE("parts: every example counts once, whatever the parts, after every epoch, with and without damping") {
  const PartsLine line(60);
  for (const std::size_t parts : {1u, 2u, 5u, 20u, 100u})  // the last: more than there are examples
    for (const double step : {1.0, 0.5})
      for (const int epochs : {1, 4}) {
        Learner learner = line.learner({.batches = 3, .parts = parts, .epochs = epochs, .step = step});
        learner.fit(line.data());
        CHECK(learner.memory().tau.size() == 3);
        line.check_exact(learner, 0);
      }
}

TEST_CASE("parts: an example is left out with its fraction of the stored message, not with all that it stands for") {
  const PartsLine line(60);
  Learner learner = line.learner({.batches = 1, .parts = 20, .epochs = 3});
  learner.fit(line.data());
  std::vector<double> means(60), variances(60);
  learner.predict_left_out(line.data(), means, variances);
  double tau = 0, rho = 0;
  for (std::size_t n = 0; n < 60; ++n)
    tau += line.xs[n] * line.ys[n] / PartsLine::kVariance, rho += line.xs[n] * line.xs[n] / PartsLine::kVariance;
  const double left_rho = 1 / PartsLine::kPrior + 0.95 * rho, mean = 0.95 * tau / left_rho;
  for (std::size_t n = 0; n < 60; ++n) {
    CHECK(means[n] == oracle::relative(line.xs[n] * mean, 1e-10));
    CHECK(variances[n] == oracle::relative(line.xs[n] * line.xs[n] / left_rho + PartsLine::kVariance, 1e-10));
  }
}

TEST_CASE("parts: a mini-batch is forgotten whole") {
  const PartsLine line(60);
  Learner learner = line.learner({.batches = 3, .parts = 4, .epochs = 2});
  learner.fit(line.data());
  learner.forget(0);
  line.check_exact(learner, 20);
}

TEST_CASE("parts: what is stored goes on with the same bytes") {
  const PartsLine line(60);
  const LearnOptions options{.batches = 3, .parts = 4, .epochs = 6, .step = 0.5};
  Learner once = line.learner(options), first = line.learner(options), second = line.learner(options);
  once.fit(line.data());
  first.fit(line.data(), [](const EpochRecord& record) { return record.epoch < 3; });
  second.restore(first.memory());
  second.fit(line.data());
  CHECK(second.memory().tau == once.memory().tau);
  CHECK(second.memory().rho == once.memory().rho);
}

TEST_CASE("parts: none are refused") {
  CHECK_THROWS_WITH_AS(PartsLine(3).learner({.parts = 0}), doctest::Contains("parts of a mini-batch is 0"), Error);
}
