#include "tools/bench/gate.h"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "engine/support/json.h"

namespace {

using namespace dma::bench;

const dma::Json kGateBaseline = dma::parse_json(
    R"({"ratio_tolerance": 0.25, "networks": {"2-2-1": {"fused/hand": 1.2, "unfused/fused": 3, "fused/adam": 8}}})");

NetworkRow measured() {
  NetworkRow row;
  row.name = "2-2-1";
  row.fused_by_hand = 1.2, row.unfused_by_fused = 3, row.fused_by_adam = 8, row.difference = 1e-14;
  return row;
}

}  // namespace

TEST_CASE("gate: what is as the baseline, or worse within the tolerance, passes") {
  NetworkRow row = measured();
  CHECK(worse_than(kGateBaseline, {row}).empty());
  row.fused_by_hand = 1.2 * 1.24, row.unfused_by_fused = 0.5, row.fused_by_adam = 9.9;
  CHECK(worse_than(kGateBaseline, {row}).empty());
  CHECK(worse_than(kGateBaseline, {}).empty());
}

TEST_CASE("gate: every ratio that got worse by more than the tolerance is named with both numbers") {
  NetworkRow row = measured();
  row.fused_by_hand = 1.6;
  CHECK(worse_than(kGateBaseline, {row}) ==
        std::vector<std::string>{"2-2-1: fused/hand is 1.60, more than 25 % above the 1.20 of the baseline"});
  row.unfused_by_fused = 4, row.fused_by_adam = 11;
  CHECK(worse_than(kGateBaseline, {row}).size() == 3);
  row = measured();
  row.fused_by_adam = std::numeric_limits<double>::quiet_NaN();
  CHECK(worse_than(kGateBaseline, {row}).size() == 1);
}

TEST_CASE("gate: a fast engine with other answers does not pass, nor one that nothing can be compared with") {
  NetworkRow row = measured();
  row.difference = 1e-8;
  CHECK(worse_than(kGateBaseline, {row}) ==
        std::vector<std::string>{"2-2-1: the engine and the loop by hand differ by 1.0e-08"});
  row = measured();
  row.name = "3-3-1";
  CHECK(worse_than(kGateBaseline, {row}) == std::vector<std::string>{"3-3-1: the baseline has no such network"});
}

TEST_CASE("gate: the committed baseline has every ratio of every network") {
  std::ifstream file(DMA_SOURCE_DIR "/tools/bench/baseline.json");
  const dma::Json baseline = dma::parse_json(std::string(std::istreambuf_iterator(file), {}));
  for (const char* name : {"8-6-5-1", "6-6-12-48-24-4", "13-50-1", "784-100-10", "1024-1024-1"}) {
    NetworkRow row;
    row.name = name;
    CHECK(worse_than(baseline, {row}).empty());
    row.fused_by_hand = row.unfused_by_fused = row.fused_by_adam = 1e9;
    CHECK(worse_than(baseline, {row}).size() == 3);
  }
  for (const char* network : {"8-6-5-1", "6-6-12-48-24-4", "13-50-1"})
    CHECK(baseline.at("instructions").contains(network));
}
