// Starts, members, files, interruptions and refusals of GaussianLearner.
#include "factors/authoring/from_function.h"
#include "tests/engine/learn/gaussian/learned_graphs.h"

using oracle::PlainMatrix, oracle::Regression, oracle::evenly, oracle::network, oracle::Network, oracle::random_matrix,
    oracle::regression;

TEST_CASE(
    "gaussian learner: a network about zero starts from a draw, several starts are mixed, and no result depends on "
    "threads") {
  const Network net = network(8);
  const PlainMatrix xs = evenly(60, -2, 2), noise = random_matrix(60, 1, 1);
  PlainMatrix ys(60, 1), means;
  for (std::size_t n = 0; n < 60; ++n) ys[n] = std::sin(1.5 * xs[n]) + 0.05 * noise[n];
  const Data data{{net.x, xs.values()}, {net.y, ys.values()}};
  for (const std::size_t jobs : {1u, 3u}) {
    GaussianLearner learner(net.graph, standard_registry(), {net.y},
                            {.learn_noise = true, .tails = true, .learn_scale = true, .starts = 3, .jobs = jobs});
    const GaussianLearnReport report = learner.fit(data);
    REQUIRE(report.starts.size() == 3);
    double weights = 0;
    for (const auto& start : report.starts) {
      weights += start.weight;
      CHECK(start.log_evidence <= report.log_evidence);
    }
    CHECK(weights == doctest::Approx(1));
    CHECK(learner.noise_variance(0) < 0.02);
    const Prediction p = learner.predict({{net.x, xs.values()}});
    CHECK(largest_difference(p.mean, ys) < 0.5);
    if (jobs > 1) CHECK(means.values() == PlainMatrix(p.mean).values());
    means = p.mean;
  }
}

TEST_CASE("gaussian learner: what is saved predicts and is updated as what was learned; other texts are refused") {
  const Regression r = regression(3);
  const PlainMatrix x = random_matrix(12, 3, 1);
  const PlainMatrix y = random_matrix(12, 1, 2);
  const GaussianLearnOptions options{.learn_noise = true, .noise_by_inputs = true, .tails = true, .starts = 2};
  GaussianLearner learner(r.graph, standard_registry(), {r.y}, options),
      loaded(r.graph, standard_registry(), {r.y}, options);
  CHECK_THROWS_AS(learner.save(), Error);
  learner.fit(r.data(x, y));
  const std::string text = learner.save();
  loaded.load(text);
  CHECK(loaded.rows() == 12);
  CHECK(loaded.save() == text);
  for (int after = 0; after < 2; ++after) {
    const Prediction one = learner.predict({{r.x, x.values()}}), other = loaded.predict({{r.x, x.values()}});
    CHECK(one.mean == other.mean);
    CHECK(one.sd == other.sd);
    CHECK(one.quantile(0.1) == other.quantile(0.1));
    learner.update(r.data(x, y)), loaded.update(r.data(x, y));
  }
  const Regression wider = regression(4);
  GaussianLearner other(wider.graph, standard_registry(), {wider.y});
  CHECK_THROWS_AS(other.load(text), Error);
  for (const std::string& wrong : {std::string("{}"), std::string("no"), text.substr(0, text.size() / 2)})
    CHECK_THROWS_AS(loaded.load(wrong), Error);
  CHECK(loaded.rows() == 36);  // a refused text changes nothing
}

TEST_CASE("gaussian learner: learning stops where its caller says so, with what it has") {
  const Network net = network(4);
  const PlainMatrix xs = evenly(30, -2, 2);
  PlainMatrix ys = xs;
  for (std::size_t n = 0; n < 30; ++n) ys[n] = std::sin(xs[n]);
  int seen = 0;
  GaussianLearner learner(net.graph, standard_registry(), {net.y},
                          {.learn_noise = true, .on_epoch = [&](const GaussianEpoch&) { return ++seen < 3; }});
  const GaussianLearnReport report = learner.fit({{net.x, xs.values()}, {net.y, ys.values()}});
  CHECK(report.interrupted);
  CHECK(seen == 3);
  CHECK(report.starts[0].epochs == 3);
  CHECK(learner.predict({{net.x, xs.values()}}).mean.allFinite());
}

