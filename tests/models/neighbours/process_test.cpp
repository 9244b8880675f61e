#include "models/neighbours/process.h"

#include <doctest/doctest.h>

#include <cmath>

#include "models/neighbours/kernel_choice.h"
#include "tests/oracles/plain_matrix.h"
#include "tests/oracles/random_matrices.h"
#include "tests/oracles/relative.h"
#include "tests/oracles/scores.h"

namespace {

using namespace dma;
using oracle::filled, oracle::random_matrix, oracle::PlainMatrix;

// The covariance of the line and the process at rows and at others, entry by entry.
PlainMatrix covariance_of_values(const NeighbourKernel& k, const LinePrior& line, const Matrix& rows,
                                 const Matrix& others) {
  return filled(rows.rows(), others.rows(), [&](Index i, Index j) {
    double square = 0, sum = line.constant;
    for (Index c = 0; c < rows.cols(); ++c) {
      square += std::pow((rows(i, c) - others(j, c)) / k.lengthscales(c), 2);
      sum += line.slope * line.relevance(c) * rows(i, c) * others(j, c);
    }
    const double d = std::sqrt(5 * square);
    return sum + k.signal * (1 + d + d * d / 3) * std::exp(-d);
  });
}

PlainMatrix with_noise(PlainMatrix covariance, const NeighbourKernel& k, const Vector& weights) {
  for (std::size_t n = 0; n < covariance.rows(); ++n)
    covariance(n, n) += k.noise / (weights.size() > 0 ? weights(static_cast<Index>(n)) : 1);
  return covariance;
}

double dense_log_evidence(const ProcessRows& table, const NeighbourKernel& kernel, const LinePrior& line) {
  const PlainMatrix all = with_noise(covariance_of_values(kernel, line, table.rows, table.rows), kernel, table.weights),
                    y(table.targets);
  return -0.5 * (dot(y, all.solve(y)) + all.log_determinant() + static_cast<double>(all.rows()) * std::log(2 * M_PI));
}

struct ProcessExample {
  ProcessRows table{random_matrix(40, 3, 1), random_matrix(40, 1, 2)};
  NeighbourKernel kernel{Vector::LinSpaced(3, 0.8, 2.5), 1.3, 0.07};
  LinePrior line{Vector::LinSpaced(3, 1, 0.2), 0.6, 0.9};

  // With all logarithms of the kernel and of the slopes' prior variance.
  double evidence_at(const Vector& logs, Vector& gradient) const {
    LinePrior other = line;
    other.slope = std::exp(logs(5));
    return log_evidence(table, NeighbourKernel::from_logs(logs.head(5)), other, gradient);
  }
};

}  // namespace

TEST_CASE("process: its evidence is that of a dense Gaussian, with the gradient of finite differences") {
  ProcessExample one;
  for (const bool weighted : {false, true}) {
    if (weighted) one.table.weights = filled(40, [](Index n) { return 0.5 + 0.1 * static_cast<double>(n); });
    Vector gradient, unused, logs(6);
    logs << one.kernel.logs(), std::log(one.line.slope);
    const double value = one.evidence_at(logs, gradient);
    if (!weighted) CHECK(std::abs(value - dense_log_evidence(one.table, one.kernel, one.line)) < 1e-9);
    constexpr double kStep = 1e-5;
    for (Index i = 0; i < logs.size(); ++i) {
      Vector up = logs, down = logs;
      up(i) += kStep, down(i) -= kStep;
      const double slope = (one.evidence_at(up, unused) - one.evidence_at(down, unused)) / (2 * kStep);
      CHECK(std::abs(gradient(i) - slope) < 1e-6 * (1 + std::abs(slope)));
    }
  }
}

