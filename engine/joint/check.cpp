// Checks whether the Gaussian fits the posterior. Draws from it are weighted by the graph's own density,
//
//  log w = log p(x, observed) - log N(x; solution),
//
// which is constant for a perfect fit. The tail of the weights measures the misfit: the shape k of a generalised Pareto
// distribution of the largest of them, as in Pareto-smoothed importance sampling (Vehtari, Simpson, Gelman, Yao and
// Gabry 2024). Draws of a Gaussian that is too narrow miss the mass beyond it; steps of a sampler from them find it
// (check_steps.cpp), and other starts find other modes.
//
// A state whose check has parts renews one of them at each run: some draws, one chain, one start. Weights are then
// relative to that at the solution, so that those of different runs can be compared.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/compile/plan_data.h"
#include "engine/joint/fit_check.h"
#include "engine/kinds/kind.h"
#include "engine/support/text.h"

namespace dma::joint_system {

namespace {

constexpr std::uint64_t kSeed = 1;
// Work of all draws together, in multiplications: a fraction of a second.
constexpr double kMostWork = 2e8;
// Cost of a function or density call, in multiplications; of a gradient, relative to a value; of a solver step,
// relative to a triangular solve.
constexpr double kCall = 20, kGradient = 3, kSolve = 30;
constexpr int kStarts = 3;

// Shape of a generalised Pareto distribution (1 + k x / sigma)^(-1 / k - 1) / sigma, from its excesses x > 0,
// ascending. For t = k / sigma the likelihood is largest at k = mean log(1 + t x), and is n (log(t / k) - k - 1) there;
// its mean over a grid of t that is dense near the data (Zhang and Stephens 2009) needs no search. Ten prior excesses
// of shape 1/2 regularise small samples.
double pareto_shape(FitCheck& check) {
  const std::span<const double> x = check.excesses;
  const auto n = static_cast<double>(x.size());
  const double largest = x.back(), quarter = x[static_cast<std::size_t>(0.25 * n + 0.5) - 1];
  const int grid = 30 + static_cast<int>(std::sqrt(n));
  const auto shape_at = [&](double t) {
    double sum = 0;
    for (const double xi : x) sum += std::log1p(t * xi);
    return sum / n;
  };
  std::vector<double>&ts = check.grid, &logs = check.heights;
  ts.clear(), logs.clear();
  for (int j = 1; j <= grid; ++j) {
    const double t = (std::sqrt(grid / (j - 0.5)) - 1) / (3 * quarter) - 1 / largest, k = shape_at(t);
    if (!(t / k > 0 && t < kInfinity)) continue;  // 0 / 0, or excesses near the limits of a double
    ts.push_back(t);
    logs.push_back(n * (std::log(t / k) - k - 1));
  }
  if (logs.empty()) return kInfinity;
  const double most = *std::ranges::max_element(logs);
  double sum = 0, mean = 0;
  for (std::size_t j = 0; j < ts.size(); ++j) {
    const double weight = std::exp(logs[j] - most);
    sum += weight;
    mean += weight * ts[j];
  }
  constexpr double kSteady = 10;
  return (n * shape_at(mean / sum) + 0.5 * kSteady) / (n + kSteady);
}

// Fit from log weights in any order.
JointReport::Fit fit_of(FitCheck& check) {
  std::vector<double>& logs = check.sorted;
  logs = check.logs;
  JointReport::Fit fit{.draws = static_cast<int>(logs.size())};
  std::ranges::sort(logs);
  const double largest = logs.back();
  if (!(largest > -kInfinity)) {
    fit.k = kInfinity;
    return fit;
  }
  double sum = 0, squares = 0;
  for (double& w : logs) {
    w = std::exp(w - largest);
    sum += w;
    squares += w * w;
  }
  fit.effective = sum * sum / squares;
  const double draws = static_cast<double>(logs.size());
  const auto tail = static_cast<std::size_t>(std::min(0.2 * draws, 3 * std::sqrt(draws)));
  const double cut = logs[logs.size() - tail - 1];
  constexpr double kRounding = 1e-9;  // smaller differences of weights are rounding
  if (1 - cut < kRounding) return fit;
  check.excesses.clear();
  for (std::size_t i = logs.size() - tail; i < logs.size(); ++i)
    if (logs[i] > cut) check.excesses.push_back(logs[i] - cut);
  constexpr std::size_t kFew = 5;  // with fewer left, the others are negligible
  fit.k = check.excesses.size() < kFew ? kInfinity : pareto_shape(check);
  return fit;
}

}  // namespace

void FitCheck::restart() {
  random.seed(kSeed);
  random_of_chains.seed(kSeed);
  logs.clear();
  next = 0;
  std::ranges::fill(sums, Sums());
  states = 0;
  accepted = {};
  start = 0, since = 0, elsewhere = 0;
}

void JointSolver::check_fit(const State& state, Memory& memory, Report& report) const {
  Numbers& n = memory.numbers;
  const System& system = *memory.system;
  JointReport::Fit& fit = report.joint->fit.emplace(JointReport::Fit{});  // clang rejects emplace() here
  if (const Kind* const kind = memory.sites.without_density(*state.plan())) {
    fit.why_not = fmt::format("kind '{}' has no log_density", kind->name());
    return;
  }
  double numbers = static_cast<double>(system.elimination.panels + system.role.size());
  for (const Batch& batch : system.batches) numbers += kCall * static_cast<double>(batch.arguments.size());
  for (const SitePlate& plate : system.sites) numbers += kCall * plate.slots;
  if (options_.check_draws * numbers > kMostWork) {
    fit.why_not = fmt::format("{} draws of a graph of this size are too much work", options_.check_draws);
    return;
  }
  if (memory.check == nullptr) memory.check = std::make_unique<FitCheck>(memory);
  FitCheck& check = *memory.check;
  const auto draws = static_cast<std::size_t>(options_.check_draws);
  const bool is_renewed = memory.check_parts > 1 && check.logs.size() == draws;
  if (!is_renewed) check.restart();
  double at_solution = 0;
  if (memory.check_parts > 1) {
    at_solution = -n.evaluate_rows(n.x);  // first: the sites read the values that it leaves
    at_solution += memory.sites.log_density(state, n);
  }
  if (!std::isfinite(at_solution)) at_solution = 0;
  check.logs.resize(draws);
  check.computed.clear();
  for (std::uint32_t e = 0; memory.check_parts == 1 && system.points.empty() && e < system.role.size(); ++e)
    if (system.role[e] == Role::derived && !system.has_constant_gains)
      if (const Gaussian belief = marginal(state, memory, e, check.reader, check.row);
          belief.is_proper() || belief.is_point())
        check.computed.push_back({e, belief});
  const std::size_t parts = is_renewed ? static_cast<std::size_t>(memory.check_parts) : 1;
  for (std::size_t d = 0; d < (draws + parts - 1) / parts; ++d) {
    double squares = 0;
    for (double& z : n.trial) {
      z = check.normal(check.random);
      squares += z * z;
    }
    n.fronts.solve_upper(n.trial, n.room);
    for (std::size_t u = 0; u < n.x.size(); ++u) n.trial[u] += n.x[u];
    const double log_rows = -n.evaluate_rows(n.trial);
    for (FitCheck::Computed& of : check.computed) {
      constexpr double kRounding = 1e-9;
      const double apart = n.values[of.element] - of.belief.mean();
      // The tangent of x * x at 0 is flat: the belief is a point, and every draw lies outside.
      const bool is_same = std::abs(apart) <= kRounding * (1 + std::abs(of.belief.mean()));
      const double off = of.belief.is_point() ? 0 : apart / of.belief.sd();
      if (!std::isfinite(off) || (of.belief.is_point() && !is_same)) {
        ++of.outside;
        continue;
      }
      of.first += off;
      of.second += off * off;
    }
    const double log_weight = log_rows + memory.sites.log_density(state, n) + 0.5 * squares - at_solution;
    // Not a number outside of the domain of some function.
    check.logs[check.next] = std::isnan(log_weight) ? -kInfinity : log_weight;
    check.next = (check.next + 1) % draws;
  }
  fit = fit_of(check);
  n.place(n.x, false);
  n.predict();
  if (memory.check_parts == 1 && !fit.are_weights_good()) return;
  check_computed(state, memory, fit);
  if (!fit.are_steps_good()) return;
  check_steps(state, memory, kMostWork / (kGradient * numbers), fit);
  if (memory.check_parts > 1 || fit.are_steps_good()) check_starts(state, memory, *report.joint, fit);
}

// The belief of what a function gives is that of the function's tangent: draws of the function may be wider, or lie
// elsewhere.
void JointSolver::check_computed(const State& state, const Memory& memory, JointReport::Fit& fit) const {
  const auto draws = static_cast<double>(options_.check_draws);
  double worst = 0;
  for (const FitCheck::Computed& of : memory.check->computed) {
    constexpr double kFewOutside = 0.01;
    const double inside = draws - of.outside, moved = inside > 0 ? std::abs(of.first) / inside : 0;
    const double wider = of.outside > kFewOutside * draws ? kInfinity
                         : of.belief.is_point()           ? 1
                                                          : std::sqrt(of.second / inside - moved * moved);
    const double off = std::max(moved, std::abs(std::log(wider)));
    if (!(off > worst)) continue;
    worst = off;
    JointReport::Fit seen = fit;
    seen.moved = moved, seen.wider = wider;
    if (!seen.are_steps_good()) fit = seen, fit.farthest = "'" + state.plan()->element_name(of.element) + "'";
  }
}

bool JointSolver::solve_elsewhere(const State& state, Memory& other, std::uint64_t seed) const {
  begin(other, seed);
  other.sites.forget();
  Report report;
  return settle(state, other, report, true) == End::converged && complete(other);
}

// Solves from draws of the priors and compares evidences. A solution within a few standard deviations is the same mode.
// Graphs with points on manifolds are skipped: their values have no differences.
void JointSolver::check_starts(const State& state, Memory& memory, const JointReport& own,
                               JointReport::Fit& fit) const {
  constexpr double kApart = 3, kNoMass = 0.01;
  const System& system = *memory.system;
  const double numbers = static_cast<double>(system.elimination.panels + system.role.size());
  if (system.has_constant_gains || !system.points.empty() || kSolve * numbers * own.iterations > kMostWork) return;
  FitCheck& check = *memory.check;
  const auto moments = [&](const Memory& of, std::vector<Gaussian>& out) {
    out.clear();
    for (const std::uint32_t e : system.element_of) out.push_back(marginal(state, of, e, check.reader, check.row));
  };
  moments(memory, check.here);
  if (check.other == nullptr) check.other = std::make_unique<Memory>(memory.system);
  Memory& other = *check.other;
  other.most_solves = memory.check_parts > 1 ? 3 * own.iterations : options_.limit;
  const std::uint64_t last = check.start + (memory.check_parts > 1 ? 1 : kStarts);
  if (check.since < memory.check_parts)
    ++check.since;
  else
    check.elsewhere = 0;
  try {
    const double mass = log_evidence_of(state, memory);
    while (check.start < last && (memory.check_parts > 1 || check.elsewhere <= kNoMass)) {
      if (!other.numbers.read(state)) break;
      ++check.start;
      if (!solve_elsewhere(state, other, check.start)) continue;
      moments(other, check.there);
      double apart = 0;
      for (std::size_t u = 0; u < check.here.size(); ++u)
        apart = std::max(
            apart, std::abs(check.here[u].mean() - check.there[u].mean()) / (check.here[u].sd() + check.there[u].sd()));
      const double part = 1 / (1 + std::exp(mass - log_evidence_of(state, other)));
      if (apart > kApart && part > kNoMass) check.elsewhere = part, check.since = 0;
    }
  } catch (const Error&) {  // no evidence to compare
  }
  fit.elsewhere = check.elsewhere;
}

}  // namespace dma::joint_system
