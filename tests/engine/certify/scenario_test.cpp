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
