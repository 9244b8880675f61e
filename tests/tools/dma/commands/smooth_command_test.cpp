// dma smooth: what it prints, writes and refuses.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/support/json.h"
#include "tests/oracles/relative.h"
#include "tests/tools/run_dma.h"

namespace {

using namespace dma::testing;

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
  const auto json = json_of_dma(folder, "smooth s.csv --season 4 --forecast 4 --out out.csv --json");
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
  CHECK(table.starts_with(
      "step,sales,sales_mean,sales_sd,sales_signal_sd,sales_q2.5,sales_q50,sales_q97.5,trend.level_mean,"));
  CHECK(std::ranges::count(table, '\n') == 85);

  const auto text = run_dma(folder, "smooth s.csv --season 4 --forecast 2");
  check_holds(text.output, {"71 values of 'sales', 9 missing", "trend.slope"});
}

TEST_CASE("smooth: rows that leave steps out are gaps, and times are kept") {
  const TemporaryFolder folder;
  folder.write("s.csv", "t,y\n10,1\n10.5,2.1\n12,5\n12.5,6.2\n13,6.9\n");
  const auto json = json_of_dma(folder, "smooth s.csv --time t --model walk --forecast 1 --json");
  CHECK(json["values"] == 7);
  CHECK(json["time"].back() == 13.5);
  folder.write("far.csv", "t,y\n1e300,1\n2e300,2.1\n3e300,2.5\n");
  const auto far = run_dma(folder, "smooth far.csv --time t --model walk --forecast 1");
  CHECK_MESSAGE(holds(far.output, "          4e+300  "), far.output, far.errors);
}

TEST_CASE("smooth: wrong input is refused in one line") {
  check_smooth_refused("t,y\n1,2\n2,3\n3,4\n", "--column z", "no column 'z'");
  check_smooth_refused("t,y\n1,2\n2,3\n3,4\n", "--model trent", "did you mean 'trend'");
  check_smooth_refused("t,y\n1,2\n2,3\n3,4\n", "--model ar:0.5,x", "coefficients with commas");
  check_smooth_refused("t,y\n1,2\n2,3\n3,4\n", "--model ar:", "coefficients with commas");
  check_smooth_refused("t,y\n1,2\n2,3\n2,4\n", "--time t", "row 3: the time 2 does not come after 2");
  check_smooth_refused("t,y\n1,2\n2,3\n3.4,4\n", "--time t", "equal steps are expected");
  check_smooth_refused(
      "t,y\n1,2\n2,3\n1e9,4\n", "--time t",
      "row 3: the time 1000000000 is 999999998 steps of 1 after the row before, which leaves 999999997 "
      "steps without a row, more than 1000000; round the times to coarser steps");
  check_smooth_refused("t,y\n1,2\n2,3\n1e300,4\n", "--time t", "row 3: the time 1e+300 is 1e+300 steps of 1 after");
  check_smooth_refused("t,y\n-1.7e308,2\n1.7e308,3\n", "--time t", "steps of inf after the row before");
  check_smooth_refused("y,t\n1,2\n2,3\n3,4\n", "--time t", "name another with --column");
  check_smooth_refused("t,y\n1,2\n2,\n3,4\n", "", "learning variances needs at least 3");
  check_smooth_refused("t,y\n1,2\n2,2\n3,2\n", "", "without variation");
  check_smooth_refused("t,y\n1,2\n2,red\n3,2\n", "", "text ('red')");
  check_smooth_refused("x,y\n1,2\n2,3\n3,4\n", "--inputs z", "no column 'z'");
  check_smooth_refused("x,y\n1,2\n,3\n3,4\n", "--inputs x", "row 2: the input 'x' is missing");
  check_smooth_refused("x,y\n1,2\n2,3\n3,4\n", "--inputs x --forecast 1", "inputs are known of 0");
  check_smooth_refused("x,y\n1,2\n2,3\n3,4\n,\n", "--inputs x", "row 4: the input 'x' is missing");
  check_smooth_refused("x,y\n1,2\nred,3\n3,4\n", "--inputs x", "text ('red')");
  check_smooth_refused("x,y\n1,2\n2,3\n3,4\n", "--inputs y", "given both as the values and as an input");
  check_smooth_refused("shop,y\na,2\na,3\na,4\nb,5\n", "--key shop", "shop 'b': series: 1 of its values are present");
  check_smooth_refused("shop,y\na,2\n,3\na,4\n", "--key shop", "row 2: the key 'shop' is missing");
  check_smooth_refused("shop,y\na,2\na,3\na,4\n", "--key show", "no column 'show'");
  check_smooth_refused("shop,y\na,2\na,3\na,4\n", "--key y", "'y' is given both as the key and as the values");
  check_smooth_refused("shop,t,y\na,1,2\na,2,3\nb,2,4\nb,1,4\n", "--key shop --time t",
                       "shop 'b', row 2: the time 1 does not come after 2");
  check_smooth_refused("shop,y\n", "--key shop", "no rows");
  check_smooth_refused("t,y\n1,2\n2,-3\n3,4\n", "--log", "not all values are above 0");
  check_smooth_refused("t,y\n2001-01,2\n2001-13,3\n2001-03,4\n", "", "row 2: the time '2001-13' is no date");
  check_smooth_refused("t,y\n2001-01,2\n2001-01,3\n2001-03,4\n", "", "row 2: the time 2001-01 does not come after");
  check_smooth_refused("t,y\n2001-01,2\n2001-02-01,3\n2001-03,4\n", "", "write all dates alike");
  check_smooth_refused("t,y\n2001-01-01T00:00:00,2\n2001-01-01T00:00:01,3\n2001-01-01T00:00:02,4\n2005-01-01T00:00,5\n",
                       "",
                       "row 4: the time 2005-01-01T00:00 is 126230398 steps of 1 second after the row before, which "
                       "leaves 126230397 steps without a row, more than 1000000; round the times to coarser steps, "
                       "delete the row, or take another column of times (--time)");
  check_smooth_refused("t,y\n2001-01-01,2\n2001-01-02,3\n2001-01-03,4\n9999-12-31,5\n", "",
                       "row 4: the time 9999-12-31");
  check_smooth_refused("t,y\n2001-01,2\n2001-02,3\n2001-03,5\n2001-04,4\n", "--forecast 1000000",
                       "the series would end in the year 85334; dates up to the year 32767 are known");
  check_smooth_refused("t,y\n1,2\n2,3\n3,1e300\n4,4\n", "", "change the units");
  check_smooth_refused("t,y\n2001-02-28,2\n2001-02-29,3\n2001-03-01,4\n", "", "'2001-02-29' is no date");
  for (const char* season : {"1", "-3", "nan", "99999999999"})
    check_smooth_refused("t,y\n1,2\n2,3\n3,4\n", fmt::format("--season {}", season),
                         fmt::format("--season: '{}' is given; a number from 2 to 10000 is expected", season));
}

