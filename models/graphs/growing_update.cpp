// Solves a window of a growing graph, and integrates out what leaves it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/gates/mixture.h"
#include "engine/support/error.h"
#include "engine/support/log_sum_exp.h"
#include "engine/support/text.h"
#include "models/graphs/growing_window.h"

namespace dma {

using growing_graph::Table;

Report GrowingGraph::Window::update() {
  meet();
  check_new();
  Report report;
  report.stop = Report::Stop::exact;
  if (factors_.empty() && boundaries_[0].variables.empty() && linked_.empty()) {  // an empty window
    ++steps_;
  } else {
    begin_window();
    report = solve_window();
    settled_ = factors_.size();
    ++steps_;
    for (Known* const v : members_) v->last = steps_;
    const bool is_solved = report.converged(), is_linear = report.stop == Report::Stop::exact;
    if (is_solved) qualify(report);
    if (is_solved) let_go(is_linear);
  }
  forget();
  return report;
}

// Reads the window, its discrete variables, and its factors that are tables.
void GrowingGraph::Window::begin_window() {
  window_.read(graph, factors_, boundaries_[0], options_.joint, linked_);
  members_.clear();
  choosers_.clear();
  double cases = 1;
  for (const std::uint32_t v : window_.variables) {
    const Known& own = *members_.emplace_back(&known(v));
    if (own.outcomes > 0) choosers_.push_back(v), cases *= own.outcomes;
    if (graph.without_name({v}).observed && own.value.empty())
      fail("observed variable '{}' has no value; give it one with observe(...)", graph.name({v}));
  }
  tables_.resize(factors_.size());
  which_.resize(factors_.size());
  std::iota(which_.begin(), which_.end(), 0u);
  if (!has_cases(choosers_)) return;
  try {
    if (cases > kMostCases)
      fail("growing graph: {} discrete variables, '{}' the last, have more than {} cases together; lower discrete_lag",
           choosers_.size(), graph.name({choosers_.back()}), kMostCases);
    for (const std::uint32_t v : window_.variables)
      if (const Graph::Nameless of = graph.without_name({v}); !of.observed)
        if (const Family family = registry_.family(of.family); family.outcomes() == 0 && !family->from_moments)
          fail("growing graph: '{}' is {}, which has no mixtures; take none beside discrete variables", graph.name({v}),
               family.text());
    make_tables();
  } catch (const Error&) {
    drop_new();
    throw;
  }
}

void GrowingGraph::Window::make_tables() {
  for (std::size_t f = settled_; f < factors_.size(); ++f) {
    graph.read(factors_[f], factor_);
    bool is_open = false, is_discrete = !factor_.when.empty();
    for (const Connection& c : factor_.connections) {
      const std::uint32_t outcomes = known(c.variable.value).outcomes;
      is_discrete |= outcomes > 0;
      is_open |= outcomes == 0 && !graph.without_name(c.variable).observed;
    }
    if (is_discrete && !is_open) tables_[f] = std::make_unique<Table>(graph, factors_[f], registry_, lookup_);
  }
}

// Solves a selection by a part of its shape, which is then the first one.
Report GrowingGraph::Window::solve(Selection& selection, const Boundary& boundary) {
  const std::size_t most_parts = std::max<std::size_t>(32, 4 * cases_of(choosers_));
  solved_.clear();
  for (const std::uint32_t v : selection.variables) solved_.push_back(&known(v));
  const auto found = std::ranges::find_if(parts_, [&](const auto& part) { return part->fits(selection); });
  if (found != parts_.end()) {
    std::rotate(parts_.begin(), found, found + 1);
    try {
      parts_[0]->set(graph, selection, boundary);
      if (Report report = parts_[0]->run(solved_); report.converged()) return report;
    } catch (const Error&) {  // and the part may have taken some of the numbers
    }
    parts_.erase(parts_.begin());  // compiled anew, it reports the names of these variables
  }
  if (parts_.size() >= most_parts) parts_.pop_back();
  try {
    parts_.insert(parts_.begin(), std::make_unique<Part>(graph, selection, boundary, registry_));
  } catch (const Error&) {
    drop_new();
    throw;
  }
  ++compiled;
  return parts_[0]->run(solved_);
}

// Solves some factors in every case of their discrete variables; in a window without, there is one. After each,
// `read` is told its number, its log weight and its selection, which is null if the case has no Gaussian. Cases that
// are impossible are left out. The report is that of a case that does not converge, or else of the worst.
template <class Read>
Report GrowingGraph::Window::solve_cases(Selection& whole, const Ids& which, const Ids& choosers, const Read& read) {
  if (!has_cases(choosers)) {
    case_which_ = which;
    const Report report = solve(whole, boundaries_[0]);
    if (&whole == &window_ || report.converged()) read(0, 0.0, &whole);
    return report;
  }
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
    for (const std::uint32_t f : which) {
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
      read(i, log_weight, nullptr);
      continue;
    }
    try {
      const Report report = solve(case_, boundaries_[at]);
      if (!report.converged()) return report;
      if (report.stop != Report::Stop::exact) worst = report;
    } catch (const Contradiction&) {
      continue;
    }
    read(i, log_weight + parts_[0]->log_evidence(), &case_);
  }
  return worst;
}

