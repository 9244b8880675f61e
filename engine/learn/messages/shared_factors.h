// Factors that join shared variables and belong to no example, as a graph of their own: what they say depends on the
// cavities alone, and is found whenever those change, not when an example happens to be swept.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/compile/compile.h"
#include "engine/run/run.h"

namespace dma {

class SharedFactors {
 public:
  // Runs them by the same schedule as the examples.
  SharedFactors(const Graph& graph, const Registry& registry, const Scheduler& schedule, CompileOptions options);

  // Their constant messages to a variable leave their state, which is what a cavity holds already.
  void drop_constants();
  void set_parameter(FactorId factor, std::string_view parameter, std::span<const double> values);
  // Their messages, given the cavities of a state of the whole graph.
  void update(State& cavities);
  // elements *= those to a variable.
  void multiply_into(VariableId shared_variable, std::span<Natural> elements) const;

 private:
  // By the ids of the whole graph.
  std::vector<std::optional<FactorId>> own_factors_;
  std::vector<std::optional<VariableId>> own_variables_;
  std::unique_ptr<State> state_;
};

}  // namespace dma
