#include "factors/authoring/from_function.h"
#include "tests/engine/learn/gaussian/learned_graphs.h"

namespace {

using oracle::PlainMatrix, oracle::largest_difference, oracle::random_matrix, oracle::Regression, oracle::regression,
    oracle::evenly;

// The exact posterior of a regression.
struct Dense {
  PlainMatrix covariance, mean, variance;
  Dense(const PlainMatrix& x, const PlainMatrix& y)
      : covariance((4 * x.transpose() * x + 0.5 * PlainMatrix::identity(x.columns())).inverse()),
        mean(covariance * (4 * x.transpose() * y + PlainMatrix(x.columns(), 1, 0.25))),
        variance(covariance.diagonal()) {}
};

void check_beliefs(const std::vector<Gaussian>& found, const PlainMatrix& mean, const PlainMatrix& variance,
                   double tolerance = 1e-8) {
  REQUIRE(found.size() == mean.rows());
  for (std::size_t i = 0; i < mean.rows(); ++i) {
    CHECK(found[i].mean() == oracle::relative(mean[i], tolerance));
    CHECK(found[i].variance() == oracle::relative(variance[i], tolerance));
  }
}

}  // namespace

TEST_CASE(
    "gaussian learner: Bayesian linear regression is the dense solution; predictions, quantiles and densities too") {
  const Regression r = regression(4);
  const PlainMatrix x = random_matrix(20, 4, 1), fresh = random_matrix(3, 4, 3);
  const PlainMatrix y = x * evenly(4, -1, 1) + 0.5 * PlainMatrix(random_matrix(20, 1, 2));
  GaussianLearner learner(r.graph, standard_registry(), {r.y});
  check_beliefs(learner.belief(r.w), PlainMatrix(4, 1, 0.5), PlainMatrix(4, 1, 2));
  const GaussianLearnReport report = learner.fit(r.data(x, y));
  const Dense exact(x, y);
  check_beliefs(learner.belief(r.w), exact.mean, exact.variance);
  const Prediction p = learner.predict({{r.x, fresh.values()}});
  for (Index i = 0; i < 3; ++i) {
    const PlainMatrix row = fresh.row(i);
    const double mean = (row * exact.mean)[0], variance = (row * exact.covariance * row.transpose())[0] + 0.25;
    CHECK(p.mean(i, 0) == oracle::relative(mean, 1e-8));
    CHECK(p.sd(i, 0) == oracle::relative(std::sqrt(variance), 1e-8));
    CHECK(p.quantile(0.975)(i, 0) == oracle::relative(mean + 1.959963984540054 * std::sqrt(variance), 1e-8));
    CHECK(p.log_density(Matrix::Ones(3, 1))(i, 0) ==
          oracle::relative(-0.5 * std::pow(1 - mean, 2) / variance - 0.5 * std::log(2 * std::numbers::pi * variance),
                           1e-8));
  }
  // The evidence is the density of all targets at once.
  const PlainMatrix joint = 2 * x * x.transpose() + 0.25 * PlainMatrix::identity(20);
  const PlainMatrix rest = y - x * PlainMatrix(4, 1, 0.5);
  const double evidence =
      -0.5 * (dot(rest, joint.solve(rest)) + joint.log_determinant() + 20 * std::log(2 * std::numbers::pi));
  CHECK(report.log_evidence == oracle::relative(evidence, 1e-9));
  CHECK(report.line().find("log evidence") != std::string::npos);
}

TEST_CASE("gaussian learner: left-out predictions are those of learners that never saw the example") {
  const Regression r = regression(2);
  const PlainMatrix x = random_matrix(8, 2, 1);
  const PlainMatrix y = random_matrix(8, 1, 2);
  GaussianLearner learner(r.graph, standard_registry(), {r.y});
  learner.fit(r.data(x, y));
  const Prediction left_out = learner.left_out();
  for (Index n = 0; n < 8; ++n) {
    PlainMatrix others = x;
    others(n, 0) = others(n, 1) = 0;  // inputs of zero say nothing of the weights
    const Dense exact(others, y);
    const PlainMatrix row = x.row(n);
    CHECK(left_out.mean(n, 0) == oracle::relative((row * exact.mean)[0], 1e-7));
    CHECK(left_out.sd(n, 0) == oracle::relative(std::sqrt((row * exact.covariance * row.transpose())[0] + 0.25), 1e-7));
  }
}

