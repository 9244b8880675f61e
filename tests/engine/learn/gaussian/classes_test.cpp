// Targets that are classes, by the functions that learn numbers.
#include "tests/engine/learn/gaussian/class_oracle.h"
#include "tests/engine/learn/gaussian/learned_graphs.h"
#include "tests/oracles/network_rows.h"

namespace {

using oracle::DenseClasses, oracle::Laplace, oracle::LinearRows, oracle::OnlyDense, oracle::PlainMatrix, oracle::dense,
    oracle::diagonal_matrix, oracle::labelled, oracle::laplace, oracle::largest_difference, oracle::outputs_for,
    oracle::network_rows, oracle::random_matrix, oracle::wide_prior, oracle::with_classes;

struct Fit {
  SharedState state;
  double log_evidence = 0;
  SharedPosterior posterior;
  RowBeliefs left_out;
};
Fit fit_of(const RowModel& model, const RowData& data, const SharedPrior& prior, const Vector& start,
           SharedFitOptions options) {
  options.learn_noise = false, options.least_gain = 0;
  SharedState state{.mean = start, .noise = {static_cast<std::size_t>(model.outputs()), LogLinearNoise::constant(1)}};
  const auto curvature = make_primal();
  const double evidence = fit_shared(model, data, prior, options, state, *curvature);
  SharedSolution found = solution_of(model, data, state, *curvature, evidence, false);
  return {state, evidence, std::move(found.posterior), std::move(found.left_out)};
}
Fit fit_of(const RowModel& model, const RowData& data, const SharedFitOptions& options) {
  return fit_of(model, data, wide_prior(model), Vector::Zero(model.scalars()), options);
}

}  // namespace

TEST_CASE("classes: unit by unit the information is the dense sum, of networks, lines and models with gains alone") {
  const RowData data = labelled(30, 3, 4, 1);
  const RowProgram network = network_rows({.layers = {3, 5, 4, 4}, .slopes = {0.1, 0.3}});
  const RowProgram line = network_rows({.layers = {3, 4}, .slopes = {}});
  const LinearRows written_out(3, 4);
  const OnlyDense only(network);
  for (const RowModel* model : std::initializer_list<const RowModel*>{&network, &line, &written_out, &only}) {
    const Vector m = random_matrix(model->scalars(), 1, 5), g = random_matrix(model->scalars(), 1, 7);
    Vector lambda = random_matrix(model->scalars(), 1, 6);
    for (double& value : lambda) value = std::abs(value) + 0.1;
    const auto curvature = make_primal();
    curvature->use_threads(2);
    curvature->assemble(*model, data, m, lambda, Vector::Ones(data.count()));
    const DenseClasses expected = dense(*model, data, m);
    CHECK(largest_difference(curvature->gradient(), expected.gradient) < 1e-11);
    const PlainMatrix precision = expected.information + diagonal_matrix(lambda);
    CHECK(largest_difference(curvature->step(g, 0), precision.solve(g)) < 1e-9);
    const PlainMatrix damped = precision + 0.7 * diagonal_matrix(lambda), lower = curvature->precision_factor();
    CHECK(largest_difference(curvature->step(g, 0.7), damped.solve(g)) < 1e-9);
    CHECK(largest_difference(lower * lower.transpose(), precision) < 1e-10);
    CHECK(curvature->log_determinant_gain() ==
          oracle::relative(precision.log_determinant() - diagonal_matrix(lambda).log_determinant(), 1e-9));
    CHECK(curvature->effective_scalars() == oracle::relative(precision.solve(expected.information).trace(), 1e-9));
  }
}

