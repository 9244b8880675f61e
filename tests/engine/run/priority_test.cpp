// Residual order: the next visit is the one whose arriving messages changed most.
#include "engine/run/priority.h"

#include "tests/oracles/random_messages.h"
#include "tests/oracles/solved.h"

TEST_CASE("priority: takes the largest first, of equals the one made longest ago, as a plain search does") {
  constexpr std::uint32_t kVisits = 37, kVariables = 9;
  oracle::RandomMessages random(8);
  PriorityQueue::Lists readers(kVariables);
  for (std::uint32_t visit = 0; visit < kVisits; ++visit)
    for (std::uint32_t v = 0; v < kVariables; ++v)
      if (v == 0 || random.uniform() < 0.2) readers[v].push_back(visit);  // all read the first
  PriorityQueue queue(readers, kVisits);
  for (int run = 0; run < 2; ++run) {
    queue.start();
    std::vector<double> plain(kVisits, kInfinity);
    std::vector<int> made(kVisits);
    for (int i = 0; i < static_cast<int>(kVisits); ++i)
      made[static_cast<std::size_t>(i)] = i - static_cast<int>(kVisits);
    for (int step = 1; step < 5000; ++step) {
      std::uint32_t first = 0;
      for (std::uint32_t visit = 1; visit < kVisits; ++visit)
        if (plain[visit] > plain[first] || (plain[visit] == plain[first] && made[visit] < made[first])) first = visit;
      REQUIRE(queue.largest() == plain[first]);
      if (plain[first] == 0) break;
      REQUIRE(queue.take() == first);
      plain[first] = 0, made[first] = step;
      // Few variables, so that a list remembers all changes it must.
      const auto variable = static_cast<std::uint32_t>(random.uniform() * kVariables);
      const double change = std::floor(6 * random.uniform()), itself = std::floor(6 * random.uniform()) - 4;
      queue.inform(variable, change);
      for (const std::uint32_t reader : readers[variable])
        if (reader != first) plain[reader] = std::max(plain[reader], change);
      queue.raise(first, itself);
      plain[first] = std::max(plain[first], itself);
    }
  }
}

TEST_CASE("priority: with more changes than a list remembers, no important one is lost") {
  PriorityQueue queue({{0, 1, 2}}, 3);
  queue.start();
  for (std::uint32_t i = 0; i < 3; ++i) REQUIRE(queue.take() == i);
  for (int k = 0; k < 30; ++k) queue.inform(0, 100 - k);
  CHECK(queue.largest() == 100);
  CHECK(queue.take() == 0);
  CHECK(queue.take() == 1);
  for (int k = 30; k < 60; ++k) queue.inform(0, 100 - k);  // by visit 1
  CHECK(queue.largest() >= 70);
  CHECK(queue.take() == 2);
  CHECK(queue.take() == 0);
}

TEST_CASE("residual: after the first round the factor behind the largest change is visited first") {
  static std::vector<double> visited;  // inputs of each visit of a witness
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
  // New values, old messages: in the first round each witness still receives 0, then the new value arrives.
  state.observe(seen[0], 1.0);
  state.observe(seen[1], 30.0);
  state.observe(seen[2], 5.0);
  visited.clear();
  CHECK(run(plan, state, {.warm = true}).stop == Report::Stop::converged);
  CHECK(visited == std::vector<double>{0.0, 0.0, 0.0, 30.0, 5.0, 1.0});
}

TEST_CASE("residual: a factor that reaches one variable twice hears itself") {
  // y_i = x + noise, i = 0, 1, one factor of two slots: its message to y_0 depends on the message from y_1.
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
        oracle::relative((mean / variance + kSeen[0] / kNoise) / (1 / variance + 1 / kNoise), 1e-10));
}
