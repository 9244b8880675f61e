// Models of hidden categories, against sums over them: given those, unknown rows give ratios of beta functions.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_01.hpp>
#include <cmath>
#include <vector>

#include "engine/exact/exact.h"
#include "engine/gates/gates.h"
#include "engine/run/run.h"
#include "factors/standard_registry.h"
#include "schedules/schedules.h"
#include "tests/oracles/files.h"

namespace {

using namespace dma;

// Rows of unknown probabilities, each with the counts of its prior; hidden categories; and draws from rows.
struct HiddenModel {
  struct Rows {
    std::vector<std::vector<double>> prior;  // one row, or one per category of the parent
  };
  static constexpr int kNone = -1;
  struct Draw {
    std::size_t rows;
    int parent;  // index of a hidden variable; kNone: there is one row
    int child;   // index of a hidden variable; kNone: `seen` is observed
    std::size_t seen = 0;
  };
  std::vector<Rows> rows;
  std::vector<std::size_t> hidden;  // number of categories, by hidden variable
  std::vector<Draw> draws;

  struct Answer {
    std::vector<std::vector<double>> hidden;  // probabilities
    std::vector<std::vector<double>> rows;    // mean probabilities, one row after the other
    double log_evidence = 0;
  };

  Answer counted() const {
    Answer out;
    for (const std::size_t k : hidden) out.hidden.emplace_back(k);
    for (const Rows& r : rows)
      for (const auto& row : r.prior) out.rows.emplace_back(row.size());
    double total = 0;
    const auto log_beta = [](const std::vector<double>& a) {
      double sum = 0, log = 0;
      for (const double x : a) sum += x, log += std::lgamma(x);
      return log - std::lgamma(sum);
    };
    for (std::vector<std::size_t> at(hidden.size());;) {
      std::vector<Rows> counts = rows;
      for (const Draw& d : draws)
        counts[d.rows].prior[d.parent < 0 ? 0 : at[static_cast<std::size_t>(d.parent)]]
                            [d.child < 0 ? d.seen : at[static_cast<std::size_t>(d.child)]] += 1;
      double log = 0;
      for (std::size_t r = 0; r < rows.size(); ++r)
        for (std::size_t i = 0; i < rows[r].prior.size(); ++i)
          log += log_beta(counts[r].prior[i]) - log_beta(rows[r].prior[i]);
      const double weight = std::exp(log);
      total += weight;
      for (std::size_t v = 0; v < at.size(); ++v) out.hidden[v][at[v]] += weight;
      std::size_t row = 0;
      for (const Rows& r : counts)
        for (const auto& one : r.prior) {
          double sum = 0;
          for (const double x : one) sum += x;
          for (std::size_t k = 0; k < one.size(); ++k) out.rows[row][k] += weight * one[k] / sum;
          ++row;
        }
      std::size_t v = 0;
      while (v < at.size() && ++at[v] == hidden[v]) at[v++] = 0;
      if (v == at.size()) break;
    }
    for (auto* const list : {&out.hidden, &out.rows})
      for (auto& one : *list)
        for (double& x : one) x /= total;
    out.log_evidence = std::log(total);
    return out;
  }

