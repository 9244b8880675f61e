#include "engine/learn/joint/graph_rows.h"

#include <algorithm>
#include <cmath>

#include "engine/support/error.h"

namespace dma {

namespace {

// Parameters of one slot, the same for every row of data.
class SlotParameters {
 public:
  SlotParameters(const Resolved::Factor& factor, std::uint32_t slot) {
    for (const Resolved::Parameter& p : *factor.parameters)
      views_.push_back({p.values.data() + (p.per_slot ? std::size_t{slot} * p.terms : 0), 0, 0, p.terms});
  }
  const ParameterView* data() const { return views_.data(); }
  std::size_t size() const { return views_.size(); }

 private:
  std::vector<ParameterView> views_;
};

}  // namespace

GraphRows::GraphRows(const Graph& graph, const Registry& registry, const std::vector<VariableId>& targets)
    : graph_(resolve(graph, registry, {.unobserved = targets})) {
  refuse_given_tables(graph_, "joint learning");
  fuse(graph_, registry);
  scalar_of_.assign(graph_.elements, kNone);
  for (std::uint32_t v = 0; v < graph_.variables.size(); ++v) {
    const auto& variable = graph_.variables[v];
    const bool is_target = std::ranges::find(targets, VariableId{v}) != targets.end();
    if (variable.family != Family())
      fail("joint learning: variable '{}' is not Gaussian; message sweeps can learn such a graph", variable.name);
    if (graph[VariableId{v}].observed && !is_target) inputs_.push_back(VariableId{v});
    for (std::uint32_t e = variable.first_element; e < variable.first_element + variable.size; ++e) {
      if (variable.shared) scalar_of_[e] = static_cast<std::uint32_t>(shared_.size()), shared_.push_back(e);
      if (graph[VariableId{v}].observed && !is_target) observed_.push_back(e);
    }
  }
  order_functions();
  read_priors_and_noise(targets);
}

Index GraphRows::first_scalar(VariableId shared) const {
  return static_cast<Index>(scalar_of_.at(graph_.variables.at(shared.value).first_element));
}

void GraphRows::arguments(const Resolved::Factor& factor, std::uint32_t slot,
                          std::vector<std::uint32_t>& elements) const {
  elements.clear();
  std::uint32_t output = kNone;
  for (std::size_t p = 0; p < factor.ports.size(); ++p) {
    const auto& port = factor.ports[p];
    for (std::uint32_t t = 0; t < port.terms; ++t) {
      const std::uint32_t element = port.elements(slot * port.terms + t);
      if (factor.kind->ports()[p].output)
        output = element;
      else
        elements.push_back(element);
    }
  }
  elements.push_back(output);
}

void GraphRows::order_functions() {
  std::vector<bool> known(graph_.elements, false);
  for (const std::uint32_t e : shared_) known[e] = true;
  for (const std::uint32_t e : observed_) known[e] = true;
  std::vector<std::uint32_t> waiting, elements;
  for (std::uint32_t f = 0; f < graph_.factors.size(); ++f)
    if (graph_.factors[f].kind->linear_view()) waiting.push_back(f);
  while (!waiting.empty()) {
    const auto ready = [&](std::uint32_t f) {
      for (std::uint32_t s = 0; s < graph_.factors[f].slots; ++s) {
        arguments(graph_.factors[f], s, elements);
        if (!std::all_of(elements.begin(), elements.end() - 1, [&](std::uint32_t e) { return known[e]; })) return false;
      }
      return true;
    };
    const auto next = std::ranges::find_if(waiting, ready);
    if (next == waiting.end())
      fail("joint learning: factor '{}' reads a variable that no function of shared and observed ones computes",
           graph_.factors[waiting.front()].name());
    for (std::uint32_t s = 0; s < graph_.factors[*next].slots; ++s) {
      arguments(graph_.factors[*next], s, elements);
      if (known[elements.back()])
        fail("joint learning: what factor '{}' computes is already given or computed otherwise",
             graph_.factors[*next].name());
      known[elements.back()] = true;
    }
    functions_.push_back(*next);
    waiting.erase(next);
  }
}

void GraphRows::read_priors_and_noise(const std::vector<VariableId>& targets) {
  std::vector<std::uint32_t> target_of(graph_.elements, kNone);
  std::uint32_t count = 0;
  for (const VariableId v : targets)
    for (std::uint32_t e = 0; e < graph_.variables.at(v.value).size; ++e)
      target_of[graph_.variables[v.value].first_element + e] = count++;
  outputs_.assign(count, kNone);
  noise_.assign(count, 0);
  prior_ = {Vector::Zero(scalars()), Vector::Zero(scalars())};
  for (const auto& factor : graph_.factors)
    if (!factor.kind->linear_view()) read_row(factor, target_of);
  for (const VariableId v : targets)
    for (std::uint32_t e = 0; e < graph_.variables[v.value].size; ++e)
      if (outputs_[target_of[graph_.variables[v.value].first_element + e]] == kNone)
        fail("joint learning: target '{}' has no Gaussian noise on a computed value", graph_.variables[v.value].name);
  for (const auto& variable : graph_.variables)
    for (std::uint32_t e = 0; variable.shared && e < variable.size; ++e)
      if (!(prior_.precision(static_cast<Index>(scalar_of_[variable.first_element + e])) > 0))
        fail("joint learning: shared variable '{}' has no Gaussian prior", variable.name);
}

// A Gaussian density of one shared scalar is its prior, one of a computed value and a target the noise.
void GraphRows::read_row(const Resolved::Factor& factor, const std::vector<std::uint32_t>& target_of) {
  if (!factor.kind->gaussian_row())
    fail(
        "joint learning: factor '{}' of kind '{}' is neither a function nor Gaussian; message sweeps can learn such a "
        "graph",
        factor.name(), factor.kind->name());
  for (std::uint32_t s = 0; s < factor.slots; ++s) {
    std::vector<std::uint32_t> elements;
    for (const auto& port : factor.ports)
      for (std::uint32_t t = 0; t < port.terms; ++t) elements.push_back(port.elements(s * port.terms + t));
    const SlotParameters parameters(factor, s);
    std::vector<double> coefficients(elements.size());
    double offset = 0, variance = 0;
    factor.kind->gaussian_row()({.slots = 1,
                                 .arguments = elements.size(),
                                 .parameters = parameters.data(),
                                 .coefficients = coefficients.data(),
                                 .offset = &offset,
                                 .variance = &variance});
    if (elements.size() == 1 && scalar_of_[elements[0]] != kNone) {
      if (variance == kInfinity) continue;
      const auto i = static_cast<Index>(scalar_of_[elements[0]]);
      const double precision = coefficients[0] * coefficients[0] / variance, mean = offset / coefficients[0];
      const double before = prior_.precision(i);
      prior_.precision(i) += precision;
      prior_.mean(i) = (before * prior_.mean(i) + precision * mean) / prior_.precision(i);
    } else if (elements.size() == 2 && (target_of[elements[0]] != kNone) != (target_of[elements[1]] != kNone) &&
               offset == 0 && coefficients[0] == -coefficients[1]) {
      const std::size_t target = target_of[elements[0]] != kNone ? 0 : 1;
      outputs_[target_of[elements[target]]] = elements[1 - target];
      noise_[target_of[elements[target]]] = variance / (coefficients[0] * coefficients[0]);
    } else {
      fail(
          "joint learning: factor '{}' is neither the prior of one shared variable nor noise between a computed value "
          "and a target",
          factor.name());
    }
  }
}

void GraphRows::run_forward(const Vector& m, const Matrix& rows, Matrix& values) const {
  values.resize(rows.rows(), graph_.elements);
  for (std::size_t i = 0; i < shared_.size(); ++i) values.col(shared_[i]).setConstant(m(static_cast<Index>(i)));
  for (std::size_t i = 0; i < observed_.size(); ++i) values.col(observed_[i]) = rows.col(static_cast<Index>(i));
  std::vector<std::uint32_t> elements;
  Matrix inputs;
  for (const std::uint32_t f : functions_) {
    const auto& factor = graph_.factors[f];
    for (std::uint32_t s = 0; s < factor.slots; ++s) {
      arguments(factor, s, elements);
      const std::size_t count = elements.size() - 1;
      inputs.resize(rows.rows(), static_cast<Index>(count));
      for (std::size_t a = 0; a < count; ++a) inputs.col(static_cast<Index>(a)) = values.col(elements[a]);
      const SlotParameters parameters(factor, s);
      factor.kind->linear_view()({.slots = static_cast<std::size_t>(rows.rows()),
                                  .inputs = count,
                                  .values = inputs.data(),
                                  .parameters = parameters.data(),
                                  .parameter_count = parameters.size(),
                                  .value = values.col(elements.back()).data()});
    }
  }
}

void GraphRows::evaluate(const Vector& m, const Matrix& rows, Matrix& f) const {
  Matrix values;
  run_forward(m, rows, values);
  f.resize(rows.rows(), outputs());
  for (Index k = 0; k < outputs(); ++k) f.col(k) = values.col(outputs_[static_cast<std::size_t>(k)]);
}

void GraphRows::linearise(const Vector& m, const Matrix& rows, Matrix& f, Matrix& gains) const {
  Matrix values;
  run_forward(m, rows, values);
  const Index n = rows.rows();
  f.resize(n, outputs());
  std::vector<Matrix> adjoints(outputs_.size(), Matrix::Zero(n, graph_.elements));
  for (std::size_t k = 0; k < outputs_.size(); ++k) {
    f.col(static_cast<Index>(k)) = values.col(outputs_[k]);
    adjoints[k].col(outputs_[k]).setOnes();
  }
  std::vector<std::uint32_t> elements;
  Matrix inputs, slot_gains;
  Vector value(n);
  for (auto at = functions_.rbegin(); at != functions_.rend(); ++at) {
    const auto& factor = graph_.factors[*at];
    for (std::uint32_t s = 0; s < factor.slots; ++s) {
      arguments(factor, s, elements);
      const std::size_t count = elements.size() - 1;
      inputs.resize(n, static_cast<Index>(count));
      slot_gains.resize(n, static_cast<Index>(count));
      for (std::size_t a = 0; a < count; ++a) inputs.col(static_cast<Index>(a)) = values.col(elements[a]);
      const SlotParameters parameters(factor, s);
      factor.kind->linear_view()({.slots = static_cast<std::size_t>(n),
                                  .inputs = count,
                                  .values = inputs.data(),
                                  .parameters = parameters.data(),
                                  .parameter_count = parameters.size(),
                                  .value = value.data(),
                                  .gains = slot_gains.data()});
      for (Matrix& adjoint : adjoints)
        for (std::size_t a = 0; a < count; ++a)
          adjoint.col(elements[a]) += slot_gains.col(static_cast<Index>(a)).cwiseProduct(adjoint.col(elements.back()));
    }
  }
  gains.resize(n * outputs(), scalars());
  for (std::size_t k = 0; k < adjoints.size(); ++k)
    for (std::size_t i = 0; i < shared_.size(); ++i)
      gains.col(static_cast<Index>(i)).segment(static_cast<Index>(k) * n, n) = adjoints[k].col(shared_[i]);
}

}  // namespace dma
