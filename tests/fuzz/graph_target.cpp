#include <cmath>

#include "engine/compile/compile.h"
#include "engine/run/run.h"
#include "engine/support/error.h"
#include "factors/standard_registry.h"
#include "schedules/flooding.h"
#include "schedules/forward_backward.h"
#include "schedules/residual.h"
#include "schedules/sequential.h"
#include "tests/fuzz/targets.h"

namespace dma::fuzz {

namespace {

const Registry& registry() {
  static const Registry all = standard_registry();
  return all;
}

class RandomGraph {
 public:
  explicit RandomGraph(Choices& choices) : choices_(choices), wild_(choices.one_in(3)) {
    for (std::size_t i = choices.between(1, 5); i > 0; --i) add_variable(choices_.one_in(2) ? 1 : choices_.between(1, 6), family());
    for (std::size_t i = choices.between(1, 6); i > 0; --i) add_factor();
    // Most models have priors; some of the attacks below go through only where everything is proper.
    for (const VariableId v : std::vector(variables_))
      if (!graph_[v].observed && !choices_.one_in(3) && graph_[v].family.empty())
        graph_.factor("gaussian_prior", {v}, {{"mean", number()}, {"variance", std::abs(number())}});
  }

  const Graph& graph() const { return graph_; }

  void observe(State& state) {
    for (const VariableId v : variables_) {
      if (!graph_[v].observed) continue;
      std::vector<double> values(graph_[v].size);
      for (double& value : values) {
        value = choices_.one_in(8) ? 0 : number();
        if (graph_[v].family == "log_normal") value = std::abs(value) + 1e-300;
      }
      state.observe(v, values);
    }
  }

 private:
  double number() { return wild_ ? choices_.number() : choices_.ordinary(); }
  std::string family() { return choices_.one_in(8) ? "log_normal" : ""; }

  VariableId add_variable(std::size_t size, const std::string& f) {
    const bool observed = choices_.one_in(3);
    variables_.push_back(observed ? graph_.observed("", size, f) : graph_.variable("", size, f));
    return variables_.back();
  }

  // A variable of this family for a plate of so many slots, as a rule through a map that fits.
  Connection connection(std::size_t slots, std::size_t terms, const std::string& f) {
    const std::size_t wanted = slots * terms;
    if (choices_.one_in(32)) return {choices_.any_of(variables_), static_cast<Reach>(choices_.below(4))};
    for (int attempt = 0; attempt < 3; ++attempt) {
      const VariableId v = choices_.any_of(variables_);
      const std::size_t size = graph_[v].size;
      if (!(graph_[v].family == f)) continue;
      if (choices_.one_in(4)) {
        std::vector<std::uint32_t> table(wanted);
        for (auto& entry : table) entry = static_cast<std::uint32_t>(choices_.below(size + (choices_.one_in(200) ? 1 : 0)));
        return gather(v, table);
      }
      if (size == wanted) return v;
      if (size == 1) return all_to_one(v);
      if (wanted % size == 0) return choices_.one_in(2) ? row(v) : column(v);
    }
    return add_variable(wanted, f);
  }

  void add_factor() {
    static const std::vector<const Kind*> kinds = [] {
      std::vector<const Kind*> list;
      for (const auto& [name, kind] : registry().kinds())
        if (registry().is_like_gaussian(kind)) list.push_back(&kind);
      return list;
    }();
    const Kind& kind = *choices_.any_of(kinds);
    const std::size_t slots = choices_.one_in(2) ? 1 : choices_.between(1, 6), terms = choices_.between(1, 3);
    const std::string free = family();
    std::vector<Connection> connections;
    for (const PortSpec& port : kind.ports())
      for (std::size_t ends = port.variadic ? choices_.between(1, 2) : 1; ends > 0; --ends)
        connections.emplace_back(port.name, connection(slots, port.variadic ? terms : 1, port.family.value_or(free) == kGaussian ? "" : port.family.value_or(free)));
    ParameterList parameters;
    for (const ParameterSpec& spec : kind.parameters()) {
      if (spec.fallback && choices_.one_in(2)) continue;
      double value = choices_.inside(spec.domain);
      if (!wild_ && !spec.domain.contains(value = std::abs(choices_.ordinary()))) value = choices_.inside(spec.domain);
      if (choices_.one_in(4)) {
        std::vector<double> values(slots, value);
        for (double& each : values) each = choices_.inside(spec.domain);
        parameters.push_back({spec.name, values});
      } else {
        parameters.push_back({spec.name, value});
      }
    }
    FactorOptions options;
    if (choices_.one_in(6)) options.method = method();
    graph_.factor(kind.name(), std::move(connections), std::move(parameters), options);
  }

 public:
  std::string method() {
    static const std::vector<std::string> methods = {"dma", "linearised", "ep", "vmp", "hybrid"};
    return choices_.any_of(methods);
  }
  Scheduler schedule() {
    const Iteration iteration{.tolerance = choices_.one_in(4) ? 0 : 1e-9,
                              .limit = static_cast<int>(choices_.between(1, 60)),
                              .damping = choices_.one_in(2) ? 0 : 0.99 * choices_.unit()};
    switch (choices_.below(6)) {
      case 0: return flooding(iteration);
      case 1: return sequential(iteration);
      case 2: return residual(iteration);
      case 3: return forward();
      default: return forward_backward();
    }
  }

 private:
  Choices& choices_;
  bool wild_;  // numbers of all sizes, not only those of models
  Graph graph_;
  std::vector<VariableId> variables_;
};

void check_beliefs(const Graph& graph, const State& state, const Report& report) {
  for (std::uint32_t v = 0; v < graph.variables().size(); ++v) {
    std::optional<Belief> found;
    try {
      found = state.belief({v});
    } catch (const Error&) {  // fused away
      continue;
    }
    for (std::size_t i = 0; i < found->size(); ++i)
      promise(is_valid((*found)[i]), "belief {} of variable {}[{}] after '{}' of\n{}", found->text(), graph[VariableId{v}].name, i,
              report.line(), describe(graph));
  }
  promise(!report.converged() || std::isfinite(report.change), "'{}' with a change of {}", report.line(), report.change);
}

}  // namespace

std::size_t fuzz_graph(Choices& choices) {
  RandomGraph drawn(choices);
  try {
    const Plan plan = compile(drawn.graph(), drawn.schedule(), registry(), {.method = drawn.method(), .fuse = !choices.one_in(3)});
    State state(plan);
    for (int runs = choices.one_in(4) ? 2 : 1; runs > 0; --runs) {
      drawn.observe(state);
      check_beliefs(drawn.graph(), state, run(plan, state));
    }
  } catch (const Error& e) {
    promise_one_line(e.what());
  }
  return 1;
}

}  // namespace dma::fuzz
