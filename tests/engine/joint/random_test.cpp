// Random linear Gaussian graphs against sixty digits.
#include <doctest/doctest.h>

#include "engine/support/text.h"
#include "factors/standard_registry.h"
#include "tests/engine/joint/random_linear.h"

namespace {

using namespace dma;
using namespace dma::joint_test;

constexpr double kRandomError = 1e-8;
// A mean is a difference of others, each with its own rounding error.
constexpr double kLastDigits = 1e-15;

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "'" : ", '") + name + "'";
  return text;
}

struct Seen {
  int exact = 0, singular = 0, stopped = 0;
};

void check_beliefs(const RandomLinear& model, const State& state, const RandomLinear::Posterior& truth) {
  double mean_error = 0, variance_error = 0;
  for (const VariableId v : model.latent()) {
    const Belief belief = state.belief(v);
    for (std::size_t i = 0; i < belief.size(); ++i) {
      INFO("model.graph[v].name ", model.graph[v].name, ", i ", i);
      REQUIRE(belief[i].is_uniform() == !truth.determined.at(v.value)[i]);
      if (belief[i].is_uniform()) continue;
      const Real mean = truth.mean.at(v.value)[i], variance = truth.variance.at(v.value)[i];
      const Real scale = sqrt(variance) + abs(mean) + Real(kLastDigits / kRandomError) * truth.terms.at(v.value)[i];
      mean_error = std::max(mean_error, static_cast<double>(abs(belief.mean(i) - mean) / scale));
      variance_error = std::max(variance_error, oracle::relative_error(belief.variance(i), variance));
    }
  }
  for (const auto& y : truth.predicted) {
    const Gaussian belief = state.belief(y.variable)[y.element];
    REQUIRE(belief.is_uniform() == !y.is_determined);
    if (belief.is_uniform()) continue;
    const Real scale = sqrt(y.variance) + abs(y.mean) + Real(kLastDigits / kRandomError) * y.terms;
    mean_error = std::max(mean_error, static_cast<double>(abs(belief.mean() - y.mean) / scale));
    variance_error = std::max(variance_error, oracle::relative_error(belief.variance(), y.variance));
  }
  CHECK(mean_error < kRandomError);
  CHECK(variance_error < kRandomError);
}

Seen check(std::uint64_t from, std::uint64_t to, double decades, std::size_t scale = 1) {
  const Registry registry = standard_registry();
  Seen seen;
  for (std::uint64_t seed = from; seed < to; ++seed) {
    CAPTURE(seed);
    const RandomLinear model(seed, decades, scale);
    if (!model.is_connected()) continue;
    const Plan plan = compile(model.graph, joint(), registry);
    State state(plan);
    model.observe(state);
    const Report report = run(plan, state);
    const RandomLinear::Posterior truth = model.solve();
    CAPTURE(report.line());
    REQUIRE((report.stop == Report::Stop::singular) == !truth.undetermined.empty());
    if (truth.undetermined.size() <= 8) CHECK(report.joint->undetermined == listed(truth.undetermined));
    if (report.stop == Report::Stop::limit) {
      ++seen.stopped;  // for data that contradict themselves by many standard deviations, at many scales
      continue;
    }
    const bool contradicts = report.joint->objective > 1e6;
    if (!(report.stop == Report::Stop::singular && contradicts)) check_beliefs(model, state, truth);
    if (report.stop == Report::Stop::singular) {
      ++seen.singular;
      continue;
    }
    ++seen.exact;
    REQUIRE(report.stop == Report::Stop::exact);
    const double evidence = JointPosterior(state).log_evidence();
    CHECK(static_cast<double>(abs(evidence - truth.log_evidence) / (1 + abs(truth.log_evidence))) < kRandomError);
  }
  return seen;
}

}  // namespace

TEST_CASE("joint: random graphs with loops, plates, index maps and missing values have their exact posterior") {
  const Seen seen = check(1, 150, 1);
  CHECK(seen.exact > 80);
  CHECK(seen.singular > 20);
  CHECK(seen.stopped == 0);
}

TEST_CASE("joint: random graphs of many fronts have their exact posterior") {
  const Seen seen = check(1, 25, 2, 10);
  CHECK(seen.exact > 5);
  CHECK(seen.singular > 2);
}

TEST_CASE(
    "joint: rounding does not hide a direction that nothing determines, and contradictions are not called exact") {
  const Registry registry = standard_registry();
  for (const std::uint64_t seed : {7659u, 7601u}) {
    CAPTURE(seed);
    const RandomLinear model(seed, 12);
    const Plan plan = compile(model.graph, joint(), registry);
    State state(plan);
    model.observe(state);
    CHECK(run(plan, state).stop == (seed == 7659 ? Report::Stop::singular : Report::Stop::limit));
  }
}

TEST_CASE("joint: variances from 1e-12 to 1e12 in one graph lose neither digits nor unknowns") {
  const Seen seen = check(1000, 1250, 12);
  CHECK(seen.exact > 120);
  CHECK(seen.singular > 30);
  CHECK(seen.stopped < 5);
}
