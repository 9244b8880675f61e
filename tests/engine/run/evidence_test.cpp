#include <boost/math/special_functions/digamma.hpp>

#include "factors/authoring/normal.h"
#include "tests/oracles/solved.h"

namespace {

std::string refusal(const Plan& plan, State& state) {
  (void)run(plan, state);
  return oracle::error_of([&] { (void)log_evidence(plan, state); });
}

}  // namespace

TEST_CASE("evidence: a value fixed by a sum of known numbers counts as known") {
  Graph g;
  const auto x = g.observed("x"), b = g.observed("b"), z = g.variable("z"), y = g.observed("y");
  g.factor("add", {x, b, z});
  g.factor("gaussian_noise", {z, y}, {{"variance", 0.5}});
  const auto [plan, state, report] =
      oracle::solved(compile(g, forward_backward(), standard_registry()), {{x, 1}, {b, 2}, {y, 2.5}});
  CHECK(log_evidence(plan, state) == oracle::relative(log_density(Gaussian::from_moments(3, 0.5), 2.5), 1e-12));
}

TEST_CASE("evidence: loops are named, and so are factors without a part") {
  Graph loop;
  const auto x = loop.variable("x"), y = loop.variable("y"), s = loop.observed("s"), d = loop.observed("d");
  for (const VariableId v : {x, y}) loop.factor("gaussian_prior", {v}, {{"mean", 0.0}, {"variance", 1.0}});
  for (const auto& [c, seen] : {std::pair{1.0, s}, std::pair{-0.5, d}}) {
    const auto total = loop.variable("");
    loop.factor("sum", {x, y, total}, {{"coefficients", {1.0, c}}});
    loop.factor("gaussian_noise", {total, seen}, {{"variance", 0.5}});
  }
  const auto [plan, state, report] =
      oracle::solved(compile(loop, flooding({.tolerance = 1e-12}), standard_registry()), {{s, 1}, {d, 0.3}});
  CHECK(report.converged());
  CHECK(evidence(plan, state).why.find("loops") != std::string::npos);

  Graph flat;
  const auto a = flat.variable("a"), b = flat.observed("b");
  flat.factor("affine", {a, flat.variable("c")}, {{"a", 2.0}});
  flat.factor("gaussian_noise", {flat.find_variable("c"), b}, {{"variance", 1.0}});
  const Plan no_prior = compile(flat, forward_backward(), standard_registry());
  State unknown(no_prior);
  unknown.observe(b, 1);
  CHECK(refusal(no_prior, unknown).find("no evidence: factor 'affine0': only the factor itself informs") == 0);

  Registry mine = standard_registry();
  mine.add(kind("nothing_known").input("x").message(kExact, "x", [] { return Gaussian(1, 1); }));
  Graph odd;
  odd.factor("nothing_known", {odd.variable("x")});
  const Plan opaque = compile(odd, forward_backward(), mine);
  State of_odd(opaque);
  CHECK(refusal(opaque, of_odd) ==
        "no evidence: factor 'nothing_known0': kind 'nothing_known' "
        "gives no part of the evidence; register kind.log_integral(...)");
}

TEST_CASE("evidence: only of a state that was run as it is, and not settled where the limit ended it") {
  Graph g;
  const auto x = g.variable("x"), y = g.observed("y");
  g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", 1.0}});
  g.factor("gaussian_noise", {x, y}, {{"variance", 0.5}});
  for (const bool jointly : {false, true}) {
    const Plan plan = jointly ? compile(g, joint(), standard_registry()) : compile(g, flooding(), standard_registry());
    State state(plan);
    const auto refused = [&] {
      CHECK_THROWS_WITH_AS(
          (void)evidence(plan, state),
          "no evidence: the state was not run, or its inputs changed since; call run(plan, state) first", Error);
    };
    state.observe(y, 1);
    refused();
    (void)run(plan, state);
    const double first = log_evidence(plan, state);
    CHECK(first == oracle::relative(std::log(normal::density(1 / std::sqrt(1.5))) - 0.5 * std::log(1.5), 1e-12));
    if (!jointly) CHECK(log_evidence(plan, state.copy()) == first);  // a joint solution is not copied
    state.observe(y, 2);
    refused();
    (void)run(plan, state);
    CHECK(log_evidence(plan, state) < first);
    state.set_parameter(FactorId{1}, "variance", 0.7);
    refused();
  }
  const auto [brief, state, report] = oracle::solved(compile(g, flooding({.limit = 1}), standard_registry()), {{y, 1}});
  CHECK(report.stop == Report::Stop::limit);
  CHECK(evidence(brief, state).why == "the messages of the run have not settled");
}

