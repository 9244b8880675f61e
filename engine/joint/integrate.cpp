// The evidence of the graph given its hypers, times their priors, is a density of a few logarithms. The weights of the
// mixture are its values on a lattice around its mode (lattice.h).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/joint/lattice.h"
#include "engine/joint/solver.h"
#include "engine/kinds/kind.h"
#include "engine/kinds/registry.h"
#include "engine/support/log_sum_exp.h"
#include "engine/support/text.h"

namespace dma::joint_system {

namespace {

constexpr std::size_t kMostHypers = 10;
// Total weight that points without convergence may have; effective draws that a cloud must have. For covariances of
// four with 900 to 1,900 effective draws means were wrong by 0.03 to 0.06 deviations, with 500 by 0.14, with 100 by 0.4
// to 1.
constexpr double kUnsettled = 1e-3, kFewest = 1000;
// Tolerance of steps and sites, in standard deviations, wherever the hypers are not at their mode. The objective and
// EP's energy are stationary: their error is of the order of its square. Laplace's determinant is not: for functions
// that are not linear the error of the evidence is of the order of the tolerance.
constexpr double kLoosest = 1e-4;

// The starting value of a hyper, from the parameter given in the graph.
double start_of(const Graph& graph, const Kind& kind, const Hyper& hyper, const Hyper::Use& use) {
  const Graph::Factor factor = graph[use.factor];
  const auto spec = std::ranges::find(kind.parameters(), use.parameter, &ParameterSpec::name);
  if (spec == kind.parameters().end())
    fail("hyper '{}': factor '{}' has no parameter '{}'{}", hyper.name, factor.name(), use.parameter,
         suggestion(use.parameter, kind.parameters(), &ParameterSpec::name));
  double number = spec->fallback.value_or(hyper.prior.start);
  for (const auto& [name, value] : factor.parameters)
    if (name == use.parameter) number = value.numbers[0];
  const double start = std::pow(number / (use.times.empty() ? 1.0 : use.times[0]), 1 / use.power);
  return std::isfinite(hyper.prior.free_of(start)) ? start : hyper.prior.start;
}

std::vector<double> check_hypers(const Graph& graph, const Registry& registry, JointOptions& options) {
  if (options.hypers.size() > kMostHypers)
    fail("joint: {} hypers; at most {} can be integrated over: fix some, or give several factors one in common",
         options.hypers.size(), kMostHypers);
  std::vector<double> starts;
  std::vector<std::pair<std::uint32_t, std::string>> used;
  for (Hyper& hyper : options.hypers) {
    if (hyper.name.empty() && !hyper.uses.empty())
      hyper.name = fmt::format("{}.{}", graph[hyper.uses[0].factor].name(), hyper.uses[0].parameter);
    if (std::ranges::count(options.hypers, hyper.name, &Hyper::name) > 1)
      fail("joint: two hypers are called '{}'; give each a name of its own", hyper.name);
    if (!hyper.prior.log_density)
      fail("hyper '{}' has no prior; give it one, such as HyperPrior::half_cauchy(1), or HyperPrior::flat()",
           hyper.name);
    if (hyper.uses.empty() && !options.set_by_hypers)
      fail("hyper '{}' is the parameter of no factor; name one, or set parameters in JointOptions::set_by_hypers",
           hyper.name);
    double start = hyper.prior.start;
    for (const Hyper::Use& use : hyper.uses) {
      if (!(std::abs(use.power) > 0 && std::abs(use.power) < kInfinity))
        fail("hyper '{}': the power is {}; a number other than 0 is expected", hyper.name, use.power);
      const Graph::Factor factor = graph[use.factor];
      const double own = start_of(graph, registry.kind(factor.kind), hyper, use);
      if (&use == hyper.uses.data()) start = own;
      const std::pair entry(use.factor.value, use.parameter);
      if (std::ranges::find(used, entry) != used.end())
        fail("hyper '{}': parameter '{}' of factor '{}' is that of a hyper already; name it once", hyper.name,
             use.parameter, factor.name());
      used.push_back(entry);
    }
    const auto has_density = [&](double at) {
      return std::isfinite(hyper.prior.log_density_of_free(hyper.prior.free_of(at)));
    };
    if (!has_density(start)) start = hyper.prior.start;
    if (!has_density(start))
      fail("hyper '{}': its prior has no density at {}, where it should have its mass; check its numbers", hyper.name,
           start);
    starts.push_back(hyper.prior.free_of(start));
  }
  return starts;
}

}  // namespace

void JointSolver::set_hypers(State& state, std::span<const double> values) const {
  std::vector<double> numbers;
  for (std::size_t i = 0; i < values.size(); ++i)
    for (const Hyper::Use& use : options_.hypers[i].uses) {
      numbers = use.times.empty() ? std::vector<double>{1.0} : use.times;
      for (double& number : numbers) number *= std::pow(values[i], use.power);
      state.set_parameter(use.factor, use.parameter, numbers);
    }
  if (options_.set_by_hypers) options_.set_by_hypers(state, values);
}

void HyperPoints::add(const State& state, const Memory& memory, std::span<const double> at, double log_weight) {
  values.emplace_back(at.begin(), at.end());
  weights.push_back(log_weight);
  Numbers::Reader reader(memory.numbers);
  Numbers::Sparse row;
  elements = memory.numbers.values.size();
  for (std::uint32_t e = 0; e < elements; ++e) {
    const Gaussian found = marginal(state, memory, e, reader, row);
    means.push_back(memory.numbers.values[e]);
    variances.push_back(found.is_point() ? 0 : found.variance());
  }
  // The built-in charts are groups: the step is the point after the inverse of the first. Other values are plain
  // numbers.
  std::vector<double> back, by, again;
  for (const System::Point& p : memory.system->points) {
    const double* const first = means.data() + p.element;
    double* const own = means.data() + (weights.size() - 1) * elements + p.element;
    back.assign(first, first + p.chart->size);
    by.resize(back.size());
    again.resize(back.size());
    for (double& number : back) number = -number;
    p.chart->retract(back.data(), own, by.data());
    p.chart->retract(first, by.data(), again.data());
    double off = 0;
    for (std::size_t i = 0; i < by.size(); ++i) off = std::max(off, std::abs(again[i] - own[i]));
    for (std::size_t i = 0; off < 1e-9 && i < by.size(); ++i) own[i] = first[i] + by[i];
  }
}

// Normalises log weights.
void HyperPoints::weigh(const Memory& memory, double log_cell) {
  log_evidence = log_sum_exp(weights) + log_cell;
  to_fractions(weights);
  turned.assign(elements, 0.0);
  std::vector<double> by;
  for (const System::Point& p : memory.system->points) {
    by.resize(p.chart->size);
    for (std::uint32_t i = 0; i < by.size(); ++i) by[i] = mean(p.element + i) - means[p.element + i];
    p.chart->retract(means.data() + p.element, by.data(), turned.data() + p.element);
    for (std::uint32_t i = 0; i < by.size(); ++i) turned[p.element + i] -= mean(p.element + i);
  }
}

// Values equal at all points are returned without rounding.
double HyperPoints::mean(std::size_t element) const {
  double moved = 0;
  for (std::size_t k = 1; k < weights.size(); ++k)
    moved += weights[k] * (means[k * elements + element] - means[element]);
  return means[element] + moved;
}

Gaussian HyperPoints::marginal_of(std::size_t element) const {
  const double m = mean(element);
  double variance = 0;
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const double off = means[k * elements + element] - m;
    variance += weights[k] * (variances[k * elements + element] + off * off);
  }
  if (!std::isfinite(m) || !(variance < kInfinity)) return Gaussian::uniform();
  return variance > 0 ? Gaussian::from_moments(place(element), variance) : Gaussian::point(place(element));
}

