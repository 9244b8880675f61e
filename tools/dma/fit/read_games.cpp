#include "tools/dma/fit/read_games.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "engine/support/text.h"
#include "tools/dma/io/csv_text.h"

namespace dma {

namespace {

// "Ann + Ben": the names. Some may be empty.
std::vector<std::string> names_in(std::string_view cell) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at <= cell.size();) {
    const std::size_t plus = std::min(cell.find('+', at), cell.size());
    names.emplace_back(trimmed(cell.substr(at, plus - at)));
    at = plus + 1;
  }
  return names;
}

std::string lower_case(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

// The cells of the columns that tell of games.
class GameRows {
 public:
  explicit GameRows(const TableSource& source) {
    constexpr std::array kKnown = {"winner", "loser", "draw", "game", "player", "rank", "team", "share"};
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < source.names().size(); ++i)
      if (const std::string name = lower_case(source.names()[i]);
          std::ranges::find(kKnown, name) != kKnown.end() && columns_.emplace(name, places.size()).second)
        places.push_back(i);
    const auto all = [&](auto... names) { return (columns_.contains(names) && ...); };
    is_by_player_ = !all("winner", "loser");
    if (is_by_player_ && !all("game", "player", "rank"))
      fail("{}a table with the columns {} is given; winner and loser are expected, or game, player and rank",
           told_of(source.path()), joined(source.names()));
    text_ = source.read_text(places);
  }

  std::size_t size() const { return text_.lines.size(); }
  bool is_by_player() const { return is_by_player_; }

  template <class... What>
  [[noreturn]] void refuse(std::size_t row, fmt::format_string<What...> format, What&&... what) const {
    fail("{}: {}", text_.where(row), fmt::format(format, std::forward<What>(what)...));
  }

  // Empty where there is no such column.
  std::string cell(std::size_t row, const char* column) const {
    const auto at = columns_.find(column);
    return at == columns_.end() ? "" : text_.cells[at->second][row];
  }
  std::string filled(std::size_t row, const char* column, std::string_view what) const {
    std::string text = cell(row, column);
    if (text.empty()) refuse(row, "an empty cell where {} is expected; fill it in, or delete the row", what);
    return text;
  }
  double number(std::size_t row, const char* column, std::string_view what) const {
    const std::string text = filled(row, column, what);
    double value = 0;
    if (!parse_number(text, value)) refuse(row, "'{}' where {} is expected", text, what);
    return value;
  }
  bool is_draw(std::size_t row) const {
    const std::string text = lower_case(cell(row, "draw"));
    for (const std::string_view yes : {"draw", "yes", "true", "1", "1.0"})
      if (text == yes) return true;
    for (const std::string_view no : {"", "no", "false", "0", "0.0"})
      if (text == no) return false;
    refuse(row, "'{}' in the column draw, where yes or no is expected", cell(row, "draw"));
  }

 private:
  std::map<std::string, std::size_t, std::less<>> columns_;  // their places among the cells
  bool is_by_player_ = false;
  MixedTable text_;
};

class GamesMaker {
 public:
  explicit GamesMaker(const GameRows& rows) : rows_(rows) {}

  GamesTable make() {
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      if (rows_.is_by_player()) {
        add_player(row);
      } else {
        const std::string game = fmt::format("{}", row);
        add_team(row, game, "winner", 1);
        add_team(row, game, "loser", rows_.is_draw(row) ? 1 : 2);
      }
    }
    for (const auto& [name, game] : open_)
      if (table_.games[game.place].teams.size() < 2)
        rows_.refuse(game.row, "the game '{}' has a single side; at least two are expected", name);
    return std::move(table_);
  }

 private:
  // A game in the making: its teams by the names the table gives them.
  struct Open {
    std::size_t place, row;
    std::map<std::string, std::size_t> teams;
    std::set<std::uint32_t> players;
  };

  void add_player(std::size_t row) {
    const std::string game = rows_.filled(row, "game", "a game"), player = rows_.filled(row, "player", "a player"),
                      team = rows_.cell(row, "team");
    const double rank = rows_.number(row, "rank", "a rank (a number)");
    const double share = rows_.cell(row, "share").empty() ? 1 : rows_.number(row, "share", "a share (a number)");
    if (!(share >= 0 && share <= 1)) rows_.refuse(row, "the share {}; a number from 0 to 1 is expected", share);
    add(row, game, team.empty() ? "p" + player : "t" + team, player, rank, share);  // who has no team is one
  }

  void add_team(std::size_t row, const std::string& game, const char* column, double rank) {
    const std::string text = rows_.filled(row, column, "a player");
    for (const std::string& name : names_in(text)) {
      if (name.empty())
        rows_.refuse(row,
                     "'{}' has no name on one side of its +; teams are written Ann + Ben (players with a + in their "
                     "name need the columns game, player and rank)",
                     text);
      add(row, game, std::string("t") + column, name, rank, 1);
    }
  }

  void add(std::size_t row, const std::string& game_name, const std::string& team, const std::string& player,
           double rank, double share) {
    const auto [found, is_new_game] = open_.try_emplace(game_name, Open{table_.games.size(), row, {}, {}});
    if (is_new_game) table_.games.emplace_back();
    const auto [number, is_new_player] =
        numbers_.try_emplace(player, static_cast<std::uint32_t>(table_.players.size()));
    if (is_new_player) table_.players.push_back(player);
    Open& open = found->second;
    Game& game = table_.games[open.place];
    if (!open.players.insert(number->second).second)
      rows_.refuse(row, "'{}' plays twice in one game; a player is on one side, once", player);
    const auto [at, is_new_team] = open.teams.try_emplace(team, game.teams.size());
    if (is_new_team) game.teams.push_back({{}, rank});
    Team& side = game.teams[at->second];
    if (side.rank != rank)
      rows_.refuse(row, "the team '{}' has rank {} here and {} before; one rank for all its players is expected",
                   team.substr(1), rank, side.rank);
    side.players.push_back(number->second);
    side.shares.push_back(share);
  }

  const GameRows& rows_;
  GamesTable table_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::map<std::string, Open> open_;
};

}  // namespace

GamesTable read_games(const TableSource& source) {
  const GameRows rows(source);
  return GamesMaker(rows).make();
}

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
