// Growing graphs with discrete variables, against the enumeration of all paths and filters by hand.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "engine/support/text.h"
#include "factors/standard_registry.h"
#include "models/graphs/growing.h"
#include "models/mixtures/switching.h"
#include "tests/oracles/allocations.h"
#include "tests/oracles/regime_paths.h"
#include "tests/oracles/relative.h"

namespace {

using namespace dma;
using oracle::PlainMatrix;

// A level and its slope, of which the level is read. It glides; or it jumps, and is read badly.
struct Regime {
  double level, slope, reading;  // variances
};
constexpr Regime kRegimes[] = {{0.05, 0.02, 0.2}, {2.0, 0.3, 1.5}};
const std::vector<double> kStart = {0.7, 0.3}, kTransition = {0.85, 0.15, 0.4, 0.6};

double reading_at(std::size_t t) {
  const auto at = static_cast<double>(t);
  return std::sin(0.9 * at) + 0.3 * at + (t % 5 == 3 ? 2.5 : 0) - (t % 7 > 4 ? 1.5 : 0);
}

struct Step {
  VariableId level{0}, slope{0}, regime{0};
};

// Adds a step; regimes choose the motion by gates and the reading by gates.
Step add_step(GrowingGraph& growing, std::size_t t, const Step& before) {
  Graph& g = growing.graph();
  const Step now{g.variable(""), g.variable(""), g.variable("", 1, "categorical(2)")};
  const VariableId y = g.observed("");
  if (t == 0) {
    g.factor("gaussian_prior", {now.level}, {{"mean", 0.5}, {"variance", 2.0}});
    g.factor("gaussian_prior", {now.slope}, {{"mean", 0.1}, {"variance", 1.0}});
    g.factor("categorical_prior", {now.regime}, {{"probability", kStart}});
  } else {
    g.factor("table", {before.regime, now.regime}, {{"probability", kTransition}});
  }
  for (std::uint32_t k = 0; k < 2; ++k) {
    const FactorOptions so{.when = {{now.regime, k}}};
    if (t > 0) {
      g.factor("gaussian_linear", {{"x", before.level}, {"x", before.slope}, {"y", now.level}},
               {{"A", 1.0}, {"variance", kRegimes[k].level}}, so);
      g.factor("gaussian_noise", {before.slope, now.slope}, {{"variance", kRegimes[k].slope}}, so);
    }
    g.factor("gaussian_noise", {now.level, y}, {{"variance", kRegimes[k].reading}}, so);
  }
  growing.observe(y, {reading_at(t)});
  return now;
}

oracle::RegimePaths enumerated(std::size_t steps) {
  std::vector<oracle::PlainRegime> regimes;
  for (const Regime& r : kRegimes)
    regimes.push_back({{{1, 1}, {0, 1}}, {{r.level, 0}, {0, r.slope}}, {{1, 0}}, {{r.reading}}});
  std::vector<std::optional<double>> values;
  for (std::size_t t = 0; t < steps; ++t) values.emplace_back(reading_at(t));
  return oracle::enumerate_paths(regimes, PlainMatrix::column(kStart), {{0.85, 0.15}, {0.4, 0.6}},
                                 PlainMatrix{{0.5}, {0.1}}, {{2, 0}, {0, 1}}, values);
}

SwitchingFilter filter(std::size_t order) {
  SwitchingModel model;
  for (const Regime& r : kRegimes)
    model.regimes.push_back({PlainMatrix{{1, 1}, {0, 1}}.matrix(), PlainMatrix{{r.level, 0}, {0, r.slope}}.matrix(),
                             PlainMatrix{{1, 0}}.matrix(), PlainMatrix{{r.reading}}.matrix()});
  model.start = PlainMatrix::column(kStart).vector();
  model.transition = PlainMatrix{{0.85, 0.15}, {0.4, 0.6}}.matrix();
  model.mean = PlainMatrix{{0.5}, {0.1}}.vector();
  model.covariance = PlainMatrix{{2, 0}, {0, 1}}.matrix();
  return SwitchingFilter(model, order);
}

}  // namespace

