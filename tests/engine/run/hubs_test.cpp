// Variables with very many factors: each outgoing message leaves one out, quickly and without loss of digits.
#include "engine/run/hubs.h"

#include "tests/oracles/allocations.h"
#include "tests/oracles/random_messages.h"
#include "tests/oracles/solved.h"

namespace {

std::vector<Scheduler> exact_rules() {
  return {forward_backward(), flooding({.tolerance = 1e-13}), sequential({.tolerance = 1e-13}),
          residual({.tolerance = 1e-13})};
}

}  // namespace

TEST_CASE(
    "hubs: all but one is what adding up the others gives, whatever changes and however much one outweighs the rest") {
  constexpr std::uint32_t kSlots = 100;
  PlanData plan;
  plan.has_hubs = true, plan.slots = kSlots + 3, plan.elements = 2;
  std::vector<std::uint32_t> element(plan.slots), first(3), slots(plan.slots);
  for (std::uint32_t s = 0; s < plan.slots; ++s) element[s] = s % 34 == 0 ? 1 : 0;  // few at the other element
  sort_by_element(element, first, slots);
  const Incidence incidence{first.data(), slots.data(), element.data()};
  std::vector<double> tau(plan.slots), rho(plan.slots);
  const MessageArrays messages{tau.data(), rho.data()};
  oracle::RandomMessages random(5);
  Hubs hubs(plan);
  for (int step = 0; step < 2000; ++step) {
    const auto slot = static_cast<std::uint32_t>(random.uniform() * plan.slots);
    rho[slot] = step % 5 == 0 ? 1e12 : random.uniform(), tau[slot] = rho[slot] * (random.uniform() - 0.5);
    if (step % 97 == 0)
      hubs.forget();
    else
      hubs.update(incidence, messages, slot);
    const auto own = static_cast<std::uint32_t>(random.uniform() * plan.slots);
    long double others_tau = 0, others_rho = 0, size = 0;
    for (std::uint32_t s = 0; s < plan.slots; ++s)
      if (s != own && element[s] == element[own]) others_tau += tau[s], others_rho += rho[s], size += std::abs(tau[s]);
    const Natural found = hubs.all_but(incidence, messages, own);
    REQUIRE(std::abs(found.rho - static_cast<double>(others_rho)) <= 4e-15 * static_cast<double>(others_rho));
    REQUIRE(std::abs(found.tau - static_cast<double>(others_tau)) <= 4e-15 * static_cast<double>(size));
    if (step % 5 == 0) rho[slot] = 1, tau[slot] = 0.5, hubs.update(incidence, messages, slot);
  }
  rho[1] = kInfinity, tau[1] = 3;
  hubs.update(incidence, messages, 1);
  CHECK(hubs.all_but(incidence, messages, 2) == Natural{3, kInfinity});
  CHECK(hubs.all_but(incidence, messages, 1).rho < kInfinity);
}

TEST_CASE("hubs: a run allocates nothing, and a star of ten thousand leaves takes few visits") {
  Graph g;
  const auto x = g.variable("x");
  g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", 1.0}});
  constexpr int kLeaves = 10000;
  double precision = 1, sum = 0;
  for (int i = 0; i < kLeaves; ++i) {
    const auto leaf = g.variable("");
    g.factor("gaussian_noise", {x, leaf}, {{"variance", 1.0}});
    g.factor("gaussian_prior", {leaf}, {{"mean", i % 7 * 1.0}, {"variance", 2.0}});
    precision += 1 / 3.0, sum += i % 7 / 3.0;
  }
  for (const Scheduler& rule : exact_rules()) {
    State state(compile(g, rule, standard_registry()));
    (void)run(state.plan(), state);
    const std::uint64_t before = oracle::allocations();
    const Report report = run(state.plan(), state);
    CHECK(oracle::allocations() == before);
    CAPTURE(rule.name);
    CHECK(report.converged());
    CHECK(report.messages <= 8u * kLeaves);
    CHECK(state.belief(x).mean() == oracle::relative(sum / precision, 1e-12));
    CHECK(state.belief(x)[0].rho == oracle::relative(precision, 1e-12));
  }
}
