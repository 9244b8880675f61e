// Elimination by fronts against dense linear algebra.
#include "engine/joint/fronts.h"

#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_01.hpp>

#include "engine/joint/ordering.h"
#include "engine/support/text.h"
#include "tests/oracles/relative.h"

namespace {

using namespace dma::joint_system;
constexpr double kClose = 1e-10;

struct Problem {
  RowPattern pattern;
  std::vector<double> values, weights;
  boost::random::mt19937_64 random{7};

  double uniform() { return boost::random::uniform_01<double>()(random); }
  void add(std::vector<std::uint32_t> columns, double weight = 1) {
    pattern.columns.insert(pattern.columns.end(), columns.begin(), columns.end());
    pattern.end_row();
    weights.push_back(weight);
  }
  // Draws numbers once the columns of the rows have their final order.
  void draw() {
    for (std::size_t k = 0; k < pattern.columns.size(); ++k) values.push_back(2 * uniform() - 1);
  }
  Rows rows() const { return {&pattern, values, weights}; }
  Eigen::MatrixXd dense(double damping = 0) const {
    Eigen::MatrixXd m = Eigen::MatrixXd::Zero(pattern.unknowns, pattern.unknowns);
    for (std::size_t r = 0; r < pattern.rows(); ++r)
      for (std::uint32_t a = pattern.first[r]; a < pattern.first[r + 1]; ++a)
        for (std::uint32_t b = pattern.first[r]; b < pattern.first[r + 1]; ++b)
          m(pattern.columns[a], pattern.columns[b]) += weights[r] * values[a] * values[b];
    m.diagonal() *= 1 + damping;
    return m;
  }
};

Problem chain(std::uint32_t steps, std::uint32_t dimensions) {
  Problem p;
  p.pattern.unknowns = steps * dimensions;
  // By dimension, then time, as the variables of a graph are stored: neighbours in time are far apart.
  const auto at = [&](std::uint32_t t, std::uint32_t d) { return d * steps + t; };
  for (std::uint32_t t = 0; t < steps; ++t)
    for (std::uint32_t d = 0; d < dimensions; ++d) {
      p.add({at(t, d)}, 0.5);
      if (t > 0 && d + 1 < dimensions) p.add({at(t, d), at(t - 1, d), at(t - 1, d + 1)}, 2);
      if (t > 0 && d + 1 == dimensions) p.add({at(t, d), at(t - 1, d)}, 3);
    }
  return p;
}

Problem scattered(std::uint32_t unknowns, std::uint32_t rows) {
  Problem p;
  p.pattern.unknowns = unknowns;
  for (std::uint32_t u = 0; u < unknowns; ++u) p.add({u}, 0.1);
  for (std::uint32_t r = 0; r < rows; ++r) {
    std::vector<std::uint32_t> columns;
    for (int k = 0; k < 3; ++k) {
      const auto c = static_cast<std::uint32_t>(p.uniform() * unknowns);
      if (std::ranges::find(columns, c) == columns.end()) columns.push_back(c);
    }
    p.add(columns, 0.2 + p.uniform());
  }
  return p;
}

Problem regression_problem(std::uint32_t unknowns, std::uint32_t rows) {
  Problem p;
  p.pattern.unknowns = unknowns;
  std::vector<std::uint32_t> all(unknowns);
  for (std::uint32_t u = 0; u < unknowns; ++u) p.add({u}, 0.3), all[u] = u;
  for (std::uint32_t r = 0; r < rows; ++r) p.add(all, 0.5 + p.uniform());
  return p;
}

void check_against_dense(Problem p, double damping = 0, bool carefully = false) {
  const Elimination e = eliminate(p.pattern, {});
  CAPTURE(e.text());
  p.draw();
  Fronts fronts(e);
  REQUIRE(fronts.factorise(p.rows(), damping));
  if (carefully) REQUIRE(fronts.factorise_by_qr(p.rows()));
  const Eigen::MatrixXd m = p.dense(damping), inverse = m.inverse();
  const auto n = static_cast<Eigen::Index>(p.pattern.unknowns);
  CHECK(fronts.log_determinant() ==
        oracle::relative(2 * Eigen::MatrixXd(m.llt().matrixL()).diagonal().array().log().sum(), 1e-12));
  Eigen::VectorXd x(n), room(n);
  for (Eigen::Index i = 0; i < n; ++i) x[i] = p.uniform();
  const Eigen::VectorXd expected = inverse * x;
  fronts.solve({x.data(), p.pattern.unknowns}, {room.data(), p.pattern.unknowns});
  CHECK((x - expected).cwiseAbs().maxCoeff() < kClose * expected.cwiseAbs().maxCoeff());
  fronts.invert();
  double error = 0;
  for (std::uint32_t u = 0; u < p.pattern.unknowns; ++u)
    error = std::max(error, std::abs(fronts.variance(u) - inverse(u, u)) / inverse(u, u));
  std::vector<std::uint32_t> local;
  std::vector<double> zeros;
  for (std::size_t r = 0; r < p.pattern.rows(); ++r) {
    const auto row = p.pattern.row(r);
    if (row.empty()) continue;
    Eigen::VectorXd a = Eigen::VectorXd::Zero(n);
    for (std::size_t k = 0; k < row.size(); ++k) a[row[k]] = p.values[p.pattern.first[r] + k];
    const double exact = a.dot(inverse * a);
    const std::span values(p.values.data() + p.pattern.first[r], row.size());
    REQUIRE(fronts.common_front(row, local) == e.front_of_row[r]);
    CHECK(std::ranges::equal(local, std::span(e.local.data() + p.pattern.first[r], row.size())));
    error = std::max(error, std::abs(fronts.quadratic(e.front_of_row[r], local, values) - exact) / exact);
    error = std::max(error, std::abs(fronts.quadratic(row, values, zeros) - exact) / exact);
    const double scale = std::sqrt(inverse(row[0], row[0]) * inverse(row.back(), row.back()));
    error = std::max(error, std::abs(*fronts.entry(row[0], row.back()) - inverse(row[0], row.back())) / scale);
  }
  CHECK(error < kClose);
  CHECK(std::ranges::all_of(zeros, [](double left) { return left == 0; }));
}

}  // namespace

