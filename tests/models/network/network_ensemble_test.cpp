// Networks and the linear model learned from rows as one mixture.
#include <doctest/doctest.h>

#include <cmath>

#include "engine/learn/gaussian/ensemble.h"
#include "models/network/network_graph.h"
#include "models/table/noise.h"
#include "models/table/relevance.h"
#include "tests/oracles/random_matrices.h"
#include "tests/oracles/relative.h"
#include "tests/oracles/scores.h"

using namespace dma;

namespace {

Ensemble networks(const std::vector<std::size_t>& layers, EnsembleOptions options) {
  return {network_family({.shape = {.layers = layers, .slopes = std::vector<double>(layers.size() - 2, 0.1)}}),
          std::move(options)};
}

const GraphMixture::Memory& memory_of(const Ensemble& net) { return net.mixture().memory(); }

}  // namespace

TEST_CASE("network ensemble: a network that won before and loses now leaves no trace of its weighted fit") {
  const Index n = 60;
  Matrix rows(n, 1), bent(n, 1), straight(n, 1);
  for (Index i = 0; i < n; ++i) {
    const double x = 4.0 * static_cast<double>(i) / static_cast<double>(n - 1) - 2;
    rows(i, 0) = x;
    bent(i, 0) = std::abs(x) + 0.01 * std::sin(37 * x);
    straight(i, 0) = x + 0.01 * std::sin(37 * x);
  }
  Ensemble net = networks({1, 8, 1}, {.mixture = {.epochs = 30, .members = 2}});
  CHECK(net.fit({rows, bent}).fraction > 0.99);
  CHECK(memory_of(net).members[0].weighted_posterior.has_value());

  const GraphMixtureReport report = net.fit({rows, straight});  // its first stage is done: the weights stay
  CHECK(report.fraction < 0.01);
  CHECK_FALSE(memory_of(net).members[0].weighted_posterior.has_value());
  const Prediction p = Prediction::mix(net.mixture().predict(rows));
  CHECK(oracle::farthest(p.mean, straight) < 0.05);
}

TEST_CASE("network ensemble: with fewer rows than weights a network needs the better evidence too") {
  // Pure noise, of which forty rows held out cannot tell much: a tie is 0.09, half a nat more is chance.
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    CAPTURE(seed);
    const Matrix rows = oracle::random_matrix(40, 30, seed), noise = oracle::random_matrix(40, 1, seed + 100);
    Ensemble net = networks({30, 20, 1}, {.mixture = {.epochs = 30, .members = 2}});
    const double fraction = net.fit({rows, noise}).fraction;
    CAPTURE(fraction);
    CHECK(fraction < 0.2);
  }
}

namespace {

// y = 2 x0 + sin 2 x1 + x2 x3 + noise, standardised by what is known of it.
RowData smooth_rows(Index rows, Index inputs, std::uint64_t seed) {
  const Matrix x = oracle::random_matrix(rows, inputs, seed), noise = oracle::random_matrix(rows, 1, seed + 1);
  return {x, oracle::filled(rows, [&](Index i) {
            return (2 * x(i, 0) + std::sin(2 * x(i, 1)) + x(i, 2) * x(i, 3) + 0.3 * noise(i)) / 2.3;
          })};
}

double rmse(const std::vector<PredictionComponent>& said, const Matrix& targets) {
  return oracle::rmse(Prediction::mix(said).mean, targets);
}

// Layers are chosen before the first epoch that is told.
bool stop_after_the_choice(const GraphMixture::Progress&) { return false; }

}  // namespace

TEST_CASE("network ensemble: what is said of unseen rows holds for fresh ones, with few and with many weights a row") {
  const RowData fresh = smooth_rows(4000, 10, 77);
  for (const std::size_t width : {5u, 25u}) {
    const RowData data = smooth_rows(300, 10, 15);
    Ensemble net = networks({10, width, 1}, {.mixture = {.epochs = 40}});
    net.fit(data);
    const auto found = net.mixture().predict(fresh.rows);
    const double said = rmse(net.mixture().left_out(), data.targets), is = rmse(found, fresh.targets);
    CAPTURE(width);
    CAPTURE(said);
    CAPTURE(is);
    CHECK(std::abs(said / is - 1) < 0.08);  // by leverage alone 25 units say 0.72 of it
    const double coverage = oracle::inside_95(Prediction::mix(found).cumulative(fresh.targets));
    CAPTURE(coverage);
    CHECK(coverage > 0.93);
    CHECK(coverage < 0.975);
  }
}