TEST_CASE("classes: a number beside a class has its own curvature, and its leverage") {
  RowData data = labelled(25, 2, 3, 5);
  data.targets.conservativeResize(25, 4);
  data.targets.col(3) = random_matrix(25, 1, 6);
  data.likelihoods.push_back(nullptr);
  const LinearRows model(2, 4);
  const Vector m = random_matrix(12, 1, 7), lambda = Vector::Constant(12, 0.8);
  Vector noise = Vector::Ones(100);
  noise.tail(25).setConstant(0.3);
  const auto curvature = make_primal();
  curvature->assemble(model, data, m, lambda, noise);
  Matrix f, gains;
  model.linearise(m, data.rows, f, gains);
  RowData alone = data;
  alone.targets.conservativeResize(25, 3), alone.likelihoods.pop_back();
  const LinearRows of_class(2, 3);
  const DenseClasses expected = dense(of_class, alone, m.head(9));
  PlainMatrix precision = diagonal_matrix(lambda);
  for (std::size_t i = 0; i < 9; ++i)
    for (std::size_t j = 0; j < 9; ++j) precision(i, j) += expected.information(i, j);
  const PlainMatrix design = PlainMatrix(Matrix(gains.bottomRows(25)));
  precision += 1 / 0.3 * (design.transpose() * design);
  const PlainMatrix lower = curvature->precision_factor();
  CHECK(largest_difference(lower * lower.transpose(), precision) < 1e-10);
  const Vector others = curvature->one_minus_leverage();
  const PlainMatrix variance = design * precision.inverse() * design.transpose();
  for (Index n = 0; n < 25; ++n) CHECK(others(75 + n) == oracle::relative(1 - variance(n, n) / 0.3, 1e-9));
}

TEST_CASE("classes: the linear model at a given scale is Laplace's logistic regression") {
  for (const Index classes : {2, 3}) {
    const RowData data = labelled(60, 2, classes, 11);
    const LinearRows model(2, outputs_for(classes));
    const Fit fit = fit_of(model, data, {.epochs = 200, .learn_scale = false, .least_change = 1e-13});
    const Laplace expected = laplace(model, data, wide_prior(model), 1);
    CHECK(largest_difference(fit.state.mean, expected.mean) < 1e-6);
    CHECK(fit.log_evidence == oracle::relative(expected.log_evidence, 1e-9));
    CHECK(fit.state.scale(0) == 1);
    CHECK(fit.state.is_settled());
  }
}

// MacKay's rule holds the curvature still while the scale moves: its evidence is within a nat of the largest.
TEST_CASE("classes: the learned scale is that of determined weights; labels of chance leave nothing but the biases") {
  const RowData data = labelled(80, 3, 3, 31);
  const LinearRows model(3, 3);
  const Fit fit = fit_of(model, data, {.epochs = 200, .least_change = 1e-9});
  const double scale = fit.state.scale(0);
  const Laplace expected = laplace(model, data, wide_prior(model), scale);
  const double gamma = 12 - 2 * scale * expected.precision.inverse().trace();
  CHECK(2 * scale * dot(expected.mean, expected.mean) == oracle::relative(gamma, 1e-3));
  for (double off = 0.1; off < 10; off *= 1.5)
    CHECK(laplace(model, data, wide_prior(model), off * scale).log_evidence < fit.log_evidence + 1);

  std::vector<Index> chance;
  for (Index n = 0; n < 80; ++n) chance.push_back(n * n / 7 % 2);
  SharedPrior prior = wide_prior(model);
  prior.group.assign(12, 0);
  for (const std::size_t bias : {3u, 7u, 11u}) prior.precision(Index(bias)) = 0.04, prior.group[bias] = -1;
  double effective = 0;
  const Fit found = fit_of(model, with_classes(data.rows, chance, 3), prior, Vector::Zero(12),
                           {.epochs = 100, .on_epoch = [&](const SharedEpoch& e) {
                              effective = e.effective_scalars;
                              return true;
                            }});
  CHECK(effective < 6);              // three of them biases
  CHECK(found.state.mean(11) < -2);  // a class that never occurs
}

