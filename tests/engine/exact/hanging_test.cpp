// Gaussian trees that hang on discrete loops, against sums of closed forms.
#include "tests/oracles/solved.h"

TEST_CASE("exact: components of a mixture that are farther away than any exponent") {
  for (const double far : {1e3, 1e30, 1e90, 1e140}) {
    CAPTURE(far);
    Graph g;
    const VariableId s = g.variable("s", 1, "categorical(3)"), m = g.observed("m", 3), y = g.variable("y");
    g.factor("mixture", {s, m, y});
    g.factor("gaussian_prior", {y}, {{"mean", 0.0}, {"variance", 1.0}});
    const auto [plan, state, report] =
        oracle::solved(compile(g, exact(), standard_registry()), {{m, {0.5, -far, 2 * far}}});
    CHECK(report.stop == Report::Stop::exact);
    const Belief belief = state.belief(s);
    CHECK(belief.mean(0, 0) == 1);
    for (const Natural& k : belief.message(0)) CHECK(std::isfinite(k.tau));
    // log N(0; m, 2) of each value, relative to the first.
    for (const auto& [k, mean] : {std::pair{1.0, far}, {2.0, 2 * far}})
      CHECK(belief.log_density(0, {&k, 1}) == oracle::relative(-0.25 * mean * mean + 0.0625, 1e-14));
    CHECK(state.belief(y).mean() == doctest::Approx(0.25));
  }
}

TEST_CASE("exact: Gaussian trees that hang on a discrete loop") {
  // Three causes that tend to agree; each has a level y of mean m[k], where m and y are unknown: z is y with noise.
  constexpr double kPrior[] = {-1, 2}, kPriorVariance = 0.5, kNoise = 0.3;
  const std::vector<double> variances{1, 4}, z{0.3, 2.5, -1.2};
  Graph g;
  std::vector<VariableId> s, m, y, seen;
  for (std::size_t i = 0; i < 3; ++i) {
    s.push_back(g.variable("", 1, "categorical(2)"));
    m.push_back(g.variable("", 2)), y.push_back(g.variable("")), seen.push_back(g.observed(""));
    g.factor("gaussian_prior", {m[i]}, {{"mean", {kPrior[0], kPrior[1]}}, {"variance", kPriorVariance}});
    g.factor("mixture", {s[i], m[i], y[i]}, {{"variance", variances}});
    g.factor("gaussian_noise", {y[i], seen[i]}, {{"variance", kNoise}});
  }
  for (std::size_t i = 0; i < 3; ++i) g.factor("potential", {s[i], s[(i + 1) % 3]}, {{"weight", {5, 1, 1, 2}}});
  const Plan plan = compile(g, exact(), standard_registry());
  State state(plan);
  for (std::size_t i = 0; i < 3; ++i) state.observe(seen[i], z[i]);
  const Report report = run(plan, state);
  CHECK(report.stop == Report::Stop::exact);
  double total = 0, largest = 0;
  std::vector<double> up(3), y_first(3), y_second(3), m_first(3), m_second(3);
  for (unsigned at = 0; at < 8; ++at) {
    double weight = 1;
    for (unsigned i = 0; i < 3; ++i) {
      const unsigned k = at >> i & 1, next = at >> (i + 1) % 3 & 1;
      weight *= k != next ? 1 : k == 0 ? 5 : 2;
      const double variance = kPriorVariance + variances[k] + kNoise;
      weight *= std::exp(-0.5 * std::pow(z[i] - kPrior[k], 2) / variance) / std::sqrt(2 * std::acos(-1.0) * variance);
    }
    total += weight;
    largest = std::max(largest, weight);
    for (unsigned i = 0; i < 3; ++i) {
      const unsigned k = at >> i & 1;
      const auto given = [&](double mean, double variance, double noise) {  // moments given z
        const double gain = variance / (variance + noise);
        return std::pair(mean + gain * (z[i] - mean), (1 - gain) * variance);
      };
      const auto [y_mean, y_variance] = given(kPrior[k], kPriorVariance + variances[k], kNoise);
      const auto [m_mean, m_variance] =
          k == 1 ? given(kPrior[1], kPriorVariance, variances[1] + kNoise) : std::pair(kPrior[1], kPriorVariance);
      up[i] += k * weight;
      y_first[i] += weight * y_mean, y_second[i] += weight * (y_variance + y_mean * y_mean);
      m_first[i] += weight * m_mean, m_second[i] += weight * (m_variance + m_mean * m_mean);
    }
  }
  CHECK(std::abs(log_evidence(plan, state) - std::log(total)) < 1e-11);
  CHECK(std::abs(ExactPosterior(state).most_probable().log_probability - std::log(largest)) < 1e-11);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(std::abs(state.belief(s[i]).mean(0, 1) - up[i] / total) < 1e-11);
    const double y_mean = y_first[i] / total, m_mean = m_first[i] / total;
    CHECK(std::abs(state.belief(y[i]).mean() - y_mean) < 1e-11);
    CHECK(std::abs(state.belief(y[i]).variance() - (y_second[i] / total - y_mean * y_mean)) < 1e-10);
    CHECK(std::abs(state.belief(m[i]).mean(1) - m_mean) < 1e-11);
    CHECK(std::abs(state.belief(m[i]).variance(1) - (m_second[i] / total - m_mean * m_mean)) < 1e-10);
  }
  // A single mean would join all three.
  Graph joined;
  const VariableId both = joined.variable("mean", 2), causes = joined.variable("cause", 2, "categorical(2)"),
                   levels = joined.observed("level", 2);
  joined.factor("gaussian_prior", {both}, {{"mean", 0.0}, {"variance", 1.0}});
  joined.factor("potential", {gather(causes, {0}), gather(causes, {1})}, {{"weight", {2, 1, 1, 2}}});
  for (std::uint32_t i = 0; i < 2; ++i) joined.factor("mixture", {gather(causes, {i}), both, gather(levels, {i})});
  const std::string text = oracle::error_of([&] { (void)compile(joined, exact(), standard_registry()); });
  CHECK(text.find("exact: the factors that are not discrete ") == 0);
  CHECK(text.find("sweep with a schedule, such as flooding()") != std::string::npos);
}