  // The same by collapsed Gibbs: each hidden variable drawn given all others, by the counts of its rows.
  Answer drawn(std::uint64_t seed, int sweeps) const {
    boost::random::mt19937_64 random(seed);
    boost::random::uniform_01<double> unit;
    std::vector<Rows> counts = rows;
    std::vector<std::size_t> at(hidden.size());
    const auto cell = [&](const Draw& d) -> double& {
      return counts[d.rows].prior[d.parent < 0 ? 0 : at[static_cast<std::size_t>(d.parent)]]
                                 [d.child < 0 ? d.seen : at[static_cast<std::size_t>(d.child)]];
    };
    for (std::size_t v = 0; v < at.size(); ++v) at[v] = static_cast<std::size_t>(unit(random) * double(hidden[v]));
    for (const Draw& d : draws) cell(d) += 1;
    std::vector<std::vector<Draw>> of(hidden.size());
    for (const Draw& d : draws)
      for (const int v : {d.parent, d.child})
        if (v >= 0) of[static_cast<std::size_t>(v)].push_back(d);
    Answer out;
    for (const std::size_t k : hidden) out.hidden.emplace_back(k);
    for (int sweep = 0; sweep < sweeps; ++sweep)
      for (std::size_t v = 0; v < at.size(); ++v) {
        for (const Draw& d : of[v]) cell(d) -= 1;
        std::vector<double> weight(hidden[v], 1.0);
        double total = 0;
        for (at[v] = 0; at[v] < hidden[v]; ++at[v]) {
          for (const Draw& d : of[v]) {
            double sum = 0;
            const auto& one = counts[d.rows].prior[d.parent < 0 ? 0 : at[static_cast<std::size_t>(d.parent)]];
            for (const double x : one) sum += x;
            weight[at[v]] *= cell(d) / sum;
          }
          total += weight[at[v]];
        }
        double left = unit(random) * total;
        for (at[v] = 0; at[v] + 1 < hidden[v] && (left -= weight[at[v]]) > 0;) ++at[v];
        for (const Draw& d : of[v]) cell(d) += 1;
        for (std::size_t k = 0; 10 * sweep >= sweeps && k < hidden[v]; ++k)  // the first tenth is dropped
          out.hidden[v][k] += weight[k] / total / (sweeps - std::ceil(sweeps / 10.0));
      }
    return out;
  }

  Answer swept(Report& report) const {
    Graph g;
    std::vector<VariableId> p, z, seen;
    std::vector<std::pair<VariableId, double>> values;
    for (const Rows& r : rows) {
      const std::size_t k = r.prior[0].size();
      p.push_back(g.variable("", r.prior.size(), fmt::format("dirichlet({})", k)));
      for (std::uint32_t i = 0; i < r.prior.size(); ++i)
        g.factor("dirichlet_prior", {gather(p.back(), {i})}, {{"concentration", r.prior[i]}});
    }
    for (const std::size_t k : hidden) z.push_back(g.variable("", 1, fmt::format("categorical({})", k)));
    for (const Draw& d : draws) {
      const std::size_t k = rows[d.rows].prior[0].size();
      VariableId child =
          d.child < 0 ? g.observed("", 1, fmt::format("categorical({})", k)) : z[static_cast<std::size_t>(d.child)];
      if (d.child < 0) values.emplace_back(child, static_cast<double>(d.seen));
      if (d.parent < 0)
        g.factor("categorical_draw", {p[d.rows], child});
      else
        g.factor("learned_table",
                 {{"rows", p[d.rows]}, {"parent", z[static_cast<std::size_t>(d.parent)]}, {"child", child}},
                 {{"categories", static_cast<double>(k)}});
    }
    const Plan plan = compile(g, sequential({.tolerance = 1e-8, .limit = 500, .damping = 0.3}), standard_registry(),
                              {.method = "ep"});
    State state(plan);
    for (const auto& [variable, value] : values) state.observe(variable, value);
    report = run(plan, state);
    Answer out;
    for (const VariableId v : z) out.hidden.push_back(state.belief(v).means());
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const Belief belief = state.belief(p[r]);
      for (std::size_t i = 0; i < belief.size(); ++i) {
        auto& row = out.rows.emplace_back();
        for (std::size_t k = 0; k < rows[r].prior[0].size(); ++k) row.push_back(belief.mean(i, k));
      }
    }
    out.log_evidence = log_evidence(plan, state);
    return out;
  }
};

constexpr int kNone = HiddenModel::kNone;

double farthest(const std::vector<std::vector<double>>& found, const std::vector<std::vector<double>>& expected) {
  double most = 0;
  for (std::size_t r = 0; r < expected.size(); ++r)
    for (std::size_t k = 0; k < expected[r].size(); ++k) most = std::max(most, std::abs(found[r][k] - expected[r][k]));
  return most;
}

// Five sets of ten tosses, each of one of two coins (Do and Batzoglou 2008).
HiddenModel two_coins() {
  HiddenModel m{{{{{1, 1}}}, {{{5, 5}, {1, 4}}}}, std::vector<std::size_t>(5, 2), {}};
  constexpr int kHeads[] = {5, 9, 8, 4, 7};
  for (int set = 0; set < 5; ++set) {
    m.draws.push_back({0, kNone, set});
    for (int toss = 0; toss < 10; ++toss) m.draws.push_back({1, set, kNone, toss < kHeads[set] ? 1u : 0u});
  }
  return m;
}

