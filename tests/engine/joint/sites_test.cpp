// EP sites inside the joint solve.
#include "engine/kinds/kind.h"
#include "factors/authoring/from_function.h"
#include "factors/authoring/normal.h"
#include "tests/engine/joint/joint_models.h"
#include "tests/oracles/dense_ep.h"
#include "tests/oracles/distributions.h"
#include "tests/oracles/quadrature.h"
#include "tests/oracles/solved.h"

namespace {

using namespace dma::joint_test;
using oracle::PlainMatrix, oracle::largest_difference, oracle::normal_below;

// a + b x with both almost known, and 2 of 12 rows lie `far` on the wrong side.
struct AlmostKnownLine {
  static constexpr int kRows = 12;
  std::vector<double> x, y;
  double sd;

  AlmostKnownLine(const std::string& kind, double prior_sd, double far) : sd(prior_sd) {
    for (int r = 0; r < kRows; ++r) {
      const bool is_far = r % 6 == 5;
      x.push_back(is_far ? (kind == "poisson" || r < 6 ? -far : far) : std::sin(1.0 + 2.7 * r));
      const double line = 1 + 2 * x.back(), most = kind == "binomial" ? 10 : 1;
      if (kind == "poisson")
        y.push_back(is_far ? 3 : std::floor(std::exp(line)));
      else if (kind == "laplace")
        y.push_back(is_far ? 0 : line + 0.1);
      else
        y.push_back((line > 0) != is_far ? most : 0);
    }
  }
  static double log_density(const std::string& kind, double z, double y) {
    const auto log_1_plus_exp = [](double t) { return std::max(t, 0.0) + std::log1p(std::exp(-std::abs(t))); };
    if (kind == "poisson") return y * z - std::exp(z);
    if (kind == "laplace") return -std::abs(z - y) / 0.15;
    if (kind == "binomial") return y * z - 10 * log_1_plus_exp(z);
    return y * z - log_1_plus_exp(z);
  }
  // Mean and standard deviation of b, by a lattice over a and b around the most probable values.
  std::pair<double, double> b_by_lattice(const std::string& kind, double a_centre, double b_centre) const {
    constexpr int kSide = 80;
    double mass = 0, first = 0, second = 0, top = -kInfinity;
    for (const bool adds : {false, true})
      for (int i = -kSide; i <= kSide; ++i)
        for (int j = -kSide; j <= kSide; ++j) {
          const double a = a_centre + 0.1 * i * sd, b = b_centre + 0.1 * j * sd;
          double log = -0.5 * (std::pow((a - 1) / sd, 2) + std::pow((b - 2) / sd, 2));
          for (int r = 0; r < kRows; ++r) log += log_density(kind, a + b * x[r], y[r]);
          if (!adds) {
            top = std::max(top, log);
            continue;
          }
          const double weight = std::exp(log - top);
          mass += weight, first += weight * (b - b_centre), second += weight * std::pow(b - b_centre, 2);
        }
    return {b_centre + first / mass, std::sqrt(second / mass - std::pow(first / mass, 2))};
  }
};

}  // namespace

TEST_CASE("joint: rows far on the wrong side of an almost known line do not keep sites from settling") {
  Registry registry = standard_registry();
  registry.add(likelihood_from_log_density("laplace", [](double x, double y) { return -std::abs(x - y) / 0.15; }));
  for (const std::string kind : {"logistic", "poisson", "binomial", "laplace"})
    for (const auto& [sd, far] : {std::pair{1e-3, 20.0}, {1e-3, 80.0}, {0.03, 20.0}}) {
      const AlmostKnownLine line(kind, sd, far);
      constexpr std::size_t kRows = AlmostKnownLine::kRows;
      Graph g;
      const VariableId a = g.variable("a"), b = g.variable("b"), x = g.observed("x", kRows),
                       slope = g.variable("slope", kRows), z = g.variable("z", kRows), y = g.observed("y", kRows);
      g.factor("gaussian_prior", {a}, {{"mean", 1.0}, {"variance", sd * sd}});
      g.factor("gaussian_prior", {b}, {{"mean", 2.0}, {"variance", sd * sd}});
      g.factor("product", {all_to_one(b), x, slope});
      g.factor("add", {all_to_one(a), slope, z});
      if (kind == "binomial")
        g.factor(kind, {z, y}, {{"trials", 10.0}});
      else
        g.factor(kind, {z, y});
      const auto [plan, state, report] = oracle::solved(compile(g, joint(), registry), {{x, line.x}, {y, line.y}});
      INFO("kind ", kind, ", sd ", sd, ", far ", far, ", report.line() ", report.line());
      CHECK(report.converged());
      CHECK(report.joint->refreshes < 50);
      const Gaussian found = state.belief(b)[0];
      const auto [mean, deviation] = line.b_by_lattice(kind, state.belief(a).mean(), found.mean());
      CHECK(std::abs(found.mean() - mean) < 0.02 * deviation);
      CHECK(found.sd() == oracle::relative(deviation, 0.02));
    }
}

