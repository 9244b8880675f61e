// A posterior as the prior of rows that come later.
#include "tests/engine/learn/gaussian/learned_graphs.h"
#include "tests/oracles/network_rows.h"

namespace {

using oracle::LinearRows, oracle::PlainMatrix, oracle::largest_difference, oracle::largest_size, oracle::network_rows,
    oracle::random_matrix;

RowData later_rows(Index count, Index inputs, std::uint64_t seed) {
  const Matrix draws = random_matrix(count, inputs + 1, seed);  // the last column is noise
  RowData data{draws.leftCols(inputs), Matrix(count, 1)};
  for (Index i = 0; i < count; ++i)
    data.targets(i, 0) = std::sin(draws(i, 0)) + 0.5 * draws(i, 1) + 0.1 * draws(i, inputs);
  return data;
}

RowData together(const RowData& a, const RowData& b) {
  const Index first = a.rows.rows(), all = first + b.rows.rows();
  RowData both{Matrix(all, a.rows.cols()), Matrix(all, 1)};
  for (Index i = 0; i < all; ++i) {
    const auto& [from, at] = i < first ? std::pair(&a, i) : std::pair(&b, i - first);
    for (Index j = 0; j < both.rows.cols(); ++j) both.rows(i, j) = from->rows(at, j);
    both.targets(i, 0) = from->targets(at, 0);
  }
  return both;
}

double norm_between(const PlainMatrix& a, const PlainMatrix& b) { return (a - b).norm(); }
PlainMatrix gram_of(const PlainMatrix& factor) { return factor * factor.transpose(); }

SharedPosterior learned(const RowModel& model, const SharedPrior& prior, const RowData& data,
                        std::unique_ptr<Curvature> curvature, const Vector& start) {
  SharedState state{.mean = start, .noise = {LogLinearNoise::constant(0.04)}};
  fit_shared(model, data, prior, {.epochs = 60, .learn_noise = false, .learn_scale = false, .least_gain = 0}, state,
             *curvature);
  return SharedPosterior::of(data, state, *curvature, 0);
}

}  // namespace

TEST_CASE("update: of a linear model it is the posterior of all rows, from either form") {
  const LinearRows model(3, 1);
  const SharedPrior prior{Vector::Zero(4), Vector::Constant(4, 0.7)};
  const RowData first = later_rows(20, 3, 1), more = later_rows(15, 3, 2);
  const SharedPosterior all = learned(model, prior, together(first, more), make_primal(), Vector::Zero(4));
  for (const bool by_rows : {false, true}) {
    const SharedPosterior before = learned(model, prior, first, by_rows ? make_dual() : make_primal(), Vector::Zero(4));
    CHECK((before.factor.size() == 0) == by_rows);
    const SharedUpdate update = before.updated(model, prior, more, std::nullopt);
    CHECK(update.settled);
    const SharedPosterior& after = update.posterior;
    CHECK(norm_between(after.state.mean, all.state.mean) < 1e-9);
    CHECK(norm_between(gram_of(after.factor), gram_of(all.factor)) < 1e-9 * gram_of(all.factor).norm());
    CHECK(after.rows.size() == 0);
  }
}

TEST_CASE("update: with fewer rows than scalars it stays by rows, and is what the whole matrix says") {
  const LinearRows line(9, 1);
  const SharedPrior flat{Vector::Zero(10), Vector::LinSpaced(10, 0.2, 3)};
  RowData first = later_rows(4, 9, 1), more = later_rows(3, 9, 2), all = together(first, more);
  first.weights = Vector::LinSpaced(4, 0.5, 2), all.weights = Vector::Ones(7), all.weights.head(4) = first.weights;
  const SharedPosterior known = learned(line, flat, first, make_dual(), Vector::Zero(10)),
                        expected = learned(line, flat, all, make_primal(), Vector::Zero(10)),
                        found = known.updated(line, flat, more, std::nullopt).posterior;
  CHECK(norm_between(found.state.mean, expected.state.mean) < 1e-9);
  CHECK(found.factor.size() == 0);
  CHECK(found.rows == all.rows);
  const RowBeliefs a = found.predict(line, flat, later_rows(6, 9, 3).rows),
                   b = expected.predict(line, flat, later_rows(6, 9, 3).rows);
  CHECK(largest_difference(a.variance, b.variance) < 1e-10);

  const RowProgram network = network_rows({.layers = {2, 12, 1}, .slopes = {0.1}, .smoothing = 1});
  const SharedPrior prior = network.prior();
  const Vector start = 0.5 * random_matrix(network.scalars(), 1, 3);
  SharedPosterior before = learned(network, prior, later_rows(20, 2, 4), make_dual(), start), whole = before;
  whole.factor = before.precision_factor(network, prior), whole.rows.resize(0, 0);
  const RowData later = later_rows(9, 2, 5);
  const SharedUpdate by_rows = before.updated(network, prior, later, 20),
                     by_matrix = whole.updated(network, prior, later, 20);
  CHECK(by_rows.posterior.factor.size() == 0);
  CHECK(by_matrix.posterior.factor.size() > 0);
  // Steps end at a hundredth of a standard deviation.
  CHECK(norm_between(by_rows.posterior.state.mean, by_matrix.posterior.state.mean) < 1e-3);
  CHECK(norm_between(by_rows.left_out.variance, by_matrix.left_out.variance) < 1e-3);
}

