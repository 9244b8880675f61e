#include "tools/experiments/commands/compare.h"

#include <doctest/doctest.h>

#include "factors/standard_registry.h"
#include "tests/oracles/relative.h"

using namespace dma;

TEST_CASE("compare: the methods have the habits that the paper's Table 1 gives them, measured") {
  const Registry registry = standard_registry();
  const auto habits = [&](const char* method) { return compare::habits_of(method, registry); };
  CHECK_FALSE(habits("adf").sends_back);
  const auto dma = habits("dma");
  CHECK(dma.sends_back);
  CHECK_FALSE(dma.divides);
  CHECK_FALSE(dma.iterates);
  CHECK_FALSE(dma.collapses);
  CHECK(dma.improper_fraction == 0);
  const auto ep = habits("ep");
  CHECK(ep.divides);
  CHECK(ep.iterates);
  CHECK(ep.improper_fraction > 0.05);
  CHECK(habits("linearised").improper_fraction == 0);
  CHECK(habits("hybrid").improper_fraction == 0);
  CHECK(habits("vmp").collapses);
}

TEST_CASE("compare: joint is exact where messages go round, and messages are not") {
  const Registry registry = standard_registry();
  int loops = 0;
  for (const compare::Case& c : compare::cases()) {
    if (!c.has_loop) continue;
    ++loops;
    CAPTURE(c.name);
    CHECK(compare::measure(c, "joint", registry).kl < 1e-9);
    CHECK(compare::measure(c, "dma", registry).kl > 1e-3);
  }
  CHECK(loops == 1);
}

TEST_CASE("compare: vmp collapses where dma is exact; ep keeps a site where the marginal is wider than the prior") {
  const Registry registry = standard_registry();
  for (const compare::Case& c : compare::cases()) {
    if (c.name == "collapse") {
      CHECK(compare::measure(c, "vmp", registry).marginal.is_point());
      CHECK(compare::measure(c, "dma", registry).kl < 1e-9);
    }
    if (c.name == "spread") {
      CHECK(compare::exact_marginal(c).variance() > c.prior.variance());
      for (const char* method : {"ep", "hybrid"}) CHECK(compare::measure(c, method, registry).refused == 0);
      CHECK(compare::measure(c, "ep", registry).marginal.variance() ==
            oracle::relative(compare::exact_marginal(c).variance(), 1e-6));
    }
  }
}