TEST_CASE("network ensemble: rows held out choose a width, and a stop while they do leaves no trace") {
  const auto made = [] { return networks({1, 50, 1}, {.mixture = {.epochs = 30}, .choose_sizes = true}); };
  const auto width_of = [](const Ensemble& net) { return memory_of(net).choice.sizes.at(0); };
  constexpr Index kRows = 150;
  const Matrix x = oracle::random_matrix(kRows, 1, 8), noise = oracle::random_matrix(kRows, 1, 9);
  const RowData noisy{x, oracle::filled(kRows, [&](Index n) { return std::abs(x(n)) + 0.3 * noise(n); })},
      waves{x, oracle::filled(kRows, [&](Index n) { return std::sin(4 * x(n)) + 0.01 * noise(n); })};
  Ensemble few = made(), many = made();
  few.fit(noisy), many.fit(waves, {}, stop_after_the_choice);
  CHECK(width_of(few) == 10);  // one kink
  CHECK(width_of(many) > 10);  // many, and next to no noise

  Ensemble stopped = made();
  int asked = 0;
  bool stops = true;
  const LearnControl control{.keep_going = [&] { return !stops || ++asked < 12; }};
  CHECK(stopped.fit(noisy, control, [&](const auto&) { return !stops; }).interrupted);
  CHECK(asked >= 12);  // the linear model, which is learned in any case, hears it too
  CHECK(asked < 20);   // and nobody goes on for long after a no
  stops = false;
  stopped.fit(noisy, control);
  CHECK(width_of(stopped) == width_of(few));
  Ensemble hurried = made(), patient = made();
  const GraphMixtureReport report = hurried.fit(waves, {.seconds_left = [] { return 1e-9; }});
  patient.fit(noisy, {.seconds_left = [] { return 1e9; }});
  CHECK(hurried.size_reason() == "10 hidden units: there is no time to try others");
  CHECK(report.form.reason.ends_with("; " + hurried.size_reason()));
  CHECK(patient.size_reason() == few.size_reason());
  CHECK(Prediction::mix(stopped.mixture().predict(noisy.rows)).sd ==
        Prediction::mix(few.mixture().predict(noisy.rows)).sd);
}

TEST_CASE("network ensemble: two hidden layers are taken where they are clearly better, and only there") {
  using Sizes = std::vector<std::size_t>;
  constexpr Index kRows = 265;  // with fewer than 261, two layers of 20 units have too many weights to be tried
  const Matrix x = oracle::random_matrix(kRows, 3, 28), noise = oracle::random_matrix(kRows, 1, 29);
  const auto sizes_for = [&](const std::function<double(Index)>& truth, double sd) -> Sizes {
    const Matrix raw = oracle::filled(kRows, truth);
    const double mean = oracle::mean_of(raw);
    const Matrix moved = oracle::filled(kRows, [&](Index n) { return raw(n) - mean; });
    const double spread = oracle::rms(moved);
    const Matrix targets = oracle::filled(kRows, [&](Index n) { return moved(n) / spread + sd * noise(n); });
    Ensemble net = networks({3, 50, 1}, {.mixture = {.epochs = 30}, .choose_sizes = true});
    net.fit({x, targets}, {}, stop_after_the_choice);
    return memory_of(net).choice.sizes;
  };
  const auto corners = [&](Index n) { return (x(n, 0) * x(n, 1) > 0 ? 2 : -1) * std::abs(x(n, 2)); };
  const auto waves = [&](Index n) { return std::sin(2 * x(n, 0)) + std::cos(2 * x(n, 1)); };
  CHECK(sizes_for(corners, 0.02) == Sizes{20, 20});
  CHECK(sizes_for(waves, 0.3) == Sizes{20});  // as many units as make two layers worth a trial
}

