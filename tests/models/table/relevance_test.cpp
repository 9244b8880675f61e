#include "models/table/relevance.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "tests/oracles/plain_matrix.h"
#include "tests/oracles/random_matrices.h"
#include "tests/oracles/relative.h"
#include "tests/oracles/scores.h"

namespace {

using namespace dma;
using oracle::PlainMatrix, oracle::random_matrix, oracle::filled;

// log N(y; 0, s C) of a dense C, at the s where it is greatest.
struct Effect {
  Matrix features;
  double variance;
};
PlainMatrix covariance_of(std::size_t rows, const std::vector<Effect>& effects) {
  PlainMatrix c = PlainMatrix::identity(rows);
  for (const auto& e : effects) {
    const PlainMatrix features = e.features;
    c += e.variance * (features * features.transpose());
  }
  return c;
}
double dense_evidence(const PlainMatrix& y, const std::vector<Effect>& effects) {
  const auto n = static_cast<double>(y.rows());
  const PlainMatrix c = covariance_of(y.rows(), effects);
  const double s = dot(y, c.solve(y)) / n;
  return -0.5 * (n * std::log(2 * std::numbers::pi * s) + c.log_determinant() + n);
}

// The inputs that are found to matter.
std::vector<Index> found(const Matrix& rows, const Matrix& targets) {
  return inputs_that_matter(relevance_of(rows, targets, 1));
}

}  // namespace

TEST_CASE("relevance: evidence with a variance for every effect, and what one more gains, are those of a dense one") {
  const Matrix x = random_matrix(12, 5, 1);
  const Vector y = x.col(0) - 2 * x.col(2) + random_matrix(12, 1, 2);
  std::vector<Effect> effects;
  EffectEvidence evidence(y);
  EffectEvidence::Products kept;  // products of features, asked for before there were effects
  for (Index j = 0; j < 4; ++j) {
    CHECK(evidence.log_evidence() == oracle::relative(dense_evidence(y, effects), 1e-12));
    const auto [nats, variance] = evidence.gain(x.middleCols(j, 2));
    evidence.complete(kept, x.leftCols(3));
    CHECK(evidence.gain(kept).nats == oracle::relative(evidence.gain(x.leftCols(3)).nats, 1e-12));
    effects.push_back({x.middleCols(j, 2), variance});
    CHECK(std::abs(evidence.log_evidence() + nats - dense_evidence(y, effects)) < 1e-10);
    for (const double other : {0.0, 0.01, 0.5, 1.0, 2.0, 30.0}) {
      const double own = std::exchange(effects.back().variance, other);
      CHECK(dense_evidence(y, effects) < evidence.log_evidence() + nats + 0.05);  // between powers of 2
      effects.back().variance = own;
    }
    if (j % 2 == 1) effects.back().variance = 0.3;  // not the best
    evidence.add(effects.back().features, effects.back().variance);
    const PlainMatrix c = covariance_of(12, effects);
    CHECK((c * evidence.rest() - PlainMatrix(y)).norm() < 1e-12 * y.norm() * c.norm());
  }
  const auto [nats, variance] = evidence.adjust(1);
  effects[1].variance = 0;
  const double without = dense_evidence(y, effects);
  effects[1].variance = variance;
  CHECK(std::abs(without + nats - dense_evidence(y, effects)) < 1e-10);
  CHECK(evidence.log_evidence() == oracle::relative(dense_evidence(y, effects), 1e-12));
}

TEST_CASE("relevance: a row of weight w is w equal rows") {
  const Matrix x = random_matrix(120, 30, 4);
  const Matrix noise = random_matrix(120, 1, 5);
  const Vector y = filled(120, [&](Index n) { return std::sin(x(n, 0)) + 0.3 * x(n, 3) + 0.5 * noise(n); });
  Vector weights(120);
  std::vector<Index> repeated;
  for (Index n = 0; n < 120; ++n) {
    weights(n) = static_cast<double>(1 + n % 3);
    repeated.insert(repeated.end(), static_cast<std::size_t>(1 + n % 3), n);
  }
  const Vector by_weights = relevance_of(x, y, 1, weights),
               by_rows = relevance_of(x(repeated, Eigen::all), y(repeated), 1);
  REQUIRE(by_weights.size() == 30);
  CHECK(oracle::largest_difference(by_weights, by_rows) < 1e-9);
}

TEST_CASE("relevance: what matters among 200 inputs is found, alone or in a pair; all where all do; nothing in noise") {
  constexpr Index kRows = 500, kInputs = 200;
  using Function = std::function<double(const Eigen::RowVectorXd&)>;
  const std::pair<Function, std::vector<Index>> functions[] = {
      {[](const auto& x) { return std::sin(2 * x(0)) + 0.5 * x(1); }, {0, 1}},
      {[](const auto& x) { return x(3) * x(3); }, {3}},
      {[](const auto& x) { return x(5) * x(7); }, {5, 7}},
      {[](const auto& x) { return x(199) > 0 ? 1.0 : 0.0; }, {199}},
      {[](const auto&) { return 0.0; }, {}}};
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Matrix x = random_matrix(kRows, kInputs, 10 + seed), noise = random_matrix(kRows, 1, 20 + seed);
    for (const auto& [f, expected] : functions) {
      Matrix y = 0.5 * noise;
      for (Index n = 0; n < kRows; ++n) y(n) += f(x.row(n));
      CHECK(found(x, y) == expected);
    }
    const Matrix few = x.leftCols(20);
    Matrix sum = Matrix::Zero(kRows, 1);
    for (Index j = 0; j < 20; ++j)
      for (Index n = 0; n < kRows; ++n) sum(n) += std::sin(x(n, j));
    CHECK(found(few, sum + noise).size() == 20);
    // Many small effects: none is found alone, or those that are leave the others alive.
    const Vector relevance = relevance_of(x, 0.1 * x * random_matrix(kInputs, 1, 30 + seed) + 0.5 * noise, 1);
    CHECK((relevance.size() == 0 || relevance.minCoeff() >= 0.01));
    Matrix both(kRows, 2);  // targets of which each has an input of its own
    both << x.col(2) + noise, x.col(4).cwiseAbs() + 0.5 * noise;
    CHECK(found(x, both) == std::vector<Index>{2, 4});
  }
  const Matrix x = random_matrix(200, 30, 7);  // nothing is left of targets without noise
  CHECK(found(x, x.col(0) + x.col(1)) == std::vector<Index>{0, 1});
  for (const auto& [rows, inputs] : {std::pair<Index, Index>{100, 10}, {1000, 20}}) {  // models tell by themselves
    const Matrix few = random_matrix(rows, inputs, 3);
    CHECK(relevance_of(few, few.col(0), 1).size() == 0);
  }
}