// Eight things labelled by three people, the last of whom answers at random.
HiddenModel crowd() {
  HiddenModel m{
      {{{{2, 2}}}, {{{4, 1}, {1, 4}}}, {{{4, 1}, {1, 4}}}, {{{4, 1}, {1, 4}}}}, std::vector<std::size_t>(8, 2), {}};
  constexpr const char* kLabels[] = {"00110101", "00110111", "01011010"};
  for (int thing = 0; thing < 8; ++thing) {
    m.draws.push_back({0, kNone, thing});
    for (std::size_t person = 0; person < 3; ++person)
      m.draws.push_back({person + 1, thing, kNone, static_cast<std::size_t>(kLabels[person][thing] - '0')});
  }
  return m;
}

// Latent Dirichlet allocation: three texts over four words, two topics; one word per topic is slightly more frequent.
HiddenModel topics() {
  HiddenModel m{
      {{{{1, 1}}}, {{{1, 1}}}, {{{1, 1}}}, {{{3, 1, 1, 1}, {1, 1, 1, 3}}}}, std::vector<std::size_t>(15, 2), {}};
  constexpr const char* kTexts[] = {"00110", "33232", "01323"};
  for (int word = 0; word < 15; ++word) {
    m.draws.push_back({static_cast<std::size_t>(word / 5), kNone, word});
    m.draws.push_back({3, word, kNone, static_cast<std::size_t>(kTexts[word / 5][word % 5] - '0')});
  }
  return m;
}

// A hidden chain whose start, transitions and emissions are all unknown.
HiddenModel chain() {
  HiddenModel m{{{{{1, 1}}}, {{{3, 1}, {1, 3}}}, {{{3, 1, 1}, {1, 1, 3}}}}, std::vector<std::size_t>(12, 2), {}};
  constexpr const char* kSeen = "001022122000";
  for (int t = 0; t < 12; ++t) {
    if (t == 0)
      m.draws.push_back({0, kNone, 0});
    else
      m.draws.push_back({1, t - 1, t});
    m.draws.push_back({2, t, kNone, static_cast<std::size_t>(kSeen[t] - '0')});
  }
  return m;
}

}  // namespace

TEST_CASE("discrete models: coins, crowds, topics and chains with unknown probabilities, near what counting gives") {
  const struct {
    const char* name;
    HiddenModel model;
    double of_hidden, of_rows, of_evidence;  // tolerances
  } cases[] = {{"coins", two_coins(), 0.12, 0.03, 0.4},
               {"crowd", crowd(), 0.04, 0.015, 0.1},
               {"topics", topics(), 0.06, 0.04, 0.15},
               {"chain", chain(), 0.08, 0.02, 0.15}};
  for (const auto& one : cases) {
    CAPTURE(one.name);
    const HiddenModel::Answer expected = one.model.counted();
    Report report;
    const HiddenModel::Answer found = one.model.swept(report);
    CHECK(report.stop == Report::Stop::converged);
    CHECK(farthest(found.hidden, expected.hidden) < one.of_hidden);
    CHECK(farthest(found.rows, expected.rows) < one.of_rows);
    CHECK(std::abs(found.log_evidence - expected.log_evidence) < one.of_evidence);
  }
}

// Ten texts of twelve words over six, three topics: two words are slightly more frequent in each.
TEST_CASE("discrete models: topics of a small corpus, near collapsed Gibbs") {
  HiddenModel m{std::vector<HiddenModel::Rows>(10, {{{1, 1, 1}}}), std::vector<std::size_t>(120, 3), {}};
  m.rows.push_back({{{3, 3, 1, 1, 1, 1}, {1, 1, 3, 3, 1, 1}, {1, 1, 1, 1, 3, 3}}});
  constexpr const char* kTexts[] = {"001100100110", "232332322323", "454554455445", "010123230101", "223344554323",
                                    "450145014501", "001150110010", "233223320332", "544545554154", "112233001122"};
  for (int word = 0; word < 120; ++word) {
    m.draws.push_back({static_cast<std::size_t>(word / 12), kNone, word});
    m.draws.push_back({10, word, kNone, static_cast<std::size_t>(kTexts[word / 12][word % 12] - '0')});
  }
  const HiddenModel::Answer expected = m.drawn(1, 20000), again = m.drawn(2, 20000);
  Report report;
  const HiddenModel::Answer found = m.swept(report);
  CHECK(report.stop == Report::Stop::converged);
  CHECK(farthest(again.hidden, expected.hidden) < 0.02);  // the noise of Gibbs
  CHECK(farthest(found.hidden, expected.hidden) < 0.1);
}