TEST_CASE("joint: sites that truly move have not settled, however much they are damped") {
  Registry registry = standard_registry();
  registry.add(kind("restless")
                   .input("x")
                   .memory(1)
                   .message(
                       "ep", "x",
                       [](const Gaussian&, SlotMemory memory) {
                         memory[0] = 1 - memory[0];
                         return Gaussian(memory[0] > 0 ? 0.3 : -0.3, 1);
                       },
                       from("x")));
  Graph g;
  const VariableId x = g.variable("x", 3);
  g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", 1.0}});
  g.factor("restless", {x});
  const Report report = oracle::solved(compile(g, joint(), registry)).report;
  CAPTURE(report.line());
  CHECK(report.stop == Report::Stop::limit);
  CHECK(report.joint->site_change > 0.1);
}

TEST_CASE("joint: many sites that overshoot at once, below a few wide unknowns, settle in some twenty refreshes") {
  constexpr int kPersons = 60, kItems = 3, kRows = kPersons * kItems;
  constexpr double kWide = 10;
  PlainMatrix design(kRows, kPersons + kItems), answers(kRows, 1);
  Graph g;
  const VariableId person = g.variable("person", kPersons), item = g.variable("item", kItems),
                   z = g.variable("z", kRows), easy = g.variable("easy", kRows), y = g.observed("y", kRows);
  std::vector<std::uint32_t> who, which;
  for (int r = 0; r < kRows; ++r) {
    who.push_back(static_cast<std::uint32_t>(r / kItems)), which.push_back(static_cast<std::uint32_t>(r % kItems));
    design(r, r / kItems) = 1, design(r, kPersons + r % kItems) = kWide;
    answers[r] = std::sin(12.9898 * r) > 0.4 * (r % kItems) - 0.2 ? 1 : -1;
  }
  g.factor("gaussian_prior", {person}, {{"mean", 0.0}, {"variance", 1.0}});
  g.factor("gaussian_prior", {item}, {{"mean", 0.0}, {"variance", 1.0}});
  g.factor("affine", {gather(item, which), easy}, {{"a", kWide}, {"b", 0.0}});
  g.factor("add", {gather(person, who), easy, z});
  g.factor("probit", {z, y});
  const auto [plan, state, report] = oracle::solved(compile(g, joint(), standard_registry()), {{y, answers.values()}});
  CAPTURE(report.line());
  CHECK(report.converged());
  CHECK(report.joint->refreshes < 40);
  const oracle::DenseEp exact(
      design, answers, 1, [](double f, double answer) { return std::log(normal_below(answer * f)); },
      [](std::size_t r, std::size_t s) { return r / kItems == s / kItems; });
  const JointPosterior posterior(state);
  for (int i = 0; i < kItems; ++i)
    CHECK(posterior.mean(item)(i) == oracle::relative(exact.mean(static_cast<std::size_t>(kPersons + i), 0), 1e-7));
  // Cumulants of sites are sums over 17 points.
  CHECK(posterior.log_evidence() == oracle::relative(exact.log_evidence, 1e-6));
}

TEST_CASE("joint: the evidence of several answers per person is that of quadrature, pairs of sites included") {
  constexpr std::size_t kPersons = 32, kItems = 5;
  constexpr double kSpread = 1.5;
  Graph g;
  const VariableId person = g.variable("person", kPersons), hard = g.observed("hard", kPersons * kItems),
                   z = g.variable("z", kPersons * kItems), y = g.observed("y", kPersons * kItems);
  std::vector<std::uint32_t> who;
  std::vector<double> items, answers;
  double exact = 0;
  for (std::uint32_t p = 0; p < kPersons; ++p) {  // every pattern of answers once
    double mass = 0;
    for (std::uint32_t i = 0; i < kItems; ++i)
      who.push_back(p), items.push_back(0.5 * i - 1.0), answers.push_back((p >> i & 1) == 0 ? -1 : 1);
    for (double t = -9; t <= 9; t += 0.05) {
      double log = -0.5 * t * t;
      for (std::size_t k = answers.size() - kItems; k < answers.size(); ++k)
        log -= std::log1p(std::exp(-answers[k] * (kSpread * t + items[k])));
      mass += 0.05 * std::exp(log) / std::sqrt(2 * std::numbers::pi);
    }
    exact += std::log(mass);
  }
  g.factor("gaussian_prior", {person}, {{"mean", 0.0}, {"variance", kSpread * kSpread}});
  g.factor("add", {gather(person, who), hard, z});
  g.factor("logistic", {z, y});
  const auto [plan, state, report] =
      oracle::solved(compile(g, joint(), standard_registry()), {{hard, items}, {y, answers}});
  CHECK(report.converged());
  // EP's energy alone is off by 1.6e-3 per person.
  CHECK(std::abs(JointPosterior(state).log_evidence() - exact) < 2e-4 * kPersons);
}

