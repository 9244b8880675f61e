#include "engine/learn/joint/class_fit.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/learn/joint/class_learner.h"
#include "engine/support/error.h"
#include "factors/standard_registry.h"
#include "models/graphs/expressions.h"
#include "models/network/bnn_graph.h"
#include "tests/oracles/plain_matrix.h"
#include "tests/oracles/random_matrices.h"

namespace {

using namespace dma;
using oracle::PlainMatrix, oracle::diagonal_matrix, oracle::largest_difference, oracle::random_matrix;

// Rows whose classes follow linear logits, with chance.
ClassData labelled(Index rows, Index inputs, Index classes, std::uint64_t seed) {
  ClassData data{random_matrix(rows, inputs, seed), {}};
  const PlainMatrix logits = 1.5 * (data.rows * PlainMatrix(random_matrix(inputs, classes, seed + 1))) +
                             random_matrix(rows, classes, seed + 2);
  for (Index n = 0; n < rows; ++n) {
    const std::vector<double> own = logits.row(n).values();
    data.classes.push_back(std::ranges::max_element(own) - own.begin());
  }
  return data;
}

Matrix rows_of(const Matrix& all, const std::vector<Index>& which) {
  Matrix rows(which.size(), all.cols());
  for (Index n = 0; n < rows.rows(); ++n)
    for (Index k = 0; k < all.cols(); ++k) rows(n, k) = all(which[static_cast<std::size_t>(n)], k);
  return rows;
}

ClassPrior wide_prior(const RowModel& model) {
  return {Vector::Zero(model.scalars()), Vector::Constant(model.scalars(), 2.0), Vector::Zero(model.scalars())};
}

// J^T H J and J^T r from dense gains, row by row.
struct DenseClasses {
  PlainMatrix information, gradient;
};
DenseClasses dense(const RowModel& model, const ClassData& data, const Vector& m) {
  Matrix f, gains;
  model.linearise(m, data.rows, f, gains);
  const Matrix p = class_probabilities(f);
  const PlainMatrix r = class_gradient(p, data.classes, f.cols());
  DenseClasses found{PlainMatrix(m.size(), m.size()), PlainMatrix(m.size(), 1)};
  const Index rows = data.rows.rows();
  for (Index n = 0; n < rows; ++n) {
    PlainMatrix own(m.size(), model.outputs());
    for (Index i = 0; i < m.size(); ++i)
      for (Index k = 0; k < model.outputs(); ++k) own(i, k) = gains(k * rows + n, i);
    found.information += own * class_curvature(p.row(n), f.cols()) * own.transpose();
    found.gradient += own * r.row(n).transpose();
  }
  return found;
}

// The same rows, known only by their dense gains.
class OnlyDense final : public RowModel {
 public:
  explicit OnlyDense(const RowModel& model) : model_(model) {}
  Index scalars() const override { return model_.scalars(); }
  Index outputs() const override { return model_.outputs(); }
  void evaluate(const Vector& m, const Matrix& rows, Matrix& f) const override { model_.evaluate(m, rows, f); }
  void linearise(const Vector& m, const Matrix& rows, Matrix& f, Matrix& gains) const override {
    model_.linearise(m, rows, f, gains);
  }

 private:
  const RowModel& model_;
};

// Laplace's logistic regression as textbooks have it: Newton's method on dense matrices.
struct Laplace {
  PlainMatrix mean, precision;
  double log_evidence = 0;
};
Laplace laplace(const RowModel& model, const ClassData& data, const ClassPrior& prior, double scale, int steps = 60,
                double part = 0.5) {
  const PlainMatrix lambda = diagonal_matrix(prior.at(scale));
  Laplace found{prior.mean, {}};
  for (int i = 0; i < steps; ++i) {
    const DenseClasses d = dense(model, data, found.mean.vector());
    found.precision = d.information + lambda;
    found.mean += part * found.precision.solve(d.gradient - lambda * (found.mean - prior.mean));
  }
  Matrix f;
  model.evaluate(found.mean.vector(), data.rows, f);
  const PlainMatrix off = found.mean - prior.mean;
  found.log_evidence = class_log_likelihood(f, data.classes) - 0.5 * dot(off, lambda * off) +
                       0.5 * lambda.log_determinant() - 0.5 * found.precision.log_determinant();
  return found;
}

}  // namespace

