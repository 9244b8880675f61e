// Laws that hold for every registered family, and for one registered in this test.
#include <fmt/format.h>

#include "tests/oracles/random_messages.h"
#include "tests/oracles/solved.h"

namespace {

// Directions: exp(tau cos x + rho sin x) on the circle.
struct VonMises : AnyNatural {
  static constexpr std::string_view kName = "von_mises", kValues = "an angle in radians";
  using AnyNatural::AnyNatural;
  static VonMises towards(double angle, double kappa) { return {kappa * std::cos(angle), kappa * std::sin(angle)}; }
  double kappa() const { return std::hypot(tau, rho); }
  static double location(double x) { return std::isfinite(x) ? std::remainder(x, 2 * M_PI) : std::nan(""); }
  static std::array<double, 2> statistics(double x) { return {std::cos(x), std::sin(x)}; }
  bool is_proper() const { return rho < kInfinity; }
  double bessel() const { return std::cyl_bessel_i(0, kappa()); }
  double resultant() const { return kappa() > 500 ? 1 - 0.5 / kappa() : std::cyl_bessel_i(1, kappa()) / bessel(); }
  double log_normaliser() const {
    return kappa() > 500 ? kappa() + 0.5 * std::log(2 * M_PI / kappa()) : std::log(2 * M_PI * bessel());
  }
  std::array<double, 2> expected() const { return {resultant() * std::cos(mean()), resultant() * std::sin(mean())}; }
  double mean() const { return std::atan2(rho, tau); }
  double variance() const { return 1 - resultant(); }  // circular
  std::string text() const { return fmt::format("von_mises({:.4g}, {:.4g})", mean(), kappa()); }
};

Registry registry() {
  Registry all = standard_registry();
  all.add_family<VonMises>();
  return all;
}

constexpr std::uint32_t kCategories = 3;
constexpr std::uint64_t kFamilySeed = 4;

using Message = std::vector<Natural>;

// Proper messages of ordinary size, written by hand for each family.
const std::map<std::string, std::vector<Message>>& examples() {
  static const std::map<std::string, std::vector<Message>> all = {
      {"gaussian", {{{1, 2}}, {{-0.3, 0.5}}, {{0, 1}}}},
      {"log_normal", {{{1, 2}}, {{-0.3, 3}}, {{0, 1}}}},
      {"gamma", {{{1.5, 2}}, {{-0.3, 0.5}}, {{4, 3}}}},
      {"beta", {{{1.5, 2}}, {{0.5, -0.25}}, {{6, 3}}}},
      {"bernoulli", {{{1.5, 0}}, {{-0.25, 0}}, {{3, 0}}}},
      {"categorical", {{{0, 0}, {-1, 0}, {0.5, 0}}, {{0, 0}, {-0.25, 0}, {0, 0}}, {{2, 0}, {-1, 0}, {0, 0}}}},
      {"dirichlet", {{{0.5, 0}, {2, 0}, {1, 0}}, {{1.5, 0}, {0.75, 0}, {0, 0}}, {{2, 0}, {1, 0}, {3, 0}}}},
      {"angle", {{{1, 2}}, {{-0.3, 0.5}}, {{0, 1}}}},
      {"rotation", {{{1, 2}, {0, 1}, {1, 1}}, {{-0.3, 0.5}, {1, 3}, {0, 2}}, {{0, 1}, {2, 1}, {-1, 1}}}},
      {"pose2", {{{1, 2}, {0, 1}, {1, 1}}, {{-0.3, 0.5}, {1, 3}, {0, 2}}, {{0, 1}, {2, 1}, {-1, 1}}}},
      {"pose3", {Message(6, {1, 2}), Message(6, {-0.3, 0.5}), Message(6, {0, 1})}},
      {"von_mises", {{{0.5, 1}}, {{-0.25, 0.5}}, {{2, -1.5}}}}};
  return all;
}

template <class Check>
void for_every_family(const Check& check) {
  const Registry all = registry();
  for (const auto& entry : all.families()) {
    const auto& name = entry.first;
    CAPTURE(name);
    REQUIRE_MESSAGE(examples().contains(name), "a new family needs examples here");
    const bool has_dimension = entry.second->has_dimension;
    check(all.family(has_dimension ? fmt::format("{}({})", name, kCategories) : name), examples().at(name));
  }
  CHECK(all.families().size() == 12);
}

Message product(const Message& a, const Message& b) {
  Message out;
  for (std::size_t k = 0; k < a.size(); ++k) out.push_back(multiply(a[k], b[k]));
  return out;
}
Message quotient(const Message& a, const Message& b) {
  Message out;
  for (std::size_t k = 0; k < a.size(); ++k) out.push_back(divide(a[k], b[k]));
  return out;
}

// Points on manifolds have a Gaussian per component; only "angle" is integrated.
bool is_product(const Family& family) { return family->chart != nullptr && family.components() > 1; }

// The integral of exp(log_f) over all values of the family: sums, or rules of many points.
double integral(const Family& family, const std::function<double(std::span<const double>)>& f) {
  const std::string name(family.name());
  double sum = 0;
  if (name == "bernoulli" || name == "categorical") {
    for (double x = 0; x < (name == "bernoulli" ? 2 : family.components()); ++x) sum += f({&x, 1});
    return sum;
  }
  // x = g(u) for u on the whole line, by the trapezoidal rule: exponentially convergent, because the integrand vanishes
  // at both ends.
  const auto logistic = [](double u) { return 1 / (1 + std::exp(-u)); };
  if (name == "dirichlet") {
    for (double u = -30; u < 30; u += 0.25)
      for (double v = -30; v < 30; v += 0.25) {
        const double a = logistic(u), b = logistic(v);
        const std::array<double, 3> p = {a, (1 - a) * b, (1 - a) * (1 - b)};
        if (p[0] > 0 && p[1] > 0 && p[2] > 0 && std::abs(p[0] + p[1] + p[2] - 1) < 1e-10)
          sum += f(p) * a * (1 - a) * (1 - a) * b * (1 - b) * 0.25 * 0.25;
      }
    return sum;
  }
  if (name == "von_mises") {
    for (double x = -M_PI; x < M_PI - 1e-9; x += M_PI / 200) sum += f({&x, 1}) * M_PI / 200;
    return sum;
  }
  for (double u = -40; u < 40; u += 0.05) {
    const bool is_real = name == "gaussian" || name == "angle", is_positive = name == "gamma" || name == "log_normal";
    const double x = is_real ? u : is_positive ? std::exp(u) : logistic(u);
    if (!is_real && !(x > 0 && (is_positive || x < 1))) continue;
    sum += f({&x, 1}) * (is_real ? 1 : is_positive ? x : x * logistic(-u)) * 0.05;
  }
  return sum;
}

}  // namespace

