#include "tools/dma/page/calibration.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "models/table/scores.h"
#include "tests/oracles/random_matrices.h"

using dma::report::StatedFraction;

namespace {

// P(X <= k) for n throws of a coin that falls on its head with probability p, term by term.
double binomial_below(int k, int n, double p) {
  double sum = 0;
  for (int i = 0; i <= k; ++i)
    sum += std::exp(std::lgamma(n + 1.0) - std::lgamma(i + 1.0) - std::lgamma(n - i + 1.0) + i * std::log(p) +
                    (n - i) * std::log1p(-p));
  return sum;
}

}  // namespace

TEST_CASE("calibration: intervals and quantiles are counted, by hand") {
  const Eigen::VectorXd below = Eigen::Vector4d(0.02, 0.4, 0.549, 0.97);
  const auto coverage = dma::report::coverage_curve(below), quantiles = dma::report::quantile_curve(below);
  REQUIRE(coverage.size() == 20);
  CHECK(coverage[0].found == 0);                       // 5 %: within 0.025 of the middle
  CHECK(coverage[1].found == doctest::Approx(0.25));   // 10 %: 0.549
  CHECK(coverage[9].found == doctest::Approx(0.5));    // 50 %
  CHECK(coverage[18].found == doctest::Approx(0.75));  // 95 %: all but 0.02
  CHECK(coverage[19].found == 1);                      // 99 %
  CHECK(quantiles[0].found == doctest::Approx(0.25));
  CHECK(quantiles[7].found == doctest::Approx(0.5));  // 40 %
  CHECK(quantiles[18].found == doctest::Approx(0.75));
  for (const StatedFraction& fraction : coverage) CHECK(fraction.rows == 4);
}

TEST_CASE("calibration: what chance allows holds 95 % of all tables, term by term") {
  const Eigen::VectorXd below = Eigen::VectorXd::LinSpaced(40, 0.01, 0.99);
  for (const StatedFraction& fraction : dma::report::quantile_curve(below)) {
    const int low = static_cast<int>(std::lround(40 * fraction.low)),
              high = static_cast<int>(std::lround(40 * fraction.high));
    const double inside =
        binomial_below(high, 40, fraction.stated) - (low > 0 ? binomial_below(low - 1, 40, fraction.stated) : 0);
    CHECK(inside >= 0.95);
    CHECK(inside < 0.995);
  }
}

TEST_CASE("calibration: bins of classes give the calibration error, the diagonal of the confusion the accuracy") {
  const Eigen::MatrixXd random = dma::oracle::random_matrix(200, 3, 4);
  Eigen::MatrixXd p = random.array().exp();
  for (Eigen::Index n = 0; n < p.rows(); ++n) p.row(n) /= p.row(n).sum();
  p.row(0) << 1, 0, 0;
  std::vector<Eigen::Index> classes;
  for (Eigen::Index n = 0; n < p.rows(); ++n) classes.push_back((n * n) % 3);
  const dma::ClassScores scores = dma::class_scores_of(p, classes);
  double error = 0;
  std::size_t rows = 0;
  for (const StatedFraction& bin : dma::report::reliability_curve(p, classes)) {
    CHECK(bin.rows > 0);
    error += std::abs(bin.stated - bin.found) * static_cast<double>(bin.rows) / 200;
    rows += bin.rows;
  }
  CHECK(rows == 200);
  CHECK(error == doctest::Approx(scores.calibration_error));
  const auto counts = dma::report::confusion(p, classes);
  CHECK(counts.sum() == 200);
  CHECK(static_cast<double>(counts.trace()) / 200 == doctest::Approx(scores.accuracy));
  CHECK(counts.row(2).sum() == std::ranges::count(classes, 2));
}
