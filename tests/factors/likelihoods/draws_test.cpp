#include "factors/likelihoods/draws.h"

#include <boost/math/special_functions/beta.hpp>
#include <numeric>
#include <random>

#include "tests/oracles/solved.h"

namespace {

// p^(a - 1) (1 - p)^(b - 1) (l1 p + l0 (1 - p)) on (0, 1): its integral, mean and variance, by Simpson's rule in t with
// p = 3 t^2 - 2 t^3, which flattens both ends.
struct TiltedBeta {
  TiltedBeta(double a, double b, double l0, double l1) {
    constexpr int kPanels = 20000;
    double square = 0;
    for (int i = 1; i < kPanels; ++i) {
      const double t = static_cast<double>(i) / kPanels, p = t * t * (3 - 2 * t);
      const double weight = (i % 2 == 1 ? 4 : 2) * 6 * t * (1 - t) / (3.0 * kPanels);
      const double f = weight * std::pow(p, a - 1) * std::pow(1 - p, b - 1) * (l1 * p + l0 * (1 - p));
      mass += f, mean += f * p, square += f * p * p;
    }
    mean /= mass;
    variance = square / mass - mean * mean;
  }
  double mass = 0, mean = 0, variance = 0;
};

}  // namespace

TEST_CASE("draws: counts of observed categories are exact in one sweep, and so is their evidence") {
  const std::vector<double> concentration = {0.5, 2.0, 1.0}, seen = {0, 2, 2, 1, 2, 0, 2};
  Graph g;
  const auto p = g.variable("p", 1, "dirichlet(3)"), z = g.observed("z", seen.size(), "categorical(3)");
  g.factor("dirichlet_prior", {p}, {{"concentration", concentration}});
  g.factor("categorical_draw", {all_to_one(p), z});
  auto [plan, state, report] = oracle::solved(compile(g, forward_backward(), standard_registry()), {{z, seen}});
  CHECK(report.stop == Report::Stop::exact);
  // Sequentially: the probability of each, given those before it.
  std::vector<double> counts = concentration;
  double log_probability = 0;
  for (const double k : seen) {
    double& count = counts[static_cast<std::size_t>(k)];
    log_probability += std::log(count / std::accumulate(counts.begin(), counts.end(), 0.0));
    count += 1;
  }
  for (std::size_t k = 0; k < 3; ++k)
    CHECK(state.belief(p).message(0)[k].tau + 1 == oracle::relative(counts[k], 1e-14));
  const Evidence found = evidence(plan, state);
  CHECK(found.is_exact);
  CHECK(found.log_value == oracle::relative(log_probability, 1e-12));
  // A missing outcome adds nothing.
  state.observe_missing(z, 3);
  (void)run(plan, state);
  CHECK(state.belief(p).message(0)[1].tau == oracle::relative(counts[1] - 2, 1e-14));
}

TEST_CASE("draws: the next outcome is predicted by the mean of the probabilities") {
  Graph g;
  const auto p = g.variable("p", 1, "beta"), x = g.observed("x", 5, "bernoulli"),
             next = g.variable("next", 1, "bernoulli");
  g.factor("beta_prior", {p}, {{"a", 2.0}, {"b", 1.0}});
  g.factor("bernoulli_draw", {all_to_one(p), x});
  g.factor("bernoulli_draw", {p, next});
  const auto [plan, state, report] =
      oracle::solved(compile(g, forward_backward(), standard_registry()), {{x, {1, 0, 0, 1, 1}}});
  CHECK(report.stop == Report::Stop::exact);
  CHECK(state.belief(p).mean() == oracle::relative(5.0 / 8, 1e-14));
  CHECK(state.belief(next).mean() == oracle::relative(5.0 / 8, 1e-12));
}