TEST_CASE(
    "class information: unit by unit it is the dense sum, for networks, linear models and models that know only their "
    "gains") {
  for (const Index classes : {2, 4}) {
    const ClassData data = labelled(30, 3, classes, 1);
    const RowProgram network =
        network_rows({.layers = {3, 5, 4, static_cast<std::size_t>(logits_for(classes))}, .slopes = {0.1, 0.3}});
    const LinearRows linear(3, logits_for(classes));
    const OnlyDense only(network);
    for (const RowModel* model : std::initializer_list<const RowModel*>{&network, &linear, &only}) {
      const Vector m = random_matrix(model->scalars(), 1, 5), g = random_matrix(model->scalars(), 1, 7);
      Vector lambda = random_matrix(model->scalars(), 1, 6);
      for (double& value : lambda) value = std::abs(value) + 0.1;
      ThreadPool pool(2);
      const ClassInformation found(*model, data, m, pool);
      const DenseClasses expected = dense(*model, data, m);
      CHECK(largest_difference(found.gradient(), expected.gradient) < 1e-11);
      CHECK(found.log_likelihood() == doctest::Approx(class_log_likelihood(*model, data, m)).epsilon(1e-12));
      const PlainMatrix precision = expected.information + diagonal_matrix(lambda);
      CHECK(largest_difference(found.step(lambda, g), precision.solve(g)) < 1e-9);
      const ClassFactor factor = found.factor(lambda);
      const PlainMatrix lower = factor.lower, ordered = lower * lower.transpose();
      PlainMatrix product(ordered.rows(), ordered.rows());
      for (std::size_t i = 0; i < ordered.rows(); ++i)
        for (std::size_t j = 0; j < ordered.rows(); ++j) product(factor.order[i], factor.order[j]) = ordered(i, j);
      CHECK(largest_difference(product, precision) < 1e-10);
      CHECK(unit_order(*model, 3) == factor.order);
    }
  }
}

TEST_CASE("class fit: the linear model at a given scale is Laplace's logistic regression") {
  for (const Index classes : {2, 3}) {
    const ClassData data = labelled(60, 2, classes, 11);
    const LinearRows model(2, logits_for(classes));
    const ClassPrior prior = wide_prior(model);
    const ClassFit fit = fit_classes(model, data, prior, Vector::Zero(model.scalars()),
                                     {.epochs = 200, .learn_scale = false, .least_change = 1e-13});
    const Laplace expected = laplace(model, data, prior, 1);
    CHECK(largest_difference(fit.mean, expected.mean) < 1e-6);
    CHECK(fit.log_evidence == doctest::Approx(expected.log_evidence).epsilon(1e-9));
    CHECK(fit.scale == 1);
    CHECK(fit.settled);
  }
}

TEST_CASE("class fit: Laplace's evidence is near the integral over the weights") {
  const ClassData data = labelled(40, 1, 2, 21);
  const LinearRows model(1, 1);
  const ClassPrior prior = wide_prior(model);
  const ClassFit fit = fit_classes(model, data, prior, Vector::Zero(2), {.epochs = 100, .learn_scale = false});
  double sum = 0;
  constexpr double kStep = 0.02;
  for (double w = -6; w < 6; w += kStep)
    for (double b = -6; b < 6; b += kStep) {
      const Vector m = Eigen::Vector2d(w, b);
      sum += kStep * kStep / std::numbers::pi * std::exp(class_log_likelihood(model, data, m) - w * w - b * b);
    }
  CHECK(fit.log_evidence == doctest::Approx(std::log(sum)).epsilon(0.01));
}

