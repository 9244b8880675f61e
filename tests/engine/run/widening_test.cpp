// Messages of negative precision, which are kept if the belief stays proper.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "engine/compile/compile.h"
#include "engine/compile/plan_data.h"
#include "engine/kinds/kind.h"
#include "engine/run/evidence.h"
#include "engine/run/run.h"
#include "factors/standard_registry.h"
#include "schedules/flooding.h"
#include "schedules/forward_backward.h"
#include "schedules/residual.h"
#include "schedules/sequential.h"
#include "tests/oracles/distributions.h"
#include "tests/oracles/quadrature.h"
#include "tests/oracles/relative.h"

namespace {

using namespace dma;
using oracle::normal_below;

// Nodes and weights of N(0, 1): the trapezoidal rule, whose error for smooth functions is below 1e-8 here.
struct NormalGrid {
  std::vector<double> at, weight;
  explicit NormalGrid(double step, double end) {
    for (double t = -end; t <= end + step / 2; t += step)
      at.push_back(t), weight.push_back(step * std::exp(-0.5 * t * t) / std::sqrt(2 * std::acos(-1.0)));
  }
};

// The number of messages of negative precision from a factor to a port.
std::size_t widening_at(const State& state, FactorId factor, const char* port) {
  std::size_t count = 0;
  for (const Gaussian& m : state.messages(factor, port)) count += m.rho < 0;
  return count;
}

struct WeightedMoments {
  double first = 0, second = 0;
  void add(double weight, double x) { first += weight * x, second += weight * x * x; }
  double mean(double total) const { return first / total; }
  double sd(double total) const { return std::sqrt(second / total - mean(total) * mean(total)); }
};

}  // namespace

TEST_CASE("widening: messages pass through sums, noise and scales as the integral does, in every schedule") {
  // total = a + b / 2 is observed with noise, and its sign by an unreliable witness.
  Graph g;
  const auto a = g.variable("a"), b = g.variable("b"), total = g.variable("total"), half = g.variable("half"),
             noisy = g.variable("noisy");
  const auto step = g.variable("step", 1, "categorical(2)"), told = g.observed("told", 1, "categorical(2)");
  g.factor("gaussian_prior", {a}, {{"mean", 2.0}, {"variance", 1.5}});
  g.factor("gaussian_prior", {b}, {{"mean", 1.0}, {"variance", 3.0}});
  g.factor("affine", {b, half}, {{"a", 0.5}});
  g.factor("add", {a, half, total});
  g.factor("gaussian_noise", {total, noisy}, {{"variance", 0.4}});
  g.factor("interval", {noisy, step}, {{"cuts", 0.0}});
  g.factor("table", {step, told}, {{"probability", {0.8, 0.2, 0.3, 0.7}}});
  const auto f = [](double t) { return t > 0 ? 0.3 : 0.8; };
  const Gaussian prior = Gaussian::from_moments(2.5, 1.5 + 0.75 + 0.4);
  const auto exact = oracle::matched(f, prior, 0.0);
  REQUIRE(exact.variance > prior.variance());
  const auto check = [&](const auto& schedule) {
    const Plan plan = compile(g, schedule, standard_registry(), {.method = "ep"});
    State state(plan);
    state.observe(told, 0.0);
    const auto check_beliefs = [&](const State& one, const Report& report) {
      CHECK(report.faults == 0);
      CHECK(report.replaced == 0);
      // A term of the sum moves by its fraction of the variance.
      for (const auto& expected :
           {std::tuple{noisy, 2.5, 2.65, 1.0}, {total, 2.5, 2.25, 2.25 / 2.65}, {a, 2.0, 1.5, 1.5 / 2.65},
            {b, 1.0, 3.0, 1.5 / 2.65}, {half, 0.5, 0.75, 0.75 / 2.65}}) {
        const auto [variable, mean, variance, gain] = expected;
        CAPTURE(one.belief(std::get<0>(expected)).text());
        CHECK(one.belief(variable).mean() == oracle::relative(mean + gain * (exact.mean - 2.5), 1e-8));
        CHECK(one.belief(variable).variance() ==
              oracle::relative(variance + gain * gain * (exact.variance - 2.65), 1e-8));
      }
      CHECK(log_evidence(one.plan(), one) == oracle::relative(std::log(exact.mass), 1e-8));
    };
    check_beliefs(state, run(plan, state));
    if (plan->schedule.order == Schedule::Order::once) return;
    State copied = state.copy();
    check_beliefs(copied, run(plan, copied, {.warm = true}));
    check_beliefs(state, run(plan, state));
  };
  check(forward_backward());
  check(flooding({.tolerance = 1e-13}));
  check(flooding({.tolerance = 1e-13, .damping = 0.4}));
  check(sequential({.tolerance = 1e-13}));
  check(residual({.tolerance = 1e-13}));
}

