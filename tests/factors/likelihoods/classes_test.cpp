#include "factors/likelihoods/classes.h"

#include <random>

#include "factors/authoring/normal.h"
#include "factors/likelihoods/logistic.h"
#include "tests/oracles/quadrature.h"
#include "tests/oracles/solved.h"

namespace {

// Three unknowns with Gaussian priors.
struct Classified {
  std::vector<double> means = {0.3, -0.5, 1.1}, variances = {1.0, 0.4, 2.0};
  double noise = 0.7, mass = 0;
  std::vector<double> first, second;

  // Mass, means and variances of f times the priors, on a lattice.
  template <class F>
  void integrate(const F& f) {
    first.assign(3, 0), second.assign(3, 0), mass = 0;
    constexpr int kSteps = 36;  // spacing of 0.39 standard deviations: the error of the rule is 1e-15
    constexpr double kReach = 7;
    const auto at = [&](std::size_t k, int i) {
      return means[k] + std::sqrt(variances[k]) * kReach * (2.0 * i / kSteps - 1);
    };
    for (int a = 0; a <= kSteps; ++a)
      for (int b = 0; b <= kSteps; ++b)
        for (int c = 0; c <= kSteps; ++c) {
          const double x[3] = {at(0, a), at(1, b), at(2, c)};
          double p = f(x);
          for (std::size_t k = 0; k < 3; ++k)
            p *= normal::density((x[k] - means[k]) / std::sqrt(variances[k])) * 2 * kReach / kSteps;
          mass += p;
          for (std::size_t k = 0; k < 3; ++k) first[k] += p * x[k], second[k] += p * x[k] * x[k];
        }
    for (std::size_t k = 0; k < 3; ++k) first[k] /= mass, second[k] = second[k] / mass - first[k] * first[k];
  }
  // P(score `winner` plus its noise is the largest).
  double wins(std::size_t winner, const double* x) const {
    const double sd = std::sqrt(noise);
    double sum = 0;
    for (double z = -8; z <= 8; z += 0.5) {
      double p = normal::density(z) * 0.5;
      for (std::size_t k = 0; k < 3; ++k)
        if (k != winner) p *= normal::distribution(z + (x[winner] - x[k]) / sd);
      sum += p;
    }
    return sum;
  }
};

}  // namespace

TEST_CASE("argmax, softmax, multinomial, ordered: exact moments and evidence, by sweeps and in the joint solver") {
  const auto softmax = [](const double* x, std::size_t c) {
    return std::exp(x[c]) / (std::exp(x[0]) + std::exp(x[1]) + std::exp(x[2]));
  };
  const auto below = [](double t) { return 1 / (1 + std::exp(-t)); };
  struct Case {
    std::string kind;
    std::vector<double> observed;
    std::function<double(const double*)> density;
  };
  Classified model;
  const std::vector<Case> cases{
      {"argmax", {0}, [&](const double* x) { return model.wins(0, x); }},
      {"argmax", {1}, [&](const double* x) { return model.wins(1, x); }},
      {"softmax", {0}, [&](const double* x) { return softmax(x, 0); }},
      {"softmax", {2}, [&](const double* x) { return softmax(x, 2); }},
      {"multinomial",
       {3, 0, 2},
       [&](const double* x) { return 10 * std::pow(softmax(x, 0), 3) * std::pow(softmax(x, 2), 2); }},
      {"multinomial", {0, 0, 0}, [](const double*) { return 1.0; }},
      {"ordered", {0}, [&](const double* x) { return below(x[1] - x[0]); }},
      {"ordered", {1}, [&](const double* x) { return std::max(0.0, below(x[2] - x[0]) - below(x[1] - x[0])); }},
      {"ordered", {2}, [&](const double* x) { return below(x[0] - x[2]); }}};
  for (const Case& c : cases) {
    INFO("c.kind ", c.kind, ", c.observed[0] ", c.observed[0]);
    if (c.kind == "ordered") model.means = {0.3, -1.2, 2.0}, model.variances = {1.0, 0.05, 0.1};
    Graph g;
    const auto x = g.variable("x", 3);
    const auto y = c.observed.size() > 1 ? g.observed("y", 3)
                   : c.kind == "ordered" ? g.observed("y")
                                         : g.observed("y", 1, "categorical(3)");
    g.factor("gaussian_prior", {x}, {{"mean", model.means}, {"variance", model.variances}});
    if (c.kind == "ordered")
      g.factor(c.kind, {{"x", gather(x, {0})}, {"cuts", gather(x, {1, 2})}, {"y", y}});
    else if (c.kind == "multinomial")  // an end per class
      g.factor(c.kind, {{"scores", gather(x, {0})},
                        {"scores", gather(x, {1})},
                        {"scores", gather(x, {2})},
                        {"counts", gather(y, {0})},
                        {"counts", gather(y, {1})},
                        {"counts", gather(y, {2})}});
    else
      g.factor(c.kind, {x, y}, c.kind == "argmax" ? ParameterList{{"noise", model.noise}} : ParameterList{});
    model.integrate(c.density);
    const auto check = [&](const Plan& plan) {
      State state(plan);
      state.observe(y, c.observed);
      CHECK(run(plan, state).converged());
      for (std::size_t k = 0; k < 3; ++k) {
        CHECK(state.belief(x).mean(k) == oracle::relative(model.first[k], 1e-6));
        CHECK(state.belief(x).variance(k) == oracle::relative(model.second[k], 1e-6));
      }
      CHECK(log_evidence(plan, state) == oracle::relative(std::log(model.mass), 1e-6, 1));
    };
    check(compile(g, flooding({.tolerance = 1e-10}), standard_registry(), {.method = "ep"}));
    check(compile(g, joint(), standard_registry()));
  }
}

