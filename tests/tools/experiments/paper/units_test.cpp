// Units: kept, run once, resumed, independent of the number of threads.
#include "tools/experiments/paper/units.h"

#include <doctest/doctest.h>

#include <atomic>
#include <nlohmann/json.hpp>

#include "engine/support/text.h"
#include "tests/tools/run_dma.h"

namespace dma::reproduce {

namespace {

std::vector<Unit> squares(int count, std::atomic<int>& runs, const std::string& settings = "s") {
  std::vector<Unit> units;
  for (int i = 0; i < count; ++i)
    units.push_back({"unit." + std::to_string(i), settings, [i, &runs] {
                       ++runs;
                       return Json{{"square", i * i}};
                     }});
  return units;
}

}  // namespace

TEST_CASE("units: results do not depend on threads, and are kept") {
  const testing::TemporaryFolder folder, other;
  std::atomic<int> runs = 0;
  const UnitRun one = run_units(squares(20, runs), folder.path(), 1);
  const UnitRun three = run_units(squares(20, runs), other.path(), 3);
  CHECK(runs == 40);
  CHECK(one.results == three.results);
  CHECK(one.results.at("unit.7").at("square") == 49);
  for (const std::string& file : folder.files()) CHECK(folder.read(file) == other.read(file));
  const UnitRun again = run_units(squares(20, runs), folder.path(), 2);
  CHECK(runs == 40);
  CHECK(again.results == one.results);
}

TEST_CASE("units: of one name are run once") {
  const testing::TemporaryFolder folder;
  std::atomic<int> runs = 0;
  std::vector<Unit> twice = squares(3, runs);
  for (Unit& unit : squares(3, runs)) twice.push_back(std::move(unit));
  CHECK(run_units(twice, folder.path(), 2).results.size() == 3);
  CHECK(runs == 3);
}

TEST_CASE("units: a stopped run says so, and the next goes on") {
  const testing::TemporaryFolder folder;
  std::atomic<int> runs = 0;
  const UnitRun stopped = run_units(squares(10, runs), folder.path(), 1, [](const Progress& p) { return p.done < 4; });
  CHECK(stopped.interrupted);
  CHECK(runs == 4);
  const UnitRun rest = run_units(squares(10, runs), folder.path(), 1);
  CHECK(!rest.interrupted);
  CHECK(runs == 10);
  CHECK(rest.results.size() == 10);
}

TEST_CASE("units: a result of other settings, or a damaged file, is not used") {
  const testing::TemporaryFolder folder;
  std::atomic<int> runs = 0;
  run_units(squares(2, runs), folder.path(), 1);
  run_units(squares(2, runs, "others"), folder.path(), 1);
  CHECK(runs == 4);
  folder.write("unit.0.json", "{\"settings\": \"oth");
  run_units(squares(2, runs, "others"), folder.path(), 1);
  CHECK(runs == 5);
}

TEST_CASE("units: what one throws reaches the caller") {
  const testing::TemporaryFolder folder;
  const std::vector<Unit> units = {{"bad", "s", []() -> Json { fail("no such thing"); }}};
  CHECK_THROWS_WITH_AS(run_units(units, folder.path(), 2), "no such thing", Error);
}

}  // namespace dma::reproduce
