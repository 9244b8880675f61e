#include "tools/dma/commands/certificate_output.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "engine/certify/certify.h"
#include "engine/support/json.h"
#include "factors/standard_registry.h"
#include "tests/tools/run_dma.h"

namespace dma {

TEST_CASE("certificate: JSON has every check of every edge, and parses") {
  const Certificate c = certify(standard_registry().kind("leaky_relu"), "dma", quick_certification());
  const auto json = parse_json(to_json({c}));
  REQUIRE(json.size() == 1);
  CHECK(json[0]["band"] == "bounded");
  REQUIRE(json[0]["edges"].size() == 2);
  for (const auto& edge : json[0]["edges"])
    for (const char* check : {"consistency", "properness", "independence", "moments", "master_bound", "concentration"})
      CHECK(edge.contains(check));
}

TEST_CASE("certificate: the picture has two panels per edge") {
  const Certificate c = certify(standard_registry().kind("leaky_relu"), "dma", quick_certification());
  CHECK(picture(c).panels.size() == 4);
  CHECK(picture(c).title == "leaky_relu (dma): bounded");
}

}  // namespace dma
