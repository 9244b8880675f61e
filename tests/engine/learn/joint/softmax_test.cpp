#include "engine/learn/joint/softmax.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

#include "tests/oracles/plain_matrix.h"
#include "tests/oracles/random_matrices.h"

namespace {

using namespace dma;
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

}  // namespace

TEST_CASE(
    "softmax: probabilities sum to one, two classes by one logit are those of the logits 0 and f, and extremes stay "
    "numbers") {
  const Matrix f = 30 * random_matrix(50, 4, 1);
  CHECK(largest_size(off_one(class_probabilities(f))) < 1e-14);
  Matrix alone(50, 1), both = Matrix::Zero(50, 2);
  for (Index n = 0; n < 50; ++n) alone(n, 0) = both(n, 1) = f(n, 0);
  const Matrix one = class_probabilities(alone), two = class_probabilities(both);
  CHECK(largest_size(off_one(one)) < 1e-14);
  CHECK(one.cols() == 2);
  for (Index n = 0; n < 50; ++n)
    CHECK(one(n, 1) == doctest::Approx(std::exp(both(n, 1)) / (1 + std::exp(both(n, 1)))).epsilon(1e-12));
  CHECK(two.cols() == 2);

  const PlainMatrix extreme{{1e300, -1e300, 0}, {800, 0, -800}};
  CHECK(class_probabilities(extreme.matrix()).allFinite());
  CHECK(class_log_likelihood(extreme.row(1).matrix(), std::vector<Index>{1}) == doctest::Approx(-800));
  CHECK(class_log_likelihood(Matrix::Constant(1, 1, 800), std::vector<Index>{0}) == doctest::Approx(-800));
  CHECK(class_log_likelihood(Matrix::Constant(1, 1, -800), std::vector<Index>{0}) == 0);
}

TEST_CASE("softmax: gradient and curvature are the derivatives of the log-likelihood") {
  constexpr double kStep = 1e-5;
  for (const Index outputs : {1, 2, 3, 5}) {
    const Matrix f = random_matrix(6, outputs, 2);
    std::vector<Index> classes;
    for (Index n = 0; n < 6; ++n) classes.push_back(n % classes_of(outputs));
    const Matrix gradient = class_gradient(class_probabilities(f), classes, outputs);
    for (Index n = 0; n < 6; ++n) {
      const PlainMatrix h = class_curvature(class_probabilities(f).row(n), outputs);
      for (Index k = 0; k < outputs; ++k) {
        Matrix above = f, below = f;
        above(n, k) += kStep, below(n, k) -= kStep;
        CHECK((class_log_likelihood(above, classes) - class_log_likelihood(below, classes)) / (2 * kStep) ==
              doctest::Approx(gradient(n, k)).epsilon(1e-7));
        const PlainMatrix change = PlainMatrix(class_gradient(class_probabilities(above), classes, outputs)) -
                                   class_gradient(class_probabilities(below), classes, outputs);
        CHECK(largest_size(1 / (2 * kStep) * change.row(n) + h.row(k)) < 1e-8);
      }
    }
    const Matrix a = random_matrix(6, outputs, 3), b = random_matrix(6, outputs, 4), p = class_probabilities(f);
    const PlainMatrix left = in_class_metric(a, p), right = in_class_metric(b, p);
    for (Index n = 0; n < 6; ++n) {
      const PlainMatrix across = PlainMatrix(a).row(n) * class_curvature(p.row(n), outputs);
      CHECK(dot(left.row(n), right.row(n)) == doctest::Approx(dot(across, PlainMatrix(b).row(n))).epsilon(1e-12));
    }
  }
}

TEST_CASE("softmax: the average over Gaussian logits is the integral, for one logit and for several") {
  const LogitAverage one(1), three(3);
  constexpr double kOfPoints = 2e-3;  // 256 of them
  for (const double mean : {-4.0, -0.3, 0.0, 2.0})
    for (const double sd : {0.1, 1.0, 6.0}) {
      const auto p = one(Eigen::RowVectorXd::Constant(1, mean), Matrix::Constant(1, 1, sd));
      CHECK(std::abs(p(1) - averaged_logistic(mean, sd)) < kOfPoints);
      // Logits (0, f, -50): the third class takes no part, and the average has one dimension.
      const Matrix means = PlainMatrix{{0, mean, -50}}.matrix();
      const Matrix factor = PlainMatrix{{0, 0, 0}, {0, sd, 0}, {0, 0, 0}}.matrix();
      CHECK(std::abs(three(means, factor)(1) - averaged_logistic(mean, sd)) < 5 * kOfPoints);
    }
  Matrix factor = random_matrix(3, 3, 5), mean = random_matrix(1, 3, 6);
  factor(0, 1) = factor(0, 2) = factor(1, 2) = 0;
  const PlainMatrix z = random_matrix(400000, 3, 7),
                    f = z * PlainMatrix(factor).transpose() + PlainMatrix(400000, 1, 1) * mean;
  const PlainMatrix average = PlainMatrix(1, 400000, 1 / 4e5) * class_probabilities(f.matrix());
  for (Index k = 0; k < 3; ++k) CHECK(std::abs(average[k] - three(mean, factor)(k)) < 5 * kOfPoints);
  CHECK(three(mean, factor).sum() == doctest::Approx(1).epsilon(1e-14));
}