// MacKay's rule holds the curvature still while the scale moves: its evidence is within a nat of the largest.
TEST_CASE(
    "class fit: the learned scale is that of the weights that are determined; labels of chance leave nothing but the "
    "biases") {
  const ClassData data = labelled(80, 3, 3, 31);
  const LinearRows model(3, 3);
  const ClassFit fit =
      fit_classes(model, data, wide_prior(model), Vector::Zero(model.scalars()), {.epochs = 200, .least_change = 1e-9});
  const Laplace expected = laplace(model, data, wide_prior(model), fit.scale);
  const double gamma = 12 - 2 * fit.scale * expected.precision.inverse().trace();
  CHECK(2 * fit.scale * dot(expected.mean, expected.mean) == doctest::Approx(gamma).epsilon(1e-3));
  CHECK(fit.effective_scalars == doctest::Approx(gamma).epsilon(1e-3));
  for (double off = 0.1; off < 10; off *= 1.5)
    CHECK(laplace(model, data, wide_prior(model), off * fit.scale).log_evidence < fit.log_evidence + 1);

  ClassData noise = data;
  for (std::size_t n = 0; n < noise.classes.size(); ++n) noise.classes[n] = static_cast<Index>(n * n / 7 % 2);
  ClassPrior prior = wide_prior(model);
  for (const Index bias : {3, 7, 11}) prior.precision(bias) = 0, prior.fixed(bias) = 0.04;
  const ClassFit chance = fit_classes(model, noise, prior, Vector::Zero(model.scalars()), {.epochs = 100});
  CHECK(chance.effective_scalars < 3);
  CHECK(chance.mean(11) < -2);  // a class that never occurs
}