TEST_CASE("fronts: chains, scattered and full rows are solved, inverted and have their determinant") {
  for (const std::uint32_t dimensions : {1u, 2u, 4u}) check_against_dense(chain(60, dimensions));
  check_against_dense(scattered(200, 150));
  check_against_dense(scattered(300, 600));
  check_against_dense(regression_problem(10, 30));
  check_against_dense(regression_problem(130, 300));
  check_against_dense(chain(50, 3), 0.7);
  check_against_dense(regression_problem(60, 70), 0.3);
}

TEST_CASE("fronts: the careful factor is the same one") {
  for (const std::uint32_t dimensions : {1u, 3u}) check_against_dense(chain(60, dimensions), 0, true);
  check_against_dense(scattered(200, 150), 0, true);
  check_against_dense(regression_problem(130, 300), 0, true);
}

TEST_CASE("fronts: every small shape of a front is eliminated, solved and inverted") {
  // Stars of `own` leaves that all meet each other and `below` centres: dense fronts of every shape up to 8, and some
  // larger ones.
  for (std::uint32_t own = 1; own <= 9; ++own)
    for (std::uint32_t below = 1; own + below <= 10; ++below) {
      Problem p;
      constexpr std::uint32_t kStars = 12;
      p.pattern.unknowns = kStars * own + below;
      for (std::uint32_t u = 0; u < p.pattern.unknowns; ++u) p.add({u}, 0.5);
      for (std::uint32_t s = 0; s < kStars; ++s) {
        std::vector<std::uint32_t> all;
        for (std::uint32_t i = 0; i < own; ++i) all.push_back(s * own + i);
        for (std::uint32_t i = 0; i < below; ++i) all.push_back(kStars * own + i);
        for (int row = 0; row < 3; ++row) p.add(all, 1 + p.uniform());
      }
      check_against_dense(std::move(p));
    }
}

