#include "tests/engine/learn/gaussian/learned_graphs.h"

namespace {

using oracle::PlainMatrix, oracle::random_matrix;

constexpr double kNoiseVariance = 0.25;

struct Grouped {
  Graph graph;
  VariableId w, x, y;
  Data data(const PlainMatrix& inputs, const PlainMatrix& targets) const {
    return {{x, inputs.values()}, {y, targets.values()}};
  }
};

// y = w . x + noise; w[i] ~ N(1/2, 1 / precision[group[i]]).
Grouped grouped(const std::vector<std::uint32_t>& group, std::uint32_t groups, bool with_prior = false) {
  Graph g;
  const auto size = static_cast<std::uint32_t>(group.size());
  const auto precision = g.shared("precision", groups, "gamma"), mean = g.variable("mean"), w = g.shared("w", size),
             x = g.observed("x", size), p = g.variable("p", size), z = g.variable("z"), y = g.observed("y");
  g.factor("gaussian_prior", {mean}, {{"mean", 0.5}, {"variance", 0.0}});
  if (with_prior) g.factor("gamma_prior", {precision}, {{"shape", 3.0}, {"rate", 2.0}});
  g.factor("gaussian_precision", {all_to_one(mean), gather(precision, group), w});
  g.factor("product", {w, x, p});
  g.factor("sum", {p, z});
  g.factor("gaussian_noise", {z, y}, {{"variance", kNoiseVariance}});
  return {std::move(g), w, x, y};
}

// log N(y; X m, X A^-1 X^T + noise I), A the diagonal of precisions: the evidence by one matrix over rows.
double dense_log_evidence(const PlainMatrix& x, const PlainMatrix& y, const std::vector<std::uint32_t>& group,
                          const std::vector<double>& precision) {
  PlainMatrix covariance = kNoiseVariance * PlainMatrix::identity(x.rows()), rest = y;
  for (std::size_t n = 0; n < x.rows(); ++n)
    for (std::size_t i = 0; i < group.size(); ++i) {
      rest[n] -= 0.5 * x(n, i);
      for (std::size_t k = 0; k < x.rows(); ++k) covariance(n, k) += x(n, i) * x(k, i) / precision[group[i]];
    }
  const PlainMatrix solved = covariance.solve(rest);
  double quadratic = 0;
  for (std::size_t n = 0; n < x.rows(); ++n) quadratic += rest[n] * solved[n];
  return -0.5 * (quadratic + covariance.log_determinant());
}

// Slope of that by the logarithm of one precision.
double slope_of_evidence(const PlainMatrix& x, const PlainMatrix& y, const std::vector<std::uint32_t>& group,
                         const std::vector<double>& precision, std::size_t which) {
  constexpr double kStep = 1e-4;
  std::vector<double> less = precision, more = precision;
  less[which] *= std::exp(-kStep), more[which] *= std::exp(kStep);
  return (dense_log_evidence(x, y, group, more) - dense_log_evidence(x, y, group, less)) / (2 * kStep);
}

struct Made {
  PlainMatrix x, y;
};
Made made(std::size_t rows, const std::vector<double>& weights, std::uint64_t seed) {
  Made all{random_matrix(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(weights.size()), seed),
           0.5 * PlainMatrix(random_matrix(static_cast<Eigen::Index>(rows), 1, seed + 1))};
  for (std::size_t n = 0; n < rows; ++n)
    for (std::size_t i = 0; i < weights.size(); ++i) all.y[n] += weights[i] * all.x(n, i);
  return all;
}

const GaussianLearnOptions kLong{.epochs = 400, .least_gain = 0};

}  // namespace

TEST_CASE("precision groups: precisions of several groups are where evidence and their common prior balance") {
  const std::vector<std::uint32_t> group = {0, 1, 2, 0, 1, 2, 0, 1};
  const Grouped model = grouped(group, 3);
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Made data = made(40, {1.5, 0.6, 0.5, -1, 0.4, 0.5, 2, 0.5}, seed);
    GaussianLearner learner(model.graph, standard_registry(), {model.y}, kLong);
    const GaussianLearnReport report = learner.fit(model.data(data.x, data.y));
    REQUIRE(report.precisions.size() == 3);
    std::vector<double> found;
    double mean = 0;
    for (const auto& own : report.precisions) found.push_back(own.value), mean += std::log(own.value) / 3;
    for (std::size_t g = 0; g < 3; ++g) {
      CAPTURE(g);
      const double slope = slope_of_evidence(data.x, data.y, group, found, g), prior = std::log(found[g]) - mean;
      CHECK(std::abs(slope - prior) < 1e-4);
      CHECK(std::abs(prior) > 1e-3);  // the groups differ, or nothing is tested
    }
  }
}