TEST_CASE("evidence: gamma and beta priors of what is observed are their densities") {
  Graph g;
  const auto w = g.observed("w", 1, "gamma"), p = g.observed("p", 1, "beta"), q = g.observed("q", 1, "dirichlet(3)"),
             c = g.observed("c", 1, "bernoulli");
  g.factor("gamma_prior", {w}, {{"shape", 3.0}, {"rate", 2.0}});
  g.factor("beta_prior", {p}, {{"a", 2.0}, {"b", 3.0}});
  g.factor("dirichlet_prior", {q}, {{"concentration", {1.0, 2.0, 3.0}}});
  g.factor("bernoulli_prior", {c}, {{"probability", 0.3}});
  const auto [plan, state, report] = oracle::solved(compile(g, forward_backward(), standard_registry()),
                                                    {{w, 1.5}, {p, 0.25}, {q, {0.2, 0.3, 0.5}}, {c, 1}});
  const double gamma_at = std::log(8 / 2.0 * 1.5 * 1.5) - 3, beta_at = std::log(12 * 0.25 * 0.75 * 0.75);
  const double dirichlet_at = std::log(std::tgamma(6.0) / (1 * 1 * 2) * 0.3 * 0.25);
  CHECK(log_evidence(plan, state) == oracle::relative(gamma_at + beta_at + dirichlet_at + std::log(0.3), 1e-12));
}

TEST_CASE("evidence: priors of unobserved variables, point masses included, leave it at zero") {
  Graph g;
  g.factor("bernoulli_prior", {g.variable("x", 4, "bernoulli")}, {{"probability", {0.0, 1.0, 0.84, 0.1}}});
  const auto [plan, state, report] = oracle::solved(compile(g, forward_backward(), standard_registry()));
  CHECK(report.stop == Report::Stop::exact);
  CHECK(std::abs(log_evidence(plan, state)) < 1e-14);
}

TEST_CASE("evidence: a certain value has probability one, and infinite evidence is not reported as exact") {
  for (const double seen : {0.0, 1.0}) {
    Graph g;
    const auto c = g.observed("c", 1, "bernoulli");
    g.factor("bernoulli_prior", {c}, {{"probability", 1.0}});
    const auto [plan, state, report] = oracle::solved(compile(g, forward_backward(), standard_registry()), {{c, seen}});
    CHECK(evidence(plan, state).line() == (seen == 1 ? "log evidence 0, exact" : "log evidence -inf, exact"));
  }
  // A certain value, with another message to it: p(x) q(x) at the only possible value.
  for (const bool twice : {false, true}) {
    Graph g;
    const auto x = g.variable("x", 1, "bernoulli");
    g.factor("bernoulli_prior", {x}, {{"probability", 1.0}});
    g.factor("bernoulli_prior", {x}, {{"probability", 0.3}});
    g.factor("bernoulli_prior", {x}, {{"probability", 0.6}});
    if (twice) g.factor("bernoulli_prior", {x}, {{"probability", 1.0}});
    const auto [plan, state, report] = oracle::solved(compile(g, forward_backward(), standard_registry()));
    CHECK(log_evidence(plan, state) == oracle::relative(std::log(0.3 * 0.6), 1e-13));
  }
  Graph g;
  const auto x = g.observed("x");
  g.factor("gaussian_prior", {x}, {{"mean", 2.0}, {"variance", 0.0}});
  const auto [plan, state, report] = oracle::solved(compile(g, forward_backward(), standard_registry()), {{x, 2}});
  const Evidence found = evidence(plan, state);
  CHECK(found.log_value == kInfinity);
  CHECK(!found.is_exact);
  CHECK(found.line().find("approximate: infinite") != std::string::npos);
}

TEST_CASE("evidence: variational messages give the variational bound, which lies below the exact evidence") {
  const std::vector<double> data = {1.2, 0.7, 2.1, 1.6, 0.9};
  Graph g;
  const auto m = g.variable("m"), w = g.variable("w", 1, "gamma"), y = g.observed("y", data.size());
  g.factor("gaussian_prior", {m}, {{"mean", 0.0}, {"variance", 100.0}});
  g.factor("gamma_prior", {w}, {{"shape", 1.5}, {"rate", 0.5}});
  g.factor("gaussian_precision", {all_to_one(m), all_to_one(w), y}, {}, {.method = "vmp"});
  const auto [plan, state, report] = oracle::solved(
      compile(g, flooding({.tolerance = 1e-13, .limit = 2000, .damping = 0.2}), standard_registry()), {{y, data}});
  CHECK(report.converged());
  const Evidence found = evidence(plan, state);
  CHECK_FALSE(found.is_exact);
  CHECK(found.why == "a lower bound: some messages are variational");
  // Coordinate ascent on q(m) = N(mean, variance), q(w) = gamma(a, b), and the bound by its definition.
  const double log_two_pi = std::log(2 * M_PI), a = 1.5 + 2.5;
  double mean = 0, variance = 1, b = 1, sum = 0, squares = 0;
  for (const double x : data) sum += x;
  for (int i = 0; i < 2000; ++i) {
    variance = 1 / (0.01 + 5 * a / b), mean = variance * a / b * sum, squares = 0;
    for (const double x : data) squares += (x - mean) * (x - mean) + variance;
    b = 0.5 + 0.5 * squares;
  }
  const double log_w = boost::math::digamma(a) - std::log(b);
  const double bound = 2.5 * (log_w - log_two_pi) - 0.5 * a / b * squares                       // E[log likelihood]
                       - 0.5 * (log_two_pi + std::log(100)) - (mean * mean + variance) / 200    // E[log p(m)]
                       + 1.5 * std::log(0.5) - std::lgamma(1.5) + 0.5 * log_w - 0.5 * a / b     // E[log p(w)]
                       + 0.5 * (1 + log_two_pi + std::log(variance))                            // H(m)
                       + a - std::log(b) + std::lgamma(a) + (1 - a) * boost::math::digamma(a);  // H(w)
  CHECK(found.log_value == oracle::relative(bound, 1e-9));
  CHECK(state.belief(m).mean() == oracle::relative(mean, 1e-8));
  CHECK(state.belief(m).variance() == oracle::relative(variance, 1e-8));
  CHECK(state.belief(w).mean() == oracle::relative(a / b, 1e-8));
  double exact = 0, square = 0;
  for (const double x : data) square += x * x;
  for (double u = -20; u < 10; u += 0.001) {  // given w = exp(u) the mean is Gaussian
    const double v = std::exp(u), rho = 0.01 + 5 * v;
    exact += 0.001 * std::exp(1.5 * std::log(0.5) - std::lgamma(1.5) + 1.5 * u - 0.5 * v + 2.5 * (u - log_two_pi) -
                              0.5 * v * square + 0.5 * v * v * sum * sum / rho - 0.5 * std::log(100 * rho));
  }
  CHECK(found.log_value < std::log(exact));
  CHECK(found.log_value > std::log(exact) - 0.2);
}

