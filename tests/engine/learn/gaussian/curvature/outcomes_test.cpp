#include "engine/learn/gaussian/curvature/outcomes.h"

#include "engine/learn/gaussian/curvature/targets.h"
#include "factors/authoring/from_function.h"
#include "tests/engine/learn/gaussian/learned_graphs.h"

namespace {

using oracle::PlainMatrix, oracle::largest_size, oracle::random_matrix;

PlainMatrix off_one(const PlainMatrix& p) { return p * PlainMatrix(p.columns(), 1, 1) - PlainMatrix(p.rows(), 1, 1); }

// E[1 / (1 + e^-f)] for f ~ N(mean, sd^2), by a fine trapezoidal rule.
double averaged_logistic(double mean, double sd) {
  double sum = 0;
  constexpr double kStep = 1e-3;
  for (double z = -9; z <= 9; z += kStep)
    sum += kStep * std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi) / (1 + std::exp(-(mean + sd * z)));
  return sum;
}

// Rows of classes, by softmax of so many outputs, or 0 and 1 by one.
RowData observed(Index rows, Index outputs) {
  const auto likelihood = std::make_shared<const OutputLikelihood>(
      standard_registry().kind(outputs == 1 ? "logistic" : "softmax"), std::vector<double>(), "y", outputs);
  RowData data{Matrix(rows, 0), Matrix::Zero(rows, outputs), {}, OutputLikelihoods(std::size_t(outputs), likelihood)};
  for (Index n = 0; n < rows; ++n)
    if (const Index own = n % (outputs + (outputs == 1 ? 1 : 0)); outputs > 1 || own == 1)
      data.targets(n, outputs == 1 ? 0 : own) = 1;
  return data;
}

}  // namespace

TEST_CASE("outcomes: probabilities sum to one, one number is the log odds of 1 to 0, and extremes stay numbers") {
  const Matrix f = 30 * random_matrix(50, 4, 1);
  CHECK(largest_size(off_one(outcome_probabilities(f))) < 1e-14);
  Matrix alone(50, 1), both = Matrix::Zero(50, 2);
  for (Index n = 0; n < 50; ++n) alone(n, 0) = both(n, 1) = f(n, 0);
  const Matrix one = outcome_probabilities(alone), two = outcome_probabilities(both);
  REQUIRE(one.cols() == 1);
  for (Index n = 0; n < 50; ++n) CHECK(one(n, 0) == oracle::relative(two(n, 1), 1e-12));

  const PlainMatrix extreme{{1e300, -1e300, 0}, {800, 0, -800}};
  CHECK(outcome_probabilities(extreme.matrix()).allFinite());
  CHECK(outcome_log_density(extreme.row(1).matrix(), PlainMatrix{{0, 1, 0}}.matrix()) == doctest::Approx(-800));
  CHECK(outcome_log_density(Matrix::Constant(1, 1, 800), Matrix::Zero(1, 1)) == doctest::Approx(-800));
  CHECK(outcome_log_density(Matrix::Constant(1, 1, -800), Matrix::Zero(1, 1)) == 0);
}