TEST_CASE("growing cases: until a discrete variable leaves, beliefs are those of all paths of regimes") {
  constexpr std::size_t kSteps = 7;
  GrowingGraph growing(standard_registry(), {.lag = kSteps});
  std::vector<Step> at;
  for (std::size_t t = 0; t < kSteps; ++t) {
    at.push_back(add_step(growing, t, t == 0 ? Step() : at.back()));
    const Report report = growing.update();
    CHECK(report.stop == Report::Stop::exact);
    CHECK(report.line().starts_with("exact: " + std::to_string(1 << (t + 1)) + " cases, the likeliest v2 = "));
    const auto smoothed = enumerated(t + 1).smoothed;
    for (std::size_t s = 0; s <= t; ++s) {
      CAPTURE(s);
      CHECK(growing.belief(at[s].regime).probability(0, 1) == oracle::relative(smoothed[s].probability[1], 1e-9));
      CHECK(growing.belief(at[s].level).mean() == oracle::relative(smoothed[s].mean[0], 1e-9));
      CHECK(growing.belief(at[s].slope).mean() == oracle::relative(smoothed[s].mean[1], 1e-9));
      CHECK(growing.belief(at[s].level).variance() == oracle::relative(smoothed[s].covariance(0, 0), 1e-9));
      CHECK(growing.belief(at[s].slope).variance() == oracle::relative(smoothed[s].covariance(1, 1), 1e-9));
    }
  }
}

// Whatever the lag of the levels, the newest is that of the filter which merges paths of the same last regimes.
TEST_CASE("growing cases: merged by moments, the newest step is that of generalised pseudo-Bayes of each order") {
  constexpr std::size_t kSteps = 40;
  struct {
    std::size_t lag, discrete_lag;
  } cases[] = {{1, 1}, {1, 2}, {1, 4}, {4, 1}, {3, 2}};
  for (const auto [lag, discrete_lag] : cases) {
    CAPTURE(lag);
    CAPTURE(discrete_lag);
    GrowingGraph growing(standard_registry(), {.lag = lag, .discrete_lag = discrete_lag});
    SwitchingFilter by_hand = filter(discrete_lag + 1);
    Step last;
    for (std::size_t t = 0; t < kSteps; ++t) {
      CAPTURE(t);
      last = add_step(growing, t, last);
      const Report report = growing.update();
      const SwitchingStep expected = by_hand.add({{reading_at(t)}});
      if (t <= discrete_lag) CHECK(report.stop == Report::Stop::exact);
      if (t > discrete_lag) {
        CHECK(report.stop == Report::Stop::approximate);
        CHECK(report.line().starts_with("approximate: discrete variables that left were matched by moments; "));
      }
      CHECK(growing.belief(last.regime).probability(0, 1) == oracle::relative(expected.probability[1], 1e-8));
      CHECK(growing.belief(last.level).mean() == oracle::relative(expected.mean[0], 1e-8));
      CHECK(growing.belief(last.slope).mean() == oracle::relative(expected.mean[1], 1e-8));
      CHECK(growing.belief(last.level).variance() == oracle::relative(expected.covariance(0, 0), 1e-8));
      CHECK(growing.belief(last.slope).variance() == oracle::relative(expected.covariance(1, 1), 1e-8));
    }
  }
}

TEST_CASE("growing cases: a window of merged regimes smooths nearly as all paths do, and better with more regimes") {
  constexpr std::size_t kSteps = 10, kLag = 4;
  const auto smoothed = enumerated(kSteps).smoothed;
  std::vector<double> errors;
  for (const std::size_t discrete_lag : {1, 2, 4}) {
    GrowingGraph growing(standard_registry(), {.lag = kLag, .discrete_lag = discrete_lag});
    std::vector<Step> at;
    for (std::size_t t = 0; t < kSteps; ++t) {
      at.push_back(add_step(growing, t, t == 0 ? Step() : at.back()));
      (void)growing.update();
    }
    double error = 0;
    for (std::size_t s = kSteps - 1 - kLag; s < kSteps; ++s) {
      const double mean = growing.belief(at[s].level).mean(), sd = std::sqrt(smoothed[s].covariance(0, 0));
      error = std::max({error, std::abs(mean - smoothed[s].mean[0]) / sd,
                        std::abs(std::log(growing.belief(at[s].level).sd() / sd))});
    }
    errors.push_back(error);
  }
  CAPTURE(errors[0]);
  CAPTURE(errors[1]);
  CAPTURE(errors[2]);
  CHECK(errors[0] < 0.2);
  CHECK(errors[1] < 0.5 * errors[0]);
  CHECK(errors[2] < 0.5 * errors[1]);
}

