// Mixtures with unequal weights and tails.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <numbers>

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

TEST_CASE("prediction: what is said of a logarithm is said of the number, by quadrature over the logarithm") {
  // 0.7 N(0.4, 0.3^2 + 0.5^2) and 0.3 N(1.1, 0.2^2 + 0.6^2), the noise second.
  const std::vector<std::array<double, 4>> parts = {{0.7, 0.4, 0.3, 0.5}, {0.3, 1.1, 0.2, 0.6}};
  std::vector<PredictionComponent> components;
  for (const auto& [weight, mean, sd, noise] : parts)
    components.push_back({one(mean), one(sd), one(noise), one(weight), {}, {}, {true}});
  const Prediction p = Prediction::mix(components);
  const auto normal = [](double t) { return std::exp(-0.5 * t * t) / std::sqrt(2 * std::numbers::pi); };
  double mean = 0, square = 0, noise_variance = 0;
  constexpr double kStep = 1e-3;
  for (double z = -10; z < 12; z += kStep)
    for (const auto& [weight, m, sd, noise] : parts) {
      const double all = std::hypot(sd, noise), mass = kStep * weight * normal((z - m) / all) / all;
      mean += mass * std::exp(z), square += mass * std::exp(2 * z);
      const double given = std::exp(z + noise * noise / 2), of_f = kStep * weight * normal((z - m) / sd) / sd;
      noise_variance += of_f * (std::exp(2 * z + 2 * noise * noise) - given * given);
    }
  CHECK(p.mean(0, 0) == oracle::relative(mean, 1e-8));
  CHECK(p.sd(0, 0) == oracle::relative(std::sqrt(square - mean * mean), 1e-8));
  CHECK(p.noise_sd(0, 0) == oracle::relative(std::sqrt(noise_variance), 1e-8));
  CHECK(std::hypot(p.noise_sd(0, 0), p.epistemic_sd(0, 0)) == oracle::relative(p.sd(0, 0), 1e-12));
  for (const double probability : {1e-6, 0.025, 0.5, 0.975})
    CHECK(p.cumulative(p.quantile(probability))(0, 0) == oracle::relative(probability, 1e-9));
  for (const double y : {0.2, 1.7, 9.0}) {
    const double slope = (p.cumulative(one(y + 1e-5)) - p.cumulative(one(y - 1e-5)))(0, 0) / 2e-5;
    CHECK(std::exp(p.log_density(one(y))(0, 0)) == oracle::relative(slope, 1e-6));
  }
  for (const double y : {0.0, -3.0}) {
    CHECK(p.cumulative(one(y))(0, 0) == 0);
    CHECK(p.log_density(one(y))(0, 0) == -HUGE_VAL);
  }
  CHECK(rows_of(components, 0, 1)[0].is_log == std::vector<bool>{true});
  // Far from all rows the mean stays below the upper bound, and numbers in range.
  for (const double at : {5.0, 60.0, 300.0, 600.0}) {
    const Prediction far = Prediction::mix({{one(at), one(5), one(1), one(0.1), {}, {}, {true}},
                                            {one(0.9 * at), one(1), one(1), one(0.9), {}, {}, {true}}});
    for (const auto* values : {&far.mean, &far.sd, &far.epistemic_sd, &far.noise_sd}) {
      CHECK(std::isfinite((*values)(0, 0)));
      CHECK((*values)(0, 0) > 0.01 * far.mean(0, 0));
    }
    CHECK(far.mean(0, 0) < far.quantile(0.975)(0, 0));
  }
}
