#include "engine/joint/draws.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_01.hpp>
#include <cmath>
#include <numeric>

#include "engine/compile/plan_data.h"
#include "engine/joint/solver.h"
#include "engine/kinds/kind.h"
#include "engine/support/error.h"

namespace dma {

namespace {

using joint_system::Memory;
using joint_system::Numbers;
using joint_system::SitePlate;

// log p(x, observed), up to a constant, and its derivative.
class GraphDensity {
 public:
  GraphDensity(const State& state, const Memory& memory) : state_(state), numbers(*memory.system) {
    (void)numbers.read(state);
    numbers.points = memory.numbers.points;
  }

  // Site rows have weight 0 here, and the slope of their factor's log density as their linear term.
  double operator()(const std::vector<double>& x) {
    const joint_system::System& system = *numbers.system;
    std::fill(numbers.taus.begin() + system.first_site_row, numbers.taus.end(), 0.0);
    double total = -numbers.evaluate(x, true);
    for (const SitePlate& plate : system.sites) total += look_at(plate);
    (void)numbers.trace();
    numbers.find_gradient();
    return std::isnan(total) ? -kInfinity : total;
  }

 private:
  double look_at(const SitePlate& plate) {
    const Kind& kind = *state_.plan()->groups[plate.group].kind;
    views_.clear();
    joint_system::append_views(state_, plate.group, views_);
    double total = 0;
    for (std::uint32_t s = 0; s < plate.slots; ++s) {
      arguments_.clear(), parameters_.clear(), rows_.clear();
      bool is_missing = false;  // integrated over its missing argument, a likelihood is 1
      for (const SitePlate::Port& port : plate.ports)
        for (std::size_t q = std::size_t{s} * port.terms; q < (s + std::size_t{1}) * port.terms; ++q) {
          arguments_.push_back(numbers.values[port.elements[q]]);
          rows_.push_back(port.rows[q]);
          is_missing |= port.rows[q] == kNowhere && numbers.missing[port.elements[q]] != 0;
        }
      if (is_missing) continue;
      for (const ParameterView& view : views_)
        parameters_.insert(parameters_.end(), view.at(0, s), view.at(0, s) + view.terms);
      total += kind.log_density()(arguments_, parameters_);
      for (std::size_t i = 0; i < arguments_.size(); ++i) {
        if (rows_[i] == kNowhere) continue;
        const double at = arguments_[i], step = 1e-5 * std::max(1.0, std::abs(at));
        const auto moved = [&](double to) {
          arguments_[i] = to;
          return kind.log_density()(arguments_, parameters_);
        };
        numbers.taus[rows_[i]] = (moved(at + step) - moved(at - step)) / (2 * step);
        arguments_[i] = at;
      }
    }
    return total;
  }

  const State& state_;
  std::vector<ParameterView> views_;
  std::vector<double> arguments_, parameters_;
  std::vector<std::uint32_t> rows_;

 public:
  Numbers numbers;
};

// v' Q v with the information matrix Q of the solution.
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

// One Markov chain: positions x with velocities v ~ N(0, Q^-1), so that the Gaussian is isotropic in its metric.
class HamiltonianChain {
 public:
  HamiltonianChain(const Memory& memory, GraphDensity& density, std::uint64_t seed)
      : n_(memory.numbers), density_(density), random_(seed), x_(n_.x), v_(x_.size()), room_(x_.size()) {
    step_ = 0.5 / std::pow(static_cast<double>(std::max<std::size_t>(1, x_.size())), 0.25);
    refresh();
    for (std::size_t u = 0; u < x_.size(); ++u) x_[u] += v_[u];
    height_ = density_(x_);
    if (height_ == -kInfinity) x_ = n_.x, height_ = density_(x_);
    gradient_ = density_.numbers.gradient;
  }

  // Returns the probability of acceptance.
  double move(int most_leaps) {
    const double kinetic = 0.5 * refresh(), before = height_;
    const int leaps = 1 + static_cast<int>(uniform_(random_) * most_leaps);
    old_x_ = x_, old_gradient_ = gradient_;
    for (int i = 0; i < leaps && height_ > -kInfinity; ++i) {
      push();
      for (std::size_t u = 0; u < x_.size(); ++u) x_[u] += step_ * v_[u];
      height_ = density_(x_);
      gradient_ = density_.numbers.gradient;
      push();
    }
    const double log_ratio = height_ - before + kinetic - 0.5 * energy(n_, v_);
    const double ratio = std::isnan(log_ratio) ? 0 : std::min(1.0, std::exp(log_ratio));
    if (!(uniform_(random_) < ratio)) x_ = old_x_, gradient_ = old_gradient_, height_ = before;
    return ratio;
  }

