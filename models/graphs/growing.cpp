#include "models/graphs/growing.h"

#include <Eigen/Core>
#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "engine/compile/match_ports.h"
#include "engine/compile/plan_data.h"
#include "engine/joint/solver.h"
#include "engine/support/error.h"
#include "models/graphs/vectors.h"

namespace dma {

namespace {

constexpr std::size_t kRefused = static_cast<std::size_t>(-1);

// Everything that a plan depends on, except names and parameter values.
std::string shape_of(const Graph& graph) {
  std::string shape;
  const auto add = [&](std::uint64_t number) { shape += std::to_string(number) + ' '; };
  for (std::uint32_t v = 0; v < graph.variables().size(); ++v) {
    const Graph::Nameless variable = graph.without_name(VariableId{v});
    add(variable.size);
    add(variable.observed);
    shape.append(variable.family) += '\n';
  }
  Graph::Factor factor;
  for (std::size_t f = 0; f < graph.factors().size(); ++f) {
    graph.read(f, factor);
    shape.append(factor.kind).append(" ").append(factor.method) += '\n';
    for (const Connection& c : factor.connections) {
      add(c.variable.value);
      add(static_cast<std::uint64_t>(c.reach));
      shape += c.port.get() + ' ';
      for (const std::uint32_t entry : c.table) add(entry);
      shape += ',';
    }
    for (const auto& [name, value] : factor.parameters) {
      shape += name + ' ';
      add(value.numbers.size());
    }
    shape += '\n';
  }
  return shape;
}

std::vector<std::vector<double>> parameters_of(const Graph& graph) {
  std::vector<std::vector<double>> out;
  Graph::Factor factor;
  for (std::size_t f = 0; f < graph.factors().size(); ++f) {
    graph.read(f, factor);
    for (const auto& [name, value] : factor.parameters) out.emplace_back(value.numbers.begin(), value.numbers.end());
  }
  return out;
}

}  // namespace

GrowingGraph::GrowingGraph(Registry registry, GrowingOptions options)
    : registry_(std::move(registry)), options_(std::move(options)) {
  if (options_.lag < 1) fail("growing graph: the lag is 0; at least 1 is expected");
  if (!options_.joint.hypers.empty()) fail("growing graph: hypers are not supported; set the parameter to a number");
}

void GrowingGraph::observe(VariableId variable, std::span<const double> values) {
  const Graph::Variable v = graph_[variable];
  if (!v.observed) fail("variable '{}' is not observed; declare it with observed(...)", v.name);
  known_.resize(graph_.variables().size(), {.step = steps_});
  Known& known = known_[variable.value];
  if (known.step < steps_ && !known.value.empty() && !std::ranges::equal(known.value, values))
    fail("growing graph: '{}' had its value at an earlier update; declare another observed variable for a new one",
         v.name);
  known.value.assign(values.begin(), values.end());
}

void GrowingGraph::start(VariableId variable, std::span<const double> values) {
  (void)graph_[variable];
  known_.resize(graph_.variables().size(), {.step = steps_});
  known_[variable.value].start.assign(values.begin(), values.end());
}

Belief GrowingGraph::belief(VariableId variable) const {
  const Graph::Variable v = graph_[variable];
  const Family family = registry_.family(v.family);
  const bool is_met = variable.value < known_.size() && !known_[variable.value].belief.empty();
  return {v.name, family, is_met ? known_[variable.value].belief : std::vector<Natural>(v.size * family.components())};
}

// Adds the boundary: every number is one of a variable with its prior; a point gives the step from its last value.
void GrowingGraph::add_boundary(Graph& to, std::span<const VariableId> local) const {
  if (boundary_.variables.empty()) return;
  const VariableId all = to.variable("", boundary_.means.size());
  std::vector<double> means = boundary_.means;
  std::uint32_t first = 0;
  for (const VariableId v : local) {
    const Graph::Nameless variable = to.without_name(v);
    const Family family = registry_.family(variable.family);
    const std::uint32_t size = variable.size * family.components();
    std::vector<std::uint32_t> own(size);
    std::iota(own.begin(), own.end(), first);
    const auto begin = means.begin() + first;
    if (family->chart != nullptr) {
      to.factor(std::string(family.name()) + "_offset", {{"x", v}, {"r", gather(all, own)}},
                {{"measured", std::vector<double>(begin, begin + size)}});
      std::fill_n(begin, size, 0.0);
    } else {
      to.factor("linear", {{"x", v}, {"y", gather(all, own)}}, {{"A", 1.0}});
    }
    first += size;
  }
  gaussian_vector_prior(to, all, means, SpreadMatrix::covariance(boundary_.covariance));
}

GrowingGraph::Solved GrowingGraph::solve(Part& part, std::span<const std::uint32_t> factors) {
  Graph graph;
  std::vector<std::uint32_t> variables;
  local_.resize(graph_.variables().size(), kNowhere);
  const auto local = [&](std::uint32_t v) {
    if (local_[v] == kNowhere) {
      const Graph::Variable variable = graph_[VariableId{v}];
      local_[v] = static_cast<std::uint32_t>(variables.size());
      variables.push_back(v);
      (void)(variable.observed ? graph.observed(variable.name, variable.size, variable.family)
                               : graph.variable(variable.name, variable.size, variable.family));
    }
    return VariableId{local_[v]};
  };
  Graph::Factor factor;
  for (const std::uint32_t f : factors) {
    graph_.read(f, factor);
    std::vector<Connection> ends(factor.connections.begin(), factor.connections.end());
    for (Connection& c : ends) c.variable = local(c.variable.value);
    (void)graph.factor_like(factor, std::move(ends));
  }
  std::vector<VariableId> kept;
  for (const std::uint32_t v : boundary_.variables) kept.push_back(local(v));
  for (const std::uint32_t v : variables) local_[v] = kNowhere;
  add_boundary(graph, kept);
  // A plan of the same shape is reused, with new parameters.
  std::string shape = shape_of(graph);
  std::vector<std::vector<double>> parameters = parameters_of(graph);
  const auto compile_anew = [&] {
    try {
      part = {shape, compile(graph, Joint{options_.joint}, registry_), parameters};
    } catch (const Error&) {
      std::fill(came_.begin() + static_cast<std::ptrdiff_t>(met_), came_.end(), kRefused);
      throw;
    }
    ++compiled_;
  };
  const auto changed = [&](const auto& visit) {
    std::size_t next = 0;
    for (std::uint32_t f = 0; f < graph.factors().size(); ++f) {
      graph.read(f, factor);
      for (const auto& [name, value] : factor.parameters) {
        if (parameters[next] != part.parameters[next]) visit(f, name, parameters[next]);
        ++next;
      }
    }
  };
  bool is_same = shape == part.shape;
  if (is_same)
    changed([&](std::uint32_t f, const std::string& name, const std::vector<double>&) {
      const auto& specs = registry_.kind(graph.factors()[f].kind).parameters();
      is_same &= !std::ranges::find(specs, name, &ParameterSpec::name)->prepare;
    });
  if (!is_same) compile_anew();
  for (bool is_again = false;; is_again = true) {
    State state(part.plan);
    changed([&](std::uint32_t f, const std::string& name, const std::vector<double>& numbers) {
      state.set_parameter(FactorId{f}, name, numbers);
    });
    const auto& is_computed = joint_system::solver_of(state).system().is_computed;
    std::vector<double> first;
    for (std::uint32_t v = 0; v < variables.size(); ++v) {
      const Known& known = known_[variables[v]];
      const auto& planned = state.plan()->variable(VariableId{v});
      first = known.belief.empty() ? known.start : std::vector<double>();
      for (const Natural& m : known.belief) first.push_back(Gaussian(m).mean());
      if (planned.observed && !known.value.empty())
        state.observe(VariableId{v}, known.value);
      else if (!planned.observed && !first.empty() && !is_computed[planned.first_element])
        set_start(state, VariableId{v}, first);
    }
    Report report = run(part.plan, state);
    // Errors must use current names, so a failed window is recompiled with them.
    if (report.converged() || !is_same || is_again) return {std::move(state), std::move(report), std::move(variables)};
    compile_anew();
  }
}

Report GrowingGraph::update() {
  known_.resize(graph_.variables().size(), {.step = steps_});
  came_.resize(graph_.factors().size(), steps_);
  std::vector<std::uint32_t> all = factors_;
  for (std::size_t f = met_; f < graph_.factors().size(); ++f) {
    const std::size_t came = std::exchange(came_[f], kRefused);
    if (came == kRefused) continue;
    if (!graph_.factors()[f].when.empty())
      fail("growing graph: factor '{}' has a gate; a growing graph takes factors without gates",
           graph_.factors()[f].name());
    for (const Connection& c : graph_.factors()[f].connections)
      if (known_[c.variable.value].has_left)
        fail("growing graph: factor '{}' connects '{}', which left the window; raise the lag of {}",
             graph_.factors()[f].name(), graph_[c.variable].name, options_.lag);
    came_[f] = came;
    all.push_back(static_cast<std::uint32_t>(f));
  }
  if (all.empty() && boundary_.variables.empty()) {  // an empty window
    ++steps_;
    Report nothing;
    nothing.stop = Report::Stop::exact;
    return nothing;
  }
  Solved found = solve(window_, all);
  factors_ = std::move(all);
  met_ = graph_.factors().size();
  ++steps_;
  for (std::uint32_t v = 0; v < found.variables.size(); ++v) {
    const Belief belief = found.state.belief(VariableId{v});
    std::vector<Natural>& kept = known_[found.variables[v]].belief;
    kept.clear();
    for (std::size_t i = 0; i < belief.size(); ++i)
      kept.insert(kept.end(), belief.message(i).begin(), belief.message(i).end());
  }
  if (found.report.converged()) let_go();
  return found.report;
}

// Deterministic functions of departing variables, such as residuals, leave with them, unless a later factor uses them.
std::vector<std::uint32_t> GrowingGraph::leaving() const {
  std::vector<std::uint32_t> out;
  const auto is_out = [&](std::uint32_t v) { return std::ranges::find(out, v) != out.end(); };
  const auto add = [&](std::uint32_t v, bool is_old) {
    if (is_old && !is_out(v) && !graph_.without_name(VariableId{v}).observed) out.push_back(v);
  };
  Graph::Factor factor;
  PortEnds ends;
  std::map<std::uint32_t, std::size_t> last;  // last use of a variable
  for (const std::uint32_t f : factors_) {
    graph_.read(f, factor);
    for (const Connection& c : factor.connections) {
      add(c.variable.value, known_[c.variable.value].step + options_.lag < steps_);
      last[c.variable.value] = std::max(last[c.variable.value], came_[f]);
    }
  }
  for (const std::uint32_t v : boundary_.variables) add(v, known_[v].step + options_.lag < steps_);
  for (std::size_t before = kNowhere; before != out.size();) {
    before = out.size();
    for (const std::uint32_t f : factors_) {
      graph_.read(f, factor);
      const Kind& kind = registry_.kind(factor.kind);
      if (!kind.linear_view() ||
          std::ranges::none_of(factor.connections, [&](const Connection& c) { return is_out(c.variable.value); }))
        continue;
      assign_ports(factor, kind, ends);
      for (std::size_t p = 0; p < ends.size(); ++p)
        for (const Connection* const c : ends[p])
          if (const Known& known = known_[c->variable.value]; kind.ports()[p].output)
            add(c->variable.value, known.step + 1 < steps_ && last[c->variable.value] == known.step);
    }
  }
  return out;
}

void GrowingGraph::let_go() {
  const std::vector<std::uint32_t> old = leaving();
  if (old.empty()) return;
  const auto is_old = [&](std::uint32_t v) { return std::ranges::find(old, v) != old.end(); };
  std::vector<std::uint32_t> going, staying;
  Graph::Factor factor;
  for (const std::uint32_t f : factors_) {
    graph_.read(f, factor);
    const bool goes =
        std::ranges::any_of(factor.connections, [&](const Connection& c) { return is_old(c.variable.value); });
    (goes ? going : staying).push_back(f);
  }
  const Solved found = solve(leaving_, going);
  if (!found.report.converged()) return;  // not determined by these factors
  Boundary next;
  std::vector<VariableId> kept;
  for (std::uint32_t v = 0; v < found.variables.size(); ++v) {
    const std::uint32_t whole = found.variables[v];
    if (is_old(whole)) known_[whole].has_left = true;
    if (is_old(whole) || graph_.without_name(VariableId{whole}).observed) continue;
    kept.push_back(VariableId{v});
    next.variables.push_back(whole);
  }
  const JointPosterior posterior(found.state);
  Eigen::Index size = 0;
  for (const VariableId v : kept) size += found.state.plan()->variable(v).size;
  Eigen::MatrixXd covariance(size, size);
  for (Eigen::Index i = 0, a = 0; a < static_cast<Eigen::Index>(kept.size()); ++a) {
    const Eigen::VectorXd mean = posterior.mean(kept[static_cast<std::size_t>(a)]);
    next.means.insert(next.means.end(), mean.begin(), mean.end());
    for (Eigen::Index j = 0, b = 0; b <= a; ++b) {
      const Eigen::MatrixXd block =
          posterior.covariance(kept[static_cast<std::size_t>(a)], kept[static_cast<std::size_t>(b)]);
      covariance.block(i, j, block.rows(), block.cols()) = block;
      covariance.block(j, i, block.cols(), block.rows()) = block.transpose();
      j += block.cols();
    }
    i += mean.size();
  }
  next.covariance.assign(covariance.data(), covariance.data() + covariance.size());
  boundary_ = std::move(next);
  factors_ = std::move(staying);
}

}  // namespace dma