TEST_CASE("growing cases: memory and compilations do not grow with the number of steps") {
  GrowingGraph growing(standard_registry(), {.lag = 2, .discrete_lag = 1});
  Step last;
  std::int64_t held = 0;
  std::size_t compiled = 0;
  for (std::size_t t = 0; t < 2000; ++t) {
    last = add_step(growing, t, last);
    (void)growing.update();
    if (t == 100) held = oracle::bytes_held(), compiled = growing.compiled();
  }
  CHECK(oracle::bytes_held() - held < 60'000);  // blocks of nodes
  CHECK(growing.compiled() == compiled);
}

// It chooses the Gaussian of each reading, and never changes from the second value back.
TEST_CASE("growing cases: a chain of discrete variables alone stays exact, and what is impossible is said") {
  constexpr double kTo[2][2] = {{0.8, 0.2}, {0, 1}}, kMeans[] = {0.0, 1.0};
  GrowingGraph growing(standard_registry(), {.lag = 1});
  double p[2] = {0.9, 0.1};
  VariableId before{0};
  const auto add = [&](std::size_t t) {
    Graph& g = growing.graph();
    const VariableId z = g.variable("z" + std::to_string(t), 1, "categorical(2)"), y = g.observed("");
    if (t == 0) g.factor("categorical_prior", {z}, {{"probability", {p[0], p[1]}}});
    if (t > 0) g.factor("table", {before, z}, {{"probability", {0.8, 0.2, 0.0, 1.0}}});
    for (std::uint32_t k = 0; k < 2; ++k)
      g.factor("gaussian_prior", {y}, {{"mean", kMeans[k]}, {"variance", 0.5}}, {.when = {{z, k}}});
    growing.observe(y, {std::sin(3.0 * static_cast<double>(t)) * 0.5});
    before = z;
  };
  for (std::size_t t = 0; t < 12; ++t) {
    add(t);
    const Report report = growing.update();
    CHECK(report.stop == Report::Stop::exact);
    if (t > 0) {
      const double next = p[0] * kTo[0][1] + p[1] * kTo[1][1];
      p[0] *= kTo[0][0], p[1] = next;
    }
    for (std::size_t k = 0; k < 2; ++k) {
      const double apart = std::sin(3.0 * static_cast<double>(t)) * 0.5 - kMeans[k];
      p[k] *= std::exp(-apart * apart);
    }
    const double all = p[0] + p[1];
    p[0] /= all, p[1] /= all;
    CHECK(growing.belief(before).probability(0, 1) == oracle::relative(p[1], 1e-12));
  }
  Graph& g = growing.graph();
  const VariableId never = g.observed("never", 1, "categorical(2)"), still = g.variable("still");
  growing.observe(never, {1.0});
  g.factor("table", {before, never}, {{"probability", {1.0, 0.0, 1.0, 0.0}}});
  CHECK_THROWS_WITH_AS(growing.update(),
                       "growing graph: the observations have probability zero in every case; change an observation",
                       Contradiction);
  growing.graph().factor("gaussian_prior", {still}, {{"mean", 3.0}, {"variance", 2.0}});
  CHECK(growing.update().stop == Report::Stop::exact);
  CHECK(growing.belief(still).mean() == oracle::relative(3, 1e-12));
}

TEST_CASE("growing cases: a reading that counts where an observed variable says so, and one that may be an outlier") {
  GrowingGraph growing(standard_registry(), {.lag = 3});
  Graph& g = growing.graph();
  const VariableId x = g.variable("x"), is_on = g.observed("is_on", 1, "bernoulli"), y = g.observed("y"),
                   z = g.observed("z"), bad = g.variable("bad", 1, "bernoulli");
  g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", 1.0}});
  for (std::uint32_t k = 0; k < 2; ++k)
    g.factor("gaussian_noise", {x, y}, {{"variance", k == 0 ? 0.01 : 1.0}}, {.when = {{is_on, k}}});
  growing.observe(is_on, {1.0});
  growing.observe(y, {2.0});
  CHECK(growing.update().stop == Report::Stop::exact);
  CHECK(growing.belief(x).mean() == oracle::relative(1, 1e-12));
  g.factor("bernoulli_prior", {bad}, {{"probability", 0.1}});
  g.factor("gaussian_noise", {x, z}, {{"variance", 0.5}}, {.when = {{bad, 0}}});
  g.factor("gaussian_prior", {z}, {{"mean", 0.0}, {"variance", 100.0}}, {.when = {{bad, 1}}});
  growing.observe(z, {3.0});
  CHECK(growing.update().stop == Report::Stop::exact);
  const auto density = [](double apart, double variance) {
    return std::exp(-0.5 * apart * apart / variance) / std::sqrt(variance);
  };
  const double good = 0.9 * density(2, 1), outlier = 0.1 * density(3, 100), p = outlier / (good + outlier);
  CHECK(growing.belief(bad).probability(0, 1) == oracle::relative(p, 1e-12));
  CHECK(growing.belief(x).mean() == oracle::relative(p * 1 + (1 - p) * 2, 1e-12));
}

TEST_CASE("growing cases: impossible requests are refused in one line, and the rest goes on") {
  CHECK_THROWS_WITH_AS(GrowingGraph(standard_registry(), {.discrete_lag = 0}),
                       "growing graph: the lag is 0; at least 1 is expected", Error);
  GrowingGraph growing(standard_registry(), {.lag = 2});
  Graph& g = growing.graph();
  const VariableId x = g.variable("x"), pair = g.variable("pair", 2, "bernoulli"), z = g.variable("z", 1, "bernoulli");
  g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", 1.0}}, {.name = "late", .when = {{z, 2}}});
  CHECK_THROWS_WITH_AS(growing.update(),
                       "growing graph: factor 'late' counts where 'z' is 2, but it is bernoulli of 1 element; a value "
                       "of one discrete element is expected",
                       Error);
  g.factor("bernoulli_prior", {pair}, {{"probability", 0.5}}, {.name = "both"});
  CHECK_THROWS_WITH_AS(growing.update(),
                       "growing graph: factor 'both' connects 'pair', a discrete variable of 2 elements; declare one "
                       "for each",
                       Error);
  g.factor("bernoulli_prior", {z}, {{"probability", 0.25}});
  for (std::size_t i = 0; i < 10; ++i)
    g.factor("bernoulli_prior", {g.variable("more" + std::to_string(i), 1, "bernoulli")}, {{"probability", 0.5}});
  CHECK_THROWS_WITH_AS(growing.update(),
                       "growing graph: 11 discrete variables, 'more9' the last, have more than 1024 cases together; "
                       "lower discrete_lag",
                       Error);
  const VariableId pose = g.variable("pose", 1, "pose2"), r = g.variable("r", 3);
  g.factor("bernoulli_prior", {z}, {{"probability", 0.25}});
  g.factor("pose2_offset", {pose, r}, {{"measured", 0.0}});
  CHECK_THROWS_WITH_AS(growing.update(),
                       "growing graph: 'pose' is pose2, which has no mixtures; take none beside discrete variables",
                       Error);
  g.factor("bernoulli_prior", {z}, {{"probability", 0.25}});
  g.factor("gaussian_prior", {x}, {{"mean", 1.0}, {"variance", 1.0}}, {.when = {{z, 1}}});
  CHECK(growing.update().stop == Report::Stop::exact);
  CHECK(growing.belief(z).probability(0, 1) == oracle::relative(0.25, 1e-12));
  CHECK(growing.belief(x).mean() == oracle::relative(1, 1e-12));
  for (int i = 0; i < 3; ++i) CHECK(growing.update().stop == Report::Stop::exact);
  g.factor("gaussian_prior", {g.variable("")}, {{"mean", 1.0}, {"variance", 1.0}}, {.name = "gone", .when = {{z, 1}}});
  CHECK_THROWS_WITH_AS(growing.update(),
                       "growing graph: factor 'gone' connects 'z', which left the window; raise the discrete_lag of 2",
                       Error);

  GrowingGraph small(standard_registry(), {.cases = nullptr});
  const VariableId either = small.graph().variable("either", 1, "bernoulli");
  small.graph().factor("bernoulli_prior", {either}, {{"probability", 0.5}});
  CHECK_THROWS_WITH_AS(
      small.update(),
      "growing graph: factors have gates or discrete variables, and the options have no cases; leave them out", Error);
  CHECK(small.update().stop == Report::Stop::exact);
}
