#include "models/learn/mixing.h"

#include <doctest/doctest.h>

#include <cmath>

#include "factors/standard_registry.h"
#include "tests/oracles/random_matrices.h"
#include "tests/oracles/relative.h"
#include "tests/oracles/scores.h"

using namespace dma;
using oracle::farthest, oracle::filled, oracle::random_matrix;

namespace {

OutputLikelihoods likelihoods_of(Index outputs) {
  return OutputLikelihoods(
      static_cast<std::size_t>(outputs),
      std::make_shared<const OutputLikelihood>(standard_registry().kind(outputs == 1 ? "logistic" : "softmax"),
                                               std::vector<double>(), "y", outputs));
}

}  // namespace

TEST_CASE("mixing: densities of more rows than a block are those of every row") {
  constexpr Index kRows = (1 << 14) + 100;
  const Matrix mean = random_matrix(kRows, 2, 1), targets = random_matrix(kRows, 2, 2), ones = Matrix::Ones(kRows, 2);
  const std::vector<PredictionComponent> both = {{mean, 0.3 * ones, 0.4 * ones, 0.25 * ones},
                                                 {ones, 0 * ones, 2 * ones, 0.75 * ones}};
  const auto density = [](double off, double sd) {
    return std::exp(-0.5 * off * off / (sd * sd)) / (sd * std::sqrt(2 * std::acos(-1.0)));
  };
  const Matrix expected = filled(kRows, 2, [&](Index n, Index j) {
    return std::log(0.25 * density(targets(n, j) - mean(n, j), 0.5) + 0.75 * density(targets(n, j) - 1, 2));
  });
  CHECK(farthest(log_densities(both, targets), expected) < 1e-12);
  const Vector weights = random_matrix(kRows, 1, 3).cwiseAbs();
  CHECK(score_of(both, targets) == oracle::relative(expected.sum(), 1e-12));
  CHECK(score_of(both, targets, weights) == oracle::relative((weights.transpose() * expected).sum(), 1e-12));
}

TEST_CASE("mixing: one column per class but the first") {
  const Eigen::MatrixXd columns = one_column_per_class(Eigen::Vector4d(2, 0, 1, 2), 3);
  CHECK(columns == Eigen::MatrixXd{{0, 1}, {0, 0}, {1, 0}, {0, 1}});
}

TEST_CASE("mixing: probabilities of classes are a part of a mixture, of two classes those of the second") {
  const Eigen::MatrixXd p{{0.2, 0.3, 0.5}, {0.6, 0.3, 0.1}}, q{{0.7, 0.3}, {0.1, 0.9}};
  for (const Eigen::MatrixXd& all : {p, q}) {
    const Index classes = all.cols(), outputs = classes == 2 ? 1 : classes;
    std::vector<PredictionComponent> mixture = {component_of_classes(all, 1, likelihoods_of(outputs))};
    const Eigen::MatrixXd even = Eigen::MatrixXd::Constant(2, classes, 1 / static_cast<double>(classes));
    add_component(component_of_classes(even, 0.25, likelihoods_of(outputs)), mixture);
    const Prediction mixed = Prediction::mix(mixture);
    CHECK(mixed.mean.cols() == outputs);
    const Eigen::MatrixXd found = probabilities_of(mixed.mean, static_cast<std::size_t>(classes));
    CHECK(farthest(found, 0.75 * all + 0.25 * even) < 1e-15);
    // An outcome has the variance of its probability, whatever mixes to it.
    const Eigen::MatrixXd sd = (mixed.mean.array() * (1 - mixed.mean.array())).sqrt();
    CHECK(farthest(mixed.sd, sd) < 1e-12);
  }
}

TEST_CASE("mixing: frequencies of classes, with half a row of each, and of a row without itself") {
  const Eigen::Vector4d numbers(0, 1, 1, 1), weights(1, 2, 0.5, 1);
  const ClassFrequencies plain(numbers, 3, {}), weighted(numbers, 3, weights);
  CHECK(farthest(plain.all, Eigen::Vector3d(1.5, 3.5, 0.5) / 5.5) < 1e-15);
  CHECK(farthest(weighted.all, Eigen::Vector3d(1.5, 4, 0.5) / 6) < 1e-15);
  CHECK(farthest(plain.without_each.row(0), Eigen::RowVector3d(0.5, 3.5, 0.5) / 4.5) < 1e-15);
  CHECK(farthest(weighted.without_each.row(1), Eigen::RowVector3d(1.5, 2, 0.5) / 4) < 1e-15);
  double sum = 0, weighted_sum = 0;
  for (Index n = 0; n < 4; ++n) {
    const auto c = static_cast<Index>(numbers(n));
    CHECK(plain.classes[static_cast<std::size_t>(n)] == c);
    sum += std::log(plain.without_each(n, c)), weighted_sum += weights(n) * std::log(weighted.without_each(n, c));
  }
  CHECK(plain.log_density == oracle::relative(sum, 1e-14));
  CHECK(plain.scores.log_loss == oracle::relative(-sum / 4, 1e-14));
  CHECK(weighted.log_density == oracle::relative(weighted_sum, 1e-14));
  CHECK(weighted.scores.log_loss == oracle::relative(-weighted_sum / 4.5, 1e-14));
  CHECK(plain.scores.accuracy == 0.75);
  // Beside another model: the odds are its nats ahead; something always stays.
  CHECK(plain.fraction_beside(sum, 4) == doctest::Approx(0.5));
  CHECK(plain.fraction_beside(sum - 2, 4) == doctest::Approx(1 / (1 + std::exp(-2))));
  CHECK(plain.fraction_beside(sum + 1000, 4) == doctest::Approx(0.1 / 4.1));
  CHECK(plain.fraction_beside(sum - 1000, 4) == 1);
}
