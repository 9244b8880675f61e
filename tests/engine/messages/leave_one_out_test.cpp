#include "engine/messages/leave_one_out.h"

#include "tests/oracles/accuracy.h"

namespace dma {

TEST_CASE("leave_one_out: every sum is as accurate as adding up the others, and one at most is added up") {
  oracle::RandomMessages random(oracle::kSeed);
  double worst = 0;
  for (int i = 0; i < 10'000; ++i) {
    std::vector<double> terms(1 + static_cast<std::size_t>(8 * random.uniform()));
    LeaveOneOut sums;
    for (double& t : terms) sums.add(t = random.sign() * random.log_uniform({1e-50, 1e50}));
    int added_up = 0;
    for (std::size_t j = 0; j < terms.size(); ++j) {
      const double found = sums.without(terms[j], [&] {
        ++added_up;
        return sum_of_others(j, terms.size(), [&](std::size_t k) { return terms[k]; });
      });
      oracle::Real truth = 0, magnitude = 0;
      for (std::size_t k = 0; k < terms.size(); ++k) {
        if (k == j) continue;
        truth += terms[k];
        magnitude += std::abs(terms[k]);
      }
      if (magnitude == 0)
        CHECK(found == 0);
      else
        worst = std::max(worst, static_cast<double>(abs(found - truth) / magnitude));
    }
    CHECK(added_up <= 1);
  }
  CHECK(worst < 8 * std::numeric_limits<double>::epsilon());  // one rounding per term
}

}  // namespace dma
