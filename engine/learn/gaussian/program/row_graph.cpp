#include "engine/learn/gaussian/program/row_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "engine/kinds/methods_of_kinds.h"
#include "engine/learn/gaussian/program/output_likelihood.h"
#include "engine/support/text.h"

namespace dma {

namespace {

constexpr std::uint32_t kNobody = 0xffffffffu;

}  // namespace

std::vector<ParameterView> parameters_of(const Resolved::Parameters& parameters, std::size_t slot) {
  std::vector<ParameterView> views;
  for (const Resolved::Parameter& p : parameters)
    views.push_back({p.values.data() + (p.per_slot ? slot * p.terms : 0), 0, 0, p.terms});
  return views;
}

GaussianRow gaussian_row(const Resolved::Factor& factor, std::uint32_t slot, std::size_t arguments) {
  const auto parameters = parameters_of(*factor.parameters, slot);
  GaussianRow row{std::vector<double>(arguments)};
  factor.kind->gaussian_row()({.slots = 1,
                               .arguments = arguments,
                               .parameters = parameters.data(),
                               .coefficients = row.coefficients.data(),
                               .offset = &row.offset,
                               .variance = &row.variance});
  return row;
}

bool adds_noise(const Resolved::Factor& factor) {
  const auto& ports = factor.kind->ports();
  if (!factor.kind->gaussian_row() || ports.size() != 2 || ports[0].output || !ports[1].output) return false;
  if (factor.ports[0].terms != 1 || factor.ports[1].terms != 1) return false;
  const GaussianRow row = gaussian_row(factor, 0, 2);
  return row.coefficients[0] == -row.coefficients[1] && row.offset == 0;
}

bool is_likelihood(const Resolved::Factor& factor) {
  const Kind& kind = *factor.kind;
  if (!kind.log_density() || kind.linear_view() || kind.gaussian_row() || kind.ports().size() != 2) return false;
  if (kind.ports()[0].output || !kind.ports()[1].output || !kind.ports()[0].is_gaussian) return false;
  const std::uint32_t terms = factor.ports[0].terms;
  if (factor.ports[1].terms != terms) return false;
  return terms == 1 ? kind.ports()[1].is_gaussian : !kind.ports()[1].is_gaussian && !kind.ports()[1].variadic;
}

RowGraph::RowGraph(const Graph& graph, const Registry& registry, const std::vector<VariableId>& targets) {
  graph_ = resolve(graph, registry, {.kind_methods = methods_of_kinds(graph, registry, CompileOptions{}.method)});
  fuse(graph_, registry);
  variable_of_.resize(graph_.elements);
  for (std::uint32_t v = 0; v < graph_.variables.size(); ++v) {
    is_observed_.push_back(graph[VariableId{v}].observed ? 1 : 0);
    std::fill_n(variable_of_.begin() + graph_.variables[v].first_element, graph_.variables[v].size, v);
  }
  writer_.assign(graph_.elements, kNobody);
  reads_.assign(graph_.elements, 0);
  is_needed_.assign(graph_.factors.size(), 0);
  is_reached_.assign(graph_.variables.size(), 0);
  find_writers();
  find_outputs(targets);
  find_needed();
  put_in_order();
  refuse_other_densities();
}

const Resolved::Port& RowGraph::output_of(const Factor& factor) {
  std::size_t p = 0;
  while (p + 1 < factor.ports.size() && !factor.kind->ports()[p].output) ++p;
  return factor.ports[p];
}

std::string RowGraph::names_of(const Resolved::Port& port) const {
  std::vector<std::string> names;
  for (const VariableId v : port.variables) names.push_back(graph_.variables[v.value].name);
  return joined(names);
}

// Calls use(element) for everything that the slots of a factor read.
template <class Use>
void RowGraph::for_inputs(const Factor& factor, const Use& use) const {
  for (std::size_t p = 0; p < factor.ports.size(); ++p)
    for (std::uint32_t q = 0; !factor.kind->ports()[p].output && q < factor.slots * factor.ports[p].terms; ++q)
      use(factor.ports[p].elements(q));
}

void RowGraph::find_writers() {
  for (std::uint32_t f = 0; f < graph_.factors.size(); ++f) {
    const Factor& factor = graph_.factors[f];
    const bool is_noise = adds_noise(factor);
    if (!factor.kind->linear_view() && !is_noise) continue;
    for (std::uint32_t s = 0; s < factor.slots; ++s) {
      const std::uint32_t e = output_of(factor).elements(s);
      if (is_noise && (is_observed(e) || is_shared(e))) continue;
      if (is_observed(e) || is_shared(e))
        fail(
            "Gaussian learning: factor '{}' computes '{}', which is {}; let it compute a variable of its own and put "
            "gaussian_noise between the two",
            factor.name(), name_of(e), is_shared(e) ? "shared" : "observed");
      if (writer_[e] != kNobody)
        fail("Gaussian learning: factors '{}' and '{}' both compute '{}'; one of them must go",
             graph_.factors[writer_[e]].name(), factor.name(), name_of(e));
      writer_[e] = f;
    }
  }
}

void RowGraph::find_outputs(const std::vector<VariableId>& targets) {
  const auto each = [&](const auto& use) {
    for (const VariableId target : targets) {
      const auto& variable = graph_.variables.at(target.value);
      for (std::uint32_t e = variable.first_element; e < variable.first_element + variable.size; ++e) use(e);
    }
  };
  each([&](std::uint32_t e) {
    if (is_observed(e)) likelihood_of_[e] = {nullptr, 0};
  });
  for (const Factor& factor : graph_.factors) {
    if (!adds_noise(factor) && !is_likelihood(factor)) continue;
    for (std::uint32_t q = 0; q < factor.slots * factor.ports[1].terms; ++q) {
      const auto found = likelihood_of_.find(factor.ports[1].elements(q));
      if (found == likelihood_of_.end()) continue;
      if (found->second.first != nullptr)
        fail("Gaussian learning: target '{}' has more than one likelihood; one of them must go", name_of(found->first));
      found->second = {&factor, q};
    }
  }
  each([&](std::uint32_t e) {
    if (is_observed(e)) {
      const auto [factor, place] = likelihood_of_.at(e);
      if (factor == nullptr)
        fail(
            "Gaussian learning: target '{}' has no likelihood; put gaussian_noise, another density of one input such "
            "as poisson or logistic, or for a class softmax, between it and computed variables, or learn the graph by "
            "message sweeps (Learner)",
            name_of(e));
      if (place % factor->ports[0].terms == 0) add_outputs_of(e, *factor, place / factor->ports[0].terms);
      return;
    }
    outputs_.push_back(e);
    output_noise_.push_back(0);
    likelihoods_.emplace_back();
  });
}

void RowGraph::add_outputs_of(std::uint32_t target, const Factor& factor, std::uint32_t slot) {
  double noise = 1;
  std::shared_ptr<const OutputLikelihood> likelihood;
  const std::uint32_t reads = factor.ports[0].terms;
  if (adds_noise(factor)) {
    const GaussianRow row = gaussian_row(factor, slot, 2);
    noise = row.variance / (row.coefficients[1] * row.coefficients[1]);
    if (!(noise > 0))
      fail("Gaussian learning: the noise of target '{}' has variance 0; a positive one is expected", name_of(target));
  } else {
    std::vector<double> numbers;
    for (const ParameterView& view : parameters_of(*factor.parameters, slot))
      numbers.insert(numbers.end(), view.at(0, 0), view.at(0, 0) + view.terms);
    likelihood =
        std::make_shared<const OutputLikelihood>(*factor.kind, std::move(numbers), name_of(target), Index{reads});
  }
  for (std::uint32_t t = 0; t < reads; ++t) {
    outputs_.push_back(factor.ports[0].elements(slot * reads + t));
    output_noise_.push_back(noise);
    likelihoods_.push_back(likelihood);
  }
}

void RowGraph::find_needed() {
  std::vector<std::uint32_t> waiting;
  const auto need = [&](std::uint32_t e) {
    ++reads_[e];
    waiting.push_back(e);
  };
  for (const std::uint32_t e : outputs_) need(e);
  while (!waiting.empty()) {
    const std::uint32_t e = waiting.back();
    waiting.pop_back();
    if (variable(e).family != Family())
      fail(
          "Gaussian learning: variable '{}' is {}; all must be Gaussian, or learn the graph by message "
          "sweeps (Learner)",
          name_of(e), variable(e).family.text());
    is_reached_[variable_of_[e]] = 1;
    if (is_shared(e) || is_observed(e)) continue;
    if (writer_[e] == kNobody)
      fail(
          "Gaussian learning: variable '{}' is computed by no function of shared and observed ones; add the factor "
          "that computes it, or learn the graph by message sweeps (Learner)",
          name_of(e));
    if (std::exchange(is_needed_[writer_[e]], 1) == 0) for_inputs(graph_.factors[writer_[e]], need);
  }
}

void RowGraph::put_in_order() {
  std::vector<std::vector<std::uint32_t>> readers(graph_.elements);
  std::vector<std::uint32_t> missing(graph_.factors.size(), 0);
  std::deque<std::uint32_t> ready;
  std::size_t needed = 0;
  for (std::uint32_t f = 0; f < graph_.factors.size(); ++f) {
    if (is_needed_[f] == 0) continue;
    ++needed;
    for_inputs(graph_.factors[f], [&](std::uint32_t e) {
      if (!is_shared(e) && !is_observed(e)) readers[e].push_back(f), ++missing[f];
    });
    if (missing[f] == 0) ready.push_back(f);
  }
  for (; !ready.empty(); ready.pop_front()) {
    const Factor& factor = graph_.factors[order_.emplace_back(ready.front())];
    for (std::uint32_t s = 0; s < factor.slots; ++s)
      for (const std::uint32_t reader : readers[output_of(factor).elements(s)])
        if (--missing[reader] == 0) ready.push_back(reader);
  }
  for (std::uint32_t f = 0; f < graph_.factors.size() && order_.size() < needed; ++f)
    if (is_needed_[f] != 0 && missing[f] > 0)
      fail(
          "Gaussian learning: factor '{}' reads what depends on its own result; write the steps of a chain as factors "
          "of their own",
          graph_.factors[f].name());
}

SharedPrior RowGraph::prior() const {
  std::vector<Index> scalar_of(graph_.elements, -1);
  Index scalars = 0;
  for (std::uint32_t e = 0; e < graph_.elements; ++e)
    if (is_shared(e) && is_reached(variable_of_[e])) scalar_of[e] = scalars++;
  SharedPrior prior{Vector::Zero(scalars), Vector::Zero(scalars)};
  for (const Factor& factor : graph_.factors) {
    if (!factor.kind->gaussian_row() || factor.ports.size() != 1 || factor.ports[0].terms != 1) continue;
    for (std::uint32_t s = 0; s < factor.slots; ++s) {
      const Index i = scalar_of[factor.ports[0].elements(s)];
      const GaussianRow row = gaussian_row(factor, s, 1);
      if (i < 0 || row.variance == kInfinity) continue;
      if (row.variance == 0)
        fail(
            "Gaussian learning: the prior of shared variable '{}' has variance 0; make it an observed variable instead",
            name_of(factor.ports[0].elements(s)));
      const double precision = row.coefficients[0] * row.coefficients[0] / row.variance, before = prior.precision(i);
      prior.precision(i) += precision;
      prior.mean(i) = (before * prior.mean(i) + precision * row.offset / row.coefficients[0]) / (before + precision);
    }
  }
  add_precision_groups(scalar_of, prior);
  for (std::uint32_t e = 0; e < graph_.elements; ++e)
    if (scalar_of[e] >= 0 && !(prior.precision(scalar_of[e]) > 0))
      fail("Gaussian learning: shared variable '{}' has no Gaussian prior; give it one by gaussian_prior", name_of(e));
  return prior;
}

// The value at which a prior of variance 0 holds an element.
double RowGraph::known_value(std::uint32_t element, const Factor& reader) const {
  for (const Factor& factor : graph_.factors) {
    if (!factor.kind->gaussian_row() || factor.ports.size() != 1 || factor.ports[0].terms != 1) continue;
    for (std::uint32_t s = 0; s < factor.slots; ++s)
      if (factor.ports[0].elements(s) == element)
        if (const GaussianRow row = gaussian_row(factor, s, 1); row.variance == 0)
          return row.offset / row.coefficients[0];
  }
  fail(
      "Gaussian learning: factor '{}' is a prior about '{}', which is unknown; give '{}' a gaussian_prior of variance "
      "0, and add an unknown mean as a shared variable of its own",
      reader.name(), name_of(element), name_of(element));
}

// Priors N(known mean, 1 / w) with w an element of a shared precision variable: the scalars of each w are a group.
void RowGraph::add_precision_groups(const std::vector<Index>& scalar_of, SharedPrior& prior) const {
  std::map<std::uint32_t, Index> group_of;  // by element of a precision variable
  std::map<std::uint32_t, std::size_t> users;
  for (const Factor& factor : graph_.factors) {
    const auto given = factor.kind->precision_port();
    if (!given) continue;
    for (std::uint32_t s = 0; s < factor.slots; ++s) {
      const std::uint32_t value = output_of(factor).elements(s), w = factor.ports[*given].elements(s);
      const Index i = scalar_of[value];
      if (i < 0) continue;
      if (!is_shared(w))
        fail("Gaussian learning: '{}' is the precision of shared variable '{}' and is not shared; make it shared",
             name_of(w), name_of(value));
      if (prior.precision(i) > 0)
        fail("Gaussian learning: shared variable '{}' has two priors; one of them must go", name_of(value));
      const std::uint32_t variable = variable_of_[w], first = graph_.variables[variable].first_element,
                          size = graph_.variables[variable].size;
      for (std::uint32_t e = first; e < first + size; ++e)
        if (group_of.emplace(e, static_cast<Index>(group_of.size())).second)
          prior.groups.resize(group_of.size()),
              prior.groups.back() = {.name = size > 1 ? fmt::format("{}[{}]", name_of(e), e - first) : name_of(e),
                                     .family = size > 1 ? static_cast<Index>(variable) : -1};
      if (prior.group.empty()) prior.group.assign(static_cast<std::size_t>(prior.mean.size()), -1);
      prior.group[static_cast<std::size_t>(i)] = group_of.at(w), ++users[w];
      std::size_t about = 0;
      while (about == *given || factor.kind->ports()[about].output) ++about;
      prior.mean(i) = known_value(factor.ports[about].elements(s), factor);
      prior.precision(i) = 1;
    }
  }
  for (const auto& [element, group] : group_of)
    if (!users.contains(element))
      fail("Gaussian learning: precision '{}' belongs to no shared scalar; leave it out",
           prior.groups[static_cast<std::size_t>(group)].name);
  for (const Factor& factor : graph_.factors) {
    const auto given = factor.kind->precision_port();
    const bool is_prior = factor.ports.size() == 1 && factor.ports[0].terms == 1 && factor.kind->log_density();
    for (std::size_t p = 0; p < factor.ports.size(); ++p)
      for (std::uint32_t q = 0; q < factor.slots * factor.ports[p].terms; ++q) {
        const auto found = group_of.find(factor.ports[p].elements(q));
        if (found == group_of.end() || (given == p && scalar_of[output_of(factor).elements(q)] >= 0)) continue;
        ScaleGroup& group = prior.groups[static_cast<std::size_t>(found->second)];
        if (!is_prior)
          fail(
              "Gaussian learning: '{}' is the precision of priors, and factor '{}' of kind '{}' says something else of "
              "it; leave that out, or learn the graph by message sweeps (Learner)",
              group.name, factor.name(), factor.kind->name());
        std::vector<double> numbers;
        for (const ParameterView& view : parameters_of(*factor.parameters, q))
          numbers.insert(numbers.end(), view.at(0, 0), view.at(0, 0) + view.terms);
        group.log_density = [before = std::move(group.log_density), own = factor.kind->log_density(),
                             numbers](double w) {
          const double values[] = {w};
          return own(values, numbers) + (before ? before(w) : 0);
        };
      }
  }
}

// Whatever else says something of what is computed would be left out of the answer. The likelihood of a target that is
// computed itself is its owner's business.
void RowGraph::refuse_other_densities() const {
  std::vector<std::uint8_t> is_computed(graph_.elements, 0);
  for (const std::uint32_t f : order_)
    for (std::uint32_t s = 0; s < graph_.factors[f].slots; ++s)
      is_computed[output_of(graph_.factors[f]).elements(s)] = 1;
  for (std::size_t k = 0; k < outputs_.size(); ++k)
    if (output_noise_[k] == 0) is_computed[outputs_[k]] = 0;
  for (std::uint32_t f = 0; f < graph_.factors.size(); ++f) {
    const Factor& factor = graph_.factors[f];
    if (factor.kind->linear_view() || is_needed_[f] != 0) continue;
    const bool is_of_target = adds_noise(factor) || is_likelihood(factor),
               is_prior = (factor.kind->gaussian_row() && factor.ports.size() == 1) || factor.kind->precision_port();
    for (const Resolved::Port& port : factor.ports)
      for (std::uint32_t q = 0; q < factor.slots * port.terms; ++q) {
        const std::uint32_t e = port.elements(q);
        if (is_of_target && likelihood_of_.contains(factor.ports[1].elements(q))) continue;
        if (is_computed[e] != 0 || (is_shared(e) && is_reached(variable_of_[e]) && !is_prior))
          fail(
              "Gaussian learning: factor '{}' of kind '{}' says something of '{}' and is neither a prior of a shared "
              "variable nor the likelihood of a target; message sweeps (Learner) can learn such a graph",
              factor.name(), factor.kind->name(), name_of(e));
      }
  }
}

}  // namespace dma