TEST_CASE("widening: many at one variable, against quadrature") {
  const std::vector<double> cuts{-1.5, -0.4, 0.3, 1.1, 2.0, 2.4}, said{0, 1, 1, 0, 1, 0};
  Graph g;
  const auto x = g.variable("x"), step = g.variable("step", 6, "categorical(2)"),
             told = g.observed("told", 6, "categorical(2)");
  g.factor("gaussian_prior", {x}, {{"mean", 0.5}, {"variance", 2.0}});
  for (std::uint32_t i = 0; i < cuts.size(); ++i)
    g.factor("interval", {x, gather(step, {i})}, {{"noise", 0.3}, {"cuts", cuts[i]}});
  g.factor("table", {step, told}, {{"probability", {0.8, 0.2, 0.3, 0.7}}});
  const auto exact = oracle::matched(
      [&](double t) {
        double product = 1;
        for (std::size_t i = 0; i < cuts.size(); ++i) {
          const double p = normal_below((t - cuts[i]) / std::sqrt(0.3));
          product *= said[i] == 1 ? 0.7 * p + 0.2 * (1 - p) : 0.3 * p + 0.8 * (1 - p);
        }
        return product;
      },
      Gaussian::from_moments(0.5, 2));
  const Plan plan = compile(g, sequential({.tolerance = 1e-12}), standard_registry(), {.method = "ep"});
  State state(plan);
  state.observe(told, said);
  const Report report = run(plan, state);
  CHECK(report.converged());
  CHECK(report.faults == 0);
  CHECK(report.replaced == 0);
  MESSAGE(state.belief(x).text(), " beside ", exact.mean, " ", std::sqrt(exact.variance), ", log evidence ",
          log_evidence(plan, state), " beside ", std::log(exact.mass));
  CHECK(std::abs(state.belief(x).mean() - exact.mean) < 0.05 * std::sqrt(exact.variance));
  CHECK(std::abs(state.belief(x).sd() / std::sqrt(exact.variance) - 1) < 0.03);
  CHECK(std::abs(log_evidence(plan, state) - std::log(exact.mass)) < 0.03);
}

TEST_CASE("widening: weights of a line with unreliable labels, fused and unfused, against sums over the weights") {
  const std::vector<std::vector<double>> inputs{{1, 0.3, -1.2}, {1, -0.8, 0.4},  {1, 1.5, 0.9}, {1, -1.1, -0.6},
                                                {1, 0.2, 1.7},  {1, 0.9, -0.5}, {1, -2, 0.1},  {1, 0.6, 0.6}};
  const std::vector<double> label{0, 0, 1, 1, 0, 1, 1, 0};  // some contradict their priors
  const NormalGrid grid(0.4, 5.2);
  double total = 0;
  WeightedMoments exact[3];
  for (std::size_t a = 0; a < grid.at.size(); ++a)
    for (std::size_t b = 0; b < grid.at.size(); ++b)
      for (std::size_t c = 0; c < grid.at.size(); ++c) {
        double weight = grid.weight[a] * grid.weight[b] * grid.weight[c];
        const double w[] = {0.7 * grid.at[a], 1.5 + 0.7 * grid.at[b], -1.5 + 0.7 * grid.at[c]};
        for (std::size_t i = 0; i < label.size(); ++i) {
          double z = 0;
          for (std::size_t k = 0; k < 3; ++k) z += w[k] * inputs[i][k];
          const double p = normal_below(z / std::sqrt(0.5));
          weight *= label[i] == 1 ? 0.75 * p + 0.25 * (1 - p) : 0.25 * p + 0.75 * (1 - p);
        }
        total += weight;
        for (std::size_t k = 0; k < 3; ++k) exact[k].add(weight, w[k]);
      }
  Graph g;
  const auto w = g.variable("w", 3), step = g.variable("step", 8, "categorical(2)"), p = g.variable("p", 24),
             z = g.variable("z", 8), x = g.observed("x", 24), told = g.observed("told", 8, "categorical(2)");
  std::vector<double> flat;
  for (const auto& one : inputs) flat.insert(flat.end(), one.begin(), one.end());
  g.factor("gaussian_prior", {w}, {{"mean", {0.0, 1.5, -1.5}}, {"variance", 0.49}});
  g.factor("product", {column(w), x, p});
  g.factor("sum", {p, z});
  const FactorId labels = g.factor("interval", {z, step}, {{"noise", 0.5}, {"cuts", 0.0}});
  g.factor("table", {step, told}, {{"probability", {0.75, 0.25, 0.25, 0.75}}});
  std::vector<double> means;
  for (const bool fuse : {true, false}) {
    const Plan plan =
        compile(g, sequential({.tolerance = 1e-12, .limit = 500}), standard_registry(), {.method = "ep", .fuse = fuse});
    State state(plan);
    state.observe(x, flat), state.observe(told, label);
    const Report report = run(plan, state);
    CAPTURE(report.line());
    CHECK(report.converged());
    CHECK(report.faults == 0);
    CHECK(report.replaced == 0);
    CHECK(widening_at(state, labels, "x") > 0);
    for (std::size_t k = 0; k < 3; ++k) {
      const Belief found = state.belief(w);
      CHECK(std::abs(found.mean(k) - exact[k].mean(total)) < 0.05 * exact[k].sd(total));
      CHECK(std::abs(found.sd(k) / exact[k].sd(total) - 1) < 0.05);
      if (fuse) means.push_back(found.mean(k));
      else CHECK(std::abs(found.mean(k) - means[k]) < 1e-9);
    }
  }
}

