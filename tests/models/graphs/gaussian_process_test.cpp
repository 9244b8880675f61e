// Gaussian processes against the formulas of regression by dense matrices, and posteriordb's reference draws.
#include <doctest/doctest.h>

#include <cmath>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "engine/joint/joint.h"
#include "engine/run/run.h"
#include "engine/support/text.h"
#include "factors/standard_registry.h"
#include "models/graphs/expressions.h"
#include "tests/oracles/plain_matrix.h"
#include "tests/oracles/relative.h"

namespace {

using namespace dma;
using oracle::PlainMatrix;

double covariance(const ProcessCovariance& form, double d) {
  const double t3 = std::sqrt(3.0) * d, t5 = std::sqrt(5.0) * d;
  const double shape = form.shape == "matern12"   ? std::exp(-d)
                       : form.shape == "matern32" ? (1 + t3) * std::exp(-t3)
                       : form.shape == "matern52" ? (1 + t5 + 5 * d * d / 3) * std::exp(-t5)
                                                  : std::exp(-d * d / 2);
  return form.sd * form.sd * shape;
}

// The first places are observed with noise, the others are new.
struct Made {
  std::size_t size, seen, columns;
  std::vector<double> places, y;
  double noise = 0.04;

  Made(std::size_t all, std::size_t observed, std::size_t width, unsigned seed)
      : size(all), seen(observed), columns(width) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> place(0, 5);
    std::normal_distribution<double> error;
    for (std::size_t i = 0; i < size * columns; ++i) places.push_back(place(random));
    for (std::size_t i = 0; i < seen; ++i) y.push_back(std::sin(2 * places[i * columns]) + 0.2 * error(random));
  }
  PlainMatrix matrix(const ProcessCovariance& form) const {
    PlainMatrix k(size, size);
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t j = 0; j < size; ++j) {
        double square = 0;
        for (std::size_t c = 0; c < columns; ++c) {
          const double length = form.lengths[form.lengths.size() == 1 ? 0 : c];
          square += std::pow((places[i * columns + c] - places[j * columns + c]) / length, 2);
        }
        k(i, j) = covariance(form, std::sqrt(square));
      }
    return k;
  }
};

struct Found {
  Belief f;
  double log_evidence;
};
Found found_by_joint(const Made& made, const ProcessCovariance& form, std::size_t neighbours) {
  Graph g;
  const VariableId f = g.variable("f", made.size), y = g.observed("y", made.seen);
  gaussian_process(g, f, made.places, form, neighbours);
  std::vector<std::uint32_t> first;
  for (std::uint32_t i = 0; i < made.seen; ++i) first.push_back(i);
  g.factor("gaussian_noise", {gather(f, first), y}, {{"variance", made.noise}});
  const Plan plan = compile(g, joint(), standard_registry());
  State state(plan);
  state.observe(y, made.y);
  CHECK(run(plan, state).stop == Report::Stop::exact);
  return {state.belief(f), JointPosterior(state).log_evidence()};
}

void check(const Made& made, const ProcessCovariance& form, const Found& found, double tolerance) {
  const PlainMatrix k = made.matrix(form), across = k.block(0, 0, made.size, made.seen);
  PlainMatrix seen = k.block(0, 0, made.seen, made.seen);
  for (std::size_t i = 0; i < made.seen; ++i) seen(i, i) += made.noise;
  const PlainMatrix y = PlainMatrix::column(made.y), mean = across * seen.solve(y);
  const PlainMatrix less = across * seen.solve(across.transpose());
  for (std::size_t i = 0; i < made.size; ++i) {
    CHECK(std::abs(found.f.mean(i) - mean[i]) < tolerance * form.sd);
    CHECK(found.f.variance(i) == oracle::relative(k(i, i) - less(i, i), tolerance));
  }
  const double quadratic = (y.transpose() * seen.solve(y))[0];
  const double log_2pi = std::log(2 * std::numbers::pi) * static_cast<double>(made.seen);
  CHECK(std::abs(found.log_evidence + 0.5 * (quadratic + seen.log_determinant() + log_2pi)) <
        tolerance * static_cast<double>(made.seen));
}

}  // namespace

TEST_CASE("gaussian process: means, variances and evidence are those of dense matrices") {
  for (const char* shape : {"squared_exponential", "matern12", "matern32", "matern52"})
    for (const std::size_t columns : {1u, 3u}) {
      CAPTURE(shape);
      CAPTURE(columns);
      const Made made(40, 30, columns, 7);
      ProcessCovariance form{.shape = shape, .sd = 1.5, .lengths = {0.8}};
      if (columns == 3) form.lengths = {0.8, 2, 4};
      check(made, form, found_by_joint(made, form, 0), 1e-6);
    }
}

