#include "models/series/series_choice.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "engine/compile/plan_data.h"
#include "engine/support/dense.h"
#include "engine/support/text.h"
#include "factors/standard_registry.h"
#include "models/series/series_graph.h"

namespace dma {

namespace {

// A square root of the covariance, which may have lost its last digits.
Eigen::MatrixXd root_of(const Eigen::MatrixXd& covariance) {
  const Eigen::LDLT<Eigen::MatrixXd> ldlt(covariance);
  const Eigen::VectorXd roots = ldlt.vectorD().cwiseMax(0).cwiseSqrt();
  return ldlt.transpositionsP().transpose() * Eigen::MatrixXd(Eigen::MatrixXd(ldlt.matrixL()) * roots.asDiagonal());
}

std::size_t longest_memory(const StateSpace& model) {
  std::size_t longest = 1;
  for (const Process& process : model.processes()) longest = std::max(longest, process.longest_lag());
  return longest;
}

}  // namespace

// The graph of one step: past = mean + root z with z ~ N(0, 1), and the rules from it to the states now.
struct SeriesFilter::Step {
  std::size_t memory, states = 0;
  double observation_variance;
  VariableId past{}, now{}, signal{}, y{};
  FactorId carry{};
  std::optional<Plan> plan;
  std::optional<State> state;

  Step(const StateSpace& model, SeriesValues values);
  void set(const SeriesGraph::Window& window);
  void solve();
  std::uint32_t place(std::size_t which, std::size_t lag) const {
    return static_cast<std::uint32_t>(which * memory + lag - 1);
  }
};

SeriesFilter::Step::Step(const StateSpace& model, SeriesValues values)
    : memory(longest_memory(model)), observation_variance(model.observation_variance()) {
  if (!model.inputs().empty())
    fail(
        "series filter: the model has {} inputs; a model without inputs is expected: subtract their effects from the "
        "values",
        model.inputs().size());
  if (std::ranges::any_of(model.processes(), [](const Process& process) { return process.harmonics > 0; }))
    fail("series filter: the model has a season of fixed shape; seasonal() is expected, whose states move");
  if (values.size() < memory)
    fail("series filter: it begins after {} values; at least {} are expected, the longest memory of its processes",
         values.size(), memory);
  for (const Process& process : model.processes()) states += process.states.size();
  Graph g;
  const std::size_t size = states * memory;
  const VariableId z = g.variable("z", size);
  g.factor("gaussian_prior", {z}, {{"mean", 0.0}, {"variance", 1.0}});
  past = g.variable("past", size);
  now = g.variable("now", states);
  carry = g.factor("linear", {column(z), past},
                   {{"A", std::vector<double>(size * size, 1.0)}, {"b", std::vector<double>(size, 0.0)}});
  std::vector<Connection> parts;
  std::size_t first = 0;
  for (std::size_t k = 0; k < model.processes().size(); ++k) {
    const Process& process = model.processes()[k];
    for (const Process::Rule& rule : process.rules) {
      std::vector<Connection> terms;
      std::vector<double> coefficients;
      for (const Process::Term& term : rule.terms) {
        const std::size_t which = first + term.state;
        terms.push_back(term.lag == 0 ? gather(now, {static_cast<std::uint32_t>(which)})
                                      : gather(past, {place(which, term.lag)}));
        coefficients.push_back(term.coefficient);
      }
      const VariableId rest = g.variable("");
      terms.push_back(rest);
      g.factor("sum", std::move(terms), {{"coefficients", coefficients}});
      g.factor("gaussian_prior", {rest}, {{"mean", 0.0}, {"variance", rule.scale * model.variance(k, rule.noise)}});
    }
    parts.push_back(gather(now, {static_cast<std::uint32_t>(first)}));
    first += process.states.size();
  }
  signal = g.variable("signal");
  y = g.observed("y");
  parts.push_back(signal);
  g.factor("sum", std::move(parts));
  g.factor("gaussian_noise", {signal, y}, {{"variance", observation_variance}});
  plan.emplace(compile(g, joint(), standard_registry()));
  state.emplace(*plan);
  SeriesGraph whole(model, values, values.size());
  (void)whole.solve();
  set(whole.last(memory));
}

void SeriesFilter::Step::set(const SeriesGraph::Window& window) {
  const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> root = root_of(window.covariance);
  state->set_parameter(carry, "A", {root.data(), static_cast<std::size_t>(root.size())});
  state->set_parameter(carry, "b", {window.mean.data(), static_cast<std::size_t>(window.mean.size())});
  state->observe(y, std::nullopt);
  solve();
}

void SeriesFilter::Step::solve() {
  const Report report = run(*plan, *state);
  if (!report.converged()) fail("series filter: {}", report.line());
}

SeriesFilter::SeriesFilter(StateSpace model, SeriesValues first_values)
    : step_(std::make_unique<Step>(model, first_values)) {}
SeriesFilter::~SeriesFilter() = default;
SeriesFilter::SeriesFilter(SeriesFilter&&) noexcept = default;

SeriesFilter::Forecast SeriesFilter::forecast() const {
  const Belief signal = step_->state->belief(step_->signal);
  return {signal.mean(), signal.variance() + step_->observation_variance};
}

SeriesFilter::Estimate SeriesFilter::add(std::optional<double> value) {
  Step& step = *step_;
  if (value) step.state->observe(step.y, *value);
  step.solve();
  const Belief signal = step.state->belief(step.signal);
  // Advances the window: every state now, and all but the oldest of its past.
  const JointPosterior posterior(*step.state);
  const Eigen::VectorXd now = posterior.mean(step.now), past = posterior.mean(step.past);
  const Eigen::MatrixXd latest = posterior.covariance(step.now, step.now),
                        across = posterior.covariance(step.now, step.past),
                        older = posterior.covariance(step.past, step.past);
  const Eigen::Index size = past.size();
  const auto memory = static_cast<Eigen::Index>(step.memory);
  SeriesGraph::Window window{Eigen::VectorXd(size), Eigen::MatrixXd(size, size)};
  for (Eigen::Index i = 0; i < size; ++i) {
    const bool is_new = i % memory == 0;
    window.mean[i] = is_new ? now[i / memory] : past[i - 1];
    for (Eigen::Index j = 0; j < size; ++j) {
      const bool is_other_new = j % memory == 0;
      window.covariance(i, j) = is_new && is_other_new ? latest(i / memory, j / memory)
                                : is_new               ? across(i / memory, j - 1)
                                : is_other_new         ? across(j / memory, i - 1)
                                                       : older(i - 1, j - 1);
    }
  }
  step.set(window);
  return {signal.mean(), signal.variance()};
}

}  // namespace dma
