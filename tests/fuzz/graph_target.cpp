// Graphs of all kinds, families, methods, schedules, maps and solvers, with extreme numbers. If sweeps and the joint
// solver both report an exact answer, the answers agree.
#include <algorithm>
#include <cmath>
#include <map>

#include "engine/compile/compile.h"
#include "engine/exact/exact.h"
#include "engine/gates/gates.h"
#include "engine/joint/joint.h"
#include "engine/run/run.h"
#include "engine/run/state_data.h"
#include "engine/support/text.h"
#include "factors/standard_registry.h"
#include "models/graphs/growing.h"
#include "schedules/schedules.h"
#include "tests/fuzz/graphs.h"
#include "tests/fuzz/targets.h"

namespace dma::fuzz {

const Registry& registry() {
  static const Registry all = standard_registry();
  return all;
}

namespace {

class RandomGraph {
 public:
  explicit RandomGraph(Choices& choices)
      : choices_(choices),
        wild_(choices.one_in(3)),
        categories_(choices.one_in(12) ? choices.between(1, 40) : choices.between(2, 4)) {
    for (std::size_t i = choices.between(1, 5); i > 0; --i) {
      const std::size_t size = choices_.one_in(2) ? 1 : choices_.between(1, 6);
      add_variable(size, family());
    }
    for (std::size_t i = choices.between(1, 6); i > 0; --i) add_factor();
    // Most models have priors; some attacks below require proper messages.
    for (const VariableId v : std::vector(variables_))
      if (!graph_[v].observed && !choices_.one_in(4)) add_prior(v);
  }

  const Graph& graph() const { return graph_; }

  void observe(State& state) {
    for (const VariableId v : variables_) {
      if (!graph_[v].observed) continue;
      std::vector<double> values;
      for (std::size_t i = 0; i < graph_[v].size; ++i)
        for (const double value : observation(registry().family(graph_[v].family))) values.push_back(value);
      state.observe(v, values);
      if (choices_.one_in(12)) state.observe_missing(v, choices_.below(graph_[v].size));
    }
  }

 private:
  double number() { return wild_ ? choices_.number() : choices_.ordinary(); }
  // A family that a sum or a copy accepts.
  std::string family() { return choices_.one_in(8) ? "log_normal" : ""; }
  std::string with_dimension(const std::string& name) const {
    if (name == kGaussian || name.empty()) return "";
    return registry().families().at(name)->has_dimension ? fmt::format("{}({})", name, categories_) : name;
  }

  std::vector<double> observation(const Family& of) {
    if (of.name() == "categorical")
      return {static_cast<double>(choices_.below(of.components() + choices_.one_in(100)))};
    if (of.name() == "bernoulli") return {static_cast<double>(choices_.below(2))};
    if (of.name() == "dirichlet") return choices_.probabilities(of.components(), !choices_.one_in(20));
    if (of.name() == "beta") return {choices_.unit()};
    if (of->chart != nullptr) {
      std::vector<double> point(of.components());
      for (double& each : point) each = number();
      return point;
    }
    const double any = choices_.one_in(8) ? 0 : number();
    const double value = choices_.one_in(4) ? std::floor(std::abs(any)) : any;  // a count is a whole number
    return {of.name() == kGaussian ? value : std::abs(value) + 1e-300};
  }

  VariableId add_variable(std::size_t size, const std::string& f) {
    const bool observed = choices_.one_in(3);
    variables_.push_back(observed ? graph_.observed("", size, f) : graph_.variable("", size, f));
    return variables_.back();
  }

  void add_prior(VariableId v) {
    static const std::map<std::string, std::string, std::less<>> priors = {
        {"gaussian", "gaussian_prior"},   {"gamma", "gamma_prior"},             {"beta", "beta_prior"},
        {"bernoulli", "bernoulli_prior"}, {"categorical", "categorical_prior"}, {"dirichlet", "dirichlet_prior"}};
    const Family of = registry().family(graph_[v].family);
    if (of->chart != nullptr) {
      const VariableId r = graph_.variable("", graph_[v].size * of.components());
      graph_.factor(std::string(of.name()) + "_offset", {v, r});
      return add_prior(r);
    }
    const auto found = priors.find(of.name());
    if (found == priors.end()) return;
    const Kind& kind = registry().kind(found->second);
    ParameterList parameters = parameters_of(kind, 1, 1);
    graph_.factor(kind.name(), {v}, std::move(parameters));
  }