// A filter of three weights over a series of five, used in three places, and a linear layer: no unit owns its weights.
TEST_CASE("class learner: any graph with a logit for each class is Laplace's at its own priors; starts are mixed") {
  const ClassData data = labelled(70, 5, 3, 91);
  Graph g;
  const auto x = g.observed("x", 5);
  const auto k = gaussian_prior(g, g.shared("k", 3), 0.5, 0.5), w = gaussian_prior(g, g.shared("w", 9), 0.0, 0.5),
             b = gaussian_prior(g, g.shared("b", 3), 0.0, 0.5);
  const auto moved = sum_rows(
      g, product(g, gather(k, {0, 1, 2, 0, 1, 2, 0, 1, 2}), gather(x, {0, 1, 2, 1, 2, 3, 2, 3, 4})), 3);
  const auto logits = add(g, matrix_product(g, w, apply(g, "square", {moved})), b, "logits");
  const std::vector<double> xs = PlainMatrix(data.rows).values();
  ClassLearner learner(g, standard_registry(), logits, {.epochs = 200, .learn_scale = false});
  const JointLearnReport report = learner.fit({{x, xs}}, data.classes);
  const RowProgram& program = learner.program();
  const ClassPrior prior{program.prior().mean, program.prior().precision, Vector::Zero(program.scalars())};
  const Laplace expected = laplace(OnlyDense(program), data, prior, 1, 200, 0.3);
  const PlainMatrix covariance = expected.precision.inverse();
  for (const VariableId v : {k, w, b})
    for (Index i = 0; i < static_cast<Index>(g[v].size); ++i) {
      const Index at = program.first_scalar(v) + i;
      const Gaussian own = learner.belief(v)[static_cast<std::size_t>(i)];
      CHECK(std::abs(own.mean() - expected.mean[at]) < 0.01 * own.sd());  // it stops where the evidence does
      CHECK(own.variance() == doctest::Approx(covariance(at, at)).epsilon(0.01));
    }
  CHECK(report.starts[0].settled);
  const Matrix p = learner.predict({{x, xs}});
  CHECK(largest_difference(p * PlainMatrix(3, 1, 1), PlainMatrix(70, 1, 1)) < 1e-12);
  CHECK(log_score(p, data.classes) > log_score(learner.left_out(), data.classes));

  // Two starts: left-out rows are predicted by the mean of two fits, each from its own draw.
  ClassLearnOptions two{.epochs = 5, .unscaled = {b}, .anchored = {k}, .starts = 2, .seed = 3};
  ClassLearner mixed(g, standard_registry(), logits, two);
  CHECK(mixed.fit({{x, xs}}, data.classes).starts[1].weight == 0.5);
  PlainMatrix mean(70, 3);
  for (const std::uint64_t seed : {3u, 4u}) {
    const Vector start = draw(program.prior(), seed);  // at the prior's mean the filter has no influence
    ClassPrior own{program.prior().mean, program.prior().precision, Vector::Zero(program.scalars())};
    for (Index i = 0; i < 3; ++i) {
      const Index of_k = program.first_scalar(k) + i, of_b = program.first_scalar(b) + i;
      own.mean(of_k) = start(of_k), own.precision(of_b) = 0, own.fixed(of_b) = 2;
    }
    mean += 0.5 * PlainMatrix(solve_classes(program, data, own, start, {.epochs = 5}).left_out);
  }
  CHECK(largest_difference(mixed.left_out(), mean) < 1e-12);

  ClassLearner loaded(g, standard_registry(), logits);
  const std::string text = mixed.save();
  loaded.load(text);
  CHECK(loaded.predict({{x, xs}}) == mixed.predict({{x, xs}}));
  CHECK(loaded.belief(w)[4] == mixed.belief(w)[4]);
  CHECK(loaded.save() == text);
  const auto with = [&](const std::string& old, const std::string& now) {
    return std::string(text).replace(text.find(old), old.size(), now);
  };
  for (const std::string& other : {text.substr(0, text.size() / 2), std::string("{}"), with("class", "joint"),
                                   with("\"k\"", "\"l\""), with("\"stretch\":", "\"stretch\":-")})
    CHECK_THROWS_AS(loaded.load(other), Error);
  CHECK(loaded.save() == text);

  // Two scores of variance 1/2 are one logit of variance 1.
  const std::vector<Index> labels = {0, 1, 0, 1, 1};
  const std::vector<double> us = {-1.0, 0.3, 0.5, 2.0, 1.0};
  std::vector<Gaussian> slopes;
  std::vector<Matrix> predicted;
  for (const std::uint32_t scores : {1u, 2u}) {
    Graph h;
    const auto s = gaussian_prior(h, h.shared("s", scores), 0.0, 1.0 / scores), u = h.observed("u");
    ClassLearner binary(h, standard_registry(), product(h, s, all_to_one(u)), {.epochs = 200, .learn_scale = false});
    binary.fit({{u, us}}, labels);
    slopes.push_back(binary.belief(s).back()), predicted.push_back(binary.predict({{u, us}}));
  }
  CHECK(slopes[1].mean() == doctest::Approx(0.5 * slopes[0].mean()).epsilon(1e-6));
  CHECK(slopes[1].variance() == doctest::Approx(0.25 + 0.25 * slopes[0].variance()).epsilon(1e-6));
  CHECK(largest_difference(predicted[0], predicted[1]) < 0.01);  // of fixed points in one and in two dimensions

  // A mean of 1e9 leaves the variance its digits: 1e-4 before two rows of little weight.
  Graph far;
  const auto slope = gaussian_prior(far, far.shared("slope"), 1e9, 1e-4), tiny = far.observed("tiny");
  ClassLearner precise(far, standard_registry(), product(far, slope, tiny), {.learn_scale = false});
  precise.fit({{tiny, std::vector<double>{1e-12, -1e-12}}}, std::vector<Index>{0, 1});
  CHECK(precise.belief(slope)[0].variance() == doctest::Approx(1e-4).epsilon(1e-6));

  const auto error_of = [&](const auto& call) {
    try {
      call();
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const std::vector<Index> wrong(70, 3);
  CHECK(error_of([&] { learner.fit({{x, xs}}, wrong); }) == "fit: class 3 is given; 0 to 2 are possible");
  CHECK(error_of([&] { learner.fit({{x, xs}}, std::span(wrong).first(3)); }) ==
        "fit: 70 examples of inputs but 3 classes");
  CHECK(error_of([&] { ClassLearner(g, standard_registry(), x); }).find("'x'") != std::string::npos);
  CHECK(error_of([&] { ClassLearner(g, standard_registry(), logits).predict({{x, xs}}); }) ==
        "predict: nothing has been learned yet; call fit first");
}

TEST_CASE("class fit: a callback sees every epoch and may stop") {
  const ClassData data = labelled(30, 2, 2, 41);
  const LinearRows model(2, 1);
  int seen = 0;
  const ClassFit fit =
      fit_classes(model, data, wide_prior(model), Vector::Zero(3), {.on_epoch = [&](const ClassEpoch& e) {
                    CHECK(e.epoch == ++seen);
                    return seen < 3;
                  }});
  CHECK(seen == 3);
  CHECK(fit.interrupted);
  CHECK(!fit.settled);
}

TEST_CASE("class posterior: logits have the covariance of the dense posterior") {
  const ClassData data = labelled(40, 3, 3, 51);
  const RowProgram model = network_rows({.layers = {3, 4, 3}, .slopes = {0.1}});
  const ClassPrior prior = wide_prior(model);
  const Vector start = draw(model.prior(), 1);
  const ClassFit fit = fit_classes(model, data, prior, start, {.epochs = 10});
  const Matrix others = random_matrix(5, 3, 52);
  const LogitBeliefs found = logits(model, fit.mean, fit.factor, others);
  Matrix f, gains;
  model.linearise(fit.mean, others, f, gains);
  CHECK(largest_difference(f, found.mean) < 1e-12);
  const PlainMatrix precision = dense(model, data, fit.mean).information + diagonal_matrix(prior.at(fit.scale));
  const PlainMatrix covariance = gains * precision.solve(PlainMatrix(gains).transpose());
  for (std::size_t n = 0; n < 5; ++n) {
    const PlainMatrix factor = found.factors[n], own = factor * factor.transpose();
    for (std::size_t k = 0; k < 3; ++k)
      for (std::size_t j = 0; j < 3; ++j)
        CHECK(own(k, j) == doctest::Approx(covariance(k * 5 + n, j * 5 + n)).epsilon(1e-6));
  }
}

TEST_CASE("class fit: a row of weight w is w equal rows, and is left out with all of them") {
  for (const Index classes : {2, 3}) {
    ClassData data = labelled(40, 2, classes, 71), repeated;
    data.weights = random_matrix(40, 1, 72);
    for (double& weight : data.weights) weight = std::ceil(std::abs(weight));
    std::vector<Index> which;
    for (Index n = 0; n < 40; ++n) which.insert(which.end(), static_cast<std::size_t>(data.weights(n)), n);
    repeated.rows = rows_of(data.rows, which);
    for (const Index n : which) repeated.classes.push_back(data.classes[static_cast<std::size_t>(n)]);
    const LinearRows model(2, logits_for(classes));
    const ClassPrior prior = wide_prior(model);
    const ClassSolution fit = solve_classes(model, data, prior, Vector::Zero(model.scalars()), {}),
                        all = solve_classes(model, repeated, prior, Vector::Zero(model.scalars()), {});
    CHECK(largest_difference(fit.mean, all.mean) < 1e-10);
    CHECK(largest_difference(fit.factor.lower, all.factor.lower) < 1e-9);
    CHECK(fit.log_evidence == doctest::Approx(all.log_evidence).epsilon(1e-12));
    CHECK(fit.score == doctest::Approx(log_score(rows_of(fit.left_out, which), repeated.classes)).epsilon(1e-12));
    // Its Newton step is taken back from the posterior of all.
    const PlainMatrix precision = dense(model, repeated, fit.mean).information + diagonal_matrix(prior.at(fit.scale));
    const LogitBeliefs found = leave_one_out(model, fit.mean, fit.factor, data);
    for (Index n = 0; n < 40; ++n) {
      const ClassData one{rows_of(data.rows, {n}), {data.classes[static_cast<std::size_t>(n)]}};
      const DenseClasses own = dense(model, one, fit.mean);
      const PlainMatrix without = (precision - data.weights(n) * own.information).inverse();
      Matrix f, gains;
      model.linearise(fit.mean, one.rows, f, gains);
      const PlainMatrix moved = data.weights(n) * (gains * without * own.gradient);
      CHECK(largest_difference(PlainMatrix(found.mean).row(n), f - moved.transpose()) < 1e-9);
      const PlainMatrix c = found.factors[static_cast<std::size_t>(n)];
      CHECK(largest_difference(c * c.transpose(), gains * without * PlainMatrix(gains).transpose()) < 1e-7);
    }
  }
}

TEST_CASE("class posterior: a row left out is predicted nearly as by a fit without it") {
  for (const Index classes : {2, 3}) {
    const ClassData data = labelled(40, 2, classes, 61);
    const LinearRows model(2, logits_for(classes));
    const ClassPrior prior = wide_prior(model);
    const ClassFitOptions options{.epochs = 60, .learn_scale = false, .least_change = 1e-12};
    const ClassFit fit = fit_classes(model, data, prior, Vector::Zero(model.scalars()), options);
    const PlainMatrix foretold = class_probabilities(leave_one_out(model, fit.mean, fit.factor, data), 1);
    const PlainMatrix with_it = class_probabilities(logits(model, fit.mean, fit.factor, data.rows), 1);
    double off = 0, off_with_it = 0;
    for (std::size_t n = 0; n < data.classes.size(); ++n) {
      ClassData rest;
      std::vector<Index> kept;
      for (std::size_t i = 0; i < data.classes.size(); ++i)
        if (i != n) kept.push_back(static_cast<Index>(i)), rest.classes.push_back(data.classes[i]);
      rest.rows = rows_of(data.rows, kept);
      const ClassFit without = fit_classes(model, rest, prior, fit.mean, options);
      const Matrix row = rows_of(data.rows, {static_cast<Index>(n)});
      const Matrix p = class_probabilities(logits(model, without.mean, without.factor, row), 1);
      off += largest_difference(p, foretold.row(n)) / 40, off_with_it += largest_difference(p, with_it.row(n)) / 40;
    }
    CHECK(off < 0.005);
    CHECK(off < 0.3 * off_with_it);
  }
}

TEST_CASE(
    "class posterior: the stretch makes left-out rows most probable, and is above 1 where classes are separable") {
  ClassData data{random_matrix(60, 2, 71), {}};
  for (Index n = 0; n < 60; ++n) data.classes.push_back(data.rows(n, 0) > 0 ? 1 : 0);
  const LinearRows model(2, 1);
  const ClassFit fit = fit_classes(model, data, wide_prior(model), Vector::Zero(3), {});
  const LogitBeliefs left_out = leave_one_out(model, fit.mean, fit.factor, data);
  const double stretch = most_likely_stretch(left_out, data.classes);
  CHECK(stretch > 1.2);
  const auto score = [&](double s) {
    const Matrix p = class_probabilities(left_out, s);
    double sum = -0.5 * std::log(s) * std::log(s);
    for (Index n = 0; n < 60; ++n) sum += std::log(p(n, data.classes[static_cast<std::size_t>(n)]));
    return sum;
  };
  for (double s = 0.2; s < 15; s *= 1.1) CHECK(score(s) < score(stretch) + 0.01);
}