TEST_CASE("exact: a mixture far from its first part keeps its variance") {
  Graph g;
  const VariableId cause = g.variable("cause", 1, "categorical(2)"), level = g.variable("level"),
                   means = g.observed("means", 2);
  g.factor("categorical_prior", {cause}, {{"probability", {1e-18, 1 - 1e-18}}});
  g.factor("mixture", {cause, means, level}, {{"variance", 0.25}});
  const auto [plan, state, report] = oracle::solved(compile(g, exact(), standard_registry()), {{means, {-1e8, 1e8}}});
  CHECK(std::abs(state.belief(level).variance() - (0.25 + 4e-2)) < 1e-9);  // 1e-18 (2e8)^2
}

TEST_CASE("exact: parts that hang on nothing, and what is missing, have their part in the evidence once") {
  const std::vector<double> weights{2, 1, 4}, means{-1, 0, 2}, variances{0.5, 1, 0.2};
  constexpr double kNoise = 0.3, kSeen = 0.7, kApart = 0.3;
  Graph g;
  const VariableId s = g.variable("s", 1, "categorical(3)"), m = g.observed("m", 3), y = g.variable("y"),
                   seen = g.observed("seen", 2), u = g.variable("u"), apart = g.observed("apart");
  g.factor("potential", {s}, {{"weight", weights}});
  g.factor("mixture", {s, m, y}, {{"variance", variances}});
  g.factor("gaussian_noise", {all_to_one(y), seen}, {{"variance", kNoise}});
  g.factor("gaussian_prior", {u}, {{"mean", 1.0}, {"variance", 2.0}});
  g.factor("gaussian_noise", {u, apart}, {{"variance", 0.5}});
  const Plan plan = compile(g, exact(), standard_registry());
  State state(plan);
  state.observe(m, means);
  state.observe(seen, {std::optional(kSeen), std::nullopt});
  state.observe(apart, kApart);
  CHECK(run(plan, state).stop == Report::Stop::exact);
  const auto density = [](double x, double variance) {
    return std::exp(-0.5 * x * x / variance) / std::sqrt(2 * std::acos(-1.0) * variance);
  };
  std::vector<double> joint;
  double total = 0, mean = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    joint.push_back(weights[k] * density(kSeen - means[k], variances[k] + kNoise) * density(kApart - 1, 2.5));
    total += joint[k];
    mean += joint[k] * (means[k] + variances[k] / (variances[k] + kNoise) * (kSeen - means[k]));
  }
  CHECK(std::abs(log_evidence(plan, state) - std::log(total)) < 1e-11);
  CHECK(std::abs(ExactPosterior(state).most_probable().log_probability - std::log(std::ranges::max(joint))) < 1e-11);
  CHECK(std::abs(state.belief(y).mean() - mean / total) < 1e-11);
  CHECK(std::abs(state.belief(u).mean() - (1 + 0.8 * (kApart - 1))) < 1e-11);
  for (std::size_t k = 0; k < 3; ++k) CHECK(std::abs(state.belief(s).mean(0, k) - joint[k] / total) < 1e-11);
}

