#include "models/table/noise.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/oracles/relative.h"

using namespace dma;

namespace {

double log_likelihood(const std::vector<ComponentPredictions>& components, const std::vector<double>& targets,
                      double b) {
  double sum = 0;
  for (std::size_t n = 0; n < targets.size(); ++n) {
    double density = 0;
    for (const auto& c : components) {
      const double v = c.variances[n] + b, off = targets[n] - c.means[n];
      density += std::exp(-0.5 * off * off / v) / std::sqrt(v);
    }
    sum += std::log(density);
  }
  return sum;
}

}  // namespace

TEST_CASE("noise: with equal variances it is what the residuals have beyond them") {
  const std::vector<double> y = {1, -2, 0.5, 3};
  const ComponentPredictions exact{{0, 0, 0, 0}, {0, 0, 0, 0}}, unsure{{0, 0, 0, 0}, {1, 1, 1, 1}};
  const double mean_square = (1 + 4 + 0.25 + 9) / 4;
  CHECK(most_likely_noise({&exact, 1}, y, 1e-8, 10) == oracle::relative(mean_square, 1e-6));
  CHECK(most_likely_noise({&unsure, 1}, y, 1e-8, 10) == oracle::relative(mean_square - 1, 1e-6));
  CHECK(most_likely_noise({&exact, 1}, y, 1e-8, 2) == 2);  // the bounds hold, and are reached
  CHECK(most_likely_noise({&exact, 1}, y, 5, 10) == 5);
  CHECK(most_likely_noise({&exact, 1}, y, 3, 3) == 3);
}

TEST_CASE("noise: bounds beyond every double and predictions that are not numbers come to an end") {
  const std::vector<double> y = {1, -2};
  const ComponentPredictions exact{{0, 0}, {0, 0}}, wrong{{std::nan(""), 0}, {0, 0}};
  CHECK(most_likely_noise({&exact, 1}, y, 1e307, HUGE_VAL) == oracle::relative(1e307, 1e-9));
  CHECK(most_likely_noise({&wrong, 1}, y, 1e-8, 10) == 1e-8);
}

TEST_CASE("noise: of several maxima the highest is found") {
  // Two rows that fit almost exactly and are almost certain, four that are far off and unsure: the derivative by b
  // changes its sign three times.
  const std::vector<double> y = {0.001, -0.001, 30, -30, 28, -31};
  for (const double certain : {1e-7, 1e-5}) {
    const ComponentPredictions p{{0, 0, 0, 0, 0, 0}, {certain, certain, 40, 40, 40, 40}};
    const double found = most_likely_noise({&p, 1}, y, 1e-8, 1e5);
    double best = -HUGE_VAL, best_b = 0;
    for (double log_b = std::log(1e-8); log_b < std::log(1e5); log_b += 1e-3)
      if (const double value = log_likelihood({p}, y, std::exp(log_b)); value > best)
        best = value, best_b = std::exp(log_b);
    CHECK(found == oracle::relative(best_b, 2e-3));
    CHECK(log_likelihood({p}, y, found) >= best - 1e-9);
  }
}

TEST_CASE("noise: that of a mixture maximises the mixture's likelihood") {
  const std::vector<double> y = {1, -2, 0.5, 3, 0.1};
  const std::vector<ComponentPredictions> both = {{{0, -1, 0, 2, 0}, {0.1, 0.2, 0.1, 0.3, 0.1}},
                                                  {{1, -1.5, 1, 4, -1}, {0.2, 0.1, 0.2, 0.1, 0.3}}};
  const double found = most_likely_noise(both, y, 1e-8, 10);
  for (const double factor : {0.5, 0.99, 1.01, 2.0})
    CHECK(log_likelihood(both, y, found) >= log_likelihood(both, y, found * factor));
}

TEST_CASE("noise: the step of values is the power of ten that most are multiples of, or the distance of few values") {
  const auto column = [](Eigen::Index rows, const auto& value) {
    Eigen::VectorXd all(rows);
    for (Eigen::Index n = 0; n < rows; ++n) all(n) = value(static_cast<double>(n));
    return all;
  };
  Eigen::VectorXd tenths = column(83, [](double n) { return 24 - (2 + 0.1 * n); });
  CHECK(step_of(tenths) == oracle::relative(0.1, 1e-12));
  tenths(7) += 0.0137;  // one that was rounded differently
  CHECK(step_of(tenths) == oracle::relative(0.1, 1e-12));
  CHECK(step_of(column(50, [](double n) { return 1000 * n; })) == oracle::relative(1000, 1e-12));
  CHECK(step_of(column(50, [](double n) { return 1e-9 * n; })) == oracle::relative(1e-9, 1e-9));
  CHECK(step_of(column(90, [](double n) { return std::fmod(n, 3) / 7; })) == oracle::relative(1 / 7.0, 1e-12));
  CHECK(step_of(column(50, [](double n) { return std::sin(n); })) == 0);
  CHECK(step_of(column(50, [](double n) { return n < 40 ? 0.1 * n : std::sin(n); })) == 0);  // one of five has none
  CHECK(step_of(column(50, [](double) { return 0.0; })) == 1);
  CHECK(step_of(column(50, [](double) { return 7.0; })) == oracle::relative(1, 1e-12));
}

TEST_CASE("noise: the least that targets can show is that of their rounding, and of few values a hundredth") {
  Eigen::MatrixXd targets(200, 4);
  for (Eigen::Index n = 0; n < 200; ++n)
    targets.row(n) << 0.5 * static_cast<double>(n), static_cast<double>(n % 2), std::sin(static_cast<double>(n)),
        1e9 + std::sin(static_cast<double>(n));
  Standardiser units = Standardiser::identity(4);
  units.scale << 2.0, 0.5, 0.7, 0.7;
  const Eigen::VectorXd least = least_noise_of(targets, units);
  CHECK(least(0) == oracle::relative(0.05 * 0.05 / 12, 1e-9));
  CHECK(least(1) == 0.01);
  CHECK(least(2) == 1e-10);
  CHECK(least(3) == 1e-10);
  // Steps of 0.1 are steps of 0.002 of the logarithm at the median, 50.
  const Eigen::MatrixXd amounts = targets.col(0).array() + 0.5;
  units = {Eigen::RowVectorXd{{0.0}}, Eigen::RowVectorXd{{2.0}}, Eigen::RowVectorXd{{0.5}}};
  CHECK(least_noise_of(amounts, units)(0) == oracle::relative(0.001 * 0.001 / 12, 0.02));
}