TEST_CASE("network ensemble: of many inputs those that matter are found, and predict as well as alone") {
  // y = sin 2 x0 + x1 / 2 + weak x2 + noise: parts of the rows may find x2 or not.
  const auto rows_of = [](Index rows, Index inputs, std::uint64_t seed) -> RowData {
    const Matrix x = oracle::random_matrix(inputs, rows, seed).transpose();  // the first columns are the same
    const Matrix noise = oracle::random_matrix(rows, 1, seed + 100);
    return {x, oracle::filled(rows, [&](Index n) {
              return std::sin(2 * x(n, 0)) + 0.5 * x(n, 1) + 0.12 * x(n, 2) + 0.5 * noise(n);
            })};
  };
  const auto fitted = [&](const RowData& data, Index inputs) {
    Ensemble net =
        networks({static_cast<std::size_t>(inputs), 10, 1}, {.mixture = {.epochs = 30}, .choose_sizes = true});
    net.fit({data.rows.leftCols(inputs), data.targets});
    return net;
  };
  const RowData data = rows_of(200, 60, 1), fresh = rows_of(2000, 60, 11);
  const Ensemble net = fitted(data, 60), alone = fitted(data, 2);
  const std::vector<Index> found = inputs_that_matter(memory_of(net).choice.relevance);
  REQUIRE(found.size() >= 2);
  CHECK(found.size() <= 3);
  CHECK(found[1] == 1);
  const auto said = net.mixture().predict(fresh.rows);
  CHECK(rmse(said, fresh.targets) < 1.03 * rmse(alone.mixture().predict(fresh.rows.leftCols(2)), fresh.targets));
  CHECK(rmse(said, fresh.targets) < 0.6);  // 0.5 is noise; 0.75 and more where all inputs are alike
  CHECK(rmse(net.mixture().left_out(), data.targets) == oracle::relative(rmse(said, fresh.targets), 0.1));
  CHECK(std::abs(oracle::inside_95(Prediction::mix(said).cumulative(fresh.targets)) - 0.95) < 0.02);

  Ensemble again(net.mixture().family(), net.options());
  again.restore(memory_of(net), net.size_reason());
  CHECK(again.size_reason() == net.size_reason());
  CHECK(again.mixture().left_out().empty());
  CHECK(Prediction::mix(again.mixture().predict(fresh.rows)).sd == Prediction::mix(said).sd);
  CHECK(net.mixture().model().columns == found);
  const SharedPrior prior = net.mixture().prior_of(0);
  const auto [mean, variance] = net.mixture().marginals(0);
  const auto units = static_cast<Index>(memory_of(net).choice.sizes[0]);
  CHECK(mean.size() == units * (std::ssize(found) + 2) + 1);
  CHECK(prior.mean.size() == mean.size());
  const double scale = memory_of(net).members[0].last().state.scale(0);
  for (Index i = 0; i < mean.size(); ++i) {
    CHECK(variance(i) > 0);
    CHECK(variance(i) < 1 / (scale * prior.precision(i)) * (1 + 1e-9));
  }
  const double rmse_before = rmse(said, fresh.targets);
  const RowData more = rows_of(200, 60, 21);
  (void)again.mixture().update({more.rows, more.targets}, 200);
  CHECK(rmse(again.mixture().predict(fresh.rows), fresh.targets) < rmse_before + 0.005);
}

TEST_CASE("network ensemble: a row of weight w is w equal rows, to networks and lines, their noise and evidence") {
  for (const std::vector<std::size_t>& layers : {std::vector<std::size_t>{4, 1}, {4, 3, 1}}) {
    const Index count = layers.size() == 2 ? 18 : 60;  // so few that no fit begins with a part of them
    RowData weighted = smooth_rows(count, 4, 5);
    weighted.weights.resize(count);
    std::vector<Index> repeated;
    for (Index i = 0; i < count; ++i) {
      weighted.weights(i) = static_cast<double>(1 + i % 3);
      repeated.insert(repeated.end(), static_cast<std::size_t>(1 + i % 3), i);
    }
    RowData rows = weighted.some(repeated);
    rows.weights.resize(0);
    for (const NoiseModel noise : {NoiseModel::constant, NoiseModel::inputs}) {
      CAPTURE(layers.size());
      CAPTURE(name_of(noise));
      // Nothing here depends on rows that are left out, where a weight leaves all of its rows out at once.
      const auto learned = [&](const RowData& data) {
        Ensemble net = networks(
            layers, {.mixture = {.noise_model = noise, .simple = false}, .choose_smoothing = false, .hold_out = false});
        net.mixture().set_limits(12, 8, 1e-300);
        net.fit(data);
        return memory_of(net).members[0];
      };
      const auto by_weights = learned(weighted), by_rows = learned(rows);
      CHECK(by_weights.plain_evidence == oracle::relative(by_rows.plain_evidence, 1e-9));
      for (auto posterior : {&GraphMixture::Member::plain_posterior, &GraphMixture::Member::weighted_posterior}) {
        REQUIRE((by_weights.*posterior).has_value() == (by_rows.*posterior).has_value());
        if (!(by_rows.*posterior)) continue;
        const SharedPosterior &own = *(by_weights.*posterior), &other = *(by_rows.*posterior);
        CHECK(oracle::farthest(own.state.mean, other.state.mean) < 1e-6);
        CHECK(oracle::farthest(own.state.noise[0].beta, other.state.noise[0].beta) < 1e-6);
        CHECK(oracle::farthest(own.factor, other.factor) < 1e-5 * other.factor.cwiseAbs().maxCoeff());
      }
    }
  }
}
