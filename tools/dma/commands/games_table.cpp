#include "tools/dma/commands/games_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "engine/support/error.h"
#include "engine/support/text.h"
#include "tools/dma/io/csv.h"

namespace dma {

namespace {

std::string_view without_blanks(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// "Ann + Ben": the names. Some may be empty.
std::vector<std::string> names_in(std::string_view cell) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at <= cell.size();) {
    const std::size_t plus = std::min(cell.find('+', at), cell.size());
    names.emplace_back(without_blanks(cell.substr(at, plus - at)));
    at = plus + 1;
  }
  return names;
}

std::string lower_case(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

class GamesReader {
 public:
  explicit GamesReader(const std::filesystem::path& file) : csv_(file) {}

  GamesTable read() {
    const auto winner = column("winner"), loser = column("loser"), game = column("game"), player = column("player"),
               rank = column("rank");
    if (winner && loser)
      read_games_by_row(*winner, *loser, column("draw"));
    else if (game && player && rank)
      read_players_by_row(*game, *player, *rank, column("team"), column("share"));
    else
      fail("'{}' has the columns {}; winner and loser are expected, or game, player and rank (see dma rate --help)",
           csv_.path().string(), joined(csv_.names()));
    return std::move(table_);
  }

 private:
  using Column = std::optional<std::size_t>;

  Column column(std::string_view name) const {
    for (std::size_t i = 0; i < csv_.names().size(); ++i)
      if (lower_case(csv_.names()[i]) == name) return i;
    return {};
  }

  template <class... What>
  [[noreturn]] void refuse(std::size_t line, fmt::format_string<What...> format, What&&... what) const {
    fail("'{}', line {}: {}", csv_.path().string(), line, fmt::format(format, std::forward<What>(what)...));
  }

  std::uint32_t number_of(const std::string& name) {
    const auto [found, is_new] = numbers_.try_emplace(name, static_cast<std::uint32_t>(table_.players.size()));
    if (is_new) table_.players.push_back(name);
    return found->second;
  }

  const std::string& filled(const CsvReader::TextRow& row, std::size_t cell, std::string_view what) const {
    if (row.cells[cell].empty())
      refuse(row.line, "an empty cell where {} is expected; fill it in, or delete the row", what);
    return row.cells[cell];
  }

  double number_in(const CsvReader::TextRow& row, std::size_t cell, std::string_view what) const {
    const std::string& text = filled(row, cell, what);
    double value = 0;
    const char* const begin = text.data() + (text.starts_with('+') ? 1 : 0);
    const auto [end, code] = std::from_chars(begin, text.data() + text.size(), value);
    if (code != std::errc{} || end != text.data() + text.size() || !std::isfinite(value))
      refuse(row.line, "'{}' where {} is expected", text, what);
    return value;
  }

  Team team_in(const CsvReader::TextRow& row, std::size_t cell, double rank) {
    const std::string& text = filled(row, cell, "a player");
    Team team{{}, rank};
    for (const std::string& name : names_in(text)) {
      if (name.empty())
        refuse(row.line,
               "'{}' has no name on one side of its +; teams are written Ann + Ben (players with a + in their "
               "name need the columns game, player and rank)",
               text);
      team.players.push_back(number_of(name));
    }
    return team;
  }

  bool is_draw(const CsvReader::TextRow& row, std::size_t cell) const {
    const std::string text = lower_case(row.cells[cell]);
    for (const std::string_view yes : {"draw", "yes", "true", "1"})
      if (text == yes) return true;
    for (const std::string_view no : {"", "no", "false", "0"})
      if (text == no) return false;
    refuse(row.line, "'{}' in the column draw, where yes or no is expected", row.cells[cell]);
  }

  [[noreturn]] void refuse_repetition(std::size_t line, std::uint32_t player) const {
    refuse(line, "'{}' plays twice in one game; a player is on one side, once", table_.players[player]);
  }

  void read_games_by_row(std::size_t winner, std::size_t loser, Column draw) {
    std::vector<std::size_t> columns{winner, loser};
    if (draw) columns.push_back(*draw);
    for (const auto& row : csv_.read_text(columns)) {
      Game& game = table_.games.emplace_back();
      game.teams.push_back(team_in(row, 0, 1));
      game.teams.push_back(team_in(row, 1, draw && is_draw(row, 2) ? 1 : 2));
      std::set<std::uint32_t> players;
      for (const Team& team : game.teams)
        for (const std::uint32_t player : team.players)
          if (!players.insert(player).second) refuse_repetition(row.line, player);
    }
  }

  // A game in the making: its teams by the names the table gives them.
  struct Open {
    std::string name;
    std::size_t line;
    std::map<std::string, std::size_t> teams;
    std::set<std::uint32_t> players;
  };

  void read_players_by_row(std::size_t game, std::size_t player, std::size_t rank, Column team, Column share) {
    std::vector<std::size_t> columns{game, player, rank};
    const std::size_t team_cell = columns.size();
    if (team) columns.push_back(*team);
    const std::size_t share_cell = columns.size();
    if (share) columns.push_back(*share);
    std::unordered_map<std::string, std::size_t> game_of;
    std::vector<Open> open;
    for (const auto& row : csv_.read_text(columns)) {
      const std::string& name = filled(row, 0, "a game");
      const auto [at, is_new] = game_of.try_emplace(name, table_.games.size());
      if (is_new) table_.games.emplace_back(), open.push_back({name, row.line, {}, {}});
      add_player(row, table_.games[at->second], open[at->second], team ? Column(team_cell) : Column(),
                 share ? Column(share_cell) : Column());
    }
    for (std::size_t g = 0; g < open.size(); ++g)
      if (table_.games[g].teams.size() < 2)
        refuse(open[g].line, "the game '{}' has a single side; at least two are expected", open[g].name);
  }

  void add_player(const CsvReader::TextRow& row, Game& game, Open& open, Column team, Column share) {
    const std::uint32_t player = number_of(filled(row, 1, "a player"));
    if (!open.players.insert(player).second) refuse_repetition(row.line, player);
    const double rank = number_in(row, 2, "a rank (a number)");
    const double part = share && !row.cells[*share].empty() ? number_in(row, *share, "a share (a number)") : 1;
    if (!(part >= 0 && part <= 1)) refuse(row.line, "the share {}; a number from 0 to 1 is expected", part);
    // Who has no team is one.
    const std::string name = team && !row.cells[*team].empty() ? "t" + row.cells[*team] : "p" + row.cells[1];
    const auto [at, is_new] = open.teams.try_emplace(name, game.teams.size());
    if (is_new) game.teams.push_back({{}, rank});
    Team& side = game.teams[at->second];
    if (side.rank != rank)
      refuse(row.line, "the team '{}' has rank {} here and {} before; one rank for all its players is expected",
             name.substr(1), rank, side.rank);
    side.players.push_back(player);
    side.shares.push_back(part);
  }

  CsvReader csv_;
  GamesTable table_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

}  // namespace

GamesTable read_games(const std::filesystem::path& file) { return GamesReader(file).read(); }

std::vector<std::uint32_t> find_players(const GamesTable& table, const std::string& text) {
  const auto number = [&](const std::string& name) {
    const auto at = std::ranges::find(table.players, name);
    return at == table.players.end() ? std::optional<std::uint32_t>()
                                     : static_cast<std::uint32_t>(at - table.players.begin());
  };
  if (const auto whole = number(text)) return {*whole};
  std::vector<std::uint32_t> found;
  for (const std::string& name : names_in(text)) {
    if (name.empty()) fail("'{}' has no name on one side of its +; names of players are expected there", text);
    const auto one = number(name);
    if (!one) fail("there is no player '{}'{}", name, suggestion(name, table.players));
    found.push_back(*one);
  }
  return found;
}

}  // namespace dma
