#include "models/series/series_graph.h"

#include <algorithm>
#include <cmath>

#include "engine/compile/plan_data.h"
#include "engine/support/text.h"
#include "factors/standard_registry.h"

namespace dma {

namespace {

std::vector<std::uint32_t> steps(std::size_t first, std::size_t last) {
  std::vector<std::uint32_t> list;
  for (std::size_t t = first; t < last; ++t) list.push_back(static_cast<std::uint32_t>(t));
  return list;
}

double excess(double mean, double variance, double expected) { return (mean * mean + variance) / expected - 1; }

double standardised(double apart, double variance, double noise) {
  constexpr double kNothingSaid = 1e-9;  // no other factor informs it, up to rounding
  const double left = 1 - variance / noise;
  return left > kNothingSaid ? apart / std::sqrt(noise * left) : 0;
}

}  // namespace

SeriesGraph::SeriesGraph(const StateSpace& model, SeriesValues values, std::size_t length)
    : values_(values.begin(), values.end()), length_(length) {
  StateSpace::Start start = model.start(values);
  for (std::size_t k = model.processes().size(); k-- > 0;)
    if (model.processes()[k].has_level) leading_level_ = k;
  if (leading_level_) shift_ = start.mean;
  for (std::optional<double>& value : values_)
    if (value) *value -= shift_;
  std::vector<Connection> parts;
  for (std::size_t k = 0; k < model.processes().size(); ++k) {
    add(model, k, start);
    parts.push_back(states_[k].front());
  }
  if (!model.inputs().empty()) parts.push_back(add_inputs(model.inputs(), start));
  signal_ = graph_.variable("signal", length);
  y_ = graph_.observed("y", length);
  parts.push_back(signal_);
  graph_.factor("sum", std::move(parts));
  noise_ = graph_.factor("gaussian_noise", {signal_, y_}, {{"variance", model.observation_variance()}});
  // With thousands of unknowns the default tolerance of 1e-9 standard deviations is below rounding.
  plan_.emplace(compile(graph_, joint({.tolerance = 1e-6}), standard_registry()));
  state_.emplace(*plan_);
  std::vector<std::optional<double>> given = values_;
  given.resize(length);
  state_->observe(y_, given);
}

void SeriesGraph::add(const StateSpace& model, std::size_t k, const StateSpace::Start& start) {
  const Process& process = model.processes()[k];
  const std::size_t before = std::min(process.longest_lag(), length_);
  std::vector<VariableId>& states = states_.emplace_back();
  if (process.harmonics > 0) {
    states.push_back(add_effect(harmonic_rows(process.period, process.harmonics, length_),
                                std::vector<double>(2 * process.harmonics, start.variance))
                         .value);
    return;
  }
  for (std::size_t s = 0; s < process.states.size(); ++s) {
    states.push_back(graph_.variable("", length_));
    const double mean = s == 0 && process.has_level ? start.mean - (k == leading_level_ ? shift_ : 0) : 0;
    graph_.factor("gaussian_prior", {gather(states[s], steps(0, before))},
                  {{"mean", mean}, {"variance", start.variance}});
  }
  if (length_ == before) return;
  for (const Process::Rule& rule : process.rules) {
    std::vector<Connection> terms;
    std::vector<double> coefficients;
    for (const Process::Term& term : rule.terms) {
      terms.push_back(gather(states[term.state], steps(before - term.lag, length_ - term.lag)));
      coefficients.push_back(term.coefficient);
    }
    const VariableId rest = graph_.variable("", length_ - before);
    terms.push_back(rest);
    graph_.factor("sum", std::move(terms), {{"coefficients", coefficients}});
    const FactorId prior = graph_.factor("gaussian_prior", {rest},
                                         {{"mean", 0.0}, {"variance", rule.scale * model.variance(k, rule.noise)}});
    rests_.push_back({rest, prior, model.position(k, rule.noise), rule.scale});
  }
}

// The effects of all inputs together. A priori a weight may be as large as a state at the start, in units of the input.
VariableId SeriesGraph::add_inputs(const std::vector<SeriesInput>& inputs, const StateSpace::Start& start) {
  std::vector<double> variances, rows(length_ * inputs.size());
  for (std::size_t j = 0; j < inputs.size(); ++j) {
    const std::vector<double>& x = inputs[j].values;
    if (x.size() < length_)
      fail("series: the input '{}' has {} values; {} are expected, one for every step and every step to forecast",
           inputs[j].name, x.size(), length_);
    double squares = 0;
    for (std::size_t t = 0; t < length_; ++t) {
      if (!std::isfinite(x[t]))
        fail("series: the input '{}' is {} at step {}; a finite number is expected", inputs[j].name, x[t], t + 1);
      rows[t * inputs.size() + j] = x[t];
    }
    for (const double value : x) squares += value * value;
    variances.push_back(squares > 0 ? start.variance * static_cast<double>(x.size()) / squares : start.variance);
  }
  const Effect effect = add_effect(std::move(rows), variances);
  weights_ = effect.weights;
  return effect.value;
}

SeriesGraph::Effect SeriesGraph::add_effect(std::vector<double> rows, const std::vector<double>& variances) {
  const Effect effect{graph_.variable("", variances.size()), graph_.variable("", length_)};
  graph_.factor("gaussian_prior", {effect.weights}, {{"mean", 0.0}, {"variance", variances}});
  graph_.factor("linear", {column(effect.weights), effect.value},
                {{"A", std::move(rows)}, {"b", std::vector<double>(length_, 0.0)}});
  return effect;
}

double SeriesGraph::solve() {
  const Report report = run(*plan_, *state_);
  if (!report.converged()) fail("series: {}", report.line());
  return JointPosterior(*state_).log_evidence();
}

Smoothed SeriesGraph::smoothed(const StateSpace& model, double observation_variance) const {
  const auto track = [&](const std::string& name, VariableId variable, double shift) {
    const Belief belief = state_->belief(variable);
    Track found{name, {}, {}};
    for (std::size_t t = 0; t < belief.size(); ++t) {
      found.mean.push_back(belief.mean(t) + shift);
      found.sd.push_back(std::sqrt(belief.variance(t)));
    }
    return found;
  };
  Smoothed found;
  found.signal = track("signal", signal_, shift_);
  for (std::size_t k = 0; k < states_.size(); ++k)
    for (std::size_t s = 0; s < states_[k].size(); ++s) {
      const Process& process = model.processes()[k];
      const std::string& name = process.states[s];
      found.states.push_back(track(name == process.name ? name : process.name + "." + name, states_[k][s],
                                   s == 0 && k == leading_level_ ? shift_ : 0));
    }
  if (weights_) found.weights = track("weights", *weights_, 0);
  for (const double sd : found.signal.sd) found.sd.push_back(std::sqrt(sd * sd + observation_variance));
  found.parts = {{1, false, found.signal.mean, found.sd}};
  return found;
}

SeriesGraph::Window SeriesGraph::last(std::size_t steps) const {
  struct Element {
    VariableId variable;
    std::size_t element;
  };
  std::vector<Element> places;
  for (const auto& states : states_)
    for (const VariableId state : states)
      for (std::size_t lag = 0; lag < steps; ++lag) places.push_back({state, length_ - 1 - lag});
  const JointPosterior posterior(*state_);
  const auto size = static_cast<Eigen::Index>(places.size());
  Window window{Eigen::VectorXd(size), Eigen::MatrixXd(size, size)};
  for (Eigen::Index i = 0; i < size; ++i) {
    const Element& a = places[static_cast<std::size_t>(i)];
    const bool is_level = leading_level_ && a.variable == states_[*leading_level_].front();
    window.mean[i] = state_->belief(a.variable).mean(a.element) + (is_level ? shift_ : 0);
    for (Eigen::Index j = 0; j <= i; ++j) {
      const Element& b = places[static_cast<std::size_t>(j)];
      window.covariance(i, j) = window.covariance(j, i) =
          posterior.covariance(a.variable, a.element, b.variable, b.element);
    }
  }
  return window;
}

// Without its own value, of precision 1/s, a signal with posterior N(m, v) is N(m', v') with 1/v' = 1/v - 1/s: the
// value is then (y - m) / sqrt(s (1 - v/s)) standard deviations from its prediction. The noise of a step is the same
// case with value 0, which is its prior.
std::vector<double> SeriesGraph::value_surprise(double variance) const {
  std::vector<double> surprise(values_.size());
  const Belief found = signal();
  for (std::size_t t = 0; t < values_.size(); ++t)
    if (values_[t]) surprise[t] = standardised(*values_[t] - found.mean(t), found.variance(t), variance);
  return surprise;
}

std::vector<double> SeriesGraph::level_surprise(const StateSpace& model) const {
  std::vector<double> surprise(values_.size());
  if (!leading_level_) return surprise;
  const std::size_t level = model.position(*leading_level_, 0);
  const auto rest = std::ranges::find(rests_, level, &Rest::variance);
  if (rest == rests_.end()) return surprise;
  const Belief found = state_->belief(rest->variable);
  const std::size_t before = length_ - found.size();
  for (std::size_t i = 0; i + before < values_.size(); ++i)
    surprise[i + before] = standardised(found.mean(i), found.variance(i), rest->scale * model.variances()[level].value);
  return surprise;
}

void SeriesGraph::set_variance(std::size_t which, double variance) {
  if (which == 0) state_->set_parameter(noise_, "variance", variance);
  for (const Rest& rest : rests_)
    if (rest.variance == which) state_->set_parameter(rest.prior, "variance", rest.scale * variance);
}

double SeriesGraph::slope(std::size_t which, double variance) const {
  double sum = 0;
  if (which == 0) {
    const Belief found = signal();
    for (std::size_t t = 0; t < values_.size(); ++t)
      if (values_[t]) sum += excess(*values_[t] - found.mean(t), found.variance(t), variance);
  }
  for (const Rest& rest : rests_) {
    if (rest.variance != which) continue;
    const Belief found = state_->belief(rest.variable);
    for (std::size_t i = 0; i < found.size(); ++i)
      sum += excess(found.mean(i), found.variance(i), rest.scale * variance);
  }
  return 0.5 * sum;
}

}  // namespace dma
