#include "engine/joint/solver.h"

#include <Eigen/Core>
#include <algorithm>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <utility>

#include "engine/joint/fit_check.h"
#include "engine/support/text.h"

namespace dma::joint_system {

namespace {

// Gain ratio above which damping falls, below which it grows; factors; steps tried before giving up. Slowly falling
// damping creeps along curved valleys, such as those of poses, where undamped steps cross them. A rejected step
// restores a minimum damping.
constexpr double kGoodGain = 0.25, kPoorGain = 0.1, kLess = 0.1, kMore = 2, kMuchMore = 10;
constexpr double kLeastDamping = 1e-12, kSomeDamping = 1e-5;
constexpr int kTries = 40;
// A relative decrease of the objective below this is rounding.
constexpr double kRounding = 1e-13;
// Largest error of a mean by rounding, in standard deviations, in an answer reported as exact.
constexpr double kRoundingLeft = 1e-8;
// Refreshes without a smaller change after which only rounding moves the sites; refreshes without a halved change after
// which they are damped, as they are when the change grows; refreshes after which they are damped less, at first.
constexpr int kStalled = 5, kSlow = 10, kPatience = 2;
constexpr double kMostDamping = 0.99;
// Solves of a linear system: one, plus corrections of its rounding.
constexpr int kCorrections = 10;

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  const auto size = static_cast<Eigen::Index>(a.size());
  return Eigen::Map<const Eigen::VectorXd>(a.data(), size).dot(Eigen::Map<const Eigen::VectorXd>(b.data(), size));
}

}  // namespace

std::unique_ptr<SolverMemory> JointSolver::make_memory(const PlanData&) const {
  return std::make_unique<Memory>(system_);
}

Memory::Memory(std::shared_ptr<const System> of) : system(std::move(of)), numbers(*system), sites(*system) {}
Memory::~Memory() = default;

void Memory::change(std::shared_ptr<const System> to) {
  check.reset();
  const std::vector<double> before = std::move(numbers.values);
  numbers = Numbers(*to);
  sites = Sites(*to);
  system = std::move(to);
  for (std::size_t u = 0; u < numbers.x.size(); ++u) numbers.x[u] = before[system->element_of[u]];
}

void JointSolver::read(const State& state, Memory& memory) const {
  if (memory.numbers.read(state)) return;
  const std::vector<std::uint8_t>& inferred = memory.numbers.inferred();
  const bool may_solve = memory.numbers.can_be_solved_for_noise();
  memory.change(inferred.empty() && may_solve
                    ? system_
                    : std::make_shared<const System>(*state.plan(), EliminationLimits{.bytes = options_.memory},
                                                     inferred, may_solve));
  if (!memory.numbers.read(state)) read(state, memory);  // noise that could be solved for before, but no longer can
}

// Starts at the priors' means, at draws from them, or at the values given by set_start().
void JointSolver::begin(Memory& memory, std::uint64_t seed) const {
  Numbers& n = memory.numbers;
  std::ranges::fill(n.site_tau, 0.0);
  std::ranges::fill(n.site_rho, 0.0);
  memory.sites.apply(n);
  std::ranges::fill(n.x, 0.0);
  std::ranges::fill(n.points, 0.0);
  const System& system = *memory.system;
  if (!system.has_constant_gains) {
    // Rows of a single root; gradient and step serve as working memory.
    std::ranges::fill(n.gradient, 0.0);
    std::ranges::fill(n.step, 0.0);
    (void)n.evaluate(n.x, true);
    n.trace();
    for (std::uint32_t r = 0; r < system.first_site_row; ++r) {
      if (system.pattern.row(r).size() != 1 || system.first_program[r] != system.first_program[r + 1]) continue;
      const std::uint32_t k = system.pattern.first[r], u = system.pattern.columns[k];
      n.gradient[u] += n.row_values[k] * (n.taus[r] - n.weights[r] * n.sums[r]);
      n.step[u] += n.weights[r] * n.row_values[k] * n.row_values[k];
    }
    boost::random::mt19937_64 random(seed);
    boost::random::normal_distribution<double> normal;
    for (std::size_t u = 0; u < n.x.size(); ++u) {
      if (n.step[u] > 0) n.x[u] = n.gradient[u] / n.step[u];
      if (seed != 0) n.x[u] += normal(random) * (n.step[u] > 0 ? 1 / std::sqrt(n.step[u]) : 1.0);
    }
  }
  for (std::size_t u = 0; u < n.x.size() && !memory.start.empty(); ++u)
    if (const double at = memory.start[system.element_of[u]]; !std::isnan(at)) n.x[u] = at;
}

