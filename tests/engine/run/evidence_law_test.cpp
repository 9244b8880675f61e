// The evidence of one likelihood on a tree is an integral, and so are the moments. For every registered kind with a
// density, and readings up to 100 standard deviations from their prediction, sweeps and the joint solver find them.
#include "factors/authoring/from_function.h"
#include "tests/oracles/quadrature.h"
#include "tests/oracles/solved.h"

namespace {

using LogFactorAt = std::function<double(double)>;

constexpr double kTwoPi = 2 * std::numbers::pi;

double log_normal(double x, double mean, double variance) {
  return -0.5 * ((x - mean) * (x - mean) / variance + std::log(kTwoPi * variance));
}
double log_1_plus_exp(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }
double log_choose(double n, double k) { return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1); }
double log_student(double x, double degrees) {
  return std::lgamma(0.5 * (degrees + 1)) - std::lgamma(0.5 * degrees) - 0.5 * std::log(degrees * std::numbers::pi) -
         0.5 * (degrees + 1) * std::log1p(x * x / degrees);
}
// log Phi(t), in the lower tail by Mills' continued fraction.
double log_below(double t) {
  if (t > -5) return std::log(0.5 * std::erfc(-t / std::numbers::sqrt2));
  double ratio = -t;
  for (int n = 200; n > 0; --n) ratio = -t + n / ratio;
  return -0.5 * t * t - 0.5 * std::log(kTwoPi) - std::log(ratio);
}

// One end of a factor: a known value, or the unknown.
struct End {
  std::string port;
  std::optional<double> value = {};
  std::string family = {};
};

// f as a function of the unknown, written independently; `centre`: the reading's estimate of it; `breaks`: where f is
// not smooth.
struct Likelihood {
  std::string kind;
  std::vector<End> ends;
  ParameterList parameters;
  double centre;
  LogFactorAt log_f;
  std::vector<double> breaks = {};
};

