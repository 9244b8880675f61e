#include "engine/learn/gaussian/fit.h"
#include "engine/learn/gaussian/log_linear_noise.h"
#include "engine/learn/gaussian/prediction.h"
#include "tests/engine/learn/gaussian/learned_graphs.h"
#include "tests/oracles/distributions.h"

using oracle::LinearRows, oracle::random_matrix;

TEST_CASE("student tails: the widths are Student's t to five digits, and to three where no row lies") {
  for (const double degrees : {2.1, 3.0, 6.0, 20.0, 150.0}) {
    const StudentTails tails{degrees, 0.7};
    for (const double r : {0.0, 0.5, 2.0, 6.0}) {
      double density = 0;
      for (const auto& [probability, variance] : tails.widths())
        density += probability * std::exp(-0.5 * r * r / variance) / std::sqrt(2 * std::numbers::pi * variance);
      const double scale = std::sqrt(0.7);
      INFO("degrees ", degrees, ", r ", r);
      const bool no_row = degrees >= 20 && r > 5;
      CHECK(density == oracle::relative(oracle::student(degrees, r / scale) / scale, no_row ? 3e-4 : 1e-5));
    }
  }
  CHECK(StudentTails{}.widths().size() == 1);
}

TEST_CASE("student tails: found in errors that have them, not in Gaussian ones") {
  constexpr Index kRows = 2000;
  const Vector normal = random_matrix(kRows, 1, 1), none = Vector::Zero(kRows), one = Vector::Ones(kRows);
  const StudentTails of_normal = most_likely_tails(normal, none, one);
  CHECK(of_normal.degrees >= 20);
  CHECK(of_normal.scale == oracle::relative(1, 0.1));
  // t with 3 degrees: a normal over the root of a chi-square over 3.
  const Vector chi = (random_matrix(kRows, 3, 2).cwiseAbs2().rowwise().sum() / 3).cwiseSqrt();
  const StudentTails heavy = most_likely_tails(normal.cwiseQuotient(chi), none, one);
  CHECK(heavy.degrees >= 2.5);
  CHECK(heavy.degrees <= 4);
}

TEST_CASE("log-linear noise: slopes come back, and go to zero where noise is constant") {
  const Matrix rows = random_matrix(3000, 3, 1);
  const Vector z = random_matrix(3000, 1, 2);
  const Vector truth = (-1 + 0.8 * rows.col(1).array()).exp();
  LogLinearNoise noise = LogLinearNoise::constant(1);
  noise.add_slopes(3);
  noise.learn(rows, truth.cwiseProduct(z.cwiseAbs2()), Vector::Ones(3000), 40);
  CHECK(noise.beta(0) == oracle::relative(-1, 0.1));
  CHECK(noise.beta(2) == oracle::relative(0.8, 0.1));
  CHECK(std::abs(noise.beta(1)) < 0.1);
  LogLinearNoise constant = LogLinearNoise::constant(1);
  constant.add_slopes(3);
  for (int step = 0; step < 40; ++step) constant.learn(rows, 0.5 * z.cwiseAbs2(), Vector::Ones(3000));
  CHECK(constant.beta.tail(3).cwiseAbs().maxCoeff() < 0.05);
  CHECK(constant.log_evidence(rows) <= 0);
  noise.stay_within(rows);
  const double largest = noise.variances(rows).maxCoeff();
  CHECK(noise.variances(Matrix::Constant(1, 3, 50))(0) <= largest * (1 + 1e-12));
}

TEST_CASE("log-linear noise: a row that makes its own prediction has no say") {
  // Half of the rows are fitted exactly: their residuals are 0 and so are the fractions of others.
  constexpr Index kRows = 2000;
  const Matrix rows = random_matrix(kRows, 2, 3);
  Vector squares = 0.25 * random_matrix(kRows, 1, 4).cwiseAbs2(), fractions = Vector::Ones(kRows);
  squares.head(kRows / 2).setZero(), fractions.head(kRows / 2).setConstant(1e-9);
  LogLinearNoise noise = LogLinearNoise::constant(1);
  noise.add_slopes(2);
  noise.learn(rows, squares, fractions, 40);
  CHECK(std::exp(noise.beta(0)) == oracle::relative(0.25, 0.1));
}

TEST_CASE("joint noise: does not fall to zero where there are more scalars than rows") {
  constexpr Index kRows = 50, kInputs = 100;
  constexpr double kNoise = 0.3;
  const LinearRows model(kInputs, 1);
  const SharedPrior prior{Vector::Zero(model.scalars()),
                          Vector::Constant(model.scalars(), static_cast<double>(kInputs + 1))};
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Matrix x = random_matrix(kRows, kInputs, seed);
    const RowData data{x, x.leftCols(5).rowwise().sum() + kNoise * random_matrix(kRows, 1, seed + 100)};
    SharedState state{.mean = Vector::Zero(model.scalars()), .noise = {LogLinearNoise::constant(0.3)}};
    const auto curvature = make_dual();
    SharedFitOptions options{.epochs = 150, .least_gain = 0};
    for (const bool depends_on_inputs : {false, true}) {  // the second goes on from the first
      if (depends_on_inputs) options.epochs = 300, options.noise_depends_on_inputs = true;
      fit_shared(model, data, prior, options, state, *curvature);
      INFO("seed ", seed, ", depends_on_inputs ", depends_on_inputs);
      // Rows cannot tell noise from the 95 idle columns exactly, but neither is it a thousandth of what it is.
      const double found = std::sqrt(row_noise(state, x).mean());
      CHECK(found > kNoise / 3);
      CHECK(found < 6 * kNoise);
    }
  }
}