// With two classes everything depends on the difference of the scores, N(m, v): a one-dimensional integral of a
// binomial.
TEST_CASE("softmax, multinomial: two classes give the binomial's integral, for any widths and counts") {
  for (const auto& of_two : {std::pair{1.0, 0.0}, {0.0, 1.0}, {3.0, 1.0}, {0.0, 40.0}, {2000.0, 900.0}})
    for (const double narrow : {0.0, 1e-10, 0.3, 4.0})
      for (const double wide : {1e-3, 1.0, 30.0, 1e4}) {
        const std::vector<Gaussian> scores{Gaussian::from_moments(0.4, narrow), Gaussian::from_moments(-0.2, wide)};
        const double a = of_two.first, b = of_two.second, v = narrow + wide,
                     log_choose = std::lgamma(a + b + 1) - std::lgamma(a + 1) - std::lgamma(b + 1);
        INFO("counts ", a, " and ", b, ", variances ", narrow, " and ", wide);
        const Gaussian difference = Gaussian::from_moments(0.6, v);
        // Around the mode, where the observed odds and the prior balance.
        const auto log_f = [&](double t) {
          return log_choose + a * Logistic::log_density(t, 1) + b * Logistic::log_density(t, 0);
        };
        double mode = 0.6;
        for (int i = 0; i < 200; ++i) {
          const double p = 1 / (1 + std::exp(-mode));
          mode += std::clamp((a - (a + b) * p - (mode - 0.6) / v) / ((a + b) * p * (1 - p) + 1 / v), -1.0, 1.0);
        }
        const double top = log_f(mode) + log_density(difference, mode);
        double mass = 0, first = 0, second = 0;
        for (double z = -9; z <= 9; z += 1.0 / 128) {  // even steps of sinh reach both the peak and its tails
          const double p = 1 / (1 + std::exp(-mode)), width = 1 / std::sqrt((a + b) * p * (1 - p) + 1 / v),
                       t = mode + width * std::sinh(z),
                       w = std::exp(log_f(t) + log_density(difference, t) - top) * width * std::cosh(z) / 128;
          mass += w, first += w * (t - 0.6), second += w * (t - 0.6) * (t - 0.6);
        }
        first /= mass, second = second / mass - first * first;
        std::vector<Natural> arrivals{scores[0], scores[1], Gaussian::point(a), Gaussian::point(b)};
        CHECK(Multinomial::log_integral(arrivals) == oracle::relative(top + std::log(mass), 1e-9));
        std::vector<GaussianOrFallback> said(2);
        const std::vector<Gaussian> counts{Gaussian::point(a), Gaussian::point(b)};
        Multinomial::to_scores(scores, counts, said);
        for (std::size_t k = 0; k < 2; ++k) {
          const double own = k == 0 ? narrow : wide, gain = own / v, sign = k == 0 ? 1 : -1;
          if (own == 0) continue;
          const Gaussian belief = scores[k] * said[k];
          const double mean = scores[k].mean() + sign * gain * first, variance = own - gain * gain * (v - second);
          CHECK(std::abs(belief.mean() - mean) < 1e-8 * std::sqrt(own));
          CHECK(belief.variance() == oracle::relative(variance, 1e-7));
        }
      }
}

