#include "engine/learn/gaussian/curvature/curvature.h"

#include "tests/engine/learn/gaussian/learned_graphs.h"

namespace {

using oracle::LinearRows, oracle::PlainMatrix, oracle::diagonal_matrix, oracle::largest_difference,
    oracle::random_matrix;

constexpr double kRounding = 1e-9;  // rounding of sums of a few hundred terms of size one

Vector random_above(double least, Index size, std::uint64_t seed) {
  Vector all = random_matrix(size, 1, seed);
  for (double& value : all) value = std::abs(value) + least;
  return all;
}

// A linear model with two outputs and more or fewer rows than scalars; noise different in every row.
struct Setting {
  explicit Setting(Index rows)
      : model(4, 2),
        data{random_matrix(rows, 4, 1), random_matrix(rows, 2, 2)},
        m(random_matrix(10, 1, 3)),
        lambda(random_above(0.5, 10, 4)),
        noise(random_above(0.1, 2 * rows, 5)) {
    gains = gains_at(m, residuals);
    PlainMatrix weights(2 * rows, 1);
    for (Index i = 0; i < 2 * rows; ++i) weights[i] = 1 / noise[i];
    precision = weighted_square(gains, weights) + diagonal_matrix(lambda);
    gradient = gains.transpose() * diagonal_matrix(weights) * residuals;
  }
  // Gains of all rows, and what is left of their targets.
  PlainMatrix gains_at(const Vector& at, PlainMatrix& left) const {
    Matrix f, found;
    model.linearise(at, data.rows, f, found);
    left = PlainMatrix(2 * f.rows(), 1);
    for (Index k = 0; k < 2; ++k)
      for (Index n = 0; n < f.rows(); ++n) left[k * f.rows() + n] = data.targets(n, k) - f(n, k);
    return found;
  }
  LinearRows model;
  RowData data;
  Vector m, lambda, noise;
  PlainMatrix residuals, gains, precision, gradient;
};

}  // namespace

TEST_CASE("curvature: primal and dual are the dense solution, more rows than scalars or fewer") {
  for (const Index rows : {3, 30}) {
    const Setting s(rows);
    const PlainMatrix inverse = s.precision.inverse(), damped = s.precision + 3 * diagonal_matrix(s.lambda);
    const Vector g = random_matrix(10, 1, 7);
    const Matrix others = random_matrix(5, 4, 8);
    Matrix f, other_gains;
    s.model.linearise(s.m, others, f, other_gains);
    PlainMatrix leverages = (s.gains * inverse * s.gains.transpose()).diagonal();
    for (Index i = 0; i < 2 * rows; ++i) leverages[i] /= s.noise[i];
    const PlainMatrix all(2 * rows, 1, 1), covariance = other_gains * inverse * PlainMatrix(other_gains).transpose();
    for (const bool dual : {false, true}) {
      const auto curvature = dual ? make_dual() : make_primal();
      curvature->assemble(s.model, s.data, s.m, s.lambda, s.noise);
      INFO("rows ", rows, ", dual ", dual);
      CHECK(largest_difference(curvature->residuals(), s.residuals) < kRounding);
      CHECK(largest_difference(curvature->gradient(), s.gradient) < kRounding);
      CHECK(largest_difference(curvature->step(g, 0), inverse * g) < kRounding);
      CHECK(largest_difference(curvature->step(g, 3), damped.solve(g)) < kRounding);
      CHECK(largest_difference(curvature->one_minus_leverage(), all - leverages) < kRounding);
      CHECK(curvature->effective_scalars() == oracle::relative(dot(leverages, all), kRounding));
      const double gain = s.precision.log_determinant() - diagonal_matrix(s.lambda).log_determinant();
      CHECK(curvature->log_determinant_gain() == oracle::relative(gain, kRounding));
      CHECK(largest_difference(curvature->variances(others), covariance.diagonal()) < kRounding);
    }
  }
}

TEST_CASE("curvature: the evidence of a linear model is the Gaussian density of its targets") {
  const Setting s(12);
  const SharedPrior prior{random_matrix(10, 1, 9), s.lambda};
  SharedState state{.mean = prior.mean,
                    .scale = Vector::Constant(1, 1.7),
                    .noise = {LogLinearNoise::constant(0.3), LogLinearNoise::constant(0.8)}};
  const auto curvature = make_dual();
  const double evidence =
      fit_shared(s.model, s.data, prior, {.epochs = 40, .learn_noise = false, .learn_scale = false}, state, *curvature);
  PlainMatrix off, variance(10, 1), noise(24, 1, 0.3);
  const PlainMatrix gains = s.gains_at(prior.mean, off);
  for (Index i = 0; i < 10; ++i) variance[i] = 1 / (1.7 * s.lambda[i]);
  for (Index i = 12; i < 24; ++i) noise[i] = 0.8;
  const PlainMatrix covariance = weighted_square(gains.transpose(), variance) + diagonal_matrix(noise);
  const double direct =
      -0.5 * (dot(off, covariance.solve(off)) + covariance.log_determinant() + 24 * std::log(2 * std::numbers::pi));
  CHECK(evidence == oracle::relative(direct, 1e-6));
}

TEST_CASE("curvature: noise and prior scale are learned by evidence") {
  // y = X w + noise with w of variance 4 and noise variance 0.09: both come back from 400 rows.
  const PlainMatrix x = random_matrix(400, 30, 11), w = 2 * PlainMatrix(random_matrix(30, 1, 12));
  const RowData data{x.matrix(), (x * w + 0.3 * PlainMatrix(random_matrix(400, 1, 13))).matrix()};
  const LinearRows model(30, 1);
  const SharedPrior prior{Vector::Zero(31), Vector::Ones(31)};
  SharedState state{.mean = Vector::Zero(31), .noise = {LogLinearNoise::constant(1)}};
  const auto curvature = make_primal();
  fit_shared(model, data, prior, {.epochs = 60, .least_gain = 0}, state, *curvature);
  CHECK(std::exp(state.noise[0].beta(0)) == oracle::relative(0.09, 0.2));
  CHECK(1 / state.scale(0) == oracle::relative(dot(w, w) / 31, 0.05));
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
