#include "engine/learn/joint/joint_learner.h"

#include <doctest/doctest.h>

#include <cmath>

#include "engine/support/error.h"
#include "factors/standard_registry.h"
#include "tests/oracles/random_matrices.h"

namespace {

using namespace dma;
using oracle::random_matrix;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct Regression {
  Graph graph;
  VariableId w, x, y;
};

// y = w . x + noise, w ~ N(0.5, 2), noise variance 0.25.
Regression regression(std::size_t size) {
  Graph g;
  const auto w = g.shared("w", size), x = g.observed("x", size), p = g.variable("p", size), z = g.variable("z"),
             y = g.observed("y");
  g.factor("gaussian_prior", {w}, {{"mean", 0.5}, {"variance", 2.0}});
  g.factor("product", {w, x, p});
  g.factor("sum", {p, z});
  g.factor("gaussian_noise", {z, y}, {{"variance", 0.25}});
  return {std::move(g), w, x, y};
}

Data data_of(const Regression& r, const RowMajor& x, const Vector& y) {
  return {{r.x, {x.data(), static_cast<std::size_t>(x.size())}}, {r.y, {y.data(), static_cast<std::size_t>(y.size())}}};
}

}  // namespace

TEST_CASE("joint learner: Bayesian linear regression is the dense solution, predictions too") {
  const Regression r = regression(4);
  const Registry registry = standard_registry();
  const RowMajor x = random_matrix(20, 4, 1), fresh = random_matrix(3, 4, 3);
  const Vector y = x * Vector::LinSpaced(4, -1, 1) + 0.5 * random_matrix(20, 1, 2);
  JointLearner learner(r.graph, registry, {r.y});
  learner.fit(data_of(r, x, y));
  const Matrix precision = Matrix(x.transpose() * x) / 0.25 + Matrix::Identity(4, 4) / 2;
  const Matrix covariance = precision.inverse();
  const Vector mean = covariance * (x.transpose() * y / 0.25 + Vector::Constant(4, 0.25));
  const auto belief = learner.belief(r.w);
  for (Index i = 0; i < 4; ++i) {
    CHECK(belief[static_cast<std::size_t>(i)].mean() == doctest::Approx(mean(i)).epsilon(1e-8));
    CHECK(belief[static_cast<std::size_t>(i)].variance() == doctest::Approx(covariance(i, i)).epsilon(1e-8));
  }
  std::vector<double> means(3), variances(3);
  learner.predict({{r.x, {fresh.data(), 12}}}, means, variances);
  for (Index i = 0; i < 3; ++i) {
    CHECK(means[static_cast<std::size_t>(i)] == doctest::Approx(fresh.row(i).dot(mean)).epsilon(1e-8));
    CHECK(variances[static_cast<std::size_t>(i)] ==
          doctest::Approx(fresh.row(i).dot(covariance * fresh.row(i).transpose()) + 0.25).epsilon(1e-8));
  }
}

TEST_CASE("joint learner: rows added later and rows forgotten give what learning the rest at once gives") {
  const Regression r = regression(3);
  const Registry registry = standard_registry();
  const RowMajor x = random_matrix(12, 3, 1);
  const Vector y = random_matrix(12, 1, 2);
  JointLearner once(r.graph, registry, {r.y}), in_parts(r.graph, registry, {r.y});
  const RowMajor first = x.topRows(8), rest = x.bottomRows(4), kept = x.middleRows(2, 10);
  once.fit(data_of(r, kept, y.segment(2, 10)));
  in_parts.fit(data_of(r, first, y.head(8)));
  in_parts.fit(data_of(r, rest, y.tail(4)));
  CHECK(in_parts.rows() == 12);
  in_parts.forget(std::vector<std::size_t>{0, 1});
  CHECK(in_parts.rows() == 10);
  constexpr double kSteps = 1e-6;  // each stops where its steps no longer gain, from another start
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(in_parts.belief(r.w)[i].mean() == doctest::Approx(once.belief(r.w)[i].mean()).epsilon(kSteps));
    CHECK(in_parts.belief(r.w)[i].variance() == doctest::Approx(once.belief(r.w)[i].variance()).epsilon(kSteps));
  }
  CHECK_THROWS_WITH_AS(in_parts.forget(std::vector<std::size_t>{10}), "forget: row 10 is given, but there are only 10",
                       Error);
}

TEST_CASE("joint learner: a graph it cannot learn is refused by name") {
  const Registry registry = standard_registry();
  Graph g;
  const auto w = g.shared("w"), x = g.observed("x"), y = g.observed("y");
  g.factor("product", {w, x, y});
  CHECK_THROWS_AS(JointLearner(g, registry, {y}), Error);
  Graph h;
  const auto v = h.shared("v"), u = h.observed("u"), z = h.variable("z"), t = h.observed("t");
  h.factor("product", {v, u, z});
  h.factor("gaussian_noise", {z, t}, {{"variance", 1.0}});
  CHECK_THROWS_WITH_AS(JointLearner(h, registry, {t}),
                       "joint learning: shared variable 'v' has no Gaussian prior; give it one by gaussian_prior",
                       Error);
}