TEST_CASE("softmax, multinomial: huge counts, scores that are known almost exactly or hardly at all") {
  // Scores N(0, 1) and N(0.5, 2): log evidence and moments by quadrature over their difference in 60 digits.
  struct Counted {
    double a, b, log_mass, mean, variance;
  };
  for (const Counted& c : {Counted{1e6, 333333, -14.323388163802452, 0.53287071906114654, 0.66666711111093374},
                           Counted{1e9, 333333333, -21.231143028693202, 0.53287076284554221, 0.66666666711111111},
                           Counted{1e12, 333333333333, -28.138898307261248, 0.53287076288932607, 0.66666666666711111},
                           Counted{1e15, 333333333333333, -35.046653586242971, 0.53287076288936985, 2 / 3.0},
                           Counted{1e18, 333333333333333310., -41.954408865225108, 0.53287076288936992, 2 / 3.0}}) {
    CAPTURE(c.a);
    const std::vector<Gaussian> scores{Gaussian::from_moments(0, 1), Gaussian::from_moments(0.5, 2)},
        counts{Gaussian::point(c.a), Gaussian::point(c.b)};
    CHECK(std::abs(Multinomial::log_integral(std::vector<Natural>{scores[0], scores[1], counts[0], counts[1]}) -
                   c.log_mass) < 1e-12 * std::abs(c.log_mass));
    std::vector<GaussianOrFallback> said(2);
    Multinomial::to_scores(scores, counts, said);
    CHECK(std::abs((scores[0] * said[0]).mean() - c.mean) < 1e-12);
    CHECK(std::abs((scores[0] * said[0]).variance() - c.variance) < 1e-12);
  }
  const std::vector<CategoricalComponent> first{{}, CategoricalComponent::forbidden()};
  for (const double narrow : {1e-14, 1e-20, 1e-40, 1e-200}) {  // the slope and the curvature of log 1 / (1 + exp(-t))
    CAPTURE(narrow);
    const std::vector<Gaussian> scores{Gaussian::from_moments(0, narrow), Gaussian::from_moments(0, narrow)};
    CHECK(std::abs(Softmax::log_integral(std::vector<Natural>{scores[0], scores[1], first[0], first[1]}) +
                   std::log(2.0)) < 1e-12);
    if (narrow < 1e-30) continue;  // the message is too small to change the belief, and is uniform
    std::vector<GaussianOrFallback> said(2);
    Softmax::to_scores(scores, first, said);
    CHECK(said[0].tau == oracle::relative(0.5, 1e-9));
    CHECK(said[0].rho == oracle::relative(0.25, 1e-9));
    CHECK(!said[0].replaced);
  }
  for (const double wide : {1e20, 1e40, 1e200}) {  // the half that exceeds the other
    CAPTURE(wide);
    const std::vector<Gaussian> scores{Gaussian::from_moments(0, wide), Gaussian::from_moments(0, 1)};
    std::vector<GaussianOrFallback> said(2);
    Softmax::to_scores(scores, first, said);
    CHECK(std::abs(Softmax::log_integral(std::vector<Natural>{scores[0], scores[1], first[0], first[1]}) +
                   std::log(2.0)) < 1e-10);
    CHECK((scores[0] * said[0]).mean() == oracle::relative(std::sqrt(2 * wide / std::acos(-1.0)), 1e-9));
    CHECK((scores[1] * said[1]).variance() == oracle::relative(1, 1e-9));
  }
}

