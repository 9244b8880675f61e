#include "engine/learn/gaussian/curvature/tiles.h"

#include <doctest/doctest.h>

#include <cmath>

#include "engine/learn/gaussian/curvature/curvature.h"
#include "tests/oracles/linear_rows.h"
#include "tests/oracles/scores.h"

namespace {

using namespace dma;

Matrix product_of(const Matrix& a, const Matrix& b) { return a * b; }

// Numbers without a pattern, from a formula.
Matrix numbers(Index rows, Index columns) {
  return oracle::filled(rows, columns, [](Index i, Index j) {
    return std::sin(0.7 * static_cast<double>(i * i + 3 * j) + static_cast<double>(j));
  });
}

}  // namespace

TEST_CASE("tiles: products, factors and inverses are Eigen's, and the same bytes on any number of threads") {
  for (const Index size : {1, 63, 64, 65, 200}) {
    CAPTURE(size);
    const std::vector<Matrix> gains = {numbers(300, size), numbers(17, size)};
    Matrix expected = Matrix::Identity(size, size) * 5.0;
    for (const Matrix& block : gains) expected += product_of(block.transpose(), block);
    Matrix first_factor, first_inverse;
    for (const std::size_t jobs : {1u, 2u, 3u}) {
      ThreadPool pool(jobs);
      Matrix sum = Matrix::Identity(size, size) * 5.0;
      add_gram(gains, sum, pool);
      CHECK(oracle::farthest(sum.selfadjointView<Eigen::Lower>(), expected) < 1e-10);
      factorise(sum, pool);
      Matrix factor = sum.triangularView<Eigen::Lower>();
      CHECK(oracle::farthest(product_of(factor, factor.transpose()), expected) < 1e-10);
      Matrix inverse = triangular_inverse(factor, pool);
      CHECK(oracle::farthest(product_of(inverse, factor), Matrix::Identity(size, size)) < 1e-9);
      if (jobs == 1) first_factor = factor, first_inverse = inverse;
      CHECK(factor == first_factor);
      CHECK(inverse == first_inverse);
    }
  }
}

TEST_CASE("tiles: a matrix that is not positive definite has a factor that is no number") {
  ThreadPool pool(1);
  Matrix m = Matrix::Identity(100, 100);
  m(80, 80) = -1;
  factorise(m, pool);
  CHECK(std::isnan(m.diagonal().array().log().sum()));
}

TEST_CASE("curvature: blocks of rows shared by threads give the same bytes, by workers the same up to rounding") {
  const oracle::LinearRows model(30, 2);
  const RowData data{numbers(1700, 30), numbers(1700, 2)};
  const Vector m = Vector::Constant(model.scalars(), 0.1), lambda = Vector::Constant(model.scalars(), 2.0),
               noise = Vector::Constant(data.count(), 0.5);
  const auto assembled = [&](std::size_t jobs, std::size_t workers) {
    auto curvature = make_primal();
    curvature->use_threads(jobs, local_team(workers));
    curvature->assemble(model, data, m, lambda, noise);
    return curvature;
  };
  const auto alone = assembled(1, 1);
  for (const std::size_t jobs : {2u, 3u}) {
    const auto shared = assembled(jobs, 1);
    CHECK(shared->gradient() == alone->gradient());
    CHECK(shared->precision_factor() == alone->precision_factor());
    CHECK(shared->one_minus_leverage() == alone->one_minus_leverage());
    CHECK(shared->step(alone->gradient(), 0.3) == alone->step(alone->gradient(), 0.3));
  }
  const auto workers = assembled(1, 3), same = assembled(2, 3);
  CHECK(oracle::farthest(workers->precision_factor(), alone->precision_factor()) < 1e-9);
  CHECK(workers->residuals() == alone->residuals());
  CHECK(workers->precision_factor() == same->precision_factor());
}
