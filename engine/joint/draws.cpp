#include "engine/joint/joint.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_01.hpp>
#include <cmath>
#include <numeric>
#include <optional>

#include "engine/compile/plan_data.h"
#include "engine/joint/fit_check.h"
#include "engine/kinds/kind.h"
#include "engine/support/text.h"

namespace dma {

namespace {

using joint_system::GraphDensity;
using joint_system::Memory;
using joint_system::Numbers;

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

}  // namespace

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
  // Chains after the first start at solutions from draws of the priors: R-hat then tells of modes that they do not
  // leave.
  const bool may_differ = !memory.system->has_constant_gains && memory.system->points.empty();
  for (int c = 0; c < options.chains; ++c) {
    const std::uint64_t seed = options.seed * 1000003 + static_cast<std::uint64_t>(c);
    std::optional<Memory> other;
    if (c > 0 && may_differ) other.emplace(memory.system);
    bool starts_there = false;
    try {
      starts_there =
          other && other->numbers.read(state) && joint_system::solver_of(state).solve_elsewhere(state, *other, seed);
    } catch (const Error&) {  // a function that has no value there
    }
    HamiltonianChain chain(starts_there ? *other : memory, density, seed);
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