JointSolver::End JointSolver::solve_linear(Memory& memory, JointReport& report) const {
  Numbers& n = memory.numbers;
  const bool at_zero = std::ranges::all_of(n.x, [](double u) { return u == 0; });
  n.begin_linear(at_zero);
  if (!at_zero) report.objective = n.follow(n.x);
  End end = End::limit;
  for (int i = 0; i < kCorrections && end == End::limit; ++i) {
    (void)n.factorise(0);
    n.step = n.gradient;
    n.fronts.solve(n.step, n.room);
    const double fall = dot(n.step, n.gradient),
                 moved = fall >= 0 ? std::sqrt(fall) : kInfinity;  // in standard deviations
    for (std::size_t u = 0; u < n.x.size(); ++u) n.x[u] += n.step[u];
    report.objective = n.follow(n.x);
    report.gradient = n.gradient_size();
    ++report.iterations;
    if (std::min(moved, n.distance_left()) <= options_.tolerance) end = End::converged;
    if (!goes_on(memory, report)) end = End::interrupted;
  }
  // Residuals of thousands of standard deviations leave rounding that a matrix of many scales amplifies.
  if (end == End::converged && n.fronts.is_by_qr() && n.rounding_left() > kRoundingLeft) end = End::limit;
  n.place(n.x, false);
  return end;
}

// One step from n.x, damped until the objective falls, or, if the decrease is below rounding, until the gradient does.
JointSolver::Step JointSolver::step(Memory& memory, JointReport& report, double& damping, int& solves) const {
  Numbers& n = memory.numbers;
  const int most = std::min(options_.limit, memory.most_solves);
  bool is_rounding = false;
  for (int attempt = 0; attempt < kTries && solves < most; ++attempt) {
    (void)n.factorise(damping);
    n.step = n.gradient;
    n.fronts.solve(n.step, n.room);
    ++solves;
    ++report.iterations;
    report.gradient = n.gradient_size();
    if (report.gradient <= std::max(options_.tolerance, memory.loosest)) return Step::arrived;
    const double promised = 0.5 * dot(n.step, n.gradient);
    for (std::size_t u = 0; u < n.x.size(); ++u) n.trial[u] = n.x[u] + n.step[u];
    const double objective = n.evaluate(n.trial, true);
    const double fall = report.objective - objective,
                 rounding = kRounding * (std::abs(objective) + std::abs(report.objective));
    is_rounding = promised <= rounding;
    bool accepted = fall > 0;
    if (is_rounding) {
      n.trace();
      n.find_gradient();
      accepted = n.gradient_size() < report.gradient;
    }
    if (accepted) {
      std::swap(n.x, n.trial);
      n.recentre();
      report.objective = objective;
      const double gain = fall / promised;
      if (!is_rounding && gain > kGoodGain)
        damping = std::max(kLess * damping, kLeastDamping);
      else if (!is_rounding && gain < kPoorGain)
        damping *= kMore;
    } else {
      ++report.rejected;
      damping = std::max(kMuchMore * damping, kSomeDamping);
      (void)n.evaluate(n.x, true);
      n.trace();
      n.find_gradient();
    }
    if (!goes_on(memory, report)) return Step::interrupted;
    if (accepted) return Step::moved;
  }
  return is_rounding && solves < most ? Step::arrived : Step::stuck;
}

JointSolver::End JointSolver::step_to_the_end(Memory& memory, JointReport& report) const {
  if (memory.system->has_constant_gains) return solve_linear(memory, report);
  Numbers& n = memory.numbers;
  double damping = options_.damping;
  report.objective = n.evaluate(n.x, true);
  n.recentre();
  for (int solves = 0;;) {
    n.trace();
    n.find_gradient();
    switch (step(memory, report, damping, solves)) {
      case Step::moved:
        continue;
      case Step::arrived:
        return End::converged;
      case Step::stuck:
        return End::limit;
      case Step::interrupted:
        return End::interrupted;
    }
  }
}

bool JointSolver::goes_on(const Memory& memory, const JointReport& report) const {
  if (memory.watch == nullptr) return true;
  Report so_far;
  so_far.stop = Report::Stop::interrupted;
  so_far.joint = report;
  return (!options_.callback || options_.callback(report)) && memory.watch->goes_on(so_far);
}

Report JointSolver::run(State& state, const RunOptions& options) const {
  const Watch watch(options);
  static_cast<Memory&>(*state.solver_memory()).watch = &watch;
  if (options_.hypers.empty()) return solve(state, options.warm, true);
  return (this->*options_.hypers[0].integral->integrate)(state, options.warm);
}