TEST_CASE("widening: an improper belief is a fault, and no run is reported as converged") {
  Registry registry = standard_registry();
  registry.add(kind("too_wide").input("x").message(
      "ep", "x", [](const Gaussian& x) { return Gaussian(0, -2 * x.rho); }, from("x")));
  Graph g;
  const auto x = g.variable("x");
  g.factor("gaussian_prior", {x}, {{"mean", 1.0}, {"variance", 2.0}});
  g.factor("too_wide", {x}, {}, {.name = "wide"});
  const Plan plan = compile(g, flooding(), registry, {.method = "ep"});
  State state(plan);
  const Report report = run(plan, state);
  CHECK(report.stop == Report::Stop::diverged);
  CHECK(report.faults == 1);
  CHECK(report.first_fault.text() == "wide.x");
  CHECK(state.belief(x).is_uninformed(0));
}

TEST_CASE("widening: difficulty and ability with unknown answers, against sums over all unknowns") {
  // Three subjects answer four questions, each of unknown difficulty and discrimination: a subject who knows gives the
  // right one of three answers, others guess.
  constexpr std::uint32_t kSubjects = 3, kQuestions = 4, kChoices = 3;
  const double given[kSubjects][kQuestions] = {{0, 1, 2, 1}, {0, 1, 0, 1}, {1, 2, 0, 1}};
  const NormalGrid grid(0.5, 5);
  const std::size_t n = grid.at.size();
  std::vector<double> precision, weight;  // gamma(5, 5), in log
  for (double t = -3; t <= 2; t += 0.2)
    precision.push_back(std::exp(t)), weight.push_back(std::exp(5 * t - 5 * std::exp(t)));
  std::vector<double> knows;  // by ability, difficulty, precision
  for (const double a : grid.at)
    for (const double d : grid.at)
      for (const double w : precision) knows.push_back(normal_below((a - d) * std::sqrt(w)));
  double total = 0;
  WeightedMoments ability[kSubjects];
  double right[kQuestions][kChoices] = {};
  for (std::size_t at = 0; at < n * n * n; ++at) {
    const std::size_t node[kSubjects] = {at / n / n, at / n % n, at % n};
    double product = grid.weight[node[0]] * grid.weight[node[1]] * grid.weight[node[2]];
    if (product < 1e-9) continue;
    double of_answer[kQuestions][kChoices] = {};
    double of_question[kQuestions] = {};
    for (std::uint32_t q = 0; q < kQuestions; ++q) {
      for (std::size_t d = 0; d < n; ++d)
        for (std::size_t w = 0; w < weight.size(); ++w)
          for (std::uint32_t answer = 0; answer < kChoices; ++answer) {
            double p = grid.weight[d] * weight[w];
            for (std::uint32_t s = 0; s < kSubjects; ++s) {
              const double k = knows[(node[s] * n + d) * weight.size() + w];
              p *= (given[s][q] == answer ? k : 0) + (1 - k) / kChoices;
            }
            of_answer[q][answer] += p;
          }
      for (const double p : of_answer[q]) of_question[q] += p;
      product *= of_question[q];
    }
    total += product;
    for (std::uint32_t s = 0; s < kSubjects; ++s) ability[s].add(product, grid.at[node[s]]);
    for (std::uint32_t q = 0; q < kQuestions; ++q)
      for (std::uint32_t answer = 0; answer < kChoices; ++answer)
        right[q][answer] += product * of_answer[q][answer] / of_question[q];
  }

  constexpr std::uint32_t kAll = kSubjects * kQuestions;
  std::vector<std::uint32_t> subject_of, question_of;
  std::vector<double> seen, table;
  for (std::uint32_t s = 0; s < kSubjects; ++s)
    for (std::uint32_t q = 0; q < kQuestions; ++q)
      subject_of.push_back(s), question_of.push_back(q), seen.push_back(given[s][q]);
  for (std::uint32_t k = 0; k < 2; ++k)
    for (std::uint32_t a = 0; a < kChoices; ++a)
      for (std::uint32_t r = 0; r < kChoices; ++r) table.push_back(k == 0 ? 1.0 / kChoices : a == r ? 1 : 0);
  Graph g;
  const auto abilities = g.variable("ability", kSubjects), difficulties = g.variable("difficulty", kQuestions),
             discrimination = g.variable("discrimination", kQuestions, "gamma"),
             advantage = g.variable("advantage", kAll), noisy = g.variable("noisy", kAll),
             known = g.variable("knows", kAll, "categorical(2)"),
             answers = g.variable("answer", kQuestions, "categorical(3)"),
             response = g.observed("response", kAll, "categorical(3)");
  for (const VariableId v : {abilities, difficulties})
    g.factor("gaussian_prior", {v}, {{"mean", 0.0}, {"variance", 1.0}});
  g.factor("gamma_prior", {discrimination}, {{"shape", 5.0}, {"rate", 5.0}});
  g.factor("categorical_prior", {answers}, {{"probability", std::vector<double>(kChoices, 1.0 / kChoices)}});
  g.factor("sum", {gather(abilities, subject_of), gather(difficulties, question_of), advantage},
           {{"coefficients", std::vector<double>{1, -1}}});
  g.factor("gaussian_precision", {advantage, gather(discrimination, question_of), noisy});
  g.factor("interval", {noisy, known}, {{"cuts", 0.0}});
  g.factor("table", {known, gather(answers, question_of), response}, {{"probability", table}});
  const Plan plan =
      compile(g, sequential({.tolerance = 1e-8, .limit = 500}), standard_registry(), {.method = "ep"});
  State state(plan);
  state.observe(response, seen);
  const Report report = run(plan, state);
  MESSAGE(report.line());
  CHECK(report.converged());
  CHECK(report.faults == 0);
  double worst_mean = 0, worst_sd = 0, worst_answer = 0;
  for (std::uint32_t s = 0; s < kSubjects; ++s) {
    worst_mean = std::max(worst_mean, std::abs(state.belief(abilities).mean(s) - ability[s].mean(total)));
    worst_sd = std::max(worst_sd, std::abs(state.belief(abilities).sd(s) / ability[s].sd(total) - 1));
  }
  for (std::uint32_t q = 0; q < kQuestions; ++q)
    for (std::uint32_t a = 0; a < kChoices; ++a)
      worst_answer = std::max(worst_answer, std::abs(state.belief(answers).mean(q, a) - right[q][a] / total));
  MESSAGE("off by at most ", worst_mean, " in a mean, ", worst_sd, " of a width, ", worst_answer, " in a probability");
  CHECK(worst_mean < 0.12);
  CHECK(worst_sd < 0.03);
  CHECK(worst_answer < 0.05);
}