TEST_CASE("discrete models: eight students, whose skills are all needed for a question, as counting has them") {
  // Three skills; students with all skills of a question answer it with probability 9 in 10, others with 1 in 5.
  constexpr std::size_t kStudents = 8, kSkills = 3;
  const std::vector<std::vector<std::uint32_t>> needs = {{0}, {1}, {0, 1}, {1, 2}, {0, 1, 2}};
  const char* const answers[kStudents] = {"11111", "10000", "01000", "11100", "00010", "11110", "00000", "10101"};
  Graph g;
  const VariableId skill = g.variable("skill", kStudents * kSkills, "categorical(2)");
  g.factor("categorical_prior", {skill}, {{"probability", {0.5, 0.5}}});
  std::vector<VariableId> right;
  for (std::size_t q = 0; q < needs.size(); ++q) {
    right.push_back(g.observed(fmt::format("right{}", q), kStudents, "categorical(2)"));
    std::vector<Connection> ends;
    for (const std::uint32_t s : needs[q]) {
      std::vector<std::uint32_t> of;
      for (std::uint32_t i = 0; i < kStudents; ++i) of.push_back(static_cast<std::uint32_t>(i * kSkills + s));
      ends.push_back({"parents", gather(skill, of)});
    }
    ends.push_back({"child", right[q]});
    std::vector<double> noisy_and;
    for (std::size_t row = 0; row < std::size_t{1} << needs[q].size(); ++row) {
      const double p = row + 1 == std::size_t{1} << needs[q].size() ? 0.9 : 0.2;
      noisy_and.insert(noisy_and.end(), {1 - p, p});
    }
    g.factor("table", ends, {{"probability", noisy_and}});
  }
  const Plan plan = compile(g, exact(), standard_registry());
  State state(plan);
  for (std::size_t q = 0; q < needs.size(); ++q) {
    std::vector<double> seen;
    for (const char* const of : answers) seen.push_back(of[q] - '0');
    state.observe(right[q], seen);
  }
  CHECK(run(plan, state).stop == Report::Stop::exact);
  for (std::size_t i = 0; i < kStudents; ++i) {
    double total = 0;
    std::vector<double> has(kSkills);
    for (unsigned at = 0; at < 1u << kSkills; ++at) {
      double weight = 1;
      for (std::size_t q = 0; q < needs.size(); ++q) {
        bool can = true;
        for (const std::uint32_t s : needs[q]) can &= (at >> s & 1) == 1;
        const double p = can ? 0.9 : 0.2;
        weight *= answers[i][q] == '1' ? p : 1 - p;
      }
      total += weight;
      for (unsigned s = 0; s < kSkills; ++s) has[s] += (at >> s & 1) * weight;
    }
    for (std::size_t s = 0; s < kSkills; ++s)
      CHECK(std::abs(state.belief(skill).mean(i * kSkills + s, 1) - has[s] / total) < 1e-12);
  }
}

