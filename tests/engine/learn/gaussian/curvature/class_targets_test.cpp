// Targets that are classes, or 0 and 1, of a joint learner.
#include "tests/engine/learn/gaussian/class_oracle.h"
#include "tests/engine/learn/gaussian/learned_graphs.h"
#include "tests/oracles/model_files.h"

namespace {

using oracle::Laplace, oracle::OnlyDense, oracle::PlainMatrix, oracle::drawn_classes, oracle::laplace,
    oracle::random_matrix, oracle::with_classes;

}  // namespace

// A filter of three weights over a series of five, used in three places, and a linear layer: no unit owns its weights.
TEST_CASE(
    "gaussian learner: classes of any graph with a score for each are Laplace's at its own priors; saved, updated") {
  const Matrix rows = random_matrix(70, 5, 91);
  const std::vector<Index> classes = drawn_classes(rows, 3, 91);
  const RowData data = with_classes(rows, classes, 3);
  Graph g;
  const auto x = g.observed("x", 5), y = g.observed("y", 1, "categorical(3)");
  const auto k = gaussian_prior(g, g.shared("k", 3), 0.5, 0.5), w = gaussian_prior(g, g.shared("w", 9), 0.0, 0.5),
             b = gaussian_prior(g, g.shared("b", 3), 0.0, 0.5);
  const auto moved =
      sum_rows(g, product(g, gather(k, {0, 1, 2, 0, 1, 2, 0, 1, 2}), gather(x, {0, 1, 2, 1, 2, 3, 2, 3, 4})), 3);
  g.factor("softmax", {add(g, matrix_product(g, w, apply(g, "square", {moved})), b, "scores"), y});
  const std::vector<double> xs = PlainMatrix(rows).values(), ys(classes.begin(), classes.end());
  GaussianLearner learner(g, standard_registry(), {y}, {.epochs = 200});
  const GaussianLearnReport report = learner.fit({{x, xs}, {y, ys}});
  const RowProgram& program = learner.program();
  const Laplace expected = laplace(OnlyDense(program), data, program.prior(), 1, 200, 0.3);
  const PlainMatrix covariance = expected.precision.inverse();
  for (const VariableId v : {k, w, b})
    for (Index i = 0; i < static_cast<Index>(g[v].size); ++i) {
      const Index at = program.first_scalar(v) + i;
      const Gaussian own = learner.belief(v)[static_cast<std::size_t>(i)];
      CHECK(std::abs(own.mean() - expected.mean[at]) < 0.01 * own.sd());  // it stops where the evidence does
      CHECK(own.variance() == oracle::relative(covariance(at, at), 0.01));
    }
  CHECK(report.starts[0].settled);
  const Prediction p = learner.predict({{x, xs}});
  REQUIRE(p.mean.cols() == 3);
  CHECK((p.mean.rowwise().sum().array() - 1).abs().maxCoeff() < 1e-12);
  CHECK((p.sd.array().square() - p.mean.array() * (1 - p.mean.array())).abs().maxCoeff() < 1e-9);
  double log_loss = 0;
  for (Index n = 0; n < 70; ++n) log_loss += std::log(p.mean(n, classes[static_cast<std::size_t>(n)]));
  CHECK(p.log_density(data.targets).sum() == oracle::relative(log_loss, 1e-12));
  CHECK(p.quantile(0.5)(0, 0) == (p.mean(0, 0) > 0.5 ? 1 : 0));
  CHECK(learner.left_out().log_density(data.targets).sum() < log_loss);

  GaussianLearner loaded(g, standard_registry(), {y});
  const std::string text = learner.save();
  loaded.load(text);
  CHECK(loaded.predict({{x, xs}}).mean == p.mean);
  CHECK(loaded.save() == text);
  std::string shape = oracle::json_in_model(text).at("shape");
  shape.replace(shape.find("\"k\""), 3, "\"l\"");
  CHECK_THROWS_WITH_AS(loaded.load(oracle::changed_model(text, "/shape", shape)),
                       doctest::Contains("load: it was saved from another graph"), Error);
  const char* const stretch = "/mixture/members/0/plain_posterior/stretch";
  CHECK(oracle::json_in_model(text).at(Json::json_pointer(stretch)).size() > 0);
  CHECK_THROWS_WITH_AS(loaded.load(oracle::changed_model(text, stretch, {0.0, 0.0, 0.0})),
                       doctest::Contains("the stretch of a target is not usable"), Error);

  // The second half as an update is near all of them at once.
  const std::span<const double> all_x(xs), all_y(ys);
  GaussianLearner later(g, standard_registry(), {y}, {.epochs = 200});
  later.fit({{x, all_x.first(175)}, {y, all_y.first(35)}});
  CHECK(later.update({{x, all_x.last(175)}, {y, all_y.last(35)}}));
  for (std::size_t i = 0; i < 9; ++i)
    CHECK(std::abs(later.belief(w)[i].mean() - learner.belief(w)[i].mean()) < learner.belief(w)[i].sd());

  const std::vector<double> wrong(70, 3.0);
  CHECK(oracle::error_of([&] {
          learner.fit({{x, xs}, {y, wrong}});
        }) == "fit: target 'y' is 3 in row 1; softmax expects a whole number in [0, 2]");
  Graph h;
  const auto c = h.observed("c", 1, "categorical(3)");
  h.factor("argmax", {gaussian_prior(h, h.shared("s", 3), 0.0, 1.0), c});
  CHECK(oracle::error_of([&] { GaussianLearner(h, standard_registry(), {c}); }).find("target 'c' has no likelihood") !=
        std::string::npos);
}

TEST_CASE("gaussian learner: an anchored start is its own prior mean, an unscaled prior stays; two starts are mixed") {
  Graph g;
  const auto x = g.observed("x"), y = g.observed("y");
  const auto w = gaussian_prior(g, g.shared("w"), 0.0, 1.0), b = gaussian_prior(g, g.shared("b"), 0.0, 25.0);
  g.factor("logistic", {add(g, product(g, w, x), b), y});
  const std::vector<double> xs = {-1.0, 0.3, 0.5, 2.0, 1.0}, ys = {0, 1, 0, 1, 1};
  GaussianLearner learner(g, standard_registry(), {y},
                          {.learn_scale = true, .unscaled = {b}, .anchored = {w}, .starts = 2, .seed = 3});
  const GaussianLearnReport report = learner.fit({{x, xs}, {y, ys}});
  CHECK(report.starts[0].weight + report.starts[1].weight == oracle::relative(1, 1e-12));
  CHECK(report.starts[0].log_evidence != report.starts[1].log_evidence);  // about another mean
  CHECK(learner.belief(b)[0].variance() < 25);
  const Matrix p = learner.predict({{x, xs}}).mean;
  CHECK(p.minCoeff() > 0);
  CHECK(p(3, 0) > p(0, 0));
}
