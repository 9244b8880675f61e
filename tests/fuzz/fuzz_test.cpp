// Every fuzz target briefly, on fixed cases; tools/assurance/fuzz runs longer.
#include <doctest/doctest.h>

#include "tests/fuzz/targets.h"

TEST_CASE("fuzz: a few random cases for every target break no promise") {
  for (const auto& target : dma::fuzz::targets()) {
    const std::uint64_t cases = target.name == "command" ? 60 : 400;
    for (std::uint64_t seed = 1; seed <= cases; ++seed) {
      INFO(target.name, " --case ", seed);
      dma::fuzz::Choices choices(seed);
      CHECK_NOTHROW(target.run(choices));
    }
  }
}