TEST_CASE("draws: an outcome that is only likely leaves the moments of the tilted distribution, by quadrature") {
  const double l0 = 0.2, l1 = 0.7;
  for (const auto& [a, b] : {std::pair(2.0, 3.0), {1.0, 1.0}, {6.5, 1.5}}) {
    Graph g;
    const auto p = g.variable("p", 1, "beta"), x = g.variable("x", 1, "bernoulli");
    g.factor("beta_prior", {p}, {{"a", a}, {"b", b}});
    g.factor("bernoulli_draw", {p, x}, {}, {.method = "ep"});
    g.factor("bernoulli_prior", {x}, {{"probability", l1 / (l0 + l1)}});
    const auto [plan, state, report] = oracle::solved(compile(g, forward_backward(), standard_registry()));
    CHECK(report.stop == Report::Stop::converged);
    const TiltedBeta exact(a, b, l0, l1);
    CHECK(state.belief(p).mean() == oracle::relative(exact.mean, 1e-9));
    CHECK(state.belief(p).variance() == oracle::relative(exact.variance, 1e-9));
    const double yes = l1 * a / (l1 * a + l0 * b);
    CHECK(state.belief(x).mean() == oracle::relative(yes, 1e-12));
    const double mass = exact.mass / boost::math::beta(a, b) / (l0 + l1);
    CHECK(log_evidence(plan, state) == oracle::relative(std::log(mass), 1e-9));
  }
}

TEST_CASE("draws: vmp is the fixed point of its two equations") {
  Graph g;
  const auto p = g.variable("p", 1, "dirichlet(3)"), z = g.variable("z", 1, "categorical(3)");
  const std::vector<double> concentration = {1.5, 0.7, 4.0}, likelihood = {0.5, 0.3, 0.2};
  g.factor("dirichlet_prior", {p}, {{"concentration", concentration}});
  g.factor("categorical_draw", {p, z}, {}, {.method = "vmp"});
  g.factor("categorical_prior", {z}, {{"probability", likelihood}});
  const auto [plan, state, report] = oracle::solved(compile(g, flooding({.tolerance = 1e-13}), standard_registry()));
  CHECK(report.converged());
  double sum = 0;
  std::vector<double> fraction(3);
  for (std::size_t k = 0; k < 3; ++k)
    sum += fraction[k] = likelihood[k] * std::exp(boost::math::digamma(state.belief(p).message(0)[k].tau + 1));
  for (std::size_t k = 0; k < 3; ++k) {
    CHECK(state.belief(z).mean(0, k) == oracle::relative(fraction[k] / sum, 1e-11));
    CHECK(state.belief(p).message(0)[k].tau + 1 ==
          oracle::relative(concentration[k] + state.belief(z).mean(0, k), 1e-11));
  }
}

TEST_CASE("draws: uniform in, uniform out; a known probability is passed on; what is impossible is forbidden") {
  const std::vector<DirichletComponent> flat(3), known = {{0.2, kInfinity}, {0.3, kInfinity}, {0.5, kInfinity}};
  const std::vector<CategoricalComponent> unknown(3), second = {{0, kInfinity}, {1, kInfinity}, {0, kInfinity}};
  std::vector<CategoricalComponent> outcome(3);
  std::vector<OrFallback<DirichletComponent>> by_ep(3);
  std::vector<DirichletComponent> p(3);
  const auto ep = [&](CategoricalDraw::Probabilities from, CategoricalDraw::Outcome x,
                      std::span<DirichletComponent> to) {
    CategoricalDraw::Ep::to_probabilities(from, x, by_ep);
    std::ranges::copy(by_ep, to.begin());
  };
  using ToProbabilities =
      std::function<void(CategoricalDraw::Probabilities, CategoricalDraw::Outcome, std::span<DirichletComponent>)>;
  CategoricalDraw::to_outcome(flat, outcome);
  for (const auto& component : outcome) CHECK(component.is_uniform());
  CategoricalDraw::to_outcome(known, outcome);
  CHECK(outcome[0].tau - outcome[2].tau == oracle::relative(std::log(0.4), 1e-14));
  for (const ToProbabilities& to_p : {ToProbabilities(ep), ToProbabilities(&CategoricalDraw::Vmp::to_probabilities)}) {
    to_p(flat, unknown, p);
    for (const auto& component : p) CHECK(component.is_uniform());
    to_p(flat, second, p);
    CHECK((p[0].tau == 0 && p[1].tau == 1 && p[2].tau == 0));
    // A single possible category: the same as if it were observed.
    const std::vector<CategoricalComponent> left = {
        CategoricalComponent::forbidden(), {-3, 0}, CategoricalComponent::forbidden()};
    to_p(flat, left, p);
    CHECK(p[0].tau == doctest::Approx(0).epsilon(1e-12));
    CHECK(p[1].tau == oracle::relative(1, 1e-12));
  }
  CHECK(BernoulliDraw::to_outcome(Beta(0.25, kInfinity)).mean() == oracle::relative(0.25, 1e-14));
  CHECK(BernoulliDraw::to_probability(Bernoulli(1, kInfinity)) == Natural{1, 0});
}