std::vector<Likelihood> likelihoods() {
  const auto share = [](double x, double yes, double no) { return -yes * log_1_plus_exp(-x) - no * log_1_plus_exp(x); };
  std::vector<Likelihood> all;
  for (const double y : {0.0, 3.0, 10.0}) {
    all.push_back({"binomial", {{"x"}, {"y", y}}, {{"trials", 10.0}}, 0, [=](double x) {
                     return log_choose(10, y) + share(x, y, 10 - y);
                   }});
    all.push_back({"beta_binomial", {{"x"}, {"y", y}}, {{"trials", 10.0}, {"concentration", 5.0}}, 0, [=](double x) {
                     const double a = 5 * std::exp(-log_1_plus_exp(-x)), b = 5 * std::exp(-log_1_plus_exp(x));
                     double sum = log_choose(10, y);  // rising factorials
                     for (int i = 0; i < 10; ++i) sum -= std::log(5 + i);
                     for (int i = 0; i < y; ++i) sum += i == 0 ? std::log(5) - log_1_plus_exp(-x) : std::log(a + i);
                     for (int i = 0; i < 10 - y; ++i) sum += i == 0 ? std::log(5) - log_1_plus_exp(x) : std::log(b + i);
                     return sum;
                   }});
    all.push_back({"poisson", {{"x"}, {"y", y}}, {{"exposure", 2.0}}, 0, [=](double x) {
                     return y * (x + std::log(2)) - 2 * std::exp(x) - std::lgamma(y + 1);
                   }});
    all.push_back({"negative_binomial", {{"x"}, {"y", y}}, {{"shape", 1.5}}, 0, [=](double x) {
                     return std::lgamma(y + 1.5) - std::lgamma(1.5) - std::lgamma(y + 1) +
                            share(x - std::log(1.5), y, 1.5);
                   }});
  }
  for (const double y : {0.0, 1.0}) {
    const double sign = y > 0 ? 1 : -1;
    all.push_back({"logistic", {{"x"}, {"y", y}}, {}, 0, [=](double x) { return -log_1_plus_exp(-sign * x); }});
    all.push_back({"probit", {{"x"}, {"y", y}}, {}, 0, [=](double x) { return log_below(sign * x); }});
    all.push_back({"weibull", {{"x"}, {"y", 3.0}}, {{"shape", 1.7}, {"censored", y}}, std::log(3), [=](double x) {
                     const double log_hazard = 1.7 * (std::log(3) - x);
                     return (y == 1 ? 0 : std::log(1.7 / 3) + log_hazard) - std::exp(log_hazard);
                   }});
    // Two classes: one score against a known one.
    all.push_back({"argmax",
                   {{"scores"}, {"scores", 0.4}, {"class", 1 - y, "categorical(2)"}},
                   {{"noise", 0.5}},
                   0.4,
                   [=](double x) { return log_below(sign * (x - 0.4)); }});
    all.push_back(
        {"softmax", {{"scores"}, {"scores", 0.4}, {"class", 1 - y, "categorical(2)"}}, {}, 0.4, [=](double x) {
           return -log_1_plus_exp(-sign * (x - 0.4));
         }});
    all.push_back(
        {"interval", {{"x"}, {"class", y, "categorical(2)"}}, {{"noise", 0.3}, {"cuts", {0.2}}}, 0.2, [=](double x) {
           return log_below(sign * (x - 0.2) / std::sqrt(0.3));
         }});
    all.push_back({"interval",
                   {{"x"}, {"class", y, "categorical(2)"}},
                   {{"cuts", {0.2}}},
                   0.2,
                   [=](double x) { return sign * (x - 0.2) > 0 ? 0 : -kInfinity; },
                   {0.2}});
  }
  all.push_back(
      {"multinomial", {{"scores"}, {"scores", 0.4}, {"counts", 3.0}, {"counts", 2.0}}, {}, 0.8, [=](double x) {
         return std::log(10) + share(x - 0.4, 3, 2);
       }});
  all.push_back(
      {"greater_than", {{"x"}}, {{"threshold", 0.5}}, 0.5, [](double x) { return x > 0.5 ? 0 : -kInfinity; }, {0.5}});
  all.push_back({"within",
                 {{"x"}},
                 {{"margin", 0.3}},
                 0,
                 [](double x) { return std::abs(x) <= 0.3 ? 0 : -kInfinity; },
                 {-0.3, 0.3}});
  const auto between = [](double x, double a, double b) {
    return -log_1_plus_exp(x - b) - log_1_plus_exp(a - x) + std::log1p(-std::exp(a - b));
  };
  all.push_back({"ordered", {{"x"}, {"cuts", -1.0}, {"cuts", 1.0}, {"y", 0.0}}, {}, 0, [](double x) {
                   return -log_1_plus_exp(x + 1);
                 }});
  all.push_back({"ordered", {{"x"}, {"cuts", -1.0}, {"cuts", 1.0}, {"y", 1.0}}, {}, 0, [=](double x) {
                   return between(x, -1, 1);
                 }});
  all.push_back({"ordered", {{"x"}, {"cuts", -1.0}, {"cuts", 1.0}, {"y", 2.0}}, {}, 0, [](double x) {
                   return -log_1_plus_exp(1 - x);
                 }});
  all.push_back(
      {"ordered", {{"x", 0.7}, {"cuts"}, {"y", 1.0}}, {}, 0.7, [](double cut) { return -log_1_plus_exp(cut - 0.7); }});
  all.push_back({"gaussian_prior", {{"x"}}, {{"mean", 0.4}, {"variance", 0.3}}, 0.4, [](double x) {
                   return log_normal(x, 0.4, 0.3);
                 }});
  all.push_back({"gaussian_noise", {{"x"}, {"y", 0.4}}, {{"variance", 0.3}}, 0.4, [](double x) {
                   return log_normal(0.4, x, 0.3);
                 }});
  all.push_back({"gaussian_linear",
                 {{"x"}, {"x", 1.5}, {"y", 0.4}},
                 {{"A", {2.0, -1.0}}, {"b", 0.3}, {"variance", 0.3}},
                 0.8,
                 [](double x) { return log_normal(0.4, 2 * x - 1.5 + 0.3, 0.3); }});
  all.push_back({"student_t_noise", {{"x"}, {"y", 0.4}}, {{"scale", 0.5}, {"degrees", 3.0}}, 0.4, [](double x) {
                   return log_student((0.4 - x) / 0.5, 3) - std::log(0.5);
                 }});
  all.push_back(
      {"student_t_log_variance", {{"x"}, {"log_variance", -1.0}, {"y", 0.4}}, {{"degrees", 3.0}}, 0.4, [](double x) {
         return log_student((0.4 - x) * std::exp(0.5), 3) + 0.5;
       }});
  all.push_back(
      {"student_t_log_variance", {{"x", -0.8}, {"log_variance"}, {"y", 0.4}}, {{"degrees", 3.0}}, 0, [](double z) {
         return log_student(1.2 * std::exp(-0.5 * z), 3) - 0.5 * z;
       }});
  all.push_back({"gaussian_log_variance", {{"x"}, {"log_variance", -1.0}, {"y", 0.4}}, {}, 0.4, [](double x) {
                   return log_normal(0.4, x, std::exp(-1));
                 }});
  all.push_back({"gaussian_log_variance", {{"x", -0.8}, {"log_variance"}, {"y", 0.4}}, {}, 0, [](double z) {
                   return -0.5 * (1.44 * std::exp(-z) + z + std::log(kTwoPi));
                 }});
  all.push_back({"gaussian_precision", {{"mean"}, {"precision", 2.5, "gamma"}, {"value", 0.4}}, {}, 0.4, [](double x) {
                   return log_normal(0.4, x, 0.4);
                 }});
  all.push_back({"mixture",
                 {{"selector", 0.0, "categorical(2)"}, {"means"}, {"means", -1.0}, {"y", 0.4}},
                 {{"variance", {0.3, 0.2}}},
                 0.4,
                 [](double x) { return log_normal(0.4, x, 0.3); }});
  all.push_back({"normal_mixture",
                 {{"selector", 0.0, "categorical(2)"},
                  {"means"},
                  {"means", -1.0},
                  {"precisions", 2.5, "gamma"},
                  {"precisions", 4.0, "gamma"},
                  {"y", 0.4}},
                 {},
                 0.4,
                 [](double x) { return log_normal(0.4, x, 0.4); }});
  all.push_back({"laplace",
                 {{"x"}, {"y", 0.4}},
                 {},
                 0.4,
                 [](double x) { return -std::abs(x - 0.4) / 0.15 - std::log(0.3); },
                 {0.4}});
  return all;
}