TEST_CASE("widening: a recommender by sweeps, tastes times traits, against sums over all of them") {
  const double rated[2][3] = {{2, 0, 1}, {0, 2, 0}};  // below -0.7, between, above 0.7
  const NormalGrid grid(0.25, 4.5);
  const std::size_t n = grid.at.size();
  const auto probability = [](double t, double c) {
    const double high = c == 2 ? 1 : normal_below((0.7 * (c == 0 ? -1 : 1) - t) / std::sqrt(0.4)),
                 low = c == 0 ? 0 : normal_below((0.7 * (c == 1 ? -1 : 1) - t) / std::sqrt(0.4));
    return high - low;
  };
  // Traits are N(1, 0.25), N(0, 1), N(0, 1); tastes N(0, 2). Given the tastes, traits are independent.
  const double trait_mean[] = {1, 0, 0}, trait_sd[] = {0.5, 1, 1}, taste_sd = std::sqrt(2.0);
  double total = 0;
  WeightedMoments taste[2], trait[3];
  for (std::size_t u = 0; u < n; ++u)
    for (std::size_t v = 0; v < n; ++v) {
      const double a = taste_sd * grid.at[u], b = taste_sd * grid.at[v];
      double product = grid.weight[u] * grid.weight[v], mass[3] = {};
      WeightedMoments of[3];
      for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t k = 0; k < n; ++k) {
          const double t = trait_mean[i] + trait_sd[i] * grid.at[k],
                       w = grid.weight[k] * probability(a * t, rated[0][i]) * probability(b * t, rated[1][i]);
          mass[i] += w, of[i].add(w, t);
        }
        product *= mass[i];
      }
      total += product;
      taste[0].add(product, a), taste[1].add(product, b);
      for (std::size_t i = 0; i < 3; ++i)
        trait[i].first += product * of[i].first / mass[i], trait[i].second += product * of[i].second / mass[i];
    }
  Graph g;
  const auto tastes = g.variable("taste", 2), traits = g.variable("trait", 3), match = g.variable("match", 6),
             rating = g.observed("rating", 6, "categorical(3)");
  g.factor("gaussian_prior", {tastes}, {{"mean", 0.0}, {"variance", 2.0}});
  g.factor("gaussian_prior", {traits}, {{"mean", {1.0, 0.0, 0.0}}, {"variance", {0.25, 1.0, 1.0}}});
  g.factor("product", {gather(tastes, {0, 0, 0, 1, 1, 1}), gather(traits, {0, 1, 2, 0, 1, 2}), match});
  g.factor("interval", {match, rating}, {{"noise", 0.4}, {"cuts", {-0.7, 0.7}}});
  const Plan plan = compile(g, sequential({.tolerance = 1e-8, .limit = 500, .damping = 0.3}), standard_registry(),
                            {.method = "ep"});
  State state(plan);
  state.observe(rating, {2.0, 0.0, 1.0, 0.0, 2.0, 0.0});
  const Report report = run(plan, state);
  MESSAGE(report.line());
  CHECK(report.converged());
  CHECK(report.faults == 0);
  const auto check = [&](VariableId v, std::size_t i, const WeightedMoments& exact) {
    const Belief found = state.belief(v);
    MESSAGE((v == tastes ? "taste " : "trait "), i, ": ", found.mean(i), " +- ", found.sd(i), " beside ",
            exact.mean(total), " +- ", exact.sd(total));
    CHECK(std::abs(found.mean(i) - exact.mean(total)) < 0.15 * exact.sd(total));
    CHECK(std::abs(found.sd(i) / exact.sd(total) - 1) < 0.15);
  };
  for (std::size_t i = 0; i < 2; ++i) check(tastes, i, taste[i]);
  for (std::size_t i = 0; i < 3; ++i) check(traits, i, trait[i]);

  // A single rating, which says that taste and trait have the same sign: each belief is wider than before.
  Graph alone;
  const auto x = alone.variable("x"), y = alone.variable("y"), z = alone.variable("z"), seen = alone.observed("seen");
  for (const VariableId v : {x, y}) alone.factor("gaussian_prior", {v}, {{"mean", 0.3}, {"variance", 1.0}});
  const FactorId likes = alone.factor("product", {x, y, z});
  alone.factor("gaussian_noise", {z, seen}, {{"variance", 0.3}});
  const Plan once = compile(alone, forward_backward(), standard_registry(), {.method = "ep"});
  State rated_once(once);
  rated_once.observe(seen, 1.5);
  CHECK(run(once, rated_once).faults == 0);
  const NormalGrid fine(0.05, 6);
  double mass = 0;
  WeightedMoments of_x;
  for (std::size_t i = 0; i < fine.at.size(); ++i)
    for (std::size_t k = 0; k < fine.at.size(); ++k) {
      const double a = 0.3 + fine.at[i], off = 1.5 - a * (0.3 + fine.at[k]),
                   weight = fine.weight[i] * fine.weight[k] * std::exp(-off * off / 0.6);
      mass += weight, of_x.add(weight, a);
    }
  CHECK(of_x.sd(mass) > 1);
  CHECK(widening_at(rated_once, likes, "x") == 1);
  CHECK(rated_once.belief(x).mean() == oracle::relative(of_x.mean(mass), 1e-6));
  CHECK(rated_once.belief(x).sd() == oracle::relative(of_x.sd(mass), 1e-6));
}
