// Learning against the loop of Algorithm 1 written by hand.
#include <random>

#include "tests/oracles/learned_line.h"

namespace {

const CompileOptions kLinearised{.method = "linearised"};

// y = w u + noise with u unknown but for its prior, linearised: what an example says of w depends on what is known of
// it.
struct Bilinear {
  Graph graph;
  VariableId w = graph.shared("w"), y = graph.observed("y");
  std::vector<double> ys;

  explicit Bilinear(bool with_prior) {
    const VariableId u = graph.variable("u"), z = graph.variable("z");
    if (with_prior) graph.factor("gaussian_prior", {w}, {{"mean", 0.5}, {"variance", 2.0}});
    graph.factor("gaussian_prior", {u}, {{"mean", 1.0}, {"variance", 0.3}});
    graph.factor("product", {w, u, z});
    graph.factor("gaussian_noise", {z, y}, {{"variance", 0.2}});
    std::mt19937_64 random(3);
    std::normal_distribution<double> normal;
    for (std::size_t n = 0; n < 24; ++n) ys.push_back(1.4 + normal(random));
  }
};

// One sweep of the graph of an example is all that this loop knows of messages.
Natural learned_by_hand(std::size_t batches, double step, int epochs) {
  const Bilinear model(false);
  const Plan plan = compile(model.graph, forward_backward(), standard_registry(), kLinearised);
  State state(plan);
  std::vector<Natural> messages(batches);
  const Natural prior{0.5 / 2.0, 1 / 2.0};
  Natural known = prior;
  for (int epoch = 0; epoch < epochs; ++epoch)
    for (std::size_t b = 0; b < batches; ++b) {
      Natural& message = messages[b];
      const Natural cavity{known.tau - message.tau, known.rho - message.rho};
      Natural now = cavity;
      for (std::size_t n = b * model.ys.size() / batches; n < (b + 1) * model.ys.size() / batches; ++n) {
        state.cavity(model.w).set(0, now);
        state.observe(model.y, model.ys[n]);
        run(plan, state);
        const Gaussian belief = state.belief(model.w)[0];
        now = {belief.mean() / belief.variance(), 1 / belief.variance()};
      }
      const double part = epoch == 0 ? 1 : step;
      message = {message.tau + part * (now.tau - cavity.tau - message.tau),
                 message.rho + part * (now.rho - cavity.rho - message.rho)};
      known = {cavity.tau + message.tau, cavity.rho + message.rho};
    }
  return known;
}

}  // namespace

TEST_CASE("learn: where messages depend on what is known, learning is the plain loop, with and without damping") {
  const Bilinear model(true);
  for (const std::size_t batches : {1u, 2u, 5u})
    for (const double step : {1.0, 0.5}) {
      Learner learner(model.graph, standard_registry(), forward_backward(), forward(),
                      {.targets = {model.y}, .batches = batches, .epochs = 5, .tolerance = 0, .step = step},
                      kLinearised);
      learner.fit({{model.y, model.ys}});
      const Natural expected = learned_by_hand(batches, step, 5);
      const Gaussian found = learner.belief(model.w)[0];
      CAPTURE(batches);
      CHECK(found.mean() == oracle::relative(expected.tau / expected.rho, 1e-10));
      CHECK(1 / found.variance() == oracle::relative(expected.rho, 1e-10));
    }
}
