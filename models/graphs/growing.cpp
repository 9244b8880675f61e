#include "models/graphs/growing.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "engine/support/error.h"
#include "models/graphs/growing_part.h"

namespace dma {

using growing_graph::Boundary, growing_graph::Known, growing_graph::Part, growing_graph::Selection;

class GrowingGraph::Window {
 public:
  Window(Registry registry, GrowingOptions options)
      : registry_(std::move(registry)),
        options_(std::move(options)),
        remember_(options_.remember.value_or(options_.lag)) {
    if (options_.lag < 1) fail("growing graph: the lag is 0; at least 1 is expected");
    if (!options_.joint.hypers.empty()) fail("growing graph: hypers are not supported; set the parameter to a number");
    leaving_options_ = options_.joint;
    leaving_options_.check_draws = 0;  // nobody reads that report
  }

  void observe(VariableId variable, std::span<const double> values);
  void start(VariableId variable, std::span<const double> values);
  Report update();
  Belief belief(VariableId variable) const;

  Graph graph;
  std::size_t compiled = 0;

 private:
  void meet();
  void check_new();
  void drop_new();
  Report solve(Selection& selection);
  bool mark_leaving();
  bool integrate_out();
  void let_go();
  void forget();
  Known& known(std::uint32_t variable) { return known_.find(variable)->second; }

