#include "engine/learn/joint/softmax.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

#include "tests/oracles/random_matrices.h"

namespace {

using namespace dma;
using oracle::random_matrix;

double largest_entry(const Eigen::MatrixXd& m) { return m.cwiseAbs().maxCoeff(); }

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
  CHECK(largest_entry(class_probabilities(f).rowwise().sum() - Vector::Ones(50)) < 1e-14);
  Matrix both = Matrix::Zero(50, 3);
  both.col(2) = f.col(0);
  const Matrix one = class_probabilities(Matrix(f.col(0))), two = class_probabilities(Matrix(both.rightCols(2).eval()));
  CHECK(largest_entry(one.rowwise().sum() - Vector::Ones(50)) < 1e-14);
  CHECK(one.cols() == 2);
  for (Index n = 0; n < 50; ++n)
    CHECK(one(n, 1) == doctest::Approx(std::exp(both(n, 2)) / (1 + std::exp(both(n, 2)))).epsilon(1e-12));
  CHECK(two.cols() == 2);

  Matrix extreme(2, 3);
  extreme << 1e300, -1e300, 0, 800, 0, -800;
  CHECK(class_probabilities(extreme).allFinite());
  const std::vector<Index> classes{0, 1};
  CHECK(class_log_likelihood(Matrix(extreme.bottomRows(1)), std::vector<Index>{1}) == doctest::Approx(-800));
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
      const Matrix h = class_curvature(class_probabilities(f).row(n), outputs);
      for (Index k = 0; k < outputs; ++k) {
        Matrix above = f, below = f;
        above(n, k) += kStep, below(n, k) -= kStep;
        CHECK((class_log_likelihood(above, classes) - class_log_likelihood(below, classes)) / (2 * kStep) ==
              doctest::Approx(gradient(n, k)).epsilon(1e-7));
        const Matrix change = class_gradient(class_probabilities(above), classes, outputs) -
                              class_gradient(class_probabilities(below), classes, outputs);
        CHECK(largest_entry(change.row(n) / (2 * kStep) + h.row(k)) < 1e-8);
      }
    }
    const Matrix a = random_matrix(6, outputs, 3), b = random_matrix(6, outputs, 4), p = class_probabilities(f);
    const Vector products = in_class_metric(a, p).cwiseProduct(in_class_metric(b, p)).rowwise().sum();
    for (Index n = 0; n < 6; ++n)
      CHECK(products(n) ==
            doctest::Approx((a.row(n) * class_curvature(p.row(n), outputs) * b.row(n).transpose())(0)).epsilon(1e-12));
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
      Eigen::RowVectorXd means(3);
      means << 0, mean, -50;
      Matrix factor = Matrix::Zero(3, 3);
      factor(1, 1) = sd;
      CHECK(std::abs(three(means, factor)(1) - averaged_logistic(mean, sd)) < 5 * kOfPoints);
    }
  const Matrix factor = random_matrix(3, 3, 5).triangularView<Eigen::Lower>();
  const Eigen::RowVectorXd mean = random_matrix(1, 3, 6);
  const Matrix draws = (random_matrix(400000, 3, 7) * factor.transpose()).rowwise() + mean;
  CHECK(largest_entry(class_probabilities(draws).colwise().mean() - three(mean, factor)) < 5 * kOfPoints);
  CHECK(three(mean, factor).sum() == doctest::Approx(1).epsilon(1e-14));
}