double HyperPoints::quantile(std::size_t element, double probability) const {
  const double middle = mean(element), sd = marginal_of(element).sd();
  double low = middle - 40 * sd, high = middle + 40 * sd;
  for (int i = 0; i < 100; ++i) {
    const double x = 0.5 * (low + high);
    double below = 0;
    for (std::size_t k = 0; k < weights.size(); ++k)
      below += weights[k] * 0.5 *
               std::erfc((means[k * elements + element] - x) / std::sqrt(2 * variances[k * elements + element]));
    (below < probability ? low : high) = x;
  }
  return 0.5 * (low + high) + turned[element];
}

void JointSolver::for_points(const State& state,
                             const std::function<void(const State&, const Memory&, std::size_t point)>& visit) const {
  const Memory& memory = static_cast<const Memory&>(*state.solver_memory());
  const RunOptions options;
  const Watch watch(options);
  State work = state.copy();
  Memory& own = static_cast<Memory&>(*work.solver_memory());
  own.watch = &watch;
  own.start = memory.start;
  own.loosest = kLoosest;
  for (std::size_t k = 0; k < memory.hypers->weights.size(); ++k) {
    set_hypers(work, memory.hypers->values[k]);
    (void)solve(work, k > 0, false);
    visit(work, own, k);
  }
}