TEST_CASE("process: a row of weight w has the evidence of w equal rows") {
  const ProcessExample one;
  const Vector weights = filled(40, [](Index n) { return static_cast<double>(1 + n % 3); });
  std::vector<Index> repeated;
  for (Index n = 0; n < 40; ++n) repeated.insert(repeated.end(), static_cast<std::size_t>(weights(n)), n);
  ProcessRows few = one.table;
  few.weights = weights;
  Vector gradient, of_repeated;
  const double value = log_evidence(few, one.kernel, one.line, gradient),
               expected = log_evidence(one.table.some(repeated), one.kernel, one.line, of_repeated);
  CHECK(std::abs(value - expected) < 1e-8);
  for (Index i = 0; i < gradient.size(); ++i) CHECK(std::abs(gradient(i) - of_repeated(i)) < 1e-7);
}

TEST_CASE("process: predictions are those of the dense Gaussian, whether the line is learned or told") {
  ProcessExample one;
  one.table.weights = filled(40, [](Index n) { return 0.5 + 0.1 * static_cast<double>(n); });
  Matrix fresh = random_matrix(15, 3, 3);
  fresh.row(0) *= 100;  // far away, where the line is all there is
  const PlainMatrix all = with_noise(covariance_of_values(one.kernel, one.line, one.table.rows, one.table.rows),
                                     one.kernel, one.table.weights),
                    across = covariance_of_values(one.kernel, one.line, fresh, one.table.rows),
                    own = covariance_of_values(one.kernel, one.line, fresh, fresh), gains = across * all.inverse(),
                    mean = gains * PlainMatrix(one.table.targets), explained = gains * across.transpose();
  const TableProcess learned(one.table, one.kernel, one.line), told(one.table, one.kernel, learned.line());
  for (const ProcessBeliefs& found : {learned.at(fresh), told.at(fresh)})
    for (std::size_t i = 0; i < 15; ++i) {
      const auto at = static_cast<Index>(i);
      CHECK(std::abs(found.mean(at) - mean[i]) < 1e-8 * (1 + std::abs(mean[i])));
      CHECK(std::abs(found.variance(at) - (own(i, i) - explained(i, i))) < 1e-8 * own(i, i));
    }
}

TEST_CASE("process: a row that is left out is what the others say, learned without it") {
  ProcessExample one;
  one.table.weights = filled(40, [](Index n) { return 0.5 + 0.1 * static_cast<double>(n); });
  const std::vector<Index> own = {31, 4, 17};
  const ProcessBeliefs found = left_out(one.table, one.kernel, one.line, own);
  for (std::size_t i = 0; i < own.size(); ++i) {
    std::vector<Index> others;
    for (Index n = 0; n < 40; ++n)
      if (n != own[i]) others.push_back(n);
    const ProcessBeliefs expected =
        TableProcess(one.table.some(others), one.kernel, one.line).at(one.table.rows.row(own[i]));
    CHECK(std::abs(found.mean(static_cast<Index>(i)) - expected.mean(0)) < 1e-9);
    CHECK(std::abs(found.variance(static_cast<Index>(i)) - expected.variance(0)) < 1e-9);
  }
}

TEST_CASE("process: the kernel of most evidence is found near the one that made the table") {
  // Drawn from the process itself: a column that matters, one that does not.
  const Index count = 400;
  const NeighbourKernel made{Vector{{0.9, 40.0}}, 1.5, 0.04};
  const LinePrior line{Vector::Ones(2), 0.5, 0.1};
  const Matrix rows = random_matrix(count, 2, 5);
  const PlainMatrix root = with_noise(covariance_of_values(made, line, rows, rows), made, {}).lower_root();
  const Vector drawn = (root * PlainMatrix(random_matrix(count, 1, 6))).vector();
  KernelChoice choice{.relevance = Vector::Ones(2)};
  const auto [kernel, slopes] = likeliest_process({rows, drawn}, choice);
  CHECK(kernel.noise == oracle::relative(made.noise, 0.25));
  CHECK(std::abs(std::log(kernel.lengthscales(0) / made.lengthscales(0))) < 0.6);
  CHECK(kernel.lengthscales(1) > 8);
  Vector unused;
  CHECK(log_evidence({rows, drawn}, kernel, slopes, unused) > log_evidence({rows, drawn}, made, line, unused) - 1);
  // A floor of the noise that is above what made the table is kept.
  choice.least_noise = 0.3;
  CHECK(likeliest_process({rows, drawn}, choice).kernel.noise >= 0.3);
}