TEST_CASE("targets: slopes and curvatures of outcomes are the derivatives of the log density, by weights of rows too") {
  constexpr double kStep = 1e-5;
  for (const Index outputs : {1, 2, 3, 5}) {
    RowData data = observed(6, outputs);
    data.weights = Vector::LinSpaced(6, 0.5, 3);
    const Matrix f = random_matrix(6, outputs, 2);
    const Vector noise = Vector::Ones(6 * outputs);
    const TargetView view(data, f, noise);
    CHECK(view.log_density() == oracle::relative(other_log_density(data, f), 1e-12));
    for (Index n = 0; n < 6; ++n) {
      const PlainMatrix h = view.curvature(n);
      for (Index k = 0; k < outputs; ++k) {
        Matrix above = f, below = f;
        above(n, k) += kStep, below(n, k) -= kStep;
        CHECK((other_log_density(data, above) - other_log_density(data, below)) / (2 * kStep) ==
              oracle::relative(view.slopes()(n, k), 1e-7));
        const PlainMatrix change =
            PlainMatrix(TargetView(data, above, noise).slopes()) - TargetView(data, below, noise).slopes();
        CHECK(largest_size(1 / (2 * kStep) * change.row(n) + h.row(k)) < 1e-8);
      }
    }
    const Matrix a = random_matrix(6 * outputs, 1, 3), b = random_matrix(6 * outputs, 1, 4);
    const Matrix left = view.in_metric(a), right = view.in_metric(b);
    for (Index n = 0; n < 6; ++n) {
      const PlainMatrix h = view.curvature(n);
      double across = 0, found = 0;
      for (Index k = 0; k < outputs; ++k) {
        found += left(k * 6 + n, 0) * right(k * 6 + n, 0);
        for (Index j = 0; j < outputs; ++j) across += a(k * 6 + n, 0) * h(k, j) * b(j * 6 + n, 0);
      }
      CHECK(found == oracle::relative(across, 1e-12));
    }
  }
}

TEST_CASE("outcomes: the average over Gaussian log odds is the integral, for one output and for several") {
  const OutcomeAverage one(1), three(3);
  for (const double mean : {-4.0, -0.3, 0.0, 2.0})
    for (const double sd : {0.1, 1.0, 6.0}) {
      const auto [p, square] = one(Eigen::RowVectorXd::Constant(1, mean), Matrix::Constant(1, 1, sd));
      CHECK(std::abs(p(0) - averaged_logistic(mean, sd)) < 1e-5);
      CHECK(square(0) < p(0));
      CHECK(square(0) >= p(0) * p(0));
      // Log odds (0, f, -50): the third class takes no part, and the average has one dimension.
      const Matrix means = PlainMatrix{{0, mean, -50}}.matrix();
      const Matrix factor = PlainMatrix{{0, 0, 0}, {0, sd, 0}, {0, 0, 0}}.matrix();
      CHECK(std::abs(three(means, factor).mean(1) - averaged_logistic(mean, sd)) < 0.01);
    }
  Matrix factor = random_matrix(3, 3, 5), mean = random_matrix(1, 3, 6);
  factor(0, 1) = factor(0, 2) = factor(1, 2) = 0;
  const PlainMatrix z = random_matrix(400000, 3, 7),
                    f = z * PlainMatrix(factor).transpose() + PlainMatrix(400000, 1, 1) * mean;
  const PlainMatrix average = PlainMatrix(1, 400000, 1 / 4e5) * outcome_probabilities(f.matrix());
  const auto [p, square] = three(mean, factor);
  for (Index k = 0; k < 3; ++k) CHECK(std::abs(average[k] - p(k)) < 0.01);
  CHECK(p.sum() == oracle::relative(1, 1e-14));
}

TEST_CASE("output likelihood: whether a kind says log odds is seen by its values, not by its name") {
  const auto truth = [](auto density) {
    return OutputLikelihood(likelihood_from_log_density("mine", density).observes("y", one_of({0, 1})), {}, "y");
  };
  const auto log_odds = [](double x, double y) { return -std::log1p(std::exp(y > 0 ? -x : x)); };
  CHECK(truth(log_odds).has_log_odds());
  CHECK(!truth([=](double x, double y) { return log_odds(2 * x, y); }).has_log_odds());
  CHECK(!truth([](double x, double y) { return x * y; }).has_log_odds());  // not normalised
  CHECK(OutputLikelihood(standard_registry().kind("logistic"), {}, "y").has_log_odds());
  CHECK(!OutputLikelihood(standard_registry().kind("poisson"), {1}, "y").has_log_odds());
  const OutputLikelihood softmax(standard_registry().kind("softmax"), {}, "y", 3);
  CHECK(softmax.has_log_odds());
  CHECK(softmax.is_class());
  CHECK(!softmax.observes()->contains(3));
}
