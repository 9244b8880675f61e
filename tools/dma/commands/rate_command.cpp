// dma rate: skills of players from games.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/support/text.h"
#include "models/games/rating.h"
#include "tools/dma/commands/commands.h"
#include "tools/dma/commands/skills_output.h"
#include "tools/dma/io/write_file.h"
#include "tools/dma/pictures/svg.h"

namespace dma {

namespace {

constexpr std::size_t kMostShown = 20, kMostInMatrix = 6, kMostDrawn = 6;

struct RateRequest {
  std::filesystem::path data, out, plot;
  double mean = RatingOptions{}.mean, sd = RatingOptions{}.sd, draws = RatingOptions{}.draw_probability;
  std::optional<double> performance_sd, drift_sd;
  std::vector<std::string> pairs;
  bool online = false, json = false;
};

// The proportions of the defaults, where the user leaves them open.
RatingOptions options_of(const RateRequest& request) {
  return {.mean = request.mean,
          .sd = request.sd,
          .performance_sd = request.performance_sd.value_or(request.sd / 2),
          .drift_sd = request.drift_sd.value_or(request.sd / 100),
          .draw_probability = request.draws};
}

struct PairOfSides {
  std::string first, second;
  Chances chances;
};

std::vector<PairOfSides> asked_pairs(const RateRequest& request, const GamesTable& table, const Rated& rated) {
  std::vector<PairOfSides> pairs;
  for (std::size_t i = 0; i + 1 < request.pairs.size(); i += 2) {
    const std::string &first = request.pairs[i], &second = request.pairs[i + 1];
    const auto a = find_players(table, first), b = find_players(table, second);
    for (const std::uint32_t player : a)
      if (std::ranges::find(b, player) != b.end())
        fail("--pair: '{}' is on both sides; two different sides are expected", table.players[player]);
    pairs.push_back({first, second, rated.chances(a, b)});
  }
  return pairs;
}

Json pairs_json(const std::vector<PairOfSides>& pairs) {
  Json json = Json::array();
  for (const PairOfSides& pair : pairs)
    json.push_back({{"first", pair.first},
                    {"second", pair.second},
                    {"win", pair.chances.win},
                    {"draw", pair.chances.draw},
                    {"loss", pair.chances.loss}});
  return json;
}

void rate(const RateRequest& request) {
  plot::check_picture(request.plot);
  check_outputs({{"--out", request.out}, {"--plot", request.plot}}, {{"data", request.data}});
  const RatingOptions options = options_of(request);
  const GamesTable table = read_games(TableSource(request.data));
  const Rated rated = request.online ? rate_one_by_one(table, options) : rate_all_at_once(table, options);
  const auto pairs = asked_pairs(request, table, rated);
  if (!request.out.empty()) write_file(request.out, skills_csv(rated.players));
  if (!request.plot.empty()) plot::draw_picture(skills_figure(rated.players, kMostDrawn), request.plot);
  if (request.json) {
    fmt::print("{}", readable(Json{{"games", table.games.size()},
                                   {"players", table.players.size()},
                                   {"how", rated.how},
                                   {"status", rated.status},
                                   {"settled", rated.settled},
                                   {"skills", skills_json(rated.players)},
                                   {"pairs", pairs_json(pairs)}}));
    return;
  }
  fmt::print("{} games of {} players, {}\n", table.games.size(), table.players.size(), rated.how);
  fmt::print("status   {}\n", rated.status);
  if (!rated.settled)
    fmt::print(
        "         what follows is not settled, only the last that was tried: a larger --beta makes results less "
        "sure\n");
  fmt::print("{}", skills_text(rated.players, kMostShown));
  if (pairs.empty()) fmt::print("{}", chances_text(rated, kMostInMatrix));
  for (const PairOfSides& pair : pairs)
    fmt::print("{} against {}: wins {:.3f}, draws {:.3f}, loses {:.3f}\n", pair.first, pair.second, pair.chances.win,
               pair.chances.draw, pair.chances.loss);
  if (!request.out.empty()) fmt::print("table    {}\n", printable(request.out.string()));
  if (!request.plot.empty()) fmt::print("picture  {}\n", printable(request.plot.string()));
}

}  // namespace

void add_rate_command(Command app) {
  auto request = std::make_shared<RateRequest>();
  const Command command = app.add_subcommand("rate", "Skills of players from games");
  command.footer(
      "Example:\n"
      "  dma rate games.csv --pair Ann Ben --plot skills.svg\n"
      "A table with one game per row, in the order in which they were played; a + between the players of a team:\n"
      "  winner,loser,draw\n"
      "  Ann,Ben,\n"
      "  Cleo,Ann + Ben,no\n"
      "  Ben,Cleo,yes\n"
      "or with one player per row: rank 1 is the first, equal ranks drew; team and share (of the game played) may be "
      "left out:\n"
      "  game,player,rank,team,share\n"
      "  1,Ann,1,red,1\n"
      "  1,Ben,1,red,0.5\n"
      "  1,Cleo,2,,\n"
      "By default all games are solved at once, and later ones tell of earlier ones too.");
  command.add_option("games", request->data, "CSV file with the games").required();
  command.add_option("--mu", request->mean, "mean of a skill before the first game").capture_default_str();
  command.add_option("--sigma", request->sd, "its standard deviation").capture_default_str();
  command.add_option("--beta", request->performance_sd, "standard deviation of a performance (default: half of sigma)");
  command.add_option("--tau", request->drift_sd,
                     "standard deviation of a skill's drift before each game (default: sigma / 100)");
  command.add_option("--draws", request->draws, "probability that two equal players draw").capture_default_str();
  command.add_flag("--online", request->online, "one game after the other: skills as they were known after each");
  command
      .add_option("--pair", request->pairs,
                  "two players, or teams (\"Ann + Ben\"): chances of their next game; any number of times")
      .pairs();
  command.add_option("--out", request->out, "file for the table of all skills");
  command.add_option("--plot", request->plot,
                     "picture of skills with intervals, and of the first players' over time, .svg");
  command.add_flag("--json", request->json, "JSON instead of text");
  command.callback([request] { rate(*request); });
}

}  // namespace dma
