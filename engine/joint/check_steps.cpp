// The second part of the check whether the Gaussian fits: a few steps of a sampler from draws of it.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/compile/plan_data.h"
#include "engine/joint/fit_check.h"
#include "engine/kinds/kind.h"

namespace dma::joint_system {

namespace {

constexpr int kFewChains = 20, kMoves = 6, kLeaps = 8;

double squares(const std::vector<double>& numbers) {
  return std::inner_product(numbers.begin(), numbers.end(), numbers.begin(), 0.0);
}

}  // namespace

void GraphDensity::read(const State& state, const Memory& memory) {
  state_ = &state;
  (void)numbers.read(state);
  numbers.points = memory.numbers.points;
}

// Site rows have weight 0 here, and the slope of their factor's log density as their linear term.
double GraphDensity::operator()(const std::vector<double>& x) {
  const System& system = *numbers.system;
  std::fill(numbers.taus.begin() + system.first_site_row, numbers.taus.end(), 0.0);
  double total = -numbers.evaluate(x, true);
  for (const SitePlate& plate : system.sites) total += look_at(plate);
  numbers.trace();
  numbers.find_gradient();
  return std::isnan(total) ? -kInfinity : total;
}

double GraphDensity::look_at(const SitePlate& plate) {
  const Kind& kind = *state_->plan()->groups[plate.group].kind;
  double total = 0;
  reader_.for_each(*state_, numbers, plate, [&](std::uint32_t, bool is_missing) {
    if (is_missing) return;
    total += kind.log_density()(reader_.arguments, reader_.parameters);
    for (std::size_t i = 0; i < reader_.rows.size(); ++i) {
      if (reader_.rows[i] == kNowhere) continue;
      double& argument = reader_.arguments[i];
      const double at = argument, step = 1e-5 * std::max(1.0, std::abs(at));
      const auto moved = [&](double to) {
        argument = to;
        return kind.log_density()(reader_.arguments, reader_.parameters);
      };
      numbers.taus[reader_.rows[i]] = (moved(at + step) - moved(at - step)) / (2 * step);
      argument = at;
    }
  });
  return total;
}

double energy(const Numbers& n, const std::vector<double>& v) {
  const auto& pattern = n.system->pattern;
  double sum = 0;
  for (std::uint32_t r = 0; r < n.system->rows; ++r) {
    double along = 0;
    for (std::uint32_t k = pattern.first[r]; k < pattern.first[r + 1]; ++k)
      along += n.row_values[k] * v[pattern.columns[k]];
    sum += n.weights[r] * along * along;
  }
  return sum;
}

void CoupledChains::begin(const Numbers& solution, GraphDensity& density, boost::random::mt19937_64& random) {
  n_ = &solution;
  density_ = &density;
  random_ = &random;
  draw(z_);
  colour(z_, x_);
  for (std::size_t u = 0; u < x_.size(); ++u) x_[u] += n_->x[u];
  look();
}

void CoupledChains::move(int leaps, double longest_step, Accepted& accepted) {
  draw(w_);
  colour(w_, v_);
  const double step = longest_step * (0.6 + 0.4 * uniform_(*random_)), chance = std::log(uniform_(*random_));
  const double kinetic = 0.5 * squares(w_), before = height_, before_of_gaussian = -0.5 * squares(z_);
  old_x_ = x_;
  old_z_ = z_;
  old_gradient_ = gradient_;
  for (int i = 0; i < leaps; ++i) {
    push(0.5 * step);
    for (std::size_t u = 0; u < x_.size(); ++u) x_[u] += step * v_[u], z_[u] += step * w_[u];
    if (height_ > -kInfinity) look();
    push(0.5 * step);
  }
  const double ratio = height_ - before + kinetic - 0.5 * energy(*n_, v_),
               ratio_of_gaussian = kinetic - before_of_gaussian - 0.5 * (squares(z_) + squares(w_));
  accepted.probability += std::isnan(ratio) ? 0 : std::exp(std::min(ratio, 0.0));
  accepted.of_gaussian += std::exp(std::min(ratio_of_gaussian, 0.0));
  if (!(chance < ratio)) x_ = old_x_, gradient_ = old_gradient_, height_ = before;
  if (!(chance < ratio_of_gaussian)) z_ = old_z_;
}

void CoupledChains::read(std::vector<double>& off, std::vector<double>& off_of_gaussian) {
  off = x_;
  for (std::size_t u = 0; u < off.size(); ++u) off[u] -= n_->x[u];
  colour(z_, off_of_gaussian);
}

void CoupledChains::draw(std::vector<double>& out) {
  for (double& z : out) z = normal_(*random_);
}

void CoupledChains::look() {
  height_ = (*density_)(x_);
  gradient_ = density_->numbers.gradient;
}

void CoupledChains::push(double by) {
  pushed_ = gradient_;
  n_->fronts.solve(pushed_, room_);
  for (std::size_t u = 0; u < v_.size(); ++u) v_[u] += by * pushed_[u], w_[u] -= by * z_[u];
}

// Few chains suffice if nothing moves; otherwise as many as the budget of gradients allows. A check that is renewed
// adds one chain, and lets the others count less: as if the last `check_parts` were kept.
void JointSolver::check_steps(const State& state, Memory& memory, double most_gradients, JointReport::Fit& fit) const {
  // Thresholds in standard deviations; factor of work if something moves.
  constexpr double kAtRest = 0.1, kBeyond = 3, kMore = 4, kOfChain = kMoves * kLeaps;
  FitCheck& check = *memory.check;
  const std::size_t unknowns = memory.numbers.x.size();
  if (unknowns == 0 || most_gradients < kFewChains * kOfChain) return;
  const int most = static_cast<int>(std::min(0.5 * options_.check_draws, kMore * most_gradients / kOfChain));
  check.sds.clear();
  for (const std::uint32_t e : memory.system->element_of)
    check.sds.push_back(marginal(state, memory, e, check.reader, check.row).sd());
  check.density.read(state, memory);
  const double step = 0.5 / std::pow(static_cast<double>(unknowns), 0.25);
  const auto add_chain = [&] {
    check.pair.begin(memory.numbers, check.density, check.random_of_chains);
    for (int m = 0; m < kMoves; ++m) {
      check.pair.move(kLeaps, step, check.accepted);
      if (m < kMoves / 2) continue;
      check.pair.read(check.off, check.off_of_gaussian);
      ++check.states;
      for (std::size_t u = 0; u < unknowns; ++u) {
        FitCheck::Sums& sums = check.sums[u];
        const double a = check.off[u] / check.sds[u], b = check.off_of_gaussian[u] / check.sds[u];
        sums.first += a, sums.second += a * a, sums.of_gaussian += b, sums.square_of_gaussian += b * b;
        sums.beyond += (std::abs(a) > kBeyond ? 1 : 0) - (std::abs(b) > kBeyond ? 1 : 0);
      }
    }
  };
  const auto judge = [&] {
    const double states = check.states;
    std::size_t farthest = 0;
    double worst = 0;
    fit.accepted = check.accepted.probability / check.accepted.of_gaussian;
    fit.moved = fit.beyond = 0, fit.wider = 1;
    for (std::size_t u = 0; u < unknowns; ++u) {
      const FitCheck::Sums& sums = check.sums[u];
      const auto variance = [&](double first, double second) { return (second - first * first / states) / states; };
      const double moved = std::abs(sums.first - sums.of_gaussian) / states;
      const double wider =
          std::sqrt(variance(sums.first, sums.second) / variance(sums.of_gaussian, sums.square_of_gaussian));
      fit.moved = std::max(fit.moved, moved), fit.beyond = std::max(fit.beyond, sums.beyond / states);
      if (std::abs(std::log(wider)) > std::abs(std::log(fit.wider))) fit.wider = wider;
      if (const double off = std::max(moved, std::abs(std::log(wider))); off > worst) worst = off, farthest = u;
    }
    if (worst > 0 && !fit.are_steps_good())
      fit.farthest = "'" + state.plan()->element_name(memory.system->element_of[farthest]) + "'";
  };
  if (check.states > 0) {
    const double keep = 1 - 1.0 / memory.check_parts;
    for (FitCheck::Sums& sums : check.sums)
      sums.first *= keep, sums.second *= keep, sums.of_gaussian *= keep, sums.square_of_gaussian *= keep,
          sums.beyond *= keep;
    check.states *= keep, check.accepted.probability *= keep, check.accepted.of_gaussian *= keep;
    add_chain();
    judge();
    fit.chains = static_cast<int>(std::lround(2 * check.states / kMoves));
    return;
  }
  for (fit.chains = 0; fit.chains < most;) {
    if (fit.chains == kFewChains && fit.moved < kAtRest && std::abs(fit.wider - 1) < kAtRest && fit.beyond == 0 &&
        fit.accepted > 1 - kAtRest)
      break;
    add_chain();
    if (++fit.chains == kFewChains || fit.chains == most) judge();
  }
}

}  // namespace dma::joint_system
