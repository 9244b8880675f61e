// The chest clinic of Lauritzen and Spiegelhalter (1988): a patient is short of breath and was in Asia. The graph has a
// loop through smoking, which exact() handles. tools/examples/graphs/asia.bif is the same as a file.
//
// Prints:
//   exact: 4 cliques, the widest of 3 variables with 8 entries
//     tuberculosis 0.0878
//     lung cancer  0.0995
//     bronchitis   0.8114
//     smoking      0.6259
//   cancer and bronchitis together 0.0630, probability of what was seen 0.004501
//     most probable: tuberculosis no
//     most probable: lung cancer no
//     most probable: bronchitis yes
//     most probable: smoking yes
//     most probable: shadow on X-ray no
#include <dma.h>
#include <fmt/core.h>

int main() {
  using namespace dma;
  Graph g;
  const auto yes_or_no = [&](const char* name, bool is_seen = false) {
    const VariableId v = is_seen ? g.observed(name, 1, "categorical(2)") : g.variable(name, 1, "categorical(2)");
    g.name_categories(v, {"no", "yes"});
    return v;
  };
  const auto visit = yes_or_no("visit to Asia", true), tuberculosis = yes_or_no("tuberculosis"),
             smoking = yes_or_no("smoking"), cancer = yes_or_no("lung cancer"), bronchitis = yes_or_no("bronchitis"),
             either = yes_or_no("either"), shadow = yes_or_no("shadow on X-ray"),
             dyspnoea = yes_or_no("dyspnoea", true);
  g.factor("categorical_prior", {visit}, {{"probability", {0.99, 0.01}}});
  g.factor("table", {visit, tuberculosis}, {{"probability", {0.99, 0.01, 0.95, 0.05}}});
  g.factor("categorical_prior", {smoking}, {{"probability", {0.5, 0.5}}});
  g.factor("table", {smoking, cancer}, {{"probability", {0.99, 0.01, 0.9, 0.1}}});
  g.factor("table", {smoking, bronchitis}, {{"probability", {0.7, 0.3, 0.4, 0.6}}});
  g.factor("table", {tuberculosis, cancer, either}, {{"probability", {1, 0, 0, 1, 0, 1, 0, 1}}});
  g.factor("table", {either, shadow}, {{"probability", {0.95, 0.05, 0.02, 0.98}}});
  g.factor("table", {bronchitis, either, dyspnoea}, {{"probability", {0.9, 0.1, 0.3, 0.7, 0.2, 0.8, 0.1, 0.9}}});

  const Plan plan = compile(g, exact(), standard_registry());
  State state(plan);
  state.observe(dyspnoea, g.category(dyspnoea, "yes"));
  state.observe(visit, g.category(visit, "yes"));
  fmt::print("{}\n", run(plan, state));
  for (const auto v : {tuberculosis, cancer, bronchitis, smoking})
    fmt::print("  {:<12} {:.4f}\n", g[v].name, state.belief(v).mean(0, 1));

  const ExactPosterior posterior(state);
  fmt::print("cancer and bronchitis together {:.4f}, probability of what was seen {:.6f}\n",
             posterior.marginal({cancer, bronchitis})[3], std::exp(posterior.log_evidence()));
  const MostProbable best = posterior.most_probable();
  for (const auto v : {tuberculosis, cancer, bronchitis, smoking, shadow})
    fmt::print("  most probable: {} {}\n", g[v].name, g.categories(v)[best.values(0, v)]);
}
