#include "models/graphs/growing.h"

#include <algorithm>
#include <utility>

#include "engine/support/error.h"
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
    const Graph::Nameless v = graph.without_name({next_variable_});
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