// Twelve rows of one input: three unknowns, whose posterior a lattice integrates completely.
TEST_CASE("softmax, ordered: regression with unknown weights and cut points, near the posterior") {
  const std::vector<double> input{-2, -1.5, -1.1, -0.8, -0.3, -0.1, 0.2, 0.5, 0.9, 1.2, 1.6, 2.1},
      seen{0, 0, 1, 0, 1, 0, 1, 2, 1, 2, 2, 2};
  const auto rows = static_cast<std::uint32_t>(input.size());
  for (const std::string kind : {"softmax", "ordered"}) {
    CAPTURE(kind);
    Classified model;
    Graph g;
    const auto w = g.variable("w", 3);
    VariableId y;
    if (kind == "softmax") {
      model.means = {0, 0, 0}, model.variances = {1, 1, 1e-6};  // the last class is the reference
      const auto score = g.variable("score", 3 * rows);
      std::vector<double> coefficients;
      std::vector<std::uint32_t> weights;
      for (std::uint32_t i = 0; i < 3 * rows; ++i) weights.push_back(i % 3), coefficients.push_back(input[i / 3]);
      y = g.observed("y", rows, "categorical(3)");
      g.factor("sum", {gather(w, weights), score}, {{"coefficients", coefficients}});
      g.factor(kind, {score, y});
    } else {
      model.means = {1, -1, 1}, model.variances = {1, 1, 1};
      const auto score = g.variable("score", rows);
      y = g.observed("y", rows);
      g.factor("sum", {gather(w, std::vector<std::uint32_t>(rows, 0)), score}, {{"coefficients", input}});
      std::vector<std::uint32_t> cuts;
      for (std::uint32_t r = 0; r < rows; ++r) cuts.push_back(1), cuts.push_back(2);
      g.factor(kind, {{"x", score}, {"cuts", gather(w, cuts)}, {"y", y}});
    }
    g.factor("gaussian_prior", {w}, {{"mean", model.means}, {"variance", model.variances}});
    const auto log_density = standard_registry().kind(kind).log_density();
    model.integrate([&](const double* x) {
      double sum = 0;
      for (std::size_t r = 0; r < rows; ++r) {
        std::vector<double> values{x[0] * input[r], x[1], x[2], seen[r]};
        if (kind == "softmax") {
          values = {x[0] * input[r], x[1] * input[r], x[2] * input[r], 0, 0, 0};
          values[3 + static_cast<std::size_t>(seen[r])] = 1;
        }
        sum += log_density(values, {});
      }
      return std::exp(sum);
    });
    const auto [plan, state, report] =
        oracle::solved(compile(g, joint({.site_tolerance = 1e-6}), standard_registry()), {{y, seen}});
    CAPTURE(report.line());
    CHECK(report.converged());
    for (std::size_t k = 0; k < 3; ++k) {
      CHECK(std::abs(state.belief(w).mean(k) - model.first[k]) < 0.1 * std::sqrt(model.second[k]));
      CHECK(state.belief(w).variance(k) == oracle::relative(model.second[k], 0.15));
    }
    CHECK(std::abs(log_evidence(plan, state) - std::log(model.mass)) < 0.1);
  }
}

TEST_CASE("argmax: the probabilities of the classes have sum one, and of two they are the probit's") {
  std::vector<Gaussian> scores = {Gaussian::from_moments(0.3, 1), Gaussian::from_moments(-40, 0.2),
                                  Gaussian::from_moments(2, 3)};
  std::vector<CategoricalComponent> out(3);
  Argmax::to_class(scores, {0.5}, out);
  double sum = 0;
  for (std::size_t c = 0; c < 3; ++c) {
    std::vector<Natural> arrivals(scores.begin(), scores.end());
    for (std::size_t k = 0; k < 3; ++k) arrivals.push_back({k == c ? 1.0 : 0.0, kInfinity});
    sum += std::exp(Argmax::log_integral(arrivals, {0.5}));
  }
  CHECK(sum == oracle::relative(1, 1e-9));
  CHECK(out[1].tau < -200);  // far below, not forbidden
  CHECK(out[1].rho == 0);
  Argmax::to_class({scores.data(), 1}, {0.5}, {out.data(), 1});
  std::vector<Gaussian> two = {scores[0], scores[2]};
  Argmax::to_class(two, {0.5}, {out.data(), 2});
  const double odds = std::exp(out[1].tau - out[0].tau), p = normal::distribution(1.7 / std::sqrt(1 + 3 + 1.0));
  CHECK(odds / (1 + odds) == oracle::relative(p, 1e-9));
}