TEST_CASE("gaussian learner: an example of weight 2 counts as two, also for noise, scale and evidence") {
  const Regression r = regression(3);
  const PlainMatrix x = random_matrix(15, 3, 1);
  const PlainMatrix y = x * evenly(3, -1, 1) + 0.3 * PlainMatrix(random_matrix(15, 1, 2));
  const GaussianLearnOptions options{.least_gain = 0, .learn_noise = true, .learn_scale = true};
  GaussianLearner weighted(r.graph, standard_registry(), {r.y}, options),
      repeated(r.graph, standard_registry(), {r.y}, options);
  std::vector<double> weights(15, 1.0);
  for (std::size_t i = 10; i < 15; ++i) weights[i] = 2;
  PlainMatrix more(20, 3), again(20, 1);
  for (std::size_t i = 0; i < 20; ++i) {
    const std::size_t from = i < 15 ? i : i - 5;
    again[i] = y[from];
    for (std::size_t j = 0; j < 3; ++j) more(i, j) = x(from, j);
  }
  const double one = weighted.fit(r.data(x, y), weights).log_evidence,
               other = repeated.fit(r.data(more, again)).log_evidence;
  CHECK(one == oracle::relative(other, 1e-5));
  CHECK(weighted.noise_variance(0) == oracle::relative(repeated.noise_variance(0), 1e-3));
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(weighted.belief(r.w)[i].mean() == oracle::relative(repeated.belief(r.w)[i].mean(), 1e-4));
}

TEST_CASE("gaussian learner: examples added later, forgotten, or learned by update give what learning at once gives") {
  const Regression r = regression(3);
  const PlainMatrix x = random_matrix(12, 3, 1);
  const PlainMatrix y = random_matrix(12, 1, 2);
  const PlainMatrix first = x.block(0, 0, 8, 3), rest = x.block(8, 0, 4, 3), kept = x.block(2, 0, 10, 3);
  GaussianLearner in_parts(r.graph, standard_registry(), {r.y});
  in_parts.fit(r.data(first, y.segment(0, 8)));
  in_parts.fit(r.data(rest, y.segment(8, 4)));
  CHECK(in_parts.rows() == 12);
  in_parts.forget(std::vector<std::size_t>{0, 1});
  CHECK(in_parts.rows() == 10);
  constexpr double kSteps = 1e-6;  // each stops where its steps no longer gain, from another start
  const Dense of_kept(kept, y.segment(2, 10)), of_all(x, y);
  check_beliefs(in_parts.belief(r.w), of_kept.mean, of_kept.variance, kSteps);
  CHECK_THROWS_WITH_AS(in_parts.forget(std::vector<std::size_t>{10}),
                       "forget: example 10 is given, but there are only 10", Error);

  GaussianLearner updated(r.graph, standard_registry(), {r.y});
  updated.fit(r.data(first, y.segment(0, 8)));
  CHECK(updated.update(r.data(rest, y.segment(8, 4))));
  CHECK(updated.rows() == 12);
  check_beliefs(updated.belief(r.w), of_all.mean, of_all.variance, kSteps);
  CHECK_THROWS_AS(updated.fit(r.data(rest, y.segment(8, 4))), Error);
  CHECK_THROWS_AS(updated.left_out(), Error);

  GaussianLearner weighted(r.graph, standard_registry(), {r.y});
  weighted.fit(r.data(first, y.segment(0, 8)));
  const std::vector<double> weights = {1, 2, 1, 1};
  CHECK(weighted.update(r.data(rest, y.segment(8, 4)), weights));
  CHECK(weighted.rows() == 12);
  PlainMatrix repeated(13, 3), targets(13, 1);
  for (std::size_t n = 0; n < 13; ++n) {
    const std::size_t from = n < 12 ? n : 9;  // the example of weight 2 once more
    targets[n] = y[from];
    for (std::size_t k = 0; k < 3; ++k) repeated(n, k) = x(from, k);
  }
  const Dense of_repeated(repeated, targets);
  check_beliefs(weighted.belief(r.w), of_repeated.mean, of_repeated.variance, kSteps);
  CHECK_THROWS_WITH_AS(weighted.update(r.data(rest, y.segment(8, 4)), std::vector<double>{1, 2}),
                       "update: 2 weights are given for 4 examples", Error);
}