TEST_CASE("gaussian process: a Markov process needs one neighbour, a smooth one in the plane some") {
  const Made line(60, 45, 1, 3);
  const ProcessCovariance rough{.shape = "matern12", .sd = 1.2, .lengths = {2}};
  check(line, rough, found_by_joint(line, rough, 1), 1e-6);
  const Made plane(300, 200, 2, 4);
  const ProcessCovariance smooth{.shape = "matern32", .sd = 1, .lengths = {1.5}};
  check(plane, smooth, found_by_joint(plane, smooth, 30), 0.02);
}

// posteriordb's gp_regr and gp_pois_regr, means and standard deviations of 10,000 reference draws.
TEST_CASE("gaussian process: unknown sd and length, below noise and below counts") {
  const std::vector<double> x{-10, -8, -6, -4, -2, 0, 2, 4, 6, 8, 10};
  const std::vector<double> y{4.75906, 1.59423, 2.99548, 5.27501,  1.66472, 2.24347,
                              2.8914,  4.08681, 4.60588, 0.802364, 3.92136};
  const std::vector<double> k{40, 37, 29, 12, 4, 3, 9, 19, 77, 82, 33};
  for (const bool of_counts : {false, true}) {
    CAPTURE(of_counts);
    Graph g;
    const VariableId f = g.variable("f", x.size()), seen = g.observed("seen", x.size());
    const GaussianProcess process = gaussian_process(g, f, x, {.sd = 2, .lengths = {6}});
    JointOptions options;
    if (of_counts) {
      g.factor("poisson", {f, seen});
    } else {
      const FactorId noise = g.factor("gaussian_noise", {f, seen}, {{"variance", 1.0}});
      options.hypers = {hyper("sigma", HyperPrior::half_normal(1), {{noise, "variance"}})};
    }
    learn_process(options, "f", process, HyperPrior::half_normal(2), HyperPrior::gamma(25, 4));
    const Plan plan = compile(g, joint(options), standard_registry());
    State state(plan);
    state.observe(seen, of_counts ? k : y);
    CHECK(run(plan, state).converged());
    const JointPosterior posterior(state);
    const HyperBelief sd = posterior.hyper("f.sd"), length = posterior.hyper("f.length");
    const auto near = [](double mean, double width, double expected, double expected_width) {
      CHECK(std::abs(mean - expected) < 0.05 * expected_width);
      CHECK(width == oracle::relative(expected_width, 0.04));
    };
    near(sd.mean(), sd.sd(), of_counts ? 2.9213 : 2.4424, of_counts ? 0.793 : 0.782);
    near(length.mean(), length.sd(), of_counts ? 5.6665 : 6.8743, of_counts ? 0.679 : 1.27);
    if (of_counts) near(state.belief(f).mean(4), state.belief(f).sd(4), 1.5615, 0.247);
    if (!of_counts) near(posterior.hyper("sigma").mean(), posterior.hyper("sigma").sd(), 1.8287, 0.505);
  }
}

TEST_CASE("gaussian process: what cannot be is refused with its repair") {
  const auto message = [](std::vector<double> places, const ProcessCovariance& form) -> std::string {
    Graph g;
    const VariableId f = g.variable("f", 3);
    try {
      gaussian_process(g, f, std::move(places), form);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  CHECK(
      message({0, 1, 2}, {.shape = "matern5"}).starts_with("gaussian_process: no covariance 'matern5'; did you mean"));
  CHECK(message({0, 1}, {}) ==
        "gaussian_process: 2 numbers are no places of the 3 elements of 'f'; equally many per element are expected");
  CHECK(message({0, 1, NAN}, {}) == "gaussian_process: a place is nan; a finite number is expected");
  CHECK(message({0, 1, 2}, {.sd = 0}) == "gaussian_process: sd is 0; a positive number is expected");
  CHECK(message({0, 1, 2}, {.lengths = {1, 2}}) ==
        "gaussian_process: 2 lengths for places of 1 columns; one, or one per column, is expected");
  CHECK(message({1, 1, 1}, {}).empty());  // equal places: equal values, up to the nugget
  Graph g;
  const GaussianProcess process = gaussian_process(g, g.variable("f", 2), {0, 1}, {});
  JointOptions options;
  CHECK_THROWS_AS(learn_process(options, "f", process, HyperPrior::correlation(2), HyperPrior::half_normal(1)), Error);
}