TEST_CASE("joint: a single site has the moments and the evidence of the integral") {
  Graph g;
  const VariableId a = g.variable("a"), b = g.variable("b"), difference = g.variable("difference");
  g.factor("gaussian_prior", {a}, {{"mean", 0.3}, {"variance", 2.0}});
  g.factor("gaussian_prior", {b}, {{"mean", 1.0}, {"variance", 1.0}});
  std::vector<Connection> ends{a, b, difference};
  g.factor("sum", {Connection("terms", a), Connection("terms", b), Connection("total", difference)},
           {{"coefficients", std::vector<double>{1, -1}}});
  g.factor("greater_than", {difference}, {{"threshold", 0.5}});
  const auto [plan, state, report] = oracle::solved(compile(g, joint(), standard_registry()));
  CHECK(report.stop == Report::Stop::converged);
  const Gaussian before = Gaussian::from_moments(-0.7, 3);
  const auto above = [](auto f) { return [f](double t) { return t > 0.5 ? f(t) : 0.0; }; };
  const double mass = oracle::expectation(above([](double) { return 1.0; }), before, 0.5);
  const double mean = oracle::expectation(above([](double t) { return t; }), before, 0.5) / mass;
  const double square = oracle::expectation(above([](double t) { return t * t; }), before, 0.5) / mass;
  CHECK(state.belief(difference).mean() == oracle::relative(mean, 1e-9));
  CHECK(state.belief(difference).variance() == oracle::relative(square - mean * mean, 1e-9));
  // a moves by its fraction of the difference.
  CHECK(state.belief(a).mean() == oracle::relative(0.3 + 2.0 / 3.0 * (mean + 0.7), 1e-9));
  CHECK(JointPosterior(state).log_evidence() == oracle::relative(std::log(mass), 1e-9));
}

TEST_CASE("joint: a variable known through one inequality only is singular, and two that meet suffice") {
  Graph g;
  const VariableId x = g.variable("x"), free = g.variable("free"), y = g.observed("y"), other = g.observed("other");
  g.factor("probit", {x, y});
  g.factor("probit", {x, other});
  g.factor("greater_than", {free});
  const auto [plan, state, report] =
      oracle::solved(compile(g, joint(), standard_registry()), {{y, 1.0}, {other, -1.0}});
  CHECK(report.stop == Report::Stop::singular);
  CHECK(report.joint->undetermined == "'free'");
  CHECK(state.belief(free)[0].is_uniform());
  CHECK(std::abs(state.belief(x).mean()) < 1e-8);
  CHECK(state.belief(x).variance() > 0.1);
}

TEST_CASE("joint: a site of known values contributes to the evidence, by its integral if it has no density") {
  const auto log_f = [](double x, double y) { return -std::abs(x - y); };
  for (const bool has_density : {true, false}) {
    Registry registry = standard_registry();
    Kind laplace = kind("laplace").input("x").output("y").message(
        "ep", "x", [](const Gaussian&, const Gaussian&) { return Gaussian::uniform(); }, from("x", "y"));
    if (has_density) laplace.log_density([=](auto v, auto) { return log_f(v[0], v[1]); });
    laplace.log_integral([=](auto m, auto) { return log_f(m[0].tau, m[1].tau); });
    registry.add(laplace);
    Graph g;
    const VariableId x = g.observed("x"), y = g.observed("y"), z = g.variable("z");
    g.factor("gaussian_prior", {z}, {{"mean", 0.0}, {"variance", 1.0}});
    g.factor("laplace", {x, y});
    const auto [plan, state, report] = oracle::solved(compile(g, joint(), registry), {{x, 1.0}, {y, 3.5}});
    CHECK(JointPosterior(state).log_evidence() == oracle::relative(-2.5, 1e-12));
  }
}