TEST_CASE("classes: outputs have the covariance of the dense posterior") {
  const RowData data = labelled(40, 3, 3, 51);
  const RowProgram model = network_rows({.layers = {3, 4, 3}, .slopes = {0.1}});
  const SharedPrior prior = wide_prior(model);
  const Fit fit = fit_of(model, data, prior, draw(model.prior(), 1), {.epochs = 10});
  const Matrix others = random_matrix(5, 3, 52);
  const RowBeliefs found = fit.posterior.predict(model, prior, others, true);
  Matrix f, gains;
  model.linearise(fit.state.mean, others, f, gains);
  CHECK(largest_difference(f, found.mean) < 1e-12);
  const PlainMatrix precision = dense(model, data, fit.state.mean).information +
                                diagonal_matrix(PlainMatrix(Vector(fit.state.scale(0) * prior.precision)));
  const PlainMatrix covariance = gains * precision.solve(PlainMatrix(gains).transpose());
  for (std::size_t n = 0; n < 5; ++n) {
    const PlainMatrix own = found.covariances[n], factor = found.outcomes(0, 3).factors[n];
    CHECK(largest_difference(factor * factor.transpose(), own) < 1e-6);
    for (std::size_t k = 0; k < 3; ++k)
      for (std::size_t j = 0; j < 3; ++j) CHECK(own(k, j) == oracle::relative(covariance(k * 5 + n, j * 5 + n), 1e-6));
  }
}

TEST_CASE("classes: a row of weight w is w equal rows, and is left out with all of them") {
  const Index classes = 3;
  RowData data = labelled(40, 2, classes, 71);
  data.weights = random_matrix(40, 1, 72);
  for (double& weight : data.weights) weight = std::ceil(std::abs(weight));
  std::vector<Index> which;
  for (Index n = 0; n < 40; ++n) which.insert(which.end(), static_cast<std::size_t>(data.weights(n)), n);
  RowData repeated = data;
  repeated.weights = {};
  repeated = repeated.some(which);
  const LinearRows model(2, classes);
  const SharedPrior prior = wide_prior(model);
  const Fit fit = fit_of(model, data, {}), all = fit_of(model, repeated, {});
  CHECK(largest_difference(fit.state.mean, all.state.mean) < 1e-10);
  CHECK(largest_difference(fit.posterior.factor, all.posterior.factor) < 1e-9);
  CHECK(fit.log_evidence == oracle::relative(all.log_evidence, 1e-12));
  // Its Newton step is taken back from the posterior of all.
  const PlainMatrix precision = dense(model, repeated, fit.state.mean).information +
                                diagonal_matrix(PlainMatrix(Vector(fit.state.scale(0) * prior.precision)));
  for (Index n = 0; n < 40; ++n) {
    RowData one = data.some({n});
    const DenseClasses own = dense(model, one, fit.state.mean);
    const PlainMatrix without = (precision - own.information).inverse();
    Matrix f, gains;
    model.linearise(fit.state.mean, one.rows, f, gains);
    const PlainMatrix moved = gains * without * own.gradient;
    CHECK(largest_difference(PlainMatrix(fit.left_out.mean).row(n), f - moved.transpose()) < 1e-9);
    CHECK(largest_difference(fit.left_out.covariances[static_cast<std::size_t>(n)],
                             gains * without * PlainMatrix(gains).transpose()) < 1e-9);
  }
}

TEST_CASE("classes: the stretch makes left-out rows most probable, and is above 1 where classes are separable") {
  const Matrix rows = random_matrix(60, 2, 71);
  std::vector<Index> classes;
  for (Index n = 0; n < 60; ++n) classes.push_back(rows(n, 0) > 0 ? 1 : 0);
  const RowData data = with_classes(rows, classes, 2);
  const Fit fit = fit_of(LinearRows(2, 1), data, {});
  const double stretch = fit.posterior.stretch.at(0);
  CHECK(stretch > 1.2);
  const auto score = [&](double s) {
    SharedPosterior own = fit.posterior;
    own.stretch = {s};
    const Matrix p = component(fit.left_out, own, {}, data.likelihoods).mean;
    double sum = -0.5 * std::log(s) * std::log(s);
    for (Index n = 0; n < 60; ++n) sum += std::log(classes[static_cast<std::size_t>(n)] == 1 ? p(n, 0) : 1 - p(n, 0));
    return sum;
  };
  for (double s = 0.2; s < 15; s *= 1.1) CHECK(score(s) < score(stretch) + 0.01);
}