  // A variable of this family for a plate of so many slots, usually through a map that fits.
  Connection connection(std::size_t slots, std::size_t terms, const std::string& f) {
    const std::size_t wanted = slots * terms;
    if (choices_.one_in(32)) {
      const VariableId any = choices_.any_of(variables_);
      return {any, static_cast<Reach>(choices_.below(4))};
    }
    for (int attempt = 0; attempt < 3; ++attempt) {
      const VariableId v = choices_.any_of(variables_);
      const std::size_t size = graph_[v].size;
      if (!(graph_[v].family == f)) continue;
      if (choices_.one_in(4)) {
        std::vector<std::uint32_t> table(wanted);
        const std::size_t bound = size + (choices_.one_in(200) ? 1 : 0);
        for (auto& entry : table) entry = static_cast<std::uint32_t>(choices_.below(bound));
        return gather(v, table);
      }
      if (size == wanted) return v;
      if (size == 1) return all_to_one(v);
      if (wanted % size == 0) return choices_.one_in(2) ? row(v) : column(v);
    }
    return add_variable(wanted, f);
  }

  // `dimensioned`: number of variables with categories per slot; a table has a number per combination.
  ParameterList parameters_of(const Kind& kind, std::size_t slots, std::size_t dimensioned) {
    ParameterList parameters;
    for (const ParameterSpec& spec : kind.parameters()) {
      if (spec.fallback && choices_.one_in(2)) continue;
      if (spec.prepare && spec.name == "categories") {
        parameters.push_back({spec.name, static_cast<double>(categories_)});
        continue;
      }
      if (spec.prepare && spec.name == "cuts") {
        std::vector<double> cuts(categories_ - 1);
        for (double& cut : cuts) cut = number();
        std::ranges::sort(cuts);
        parameters.push_back({spec.name, cuts});
        continue;
      }
      if (spec.prepare) {
        std::size_t rows = 1;
        for (std::size_t d = 1; d < dimensioned; ++d) rows *= categories_;
        if (choices_.one_in(50)) ++rows;
        parameters.push_back({spec.name, choices_.table(rows, categories_, !spec.domain.contains(0))});
        continue;
      }
      double value = choices_.inside(spec.domain);
      if (!wild_ && !spec.domain.contains(value = std::abs(choices_.ordinary()))) value = choices_.inside(spec.domain);
      if (choices_.one_in(4)) {
        std::vector<double> values((choices_.one_in(2) ? slots : 1) * spec.count, value);
        for (double& each : values) each = choices_.inside(spec.domain);
        parameters.push_back({spec.name, values});
      } else {
        parameters.push_back({spec.name, value});
      }
    }
    return parameters;
  }

  void add_factor() {
    static const std::vector<const Kind*> kinds = [] {
      std::vector<const Kind*> list;
      for (const auto& [name, kind] : registry().kinds()) list.push_back(&kind);
      return list;
    }();
    const Kind& kind = *choices_.any_of(kinds);
    const auto has_dimension = [&](const PortSpec& port) {
      return port.family && registry().families().at(*port.family)->has_dimension;
    };
    const bool by_category = !kind.same_terms().empty() && std::ranges::any_of(kind.ports(), has_dimension);
    const std::size_t slots = choices_.one_in(2) ? 1 : choices_.between(1, 6);
    const std::size_t most_terms = kind.name() == "table" || kind.name() == "potential" ? (categories_ > 4 ? 1 : 2) : 3;
    const bool has_rows = kind.name() == "learned_table";  // one row per category
    const bool is_vector = kind.vector_size() && kind.vector_size()->inputs > 0 && !choices_.one_in(20);
    const std::size_t terms = by_category || has_rows ? categories_ : choices_.between(1, most_terms);
    // Number of terms: a function of points has residuals or remaining inputs.
    const auto terms_of = [&](const PortSpec& port) -> std::size_t {
      if (!port.variadic) return 1;
      if (!is_vector) return terms;
      if (port.output) return kind.vector_size()->outputs;
      return kind.vector_size()->inputs - registry().family(*kind.ports()[0].family).components();
    };
    const std::string free = family();
    std::vector<Connection> connections;
    std::size_t dimensioned = 0;
    for (const PortSpec& port : kind.ports()) {
      const std::size_t ends = port.variadic && !by_category && !has_rows && !is_vector ? choices_.between(1, 2) : 1;
      for (std::size_t e = 0; e < ends; ++e) {
        const std::string f = with_dimension(port.family.value_or(free));
        connections.emplace_back(port.name, connection(slots, terms_of(port), f));
        if (has_dimension(port)) dimensioned += port.variadic ? terms : 1;
      }
    }
    ParameterList parameters = parameters_of(kind, slots, std::min<std::size_t>(dimensioned, 5));
    FactorOptions options;
    if (choices_.one_in(6)) options.method = method();
    if (choices_.one_in(40) && !graph_.variables().empty()) {  // a gate on any variable
      const auto chooser = static_cast<std::uint32_t>(choices_.below(graph_.variables().size()));
      options.when = {{{chooser}, static_cast<std::uint32_t>(choices_.below(3))}};
    }
    graph_.factor(kind.name(), std::move(connections), std::move(parameters), options);
  }