TEST_CASE("smooth: an option without its value is refused by what is expected") {
  const TemporaryFolder folder;
  folder.write("s.csv", "t,y\n1,2\n2,3\n3,4\n");
  for (const auto& [option, expected] :
       {std::pair{"--season", "--season: nothing is given; a value is expected after it"},
        std::pair{"--column", "--column: nothing is given; a value is expected after it"}}) {
    const auto outcome = run_dma(folder, fmt::format("smooth s.csv {}", option));
    CHECK(outcome.exit_code == 2);
    CHECK_MESSAGE(holds(outcome.errors, expected), outcome.errors);
  }
}

TEST_CASE(
    "smooth: forecasts have the digits that their standard deviation leaves, and nothing else is said into a pipe") {
  const TemporaryFolder folder;
  std::string csv = "y\n";
  for (int t = 0; t < 40; ++t) csv += fmt::format("{}\n", 1234567 + (t * 7 % 5));
  folder.write("s.csv", csv);
  const auto outcome = require_dma(folder, "smooth s.csv --model walk --forecast 1");
  CHECK(outcome.errors == "");
  CHECK_MESSAGE(holds(outcome.output, " 123456"), outcome.output);
  CHECK_MESSAGE(!holds(outcome.output, "e+06"), outcome.output);
}

namespace {

// Times of a series of ones and twos, and those of two forecasts.
std::vector<std::string> times_of(const std::vector<std::string>& dates) {
  const TemporaryFolder folder;
  std::string csv = "when,y\n";
  for (std::size_t i = 0; i < dates.size(); ++i) csv += fmt::format("{},{}\n", dates[i], 1 + i * i % 3);
  folder.write("s.csv", csv);
  return json_of_dma(folder, "smooth s.csv --model walk --season none --no-log --forecast 2 --json")["time"];
}

}  // namespace