Report GrowingGraph::Window::solve_window() {
  outputs_.clear();
  found_.assign(has_cases(choosers_) ? cases_of(choosers_) : 0, {-HUGE_VAL, {}});
  const Report report = solve_cases(window_, which_, choosers_, [&](std::size_t i, double log_weight, Selection* own) {
    if (!found_.empty()) found_[i] = {log_weight, std::vector<std::vector<Natural>>(members_.size())};
    if (own == nullptr) return;
    for (std::uint32_t v = 0; v < own->variables.size(); ++v) {
      const std::uint32_t at = own == &window_ ? v : window_.place_of(own->variables[v]);
      parts_[0]->read(v, found_.empty() ? members_[at]->belief : found_[i].beliefs[at]);
    }
    for (std::size_t f = 0; f < own->factors.size(); ++f)
      for (const std::uint32_t v : parts_[0]->outputs_of(f))
        outputs_.emplace_back(case_which_[f], own == &window_ ? v : window_.place_of(own->variables[v]));
  });
  if (!found_.empty() && report.converged()) mix_beliefs();
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
    const Family family = registry_.family(graph.without_name({window_.variables[v]}).family);
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
  if (found_.empty() && !is_merged_) return;
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

// Deterministic functions of departing variables, such as residuals, leave with them, unless a later factor uses them.
bool GrowingGraph::Window::mark_leaving() {
  is_leaving_.clear();
  for (std::size_t v = 0; v < members_.size(); ++v) {
    const std::size_t lag = members_[v]->outcomes > 0 ? options_.discrete_lag.value_or(options_.lag) : options_.lag;
    is_leaving_.push_back(!window_.is_observed[v] && members_[v]->step + lag < steps_);
  }
  last_use_.assign(members_.size(), 0);
  for (std::size_t f = 0; f < factors_.size(); ++f)
    for (const std::uint32_t v : window_.ends_of(f)) last_use_[v] = std::max(last_use_[v], came_[f]);
  const auto leaves = [&](std::uint32_t v) { return is_leaving_[v] != 0; };
  for (bool is_more = true; is_more;) {
    is_more = false;
    for (const auto& [f, v] : outputs_)
      if (!leaves(v) && !window_.is_observed[v] && members_[v]->step + 1 < steps_ &&
          last_use_[v] == members_[v]->step && std::ranges::any_of(window_.ends_of(f), leaves))
        is_leaving_[v] = is_more = true;
  }
  return std::ranges::any_of(is_leaving_, [](std::uint8_t leaves_it) { return leaves_it != 0; });
}

// False if the leaving variables stay: their factors do not determine them, or leave functions of each other.
bool GrowingGraph::Window::integrate_out(bool is_linear) {
  const auto leaves = [&](std::uint32_t v) { return is_leaving_[v] != 0; };
  const auto is_inside = [&](std::uint32_t v) { return window_.is_observed[v] || is_joined_[v]; };
  is_joined_.assign(members_.size(), 0);
  for (const Ids* const ids : {&boundaries_[0].variables, &linked_})
    for (const std::uint32_t v : *ids) is_joined_[window_.place_of(v)] = 1;
  for (std::size_t f = 0; f < factors_.size(); ++f) {
    goes_[f] = std::ranges::any_of(window_.ends_of(f), leaves);
    for (const std::uint32_t v : window_.ends_of(f)) is_joined_[v] |= goes_[f];
  }
  // Gaussians are merged where most is known: with all factors if that loses no linearisation, or with those inside.
  bool has_many = false;
  for (std::size_t v = 0; v < members_.size(); ++v) has_many |= is_joined_[v] && members_[v]->outcomes > 0;
  if (has_many && is_linear) std::ranges::fill(is_joined_, 1);
  for (std::size_t f = 0; f < factors_.size() && has_many; ++f)
    if (std::ranges::all_of(window_.ends_of(f), is_inside)) goes_[f] = 1;
  ending_.clear();
  kept_ids_.clear();
  for (const bool is_kept : {false, true})
    for (std::uint32_t v = 0; v < members_.size(); ++v)
      if (is_joined_[v] && !window_.is_observed[v] && (members_[v]->outcomes > 0 || is_kept) && leaves(v) != is_kept)
        (members_[v]->outcomes > 0 ? ending_ : kept_ids_).push_back(window_.variables[v]);
  which_.clear();
  going_.clear();
  for (std::uint32_t f = 0; f < factors_.size(); ++f)
    if (goes_[f]) which_.push_back(f), going_.push_back(factors_[f]);
  leaving_.read(graph, going_, boundaries_[0], quiet_options_, linked_);
  if (!merge_cases()) return false;
  for (std::size_t v = 0; v < members_.size(); ++v)
    if (is_leaving_[v]) members_[v]->has_left = true;
  return true;
}

// Sums the leaving ones of the discrete variables out, and leaves Gaussians over `kept_ids_`.
bool GrowingGraph::Window::merge_cases() {
  const bool has_many = has_cases(ending_);
  bool is_read = true;
  std::vector<WeightedGaussian> cases(has_many ? cases_of(ending_) : 0, {-HUGE_VAL, {}, {}});
  next_boundary_.variables = kept_ids_;
  next_boundary_.means.clear();
  const Report report = solve_cases(leaving_, which_, ending_, [&](std::size_t i, double log_weight, Selection* own) {
    kept_.clear();
    for (const std::uint32_t v : kept_ids_) kept_.push_back({own == nullptr ? kNowhere : own->place_of(v)});
    is_read = is_read && std::ranges::find(kept_, kNowhere, &VariableId::value) == kept_.end();
    if (own != nullptr) is_read = is_read && parts_[0]->read(kept_, next_boundary_);
    if (!is_read || !has_many) return;
    const auto& [variables, means, covariance, unused] = next_boundary_;
    const auto size = static_cast<Eigen::Index>(means.size());
    cases[i] = {log_weight, Eigen::Map<const Eigen::VectorXd>(means.data(), size),
                Eigen::Map<const Eigen::MatrixXd>(covariance.data(), size, size)};
  });
  if (!is_read || !report.converged()) return false;
  if (!has_many) {
    std::swap(boundaries_[0], next_boundary_);
    return true;
  }
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

// Removes factors of variables that leave, and those of observed variables alone: these say nothing more.
void GrowingGraph::Window::let_go(bool is_linear) {
  goes_.assign(factors_.size(), 0);
  // With all factors, a variable that exists in some of the cases would have to stay.
  const bool has_left =
      mark_leaving() && (integrate_out(is_linear) || (has_cases(choosers_) && is_linear && integrate_out(false)));
  std::size_t left = 0;
  for (std::size_t f = 0; f < factors_.size(); ++f) {
    if (std::ranges::all_of(window_.ends_of(f), [&](std::uint32_t v) { return window_.is_observed[v] != 0; })) continue;
    if (has_left && goes_[f]) continue;
    factors_[left] = factors_[f];
    tables_[left] = std::move(tables_[f]);
    came_[left++] = came_[f];
  }
  settled_ = left;
  drop_new();
}

}  // namespace dma
