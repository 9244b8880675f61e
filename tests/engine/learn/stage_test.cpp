// Progress that is told inside an epoch.
#include "engine/learn/data.h"

#include "tests/oracles/learned_line.h"

TEST_CASE("learn stage: the fraction of an epoch grows from 0 in every epoch, with workers and alone") {
  using namespace dma;
  Graph g;
  const VariableId w = g.shared("w"), y = g.observed("y");
  g.factor("gaussian_prior", {w}, {{"mean", 0.0}, {"variance", 1.0}});
  g.factor("gaussian_noise", {w, y}, {{"variance", 1.0}});
  const std::vector<double> ys(24, 1.0);
  for (const std::size_t workers : {1u, 2u}) {
    std::vector<double> told;
    std::vector<std::size_t> at_epoch = {0};
    LearnOptions options{.targets = {y}, .batches = 8, .epochs = 3, .tolerance = 0, .workers = workers};
    options.on_stage = [&](const LearnStage& stage) { told.push_back(stage.fraction); };
    Learner learner(g, standard_registry(), forward_backward(), forward(), options);
    learner.fit({{y, ys}}, [&](const EpochRecord&) { return at_epoch.push_back(told.size()), true; });
    REQUIRE(at_epoch.size() == 4);
    for (std::size_t e = 0; e < 3; ++e) {
      const std::span<const double> fractions = std::span(told).subspan(at_epoch[e], at_epoch[e + 1] - at_epoch[e]);
      REQUIRE(fractions.size() >= 4);
      CHECK(fractions.front() == 0);
      CHECK(std::ranges::is_sorted(fractions));
      CHECK(fractions.back() >= 0.75);
      CHECK(fractions.back() <= 1);
    }
  }
}
