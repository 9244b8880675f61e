#include "models/graphs/growing.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/support/text.h"
#include "models/graphs/growing_window.h"

namespace dma {

GrowingGraph::Window::Window(Registry registry, GrowingOptions options)
    : registry_(std::move(registry)),
      options_(std::move(options)),
      remember_(options_.remember.value_or(options_.lag)) {
  if (options_.lag < 1 || options_.discrete_lag == std::size_t{0})
    fail("growing graph: the lag is 0; at least 1 is expected");
  if (!options_.joint.hypers.empty()) fail("growing graph: hypers are not supported; set the parameter to a number");
  quiet_options_ = options_.joint;
  quiet_options_.check_draws = 0;
}

// Takes note of new variables and factors.
void GrowingGraph::Window::meet() {
  for (; next_variable_ < graph.next_variable(); ++next_variable_) {
    if (!unused_.empty()) {
      unused_.back().key() = next_variable_;
      known_.insert(std::move(unused_.back()));
      unused_.pop_back();
    }
    Known& own = known_[next_variable_];
    own.begin(steps_);
    const Graph::Variable v = graph[VariableId{next_variable_}];
    if (v.family.empty() || v.observed) continue;
    try {
      own.outcomes = registry_.family(v.family).outcomes();
    } catch (const Error&) {  // compile() names it
    }
  }
  for (; next_factor_ < graph.next_factor(); ++next_factor_) {
    factors_.push_back(next_factor_);
    came_.push_back(steps_);
  }
}

void GrowingGraph::Window::observe(VariableId variable, std::span<const double> values) {
  const Graph::Variable v = graph[variable];
  if (!v.observed) fail("variable '{}' is not observed; declare it with observed(...)", graph.name(variable));
  meet();
  Known& own = known(variable.value);
  if (own.step < steps_ && !own.value.empty() && !std::ranges::equal(own.value, values))
    fail("growing graph: '{}' had its value at an earlier update; declare another observed variable for a new one",
         graph.name(variable));
  own.value.assign(values.begin(), values.end());
}

void GrowingGraph::Window::start(VariableId variable, std::span<const double> values) {
  (void)graph[variable];
  meet();
  known(variable.value).start.assign(values.begin(), values.end());
}

Belief GrowingGraph::Window::belief(VariableId variable) const {
  if (graph.has_forgotten(variable))
    fail(
        "growing graph: variable {} was last in the window more than {} updates ago, and its belief is forgotten; "
        "read it earlier, or raise remember",
        variable.value, remember_);
  const Graph::Variable v = graph[variable];
  const Family family = registry_.family(v.family);
  const auto found = known_.find(variable.value);
  const bool is_met = found != known_.end() && !found->second.belief.empty();
  std::vector<Natural> belief = is_met ? found->second.belief : std::vector<Natural>(v.size * family.components());
  if (graph.given_name(variable) == nullptr) return {variable.value, family, std::move(belief)};
  return {graph.name(variable), family, std::move(belief)};
}

void GrowingGraph::Window::drop_new() {
  factors_.resize(settled_);
  came_.resize(settled_);
  tables_.resize(settled_);
}

void GrowingGraph::Window::check_new() {
  for (std::size_t i = settled_; i < factors_.size(); ++i) {
    graph.read(factors_[i], factor_);
    const auto check = [&](VariableId v) {
      const Known& own = known(v.value);
      if (own.has_left)
        fail("growing graph: factor '{}' connects '{}', which left the window; raise the {} of {}", factor_.name(),
             graph.name(v), own.outcomes > 0 ? "discrete_lag" : "lag",
             own.outcomes > 0 ? options_.discrete_lag.value_or(options_.lag) : options_.lag);
    };
    try {
      for (const Connection& c : factor_.connections) check(c.variable);
      for (const GateCase& one : factor_.when) check(one.variable);
      if (options_.cases != nullptr) (this->*options_.cases->check)(factor_);
    } catch (const Error&) {
      factors_.erase(factors_.begin() + static_cast<std::ptrdiff_t>(i));
      came_.erase(came_.begin() + static_cast<std::ptrdiff_t>(i));
      throw;
    }
  }
}

// Forgets variables that no window of the last updates had, and factors before those of the window.
void GrowingGraph::Window::forget() {
  const auto is_forgotten = [&](std::uint32_t v) {
    const auto found = known_.find(v);
    if (found->second.last + remember_ >= steps_) return false;
    unused_.push_back(known_.extract(found));
    return true;
  };
  std::erase_if(elders_, is_forgotten);
  for (; oldest_ < next_variable_ && known(oldest_).step + options_.lag + remember_ + 2 <= steps_; ++oldest_)
    if (!is_forgotten(oldest_)) elders_.push_back(oldest_);
  graph.forget(oldest_, factors_.empty() ? next_factor_ : factors_[0], elders_);
}

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
    if (is_solved && (has_cases(choosers_) || is_merged_)) (this->*options_.cases->qualify)(report);
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
  for (const std::uint32_t v : window_.variables) {
    const Known& own = *members_.emplace_back(&known(v));
    if (own.outcomes > 0) choosers_.push_back(v);
    if (graph[VariableId{v}].observed && own.value.empty())
      fail("observed variable '{}' has no value; give it one with observe(...)", graph.name({v}));
  }
  tables_.resize(factors_.size());
  which_.resize(factors_.size());
  std::iota(which_.begin(), which_.end(), 0u);
  if (!has_cases(choosers_)) return;
  try {
    if (options_.cases == nullptr)
      fail("growing graph: factors have gates or discrete variables, and the options have no cases; leave them out");
    (this->*options_.cases->begin)();
  } catch (const Error&) {
    drop_new();
    throw;
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

Report GrowingGraph::Window::solve_window() {
  outputs_.clear();
  if (has_cases(choosers_)) return (this->*options_.cases->solve)();
  const Report report = solve(window_, boundaries_[0]);
  for (std::uint32_t v = 0; v < members_.size(); ++v) parts_[0]->read(v, members_[v]->belief);
  for (std::uint32_t f = 0; f < factors_.size(); ++f)
    for (const std::uint32_t v : parts_[0]->outputs_of(f)) outputs_.emplace_back(f, v);
  return report;
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
  if (has_cases(ending_)) {
    if (!(this->*options_.cases->merge)()) return false;
  } else {
    if (!solve(leaving_, boundaries_[0]).converged()) return false;
    kept_.clear();
    for (const std::uint32_t v : kept_ids_) kept_.push_back({leaving_.place_of(v)});
    next_boundary_.variables = kept_ids_;
    if (!parts_[0]->read(kept_, next_boundary_)) return false;
    std::swap(boundaries_[0], next_boundary_);
  }
  for (std::size_t v = 0; v < members_.size(); ++v)
    if (is_leaving_[v]) members_[v]->has_left = true;
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

GrowingGraph::GrowingGraph(Registry registry, GrowingOptions options)
    : window_(std::make_unique<Window>(std::move(registry), std::move(options))) {}
GrowingGraph::~GrowingGraph() = default;
GrowingGraph::GrowingGraph(GrowingGraph&&) noexcept = default;
GrowingGraph& GrowingGraph::operator=(GrowingGraph&&) noexcept = default;

Graph& GrowingGraph::graph() { return window_->graph; }
void GrowingGraph::observe(VariableId variable, std::span<const double> values) { window_->observe(variable, values); }
void GrowingGraph::start(VariableId variable, std::span<const double> values) { window_->start(variable, values); }
Report GrowingGraph::update() { return window_->update(); }
Belief GrowingGraph::belief(VariableId variable) const { return window_->belief(variable); }
std::size_t GrowingGraph::compiled() const { return window_->compiled; }

}  // namespace dma
