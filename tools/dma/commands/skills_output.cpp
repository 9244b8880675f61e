// The skills of players, as a table, JSON and a picture.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>

#include "tools/dma/commands/games_table.h"
#include "tools/dma/io/csv_text.h"

namespace dma {

namespace {

constexpr double kHalfOf95 = 1.959963984540054;

// The best on the left, as many as have room for their names.
plot::Panel intervals_panel(const GamesTable& table, const RatedPlayers& rated) {
  constexpr std::size_t kMostNames = 24;
  plot::Series bars{.title = "95 % interval", .style = plot::Style::bars, .colour = plot::Colour::sky, .width = 4};
  plot::Series means{.title = "mean", .style = plot::Style::points, .colour = plot::Colour::blue};
  const std::size_t shown = std::min(rated.order.size(), kMostNames);
  plot::Panel panel{.title = shown == rated.order.size() ? "skills" : fmt::format("skills of the first {}", shown),
                    .x = {.low = 0.4, .high = static_cast<double>(shown) + 0.6},
                    .y = {"skill"}};
  for (std::size_t k = 0; k < shown; ++k) {
    const Skill& skill = rated.skills[rated.order[k]];
    const SkillInterval interval = interval_of(skill);
    means.x.push_back(static_cast<double>(k + 1)), means.y.push_back(skill.mean);
    bars.x.push_back(means.x.back()), bars.y.push_back(interval.low), bars.y_high.push_back(interval.high);
    panel.x.names.push_back(table.players[rated.order[k]]);
  }
  panel.series = {std::move(bars), std::move(means)};
  return panel;
}

}  // namespace

SkillInterval interval_of(const Skill& skill) {
  return {skill.mean - kHalfOf95 * skill.sd, skill.mean + kHalfOf95 * skill.sd};
}

RatedPlayers rated_players(const GamesTable& table, std::vector<Skill> skills, std::vector<SkillThen> history) {
  RatedPlayers rated{std::move(skills), std::move(history), std::vector<std::size_t>(table.players.size()),
                     std::vector<std::uint32_t>(table.players.size())};
  for (const SkillThen& then : rated.history) ++rated.played[then.player];
  std::iota(rated.order.begin(), rated.order.end(), 0u);
  std::ranges::stable_sort(rated.order, std::greater<>(), [&](std::uint32_t i) { return rated.skills[i].mean; });
  return rated;
}

std::string skills_csv(const GamesTable& table, const RatedPlayers& rated) {
  std::string out = "player,skill_mean,skill_sd,skill_q2.5,skill_q97.5,games\n";
  for (const std::uint32_t i : rated.order) {
    const Skill& skill = rated.skills[i];
    const SkillInterval interval = interval_of(skill);
    out += fmt::format("{},{},{},{},{},{}\n", csv_cell(table.players[i]), skill.mean, skill.sd, interval.low,
                       interval.high, rated.played[i]);
  }
  return out;
}

Json skills_json(const GamesTable& table, const RatedPlayers& rated) {
  Json json = Json::array();
  for (const std::uint32_t i : rated.order) {
    const SkillInterval interval = interval_of(rated.skills[i]);
    json.push_back({{"player", table.players[i]},
                    {"mean", rated.skills[i].mean},
                    {"sd", rated.skills[i].sd},
                    {"q2.5", interval.low},
                    {"q97.5", interval.high},
                    {"games", rated.played[i]}});
  }
  return json;
}

plot::Figure skills_figure(const GamesTable& table, const RatedPlayers& rated, std::size_t most) {
  constexpr plot::Colour kColours[] = {plot::Colour::blue,   plot::Colour::vermillion, plot::Colour::green,
                                       plot::Colour::purple, plot::Colour::orange,     plot::Colour::black};
  constexpr std::size_t kMostBands = 2;  // more of them hide each other
  plot::Panel panel{
      .title = "skills after each game, with 95 % intervals of the first two", .x = {"game"}, .y = {"skill"}};
  std::vector<plot::Series> bands, lines;
  const std::size_t shown = std::min({most, rated.order.size(), std::size(kColours)});
  for (std::size_t k = 0; k < shown; ++k) {
    plot::Series line{.title = table.players[rated.order[k]], .style = plot::Style::line_points, .colour = kColours[k]};
    plot::Series band{.title = "", .style = plot::Style::band, .colour = kColours[k]};
    for (const SkillThen& then : rated.history) {
      if (then.player != rated.order[k]) continue;
      const SkillInterval interval = interval_of(then.skill);
      line.x.push_back(static_cast<double>(then.game + 1)), line.y.push_back(then.skill.mean);
      band.x.push_back(line.x.back()), band.y.push_back(interval.low), band.y_high.push_back(interval.high);
    }
    if (line.x.size() > 60) line.style = plot::Style::line;
    if (k < kMostBands && band.x.size() > 1) bands.push_back(std::move(band));
    lines.push_back(std::move(line));
  }
  panel.series = std::move(bands);
  panel.series.insert(panel.series.end(), lines.begin(), lines.end());
  return {.panels = {intervals_panel(table, rated), panel}, .columns = 1, .panel_width = 820, .panel_height = 420};
}

}  // namespace dma