TEST_CASE("discrete models: too many zeros, and a year in which accidents became rarer, by gates") {
  // Gamma(a, b) rates: n counts with this sum.
  const auto log_counts = [](double n, double sum, double logs, double a = 2, double b = 1) {
    return a * std::log(b) - std::lgamma(a) + std::lgamma(a + sum) - (a + sum) * std::log(b + n) - logs;
  };
  const auto log_factorials = [](std::span<const double> counts) {
    double sum = 0;
    for (const double c : counts) sum += std::lgamma(c + 1);
    return sum;
  };
  // A count is a structural 0, or a Poisson draw.
  const std::vector<double> zeros{0, 3, 0, 2, 0, 4, 0};
  Graph g;
  const VariableId rate = g.variable("rate", 1, "gamma");
  g.factor("gamma_prior", {rate}, {{"shape", 2.0}, {"rate", 1.0}});
  std::vector<VariableId> counts, is_drawn;
  for (std::size_t i = 0; i < zeros.size(); ++i) {
    counts.push_back(g.observed("")), is_drawn.push_back(g.variable("", 1, "bernoulli"));
    g.factor("bernoulli_prior", {is_drawn[i]}, {{"probability", 0.7}});
    g.factor("poisson_draw", {rate, counts[i]}, {}, {.when = {{is_drawn[i], 1}}});
    g.factor("within", {counts[i]}, {{"margin", 0.5}}, {.when = {{is_drawn[i], 0}}});
  }
  const Plan plan = compile(g, gates(forward_backward()), standard_registry());
  State state(plan);
  for (std::size_t i = 0; i < zeros.size(); ++i) state.observe(counts[i], zeros[i]);
  CHECK(run(plan, state).stop == Report::Stop::exact);
  double total = 0, mean = 0;
  std::vector<double> drawn(zeros.size());
  for (unsigned of = 0; of < 1u << zeros.size(); ++of) {
    double n = 0, sum = 0, weight = 1;
    for (std::size_t i = 0; i < zeros.size(); ++i) {
      const bool is = (of >> i & 1) == 1;
      weight *= is ? 0.7 : zeros[i] == 0 ? 0.3 : 0;
      if (is) ++n, sum += zeros[i];
    }
    if (weight == 0) continue;
    weight *= std::exp(log_counts(n, sum, log_factorials(zeros)));
    total += weight, mean += weight * (2 + sum) / (1 + n);
    for (std::size_t i = 0; i < zeros.size(); ++i) drawn[i] += (of >> i & 1) * weight;
  }
  CHECK(std::abs(log_evidence(plan, state) - std::log(total)) < 1e-10);
  CHECK(std::abs(state.belief(rate).mean() - mean / total) < 1e-11);
  for (std::size_t i = 0; i < zeros.size(); ++i)
    CHECK(std::abs(state.belief(is_drawn[i]).mean() - drawn[i] / total) < 1e-11);

  // Disasters in British coal mines, 1851 to 1961: the first year of the lower rate, which only its gates inform.
  const std::vector<double> disasters = oracle::read_columns("models/graphs/disasters.csv").at("disasters");
  const auto years = static_cast<std::uint32_t>(disasters.size());
  Graph coal;
  const VariableId change = coal.variable("change", 1, fmt::format("categorical({})", years - 1)),
                   rates = coal.variable("rates", 2, "gamma"), seen = coal.observed("disasters", years);
  coal.factor("gamma_prior", {rates}, {{"shape", 2.0}, {"rate", 1.0}});
  std::vector<double> logs;
  for (std::uint32_t year = 1; year < years; ++year) {
    std::vector<std::uint32_t> which(years, 1);
    std::fill_n(which.begin(), year, 0);
    coal.factor("poisson_draw", {gather(rates, which), seen}, {}, {.when = {{change, year - 1}}});
    double early = 0, late = 0;
    for (std::uint32_t t = 0; t < years; ++t) (t < year ? early : late) += disasters[t];
    logs.push_back(log_counts(year, early, log_factorials(disasters)) + log_counts(years - year, late, 0));
  }
  const Plan coal_plan = compile(coal, gates(forward_backward()), standard_registry());
  State found(coal_plan);
  found.observe(seen, disasters);
  CHECK(run(coal_plan, found).stop == Report::Stop::exact);
  double all = 0;
  for (const double log : logs) all += std::exp(log - logs[40]);
  const std::vector<double> posterior = found.belief(change).means();
  for (std::uint32_t i = 0; i + 1 < years; ++i)
    CHECK(std::abs(posterior[i] - std::exp(logs[i] - logs[40]) / all) < 1e-10);
  CHECK(std::ranges::max_element(logs) - logs.begin() == 40);  // the first 41 years, until 1891
}