TEST_CASE("argmax: scores of very different widths: two classes give the probit's probability and moments") {
  for (const double narrow : {1e-8, 1e-4, 1.0})
    for (const double wide : {1.0, 1e4, 1e10})
      for (const double mean : {-1.7, 0.0, 0.6, 40.0}) {
        INFO("narrow ", narrow, ", wide ", wide, ", mean ", mean);
        // u_1 - u_0 is N(distance, spread^2), and the class is 1 where it is positive.
        constexpr double kNoise = 1e-8;
        const std::vector<Gaussian> scores = {Gaussian::from_moments(0.2, narrow), Gaussian::from_moments(mean, wide)};
        const double v[] = {scores[0].variance(), scores[1].variance()}, spread = std::sqrt(v[0] + v[1] + 2 * kNoise),
                     t = (scores[1].mean() - scores[0].mean()) / spread;
        std::vector<CategoricalComponent> out(2);
        Argmax::to_class(scores, {kNoise}, out);
        const double log_odds = normal::log_distribution(t) - normal::log_distribution(-t);
        CHECK(std::abs(out[1].tau - out[0].tau - log_odds) < 1e-10 * (1 + std::abs(log_odds)));
        const std::vector<CategoricalComponent> seen = {{0, kInfinity}, {1, kInfinity}};
        std::vector<GaussianOrFallback> said(2);
        Argmax::to_scores(scores, seen, {kNoise}, said);
        const double hazard = normal::hazard(t);
        for (std::size_t k = 0; k < 2; ++k) {
          const double gain = v[k] / spread;
          const Gaussian belief = scores[k] * said[k];
          CHECK(std::abs(belief.mean() - (scores[k].mean() + (k == 1 ? 1 : -1) * gain * hazard)) <
                1e-9 * (scores[k].sd() + std::abs(belief.mean())));
          CHECK(belief.variance() == oracle::relative(v[k] - gain * gain * hazard * (hazard + t), 1e-7));
        }
      }
}

TEST_CASE("argmax: scores of very different widths: three classes give the integral, cut at each score") {
  const std::vector<Gaussian> scores = {Gaussian::from_moments(0.3, 1e4), Gaussian::from_moments(5, 1),
                                        Gaussian::from_moments(4.5, 1e-3)};
  constexpr double kNoise = 1e-3;
  std::vector<CategoricalComponent> out(3);
  Argmax::to_class(scores, {kNoise}, out);
  double mass[3], sum = 0;
  for (std::size_t c = 0; c < 3; ++c) {
    std::vector<double> cuts;
    for (const Gaussian& x : scores)
      for (double z = -10; z <= 10; z += 0.5) cuts.push_back(x.mean() + z * std::sqrt(x.variance() + kNoise));
    std::ranges::sort(cuts);
    mass[c] = 0;
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i)
      mass[c] += oracle::integral(
          [&](double u) {
            double p = 1;
            for (std::size_t k = 0; k < 3; ++k) {
              const double sd = std::sqrt(scores[k].variance() + kNoise), t = (u - scores[k].mean()) / sd;
              p *= k == c ? normal::density(t) / sd : normal::distribution(t);
            }
            return p;
          },
          cuts[i], cuts[i + 1]);
    sum += mass[c];
  }
  CHECK(sum == oracle::relative(1, 1e-11));
  for (std::size_t c = 0; c < 3; ++c)
    CHECK(out[c].tau - out[0].tau == oracle::relative(std::log(mass[c] / mass[0]), 1e-10, 1));
}
