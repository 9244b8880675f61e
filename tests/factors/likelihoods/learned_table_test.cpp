// Tables with learned rows, against counts, moments of mixtures and sums over all chains.
#include "factors/likelihoods/learned_table.h"

#include "engine/kinds/evaluate.h"
#include "tests/oracles/high_precision.h"
#include "tests/oracles/solved.h"

namespace {

std::vector<Natural> as_dirichlet(const std::vector<double>& counts) {
  std::vector<Natural> out;
  for (const double c : counts) out.push_back({c - 1, 0});
  return out;
}
std::vector<Natural> as_weights(const std::vector<double>& weights) {
  std::vector<Natural> out;
  for (const double w : weights) out.push_back({std::log(w), 0});
  return out;
}

}  // namespace

TEST_CASE("learned_table: observed rows are counted, and their evidence is the Polya distribution's") {
  const std::vector<double> from{0, 1, 1, 0, 1, 1}, to{2, 0, 0, 2, 1, 0};
  Graph g;
  const VariableId rows = g.variable("rows", 2, "dirichlet(3)"), parent = g.observed("parent", 6, "categorical(2)"),
                   child = g.observed("child", 6, "categorical(3)");
  g.factor("dirichlet_prior", {rows}, {{"concentration", {0.5, 1, 2}}});
  g.factor("learned_table", {{"rows", column(rows)}, {"parent", parent}, {"child", child}}, {{"categories", 3}});
  const auto [plan, state, report] =
      oracle::solved(compile(g, sequential(), standard_registry(), {.method = "ep"}), {{parent, from}, {child, to}});
  const double prior[] = {0.5, 1, 2};
  double counts[2][3] = {}, log_evidence_of = 0;
  for (int a = 0; a < 2; ++a)
    for (int k = 0; k < 3; ++k) counts[a][k] = prior[k];
  for (std::size_t i = 0; i < from.size(); ++i) {  // sequentially, each by the counts so far
    double* const row = counts[static_cast<int>(from[i])];
    double& own = row[static_cast<int>(to[i])];
    log_evidence_of += std::log(own / (row[0] + row[1] + row[2]));
    ++own;
  }
  for (std::size_t a = 0; a < 2; ++a)
    for (std::size_t k = 0; k < 3; ++k)
      CHECK(state.belief(rows).message(a)[k].tau + 1 == oracle::relative(counts[a][k], 1e-12));
  CHECK(log_evidence(plan, state) == oracle::relative(log_evidence_of, 1e-10));
}

TEST_CASE("learned_table: messages are those of the mixture over both categories in sixty digits, of any counts") {
  using oracle::Real;
  const std::vector<double> w{0.3, 0.9}, v{0.2, 1.4, 0.6}, parameters{3};
  const Registry registry = standard_registry();
  const Kind& kind = registry.kind("learned_table");
  for (const std::vector<double>& first : {std::vector<double>{1.5, 0.7, 3}, {3e8, 2e8, 7e3}}) {
    const std::vector<std::vector<double>> counts{first, {2, 6, 0.4}};
    std::vector<Natural> flat = as_dirichlet(counts[0]);
    for (const Natural& m : as_dirichlet(counts[1])) flat.push_back(m);
    const Arrivals arrivals{flat, as_weights(w), as_weights(v)};
    for (const auto* const list : {&arrivals[1], &arrivals[2]}) flat.insert(flat.end(), list->begin(), list->end());
    const auto to_rows = evaluate(kind, "ep", 0, arrivals, parameters),
               to_child = evaluate(kind, "ep", 2, arrivals, parameters);
    REQUIRE(to_rows);
    REQUIRE(to_child);
    const auto sum = [](const auto& c) { return Real(c[0]) + c[1] + c[2]; };
    Real all = 0, shares[2][3];
    for (std::size_t a = 0; a < 2; ++a)
      for (std::size_t k = 0; k < 3; ++k) all += shares[a][k] = Real(w[a]) * v[k] * counts[a][k] / sum(counts[a]);
    for (std::size_t a = 0; a < 2; ++a) {
      Real stays = 1, mean[3] = {}, squares = 0, of_means = 0;
      const auto add = [&](const Real& share, std::vector<Real> c) {
        for (std::size_t k = 0; k < 3; ++k)
          mean[k] += share * c[k] / sum(c), squares += share * c[k] * (c[k] + 1) / (sum(c) * (sum(c) + 1));
      };
      const std::vector<Real> before(counts[a].begin(), counts[a].end());
      for (std::size_t k = 0; k < 3; ++k) {
        std::vector<Real> more = before;
        more[k] += 1, stays -= shares[a][k] / all;
        add(shares[a][k] / all, more);
      }
      add(stays, before);
      // The belief has that mean and that sum of variances.
      for (const Real& m : mean) of_means += m * m;
      const Real total = (1 - of_means) / (squares - of_means) - 1;
      for (std::size_t k = 0; k < 3; ++k)
        CHECK(std::abs((*to_rows)[3 * a + k].tau - Real(mean[k] * total - counts[a][k]).convert_to<double>()) < 1e-12);
    }
    for (std::size_t k = 0; k < 3; ++k) {
      const Real odds = (shares[0][k] + shares[1][k]) / v[k] * v[0] / (shares[0][0] + shares[1][0]);
      CHECK((*to_child)[k].tau - (*to_child)[0].tau == doctest::Approx(Real(log(odds)).convert_to<double>()));
    }
    const double mass = Real(log(all / (1.2 * 2.2))).convert_to<double>();
    CHECK(kind.log_integral()(flat, parameters) == oracle::relative(mass, 1e-12));
  }
}

