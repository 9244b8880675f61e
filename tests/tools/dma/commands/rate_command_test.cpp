// dma rate: what it prints, writes and refuses.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/support/json.h"
#include "tests/oracles/relative.h"
#include "tests/tools/run_dma.h"

namespace {

using namespace dma::testing;

dma::Json rated(const std::string& csv, const std::string& options) {
  const TemporaryFolder folder;
  folder.write("g.csv", csv);
  return json_of_dma(folder, "rate g.csv --json " + options);
}

}  // namespace

TEST_CASE("rate: a win and a draw, all at once and one by one") {
  for (const char* const how : {"", "--online"}) {
    const auto win = rated("winner,loser\nAnn,Ben\n", how);
    CHECK(win["settled"] == true);
    CHECK(win["skills"][0]["player"] == "Ann");
    CHECK(std::abs(win["skills"][0]["mean"].get<double>() - 29.396) < 0.0005);
    CHECK(std::abs(win["skills"][1]["mean"].get<double>() - 20.604) < 0.0005);
    CHECK(std::abs(win["skills"][1]["sd"].get<double>() - 7.171) < 0.0005);
    const auto draw = rated("Winner;Loser;Draw\nAnn;Ben;yes\n", how);
    CHECK(std::abs(draw["skills"][0]["mean"].get<double>() - 25) < 0.0005);
    CHECK(std::abs(draw["skills"][0]["sd"].get<double>() - 6.458) < 0.0005);
  }
}

TEST_CASE("rate: both forms of a table say the same") {
  const auto rows = rated("winner,loser,draw\nAnn + Ben,Cleo,\nCleo,\"Dan, jr\",1\n", "");
  const auto players = rated(
      "note,rank,game,player,team,share\n,1,first,Ann,red,1\n,2,first,Cleo,,\n,1,first,Ben,red,\n,3,second,Cleo,,\n"
      ",3,second,\"Dan, jr\",,1\n",
      "");
  REQUIRE(rows["skills"].size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    const auto& one = rows["skills"][i];
    for (const auto& other : players["skills"])
      if (other["player"] == one["player"]) {
        CHECK(one["mean"].get<double>() == dma::oracle::relative(other["mean"].get<double>(), 1e-9));
        CHECK(one["games"] == other["games"]);
      }
  }
  // Who left early has a smaller part in the victory.
  const auto half = rated("game,player,rank,team,share\n1,Ann,1,red,\n1,Ben,1,red,0.5\n1,Cleo,2,,\n", "");
  CHECK(half["skills"][0]["player"] == "Ann");
  CHECK(half["skills"][1]["player"] == "Ben");
  CHECK(half["skills"][1]["mean"].get<double>() < half["skills"][0]["mean"].get<double>() - 0.1);
}

TEST_CASE("rate: skills, chances, a table and a picture") {
  const TemporaryFolder folder;
  std::string csv = "winner,loser\n";
  for (int i = 0; i < 12; ++i) csv += i % 4 == 3 ? "Zoë B,\"Al \"\"X\"\"\"\n" : "\"Al \"\"X\"\"\",Zoë B\nZoë B,Cleo\n";
  folder.write("g.csv", csv);
  const auto outcome = require_dma(folder, "rate g.csv --out skills.csv --plot skills.svg");
  CHECK(holds(folder.read("skills.svg"), "95 % interval"));
  check_holds(outcome.output, {"21 games of 3 players, all at once\nstatus   converged", "chance of the row to win"});
  const std::string table = folder.read("skills.csv");
  CHECK(table.starts_with("player,skill_mean,skill_sd,skill_q2.5,skill_q97.5,games\n\"Al \"\"X\"\"\","));
  CHECK(std::ranges::count(table, '\n') == 4);
  const auto online = run_dma(folder, "rate g.csv --online --pair 'Al \"X\"' Cleo --pair 'Zoë B' 'Cleo'");
  check_holds(online.output, {"one after the other", "Al \"X\" against Cleo: wins 0.", "Zoë B against Cleo: wins 0."});

  const auto pair = rated("winner,loser\nAnn,Ben\nBen,Cleo\n", "--pair 'Ann + Cleo' Ben")["pairs"][0];
  CHECK(pair["win"].get<double>() + pair["draw"].get<double>() + pair["loss"].get<double>() == doctest::Approx(1));
}

TEST_CASE("rate: the scale is the user's") {
  const std::string csv = "winner,loser\nAnn,Ben\nBen,Cleo\nAnn,Cleo\n";
  const auto small = rated(csv, ""), large = rated(csv, "--mu 1500 --sigma 500");
  for (std::size_t i = 0; i < 3; ++i)
    CHECK((large["skills"][i]["mean"].get<double>() - 1500) / 60 ==
          dma::oracle::relative(small["skills"][i]["mean"].get<double>() - 25, 1e-6));
  CHECK(rated(csv, "--beta 100 --tau 0 --draws 0")["skills"][0]["mean"].get<double>() < 26);
}

TEST_CASE("rate: what did not settle is said in a line of its own, and a table is given all the same") {
  const TemporaryFolder folder;
  std::string csv = "winner,loser,draw\n";
  for (int g = 0; g < 60; ++g) {
    const int a = g * 5 % 8, b = (a + 1 + g * 3 % 7) % 8;
    csv += fmt::format("P{},P{},{}\n", a, b, g % 5 == 0 ? "yes" : "");
  }
  folder.write("g.csv", csv);
  for (const char* options : {"", "--beta 1e-6 --draws 1e-9"}) {
    const auto outcome = require_dma(folder, fmt::format("rate g.csv {}", options));
    const bool settled = json_of_dma(folder, fmt::format("rate g.csv --json {}", options))["settled"];
    CHECK_MESSAGE((!holds(outcome.output, "is not settled")) == settled, outcome.output);
    CHECK(holds(outcome.output, "\nstatus   "));
    CHECK(!holds(outcome.output, "nan"));
  }
}
