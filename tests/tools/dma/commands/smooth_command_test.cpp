// dma smooth: what it prints, writes and refuses.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/tools/run_dma.h"

namespace {

using dma::testing::check_refused;
using dma::testing::run_dma;
using dma::testing::TemporaryFolder;

// A line with a season of four and a little noise; every ninth value missing.
std::string sales(std::size_t length) {
  std::string csv = "month,sales\n";
  const double season[] = {3, 1, -2, -2};
  for (std::size_t t = 0; t < length; ++t) {
    const auto x = static_cast<double>(t);
    csv +=
        fmt::format("{},{}\n", t,
                    t % 9 == 4 ? "" : fmt::format("{:.4f}", 10 + 0.5 * x + season[t % 4] + 0.3 * std::sin(37 * x * x)));
  }
  return csv;
}

void check_smooth_refused(const std::string& csv, const std::string& options, const std::string& expected) {
  const TemporaryFolder folder;
  folder.write("s.csv", csv);
  INFO(csv.substr(0, 60));
  check_refused(folder, "smooth s.csv " + options + " --out s.out.csv", expected);
}

}  // namespace

TEST_CASE("smooth: a trend with a season is forecast, its gaps are filled") {
  const TemporaryFolder folder;
  folder.write("s.csv", sales(80));
  const auto outcome = run_dma(folder, "smooth s.csv --season 4 --forecast 4 --out out.csv --json");
  REQUIRE_MESSAGE(outcome.exit_code == 0, outcome.errors);
  const auto json = nlohmann::json::parse(outcome.output);
  CHECK(json["values"] == 80);
  CHECK(json["forecasts"] == 4);
  CHECK(json["settled"] == true);
  const double season[] = {3, 1, -2, -2};
  for (std::size_t t = 0; t < 84; ++t) {
    const double truth = 10 + 0.5 * static_cast<double>(t) + season[t % 4];
    CHECK(std::abs(json["mean"][t].get<double>() - truth) < (t < 80 ? 0.6 : 1.0));
    CHECK(json["q2.5"][t].get<double>() < truth);
    CHECK(json["q97.5"][t].get<double>() > truth);
  }
  const std::string table = folder.read("out.csv");
  CHECK(table.starts_with("step,sales,sales_mean,sales_sd,sales_signal_sd,sales_q2.5,sales_q97.5,trend.level_mean,"));
  CHECK(std::ranges::count(table, '\n') == 85);

  const auto text = run_dma(folder, "smooth s.csv --season 4 --forecast 2");
  CHECK(text.output.find("71 values of 'sales', 9 missing") != std::string::npos);
  CHECK(text.output.find("trend.slope") != std::string::npos);
}

TEST_CASE("smooth: rows that leave steps out are gaps, and times are kept") {
  const TemporaryFolder folder;
  folder.write("s.csv", "t,y\n10,1\n10.5,2.1\n12,5\n12.5,6.2\n13,6.9\n");
  const auto outcome = run_dma(folder, "smooth s.csv --time t --model walk --forecast 1 --json");
  REQUIRE_MESSAGE(outcome.exit_code == 0, outcome.errors);
  const auto json = nlohmann::json::parse(outcome.output);
  CHECK(json["values"] == 7);
  CHECK(json["time"].back() == 13.5);
}

TEST_CASE("smooth: wrong input is refused in one line") {
  check_smooth_refused("t,y\n1,2\n2,3\n3,4\n", "--column z", "no column 'z'");
  check_smooth_refused("t,y\n1,2\n2,3\n3,4\n", "--model trent", "did you mean 'trend'");
  check_smooth_refused("t,y\n1,2\n2,3\n3,4\n", "--model ar:0.5,x", "coefficients with commas");
  check_smooth_refused("t,y\n1,2\n2,3\n3,4\n", "--model ar:", "coefficients with commas");
  check_smooth_refused("t,y\n1,2\n2,3\n2,4\n", "--time t", "row 3: the time 2 does not come after 2");
  check_smooth_refused("t,y\n1,2\n2,3\n3.4,4\n", "--time t", "equal steps are expected");
  check_smooth_refused("t,y\n1,2\n2,3\n1e9,4\n", "--time t", "are the times right?");
  check_smooth_refused("y,t\n1,2\n2,3\n3,4\n", "--time t", "say with --column");
  check_smooth_refused("t,y\n1,2\n2,\n3,4\n", "", "at least 3 are expected");
  check_smooth_refused("t,y\n1,2\n2,2\n3,2\n", "", "without variation");
  check_smooth_refused("t,y\n1,2\n2,red\n3,2\n", "", "text ('red')");
  for (const char* season : {"1", "-3", "2.5", "99999999999"})
    check_smooth_refused("t,y\n1,2\n2,3\n3,4\n", fmt::format("--season {}", season),
                         fmt::format("--season: '{}' is given; a whole number from 2 to 10000 is expected", season));
}

TEST_CASE("smooth: an option without its value is refused by what is expected") {
  const TemporaryFolder folder;
  folder.write("s.csv", "t,y\n1,2\n2,3\n3,4\n");
  for (const auto& [option, expected] :
       {std::pair{"--season", "--season: nothing is given; a whole number from 2 to 10000 is expected after it"},
        std::pair{"--column", "--column: nothing is given; a value is expected after it"}}) {
    const auto outcome = run_dma(folder, fmt::format("smooth s.csv {}", option));
    CHECK(outcome.exit_code == 2);
    CHECK_MESSAGE(outcome.errors.find(expected) != std::string::npos, outcome.errors);
  }
}

TEST_CASE(
    "smooth: forecasts have the digits that their standard deviation leaves, and nothing else is said into a pipe") {
  const TemporaryFolder folder;
  std::string csv = "y\n";
  for (int t = 0; t < 40; ++t) csv += fmt::format("{}\n", 1234567 + (t * 7 % 5));
  folder.write("s.csv", csv);
  const auto outcome = run_dma(folder, "smooth s.csv --model walk --forecast 1");
  REQUIRE_MESSAGE(outcome.exit_code == 0, outcome.errors);
  CHECK(outcome.errors == "");
  CHECK_MESSAGE(outcome.output.find(" 123456") != std::string::npos, outcome.output);
  CHECK_MESSAGE(outcome.output.find("e+06") == std::string::npos, outcome.output);
}