 public:
  std::string method() {
    static const std::vector<std::string> methods = {"dma", "linearised", "ep", "vmp", "hybrid"};
    return choices_.any_of(methods);
  }
  Scheduler schedule() {
    const double tolerance = choices_.one_in(4) ? 0 : 1e-9;
    const int limit = static_cast<int>(choices_.between(1, 60));
    const double damping = choices_.one_in(2) ? 0 : 0.99 * choices_.unit();
    const Iteration iteration{.tolerance = tolerance, .limit = limit, .damping = damping};
    switch (choices_.below(6)) {
      case 0: return flooding(iteration);
      case 1: return sequential(iteration);
      case 2: return residual(iteration);
      case 3: return forward();
      default: return forward_backward();
    }
  }
  bool is_tame() const { return !wild_; }

 private:
  Choices& choices_;
  bool wild_;               // numbers of any size, not only those of models
  std::size_t categories_;  // number of categories of every categorical variable
  Graph graph_;
  std::vector<VariableId> variables_;
};

}  // namespace

void check_beliefs(const Graph& graph, const State& state, const Report& report) {
  for (std::uint32_t v = 0; v < graph.variables().size(); ++v) {
    std::optional<Belief> found;
    try {
      found = state.belief({v});
    } catch (const Error&) {  // fused away
      continue;
    }
    // Messages have a limit that leaves room for products of them; a belief, being a product, may exceed it.
    const auto is_number = [](const Natural& m) { return std::isfinite(m.tau) && std::isfinite(m.rho); };
    for (std::size_t i = 0; i < found->size(); ++i)
      promise(found->family()->are_valid(found->message(i)) || std::ranges::all_of(found->message(i), is_number),
              "belief {} of variable {}[{}] after '{}' of\n{}", found->text(), graph[VariableId{v}].name, i,
              report.line(), describe(graph));
  }
  promise(!report.converged() || std::isfinite(report.change), "'{}' with a change of {}", report.line(),
          report.change);
}

std::optional<double> exact_evidence(const Plan& plan, const State& state, const Graph& graph) {
  std::optional<Evidence> found;
  try {
    found = evidence(plan, state);
  } catch (const Error& e) {
    promise_one_line(e.what());
    return {};
  }
  if (!found->is_exact) return {};
  promise(found->log_value < kInfinity, "'{}' of\n{}", found->line(), describe(graph));
  return found->log_value;
}

namespace {

template <class Other>
void compare(const Graph& graph, const Other& sweeps, const State& whole) {
  constexpr double kTolerance = 1e-5;  // the joint solver's conditioning, for numbers from 1e-3 to 1e3
  for (std::uint32_t v = 0; v < graph.variables().size(); ++v) {
    std::optional<Belief> a, b;
    try {
      a = sweeps.belief({v});
      b = whole.belief({v});
    } catch (const Error&) {
      continue;
    }
    for (std::size_t i = 0; i < a->size(); ++i) {
      if (a->is_uninformed(i) || b->is_uninformed(i)) continue;
      const double scale = std::max({a->sd(i), 1e-6 * std::abs(a->mean(i)), 1e-9});
      const double error = std::max(std::abs(a->mean(i) - b->mean(i)), std::abs(a->sd(i) - b->sd(i)));
      promise(error <= kTolerance * scale, "by sweeps {}, as a whole {} of\n{}", a->text(), b->text(), describe(graph));
    }
  }
}

// Draws from the graph's own density; and one of its parameters as a hyper.
void fuzz_chains(Choices& choices, RandomGraph& drawn, Joint how) {
  const Graph& graph = drawn.graph();
  const auto factor = static_cast<std::uint32_t>(choices.below(graph.factors().size()));
  const auto& parameters = registry().kind(graph.factors()[factor].kind).parameters();
  const bool has_hyper = choices.one_in(2) && !parameters.empty();
  const HyperPrior prior = choices.one_in(2) ? HyperPrior::half_cauchy(1) : HyperPrior::gamma(2, 1);
  if (has_hyper) how.options.hypers = {hyper(FactorId{factor}, choices.any_of(parameters).name, prior)};
  const Plan plan = compile(graph, how, registry());
  State state(plan);
  drawn.observe(state);
  const Report report = run(plan, state);
  promise(report.joint.has_value(), "a report of joint without its part of\n{}", describe(graph));
  check_beliefs(graph, state, report);
  if (has_hyper || !report.converged()) return;
  const JointDraws chains = draw_posterior(state, {.chains = 2, .warm_up = 4, .draws = 8, .leaps = 3});
  promise(!std::isnan(chains.r_hat) && chains.effective >= 0, "'{}' of\n{}", chains.line(), describe(graph));
}

// The graph factor by factor, over a window; if nothing leaves the window, the result equals the whole graph's.
void fuzz_growing(Choices& choices, const Graph& graph, const State& whole) {
  const std::size_t all = 100, lag = choices.one_in(2) ? all : choices.between(1, 3);
  GrowingGraph growing(registry(), {.lag = lag, .joint = {.limit = 50}});
  Graph& g = growing.graph();
  Report last;
  for (const Graph::Factor& factor : graph.factors()) {
    std::vector<Connection> ends(factor.connections.begin(), factor.connections.end());
    for (Connection& c : ends) {
      for (VariableId v{g.next_variable()}; v.value <= c.variable.value; ++v.value) {
        const Graph::Variable of = graph[v];
        (void)(of.observed ? g.observed("", of.size, of.family) : g.variable("", of.size, of.family));
        const auto planned = whole.plan()->variable(v);
        if (planned.family != Family() && planned.family->chart == nullptr) return;
        std::vector<double> values;
        for (std::uint32_t i = 0; of.observed && i < planned.size; ++i) {
          if (!whole.data().message(planned.first_slot + i).is_point()) return;  // missing
          values.push_back(whole.data().message(planned.first_slot + i).tau);
        }
        if (of.observed) growing.observe(v, values);
      }
      c.variable = VariableId{c.variable.value};  // without the mark of the other graph
    }
    (void)g.factor_like(factor, std::move(ends));
    last = growing.update();
  }
  if (lag == all && last.stop == Report::Stop::exact && whole.ended() == last.stop) compare(graph, growing, whole);
}

}  // namespace

std::size_t fuzz_graph(Choices& choices) {
  RandomGraph drawn(choices);
  const Choices before = choices;
  const Graph& graph = drawn.graph();
  std::optional<Plan> plan;
  std::optional<State> state;
  std::optional<Report> report;
  std::optional<double> exact;
  const auto attempt = [&](auto&& part) {
    try {
      part();
    } catch (const Error& e) {
      promise_one_line(e.what());
    }
  };
  attempt([&] {
    const Scheduler schedule = drawn.schedule();
    const std::string method = drawn.method();
    plan = compile_with_gates(graph, schedule, registry(), {.method = method, .fuse = !choices.one_in(3)});
    state.emplace(*plan);
    for (int runs = choices.one_in(4) ? 2 : 1; runs > 0; --runs) {
      choices = before;  // the same values every time
      drawn.observe(*state);
      report = run(*plan, *state);
      check_beliefs(graph, *state, *report);
    }
    exact = exact_evidence(*plan, *state, graph);
  });
  // Another solver agrees if both are exact; Gaussian solvers only for tame numbers.
  const auto solve = [&](const Plan& solved, std::string_view name, bool if_wild) {
    State other(solved);
    choices = before;
    drawn.observe(other);
    const Report found = run(solved, other);
    check_beliefs(graph, other, found);
    if (name == "joint" && drawn.is_tame() && !graph.has_gates()) attempt([&] { fuzz_growing(choices, graph, other); });
    const std::optional<double> found_evidence = exact_evidence(solved, other, graph);
    if (name == "cliques" && !graph.has_gates()) (void)ExactPosterior(other).most_probable();
    if (!report || report->stop != Report::Stop::exact || found.stop != Report::Stop::exact) return;
    if (drawn.is_tame()) compare(graph, *state, other);
    if ((drawn.is_tame() || if_wild) && exact && found_evidence && *exact != *found_evidence)  // both may be -inf
      promise(std::abs(*exact - *found_evidence) <= 1e-6 * (1 + std::abs(*exact)),
              "evidence {} by sweeps, {} by {} of\n{}", *exact, *found_evidence, name, describe(graph));
  };
  const JointOptions quick{.limit = 50, .refreshes = 20};
  attempt([&] { solve(compile_with_gates(graph, joint(quick), registry(), {}), "joint", false); });
  if (choices.one_in(8)) attempt([&] { fuzz_chains(choices, drawn, joint(quick)); });
  attempt([&] { solve(compile_with_gates(graph, dma::exact({.memory = 1u << 24}), registry(), {}), "cliques", true); });
  attempt([&] { solve(compile(graph, tree_reweighted({.limit = 30}), registry()), "bounds", false); });
  return 1;
}

}  // namespace dma::fuzz