TEST_CASE("evidence: the variational bound of an outcome that is itself uncertain") {
  Graph g;
  const auto p = g.variable("p", 1, "beta"), o = g.variable("o", 1, "bernoulli");
  g.factor("beta_prior", {p}, {{"a", 2.0}, {"b", 3.0}});
  g.factor("bernoulli_draw", {p, o}, {}, {.method = "vmp"});
  g.factor("bernoulli_prior", {o}, {{"probability", 0.7}});
  const auto [plan, state, report] = oracle::solved(compile(g, flooding({.tolerance = 1e-13}), standard_registry()));
  CHECK(report.converged());
  const auto digamma = [](double x) { return boost::math::digamma(x); };
  const auto log_beta = [](double a, double b) { return std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b); };
  double r = 0.5;
  for (int i = 0; i < 1000; ++i) {
    const double one = 0.7 * std::exp(digamma(2 + r)), none = 0.3 * std::exp(digamma(4 - r));
    r = one / (one + none);
  }
  const double yes = digamma(2 + r) - digamma(6), no = digamma(4 - r) - digamma(6);
  const double kl = log_beta(2, 3) - log_beta(2 + r, 4 - r) + r * yes + (1 - r) * no;
  const double bound = r * (std::log(0.7) + yes - std::log(r)) + (1 - r) * (std::log(0.3) + no - std::log(1 - r)) - kl;
  CHECK(log_evidence(plan, state) == oracle::relative(bound, 1e-9));
  CHECK(log_evidence(plan, state) < std::log(0.7 * 0.4 + 0.3 * 0.6));
}

TEST_CASE("evidence: a function with variational messages has no part of the bound, and is refused") {
  Graph g;
  const auto x = g.variable("x"), z = g.variable("z");
  g.factor("gaussian_prior", {x}, {{"mean", 1.0}, {"variance", 1.0}});
  g.factor("leaky_relu", {x, z}, {{"slope", 0.1}}, {.method = "vmp"});
  const Plan plan = compile(g, forward_backward(), standard_registry());
  State state(plan);
  CHECK(refusal(plan, state).find("kind 'leaky_relu' gives no part of the variational bound") != std::string::npos);
}

TEST_CASE("evidence: if its parts cancel to the last digit it is not reported as exact") {
  Graph g;
  const auto x = g.variable("x"), z = g.variable("z");
  g.factor("gaussian_prior", {x}, {{"mean", 0.1}, {"variance", 3e-85}});
  g.factor("sum", {x, z}, {{"coefficients", 310.0}});
  g.factor("gaussian_prior", {z}, {{"mean", 77.0}, {"variance", 0.07}});
  const auto [plan, state, report] = oracle::solved(compile(g, forward_backward(), standard_registry()));
  CHECK_FALSE(evidence(plan, state).is_exact);
}

TEST_CASE("evidence: a shared variable that is known exactly counts as its value and with its cavity's density there") {
  Graph g;
  const auto w = g.shared("w"), y = g.observed("y");
  g.factor("gaussian_prior", {w}, {{"mean", 0.7}, {"variance", 0.0}});
  g.factor("gaussian_noise", {w, y}, {{"variance", 0.5}});
  auto [plan, state, report] = oracle::solved(compile(g, forward_backward(), standard_registry()), {{y, 1.3}});
  const double alone = log_density(Gaussian::from_moments(0.7, 0.5), 1.3);
  CHECK(log_evidence(plan, state) == oracle::relative(alone, 1e-14));
  const Gaussian cavity = Gaussian::from_moments(1, 2);
  state.cavity(w).set(0, cavity);
  (void)run(plan, state);
  CHECK(log_evidence(plan, state) == oracle::relative(alone + log_density(cavity, 0.7), 1e-14));
}
