// Mixtures with unequal weights and tails.
#include <doctest/doctest.h>

#include <cmath>

#include "engine/learn/gaussian/prediction.h"
#include "models/table/standardiser.h"
#include "tests/oracles/distributions.h"
#include "tests/oracles/relative.h"

namespace {

using namespace dma;
using Eigen::MatrixXd;

MatrixXd one(double value) { return MatrixXd::Constant(1, 1, value); }

}  // namespace

TEST_CASE("prediction: without epistemic error, noise with tails is Student's t, quantiles included") {
  const Prediction p = Prediction::mix({{one(2), one(0), one(0.5), {}, {StudentTails{4, 0.81}}}});
  const double scale = 0.5 * 0.9;
  for (const double y : {-1.0, 1.5, 2.0, 6.0}) {
    CHECK(p.log_density(one(y))(0, 0) == oracle::relative(std::log(oracle::student(4, (y - 2) / scale) / scale), 1e-6));
    CHECK(p.cumulative(one(y))(0, 0) == oracle::relative(oracle::student_below(4, (y - 2) / scale), 1e-6, 1));
  }
  const auto below = [](double x) { return oracle::student_below(4, x); };
  for (const double probability : {0.025, 0.3, 0.5, 0.975})
    CHECK(p.quantile(probability)(0, 0) == oracle::relative(2 + scale * oracle::quantile(below, probability), 1e-6));
  CHECK(p.noise_sd(0, 0) == doctest::Approx(scale * std::sqrt(2.0)));
}

TEST_CASE("prediction: components count by their weights, row by row") {
  MatrixXd mean(2, 1), weight(2, 1), rest(2, 1);
  mean << 0, 0;
  weight << 0.75, 0;
  rest << 0.25, 1;
  const MatrixXd sd = MatrixXd::Constant(2, 1, 0.6), noise = MatrixXd::Constant(2, 1, 0.8);
  const Prediction p = Prediction::mix({{mean, sd, noise, weight}, {mean.array() + 4, sd, noise, rest}});
  CHECK(p.mean(0, 0) == doctest::Approx(1));
  CHECK(p.mean(1, 0) == doctest::Approx(4));
  CHECK(p.epistemic_sd(0, 0) == doctest::Approx(std::sqrt(0.36 + 0.75 * 1 + 0.25 * 9)));
  CHECK(p.sd(1, 0) == doctest::Approx(1));
  const Standardiser units{Eigen::RowVectorXd::Constant(1, 10), Eigen::RowVectorXd::Constant(1, 2)};
  const Prediction before = p.in_units_before(units);
  CHECK(before.quantile(0.1)(0, 0) == doctest::Approx(10 + 2 * p.quantile(0.1)(0, 0)));
  CHECK(before.log_density(one(11).replicate(2, 1))(0, 0) ==
        doctest::Approx(p.log_density(one(0.5).replicate(2, 1))(0, 0) - std::log(2.0)));
}