TEST_CASE("smooth: dates are times, and forecasts have dates") {
  using Times = std::vector<std::string>;
  CHECK(times_of({"1999-10", "1999-11", "2000-01"}) ==
        Times{"1999-10", "1999-11", "1999-12", "2000-01", "2000-02", "2000-03"});
  CHECK(times_of({"1999-04-01", "1999-07-01", "1999-10-01"}) ==
        Times{"1999-04-01", "1999-07-01", "1999-10-01", "2000-01-01", "2000-04-01"});
  // The last days of months, of a leap year too.
  CHECK(times_of({"1999-11-30", "1999-12-31", "2000-01-31"}) ==
        Times{"1999-11-30", "1999-12-31", "2000-01-31", "2000-02-29", "2000-03-31"});
  CHECK(times_of({"2000-02-27", "2000-02-28", "2000-03-01"}) ==
        Times{"2000-02-27", "2000-02-28", "2000-02-29", "2000-03-01", "2000-03-02", "2000-03-03"});
  CHECK(times_of({"2000-12-31T22:00", "2000-12-31T23:00", "2001-01-01T00:00"}) ==
        Times{"2000-12-31T22:00", "2000-12-31T23:00", "2001-01-01T00:00", "2001-01-01T01:00", "2001-01-01T02:00"});
  // A clock that is a few seconds late now and then.
  const Times late = times_of({"2001-01-01 00:00:00", "2001-01-01 01:00:07", "2001-01-01 02:00:05",
                               "2001-01-01 03:00:04", "2001-01-01 05:00:06", "2001-01-01 06:00:08"});
  CHECK(late.size() == 9);
}

TEST_CASE("smooth: the page writes dates as dates; of several columns, the one that was taken is said") {
  const TemporaryFolder folder;
  std::string csv = "day,rain,y\n";
  for (int t = 1; t <= 28; ++t) csv += fmt::format("2023-02-{:02},{},{}\n", t, t % 2, t * t % 7);
  folder.write("s.csv", csv);
  const std::string quick = " --model walk --season none --no-log --report r.html";
  const auto outcome = run_dma(folder, "smooth s.csv" + quick);
  CHECK(holds(outcome.output, "\ncolumn   y, the last one; --column takes another"));
  const std::string page = folder.read("r.html");
  for (const char* day : {">2023-02-04<", ">2023-02-11<", ">2023-02-18<", ">2023-02-25<"})
    CHECK_MESSAGE(holds(page, std::string("text-anchor=\"middle\"") + day), day);
  CHECK(!holds(page, ">2023."));
  CHECK(!holds(run_dma(folder, "smooth s.csv --inputs rain" + quick).output, "\ncolumn"));
}

TEST_CASE("smooth: the model is chosen and said, and dates say which season there may be") {
  const TemporaryFolder folder;
  std::string csv = "month,sold\n";
  for (int t = 0; t < 72; ++t)
    csv += fmt::format("{}-{:02},{:.3f}\n", 2001 + t / 12, t % 12 + 1,
                       std::exp(3 + 0.02 * t + 0.3 * std::sin(0.5235987755982988 * t) + 0.03 * std::sin(37.0 * t * t)));
  folder.write("s.csv", csv);
  const auto text = require_dma(folder, "smooth s.csv --forecast 12");
  CHECK_MESSAGE(holds(text.output, "2001-01 to 2006-12 in steps of 1 month"), text.output);
  CHECK_MESSAGE(holds(text.output, "model    trend + season 12 of the logarithm, "), text.output);
  CHECK_MESSAGE(holds(text.output, "         2007-12"), text.output);
  const auto json = json_of_dma(folder, "smooth s.csv --forecast 12 --json");
  CHECK(json["logarithm"] == true);
  CHECK(json["models"].size() == 9);  // the trend of the values is far behind: others are not tried on them
  for (std::size_t t = 72; t < 84; ++t) {
    const double truth =
        std::exp(3 + 0.02 * static_cast<double>(t) + 0.3 * std::sin(0.5235987755982988 * static_cast<double>(t)));
    CHECK(json["q50"][t].get<double>() == dma::oracle::relative(truth, 0.06));
    CHECK(json["q2.5"][t].get<double>() < truth);
    CHECK(json["q97.5"][t].get<double>() > truth);
  }
}

TEST_CASE("smooth: a value that the others do not expect is named") {
  const TemporaryFolder folder;
  std::string csv = "y\n";
  for (int t = 0; t < 60; ++t) csv += fmt::format("{:.3f}\n", t == 20 ? 14.0 : 5 + std::sin(37.0 * t * t));
  folder.write("s.csv", csv);
  const auto outcome = run_dma(folder, "smooth s.csv --no-log");
  CHECK_MESSAGE(holds(outcome.output, "unusual  21: 14, "), outcome.output);
}

