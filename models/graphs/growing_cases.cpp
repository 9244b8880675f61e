// Windows with discrete variables: the cases of these, their weights, and the tables among them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/exact/discrete.h"
#include "engine/exact/exact.h"
#include "engine/gates/mixture.h"
#include "engine/support/log_sum_exp.h"
#include "engine/support/text.h"
#include "models/graphs/growing_window.h"

namespace dma {

namespace growing_graph {

Table::Table(const Graph& graph, std::uint32_t factor, const Registry& registry, const Lookup& known) {
  const Graph::Factor own = graph[FactorId{factor}];
  Graph alone;
  std::vector<std::uint32_t> variables;  // by variable of that graph
  std::vector<Connection> ends(own.connections.begin(), own.connections.end());
  for (Connection& c : ends) {
    const Graph::Variable v = graph[c.variable];
    const auto at = static_cast<std::uint32_t>(std::ranges::find(variables, c.variable.value) - variables.begin());
    if (at == variables.size()) {
      variables.push_back(c.variable.value);
      (void)(v.observed ? alone.observed(v.name.text(), v.size, v.family)
                        : alone.variable(v.name.text(), v.size, v.family));
    }
    c.variable = VariableId{at};
  }
  (void)alone.factor_like(own, std::move(ends));
  // exact() takes graphs with a discrete variable.
  if (!own.when.empty()) (void)alone.variable("", 1, graph[own.when[0].variable].family);
  const Plan plan = compile(alone, exact(), registry, {.is_part = true});
  State state(plan);
  for (std::uint32_t v = 0; v < variables.size(); ++v)
    if (plan->variable({v}).observed) state.observe({v}, known(variables[v]).value);
  const clique_tree::DiscreteGraph discrete(*plan);
  clique_tree::FactorWeights weights(discrete, state);
  for (const clique_tree::Scope& scope : discrete.scopes) {
    Slot& slot = slots_.emplace_back();
    for (const std::uint32_t n : discrete.nodes_of(scope)) {
      const auto [element, outcomes] = discrete.nodes[n];
      const auto at = static_cast<std::uint32_t>(plan->variables.index_at(element));
      const PlanData::Variable v = plan->variable({at});
      slot.ends.push_back({variables[at], (element - v.first_element) / v.family.components(), outcomes});
    }
    const auto [numbers, are_logs] = weights.of(scope);
    for (const double number : numbers) slot.logs.push_back(are_logs ? number : std::log(number));
  }
}

double Table::log_value(const Lookup& known) const {
  double sum = 0;
  for (const Slot& slot : slots_) {
    std::size_t at = 0;
    for (const End& end : slot.ends)
      at = at * end.outcomes + static_cast<std::size_t>(known(end.variable).value[end.element]);
    sum += slot.logs[at];
  }
  return sum;
}

}  // namespace growing_graph

namespace {

struct WeightedGaussian {
  double log_weight = 0;
  Eigen::VectorXd mean;
  Eigen::MatrixXd covariance;
};

// Merges the cases first, first + stride, ... into a Gaussian of some variables. True if they were not all one.
bool merge_into(growing_graph::Boundary& boundary, std::span<const WeightedGaussian> cases, std::size_t first,
                std::size_t stride) {
  const WeightedGaussian merged = merge(cases, first, stride);
  boundary.means.assign(merged.mean.begin(), merged.mean.end());
  boundary.covariance.assign(merged.covariance.reshaped().begin(), merged.covariance.reshaped().end());
  boundary.log_weight = merged.log_weight;
  const WeightedGaussian* possible = nullptr;
  bool are_many = false;
  for (std::size_t i = first; i < cases.size(); i += stride) {
    if (cases[i].log_weight == -HUGE_VAL) continue;
    if (possible == nullptr) possible = &cases[i];
    are_many |= cases[i].mean != possible->mean || cases[i].covariance != possible->covariance;
  }
  return are_many;
}

}  // namespace

// A gate and a discrete end are of one element.
void GrowingGraph::Window::check_gates(const Graph::Factor& factor) const {
  for (const GateCase& one : factor.when) {
    const Graph::Variable v = graph[one.variable];
    const Family family = registry_.family(v.family);
    if (v.size != 1 || one.value >= family.outcomes())
      fail(
          "growing graph: factor '{}' counts where '{}' is {}, but it is {} of {} element{}; a value of one discrete "
          "element is expected",
          factor.name(), graph.name(one.variable), one.value, family.text(), v.size, v.size == 1 ? "" : "s");
  }
  for (const Connection& c : factor.connections)
    if (lookup_(c.variable.value).outcomes > 0 && graph[c.variable].size != 1)
      fail("growing graph: factor '{}' connects '{}', a discrete variable of {} elements; declare one for each",
           factor.name(), graph.name(c.variable), graph[c.variable].size);
}

void GrowingGraph::Window::begin_cases() {
  double cases = 1;
  for (const std::uint32_t v : choosers_) cases *= known(v).outcomes;
  if (cases > kMostCases)
    fail("growing graph: {} discrete variables, '{}' the last, have more than {} cases together; lower discrete_lag",
         choosers_.size(), graph.name({choosers_.back()}), kMostCases);
  for (const std::uint32_t v : window_.variables)
    if (const Graph::Variable of = graph[VariableId{v}]; !of.observed)
      if (const Family family = registry_.family(of.family); family.outcomes() == 0 && !family->from_moments)
        fail("growing graph: '{}' is {}, which has no mixtures; take none beside discrete variables", graph.name({v}),
             family.text());
  for (std::size_t f = settled_; f < factors_.size(); ++f) {
    graph.read(factors_[f], factor_);
    bool is_open = false, is_discrete = !factor_.when.empty();
    for (const Connection& c : factor_.connections) {
      const std::uint32_t outcomes = known(c.variable.value).outcomes;
      is_discrete |= outcomes > 0;
      is_open |= outcomes == 0 && !graph[c.variable].observed;
    }
    if (is_discrete && !is_open)
      tables_[f] = std::make_unique<growing_graph::Table>(graph, factors_[f], registry_, lookup_);
  }
}

// Solves some factors in every case of their discrete variables. After each, `read` is told its number, its log weight,
// and if there is a Gaussian, which is then in case_. Cases that are impossible are left out. The report is that of a
// case that does not converge, or else of the worst.
template <class Read>
Report GrowingGraph::Window::solve_cases(const Ids& choosers, const Read& read) {
  Report worst;
  worst.stop = Report::Stop::exact;
  for (std::size_t i = 0; i < cases_of(choosers); ++i) {
    for (std::size_t k = choosers.size(), rest = i; k-- > 0;) {
      Known& own = known(choosers[k]);
      own.value.assign(1, static_cast<double>(rest % own.outcomes));
      rest /= own.outcomes;
    }
    std::size_t at = 0;
    for (const std::uint32_t v : linked_) at = at * known(v).outcomes + static_cast<std::size_t>(known(v).value[0]);
    double log_weight = boundaries_[at].log_weight;
    case_which_.clear();
    case_factors_.clear();
    for (const std::uint32_t f : which_) {
      graph.read(factors_[f], factor_);
      if (!std::ranges::all_of(factor_.when,
                               [&](const GateCase& one) { return known(one.variable.value).value[0] == one.value; }))
        continue;
      if (tables_[f] != nullptr) {
        log_weight += tables_[f]->log_value(lookup_);
      } else {
        case_which_.push_back(f);
        case_factors_.push_back(factors_[f]);
      }
    }
    if (log_weight == -HUGE_VAL) continue;
    case_.read(graph, case_factors_, boundaries_[at], quiet_options_, {}, &choosers);
    if (case_.variables.empty()) {
      read(i, log_weight, false);
      continue;
    }
    try {
      const Report report = solve(case_, boundaries_[at]);
      if (!report.converged()) return report;
      if (report.stop != Report::Stop::exact) worst = report;
    } catch (const Contradiction&) {
      continue;
    }
    read(i, log_weight + parts_[0]->log_evidence(), true);
  }
  return worst;
}

Report GrowingGraph::Window::solve_window_cases() {
  found_.assign(cases_of(choosers_), {-HUGE_VAL, {}});
  const Report report = solve_cases(choosers_, [&](std::size_t i, double log_weight, bool has_gaussian) {
    found_[i] = {log_weight, std::vector<std::vector<Natural>>(members_.size())};
    if (!has_gaussian) return;
    const auto place = [&](std::uint32_t v) { return window_.place_of(case_.variables[v]); };
    for (std::uint32_t v = 0; v < case_.variables.size(); ++v) parts_[0]->read(v, found_[i].beliefs[place(v)]);
    for (std::size_t f = 0; f < case_which_.size(); ++f)
      for (const std::uint32_t v : parts_[0]->outputs_of(f)) outputs_.emplace_back(case_which_[f], place(v));
  });
  if (report.converged()) mix_beliefs();
  return report;
}

void GrowingGraph::Window::mix_beliefs() {
  std::vector<double> weights;
  for (const Found& one : found_) weights.push_back(one.log_weight);
  if (log_sum_exp(weights) == -HUGE_VAL) {
    drop_new();
    throw Contradiction("growing graph: the observations have probability zero in every case; change an observation");
  }
  to_fractions(weights);
  for (std::size_t i = 0; i < weights.size(); ++i) found_[i].log_weight = std::log(weights[i]);
  std::size_t inner = found_.size();
  for (std::size_t v = 0; v < members_.size(); ++v) {
    if (window_.is_observed[v]) continue;
    const Family family = registry_.family(graph[VariableId{window_.variables[v]}].family);
    std::vector<Natural>& belief = members_[v]->belief;
    if (members_[v]->outcomes > 0) {  // choosers are in the order of their ids
      inner /= members_[v]->outcomes;
      std::vector<double> sums(members_[v]->outcomes);
      for (std::size_t i = 0; i < weights.size(); ++i) sums[i / inner % sums.size()] += weights[i];
      for (double& sum : sums) sum = std::log(sum);
      belief.resize(family.components());
      family->from_logs(sums, belief.data());
      continue;
    }
    std::vector<double> own;
    std::vector<const std::vector<Natural>*> beliefs;
    for (std::size_t i = 0; i < weights.size(); ++i)
      if (weights[i] > 0 && !found_[i].beliefs[v].empty())
        own.push_back(weights[i]), beliefs.push_back(&found_[i].beliefs[v]);
    if (own.empty()) continue;
    belief.resize(beliefs[0]->size());
    std::vector<Components> parts(own.size());
    for (std::size_t e = 0; e < belief.size(); e += family.components()) {
      for (std::size_t i = 0; i < own.size(); ++i) parts[i] = Components(*beliefs[i]).subspan(e, family.components());
      (void)mix(family, own, parts, &belief[e]);
    }
  }
}

// Says what the answer is worth, and which case is the likeliest.
void GrowingGraph::Window::qualify(Report& report) const {
  const bool is_linear = report.stop == Report::Stop::exact;
  report.joint.reset();
  if (!choosers_.empty()) {
    const auto best =
        static_cast<std::size_t>(std::ranges::max_element(found_, {}, &Found::log_weight) - found_.begin());
    std::vector<std::string> values;
    for (std::size_t k = choosers_.size(), rest = best; k-- > 0; rest /= lookup_(choosers_[k]).outcomes)
      values.insert(values.begin(),
                    fmt::format("{} = {}", graph.name({choosers_[k]}), rest % lookup_(choosers_[k]).outcomes));
    report.found = fmt::format("{} cases, the likeliest {} with {:.4g}", found_.size(), joined(values),
                               std::exp(found_[best].log_weight));
  }
  if (is_linear && !is_merged_) return;
  report.stop = Report::Stop::approximate;
  report.why = is_merged_ ? "approximate: discrete variables that left were matched by moments"
                          : "approximate: the evidence that weights the cases is approximate";
}

// Sums the leaving ones of the discrete variables out, and leaves Gaussians over `kept_ids_`.
bool GrowingGraph::Window::merge_cases() {
  bool is_read = true;
  std::vector<WeightedGaussian> cases(cases_of(ending_), {-HUGE_VAL, {}, {}});
  next_boundary_.variables = kept_ids_;
  next_boundary_.means.clear();
  const Report report = solve_cases(ending_, [&](std::size_t i, double log_weight, bool has_gaussian) {
    kept_.clear();
    for (const std::uint32_t v : kept_ids_) kept_.push_back({has_gaussian ? case_.place_of(v) : kNowhere});
    is_read = is_read && std::ranges::find(kept_, kNowhere, &VariableId::value) == kept_.end();
    if (has_gaussian) is_read = is_read && parts_[0]->read(kept_, next_boundary_);
    if (!is_read) return;
    const auto& [variables, means, covariance, unused] = next_boundary_;
    const auto size = static_cast<Eigen::Index>(means.size());
    cases[i] = {log_weight, Eigen::Map<const Eigen::VectorXd>(means.data(), size),
                Eigen::Map<const Eigen::MatrixXd>(covariance.data(), size, size)};
  });
  if (!is_read || !report.converged()) return false;
  double largest = -HUGE_VAL;
  const auto size = static_cast<Eigen::Index>(next_boundary_.means.size());
  for (WeightedGaussian& one : cases) {
    largest = std::max(largest, one.log_weight);
    if (one.log_weight == -HUGE_VAL)
      one.mean = Eigen::VectorXd::Zero(size), one.covariance = Eigen::MatrixXd::Identity(size, size);
  }
  if (largest == -HUGE_VAL) return false;
  linked_ = ending_;
  std::erase_if(linked_, [&](std::uint32_t v) { return is_leaving_[window_.place_of(v)] != 0; });
  boundaries_.assign(cases_of(linked_), next_boundary_);
  for (std::size_t i = 0; i < boundaries_.size(); ++i) {
    is_merged_ |= merge_into(boundaries_[i], cases, i, boundaries_.size());
    boundaries_[i].log_weight -= largest;
  }
  return true;
}

const GrowingCases kGrowingCases = {&GrowingCases::Window::check_gates, &GrowingCases::Window::begin_cases,
                                    &GrowingCases::Window::solve_window_cases, &GrowingCases::Window::merge_cases,
                                    &GrowingCases::Window::qualify};

}  // namespace dma