TEST_CASE("draws: extreme counts and weights give valid messages") {
  for (const double tau : {-1 + 1e-12, -0.5, 0.0, 1e8, 1e200})
    for (const double other : {-1 + 1e-12, 3.0, 1e100})
      for (const double odds : {-700.0, -1.0, 0.0, 30.0, 1e5}) {
        const Beta p(tau, other);
        const Bernoulli x(odds, 0);
        for (const Beta& m :
             {Beta(BernoulliDraw::Ep::to_probability(p, x)), BernoulliDraw::Vmp::to_probability(p, x)}) {
          CHECK(Beta::is_message(m));
          CHECK(Beta(multiply(p, m)).is_proper());
        }
        CHECK(Bernoulli::is_message(BernoulliDraw::to_outcome(p)));
        CHECK(Bernoulli::is_message(BernoulliDraw::Vmp::to_outcome(p, x)));
      }
}

TEST_CASE("draws: if ep's projection is no message the fractions are sent, and counted") {
  // Counts that differ from zero only in the last digits of their messages.
  Graph g;
  const auto p = g.variable("p", 1, "dirichlet(3)"), z = g.variable("z", 1, "categorical(3)");
  g.factor("dirichlet_prior", {p}, {{"concentration", {2.2715e-13, 3.17047e-7, 9.49708e-7}}});
  g.factor("categorical_draw", {p, z}, {}, {.method = "ep"});
  g.factor("categorical_prior", {z}, {{"probability", {2.3e-5, 0.339, 0.660977}}});
  const auto [plan, state, report] = oracle::solved(compile(g, forward_backward(), standard_registry()));
  CHECK(report.replaced == 1);
  const auto means = state.belief(p).means();
  CHECK(means[0] + means[1] + means[2] == oracle::relative(1, 1e-12));

  std::mt19937 random(7);
  std::uniform_real_distribution<double> unit(0, 1);
  for (int i = 0; i < 20000; ++i) {
    const std::size_t categories = 2 + random() % 4;
    std::vector<DirichletComponent> counts(categories);
    std::vector<CategoricalComponent> outcome(categories);
    for (std::size_t k = 0; k < categories; ++k) {
      counts[k] = {std::pow(10, 25 * unit(random) - 15) - 1, 0};
      outcome[k] = {20 * unit(random), 0};
    }
    std::vector<OrFallback<DirichletComponent>> out(categories);
    CategoricalDraw::Ep::to_probabilities(counts, outcome, out);
    for (std::size_t k = 0; k < categories; ++k) CHECK((counts[k].tau <= -1 || counts[k].tau + out[k].tau > -1));
  }
}

TEST_CASE("draws: an outcome informed by another factor needs another method than exact, which the error names") {
  Graph g;
  const auto p = g.variable("p", 1, "beta"), x = g.variable("x", 1, "bernoulli");
  g.factor("beta_prior", {p}, {{"a", 2.0}, {"b", 1.0}});
  g.factor("bernoulli_draw", {p, x});
  CHECK_NOTHROW((void)compile(g, forward_backward(), standard_registry()));  // it has no other factor
  g.factor("bernoulli_prior", {x}, {{"probability", 0.3}});
  CHECK_THROWS_WITH_AS((void)compile(g, forward_backward(), standard_registry()),
                       doctest::Contains("'x' is not observed"), Error);
  CHECK_THROWS_WITH_AS((void)compile(g, forward_backward(), standard_registry()), doctest::Contains("ep, vmp"), Error);
}
