// Values that examples or priors know exactly.
#include "tests/oracles/learned_line.h"

namespace {

// y = w + noise, with a prior N(2, 1) of w.
struct Location {
  Graph g;
  VariableId w = g.shared("w"), y = g.observed("y"), v = g.observed("v");
  FactorId prior, noise;
  explicit Location(double noise_variance) {
    const VariableId p = g.variable("p");
    prior = g.factor("gaussian_prior", {w}, {{"mean", 2.0}, {"variance", 1.0}});
    g.factor("product", {w, v, p});
    noise = g.factor("gaussian_noise", {p, y}, {{"variance", noise_variance}});
  }
  Learner learner(std::size_t batches, double step = 1) const {
    return {g,
            standard_registry(),
            forward_backward(),
            forward(),
            {.targets = {y}, .batches = batches, .epochs = 3, .tolerance = 0, .step = step}};
  }
};

const std::vector<double> kOnes = {1, 1, 1, 1};

}  // namespace

TEST_CASE("learn: an example without noise makes the weight known exactly") {
  const Location model(0);
  const std::vector<double> three = {3, 3, 3, 3};
  for (const std::size_t batches : {1u, 2u, 4u})
    for (const double step : {1.0, 0.5}) {
      Learner learner = model.learner(batches, step);
      learner.fit({{model.v, kOnes}, {model.y, three}});
      CHECK(learner.belief(model.w)[0] == Gaussian::point(3));
      CHECK(learner.fitted_means()[3] == 3);
      CHECK(learner.fitted_variances()[3] == 0);
    }
}

TEST_CASE("learn: what the next example of a mini-batch sees is the exact value, not a sum with it") {
  const Location model(0);
  const std::vector<double> three = {3, 3, 3, 3};
  Graph g = model.g;
  Learner learner(
      g, standard_registry(), forward_backward(), forward(),
      {.targets = {model.y}, .batches = 1, .epochs = 1, .likelihood = LearnOptions::Likelihood::while_sweeping});
  learner.fit({{model.v, kOnes}, {model.y, three}});
  CHECK(learner.fitted_means()[0] == 2);  // from the prior
  CHECK(learner.fitted_means()[1] == 3);
  CHECK(learner.fitted_variances()[1] == 0);
}

TEST_CASE("learn: forgetting one of two batches that know the value leaves the other") {
  const Location model(0);
  const std::vector<double> three = {3, 3, 3, 3};
  Learner learner = model.learner(2);
  learner.fit({{model.v, kOnes}, {model.y, three}});
  std::vector<double> means(4), variances(4);
  learner.predict_left_out({{model.v, kOnes}}, means, variances);
  CHECK(means == three);  // each is known from the other batch
  CHECK(learner.condensed_memory().rho[0][0] == kInfinity);
  CHECK(learner.condensed_memory().tau[0][0] == 3);
  learner.forget(0);
  CHECK(learner.belief(model.w)[0] == Gaussian::point(3));
  learner.forget(1);
  CHECK(learner.belief(model.w)[0].mean() == 2);
  CHECK(learner.belief(model.w)[0].variance() == 1);
}

TEST_CASE("learn: exact values that contradict each other are an error that names the variable") {
  const Location model(0);
  const std::vector<double> different = {3, 3, 4, 4};
  for (const std::size_t batches : {1u, 2u, 4u}) {
    Learner learner = model.learner(batches);
    CHECK_THROWS_WITH_AS(learner.fit({{model.v, kOnes}, {model.y, different}}),
                         doctest::Contains("variable 'w', element 0: it is exactly 3 and exactly 4"), Contradiction);
  }
}

TEST_CASE("learn: a weight is learned again when what made it exact is gone") {
  const Location model(0);
  const std::vector<double> three = {3, 3, 3, 3};
  Learner learner = model.learner(2, 0.5);
  learner.fit({{model.v, kOnes}, {model.y, three}});
  const double variance = 0.5;
  learner.set_parameter(model.noise, "variance", {&variance, 1});
  learner.set_stopping({.epochs = 60, .tolerance = 0});
  learner.fit({{model.v, kOnes}, {model.y, three}});
  const double rho = 1 + 4 / variance, tau = 2 + 4 * 3 / variance;
  CHECK(learner.belief(model.w)[0].rho == oracle::relative(rho, 1e-9));
  CHECK(learner.belief(model.w)[0].tau == oracle::relative(tau, 1e-9));
}

TEST_CASE("learn: a prior that was exact and no longer is gives way to what was learned under it") {
  const Location model(0.5);
  const std::vector<double> y = {3, 2, 4, 3};
  Learner learner = model.learner(2);
  const double none = 0, one = 1;
  learner.set_parameter(model.prior, "variance", {&none, 1});
  learner.fit({{model.v, kOnes}, {model.y, y}});
  CHECK(learner.belief(model.w)[0] == Gaussian::point(2));
  learner.set_parameter(model.prior, "variance", {&one, 1});
  CHECK(learner.belief(model.w)[0].rho == oracle::relative(1 + 4 / 0.5, 1e-12));
  CHECK(learner.belief(model.w)[0].tau == oracle::relative(2 + 12 / 0.5, 1e-12));
}