  void adapt(double ratio, int turn) {
    constexpr double kWanted = 0.85;
    step_ *= std::exp((ratio - kWanted) / std::sqrt(1.0 + 0.1 * turn));
  }
  const std::vector<double>& x() const { return x_; }

 private:
  double refresh() {
    double squares = 0;
    for (double& z : v_) z = normal_(random_), squares += z * z;
    n_.fronts.solve_upper(v_, room_);
    return squares;
  }
  // Half a step of the velocity along the slope.
  void push() {
    pushed_ = gradient_;
    n_.fronts.solve(pushed_, room_);
    for (std::size_t u = 0; u < v_.size(); ++u) v_[u] += 0.5 * step_ * pushed_[u];
  }

  const Numbers& n_;
  GraphDensity& density_;
  boost::random::mt19937_64 random_;
  boost::random::normal_distribution<double> normal_;
  boost::random::uniform_01<double> uniform_;
  std::vector<double> x_, v_, room_, gradient_, pushed_, old_x_, old_gradient_;
  double step_ = 0.1, height_ = 0;
};

// One chain of the graph's density and one of the Gaussian, with the same initial draw, velocities, steps and random
// numbers. Equal densities give equal chains, so their difference has little noise. For the Gaussian, positions and
// velocities are stored as the standard normal numbers that generate them.
class CoupledChains {
 public:
  CoupledChains(const Numbers& solution, GraphDensity& density, boost::random::mt19937_64& random)
      : n_(solution), density_(density), random_(random), z_(n_.x.size()), w_(z_.size()), room_(z_.size()) {
    draw(z_);
    x_ = coloured(z_);
    for (std::size_t u = 0; u < x_.size(); ++u) x_[u] += n_.x[u];
    look();
  }

  // Adds the probabilities of acceptance.
  void move(int leaps, double longest_step, double& accepted, double& accepted_of_gaussian) {
    draw(w_);
    v_ = coloured(w_);
    const double step = longest_step * (0.6 + 0.4 * uniform_(random_)), chance = std::log(uniform_(random_));
    const double kinetic = 0.5 * squares(w_), before = height_, before_of_gaussian = -0.5 * squares(z_);
    old_x_ = x_, old_z_ = z_, old_gradient_ = gradient_;
    for (int i = 0; i < leaps; ++i) {
      push(0.5 * step);
      for (std::size_t u = 0; u < x_.size(); ++u) x_[u] += step * v_[u], z_[u] += step * w_[u];
      if (height_ > -kInfinity) look();
      push(0.5 * step);
    }
    const double ratio = height_ - before + kinetic - 0.5 * energy(n_, v_),
                 ratio_of_gaussian = kinetic - before_of_gaussian - 0.5 * (squares(z_) + squares(w_));
    accepted += std::isnan(ratio) ? 0 : std::exp(std::min(ratio, 0.0));
    accepted_of_gaussian += std::exp(std::min(ratio_of_gaussian, 0.0));
    if (!(chance < ratio)) x_ = old_x_, gradient_ = old_gradient_, height_ = before;
    if (!(chance < ratio_of_gaussian)) z_ = old_z_;
  }

  // Distances of both chains from the solution.
  std::vector<double> off() const {
    std::vector<double> out(x_);
    for (std::size_t u = 0; u < out.size(); ++u) out[u] -= n_.x[u];
    return out;
  }
  std::vector<double> off_of_gaussian() { return coloured(z_); }

 private:
  static double squares(const std::vector<double>& numbers) {
    return std::inner_product(numbers.begin(), numbers.end(), numbers.begin(), 0.0);
  }
  void draw(std::vector<double>& out) {
    for (double& z : out) z = normal_(random_);
  }
  std::vector<double> coloured(std::vector<double> z) {
    n_.fronts.solve_upper(z, room_);
    return z;
  }
  void look() {
    height_ = density_(x_);
    gradient_ = density_.numbers.gradient;
  }
  void push(double by) {
    pushed_ = gradient_;
    n_.fronts.solve(pushed_, room_);
    for (std::size_t u = 0; u < v_.size(); ++u) v_[u] += by * pushed_[u], w_[u] -= by * z_[u];
  }