TEST_CASE("families: products and quotients are inverse, and uniform is neutral") {
  for_every_family([](const Family& family, const std::vector<Message>& messages) {
    const Message uniform(family.components());
    for (const Message& a : messages) {
      CHECK(product(a, uniform) == a);
      CHECK(quotient(a, uniform) == a);
      for (const Message& b : messages) {
        const Message back = quotient(product(a, b), b);
        for (std::size_t k = 0; k < a.size(); ++k) {
          CHECK(back[k].tau == oracle::relative(a[k].tau, 1e-14, 1));
          CHECK(back[k].rho == oracle::relative(a[k].rho, 1e-14, 1));
        }
      }
    }
    CHECK(family->are_valid(uniform));
    CHECK(family->text(messages[0]) != family->text(messages[1]));
  });
}

TEST_CASE("families: densities integrate to one, and the normaliser is the integral of the message") {
  for_every_family([](const Family& family, const std::vector<Message>& messages) {
    if (is_product(family)) return;
    for (const Message& m : messages) {
      CHECK(family->are_valid(m));
      CHECK(integral(family, [&](auto x) { return std::exp(family->log_density(m, x)); }) == oracle::relative(1, 1e-6));
    }
    // log of the integral of a b / (integral of a) = normaliser(a b) - normaliser(a), if b is exp(its parameters .
    // statistics).
    const Message &a = messages[0], &b = messages[2], both = product(a, b);
    const auto of = [&](const Message& m) { return family->log_normaliser(m); };
    const double by_integral = std::log(integral(family, [&](auto x) {
      return std::exp(family->log_density(a, x) + family->log_density(b, x) -
                      (family.name() == "log_normal" ? -std::log(x[0]) : 0.0));
    }));
    CHECK(of(both) - of(a) - of(b) == oracle::relative(by_integral, 1e-6));
  });
}