TEST_CASE("precision groups: a precision of its own is the mode of evidence times its gamma prior") {
  const std::vector<std::uint32_t> group = {0, 0, 0, 0};
  const Grouped model = grouped(group, 1, true);
  const Made data = made(30, {1.5, 0.2, 0.9, -0.4}, 7);
  GaussianLearner learner(model.graph, standard_registry(), {model.y}, kLong);
  const double found = learner.fit(model.data(data.x, data.y)).precisions.at(0).value;
  // d/dlog w of (shape - 1) log w - rate w + log w.
  CHECK(std::abs(slope_of_evidence(data.x, data.y, group, {found}, 0) + 3 - 2 * found) < 1e-4);
}

TEST_CASE("precision groups: inputs without effect are switched off and named; the answer is that of fresh rows") {
  const std::vector<std::uint32_t> group = {0, 0, 0, 0, 0, 1, 1, 1, 1, 1};
  const Grouped model = grouped(group, 2);
  const Made data = made(200, {2.5, -1, 1.5, 0, 3, 0.5, 0.5, 0.5, 0.5, 0.5}, 11);  // the second group is its prior mean
  GaussianLearner learner(model.graph, standard_registry(), {model.y}, kLong);
  const GaussianLearnReport report = learner.fit(model.data(data.x, data.y));
  CHECK_FALSE(report.precisions[0].is_off());
  CHECK(report.precisions[1].value > 20 * report.precisions[0].value);
  CHECK(report.precisions[1].determined < report.precisions[0].determined);
  CHECK(report.precisions[0].scalars == 5);

  GaussianLearner loaded(model.graph, standard_registry(), {model.y}, kLong);
  loaded.load(learner.save());
  const Data some{{model.x, data.x.values()}};
  CHECK(loaded.predict(some).mean == learner.predict(some).mean);
  CHECK(loaded.predict(some).sd == learner.predict(some).sd);
}

TEST_CASE("precision groups: a graph that cannot be learned so is refused with one line") {
  const auto learner = [](const Grouped& model) { GaussianLearner(model.graph, standard_registry(), {model.y}); };
  CHECK_THROWS_WITH_AS(learner(grouped({0, 0, 2}, 3)),
                       "Gaussian learning: precision 'precision[1]' belongs to no shared scalar; leave it out", Error);
  Grouped twice = grouped({0, 0}, 1);
  twice.graph.factor("gaussian_prior", {twice.w}, {{"mean", 0.0}, {"variance", 1.0}});
  CHECK_THROWS_WITH_AS(learner(twice), "Gaussian learning: shared variable 'w' has two priors; one of them must go",
                       Error);

  Grouped other = grouped({0, 0}, 1);
  const VariableId seen = other.graph.observed("seen");
  other.graph.factor("poisson_draw", {other.graph.find_variable("precision"), seen}, {}, {.name = "draw"});
  CHECK_THROWS_WITH_AS(learner(other),
                       "Gaussian learning: 'precision' is the precision of priors, and factor 'draw' of kind "
                       "'poisson_draw' says something else of it; leave that out, or learn the graph by message "
                       "sweeps (Learner)",
                       Error);

  for (const bool is_shared : {false, true}) {
    Graph g;
    const auto precision = is_shared ? g.shared("precision", 1, "gamma") : g.variable("precision", 1, "gamma"),
               mean = g.variable("mean"), w = g.shared("w"), x = g.observed("x"), z = g.variable("z"),
               y = g.observed("y");
    g.factor("gaussian_prior", {mean}, {{"mean", 0.0}, {"variance", 1.0}});
    g.factor("gaussian_precision", {mean, precision, w});
    g.factor("product", {w, x, z});
    g.factor("gaussian_noise", {z, y}, {{"variance", 1.0}});
    CHECK_THROWS_AS(GaussianLearner(g, standard_registry(), {y}), Error);
  }
}
