#include "engine/learn/joint/curvature.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

#include "engine/learn/joint/posterior.h"
#include "tests/oracles/random_matrices.h"

namespace {

using namespace dma;
using oracle::random_matrix;

constexpr double kRounding = 1e-9;  // of sums of a few hundred terms of size one

// A linear model with two outputs and more or fewer rows than scalars; noise different in every row.
struct Setting {
  explicit Setting(Index rows)
      : model(4, 2),
        data{random_matrix(rows, 4, 1), random_matrix(rows, 2, 2)},
        m(random_matrix(10, 1, 3)),
        lambda(random_matrix(10, 1, 4).cwiseAbs().array() + 0.5),
        noise(random_matrix(2 * rows, 1, 5).cwiseAbs().array() + 0.1) {
    Matrix f;
    model.linearise(m, data.rows, f, gains);
    residuals = (data.targets - f).reshaped();
    precision = gains.transpose() * noise.cwiseInverse().asDiagonal() * gains;
    precision += lambda.asDiagonal();
  }
  LinearRows model;
  RowData data;
  Vector m, lambda, noise, residuals;
  Matrix gains, precision;
};

double largest(const Eigen::MatrixXd& m) { return m.cwiseAbs().maxCoeff(); }

}  // namespace

TEST_CASE("curvature: primal and dual are the dense solution, more rows than scalars or fewer") {
  for (const Index rows : {3, 30}) {
    const Setting s(rows);
    const Matrix inverse = s.precision.inverse();
    const Vector g = random_matrix(10, 1, 7);
    const Matrix others = random_matrix(5, 4, 8);
    Matrix f, other_gains;
    s.model.linearise(s.m, others, f, other_gains);
    for (const bool dual : {false, true}) {
      const auto curvature = dual ? make_dual() : make_primal();
      curvature->assemble(s.model, s.data, s.m, s.lambda, s.noise);
      CAPTURE(rows);
      CAPTURE(dual);
      CHECK(largest(curvature->residuals() - s.residuals) < kRounding);
      CHECK(largest(curvature->gradient() - s.gains.transpose() * s.residuals.cwiseQuotient(s.noise)) < kRounding);
      CHECK(largest(curvature->step(g, 0) - inverse * g) < kRounding);
      const Matrix damped = s.precision + 3 * Matrix(s.lambda.asDiagonal());
      CHECK(largest(curvature->step(g, 3) - damped.inverse() * g) < kRounding);
      const Matrix of_rows = s.gains * inverse * s.gains.transpose();
      const Vector leverages = of_rows.diagonal().cwiseQuotient(s.noise);
      CHECK(largest(curvature->one_minus_leverage() + leverages - Vector::Ones(2 * rows)) < kRounding);
      CHECK(curvature->effective_scalars() == doctest::Approx(leverages.sum()).epsilon(kRounding));
      CHECK(curvature->log_determinant_gain() ==
            doctest::Approx(std::log(s.precision.determinant()) - s.lambda.array().log().sum()).epsilon(kRounding));
      const Matrix covariance = other_gains * inverse * other_gains.transpose();
      CHECK(largest(curvature->variances(others) - covariance.diagonal()) < kRounding);
    }
  }
}

TEST_CASE("curvature: the evidence of a linear model is the Gaussian density of its targets") {
  const Setting s(12);
  const SharedPrior prior{random_matrix(10, 1, 9), s.lambda};
  SharedState state{
      .mean = prior.mean, .scale = 1.7, .noise = {LogLinearNoise::constant(0.3), LogLinearNoise::constant(0.8)}};
  const auto curvature = make_dual();
  const double evidence =
      fit_shared(s.model, s.data, prior, {.epochs = 40, .learn_noise = false, .learn_scale = false}, state, *curvature);
  Matrix f, gains;
  s.model.linearise(prior.mean, s.data.rows, f, gains);
  Matrix covariance = gains * (1.7 * s.lambda).cwiseInverse().asDiagonal() * gains.transpose();
  covariance.diagonal().head(12).array() += 0.3;
  covariance.diagonal().tail(12).array() += 0.8;
  const Vector off = (s.data.targets - f).reshaped();
  const double direct = -0.5 * (off.dot(covariance.inverse() * off) + std::log(covariance.determinant()) +
                                24 * std::log(2 * std::numbers::pi));
  CHECK(evidence == doctest::Approx(direct).epsilon(1e-6));
}