// Alternates steps and refreshes, from the values in memory.
JointSolver::End JointSolver::settle(const State& state, Memory& memory, Report& report, bool is_fresh) const {
  Numbers& n = memory.numbers;
  memory.sites.apply(n);
  JointReport& joint = report.joint.emplace();
  End end = step_to_the_end(memory, joint);
  if (is_fresh && end == End::converged) end = leave_saddle(memory, joint);
  double damping = 0, least = kInfinity, halved = kInfinity, before = kInfinity;
  // Refreshes since the smallest change, since it was last halved, since the damping last changed; and the number of
  // the last after which sites are damped less.
  int stalled = 0, slow = 0, calm = 0, patience = kPatience;
  bool was_eased = false;
  const bool has_sites = !memory.system->site_elements.empty();
  while (has_sites && end == End::converged) {
    n.trace();
    (void)n.factorise(0);
    n.invert();
    Outcome outcome;
    memory.sites.refresh(state, n, damping, outcome);
    memory.sites.apply(n);
    report.faults = outcome.faults;  // faults of the last refresh, whose sites are kept
    report.replaced = outcome.replaced;
    ++joint.refreshes;
    end = step_to_the_end(memory, joint);
    const double change = joint.site_change = memory.sites.change(state, n, damping);
    stalled = change < least ? 0 : stalled + 1;
    least = std::min(least, change);
    const double allowed = std::max(options_.site_tolerance, memory.loosest);
    if (change <= (stalled < kStalled ? allowed : std::max(allowed, kRoundingLeft))) break;
    if (joint.refreshes >= options_.refreshes) end = End::limit;
    slow = 2 * change < halved ? 0 : slow + 1;
    if (slow == 0) halved = change;
    ++calm;
    if (change > before || slow > kSlow / (1 - damping)) {
      damping = std::min(0.5 + 0.5 * damping, kMostDamping);
      halved = kInfinity;
      slow = calm = 0;
      patience *= was_eased ? 2 : 1;
      was_eased = false;
    } else if (calm >= patience && damping > 0) {
      damping = std::max(2 * damping - 1, 0.0);
      calm = 0;
      if (std::exchange(was_eased, true)) patience = kPatience;
    }
    before = change;
  }
  return end;
}

Report JointSolver::solve(State& state, bool is_warm, bool is_checked) const {
  Memory& memory = static_cast<Memory&>(*state.solver_memory());
  read(state, memory);
  const bool is_fresh = !is_warm || !memory.is_solved;
  if (is_fresh) {
    begin(memory, options_.start_seed);
    memory.sites.forget();
  }
  memory.is_solved = false;
  Report report;
  const End end = settle(state, memory, report, is_fresh);
  report.stop = end == End::converged     ? (memory.system->is_linear() ? Report::Stop::exact : Report::Stop::converged)
                : end == End::interrupted ? Report::Stop::interrupted
                                          : Report::Stop::limit;
  finish(state, memory, report, is_checked);
  return report;
}

// Inverts at the solution; returns false if it has no covariance.
bool JointSolver::complete(Memory& memory) const {
  Numbers& n = memory.numbers;
  n.trace();
  const bool whole = n.factorise(0);
  n.invert();
  n.predict();
  memory.objective = n.cost_of_rows();
  return whole;
}

// ... and reports undetermined elements.
void JointSolver::finish(const State& state, Memory& memory, Report& report, bool is_checked) const {
  const Numbers& n = memory.numbers;
  const JointReport& joint = *report.joint;
  const bool whole = complete(memory);
  memory.is_undetermined.clear();
  if (!std::isfinite(joint.objective) || !std::isfinite(joint.gradient) || !n.is_finite())
    report.stop = Report::Stop::diverged;
  else if (!whole)
    find_open(state, memory, report);
  else if (report.converged())
    find_isolated_sites(state, memory, report);
  if (report.stop == Report::Stop::converged && is_checked && options_.check_draws > 0)
    check_fit(state, memory, report);
  name_unpredicted(state, memory, report);
  memory.is_solved = true;
}

const JointSolver& solver_of(const State& state) {
  const auto* const solver = dynamic_cast<const JointSolver*>(state.plan()->solver.get());
  if (solver == nullptr) fail("this plan is not solved by joint; compile it with compile(graph, joint(), registry)");
  return *solver;
}

const Memory& solved_memory(const State& state) {
  (void)solver_of(state);
  const Memory& memory = static_cast<const Memory&>(*state.solver_memory());
  if (!memory.is_solved) fail("this state has not been run; call run(plan, state) first");
  if (!state.ended()) fail("the inputs of this state changed since it was run; call run(plan, state) again");
  return memory;
}

}  // namespace dma::joint_system