  Registry registry_;
  GrowingOptions options_;
  JointOptions leaving_options_;
  std::size_t remember_;
  std::size_t steps_ = 0;
  // All variables that the graph has not forgotten; nodes of forgotten ones are reused.
  std::unordered_map<std::uint32_t, Known> known_;
  std::vector<decltype(known_)::node_type> unused_;
  std::vector<std::uint32_t> elders_;  // variables before oldest_ that are not forgotten
  std::uint32_t oldest_ = 0, next_variable_ = 0, next_factor_ = 0;
  std::vector<std::uint32_t> factors_;  // the window's, then from settled_ on new ones
  std::vector<std::size_t> came_;       // parallel: number of updates before it was added
  std::size_t settled_ = 0;
  Boundary boundary_, next_boundary_;
  std::vector<std::unique_ptr<Part>> parts_;  // the latest first
  Selection window_, leaving_;
  // Buffers: by variable of the selection that is being solved, by variable of the window, by factor of it.
  std::vector<Known*> solved_;
  std::vector<std::uint8_t> is_leaving_;
  std::vector<std::size_t> last_use_;
  std::vector<std::uint32_t> going_;
  std::vector<VariableId> kept_;
};

// Takes note of new variables and factors.
void GrowingGraph::Window::meet() {
  for (; next_variable_ < graph.next_variable(); ++next_variable_) {
    if (unused_.empty()) {
      known_[next_variable_].begin(steps_);
      continue;
    }
    unused_.back().key() = next_variable_;
    unused_.back().mapped().begin(steps_);
    known_.insert(std::move(unused_.back()));
    unused_.pop_back();
  }
  for (; next_factor_ < graph.next_factor(); ++next_factor_) {
    factors_.push_back(next_factor_);
    came_.push_back(steps_);
  }
}

void GrowingGraph::Window::observe(VariableId variable, std::span<const double> values) {
  const Graph::Nameless v = graph.without_name(variable);
  if (!v.observed) fail("variable '{}' is not observed; declare it with observed(...)", graph.name(variable));
  meet();
  Known& own = known(variable.value);
  if (own.step < steps_ && !own.value.empty() && !std::ranges::equal(own.value, values))
    fail("growing graph: '{}' had its value at an earlier update; declare another observed variable for a new one",
         graph.name(variable));
  own.value.assign(values.begin(), values.end());
}

void GrowingGraph::Window::start(VariableId variable, std::span<const double> values) {
  (void)graph.without_name(variable);
  meet();
  known(variable.value).start.assign(values.begin(), values.end());
}

Belief GrowingGraph::Window::belief(VariableId variable) const {
  if (graph.has_forgotten(variable))
    fail(
        "growing graph: variable {} was last in the window more than {} updates ago, and its belief is forgotten; "
        "read it earlier, or raise remember",
        variable.value, remember_);
  const Graph::Nameless v = graph.without_name(variable);
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
}

void GrowingGraph::Window::check_new() {
  Graph::Factor factor;
  for (std::size_t i = settled_; i < factors_.size(); ++i) {
    graph.read(factors_[i], factor);
    const auto drop = [&] {
      factors_.erase(factors_.begin() + static_cast<std::ptrdiff_t>(i));
      came_.erase(came_.begin() + static_cast<std::ptrdiff_t>(i));
    };
    if (!factor.when.empty()) {
      drop();
      fail("growing graph: factor '{}' has a gate; a growing graph takes factors without gates", factor.name());
    }
    for (const Connection& c : factor.connections) {
      if (!known(c.variable.value).has_left) continue;
      drop();
      fail("growing graph: factor '{}' connects '{}', which left the window; raise the lag of {}", factor.name(),
           graph.name(c.variable), options_.lag);
    }
  }
}

// Solves a selection by a part of its shape, which is then the first one.
Report GrowingGraph::Window::solve(Selection& selection) {
  constexpr std::size_t kParts = 32;
  solved_.clear();
  for (const std::uint32_t v : selection.variables) {
    solved_.push_back(&known(v));
    if (graph.without_name({v}).observed && solved_.back()->value.empty())
      fail("observed variable '{}' has no value; give it one with observe(...)", graph.name({v}));
  }
  const auto found = std::ranges::find_if(parts_, [&](const auto& part) { return part->fits(selection); });
  if (found != parts_.end()) {
    std::rotate(parts_.begin(), found, found + 1);
    try {
      parts_[0]->set(graph, selection, boundary_);
      if (Report report = parts_[0]->run(solved_); report.converged()) return report;
    } catch (const Error&) {  // and the part may have taken some of the numbers
    }
    parts_.erase(parts_.begin());  // compiled anew, it reports the names of these variables
  }
  if (parts_.size() == kParts) parts_.pop_back();
  try {
    parts_.insert(parts_.begin(), std::make_unique<Part>(graph, selection, boundary_, registry_));
  } catch (const Error&) {
    drop_new();
    throw;
  }
  ++compiled;
  return parts_[0]->run(solved_);
}

Report GrowingGraph::Window::update() {
  meet();
  check_new();
  Report report;
  if (factors_.empty() && boundary_.variables.empty()) {  // an empty window
    report.stop = Report::Stop::exact;
    ++steps_;
  } else {
    window_.read(graph, factors_, boundary_, options_.joint);
    report = solve(window_);
    settled_ = factors_.size();
    ++steps_;
    for (std::uint32_t v = 0; v < solved_.size(); ++v) {
      parts_[0]->read(v, solved_[v]->belief);
      solved_[v]->last = steps_;
    }
    if (report.converged()) let_go();
  }
  forget();
  return report;
}

// Deterministic functions of departing variables, such as residuals, leave with them, unless a later factor uses them.
bool GrowingGraph::Window::mark_leaving() {
  is_leaving_.clear();
  for (std::size_t v = 0; v < solved_.size(); ++v)
    is_leaving_.push_back(!window_.is_observed[v] && solved_[v]->step + options_.lag < steps_);
  last_use_.assign(solved_.size(), 0);
  for (std::size_t f = 0; f < factors_.size(); ++f)
    for (const std::uint32_t v : window_.ends_of(f)) last_use_[v] = std::max(last_use_[v], came_[f]);
  const auto leaves = [&](std::uint32_t v) { return is_leaving_[v] != 0; };
  for (bool is_more = true; is_more;) {
    is_more = false;
    for (std::size_t f = 0; f < factors_.size(); ++f) {
      const auto outputs = parts_[0]->outputs_of(f);
      if (outputs.empty() || std::ranges::none_of(window_.ends_of(f), leaves)) continue;
      for (const std::uint32_t v : outputs)
        if (!leaves(v) && !window_.is_observed[v] && solved_[v]->step + 1 < steps_ && last_use_[v] == solved_[v]->step)
          is_leaving_[v] = is_more = true;
    }
  }
  return std::ranges::any_of(is_leaving_, [](std::uint8_t leaves_it) { return leaves_it != 0; });
}

// False if the leaving variables stay: their factors do not determine them, or leave functions of each other.
bool GrowingGraph::Window::integrate_out() {
  const auto leaves = [&](std::uint32_t v) { return is_leaving_[v] != 0; };
  going_.clear();
  for (std::size_t f = 0; f < factors_.size(); ++f)
    if (std::ranges::any_of(window_.ends_of(f), leaves)) going_.push_back(factors_[f]);
  leaving_.read(graph, going_, boundary_, leaving_options_);
  if (!solve(leaving_).converged()) return false;
  kept_.clear();
  next_boundary_.variables.clear();
  for (std::uint32_t v = 0; v < leaving_.variables.size(); ++v) {
    const std::uint32_t whole = leaving_.variables[v];
    if (leaving_.is_observed[v] || leaves(window_.place_of(whole))) continue;
    kept_.push_back({v});
    next_boundary_.variables.push_back(whole);
  }
  if (!parts_[0]->read(kept_, next_boundary_)) return false;
  std::swap(boundary_, next_boundary_);
  for (std::uint32_t v = 0; v < leaving_.variables.size(); ++v)
    if (leaves(window_.place_of(leaving_.variables[v]))) solved_[v]->has_left = true;
  return true;
}

// Removes factors of variables that leave, and those of observed variables alone: these say nothing more.
void GrowingGraph::Window::let_go() {
  const bool has_left = mark_leaving() && integrate_out();
  std::size_t left = 0;
  for (std::size_t f = 0; f < factors_.size(); ++f) {
    const auto ends = window_.ends_of(f);
    if (std::ranges::all_of(ends, [&](std::uint32_t v) { return window_.is_observed[v] != 0; })) continue;
    if (has_left && std::ranges::any_of(ends, [&](std::uint32_t v) { return is_leaving_[v] != 0; })) continue;
    factors_[left] = factors_[f];
    came_[left++] = came_[f];
  }
  factors_.resize(left);
  came_.resize(left);
  settled_ = left;
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
