// Classes by cut points: ordered and interval. Also unobserved ones: a step observed through noise, and a quiz whose
// answers are unknown.
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_01.hpp>

#include "engine/kinds/evaluate.h"
#include "tests/oracles/quadrature.h"
#include "tests/oracles/solved.h"

namespace {

double gauss_below(double t) { return 0.5 * std::erfc(-t / std::sqrt(2.0)); }

}  // namespace

TEST_CASE("ordered, interval: probabilities at known x and cut points, and of an uncertain x the integral") {
  const std::vector<double> cuts{-1.0, 0.2, 0.9};
  const Registry registry = standard_registry();
  for (const bool is_logistic : {true, false})
    for (const double spread : {0.0, 1e-6, 0.5, 20.0})
      for (const double mean : {-3.0, 0.1, 2.5}) {
        const Gaussian x = Gaussian::from_moments(mean, spread);
        double sum = 0;
        for (std::size_t c = 0; c < 4; ++c) {
          INFO((is_logistic ? "ordered" : "interval"), ", class ", c, ", x ", mean, " of variance ", spread);
          const auto probability = [&](double t) {
            const auto edge = [&](double u) {
              return is_logistic ? 1 / (1 + std::exp(-u)) : gauss_below(u / std::sqrt(0.7));
            };
            return (c < 3 ? edge(cuts[c] - t) : 1) - (c > 0 ? edge(cuts[c - 1] - t) : 0);
          };
          std::vector<Natural> arrivals{x};
          for (std::size_t k = 0; is_logistic && k < 3; ++k) arrivals.push_back(Gaussian::point(cuts[k]));
          for (std::size_t k = 0; !is_logistic && k < 4; ++k) arrivals.push_back({k == c ? 1.0 : 0.0, kInfinity});
          if (is_logistic) arrivals.push_back(Gaussian::point(static_cast<double>(c)));
          std::vector<double> parameters{0.7};
          parameters.insert(parameters.end(), cuts.begin(), cuts.end());
          const Kind& kind = registry.kind(is_logistic ? "ordered" : "interval");
          const double found = kind.log_integral()(arrivals, is_logistic ? std::vector<double>() : parameters);
          sum += std::exp(found);
          if (spread == 0) {
            std::vector<double> values;
            for (const Natural& m : arrivals) values.push_back(m.tau);
            CHECK(found == oracle::relative(std::log(probability(mean)), 1e-9));
            CHECK(kind.log_density()(values, is_logistic ? std::vector<double>() : parameters) ==
                  oracle::relative(found, 1e-9));
            continue;
          }
          const auto exact = oracle::matched(probability, x);
          CHECK(found == oracle::relative(std::log(exact.mass), 1e-9));
          const Arrivals ports = is_logistic
                                     ? Arrivals{{x}, {arrivals.begin() + 1, arrivals.end() - 1}, {arrivals.back()}}
                                     : Arrivals{{x}, {arrivals.begin() + 1, arrivals.end()}};
          const auto said = evaluate(kind, "ep", 0, ports, is_logistic ? std::vector<double>() : parameters);
          REQUIRE(said);
          const Gaussian belief = x * Gaussian((*said)[0]);
          CHECK(std::abs(belief.mean() - exact.mean) < 1e-8 * std::sqrt(spread));
          CHECK(belief.variance() == oracle::relative(exact.variance, 1e-7));
        }
        CHECK(sum == oracle::relative(1, 1e-10));
      }
}

TEST_CASE(
    "interval: a step that is seen through two noisy witnesses has the evidence and the beliefs of the integral") {
  const std::vector<double> witness{0.9, 0.1, 0.3, 0.7};  // P(seen | step)
  for (const double noise : {0.0, 0.5})
    for (const double threshold : {-1.0, 0.8})
      for (const double first : {0.0, 1.0})
        for (const double second : {0.0, 1.0}) {
          INFO(noise, " ", threshold, " ", first, " ", second);
          Graph g;
          const auto x = g.variable("x"), step = g.variable("step", 1, "categorical(2)"),
                     seen = g.observed("seen", 2, "categorical(2)");
          g.factor("gaussian_prior", {x}, {{"mean", 0.4}, {"variance", 2.0}});
          g.factor("interval", {x, step}, {{"noise", noise}, {"cuts", threshold}});
          g.factor("table", {all_to_one(step), seen}, {{"probability", witness}});
          const Plan plan = compile(g, forward_backward(), standard_registry(), {.method = "ep"});
          State state(plan);
          state.observe(seen, std::vector<double>{first, second});
          const Report report = run(plan, state);
          CHECK(report.faults == 0);
          const auto given = [&](std::size_t s) {
            return witness[2 * s + static_cast<std::size_t>(first)] * witness[2 * s + static_cast<std::size_t>(second)];
          };
          const auto is_above = [&](double t) {
            return noise == 0 ? (t > threshold ? 1.0 : 0.0) : gauss_below((t - threshold) / std::sqrt(noise));
          };
          const Gaussian prior = Gaussian::from_moments(0.4, 2);
          const auto exact = oracle::matched(
              [&](double t) { return is_above(t) * given(1) + (1 - is_above(t)) * given(0); }, prior, threshold);
          CHECK(log_evidence(plan, state) == oracle::relative(std::log(exact.mass), 1e-9));
          CHECK(state.belief(x).mean() == oracle::relative(exact.mean, 1e-7));
          CHECK(state.belief(x).variance() == oracle::relative(exact.variance, 1e-7));
          const double odds = oracle::expectation(is_above, prior, threshold) * given(1) / exact.mass;
          CHECK(state.belief(step).mean(0, 1) == oracle::relative(odds, 1e-9));
        }
}

TEST_CASE("joint: a missing class gives no information, and one that two factors share is not inferred") {
  const auto solved = [](std::uint32_t rows, bool is_shared) {
    Graph g;
    const auto x = g.variable("x", 2 * rows), y = g.observed("y", rows, "categorical(2)");
    g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", 2.0}});
    g.factor("softmax", {x, y});
    if (is_shared) g.factor("softmax", {x, y});
    const Plan plan = compile(g, joint(), standard_registry());
    State state(plan);
    state.observe(y, std::vector<double>(rows, 1));
    if (rows > 1) state.observe_missing(y, 1);
    CHECK(run(plan, state).converged());
    return std::pair{log_evidence(plan, state), state.belief(x).means()};
  };
  const auto one = solved(1, false), two = solved(2, false);
  CHECK(two.first == oracle::relative(std::log(0.5), 1e-12));  // by symmetry
  CHECK(one.first == oracle::relative(two.first, 1e-12));
  CHECK(two.second[1] == oracle::relative(one.second[1], 1e-12));
  CHECK(two.second[3] == 0);
  CHECK_THROWS_WITH_AS((void)solved(2, true), doctest::Contains("joint: a value of 'y' is missing"), Error);
}
