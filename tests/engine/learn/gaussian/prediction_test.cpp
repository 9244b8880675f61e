#include "models/table/scores.h"
#include "models/table/standardiser.h"
#include "tests/engine/learn/gaussian/learned_graphs.h"

namespace {

Eigen::MatrixXd alone(double x) { return Eigen::MatrixXd::Constant(1, 1, x); }

Prediction mixture(double m1, double v1, double m2, double v2) {
  return Prediction::mix({alone(m1), alone(m2)}, {alone(v1), alone(v2)}, {alone(0), alone(0)});
}

}  // namespace

TEST_CASE("prediction: quantiles invert the distribution function of the mixture") {
  for (const Prediction& p : {mixture(0, 1, 0, 1), mixture(-3, 0.01, 4, 2), mixture(0, 1, 1e3, 1e-2)})
    for (const double probability : {1e-12, 0.01, 0.3, 0.5, 0.8, 0.999}) {
      const Eigen::MatrixXd q = p.quantile(probability);
      CHECK(p.cumulative(q)(0, 0) == oracle::relative(probability, 1e-9));
    }
  CHECK_THROWS_AS(mixture(0, 1, 0, 1).quantile(0), Error);
  CHECK_THROWS_AS(mixture(0, 1, 0, 1).quantile(1), Error);
}

TEST_CASE("prediction: the likeliest factor on noise is that of a grid, and less than 1 is doubted by 100 rows") {
  const Eigen::Index rows = 60;
  for (const double spread : {0.3, 1.0, 3.0}) {
    const Eigen::MatrixXd targets = spread * oracle::random_matrix(rows, 1, 1), ones = Eigen::MatrixXd::Ones(rows, 1);
    const StudentTails gaussian{1e300, 2};
    const double found = likeliest_factor(
        {{0.2 * ones, 0.1 * ones, ones, {}, {gaussian}}, {-0.2 * ones, 0.1 * ones, ones, {}, {gaussian}}}, targets, 0);
    double best = 0, most = -HUGE_VAL;
    for (double log_factor = -4; log_factor < 4; log_factor += 1e-3) {
      const double variance = 0.01 + 2 * std::exp(log_factor);
      double sum = 0;
      for (const double y : targets.reshaped())
        sum += std::log(std::exp(-0.5 * (y - 0.2) * (y - 0.2) / variance) +
                        std::exp(-0.5 * (y + 0.2) * (y + 0.2) / variance)) -
               0.5 * std::log(variance);
      if (sum > most) most = sum, best = log_factor;
    }
    CHECK((best < 0) == (spread < 1.2));
    CHECK(std::log(found) == oracle::relative(best < 0 ? best * 60 / 160 : best, 0.03));
  }
}

TEST_CASE("prediction: units in which variances are out of range") {
  const Prediction base = mixture(-1, 0.5, 2, 3);
  const Eigen::MatrixXd target = alone(0.7);
  const Scores expected = scores_of(base, target)[0];
  for (const double scale : {1e-300, 1e-160, 1.0, 1e155, 1e300}) {
    CAPTURE(scale);
    const Prediction p =
        base.in_units_before(Standardiser{Eigen::RowVectorXd::Zero(1), Eigen::RowVectorXd::Constant(1, scale)});
    CHECK(p.sd(0, 0) == doctest::Approx(base.sd(0, 0) * scale));
    CHECK(p.log_density(target * scale)(0, 0) ==
          oracle::relative(base.log_density(target)(0, 0) - std::log(scale), 1e-12));
    CHECK(scores_of(p, target * scale)[0].rmse == oracle::relative(expected.rmse * scale, 1e-12));
    CHECK(p.quantile(0.9)(0, 0) == oracle::relative(base.quantile(0.9)(0, 0) * scale, 1e-12));
  }
}