TEST_CASE("smooth: inputs have weights, and rows without a value at the end are forecast with theirs") {
  const TemporaryFolder folder;
  std::string csv = "holiday,y\n";
  for (int t = 0; t < 63; ++t) {
    const int holiday = t % 7 == 3 || t % 11 == 5 || t == 61;
    const double y = -5 + 3 * holiday + 0.3 * std::sin(37.0 * t * t);
    csv += fmt::format("{},{}\n", holiday, t < 60 ? fmt::format("{:.3f}", y) : "");
  }
  folder.write("s.csv", csv);
  const auto json = json_of_dma(folder, "smooth s.csv --inputs holiday --json");
  CHECK(json["forecasts"] == 3);
  CHECK(json["inputs"]["holiday"]["weight"].get<double>() == dma::oracle::relative(3, 0.05));
  CHECK(std::abs(json["q50"][62].get<double>() + 5) < 0.3);
  CHECK(std::abs(json["q50"][61].get<double>() + 2) < 0.3);
  CHECK(holds(run_dma(folder, "smooth s.csv --inputs holiday").output, "input    holiday: "));
}

TEST_CASE("smooth: every key of a column is a series, and equals that series by itself") {
  const TemporaryFolder folder;
  std::string all = "shop,t,price,y\n", alone[2] = {"t,price,y\n", "t,price,y\n"};
  for (int t = 0; t < 40; ++t)
    for (int shop = 0; shop < 2; ++shop) {
      const double price = 3 + (t * 7 + shop) % 5,
                   y = 50 + (shop == 0 ? 0.8 * t : 0) - 2 * price + std::sin(37.0 * t * t);
      const std::string row = fmt::format("{},{},{}\n", t + shop, price, t < 38 ? fmt::format("{:.3f}", y) : "");
      all += (shop == 0 ? "\"north, old\"," : "south,") + row;
      alone[shop] += row;
    }
  folder.write("all.csv", all);
  const std::string options = " --time t --inputs price --season none --no-log --json";
  const auto found = json_of_dma(folder, "smooth all.csv --key shop" + options + " --out out.csv --report r.html");
  CHECK(found["key"] == "shop");
  CHECK(found["series"].size() == 2);
  for (int shop = 0; shop < 2; ++shop) {
    folder.write("one.csv", alone[shop]);
    CHECK(found["series"][shop == 0 ? "north, old" : "south"] == json_of_dma(folder, "smooth one.csv" + options));
  }
  CHECK(found["series"]["south"]["inputs"]["price"]["weight"].get<double>() == dma::oracle::relative(-2, 0.1));
  CHECK(found["series"]["north, old"]["model"] == "trend");
  const std::string table = folder.read("out.csv"), page = folder.read("r.html");
  CHECK(table.starts_with("shop,t,y,y_mean,y_sd,y_signal_sd,y_q2.5,y_q50,y_q97.5\n\"north, old\",0,"));
  CHECK(std::ranges::count(table, '\n') == 81);
  CHECK(holds(page, "<h1>north, old</h1>"));
  CHECK(holds(page, "coefficient"));
  const auto text = require_dma(folder, "smooth all.csv --key shop --time t --inputs price --season none --no-log");
  CHECK_MESSAGE(holds(text.output, "\n\nshop south\n38 values of 'y'"), text.output);
}

TEST_CASE("generate: the same file for a seed, and every command takes it") {
  const TemporaryFolder folder;
  for (const auto& pair :
       {std::pair{"series --steps 40", "smooth made --forecast 2"},
        std::pair{"series --kind walk --steps 40", "smooth made"},
        std::pair{"series --kind patients --steps 40", "smooth made"},
        std::pair{"series --kind cycle", "smooth made --time year"}, std::pair{"games --games 30", "rate made"},
        std::pair{"games --players 2 --games 40", "rate made"},
        std::pair{"table --rows 40", "fit made --target y"},
        std::pair{"table --rows 40 --classes", "fit made --target class"}}) {
    const std::string made = pair.first;
    CAPTURE(made);
    require_dma(folder, fmt::format("generate {} --seed 5 --out made", made));
    CHECK(run_dma(folder, fmt::format("generate {} --seed 5", made)).output == folder.read("made"));
    CHECK(run_dma(folder, fmt::format("generate {} --seed 6", made)).output != folder.read("made"));
    require_dma(folder, pair.second);
  }
  check_refused(folder, "generate series --kind sale", "did you mean 'sales'");
  check_refused(folder, "generate games --players 1", "a whole number from 2 to 10000");
}
