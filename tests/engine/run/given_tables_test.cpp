// Tables of gathers that are data.
#include "tests/oracles/learned_line.h"

namespace {

constexpr std::uint32_t kPlayers = 5;

// Games with known score differences; the tables of players are known, or given.
struct Games {
  Graph graph;
  VariableId skill, lead, points;
  FactorId difference;

  Games(std::size_t games, const std::vector<std::uint32_t>& players, bool is_shared = false)
      : skill(is_shared ? graph.shared("skill", kPlayers) : graph.variable("skill", kPlayers)),
        lead(graph.variable("lead", games)),
        points(graph.observed("points", games)),
        difference((graph.factor("gaussian_prior", {skill}, {{"mean", 0.0}, {"variance", 4.0}}),
                    graph.factor("sum", {players.empty() ? given(skill, 2 * games) : gather(skill, players), lead},
                                 {{"coefficients", std::vector<double>{1, -1}}}, {.name = "game"}))) {
    graph.factor("gaussian_noise", {lead, points}, {{"variance", 0.5}});
  }
};

}  // namespace

TEST_CASE("given tables: they mean what the same tables mean in the graph") {
  const std::vector<std::vector<std::uint32_t>> seasons{{0, 1, 2, 3, 4, 0}, {3, 2, 2, 1, 0, 1}, {1, 0, 1, 0, 1, 0}};
  const std::vector<double> points{1.0, -0.5, 2.0};
  for (const Scheduler& rule : {flooding({.limit = 7, .damping = 0.3}), residual(), forward_backward()}) {
    CAPTURE(rule.name);
    const Games open(3, {});
    const Plan plan = compile(open.graph, rule, standard_registry());
    State state(plan);
    state.observe(open.points, points);
    for (const auto& players : seasons) {
      const Games known(3, players);
      const auto [known_plan, known_state, report] =
          oracle::solved(compile(known.graph, rule, standard_registry()), {{known.points, points}});
      state.set_table(open.difference, "terms", players);
      (void)run(plan, state);
      // With tables known at compile time, one sweep may be exact: the season is then a tree.
      if (rule.name != "forward_backward" || !known_plan->schedule.approximate.empty())
        CHECK(oracle::distance(state.belief(open.skill), known_state.belief(known.skill)) < 1e-9);
      State copied = state.copy();
      (void)run(plan, copied);
      CHECK(oracle::distance(copied.belief(open.skill), state.belief(open.skill)) == 0);
    }
  }
}

TEST_CASE("given tables: a season is learned with the graph of one game") {
  const Games game(1, {}, true);
  const std::vector<std::uint32_t> players{0, 1, 1, 2, 3, 0, 4, 2, 2, 0};
  const std::vector<double> points{1.0, 0.5, -2.0, 0.3, 1.4};
  Learner learner(game.graph, standard_registry(), forward_backward(), forward(),
                  {.targets = {game.points}, .batches = 1, .epochs = 1});
  Data data{{game.points, points}};
  data.tables.push_back({game.difference, "terms", players});
  (void)learner.fit(data);
  // One game after the other: the message from one player's points to the other.
  std::vector<double> mean(kPlayers, 0.0), variance(kPlayers, 4.0);
  for (std::size_t n = 0; n < points.size(); ++n) {
    const std::uint32_t a = players[2 * n], b = players[2 * n + 1];
    const double to_a = points[n] + mean[b], to_b = mean[a] - points[n];
    const double va = variance[b] + 0.5, vb = variance[a] + 0.5;
    const auto learn = [&](std::uint32_t i, double m, double v) {
      const double precision = 1 / variance[i] + 1 / v;
      mean[i] = (mean[i] / variance[i] + m / v) / precision;
      variance[i] = 1 / precision;
    };
    learn(a, to_a, va), learn(b, to_b, vb);
  }
  const Belief belief = learner.belief(game.skill);
  for (std::uint32_t i = 0; i < kPlayers; ++i) {
    CHECK(belief.mean(i) == oracle::relative(mean[i], 1e-9));
    CHECK(belief.variance(i) == oracle::relative(variance[i], 1e-9));
  }
  // Predictions for the given players.
  std::vector<double> means(1), variances(1);
  Data next{{game.points, std::span<const double>(points).first(1)}};
  const std::vector<std::uint32_t> pair{4, 3};
  next.tables.push_back({game.difference, "terms", pair});
  learner.predict(next, means, variances);
  CHECK(means[0] == oracle::relative(mean[4] - mean[3], 1e-9));
  CHECK(variances[0] == oracle::relative(variance[4] + variance[3] + 0.5, 1e-9));

  const std::vector<std::uint32_t> wrong{0, 1, 1, 2, 3, 7, 4, 2, 2, 0};
  data.tables[0].elements = wrong;
  CHECK_THROWS_WITH_AS(
      (void)learner.fit(data),
      "example 2: entry 1 of the table of port 'terms' of factor 'game' is 7, but 'skill' has 5 elements (0 to 4)",
      Error);
  data.tables.clear();
  CHECK_THROWS_AS((void)learner.fit(data), Error);
}

TEST_CASE("given tables: errors are one line") {
  const Games games(2, {});
  const Plan plan = compile(games.graph, flooding(), standard_registry());
  State state(plan);
  state.observe(games.points, {1.0, 2.0});
  CHECK_THROWS_WITH_AS(
      run(plan, state),
      "factor 'game[0]': the table of port 'terms' is not given; call state.set_table(game, \"terms\", ...) before run",
      Error);
  CHECK_THROWS_WITH_AS(state.set_table(games.difference, "terms", {0, 1, 2}),
                       "factor 'game': the table of port 'terms' has 3 entries, 4 are expected", Error);
  CHECK_THROWS_WITH_AS(state.set_table(games.difference, "terms", {0, 1, 2, 5}),
                       "factor 'game': entry 3 of the table of port 'terms' is 5, but 'skill' has 5 elements (0 to 4)",
                       Error);
  CHECK_THROWS_WITH_AS(state.set_table(games.difference, "total", {0, 1}),
                       "factor 'game': port 'total' has no table to be given; connect it by given(variable, entries)",
                       Error);
  state.set_table(games.difference, "terms", {0, 1, 3, 3});
  CHECK_THROWS_WITH_AS(run(plan, state),
                       "factor 'game[1]': by its tables slot 1 meets element 3 of "
                       "'skill' twice, and would take it for two independent variables",
                       Error);
  CHECK_THROWS_AS(compile(games.graph, joint(), standard_registry()), Error);
}