TEST_CASE("families: moments and divergences are those of the densities") {
  for_every_family([](const Family& family, const std::vector<Message>& messages) {
    if (is_product(family)) return;
    const std::size_t components = family.components();
    for (const Message& p : messages) {
      std::vector<double> means(components), variances(components);
      family->moments(p, components, means.data(), variances.data());
      for (std::size_t k = 0; k < components && family.name() != "von_mises"; ++k) {
        const auto value = [&](std::span<const double> x) {
          return family.name() == "categorical" ? (x[0] == static_cast<double>(k) ? 1.0 : 0.0)
                                                : x[components == 1 ? 0 : k];
        };
        const auto expected = [&](const auto& g) {
          return integral(family, [&](auto x) { return g(value(x)) * std::exp(family->log_density(p, x)); });
        };
        CHECK(means[k] == oracle::relative(expected([](double x) { return x; }), 1e-6, 1));
        CHECK(variances[k] ==
              oracle::relative(expected([&](double x) { return (x - means[k]) * (x - means[k]); }), 1e-5));
      }
      for (const Message& q : messages) {
        const double exact = integral(family, [&](auto x) {
          const double log_p = family->log_density(p, x);
          return log_p < -700 ? 0.0 : std::exp(log_p) * (log_p - family->log_density(q, x));
        });
        CHECK(family->kl(p, q) == oracle::relative(exact, 1e-6, 1));
      }
    }
  });
}

TEST_CASE("families: closed under extremes: sums of valid messages are valid, and no result is NaN") {
  for_every_family([](const Family& family, const std::vector<Message>&) {
    oracle::RandomMessages random(kFamilySeed);
    const std::size_t components = family.components();
    int valid = 0;
    for (int i = 0; i < 2000; ++i) {
      Message a(components), b(components);
      for (Message* m : {&a, &b})
        for (Natural& component : *m) {
          component = random.any();
          if (i % 2 == 0) component.rho = component.is_point() ? kInfinity : 0;
        }
      if (!family->are_valid(a) || !family->are_valid(b)) continue;
      ++valid;
      Message both = product(a, b);
      CHECK(family->are_valid(both));
      family->close(both);
      std::vector<double> means(components), variances(components);
      family->moments(both, components, means.data(), variances.data());
      for (std::size_t k = 0; k < components; ++k) CHECK(!(std::isnan(means[k]) || std::isnan(variances[k])));
      CHECK(!family->text(both).empty());
      CHECK(family->change(a, a) == 0);
      CHECK(family->change(a, b) >= 0);
      Message mixed = b;
      family->damp(a, mixed, 0.5);
      CHECK(family->are_valid(mixed));
    }
    CHECK(valid > 50);
  });
}

TEST_CASE("families: one from outside the library: directions, each measured twice") {
  Registry mine = registry();
  mine.add(kind("compass", "von Mises around a reading")
               .output("x", "von_mises")
               .parameter("reading", finite())
               .parameter("kappa", above(0))
               .message(kExact, "x", [](std::array<double, 2> p) { return VonMises::towards(p[0], p[1]); }));
  Graph g;
  const auto heading = g.variable("heading", 2, "von_mises");
  g.factor("compass", {heading}, {{"reading", {3.0, 0.0}}, {"kappa", 2.0}});
  g.factor("compass", {heading}, {{"reading", {-3.0, 1.0}}, {"kappa", 2.0}});
  for (const Plan& plan : {compile(g, forward_backward(), mine), compile(g, flooding({.damping = 0.3}), mine)}) {
    State state(plan);
    const Report report = run(plan, state);
    CHECK((report.stop == Report::Stop::exact || report.stop == Report::Stop::converged));
    const Belief belief = state.belief(heading);
    CHECK(std::abs(belief.mean(0)) == doctest::Approx(M_PI));  // at the seam, not at 0
    CHECK(belief.mean(1) == doctest::Approx(0.5));
    CHECK(belief.text() == fmt::format("heading ~ {}, {}", VonMises(belief[0]).text(), VonMises(belief[1]).text()));
  }
}

TEST_CASE("families: names and dimensions that do not fit are refused with what does") {
  const Registry all = registry();
  CHECK_THROWS_WITH_AS((void)all.family("gama"), doctest::Contains("did you mean 'gamma'"), Error);
  CHECK_THROWS_WITH_AS((void)all.family("categorical"),
                       "family 'categorical' needs the number of its categories: categorical(3)", Error);
  CHECK_THROWS_AS((void)all.family("categorical(0)"), Error);
  CHECK_THROWS_AS((void)all.family("categorical(x)"), Error);
  CHECK_THROWS_AS((void)all.family("gamma(2)"), Error);
  CHECK(all.family("") == Family());
  CHECK(all.family("categorical(12)").text() == "categorical(12)");
  Graph g;
  const auto p = g.variable("p", 1, "gama"), x = g.variable("x");
  g.factor("add", {p, x, g.variable("y")});
  CHECK_THROWS_WITH_AS((void)compile(g, flooding(), all), doctest::Contains("variable 'p': no family 'gama'"), Error);
}