TEST_CASE("learned_table: a hidden chain with unknown transitions, near the integral over them") {
  constexpr int kSteps = 6;
  constexpr double kRight = 0.8;  // probability that a reading is right
  const std::vector<double> seen{0, 0, 1, 1, 1, 0};
  // Rows are projected step by step: the error is about the change by one count.
  for (const auto& [sure, tolerance] : {std::pair(1.0, 0.03), std::pair(100.0, 1e-3)}) {
    const double often = 4 * sure, seldom = 2 * sure;
    Graph g;
    const VariableId rows = g.variable("rows", 2, "dirichlet(2)"), z = g.variable("z", kSteps, "categorical(2)"),
                     x = g.observed("x", kSteps, "categorical(2)");
    g.factor("dirichlet_prior", {gather(rows, {0})}, {{"concentration", {often, seldom}}});
    g.factor("dirichlet_prior", {gather(rows, {1})}, {{"concentration", {seldom, often}}});
    g.factor("categorical_prior", {gather(z, {0})}, {{"probability", {0.5, 0.5}}});
    g.factor("learned_table", {{"rows", column(rows)}, {"parent", shift(z)}, {"child", z}}, {{"categories", 2}});
    g.factor("table", {z, x}, {{"probability", {kRight, 1 - kRight, 1 - kRight, kRight}}});
    const auto [plan, state, report] =
        oracle::solved(compile(g, sequential({.limit = 500}), standard_registry(), {.method = "ep"}), {{x, seen}});
    CHECK(report.converged());
    // Given the counts of a chain's steps, the integrals over rows are ratios of beta functions.
    const auto log_beta = [](double a, double b) { return std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b); };
    double total = 0, up[kSteps] = {}, stays = 0;
    for (unsigned at = 0; at < 1u << kSteps; ++at) {
      double counts[2][2] = {{often, seldom}, {seldom, often}}, log = std::log(0.5) - 2 * log_beta(often, seldom);
      for (int t = 0; t < kSteps; ++t) {
        const unsigned now = at >> t & 1;
        log += std::log(now == static_cast<unsigned>(seen[static_cast<std::size_t>(t)]) ? kRight : 1 - kRight);
        if (t > 0) ++counts[at >> (t - 1) & 1][now];
      }
      for (const auto& row : counts) log += log_beta(row[0], row[1]);
      const double weight = std::exp(log);
      total += weight;
      for (int t = 0; t < kSteps; ++t) up[t] += (at >> t & 1) * weight;
      stays += weight * counts[0][0] / (counts[0][0] + counts[0][1]);
    }
    for (int t = 0; t < kSteps; ++t)
      CHECK(std::abs(state.belief(z).mean(static_cast<std::size_t>(t), 1) - up[t] / total) < tolerance);
    CHECK(std::abs(state.belief(rows).mean(0, 0) - stays / total) < tolerance);
    CHECK(std::abs(log_evidence(plan, state) - std::log(total)) < 4 * tolerance);
  }
}

TEST_CASE("learned_table: rows that do not fit are refused before anything runs") {
  const auto refusal = [](std::size_t rows, const char* family, double categories) {
    Graph g;
    const VariableId p = g.variable("p", rows, family), a = g.variable("a", 1, "categorical(2)"),
                     b = g.variable("b", 1, "categorical(3)");
    g.factor("learned_table", {{"rows", p}, {"parent", a}, {"child", b}}, {{"categories", categories}});
    return oracle::error_of([&] { (void)compile(g, sequential(), standard_registry(), {.method = "ep"}); });
  };
  CHECK(refusal(2, "dirichlet(3)", 3) == "");
  CHECK(refusal(3, "dirichlet(3)", 3)
            .find("3 rows of 3 categories are connected; the "
                  "parent has 2 categories and the child 3") != std::string::npos);
  CHECK(refusal(2, "dirichlet(2)", 3).find("2 rows of 2 categories") != std::string::npos);
  CHECK(refusal(2, "dirichlet(3)", 2).find("2 is given; the child has 3 categories") != std::string::npos);
}