TEST_CASE("gaussian learner: a frozen variable stays, and the others are learned around it") {
  Graph g;
  const auto a = g.shared("a"), b = g.shared("b"), x = g.observed("x"), ax = g.variable("ax"), f = g.variable("f"),
             y = g.observed("y");
  g.factor("gaussian_prior", {a}, {{"mean", 0.5}, {"variance", 2.0}});
  g.factor("gaussian_prior", {b}, {{"mean", 0.5}, {"variance", 2.0}});
  g.factor("product", {a, x, ax});
  g.factor("add", {ax, b, f});
  g.factor("gaussian_noise", {f, y}, {{"variance", 0.25}});
  const PlainMatrix xs = random_matrix(9, 1, 1), ys = random_matrix(9, 1, 2);
  GaussianLearner learner(g, standard_registry(), {y});
  learner.freeze(a);
  const Data data{{x, xs.values()}, {y, ys.values()}};
  learner.fit(data);
  CHECK(learner.belief(a)[0].is_point());
  CHECK(learner.belief(a)[0].mean() == 0.5);
  const Dense exact(PlainMatrix(9, 1, 1), ys - 0.5 * xs);
  check_beliefs(learner.belief(b), exact.mean, exact.variance);
  const Prediction p = learner.predict({{x, xs.values()}});
  CHECK(p.mean(3, 0) == oracle::relative(0.5 * xs[3] + exact.mean[0], 1e-8));
  CHECK(p.epistemic_sd(3, 0) == oracle::relative(std::sqrt(exact.covariance(0, 0)), 1e-8));
  learner.thaw(a);
  learner.forget(std::vector<std::size_t>{0});
  CHECK(!learner.belief(a)[0].is_point());
}

// y = a exp(-b t) + c: Gauss-Newton written out.
TEST_CASE("gaussian learner: scalars whose matrix would take too much memory are learned by one over the examples") {
  constexpr std::size_t kScalars = 20000;
  const Regression r = regression(kScalars);
  const PlainMatrix x = random_matrix(4, kScalars, 1), y = random_matrix(4, 1, 2),
                    fresh = random_matrix(2, kScalars, 3);
  GaussianLearner learner(r.graph, standard_registry(), {r.y});
  learner.fit(r.data(x, y));
  const PlainMatrix kernel = 2 * x * x.transpose() + 0.25 * PlainMatrix::identity(4), half(kScalars, 1, 0.5),
                    across = 2 * fresh * x.transpose();
  const PlainMatrix mean = fresh * half + across * kernel.solve(y - x * half),
                    covariance = 2 * fresh * fresh.transpose() - across * kernel.solve(across.transpose());
  const Prediction p = learner.predict({{r.x, fresh.values()}});
  for (Index i = 0; i < 2; ++i) {
    CHECK(p.mean(i, 0) == oracle::relative(mean[static_cast<std::size_t>(i)], 1e-8));
    const auto own = static_cast<std::size_t>(i);
    CHECK(p.epistemic_sd(i, 0) == oracle::relative(std::sqrt(covariance(own, own)), 1e-8));
  }
}

TEST_CASE(
    "gaussian learner: intercepts of fifty unbalanced groups, chosen by a table of the data, are the exact posterior") {
  Graph g;
  const auto effect = g.shared("effect", 50), w = g.shared("w"), x = g.observed("x"), wx = g.variable("wx"),
             f = g.variable("f"), y = g.observed("y");
  g.factor("gaussian_prior", {effect}, {{"mean", 0.5}, {"variance", 2.0}});
  g.factor("gaussian_prior", {w}, {{"mean", 0.5}, {"variance", 2.0}});
  g.factor("product", {w, x, wx});
  const FactorId add = g.factor("add", {given(effect), wx, f});
  g.factor("gaussian_noise", {f, y}, {{"variance", 0.25}});
  std::vector<std::uint32_t> groups;
  for (std::uint32_t group = 0; group < 50; ++group)
    for (std::uint32_t i = 0; i <= group % 7; ++i) groups.push_back(group == 13 ? 12 : group);  // nobody is of group 13
  const std::size_t count = groups.size();
  const PlainMatrix xs = random_matrix(count, 1, 1), ys = random_matrix(count, 1, 2);
  PlainMatrix design(count, 51);
  for (std::size_t n = 0; n < count; ++n) design(n, groups[n]) = 1, design(n, 50) = xs[n];
  Data data{{x, xs.values()}, {y, ys.values()}};
  data.tables.push_back({add, "x", groups});
  GaussianLearner learner(g, standard_registry(), {y});
  learner.fit(data);
  const Dense exact(design, ys);
  check_beliefs(learner.belief(effect), exact.mean.segment(0, 50), exact.variance.segment(0, 50), 1e-7);
  check_beliefs(learner.belief(w), exact.mean.segment(50, 1), exact.variance.segment(50, 1), 1e-7);
  // A group without examples is no reason to leave the prior's mean as the start, whatever the seed.
  std::vector<double> begun;
  for (const std::uint64_t seed : {1u, 2u}) {
    const auto first = [&](const GaussianEpoch& epoch) { return begun.push_back(epoch.log_evidence), false; };
    GaussianLearner(g, standard_registry(), {y}, {.seed = seed, .on_epoch = first}).fit(data);
  }
  CHECK(begun.at(0) == begun.at(1));
  groups[3] = 50;
  CHECK_THROWS_AS(learner.fit(data), Error);
}
