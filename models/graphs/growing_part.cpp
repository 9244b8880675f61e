#include "models/graphs/growing_part.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>

#include "engine/compile/match_ports.h"
#include "models/graphs/expressions.h"

namespace dma::growing_graph {

namespace {

template <class Number>
void put(std::string& shape, Number number) {
  static_assert(std::is_trivially_copyable_v<Number>);
  shape.append(reinterpret_cast<const char*>(&number), sizeof number);
}
void put_text(std::string& shape, std::string_view text) {
  put(shape, text.size());
  shape.append(text);
}

// True if the matrix, row by row, is positive definite beyond rounding: covariance = L diag(d) L^T. The inverse of L is
// written to `inverse` below its diagonal, d on it.
bool decorrelate(std::span<const double> covariance, std::size_t size, std::vector<double>& inverse) {
  constexpr double kLost = 1e-14;  // a pivot below this part of its variance is rounding
  inverse.assign(covariance.begin(), covariance.end());
  bool is_definite = true;
  // L below the diagonal, d on it.
  for (std::size_t i = 0; i < size; ++i) {
    double* const row = inverse.data() + i * size;
    for (std::size_t j = 0; j < i; ++j)
      for (std::size_t k = 0; k < j; ++k) row[j] -= row[k] * inverse[j * size + k];  // L times d so far
    for (std::size_t j = 0; j < i; ++j) {
      const double scaled = row[j];
      row[j] /= inverse[j * size + j];
      row[i] -= row[j] * scaled;
    }
    is_definite &= row[i] > kLost * covariance[i * size + i] && std::isfinite(row[i]);
  }
  // The inverse of L in its place, row by row.
  for (std::size_t i = 1; i < size; ++i)
    for (std::size_t j = 0; j < i; ++j) {
      double& sum = inverse[i * size + j];
      for (std::size_t k = j + 1; k < i; ++k) sum += inverse[i * size + k] * inverse[k * size + j];
      sum = -sum;
    }
  return is_definite;
}

}  // namespace

std::uint32_t Selection::place_of(std::uint32_t variable) const {
  const auto found = std::ranges::lower_bound(variables, variable);
  return found != variables.end() && *found == variable ? static_cast<std::uint32_t>(found - variables.begin())
                                                        : kNowhere;
}

void Selection::read(const Graph& graph, std::span<const std::uint32_t> of, const Boundary& boundary,
                     const JointOptions& how, std::span<const std::uint32_t> linked,
                     const std::vector<std::uint32_t>* given) {
  options = &how;
  factors.assign(of.begin(), of.end());
  variables = boundary.variables;
  variables.insert(variables.end(), linked.begin(), linked.end());
  has_gates = false;
  for (const std::uint32_t f : factors) {
    graph.read(f, factor_);
    for (const Connection& c : factor_.connections) variables.push_back(c.variable.value);
    has_gates |= given == nullptr && !factor_.when.empty();
    for (const GateCase& one : factor_.when)
      if (given == nullptr) variables.push_back(one.variable.value);
  }
  std::ranges::sort(variables);
  variables.erase(std::unique(variables.begin(), variables.end()), variables.end());
  shape.clear();
  put(shape, options);
  is_observed.clear();
  for (const std::uint32_t v : variables) {
    const Graph::Variable variable = graph[VariableId{v}];
    is_observed.push_back(variable.observed || (given != nullptr && std::ranges::find(*given, v) != given->end()));
    put(shape, variable.size);
    put(shape, is_observed.back());
    put_text(shape, variable.family);
  }
  parameters.clear();
  ends_.clear();
  first_end_.assign(1, 0);
  for (const std::uint32_t f : factors) {
    graph.read(f, factor_);
    put_text(shape, factor_.kind);
    put_text(shape, factor_.method);
    put(shape, factor_.damping);
    put(shape, factor_.connections.size());
    for (const Connection& c : factor_.connections) {
      ends_.push_back(place_of(c.variable.value));
      put(shape, ends_.back());
      put(shape, c.reach);
      put_text(shape, c.port.get());
      put(shape, c.table.size());
      for (const std::uint32_t entry : c.table) put(shape, entry);
    }
    for (const GateCase& one : factor_.when)
      if (given == nullptr) ends_.push_back(place_of(one.variable.value));
    first_end_.push_back(static_cast<std::uint32_t>(ends_.size()));
    for (const auto& [name, value] : factor_.parameters) {
      put_text(shape, name);
      put(shape, value.numbers.size());
      parameters.insert(parameters.end(), value.numbers.begin(), value.numbers.end());
    }
  }
  for (const std::uint32_t v : boundary.variables) put(shape, place_of(v));
}

Part::Part(const Graph& graph, const Selection& selection, const Boundary& boundary, const Registry& registry)
    : shape_(selection.shape),
      parameters_(selection.parameters),
      state_(compile_part(graph, selection, boundary, registry)),
      moments_(static_cast<const joint_system::Memory&>(*state_.solver_memory())) {
  constexpr int kCheckParts = 100;
  static_cast<joint_system::Memory&>(*state_.solver_memory()).check_parts = kCheckParts;
  set_boundary(boundary);
}

Plan Part::compile_part(const Graph& graph, const Selection& selection, const Boundary& boundary,
                        const Registry& registry) {
  Graph own;
  for (std::size_t v = 0; v < selection.variables.size(); ++v) {
    const Graph::Variable variable = graph[VariableId{selection.variables[v]}];
    (void)(selection.is_observed[v] ? own.observed(variable.name.text(), variable.size, variable.family)
                                    : own.variable(variable.name.text(), variable.size, variable.family));
  }
  PortEnds ports;
  bool is_any_fixed = false;
  for (std::size_t f = 0; f < selection.factors.size(); ++f) {
    const Graph::Factor factor = graph[FactorId{selection.factors[f]}];
    std::vector<Connection> ends(factor.connections.begin(), factor.connections.end());
    for (std::size_t i = 0; i < ends.size(); ++i) ends[i].variable = VariableId{selection.ends_of(f)[i]};
    (void)own.factor_like(factor, std::move(ends));
    if (registry.contains(factor.kind)) {  // otherwise, compile() reports it
      const Kind& kind = registry.kind(factor.kind);
      for (const auto& [name, value] : factor.parameters) {
        const auto spec = std::ranges::find(kind.parameters(), name, &ParameterSpec::name);
        const bool is_fixed = spec != kind.parameters().end() && spec->prepare;
        is_fixed_.insert(is_fixed_.end(), value.numbers.size(), is_fixed);
        is_any_fixed |= is_fixed;
      }
      if (kind.linear_view()) assign_ports(factor, kind, ports);
      for (std::size_t p = 0; kind.linear_view() && p < ports.size(); ++p)
        for (const Connection* const c : ports[p])
          if (kind.ports()[p].output) outputs_.push_back(selection.place_of(c->variable.value));
    }
    first_output_.push_back(static_cast<std::uint32_t>(outputs_.size()));
  }
  if (!is_any_fixed) is_fixed_.clear();
  if (!boundary.variables.empty()) add_boundary(own, selection, boundary, registry);
  return compile(own, Joint{*selection.options}, registry);
}

// Every number is one of a variable with its prior; a point gives the step from its last value.
void Part::add_boundary(Graph& to, const Selection& selection, const Boundary& boundary, const Registry& registry) {
  const VariableId all = to.variable("", boundary.means.size());
  std::uint32_t first = 0;
  for (const std::uint32_t of_graph : boundary.variables) {
    const VariableId v{selection.place_of(of_graph)};
    const Graph::Variable variable = to[v];
    const Family family = registry.family(variable.family);
    const std::uint32_t size = variable.size * family.components();
    std::vector<std::uint32_t> own(size);
    std::iota(own.begin(), own.end(), first);
    const auto begin = boundary.means.begin() + first;
    if (family->chart != nullptr)
      offsets_.push_back({to.factor(std::string(family.name()) + "_offset", {{"x", v}, {"r", gather(all, own)}},
                                    {{"measured", std::vector<double>(begin, begin + size)}}),
                          first, size});
    else
      to.factor("linear", {{"x", v}, {"y", gather(all, own)}}, {{"A", 1.0}});
    first += size;
  }
  rows_ = gaussian_vector_prior(to, all, boundary.means, SpreadMatrix::covariance(boundary.covariance)).rows;
}

bool Part::fits(const Selection& selection) const {
  if (selection.shape != shape_) return false;
  for (std::size_t i = 0; i < is_fixed_.size(); ++i)
    if (is_fixed_[i] && selection.parameters[i] != parameters_[i]) return false;
  return true;
}

void Part::set(const Graph& graph, const Selection& selection, const Boundary& boundary) {
  set_boundary(boundary);
  if (parameters_ == selection.parameters) return;
  Graph::Factor factor;
  const double* next = parameters_.data();
  for (std::uint32_t f = 0; f < selection.factors.size(); ++f) {
    graph.read(selection.factors[f], factor);
    for (const auto& [name, value] : factor.parameters) {
      if (!std::equal(value.numbers.begin(), value.numbers.end(), next))
        state_.set_parameter(FactorId{f}, name, {value.numbers.begin(), value.numbers.size()});
      next += value.numbers.size();
    }
  }
  parameters_ = selection.parameters;
}

// Number k is b + A (those before it) + noise: the k-th row of the inverse of L decorrelates it from those.
void Part::set_boundary(const Boundary& boundary) {
  const std::size_t size = boundary.means.size();
  if (size == 0) return;
  means_ = boundary.means;
  for (const Offset& offset : offsets_) {
    const auto begin = means_.begin() + offset.first;
    state_.set_parameter(offset.factor, "measured", {begin, begin + offset.size});
    std::fill_n(begin, offset.size, 0.0);
  }
  (void)decorrelate(boundary.covariance, size, weights_);
  for (std::size_t k = 0; k < size; ++k) {
    double* const row = weights_.data() + k * size;
    double b = means_[k];
    for (std::size_t j = 0; j < k; ++j) b += row[j] * means_[j], row[j] = -row[j];
    if (k > 0) state_.set_parameter(rows_[k], "A", {row, k});
    state_.set_parameter(rows_[k], k == 0 ? "mean" : "b", b);
    state_.set_parameter(rows_[k], "variance", row[k]);
  }
}

bool Part::read(std::span<const VariableId> variables, Boundary& boundary) {
  moments_.read(state_, variables, boundary.means, boundary.covariance);
  return decorrelate(boundary.covariance, boundary.means.size(), weights_);
}

double Part::log_evidence() const {
  return joint_system::log_evidence_of(state_, static_cast<const joint_system::Memory&>(*state_.solver_memory()));
}

Report Part::run(std::span<Known* const> known) {
  std::ranges::fill(static_cast<joint_system::Memory&>(*state_.solver_memory()).start,
                    std::numeric_limits<double>::quiet_NaN());
  const std::vector<std::uint8_t>& is_computed = joint_system::solver_of(state_).system().is_computed;
  for (std::uint32_t v = 0; v < known.size(); ++v) {
    const PlanData::Variable variable = state_.plan()->variable({v});
    if (variable.observed) {
      if (!known[v]->value.empty()) state_.observe({v}, known[v]->value);
      continue;
    }
    start_.clear();
    if (known[v]->belief.empty()) start_ = known[v]->start;
    for (const Natural& m : known[v]->belief) start_.push_back(Gaussian(m).mean());
    if (!start_.empty() && !is_computed[variable.first_element]) set_start(state_, {v}, start_);
  }
  return run_by_solver(state_);
}

}  // namespace dma::growing_graph