struct Tilted {
  double log_mass, mean, variance;
};

// N(x; mean, variance) f(x), integrated by Gauss-Kronrod rules on short panels around its largest value.
Tilted tilted(const Likelihood& l, double mean, double variance) {
  constexpr double kReach = 130, kScan = 0.02, kPanel = 0.5, kNegligible = 60;
  const double sd = std::sqrt(variance);
  const auto log_weight = [&](double t) { return l.log_f(mean + sd * t) - 0.5 * t * t; };
  double top = -kInfinity;
  for (double t = -kReach; t < kReach; t += kScan) top = std::max(top, log_weight(t));
  std::vector<double> ends;
  for (double t = -kReach; t <= kReach; t += kPanel) ends.push_back(t);
  for (const double at : l.breaks)
    if (const double t = (at - mean) / sd; std::abs(t) < kReach) {
      ends.push_back(t);
      // A density with a cut falls off from there.
      for (double off = 1e-3; off < 0.5; off *= 4) ends.push_back(t - off), ends.push_back(t + off);
      top = std::max({top, log_weight(std::nextafter(t, kReach)), log_weight(std::nextafter(t, -kReach))});
    }
  std::ranges::sort(ends);
  std::vector<std::pair<double, double>> panels;
  for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
    double highest = -kInfinity;
    for (int k = 0; k <= 20; ++k) highest = std::max(highest, log_weight(ends[i] + 0.05 * k * (ends[i + 1] - ends[i])));
    if (highest > top - kNegligible) panels.emplace_back(ends[i], ends[i + 1]);
  }
  const auto total = [&](const std::function<double(double)>& g) {
    double sum = 0;
    for (const auto& panel : panels)
      sum +=
          oracle::integral([&](double t) { return g(t) * std::exp(log_weight(t) - top); }, panel.first, panel.second);
    return sum;
  };
  const double mass = total([](double) { return 1.0; }), centre = total([](double t) { return t; }) / mass,
               square = total([&](double t) { return (t - centre) * (t - centre); }) / mass;
  return {top + std::log(mass) - 0.5 * std::log(kTwoPi), mean + sd * centre, variance * square};
}

Tilted found_by(const Likelihood& l, double mean, double variance, const Registry& registry, bool by_joint) {
  Graph g;
  std::vector<Connection> connections;
  std::vector<oracle::Given> observed;
  std::optional<VariableId> unknown;
  for (const End& end : l.ends) {
    const VariableId v = end.value ? g.observed("", 1, end.family) : g.variable("x");
    if (end.value)
      observed.emplace_back(v, *end.value);
    else
      unknown = v;
    connections.emplace_back(end.port, v);
  }
  g.factor("gaussian_prior", {*unknown}, {{"mean", mean}, {"variance", variance}});
  g.factor(l.kind, connections, l.parameters);
  const auto [plan, state, report] = oracle::solved(
      by_joint ? compile(g, joint(), registry) : compile(g, flooding({.tolerance = 1e-12}), registry, {.method = "ep"}),
      observed);
  return {log_evidence(plan, state), state.belief(*unknown).mean(), state.belief(*unknown).variance()};
}

}  // namespace

TEST_CASE("evidence: one likelihood of any kind has the integral's evidence and moments, up to 100 deviations away") {
  Registry registry = standard_registry();
  registry.add(likelihood_from_log_density("laplace",
                                           [](double x, double y) { return -std::abs(x - y) / 0.15 - std::log(0.3); }));
  for (const Likelihood& l : likelihoods())
    for (const double sd : {0.1, 1.0, 5.0})
      for (const double away : {-100.0, -30.0, -16.0, -3.0, 0.2, 3.0, 16.0, 30.0, 100.0}) {
        const double mean = l.centre + away * sd;
        const Tilted exact = tilted(l, mean, sd * sd);
        for (const bool by_joint : {false, true}) {
          INFO(l.kind, ", last end ", l.ends.back().value.value_or(0), ", sd ", sd, ", away ", away, ", joint ",
               by_joint);
          const Tilted found = found_by(l, mean, sd * sd, registry, by_joint);
          const double moments = by_joint ? 1e-6 : 1e-8;
          CHECK(std::abs(found.log_mass - exact.log_mass) < 1e-9 + 1e-13 * std::abs(exact.log_mass));
          CHECK(std::abs(found.mean - exact.mean) < moments * std::sqrt(exact.variance) + 1e-12 * std::abs(exact.mean));
          // No proper message widens a belief.
          if (exact.variance < sd * sd) CHECK(found.variance == oracle::relative(exact.variance, 10 * moments));
        }
      }
}
