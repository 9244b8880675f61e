// EP sites inside the joint solve.
#include <doctest/doctest.h>

#include "engine/kinds/kind.h"
#include "factors/authoring/from_log_density.h"
#include "factors/authoring/normal.h"
#include "tests/engine/joint/joint_models.h"
#include "tests/oracles/distributions.h"
#include "tests/oracles/plain_matrix.h"
#include "tests/oracles/quadrature.h"
#include "tests/oracles/relative.h"

namespace {

using namespace dma;
using namespace dma::joint_test;
using oracle::PlainMatrix, oracle::largest_difference, oracle::normal_below;

double normal_density(double t) { return std::exp(-0.5 * t * t) / std::sqrt(2 * std::numbers::pi); }

struct ProbitData {
  PlainMatrix x;
  std::vector<double> y;
  ProbitData(int rows, int inputs) : x(rows, inputs) {
    for (int r = 0; r < rows; ++r) {
      double total = 0;
      for (int i = 0; i < inputs; ++i) {
        x(r, i) = std::sin(1.0 + 0.7 * r + 1.3 * i + 0.01 * r * i) + 0.5 * std::cos(0.11 * r * (i + 1));
        total += x(r, i) * std::cos(0.9 * i);
      }
      y.push_back(total + 1.5 * std::sin(12.9898 * r) > 0 ? 1 : -1);
    }
  }
};

struct SiteEp {
  PlainMatrix mean, covariance;
  double log_evidence = 0;
};

// Full-covariance EP as in Rasmussen and Williams, section 3.6, in the space of the weights: one site at a time,
// rank-one updates.
SiteEp full_covariance_ep(const ProbitData& data, double prior) {
  const std::size_t n = data.x.rows(), d = data.x.columns();
  const PlainMatrix across = data.x.transpose(), before = (1 / prior) * PlainMatrix::identity(d);
  PlainMatrix tau(n, 1), rho(n, 1), pull(d, 1), information;
  SiteEp ep{PlainMatrix(d, 1), prior * PlainMatrix::identity(d)};
  for (int sweep = 0; sweep < 200; ++sweep) {
    double change = 0;
    for (std::size_t r = 0; r < n; ++r) {
      const PlainMatrix a = data.x.row(r).transpose(), ca = ep.covariance * a;
      const double v = dot(a, ca), m = dot(a, ep.mean), y = data.y[r];
      const double cv = 1 / (1 / v - rho[r]), cm = cv * (m / v - tau[r]);
      const double u = y * cm / std::sqrt(1 + cv), ratio = normal_density(u) / normal_below(u);
      const double new_mean = cm + y * cv * ratio / std::sqrt(1 + cv),
                   new_variance = cv - cv * cv * ratio * (u + ratio) / (1 + cv);
      const double new_rho = 1 / new_variance - 1 / cv, new_tau = new_mean / new_variance - cm / cv,
                   step = new_rho - rho[r];
      change = std::max({change, std::abs(step), std::abs(new_tau - tau[r])});
      ep.covariance -= step / (1 + step * v) * ca * ca.transpose();
      pull += (new_tau - tau[r]) * a;
      rho[r] = new_rho, tau[r] = new_tau;
      ep.mean = ep.covariance * pull;
    }
    // Recomputed, so that rounding does not accumulate.
    information = weighted_square(data.x, rho) + before;
    pull = across * tau;
    ep.covariance = information.inverse();
    ep.mean = ep.covariance * pull;
    if (change < 1e-13) break;
  }
  ep.log_evidence =
      0.5 * (dot(ep.mean, pull) - information.log_determinant() - static_cast<double>(d) * std::log(prior));
  for (std::size_t r = 0; r < n; ++r) {
    const PlainMatrix a = data.x.row(r).transpose();
    const double v = dot(a, ep.covariance * a), m = dot(a, ep.mean);
    const double cr = 1 / v - rho[r], ct = m / v - tau[r], cm = ct / cr;
    ep.log_evidence += std::log(normal_below(data.y[r] * cm / std::sqrt(1 + 1 / cr)));
    ep.log_evidence -=
        0.5 * std::log(cr / (cr + rho[r])) + 0.5 * (ct + tau[r]) * (ct + tau[r]) / (cr + rho[r]) - 0.5 * ct * ct / cr;
  }
  return ep;
}

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
      if (kind == "poisson") y.push_back(is_far ? 3 : std::floor(std::exp(line)));
      else if (kind == "laplace") y.push_back(is_far ? 0 : line + 0.1);
      else y.push_back((line > 0) != is_far ? most : 0);
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
      if (kind == "binomial") g.factor(kind, {z, y}, {{"trials", 10.0}});
      else g.factor(kind, {z, y});
      const Plan plan = compile(g, joint(), registry);
      State state(plan);
      state.observe(x, line.x), state.observe(y, line.y);
      const Report report = run(plan, state);
      CAPTURE(kind);
      CAPTURE(sd);
      CAPTURE(far);
      CAPTURE(report.line());
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
  registry.add(kind("restless").input("x").memory(1).message(
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
  const Plan plan = compile(g, joint(), registry);
  State state(plan);
  const Report report = run(plan, state);
  CAPTURE(report.line());
  CHECK(report.stop == Report::Stop::limit);
  CHECK(report.joint->site_change > 0.1);
}

TEST_CASE("joint: probit regression, 500 rows of 20 inputs, is full-covariance EP") {
  constexpr int kRows = 500, kInputs = 20;
  const ProbitData data(kRows, kInputs);
  Graph g;
  const VariableId w = g.variable("w", kInputs), x = g.observed("x", kRows * kInputs), z = g.variable("z", kRows),
                   y = g.observed("y", kRows);
  std::vector<std::uint32_t> weights;
  for (std::uint32_t q = 0; q < kRows * kInputs; ++q) weights.push_back(q % kInputs);
  g.factor("gaussian_prior", {w}, {{"mean", 0.0}, {"variance", 2.0}});
  g.factor("inner_product", {gather(w, weights), x, z});
  g.factor("probit", {z, y});
  const Plan plan = compile(g, joint(), standard_registry());
  CHECK(describe(plan).find("500 EP sites") != std::string::npos);
  State state(plan);
  state.observe(x, data.x.values());
  state.observe(y, data.y);
  const Report report = run(plan, state);
  CAPTURE(report.line());
  CHECK(report.stop == Report::Stop::converged);
  CHECK(report.faults == 0);
  const SiteEp exact = full_covariance_ep(data, 2.0);
  const JointPosterior posterior(state);
  CHECK(largest_difference(posterior.mean(w), exact.mean) < 1e-8);
  CHECK(largest_difference(posterior.covariance(w, w), exact.covariance) < 1e-8);
  CHECK(posterior.log_evidence() == oracle::relative(exact.log_evidence, 1e-8));
}

TEST_CASE("joint: many sites that overshoot at once, below a few wide unknowns, settle in some twenty refreshes") {
  constexpr int kPersons = 60, kItems = 3, kRows = kPersons * kItems;
  constexpr double kWide = 10;
  ProbitData data(kRows, kPersons + kItems);
  Graph g;
  const VariableId person = g.variable("person", kPersons), item = g.variable("item", kItems),
                   z = g.variable("z", kRows), easy = g.variable("easy", kRows), y = g.observed("y", kRows);
  std::vector<std::uint32_t> who, which;
  data.x = PlainMatrix(kRows, kPersons + kItems);
  for (int r = 0; r < kRows; ++r) {
    who.push_back(static_cast<std::uint32_t>(r / kItems)), which.push_back(static_cast<std::uint32_t>(r % kItems));
    data.x(r, r / kItems) = 1, data.x(r, kPersons + r % kItems) = kWide;
    data.y[static_cast<std::size_t>(r)] = std::sin(12.9898 * r) > 0.4 * (r % kItems) - 0.2 ? 1 : -1;
  }
  g.factor("gaussian_prior", {person}, {{"mean", 0.0}, {"variance", 1.0}});
  g.factor("gaussian_prior", {item}, {{"mean", 0.0}, {"variance", 1.0}});
  g.factor("affine", {gather(item, which), easy}, {{"a", kWide}, {"b", 0.0}});
  g.factor("add", {gather(person, who), easy, z});
  g.factor("probit", {z, y});
  const Plan plan = compile(g, joint(), standard_registry());
  State state(plan);
  state.observe(y, data.y);
  const Report report = run(plan, state);
  CAPTURE(report.line());
  CHECK(report.converged());
  CHECK(report.joint->refreshes < 40);
  const SiteEp exact = full_covariance_ep(data, 1.0);
  const JointPosterior posterior(state);
  for (int i = 0; i < kItems; ++i)
    CHECK(posterior.mean(item)(i) == oracle::relative(exact.mean(static_cast<std::size_t>(kPersons + i), 0), 1e-7));
  CHECK(posterior.log_evidence() == oracle::relative(exact.log_evidence, 1e-8));
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
  const Plan plan = compile(g, joint(), standard_registry());
  State state(plan);
  CHECK(run(plan, state).stop == Report::Stop::converged);
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
  const Plan plan = compile(g, joint(), standard_registry());
  State state(plan);
  state.observe(y, 1.0);
  state.observe(other, -1.0);
  const Report report = run(plan, state);
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
    const Plan plan = compile(g, joint(), registry);
    State state(plan);
    state.observe(x, 1.0), state.observe(y, 3.5);
    (void)run(plan, state);
    CHECK(JointPosterior(state).log_evidence() == oracle::relative(-2.5, 1e-12));
  }
}