TEST_CASE("gaussian learner: what cannot be learned is refused in one line that says what to do") {
  const Regression r = regression(2);
  const PlainMatrix x = random_matrix(3, 2, 1);
  const PlainMatrix y = random_matrix(3, 1, 2);
  GaussianLearner learner(r.graph, standard_registry(), {r.y});
  CHECK_THROWS_WITH_AS(learner.predict({{r.x, x.values()}}), "predict: nothing has been learned yet; call fit first",
                       Error);
  CHECK_THROWS_WITH_AS(learner.fit({{r.y, y.values()}}), "fit: no values of variable 'x' are given", Error);
  const std::vector<double> weights = {1, 0, 1};
  CHECK_THROWS_WITH_AS(learner.fit(r.data(x, y), weights), "fit: a weight of 0 is given; a positive number is expected",
                       Error);
  PlainMatrix wrong = y;
  wrong[1] = std::nan("");
  CHECK_THROWS_WITH_AS(learner.fit(r.data(x, wrong)), "fit: variable 'y' has a value that is not a finite number",
                       Error);
  CHECK(learner.rows() == 0);
  CHECK_THROWS_AS(GaussianLearner(r.graph, standard_registry(), {r.y}, {.tails = true}), Error);

  // Classes have no matrix over examples.
  Graph large;
  const auto classes = large.shared("w", 20000), inputs = large.observed("x", 10000),
             of = large.observed("c", 1, "categorical(2)"), products = large.variable("p", 20000),
             scores = large.variable("s", 2);
  large.factor("gaussian_prior", {classes}, {{"mean", 0.0}, {"variance", 1.0}});
  large.factor("product", {classes, column(inputs), products});
  large.factor("sum", {products, scores});
  large.factor("softmax", {scores, of});
  GaussianLearner too_large(large, standard_registry(), {of});
  const std::vector<double> ones(30000, 1.0), first = {0, 1, 0};
  CHECK_THROWS_WITH_AS(too_large.fit({{inputs, ones}, {of, first}}),
                       "fit: 3 rows x 2 outputs, 20000 weights: one Gaussian would take 9.6 GB, more than 4.0 GB; "
                       "message sweeps instead",
                       Error);
  CHECK(too_large.rows() == 0);

  Graph h;
  const auto v = h.shared("v"), u = h.observed("u"), z = h.variable("z"), t = h.observed("t");
  h.factor("product", {v, u, z});
  h.factor("gaussian_noise", {z, t}, {{"variance", 1.0}});
  CHECK_THROWS_WITH_AS(GaussianLearner(h, standard_registry(), {t}),
                       "Gaussian learning: shared variable 'v' has no Gaussian prior; give it one by gaussian_prior",
                       Error);

  Registry registry = standard_registry();
  registry.add(factor_from_function("root", [](double value) { return std::sqrt(value); }));
  Graph k;
  const auto s = k.shared("s"), i = k.observed("i"), m = k.variable("m"), root = k.variable("root"),
             o = k.observed("o");
  k.factor("gaussian_prior", {s}, {{"mean", 1.0}, {"variance", 1.0}});
  k.factor("product", {s, i, m});
  k.factor("root", {m, root});
  k.factor("gaussian_noise", {root, o}, {{"variance", 1.0}});
  GaussianLearner faulty(k, registry, {o});
  const std::vector<double> is = {1, 2, -1}, os = {1, 1, 1};
  CHECK_THROWS_WITH_AS(
      faulty.fit({{i, is}, {o, os}}),
      "Gaussian learning: at the prior's mean the value of 'root (1) = root(m)' is not a finite number in "
      "row 3; choose another prior, a function with finite derivatives there, or leave such examples out",
      Error);
}