TEST_CASE("exact: a missing value is integrated over all it could be, by one factor; two refuse it") {
  for (const bool is_joined : {false, true}) {
    Graph g;
    const VariableId p = g.observed("p", 1, "dirichlet(13)"), k = g.observed("k", 1, "categorical(13)");
    g.factor("categorical_draw", {p, k});
    if (is_joined) g.factor("dirichlet_prior", {p}, {{"concentration", std::vector<double>(13, 2)}});
    const Plan plan = compile(g, exact(), standard_registry());
    State state(plan);
    for (const VariableId missing : {p, k}) state.observe_missing(missing);
    if (is_joined) {
      CHECK_THROWS_WITH_AS((void)run(plan, state), doctest::Contains("'p' has no value in this run"), Error);
    } else {
      (void)run(plan, state);
      CHECK(std::abs(log_evidence(plan, state) + std::lgamma(13.0)) < 1e-12);  // the simplex has volume 1 / 12!
    }
  }
}

TEST_CASE("exact: discrete variables with and without hanging parts") {
  Graph g;
  const VariableId cause = g.variable("cause", 1, "categorical(3)"), s = g.variable("s", 1, "categorical(2)"),
                   means = g.observed("means", 2), level = g.variable("level"), seen = g.observed("seen");
  g.factor("categorical_prior", {cause}, {{"probability", {0.2, 0.3, 0.5}}});
  g.factor("table", {cause, s}, {{"probability", {0.9, 0.1, 0.5, 0.5, 0.2, 0.8}}});
  g.factor("mixture", {s, means, level}, {{"variance", 0.5}});
  g.factor("gaussian_noise", {level, seen}, {{"variance", 0.5}});
  const auto density = [](double x) { return std::exp(-0.5 * x * x) / std::sqrt(2 * std::acos(-1.0)); };
  const double first = density(0.3 + 1), second = density(0.3 - 1), total = 0.43 * first + 0.57 * second;
  const auto check = [&](const Plan& plan) {
    State state(plan);
    state.observe(means, {-1.0, 1.0});
    state.observe(seen, 0.3);
    (void)run(plan, state);
    CHECK(std::abs(state.belief(cause).mean(0, 2) - 0.5 * (0.2 * first + 0.8 * second) / total) < 1e-12);
    CHECK(std::abs(log_evidence(plan, state) - std::log(total)) < 1e-12);
    CHECK(std::abs(state.belief(level).mean() - (0.43 * first * -0.35 + 0.57 * second * 0.65) / total) < 1e-12);
  };
  check(compile(g, exact(), standard_registry()));
  check(compile(g, tree_reweighted({.tolerance = 1e-13}), standard_registry()));
}
