// The skills of players: found, and as text, a table, JSON and a picture.
#include "tools/dma/commands/skills_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "tools/dma/io/csv_text.h"

namespace dma {

namespace {

constexpr double kHalfOf95 = 1.959963984540054;

// The best on the left, as many as have room for their names.
plot::Panel intervals_panel(const RatedPlayers& rated) {
  constexpr std::size_t kMostNames = 24;
  plot::Series bars{.title = "95 % interval", .style = plot::Style::bars, .colour = plot::Colour::sky, .width = 4};
  plot::Series means{.title = "mean", .style = plot::Style::points, .colour = plot::Colour::blue};
  const std::size_t shown = std::min(rated.players.size(), kMostNames);
  plot::Panel panel{.title = shown == rated.players.size() ? "skills" : fmt::format("skills of the first {}", shown),
                    .x = {.low = 0.4, .high = static_cast<double>(shown) + 0.6},
                    .y = {"skill"}};
  for (std::size_t k = 0; k < shown; ++k) {
    const RatedPlayer& player = rated.players[k];
    means.x.push_back(static_cast<double>(k + 1));
    means.y.push_back(player.skill.mean);
    bars.y.push_back(player.low);
    bars.y_high.push_back(player.high);
    panel.x.names.push_back(player.name);
  }
  bars.x = means.x;
  panel.series = {std::move(bars), std::move(means)};
  return panel;
}

RatedPlayers rated_players(const GamesTable& table, const std::vector<Skill>& skills, std::vector<SkillThen> history) {
  RatedPlayers rated{{}, std::move(history)};
  for (std::uint32_t i = 0; i < table.players.size(); ++i) {
    const double half = kHalfOf95 * skills[i].sd;
    rated.players.push_back({table.players[i], i, skills[i], skills[i].mean - half, skills[i].mean + half});
  }
  for (const SkillThen& then : rated.history) ++rated.players[then.player].games;
  std::ranges::stable_sort(rated.players, std::greater<>(), [](const RatedPlayer& p) { return p.skill.mean; });
  return rated;
}

}  // namespace

Rated rate_all_at_once(const GamesTable& table, const RatingOptions& options) {
  const Season season = rate_season(table.games, table.players.size(), options);
  return {rated_players(table, season.skills, season.history),
          fmt::format("all at once{}", season.report.joint ? "" : ", as if skills were independent"),
          season.report.line(), season.report.converged(),
          [season, options](const Players& a, const Players& b) { return chances(season, a, b, options); }};
}

Rated rate_one_by_one(const GamesTable& table, const RatingOptions& options) {
  Rating rating(table.players.size(), options);
  std::vector<SkillThen> history;
  std::size_t open = 0;
  for (std::size_t g = 0; g < table.games.size(); ++g) {
    const Report report = rating.play(table.games[g]);
    open += !report.converged() && report.stop != Report::Stop::approximate;
    for (const Team& team : table.games[g].teams)
      for (const std::uint32_t player : team.players) history.push_back({g, player, rating.skills()[player]});
  }
  const auto skills_of = [skills = rating.skills()](const Players& players) {
    std::vector<Skill> found;
    for (const std::uint32_t player : players) found.push_back(skills[player]);
    return found;
  };
  return {rated_players(table, rating.skills(), std::move(history)), "one after the other",
          open == 0 ? "every game settled" : fmt::format("{} of {} games did not settle", open, table.games.size()),
          open == 0, [skills_of, options](const Players& a, const Players& b) {
            return chances(skills_of(a), skills_of(b), options);
          }};
}

std::string skills_text(const RatedPlayers& rated, std::size_t most) {
  std::string text =
      fmt::format("{:>6} {:>9} {:>9} {:>9} {:>9} {:>6}  player\n", "", "skill", "sd", "2.5 %", "97.5 %", "games");
  const std::size_t shown = std::min(most, rated.players.size());
  for (std::size_t k = 0; k < shown; ++k) {
    const auto& [name, number, skill, low, high, games] = rated.players[k];
    text += fmt::format("{:>6} {:>9.3f} {:>9.3f} {:>9.3f} {:>9.3f} {:>6}  {}\n", k + 1, skill.mean, skill.sd, low, high,
                        games, name);
  }
  if (shown < rated.players.size())
    text += fmt::format("{:>6} {} more; --out writes them all\n", "", rated.players.size() - shown);
  return text;
}

std::string chances_text(const Rated& rated, std::size_t most) {
  const auto& players = rated.players.players;
  const std::size_t shown = std::min(most, players.size());
  std::string text = fmt::format("chance of the row to win the next game against the column:\n{:>6}", "");
  for (std::size_t k = 0; k < shown; ++k) text += fmt::format(" {:>6}", k + 1);
  text += "\n";
  for (std::size_t k = 0; k < shown; ++k) {
    text += fmt::format("{:>6}", k + 1);
    for (std::size_t j = 0; j < shown; ++j)
      text += fmt::format(
          " {:>6}", j == k ? "" : fmt::format("{:.3f}", rated.chances({players[k].number}, {players[j].number}).win));
    text += fmt::format("  {}\n", players[k].name);
  }
  return text;
}

std::string skills_csv(const RatedPlayers& rated) {
  std::string out = "player,skill_mean,skill_sd,skill_q2.5,skill_q97.5,games\n";
  for (const auto& [name, number, skill, low, high, games] : rated.players)
    out += fmt::format("{},{},{},{},{},{}\n", csv_cell(name), skill.mean, skill.sd, low, high, games);
  return out;
}

Json skills_json(const RatedPlayers& rated) {
  Json json = Json::array();
  for (const auto& [name, number, skill, low, high, games] : rated.players)
    json.push_back(
        {{"player", name}, {"mean", skill.mean}, {"sd", skill.sd}, {"q2.5", low}, {"q97.5", high}, {"games", games}});
  return json;
}

plot::Figure skills_figure(const RatedPlayers& rated, std::size_t most) {
  constexpr plot::Colour kColours[] = {plot::Colour::blue,   plot::Colour::vermillion, plot::Colour::green,
                                       plot::Colour::purple, plot::Colour::orange,     plot::Colour::black};
  constexpr std::size_t kMostBands = 2;  // more of them hide each other
  plot::Panel panel{
      .title = "skills after each game, with 95 % intervals of the first two", .x = {"game"}, .y = {"skill"}};
  std::vector<plot::Series> lines;
  const std::size_t shown = std::min({most, rated.players.size(), std::size(kColours)});
  for (std::size_t k = 0; k < shown; ++k) {
    plot::Series line{.title = rated.players[k].name, .style = plot::Style::line_points, .colour = kColours[k]};
    plot::Series band{.style = plot::Style::band, .colour = kColours[k]};
    for (const SkillThen& then : rated.history) {
      if (then.player != rated.players[k].number) continue;
      const double half = kHalfOf95 * then.skill.sd;
      line.x.push_back(static_cast<double>(then.game + 1));
      line.y.push_back(then.skill.mean);
      band.y.push_back(then.skill.mean - half);
      band.y_high.push_back(then.skill.mean + half);
    }
    band.x = line.x;
    if (line.x.size() > 60) line.style = plot::Style::line;
    if (k < kMostBands && band.x.size() > 1) panel.series.push_back(std::move(band));
    lines.push_back(std::move(line));
  }
  std::ranges::move(lines, std::back_inserter(panel.series));
  return {.panels = {intervals_panel(rated), panel}, .columns = 1, .panel_width = 820, .panel_height = 420};
}

}  // namespace dma
