#include "engine/certify/scenario.h"

#include <doctest/doctest.h>

#include "factors/standard_registry.h"

using namespace dma;

TEST_CASE("scenario: parameters are within their domains, the extreme ones too") {
  const Registry registry = standard_registry();
  for (const auto& entry : registry.kinds()) {
    const Kind& kind = entry.second;
    CAPTURE(kind.name());
    Scenarios scenarios(kind, 3, 7);
    for (int i = 0; i < 100; ++i)
      for (const Scenario& scenario : {scenarios.ordinary(), scenarios.extreme()}) {
        auto value = scenario.parameters.begin();
        for (const ParameterSpec& spec : kind.parameters())
          for (std::size_t t = 0; t < (spec.per_term ? scenarios.terms() : 1); ++t, ++value)
            CHECK(spec.domain.contains(*value));
        CHECK(value == scenario.parameters.end());
      }
  }
}

TEST_CASE("scenario: a point mass lies where the port may be observed") {
  const Registry registry = standard_registry();
  int points = 0;
  for (const auto& entry : registry.kinds()) {
    const Kind& kind = entry.second;
    CAPTURE(kind.name());
    if (!registry.is_like_gaussian(kind)) continue;
    Scenarios scenarios(kind, 2, 11);
    for (int i = 0; i < 200; ++i)
      for (const Scenario& scenario : {scenarios.ordinary(), scenarios.extreme()})
        for (std::size_t p = 0; p < kind.ports().size(); ++p)
          for (const Natural& m : scenario.arrivals[p])
            if (kind.ports()[p].observed && m.is_point()) {
              CHECK(kind.ports()[p].observed->contains(m.tau));
              ++points;
            }
  }
  CHECK(points > 1000);
}
