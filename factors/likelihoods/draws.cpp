#include "factors/likelihoods/draws.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "engine/kinds/kind.h"
#include "engine/support/log_sum_exp.h"
#include "engine/support/special_functions.h"

namespace dma {

namespace {

using Numbers = std::span<const double>;

// Working memory reused by later calls: after the first messages of a thread nothing is allocated.
struct DrawMemory {
  std::vector<double> counts, logs, fractions, found;  // logs: log weights of the outcomes

  // False if the messages have no weights: p is known or no density, or every outcome is forbidden.
  bool read(CategoricalDraw::Probabilities p, CategoricalDraw::Outcome outcome) {
    Categorical::logs(outcome, logs.data());
    return !p[0].is_point() && Dirichlet::read_counts(p, counts.data()) && std::ranges::max(logs) > -kInfinity;
  }
};

DrawMemory& draw_memory(std::size_t categories) {
  thread_local DrawMemory memory;
  for (auto* const numbers : {&memory.counts, &memory.logs, &memory.fractions, &memory.found})
    numbers->resize(categories);
  return memory;
}

double sum_of(Numbers numbers) { return std::accumulate(numbers.begin(), numbers.end(), 0.0); }

template <class Component>
bool says_nothing(std::span<const Component> message) {
  return std::ranges::all_of(message, [](const Component& component) { return component.is_uniform(); });
}

// r_k ~ w_k a_k, from log w_k.
void weigh_by_counts(Numbers counts, Numbers logs, std::span<double> fractions) {
  for (std::size_t k = 0; k < counts.size(); ++k) fractions[k] = logs[k] + std::log(counts[k]);
  to_fractions(fractions);
}

// The fractions of vmp, iterated from those of exact inference: they converge in a few steps, because digamma is flat
// where there are counts.
void settle(DrawMemory& memory) {
  constexpr int kMostSteps = 200;
  constexpr double kSettled = 1e-15;
  auto &counts = memory.counts, &logs = memory.logs, &fractions = memory.fractions, &found = memory.found;
  weigh_by_counts(counts, logs, fractions);
  for (int i = 0; i < kMostSteps; ++i) {
    for (std::size_t k = 0; k < counts.size(); ++k)
      found[k] = logs[k] > -kInfinity ? logs[k] + digamma(counts[k] + fractions[k]) : -kInfinity;
    to_fractions(found);
    double change = 0;
    for (std::size_t k = 0; k < counts.size(); ++k)
      change = std::max(change, std::abs(found[k] - std::exchange(fractions[k], found[k])));
    if (change <= kSettled) return;
  }
}

template <class Component>
void put_counts(Numbers numbers, std::span<Component> out) {
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = Component(DirichletComponent(numbers[k], 0));
}

// Adds one to the observed category, if there is one.
template <class Component>
void one_more_of(std::span<const CategoricalComponent> outcome, std::span<Component> out) {
  for (std::size_t k = 0; k < out.size(); ++k)
    out[k] = Component(DirichletComponent(outcome[k].is_point() ? outcome[k].tau : 0.0, 0));
}

// Beta and Bernoulli messages as messages over two categories, no and yes.
struct AsCategories {
  AsCategories(const Beta& beta, const Bernoulli& bernoulli) {
    p[0] = beta.is_point() ? DirichletComponent(1 - beta.tau, kInfinity) : DirichletComponent(beta.rho, 0);
    p[1] = beta.is_point() ? DirichletComponent(beta.tau, kInfinity) : DirichletComponent(beta.tau, 0);
    if (bernoulli.is_point()) {
      outcome[0] = {1 - bernoulli.tau, kInfinity};
      outcome[1] = {bernoulli.tau, kInfinity};
    } else
      outcome[1] = {bernoulli.tau, 0};
  }
  DirichletComponent p[2];
  CategoricalComponent outcome[2];
};

Beta beta_of(std::span<const DirichletComponent> counts) { return {counts[1].tau, counts[0].tau}; }

Bernoulli bernoulli_of(std::span<const CategoricalComponent> outcome) {
  if (outcome[0].rho > 0 || outcome[1].rho > 0) return Bernoulli::from_probability(outcome[0].rho > 0 ? 1 : 0);
  return {outcome[1].tau - outcome[0].tau, 0};
}

}  // namespace

void CategoricalDraw::to_outcome(Probabilities p, std::span<CategoricalComponent> outcome) {
  std::vector<double>& logs = draw_memory(p.size()).logs;
  std::ranges::fill(outcome, CategoricalComponent());
  if (!Dirichlet::read_counts(p, logs.data())) return;
  for (double& log : logs) log = std::log(log);
  Categorical::send_logs(logs, outcome);
}

// compile() refuses graphs in which the outcome is not observed.
void CategoricalDraw::to_probabilities(Outcome outcome, std::span<DirichletComponent> p) { one_more_of(outcome, p); }

void CategoricalDraw::Ep::to_probabilities(Probabilities p, Outcome outcome,
                                           std::span<OrFallback<DirichletComponent>> out) {
  std::ranges::fill(out, OrFallback<DirichletComponent>());
  if (outcome[0].is_point() || says_nothing(outcome)) return one_more_of(outcome, out);
  DrawMemory& memory = draw_memory(p.size());
  if (!memory.read(p, outcome)) return;
  weigh_by_counts(memory.counts, memory.logs, memory.fractions);
  const bool is_projected = Dirichlet::project(memory.counts, memory.fractions, memory.found);
  put_counts(is_projected ? memory.found : memory.fractions, out);
  out[0].replaced = !is_projected;  // one message of several components
}

void CategoricalDraw::Vmp::to_outcome(Probabilities p, Outcome outcome, std::span<CategoricalComponent> out) {
  if (p[0].is_point() || outcome[0].is_point() || says_nothing(outcome)) return CategoricalDraw::to_outcome(p, out);
  std::ranges::fill(out, CategoricalComponent());
  DrawMemory& memory = draw_memory(p.size());
  if (!memory.read(p, outcome)) return;
  settle(memory);
  for (std::size_t k = 0; k < p.size(); ++k) memory.found[k] = digamma(memory.counts[k] + memory.fractions[k]);
  Categorical::send_logs(memory.found, out);
}

void CategoricalDraw::Vmp::to_probabilities(Probabilities p, Outcome outcome, std::span<DirichletComponent> out) {
  if (outcome[0].is_point() || says_nothing(outcome)) return CategoricalDraw::to_probabilities(outcome, out);
  std::ranges::fill(out, DirichletComponent());
  DrawMemory& memory = draw_memory(p.size());
  if (!memory.read(p, outcome)) return;
  settle(memory);
  put_counts(memory.fractions, out);
}

double CategoricalDraw::log_integral(Components arrivals) {
  const std::size_t categories = arrivals.size() / 2;
  DrawMemory& memory = draw_memory(categories);
  if (!Dirichlet::read_counts(arrivals.first(categories), memory.counts.data())) return std::nan("");
  Categorical::logs(arrivals.subspan(categories), memory.logs.data());
  const double in_all = log_sum_exp(memory.logs);
  if (in_all == -kInfinity) return in_all;
  for (std::size_t k = 0; k < categories; ++k) memory.found[k] = memory.logs[k] + std::log(memory.counts[k]);
  return log_sum_exp(memory.found) - std::log(sum_of(memory.counts)) - in_all;
}

double CategoricalDraw::expected_log(Components beliefs) {
  const std::size_t categories = beliefs.size() / 2;
  DrawMemory& memory = draw_memory(categories);
  const bool is_known = beliefs[0].is_point();
  if (!Dirichlet::read_counts(beliefs.first(categories), memory.counts.data())) return std::nan("");
  Categorical::logs(beliefs.subspan(categories), memory.logs.data());
  memory.fractions = memory.logs;
  to_fractions(memory.fractions);
  const double all = is_known ? 0 : digamma(sum_of(memory.counts));
  double sum = 0;
  for (std::size_t k = 0; k < categories; ++k)
    if (const double c = memory.counts[k], w = memory.fractions[k]; w > 0)
      sum += w * (is_known ? std::log(c) : digamma(c) - all);
  return sum;
}

Bernoulli BernoulliDraw::to_outcome(const Beta& p) {
  const AsCategories as(p, {});
  CategoricalComponent out[2];
  CategoricalDraw::to_outcome(as.p, out);
  return bernoulli_of(out);
}

Beta BernoulliDraw::to_probability(const Bernoulli& outcome) {
  const AsCategories as({}, outcome);
  DirichletComponent out[2];
  CategoricalDraw::to_probabilities(as.outcome, out);
  return beta_of(out);
}

OrFallback<Beta> BernoulliDraw::Ep::to_probability(const Beta& p, const Bernoulli& outcome) {
  const AsCategories as(p, outcome);
  OrFallback<DirichletComponent> out[2];
  CategoricalDraw::Ep::to_probabilities(as.p, as.outcome, out);
  return {Beta(out[1].tau, out[0].tau), out[0].replaced};
}

Bernoulli BernoulliDraw::Vmp::to_outcome(const Beta& p, const Bernoulli& outcome) {
  const AsCategories as(p, outcome);
  CategoricalComponent out[2];
  CategoricalDraw::Vmp::to_outcome(as.p, as.outcome, out);
  return bernoulli_of(out);
}

Beta BernoulliDraw::Vmp::to_probability(const Beta& p, const Bernoulli& outcome) {
  const AsCategories as(p, outcome);
  DirichletComponent out[2];
  CategoricalDraw::Vmp::to_probabilities(as.p, as.outcome, out);
  return beta_of(out);
}

double BernoulliDraw::log_integral(Components arrivals) {
  const AsCategories as{Beta(arrivals[0]), Bernoulli(arrivals[1])};
  return CategoricalDraw::log_integral(std::array<Natural, 4>{as.p[0], as.p[1], as.outcome[0], as.outcome[1]});
}
double BernoulliDraw::expected_log(Components beliefs) {
  const AsCategories as{Beta(beliefs[0]), Bernoulli(beliefs[1])};
  return CategoricalDraw::expected_log(std::array<Natural, 4>{as.p[0], as.p[1], as.outcome[0], as.outcome[1]});
}

Kind categorical_draw_kind() {
  return kind("categorical_draw", "the outcome is category k with probability k, which is unknown")
      .input("probabilities", "dirichlet")
      .output("outcome", "categorical")
      .same_terms("probabilities", "outcome")
      .log_integral([](auto m, auto) { return CategoricalDraw::log_integral(m); })
      .expected_log([](auto q, auto) { return CategoricalDraw::expected_log(q); })
      .message<&CategoricalDraw::to_outcome>(kExact, "outcome")
      .message<&CategoricalDraw::to_probabilities>(kExact, "probabilities")
      .only_if_observed("outcome")
      .message<&CategoricalDraw::Ep::to_probabilities>("ep", "probabilities", from("probabilities", "outcome"))
      .message<&CategoricalDraw::Vmp::to_outcome>("vmp", "outcome", from("probabilities", "outcome"))
      .message<&CategoricalDraw::Vmp::to_probabilities>("vmp", "probabilities", from("probabilities", "outcome"));
}

Kind bernoulli_draw_kind() {
  return kind("bernoulli_draw", "the outcome is 1 with the probability, which is unknown")
      .input("probability", "beta")
      .output("outcome", "bernoulli")
      .log_integral([](auto m, auto) { return BernoulliDraw::log_integral(m); })
      .expected_log([](auto q, auto) { return BernoulliDraw::expected_log(q); })
      .message<&BernoulliDraw::to_outcome>(kExact, "outcome")
      .message<&BernoulliDraw::to_probability>(kExact, "probability")
      .only_if_observed("outcome")
      .message<&BernoulliDraw::Ep::to_probability>("ep", "probability", from("probability", "outcome"))
      .message<&BernoulliDraw::Vmp::to_outcome>("vmp", "outcome", from("probability", "outcome"))
      .message<&BernoulliDraw::Vmp::to_probability>("vmp", "probability", from("probability", "outcome"));
}

}  // namespace dma