Report JointSolver::integrate(State& state, bool is_warm) const {
  Memory& memory = static_cast<Memory&>(*state.solver_memory());
  memory.hypers.reset();
  const auto count = static_cast<Eigen::Index>(options_.hypers.size());
  Eigen::VectorXd start = Eigen::Map<const Eigen::VectorXd>(starts_.data(), count);
  std::vector<double> values(options_.hypers.size());
  int iterations = 0, solved = 0;
  Report last;
  const auto density = [&](const Eigen::VectorXd& t) {
    if (last.stop == Report::Stop::interrupted) return -kInfinity;
    double log_prior = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const HyperPrior& prior = options_.hypers[i].prior;
      values[i] = prior.value_of(t[static_cast<Eigen::Index>(i)]);
      log_prior += prior.log_density_of_free(t[static_cast<Eigen::Index>(i)]);
    }
    if (!std::isfinite(log_prior)) return -kInfinity;
    set_hypers(state, values);
    last = solve(state, is_warm || solved++ > 0, false);
    iterations += last.joint->iterations;
    if (last.stop == Report::Stop::diverged || memory.is_singular()) return -kInfinity;
    const double found = log_evidence_of(state, memory) + log_prior;
    return std::isnan(found) ? -kInfinity : found;
  };
  const auto given_up = [&](Report::Stop stop, std::string undetermined) {
    last.stop = stop;
    last.joint->iterations = iterations;
    last.joint->undetermined = std::move(undetermined);
    return last;
  };
  memory.loosest = kLoosest;
  if (!std::isfinite(density(start))) return last;  // the graph itself is not solved
  const Mode mode = find_mode(density, start);
  if (last.stop == Report::Stop::interrupted) return last;
  if (!mode.is_found) {
    std::string names;
    for (Eigen::Index i = 0; i < count; ++i)
      if (mode.open < 0 || i == mode.open)
        names += fmt::format("{}'{}'", names.empty() ? "" : ", ", options_.hypers[static_cast<std::size_t>(i)].name);
    return mode.open >= 0 ? given_up(Report::Stop::singular, "hyper " + names) : given_up(Report::Stop::limit, {});
  }
  HyperPoints points;
  // On a lattice a kernel of half a step keeps the tails of quantiles narrow.
  points.step = (count > kMostOnLattice ? 1 : 0.5) * lattice_size(count).step;
  std::vector<std::uint8_t> unsettled;
  const bool whole = visit_points(mode, [&](const Eigen::VectorXd& t, double log_weight) {
    const double height = density(t);
    if (!std::isfinite(height)) return height;
    if ((points.means.size() + memory.numbers.values.size()) * 2 * sizeof(double) > options_.memory)
      fail("joint: beliefs at {} points of the hypers take more than {} bytes; allow more: joint({{.memory = ...}})",
           points.weights.size(), options_.memory);
    points.add(state, memory, values, height + log_weight);
    unsettled.push_back(!last.converged());
    return height;
  });
  if (last.stop == Report::Stop::interrupted) return last;
  points.weigh(memory, log_cell(mode));
  double left = 0, squares = 0;
  for (std::size_t k = 0; k < points.weights.size(); ++k) {
    left += unsettled[k] * points.weights[k];
    squares += points.weights[k] * points.weights[k];
  }
  memory.loosest = 0;
  (void)density(mode.at);  // leaves the state at the mode
  if (!memory.system->is_linear() && options_.check_draws > 0 && last.stop == Report::Stop::converged)
    check_fit(state, memory, last);
  JointReport& joint = *last.joint;
  joint.iterations = iterations;
  joint.hypers = {.points = static_cast<int>(points.weights.size()),
                  .effective = 1 / squares,
                  .largest = *std::ranges::max_element(points.weights)};
  if (last.stop == Report::Stop::exact) last.stop = Report::Stop::converged;
  if (!whole || left > kUnsettled || (count > kMostOnLattice && squares * kFewest > 1)) last.stop = Report::Stop::limit;
  memory.hypers = std::make_unique<HyperPoints>(std::move(points));
  return last;
}

const HyperIntegral& hyper_integral() {
  static constexpr HyperIntegral kIntegral{&check_hypers, &JointSolver::integrate};
  return kIntegral;
}

}  // namespace dma::joint_system