TEST_CASE("update: of a network it is the lowest point of the prior Gaussian and the new rows") {
  const RowProgram model = network_rows({.layers = {2, 4, 1}, .slopes = {0.1}});
  const SharedPrior prior = model.prior();
  const Vector start = 0.5 * random_matrix(model.scalars(), 1, 3);
  const SharedPosterior before = learned(model, prior, later_rows(60, 2, 4), make_primal(), start);
  const RowData more = later_rows(30, 2, 5);
  const SharedPosterior after = before.updated(model, prior, more, std::nullopt).posterior;
  const PlainMatrix precision = gram_of(before.factor);
  const auto objective = [&](const Vector& at) {
    Matrix f;
    model.evaluate(at, more.rows, f);
    const PlainMatrix moved = PlainMatrix(at) - before.state.mean;
    return 0.5 * dot(moved, precision * moved) + 0.5 / 0.04 * std::pow(norm_between(more.targets, f), 2);
  };
  const double lowest = objective(after.state.mean);
  CHECK(lowest < objective(before.state.mean));
  for (Index i = 0; i < model.scalars(); ++i) {  // the slope along every scalar, by differences
    Vector there = after.state.mean, here = there;
    there[i] += 1e-5, here[i] -= 1e-5;
    const double sd = 1 / PlainMatrix(after.factor).row(i).norm();  // given the others
    CHECK(sd * std::abs(objective(there) - objective(here)) / 2e-5 < 0.02);
  }
}

TEST_CASE("update: the noise is that of all rows together") {
  const LinearRows model(2, 1);
  const SharedPrior prior{Vector::Zero(3), Vector::Constant(3, 0.7)};
  RowData first = later_rows(200, 2, 1), more = later_rows(400, 2, 2);
  const Vector noise = random_matrix(600, 1, 6);
  for (Index i = 0; i < 400; ++i) more.targets(i) = more.rows(i, 0) - more.rows(i, 1) + 0.5 * noise(i);
  for (Index i = 0; i < 200; ++i) first.targets(i) = first.rows(i, 0) - first.rows(i, 1) + 0.2 * noise(400 + i);
  const SharedUpdate update =
      learned(model, prior, first, make_primal(), Vector::Zero(3)).updated(model, prior, more, 200);
  CHECK(update.settled);
  CHECK(std::exp(update.posterior.state.noise[0].beta(0)) == oracle::relative((200 * 0.04 + 400 * 0.25) / 600, 0.1));
  CHECK(norm_between(more.targets, update.left_out.mean) / 20 == oracle::relative(0.5, 0.1));

  // A row that lies 100 standard deviations off is an event of heavy tails, not news of the noise of all rows.
  SharedPosterior tailed = learned(model, prior, first, make_primal(), Vector::Zero(3));
  tailed.tails = {{.degrees = 3, .scale = 0.5}};
  RowData off = first.some({0, 1, 2});
  off.targets(1) += 20;
  const double level = std::exp(tailed.updated(model, prior, off, 200).posterior.state.noise[0].beta(0)) / 0.04;
  CHECK(level > 0.97);
  CHECK(level < 1.03);
}

TEST_CASE("update: a new row of weight w is w rows, by a matrix and by rows, to mean, covariance and noise") {
  const RowProgram network = network_rows({.layers = {2, 12, 1}, .slopes = {0.1}, .smoothing = 1});
  const SharedPrior prior = network.prior();
  const Vector start = draw(prior, 3);
  RowData more = later_rows(6, 2, 5);
  const RowData repeated = together(more, more.some({1, 4, 4}));
  more.weights = Vector{{1, 2, 1, 1, 3, 1}};
  const Matrix fresh = later_rows(5, 2, 6).rows;
  for (const bool by_rows : {false, true}) {
    CAPTURE(by_rows);
    const SharedPosterior known =
        learned(network, prior, later_rows(20, 2, 4), by_rows ? make_dual() : make_primal(), start);
    for (const std::optional<Index> count : {std::optional<Index>(20), std::optional<Index>()}) {
      const SharedUpdate a = known.updated(network, prior, more, count),
                         b = known.updated(network, prior, repeated, count);
      CHECK((a.posterior.factor.size() == 0) == by_rows);
      CHECK(a.posterior.state.noise[0].beta(0) == oracle::relative(b.posterior.state.noise[0].beta(0), 1e-3));
      const RowBeliefs of_a = a.posterior.predict(network, prior, fresh),
                       of_b = b.posterior.predict(network, prior, fresh);
      // Steps end at a hundredth of a standard deviation.
      CHECK(largest_difference(of_a.mean, of_b.mean) < 2e-3);
      CHECK(largest_difference(of_a.variance, of_b.variance) < 1e-2 * largest_size(of_b.variance));
    }
    // A row leaves with all of its weight: as if the others alone had come, but for where the network is linearised.
    const SharedUpdate whole = known.updated(network, prior, more, std::nullopt),
                       others = known.updated(network, prior, more.some({0, 1, 2, 3, 5}), std::nullopt);
    const RowBeliefs left = others.posterior.predict(network, prior, more.rows.row(4));
    CHECK(whole.left_out.mean(4) == oracle::relative(left.mean(0), 0.02));
    CHECK(whole.left_out.variance(4) == oracle::relative(left.variance(0), 0.2));
  }
}

TEST_CASE("update: rows that cannot be told in numbers are refused") {
  const LinearRows model(3, 1);
  const SharedPrior prior{Vector::Zero(4), Vector::Constant(4, 0.7)};
  const SharedPosterior before = learned(model, prior, later_rows(20, 3, 1), make_primal(), Vector::Zero(4));
  RowData far = later_rows(5, 3, 2);
  far.rows(2, 1) = 1e200;
  CHECK_THROWS_WITH_AS(before.updated(model, prior, far, std::nullopt), doctest::Contains("wrong units"), Error);
}
