// Programs of version 0.1.0 as users may have them, unchanged between the braces: the public headers, <dma.h> and
// <dma_models.h>, compile them, and the results are unchanged.
#include <dma.h>
#include <dma_models.h>
#include <doctest/doctest.h>

#include <cmath>

TEST_CASE("public headers: a graph of version 0.1.0 compiles and finds what it found") {
  using namespace dma;
  const std::vector<std::uint32_t> parcel{0, 1, 2, 0, 1, 2}, scale{0, 0, 0, 1, 1, 1};
  const std::vector<double> readings{2.1, 3.0, 5.2, 2.6, 3.4, 8.9};

  Graph g;
  const auto weight = gaussian_prior(g, g.variable("weight", 3), 4.0, 9.0);
  const auto offset = gaussian_prior(g, g.variable("offset", 2), 0.0, 0.25);
  const auto shown = g.variable("shown", 6), seen = g.observed("seen", 6);
  g.factor("sum", {gather(weight, parcel), gather(offset, scale), shown});
  Graph robust = g;
  g.factor("gaussian_noise", {shown, seen}, {{"variance", 0.04}});

  std::vector<double> third;
  const auto solve = [&](const Plan& plan) {
    State state(plan);
    state.observe(seen, readings);
    const Report report = run(plan, state);
    CHECK(!fmt::format("{}\n  {}\n", report, state.belief(weight)).empty());
    third.push_back(state.belief(weight).mean(2));
    return state;
  };
  const Registry registry = standard_registry();
  solve(compile(g, forward_backward(), registry));
  solve(compile(g, flooding(), registry));
  const Plan gaussian = compile(g, joint(), registry);
  const State trusting = solve(gaussian);

  Registry mine = registry;
  mine.add(likelihood_from_log_density(
      "laplace",
      [](double x, double y, std::span<const double> p) { return -std::abs(y - x) / p[0] - std::log(2 * p[0]); },
      "y = x and noise with outliers", {{"scale", above(0)}}));
  robust.factor("laplace", {shown, seen}, {{"scale", 0.15}});
  const Plan plan = compile(robust, joint(), mine);
  const State state = solve(plan);
  CHECK(fmt::format("{}", evidence(gaussian, trusting)) == "log evidence -53.5117, exact");
  CHECK(!fmt::format("{}", evidence(plan, state)).empty());

  const Certificate certificate = certify(mine.kind("laplace"), "ep", quick_certification());
  CHECK(name(certificate.band) == "matched");
  for (const auto& [found, stated] : {std::pair{third[0], 7.002}, {third[1], 7.035}, {third[2], 7.035}})
    CHECK(std::abs(found - stated) < 6e-4);  // three digits were printed
}

TEST_CASE("public headers: models of version 0.1.0 compile and find what they found") {
  using namespace dma;
  const std::vector<std::string> players{"Ada", "Ben", "Cleo", "Dan"};
  const std::vector<Game> games{
      {{{{0}, 1}, {{1}, 2}}},                 // player 0 beats player 1
      {{{{2}, 1}, {{3}, 2}, {{1}, 3}}},       // Cleo before Dan before Ben
      {{{{0, 3}, 2}, {{1, 2}, 1}}},           // Ben and Cleo beat Ada and Dan
      {{{{0}, 1}, {{2}, 1}}},                 // a draw
      {{{{0}, 1}, {{1, 3}, 2, {1.0, 0.5}}}},  // Ada beats two, one of whom left at half-time
  };
  const Season season = rate_season(games, players.size());
  CHECK(season.report.converged());
  CHECK(fmt::format("{:.1f} +- {:.1f}", season.skills[0].mean, season.skills[0].sd) == "29.4 +- 5.5");

  const std::uint32_t ada[] = {0}, cleo[] = {2};
  const Chances next = chances(season, ada, cleo);
  CHECK(fmt::format("wins {:.2f}, draws {:.2f}", next.win, next.draw) == "wins 0.35, draws 0.08");

  Rating rating(players.size());  // one game after the other
  for (const Game& game : games) rating.play(game);
  CHECK(fmt::format("{:.1f}", rating.skills()[0].mean) == "31.4");

  std::vector<std::optional<double>> sales;
  const double quarters[] = {3, 1, -2, -2};
  for (std::size_t t = 0; t < 40; ++t)
    sales.push_back(20 + 0.5 * static_cast<double>(t) + quarters[t % 4] +
                    0.4 * std::sin(37.0 * static_cast<double>(t * t)));
  sales[17].reset();  // missing

  StateSpace model({local_trend(), seasonal(4)});
  const auto learned = model.learn(sales);
  CHECK(std::isfinite(learned.log_evidence));
  const Smoothed found = model.smooth(sales, 4);
  CHECK(fmt::format("{:.1f} +- {:.1f}", found.signal.mean[40], found.sd[40]) == "42.8 +- 0.3");

  SeriesFilter filter(model, sales);  // one value at a time from here on
  CHECK(fmt::format("{:.1f}", filter.forecast().mean) == "42.8");
  filter.add(50.0);
  CHECK(filter.forecast().mean < 50);
}
