// Raiffa's oil wildcatter: to drill or not, and what a seismic test is worth before he chooses.
//
// Prints:
//   without a test: drill, worth 20.0
//   the test is worth 12.5, to know the oil itself 35.0
//   the test shows no structure: leave it; drill would be worth -30.5
//   the test shows an open structure: drill; drill would be worth 32.9
//   the test shows a closed structure: drill; drill would be worth 87.5
#include <dma_models.h>
#include <fmt/core.h>

int main() {
  using namespace dma;
  Graph g;
  const auto oil = g.variable("oil", 1, "categorical(3)"), test = g.observed("test", 1, "categorical(3)");
  g.name_categories(oil, {"dry", "wet", "soaking"});
  g.name_categories(test, {"no structure", "an open structure", "a closed structure"});
  g.factor("categorical_prior", {oil}, {{"probability", {0.5, 0.3, 0.2}}});
  g.factor("table", {oil, test}, {{"probability", {0.6, 0.3, 0.1, 0.3, 0.4, 0.3, 0.1, 0.4, 0.5}}});
  const std::vector<double> utility{0, 0, 0, -70, 50, 200};  // rows: leave it, drill; columns: dry, wet, soaking
  const char* const actions[] = {"leave it", "drill"};

  const Plan plan = compile(g, exact(), standard_registry());
  State state(plan);
  state.observe(test, std::nullopt);  // not made yet
  (void)run(plan, state);
  const ExactPosterior before(state);
  const Decision blind = decide(before, {oil}, utility);
  fmt::print("without a test: {}, worth {:.1f}\n", actions[blind.action], blind.utility);
  fmt::print("the test is worth {:.1f}, to know the oil itself {:.1f}\n",
             value_of_information(before, {oil}, utility, test), value_of_information(before, {oil}, utility, oil));
  for (std::size_t shown = 0; shown < 3; ++shown) {
    state.observe(test, static_cast<double>(shown));
    (void)run(plan, state);
    const Decision best = decide(ExactPosterior(state), {oil}, utility);
    fmt::print("the test shows {}: {}; drill would be worth {:.1f}\n", g.categories(test)[shown], actions[best.action],
               best.utilities[1]);
  }
}
