// Residual order: at any time the visit whose arriving messages changed most.
#include "engine/run/urgency.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/compile/compile.h"
#include "engine/run/run.h"
#include "factors/standard_registry.h"
#include "schedules/residual.h"
#include "tests/oracles/random_messages.h"

using namespace dma;

TEST_CASE("urgency: takes the largest first, ties by number, as a plain search does") {
  constexpr std::size_t kVisits = 37;
  std::vector<double> priority(kVisits), plain(kVisits, kInfinity);
  std::vector<std::uint32_t> heap(kVisits), position(kVisits);
  UrgencyQueue queue(priority, heap, position);
  oracle::RandomMessages random(8);
  for (int step = 0; step < 5000; ++step) {
    const auto largest = std::ranges::max_element(plain);  // the first of equals
    REQUIRE(queue.largest() == *largest);
    REQUIRE(queue.take() == static_cast<std::uint32_t>(largest - plain.begin()));
    *largest = 0;
    for (int raises = 0; raises < 3; ++raises) {
      const auto visit = static_cast<std::uint32_t>(random.uniform() * kVisits);
      const double to = std::floor(10 * random.uniform());
      queue.raise(visit, to);
      plain[visit] = std::max(plain[visit], to);
    }
  }
}

TEST_CASE("residual: after the first round the factor behind the largest change is visited first") {
  static std::vector<double> visited;  // what arrived at each visit of a witness
  Registry registry = standard_registry();
  registry.add(kind("witness")
                   .input("x")
                   .output("y")
                   .message("dma", "x", [](const Gaussian&) { return Gaussian::uniform(); })
                   .message("dma", "y", [](const Gaussian& x) {
                     visited.push_back(x.mean());
                     return x;
                   }));
  Graph g;
  std::vector<VariableId> seen;
  for (int chain = 0; chain < 3; ++chain) {
    const auto x = g.variable(""), z = g.variable("");
    seen.push_back(g.observed(""));
    g.factor("witness", {x, z});
    g.factor("gaussian_noise", {x, seen.back()}, {{"variance", 1.0}});
  }
  const Plan plan = compile(g, residual(), registry);
  State state(plan);
  for (const VariableId v : seen) state.observe(v, 0.0);
  CHECK(run(plan, state).stop == Report::Stop::converged);
  // New values, old messages: in the first round each witness still sees 0, then the news arrives.
  state.observe(seen[0], 1.0);
  state.observe(seen[1], 30.0);
  state.observe(seen[2], 5.0);
  visited.clear();
  CHECK(run(plan, state, {.warm = true}).stop == Report::Stop::converged);
  CHECK(visited == std::vector<double>{0.0, 0.0, 0.0, 30.0, 5.0, 1.0});
}

TEST_CASE("residual: a factor that reaches one variable twice hears itself") {
  // y_i = x + noise, i = 0, 1, one factor of two slots: what it says to y_0 depends on what it has heard of y_1.
  constexpr double kBetween = 0.5, kNoise = 0.1, kSeen[] = {1.2, 3.0};
  Graph g;
  const auto x = g.variable("x"), y = g.variable("y", 2), seen = g.observed("seen", 2);
  g.factor("gaussian_prior", {x}, {{"mean", 1.0}, {"variance", 1.0}});
  g.factor("gaussian_noise", {all_to_one(x), y}, {{"variance", kBetween}});
  g.factor("gaussian_noise", {y, seen}, {{"variance", kNoise}});
  const Plan plan = compile(g, residual({.tolerance = 1e-13}), standard_registry());
  State state(plan);
  state.observe(seen, std::span(kSeen));
  REQUIRE(run(plan, state).stop == Report::Stop::converged);
  const double precision = 1 + 1 / (kBetween + kNoise), mean = (1 + kSeen[1] / (kBetween + kNoise)) / precision;
  const double variance = 1 / precision + kBetween;
  CHECK(state.belief(y).mean(0) ==
        doctest::Approx((mean / variance + kSeen[0] / kNoise) / (1 / variance + 1 / kNoise)).epsilon(1e-10));
}