TEST_CASE("fronts: dense or sparse is chosen by the fill, and a chain keeps it constant per step") {
  RowPattern full = regression_problem(40, 3).pattern, none, single;
  CHECK(eliminate(full, {}).text().starts_with("dense Cholesky: 40 unknowns"));
  Problem short_chain = chain(500, 2), long_chain = chain(5000, 2);
  const Elimination a = eliminate(short_chain.pattern, {}), b = eliminate(long_chain.pattern, {});
  CHECK(a.text().starts_with("sparse Cholesky: 1000 unknowns"));
  CHECK(b.largest <= 8);
  CHECK(static_cast<double>(b.squares) < 10.5 * static_cast<double>(a.squares));
  none.unknowns = 0;
  CHECK(eliminate(none, {}).bytes() == 0);
}

TEST_CASE("fronts: undetermined directions are found, however hidden") {
  Problem p = chain(40, 2);
  p.pattern.unknowns += 3;
  p.add({80, 81});    // only their sum is known
  p.add({3, 82}, 0);  // weight 0: no effect
  const Elimination e = eliminate(p.pattern, {});
  p.draw();
  for (std::uint32_t k = p.pattern.first[p.pattern.rows() - 2]; k < p.pattern.columns.size(); ++k) p.values[k] = 1;
  Fronts fronts(e);
  CHECK(!fronts.factorise(p.rows()));
  std::vector<std::uint32_t> moved;
  const auto directions = fronts.null_directions();
  for (std::uint32_t u = 0; u < p.pattern.unknowns; ++u)
    if (std::ranges::any_of(directions, [&](const auto& d) { return std::abs(d[u]) > 1e-9; })) moved.push_back(u);
  CHECK(moved == std::vector<std::uint32_t>{80, 81, 82});
}

TEST_CASE("fronts: more memory than the limit is refused before it is taken") {
  Problem p = regression_problem(100, 1);
  CHECK_THROWS_WITH_AS(
      eliminate(p.pattern, {.bytes = 100'000}),
      "joint: 100 unknowns need 0.00024 GB, more than the limit of 0.0001 GB; raise joint({.memory = ...}) or "
      "solve by sweeps",
      dma::Error);
  Problem q = scattered(3000, 9000);
  CHECK_THROWS_AS(eliminate(q.pattern, {.bytes = 100'000}), dma::Error);
}

TEST_CASE("fronts: the memory of the ordering is checked before it starts") {
  constexpr std::uint32_t kWide = 1000;
  RowPattern sums;  // three rows that share no unknown
  for (std::uint32_t u = 0; u < 3 * kWide; ++u) {
    sums.columns.push_back(sums.unknowns++);
    if (sums.unknowns % kWide == 0) sums.end_row();
  }
  CHECK_THROWS_WITH_AS(eliminate(sums, {.bytes = 5'000'000}),
                       "joint: the factor of 3000 unknowns needs at least 0.00801 GB, more than the limit of 0.005 GB; "
                       "raise joint({.memory = ...}) or solve by sweeps",
                       dma::Error);
  CHECK(eliminate(sums, {.bytes = 100'000'000}).fronts.size() == 4);
  RowPattern pairs;
  pairs.unknowns = 3 * kWide;  // all pairs of the first 600 unknowns
  for (std::uint32_t a = 0; a < 600; ++a)
    for (std::uint32_t b = 0; b < a; ++b) {
      pairs.columns.insert(pairs.columns.end(), {b, a});
      pairs.end_row();
    }
  CHECK_THROWS_WITH_AS(eliminate(pairs, {.bytes = 5'000'000}),
                       "joint: the factor of 3000 unknowns needs at least 0.005 GB, more than the limit of 0.005 GB; "
                       "raise joint({.memory = ...}) or solve by sweeps",
                       dma::Error);
  const Indices all = different_rows(pairs);
  CHECK(neighbours(pairs, all, 600 * 599).has_value());
  CHECK_FALSE(neighbours(pairs, all, 600 * 599 - 1).has_value());
}
