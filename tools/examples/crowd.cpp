// Labels from a crowd: what is the true label of each item, and how reliable is each person? True labels are hidden;
// each person has a confusion table with unknown rows.
//
// Prints:
//   true with probability  0.04 0.09 0.94 0.98 0.09 0.94 0.63 0.94
//   person 0 is right about what is true with probability 0.81
//   person 1 is right about what is true with probability 0.88
//   person 2 is right about what is true with probability 0.60
#include <dma.h>
#include <fmt/core.h>

int main() {
  using namespace dma;
  const std::vector<std::vector<double>> labels{
      {0, 0, 1, 1, 0, 1, 0, 1}, {0, 0, 1, 1, 0, 1, 1, 1}, {0, 1, 0, 1, 1, 0, 1, 0}};
  const std::size_t things = labels[0].size();
  Graph g;
  const auto share = g.variable("share", 1, "dirichlet(2)"), truth = g.variable("truth", things, "categorical(2)");
  g.factor("dirichlet_prior", {share}, {{"concentration", {2, 2}}});
  g.factor("categorical_draw", {all_to_one(share), truth});
  std::vector<VariableId> said, rows;
  for (std::size_t person = 0; person < labels.size(); ++person) {
    said.push_back(g.observed("", things, "categorical(2)"));
    rows.push_back(g.variable("", 2, "dirichlet(2)"));
    // People are right more often than not: this identifies the two true labels.
    g.factor("dirichlet_prior", {gather(rows[person], {0})}, {{"concentration", {4, 1}}});
    g.factor("dirichlet_prior", {gather(rows[person], {1})}, {{"concentration", {1, 4}}});
    g.factor("learned_table", {{"rows", column(rows[person])}, {"parent", truth}, {"child", said[person]}},
             {{"categories", 2}});
  }
  const Plan plan = compile(g, sequential({.damping = 0.3}), standard_registry(), {.method = "ep"});
  State state(plan);
  for (std::size_t person = 0; person < labels.size(); ++person) state.observe(said[person], labels[person]);
  (void)run(plan, state);
  fmt::print("true with probability ");
  for (std::size_t i = 0; i < things; ++i) fmt::print(" {:.2f}", state.belief(truth).mean(i, 1));
  fmt::print("\n");
  for (std::size_t person = 0; person < labels.size(); ++person)
    fmt::print("person {} is right about what is true with probability {:.2f}\n", person,
               state.belief(rows[person]).mean(1, 1));
}
