#include "models/linear/factorisation_graph.h"

namespace dma {

FactorGraph::FactorGraph(std::size_t rows, std::size_t columns, std::size_t rank)
    : u(graph.variable("u", rows * rank)),
      v(graph.variable("v", columns * rank)),
      entry(graph.variable("entry", rows * columns)),
      y(graph.observed("y", rows * columns)) {
  std::vector<std::uint32_t> of_rows, of_columns;
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j)
      for (std::size_t r = 0; r < rank; ++r) {
        of_rows.push_back(static_cast<std::uint32_t>(i * rank + r));
        of_columns.push_back(static_cast<std::uint32_t>(j * rank + r));
      }
  for (const VariableId factor : {u, v})
    priors.push_back(graph.factor("gaussian_prior", {factor}, {{"mean", 0.0}, {"variance", 1.0}}));
  const VariableId parts = graph.variable("", rows * columns * rank);
  graph.factor("product", {gather(u, of_rows), gather(v, of_columns), parts});
  graph.factor("sum", {parts, entry});
  noise = graph.factor("gaussian_noise", {entry, y}, {{"variance", 1.0}});
}

void FactorGraph::set_variances(State& state, double noise_variance, double factor_variance) const {
  state.set_parameter(noise, "variance", noise_variance);
  for (const FactorId prior : priors) state.set_parameter(prior, "variance", factor_variance);
}

VarianceOf FactorGraph::factors(const State& state) const {
  VarianceOf all;
  for (const VariableId which : {u, v}) {
    const Belief belief = state.belief(which);
    for (std::size_t i = 0; i < belief.size(); ++i) all.add(belief.mean(i), belief.variance(i));
  }
  return all;
}

}  // namespace dma