  const Numbers& n_;
  GraphDensity& density_;
  boost::random::mt19937_64& random_;
  boost::random::normal_distribution<double> normal_;
  boost::random::uniform_01<double> uniform_;
  std::vector<double> z_, w_, room_, x_, v_, gradient_, pushed_, old_x_, old_z_, old_gradient_;
  double height_ = 0;
};

}  // namespace

// Few chains suffice if nothing moves; otherwise as many as the budget of gradients allows.
void joint_system::JointSolver::check_steps(const State& state, const Memory& memory, double most_gradients,
                                            JointReport::Fit& fit) const {
  constexpr int kFewChains = 20, kMoves = 6, kLeaps = 8;
  // Thresholds in standard deviations; factor of work if something moves.
  constexpr double kAtRest = 0.1, kBeyond = 3, kMore = 4;
  const std::size_t unknowns = memory.numbers.x.size();
  const double of_chain = kMoves * kLeaps;
  if (unknowns == 0 || most_gradients < kFewChains * of_chain) return;
  const int most = static_cast<int>(std::min(0.5 * options_.check_draws, kMore * most_gradients / of_chain));
  std::vector<double> sds;
  Numbers::Reader reader(memory.numbers);
  Numbers::Sparse row;
  for (const std::uint32_t e : memory.system->element_of)
    sds.push_back(marginal(state, memory, e, reader, row).sd());
  struct Sums {
    double first = 0, second = 0, of_gaussian = 0, square_of_gaussian = 0, beyond = 0;
  };
  std::vector<Sums> sums(unknowns);
  GraphDensity density(state, memory);
  boost::random::mt19937_64 random(1);
  const double step = 0.5 / std::pow(static_cast<double>(unknowns), 0.25);
  double accepted = 0, accepted_of_gaussian = 0, states = 0;
  for (fit.chains = 0; fit.chains < most; ++fit.chains) {
    if (fit.chains == kFewChains && fit.moved < kAtRest && std::abs(fit.wider - 1) < kAtRest && fit.beyond == 0 &&
        fit.accepted > 1 - kAtRest)
      break;
    CoupledChains pair(memory.numbers, density, random);
    for (int m = 0; m < kMoves; ++m) {
      pair.move(kLeaps, step, accepted, accepted_of_gaussian);
      if (m < kMoves / 2) continue;
      const std::vector<double> off = pair.off(), other = pair.off_of_gaussian();
      ++states;
      for (std::size_t u = 0; u < unknowns; ++u) {
        const double a = off[u] / sds[u], b = other[u] / sds[u];
        sums[u].first += a, sums[u].second += a * a, sums[u].of_gaussian += b, sums[u].square_of_gaussian += b * b;
        sums[u].beyond += (std::abs(a) > kBeyond ? 1 : 0) - (std::abs(b) > kBeyond ? 1 : 0);
      }
    }
    if (fit.chains + 1 != kFewChains && fit.chains + 1 != most) continue;
    fit.accepted = accepted / accepted_of_gaussian;
    fit.moved = fit.beyond = 0, fit.wider = 1;
    double worst = 0;
    for (std::size_t u = 0; u < unknowns; ++u) {
      const auto variance = [&](double first, double second) { return (second - first * first / states) / states; };
      const double moved = std::abs(sums[u].first - sums[u].of_gaussian) / states;
      const double wider = std::sqrt(variance(sums[u].first, sums[u].second) /
                                     variance(sums[u].of_gaussian, sums[u].square_of_gaussian));
      fit.moved = std::max(fit.moved, moved), fit.beyond = std::max(fit.beyond, sums[u].beyond / states);
      if (std::abs(std::log(wider)) > std::abs(std::log(fit.wider))) fit.wider = wider;
      if (const double off = std::max(moved, std::abs(std::log(wider))); off > worst)
        worst = off, fit.farthest = "'" + state.plan()->element_name(memory.system->element_of[u]) + "'";
    }
  }
}

// Autocorrelations are summed in pairs until a pair is negative (Geyer 1992).
ChainWorth worth_of(const std::vector<double>& draws, std::size_t parts) {
  const std::size_t length = draws.size() / parts;
  const auto l = static_cast<double>(length), m = static_cast<double>(parts);
  std::vector<double> means(parts), variances(parts);
  for (std::size_t p = 0; p < parts; ++p) {
    const double* const own = draws.data() + p * length;
    means[p] = std::accumulate(own, own + length, 0.0) / l;
    for (std::size_t i = 0; i < length; ++i) variances[p] += (own[i] - means[p]) * (own[i] - means[p]) / (l - 1);
  }
  const double mean = std::accumulate(means.begin(), means.end(), 0.0) / m;
  const double within = std::accumulate(variances.begin(), variances.end(), 0.0) / m;
  double between = 0;
  for (const double part : means) between += (part - mean) * (part - mean) / (m - 1);
  const double whole = within * (l - 1) / l + between;
  if (!(whole > 0)) return {kInfinity, 0};  // it never moves
  const auto correlation = [&](std::size_t lag) {
    double sum = 0;
    for (std::size_t p = 0; p < parts; ++p) {
      const double* const own = draws.data() + p * length;
      for (std::size_t i = 0; i + lag < length; ++i) sum += (own[i] - means[p]) * (own[i + lag] - means[p]);
    }
    return 1 - (within - sum / (m * l)) / whole;
  };
  double time = -1;
  for (std::size_t lag = 0; lag + 1 < length; lag += 2) {
    const double pair = correlation(lag) + correlation(lag + 1);
    if (pair < 0) break;
    time += 2 * pair;
  }
  return {std::sqrt(whole / within), m * l / std::max(time, 1 / std::log10(m * l))};
}

JointDraws draw_posterior(const State& state, const DrawOptions& options) {
  const Memory& memory = joint_system::solved_memory(state);
  if (memory.is_singular())
    fail("draw_posterior: nothing determines some variables; there is no posterior to draw from");
  if (memory.hypers != nullptr)
    fail("draw_posterior: hypers are integrated over, not drawn; use JointPosterior::sample, or give them values");
  if (const Kind* const kind = memory.sites.without_density(*state.plan()))
    fail("draw_posterior: kind '{}' has no log_density; register kind.log_density(...)", kind->name());
  if (options.chains < 1 || options.warm_up < 0 || options.draws < 4 || options.leaps < 1)
    fail("draw_posterior: {} chains of {} + {} draws, {} leaps; at least 1 chain, 4 draws and 1 leap are expected",
         options.chains, options.warm_up, options.draws, options.leaps);
  GraphDensity density(state, memory);
  JointDraws out;
  out.chains = options.chains;
  const std::size_t draws = (static_cast<std::size_t>(options.draws) + 1) / 2 * 2;  // chains are cut into halves
  const std::size_t unknowns = memory.numbers.x.size();
  out.draws_.plan_ = state.plan();
  out.draws_.elements_ = memory.numbers.values.size();
  out.draws_.draws_ = static_cast<std::size_t>(options.chains) * draws;
  joint_system::check_memory(state, "draws of all elements", out.size(), out.draws_.elements_, "draw fewer at a time");
  out.draws_.values_.resize(out.size() * out.draws_.elements_);
  boost::random::mt19937_64 noise(options.seed);  // for missing elements
  Numbers work(*memory.system);
  (void)work.read(state);
  work.points = memory.numbers.points;
  double* next = out.draws_.values_.data();
  std::vector<std::vector<double>> roots(unknowns);
  for (int c = 0; c < options.chains; ++c) {
    HamiltonianChain chain(memory, density, options.seed * 1000003 + static_cast<std::uint64_t>(c));
    for (int i = 0; i < options.warm_up; ++i) chain.adapt(chain.move(options.leaps), i);
    for (std::size_t i = 0; i < draws; ++i) {
      out.accepted += chain.move(options.leaps);
      joint_system::complete_draw(work, chain.x(), noise, next);
      next += out.draws_.elements_;
      for (std::size_t u = 0; u < unknowns; ++u) roots[u].push_back(chain.x()[u]);
    }
  }
  out.accepted /= static_cast<double>(out.size());
  out.effective = static_cast<double>(out.size());
  for (const std::vector<double>& root : roots) {
    const ChainWorth worth = worth_of(root, 2 * static_cast<std::size_t>(options.chains));
    out.r_hat = std::max(out.r_hat, worth.r_hat);
    out.effective = std::min(out.effective, worth.effective);
  }
  return out;
}

double JointDraws::mean(VariableId variable, std::size_t element) const {
  double sum = 0;
  for (std::size_t d = 0; d < size(); ++d) sum += (*this)(d, variable, element);
  return sum / static_cast<double>(size());
}

double JointDraws::sd(VariableId variable, std::size_t element) const {
  const double m = mean(variable, element);
  double sum = 0;
  for (std::size_t d = 0; d < size(); ++d) sum += std::pow((*this)(d, variable, element) - m, 2);
  return std::sqrt(sum / static_cast<double>(size() - 1));
}

bool JointDraws::have_settled() const { return r_hat < 1.05 && effective >= 100; }

std::string JointDraws::line() const {
  return fmt::format("{} draws of {} chains{}: R-hat {:.3f}, {:.0f} effective, {:.0f} % accepted", size(), chains,
                     have_settled() ? "" : ", not settled", r_hat, effective, 100 * accepted);
}

}  // namespace dma