TEST_CASE("curvature: left-out predictions of a linear model are those of a fit without the row") {
  RowData data{random_matrix(15, 3, 1), random_matrix(15, 1, 2)};
  const LinearRows model(3, 1);
  const SharedPrior prior{Vector::Zero(4), Vector::Constant(4, 2.0)};
  const SharedFitOptions options{.epochs = 60, .learn_noise = false, .learn_scale = false, .least_gain = 0};
  const auto fitted = [&](const RowData& rows, Curvature& curvature) {
    SharedState state{.mean = Vector::Zero(4), .noise = {LogLinearNoise::constant(0.4)}};
    fit_shared(model, rows, prior, options, state, curvature);
    return state;
  };
  const auto all = make_primal();
  const SharedState state = fitted(data, *all);
  const RowBeliefs left_out = leave_one_out(data, row_noise(state, data.rows), *all);
  for (const Index row : {0, 7, 14}) {
    std::vector<Index> others;
    for (Index i = 0; i < 15; ++i)
      if (i != row) others.push_back(i);
    const RowData rest{data.rows(others, Eigen::all), data.targets(others, Eigen::all)};
    const auto curvature = make_primal();
    const SharedState without = fitted(rest, *curvature);
    Matrix f;
    model.evaluate(without.mean, data.rows.row(row), f);
    CHECK(left_out.mean(row, 0) == doctest::Approx(f(0, 0)).epsilon(1e-7));
    CHECK(left_out.variance(row, 0) == doctest::Approx(curvature->variances(data.rows.row(row))(0)).epsilon(1e-7));
  }
}

TEST_CASE("curvature: noise and prior scale are learned by evidence") {
  // y = X w + noise with w of variance 4 and noise variance 0.09: both come back from 400 rows.
  const Matrix x = random_matrix(400, 30, 11), w = 2 * random_matrix(30, 1, 12);
  const RowData data{x, x * w + 0.3 * random_matrix(400, 1, 13)};
  const LinearRows model(30, 1);
  const SharedPrior prior{Vector::Zero(31), Vector::Ones(31)};
  SharedState state{.mean = Vector::Zero(31), .noise = {LogLinearNoise::constant(1)}};
  const auto curvature = make_primal();
  fit_shared(model, data, prior, {.epochs = 60, .least_gain = 0}, state, *curvature);
  CHECK(std::exp(state.noise[0].beta(0)) == doctest::Approx(0.09).epsilon(0.2));
  CHECK(1 / state.scale == doctest::Approx(w.squaredNorm() / 31).epsilon(0.05));
}

TEST_CASE("curvature: rows that repeat, seen through almost no noise, leave finite numbers") {
  const LinearRows model(4, 1);
  const RowData data{random_matrix(20, 4, 6).replicate(10, 1), random_matrix(20, 1, 7).replicate(10, 1)};
  const Vector m = Vector::Zero(model.scalars()), lambda = Vector::Ones(model.scalars()),
               noise = Vector::Constant(200, 1e-17);
  for (const auto& curvature : {make_primal(), make_dual()}) {
    curvature->assemble(model, data, m, lambda, noise);
    CHECK(curvature->step(curvature->gradient(), 0).allFinite());
    CHECK(curvature->step(curvature->gradient(), 1).allFinite());
    CHECK(std::isfinite(curvature->log_determinant_gain()));
    CHECK(curvature->one_minus_leverage().allFinite());
  }
}
