#include "models/mixtures/switching.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "engine/gates/mixture.h"
#include "engine/support/dense.h"
#include "engine/support/log_sum_exp.h"
#include "engine/support/text.h"

namespace dma {

namespace {

constexpr std::size_t kMostPaths = 65536;
constexpr double kMostPathNumbers = 5e7;  // 0.4 GB

void check_size(const std::string& what, const Eigen::MatrixXd& m, Eigen::Index rows, Eigen::Index columns) {
  if (m.rows() != rows || m.cols() != columns)
    fail("switching: {} is {} x {}; {} x {} is expected", what, m.rows(), m.cols(), rows, columns);
  if (!m.allFinite()) fail("switching: {} holds a number that is not finite; give it a value", what);
}

void check_spread(const std::string& what, const Eigen::MatrixXd& m, Eigen::Index size, bool may_be_singular) {
  constexpr double kRounding = 1e-9;
  check_size(what, m, size, size);
  const double scale = m.cwiseAbs().maxCoeff();
  if (!((m - m.transpose()).cwiseAbs().maxCoeff() <= kRounding * scale))
    fail("switching: {} is not symmetric; a covariance is expected", what);
  const double least = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(m, Eigen::EigenvaluesOnly).eigenvalues()[0];
  if (may_be_singular ? least < -kRounding * scale : !(least > 0))
    fail("switching: {} has the eigenvalue {:.3g}; a covariance {} is expected: add to its diagonal", what, least,
         may_be_singular ? "without negative ones" : "with positive ones");
}

void check(const SwitchingModel& model) {
  if (model.regimes.empty()) fail("switching: no regimes are given; at least one is expected");
  const auto count = static_cast<Eigen::Index>(model.regimes.size()), size = model.mean.size();
  if (size == 0) fail("switching: the mean has no numbers; one for each of the state is expected");
  check_distributions("switching", "start", model.start.transpose(), 1, count);
  check_distributions("switching", "transition", model.transition, count, count);
  check_size("the mean", model.mean, size, 1);
  check_spread("the covariance", model.covariance, size, true);
  const Eigen::Index outputs = model.regimes[0].h.rows();
  if (outputs == 0) fail("switching: h of regime 1 has no rows; one for each value of a step is expected");
  for (std::size_t k = 0; k < model.regimes.size(); ++k) {
    const LinearRegime& regime = model.regimes[k];
    const auto named = [&](char letter) { return fmt::format("{} of regime {}", letter, k + 1); };
    check_size(named('a'), regime.a, size, size);
    check_spread(named('q'), regime.q, size, true);
    check_size(named('h'), regime.h, outputs, size);
    check_spread(named('r'), regime.r, outputs, false);
  }
}

SwitchingStep step_of(const SwitchingPaths& paths, std::size_t regimes) {
  SwitchingPath all = merge<SwitchingPath>(paths);
  SwitchingStep step{Eigen::VectorXd::Zero(static_cast<Eigen::Index>(regimes)), std::move(all.mean),
                     std::move(all.covariance)};
  for (std::size_t i = 0; i < paths.size(); ++i)
    step.probability[static_cast<Eigen::Index>(i % regimes)] += std::exp(paths[i].log_weight - all.log_weight);
  return step;
}

// (1 - gain h) p (1 - gain h)^T + gain r gain^T: a sum, so that rounding leaves no negative variance.
Eigen::MatrixXd updated(const Eigen::MatrixXd& p, const Eigen::MatrixXd& gain, const Eigen::MatrixXd& h,
                        const Eigen::MatrixXd& r) {
  Eigen::MatrixXd left = Eigen::MatrixXd::Identity(p.rows(), p.rows());
  add_product(left, gain, h, -1);
  return product_by_transposed(product_of(left, p), left) + product_by_transposed(product_of(gain, r), gain);
}

void move(SwitchingPath& path, const LinearRegime& regime) {
  path.mean = times(regime.a, path.mean);
  path.covariance = product_by_transposed(product_of(regime.a, path.covariance), regime.a) + regime.q;
}

// Adds the log density of the values to the log weight.
void read(SwitchingPath& path, const LinearRegime& regime, HiddenMarkov::Values y) {
  std::vector<Eigen::Index> seen;
  for (std::size_t i = 0; i < y.size(); ++i)
    if (y[i]) seen.push_back(static_cast<Eigen::Index>(i));
  if (seen.empty()) return;
  const Eigen::MatrixXd h = regime.h(seen, Eigen::all), r = regime.r(seen, seen);
  Eigen::VectorXd ahead = -times(h, path.mean);
  for (std::size_t i = 0; i < seen.size(); ++i)
    ahead[static_cast<Eigen::Index>(i)] += *y[static_cast<std::size_t>(seen[i])];
  Eigen::MatrixXd reach = product_of(h, path.covariance), s = product_by_transposed(reach, h) + r;
  if (!factorise_lower(s)) {  // r is below the rounding of the state's own variance
    path.log_weight = -HUGE_VAL;
    return;
  }
  solve_lower(s, reach), solve_lower(s, ahead);
  path.log_weight -= 0.5 * ahead.squaredNorm() + log_diagonal(s) +
                     0.5 * std::log(2 * std::numbers::pi) * static_cast<double>(seen.size());
  path.mean += transposed_times(reach, ahead);
  solve_lower_transposed(s, reach);
  path.covariance = updated(path.covariance, reach.transpose(), h, r);
}

// The path one step earlier, given what all values say of it after `regime`.
SwitchingPath earlier(SwitchingPath path, const SwitchingPath& later, const LinearRegime& regime) {
  SwitchingPath predicted = path;
  move(predicted, regime);
  const Eigen::MatrixXd moved = product_of(regime.a, path.covariance);
  const Eigen::MatrixXd gain = Eigen::LDLT<Eigen::MatrixXd>(predicted.covariance).solve(moved).transpose();
  path.log_weight = later.log_weight;
  path.mean += times(gain, later.mean - predicted.mean);
  path.covariance = updated(path.covariance, gain, regime.a, regime.q + later.covariance);
  return path;
}

// The message of later values to a merged Gaussian: smoothed / filtered = exp(pull^T e - |c e|^2 / 2), e = x - filtered
// mean. In coordinates in which the filtered covariance is 1 and the smoothed one is diagonal, a variance v gives the
// precision 1 / v - 1 and the pull mean / v. A variance above 1 is taken for 1: it moves means and widens nothing.
struct LaterValues {
  Eigen::MatrixXd c;
  Eigen::VectorXd pull;
};
LaterValues later_values(const SwitchingPath& filtered, const SwitchingPath& smoothed) {
  constexpr double kLeast = 1e-13;  // a variance below this fraction of the largest is rounding
  using Eigensystem = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>;
  const auto root_of_inverse = [](double of, double largest) {
    return of > kLeast * largest ? 1 / std::sqrt(of) : 0.0;
  };
  const Eigensystem own(filtered.covariance);
  Eigen::VectorXd roots = own.eigenvalues();
  for (double& root : roots) root = root_of_inverse(root, own.eigenvalues().maxCoeff());
  const Eigen::MatrixXd whitened = scaled_rows(roots, own.eigenvectors().transpose());
  const Eigensystem system(Eigen::MatrixXd(product_by_transposed(product_of(whitened, smoothed.covariance), whitened)));
  LaterValues later{transposed_product(system.eigenvectors(), whitened), {}};
  Eigen::VectorXd pull = times(later.c, smoothed.mean - filtered.mean), precision(pull.size());
  for (Eigen::Index i = 0; i < pull.size(); ++i) {
    const double variance = std::clamp(system.eigenvalues()[i], kLeast, 1.0);
    pull[i] /= variance;
    precision[i] = std::sqrt(1 / variance - 1);
  }
  later.pull = transposed_times(later.c, pull);
  later.c = scaled_rows(precision, later.c);
  return later;
}

// Multiplies the paths of a merger by what later values say of it.
void split(SwitchingPaths& paths, std::size_t first, std::size_t stride, const SwitchingPath& filtered,
           const SwitchingPath& smoothed) {
  const LaterValues later = later_values(filtered, smoothed);
  const Eigen::Index size = filtered.mean.size();
  std::vector<double> logs;
  for (std::size_t i = first; i < paths.size(); i += stride) {
    SwitchingPath& path = paths[i];
    const Eigen::VectorXd apart = path.mean - filtered.mean, seen = times(later.c, apart);
    Eigen::MatrixXd reach = product_of(later.c, path.covariance), s = product_by_transposed(reach, later.c);
    s.diagonal().array() += 1;
    (void)factorise_lower(s);  // at least 1
    solve_lower(s, reach), solve_lower_transposed(s, reach);
    path.covariance = updated(path.covariance, reach.transpose(), later.c, Eigen::MatrixXd::Identity(size, size));
    const Eigen::VectorXd slope = later.pull - transposed_times(later.c, seen), moved = times(path.covariance, slope);
    path.mean += moved;
    path.log_weight += later.pull.dot(apart) - 0.5 * seen.squaredNorm() - log_diagonal(s) + 0.5 * slope.dot(moved);
    logs.push_back(path.log_weight);
  }
  const double all = log_sum_exp(logs);
  for (std::size_t i = first; i < paths.size(); i += stride)
    paths[i].log_weight =
        smoothed.log_weight == -HUGE_VAL ? -HUGE_VAL : paths[i].log_weight + smoothed.log_weight - all;
}

}  // namespace

SwitchingFilter::SwitchingFilter(SwitchingModel model, std::size_t order) : model_(std::move(model)), most_merged_(1) {
  check(model_);
  const std::size_t regimes = model_.regimes.size();
  if (order < 2) fail("switching: order {} is given; at least 2 is expected", order);
  std::size_t possible = 1, paths = regimes;
  while (regimes > 1 && possible < order && paths * regimes <= kMostPaths) paths *= regimes, ++possible;
  if (regimes > 1 && possible < order)
    fail(
        "switching: order {} of {} regimes keeps {:.3g} Gaussians at a step; at most {} are possible: take order {} or "
        "less, which is approximate",
        order, regimes, std::pow(static_cast<double>(regimes), static_cast<double>(order)), kMostPaths, possible);
  most_merged_ = paths / regimes;
}

SwitchingStep SwitchingFilter::add(HiddenMarkov::Values y) {
  const std::size_t regimes = model_.regimes.size();
  if (y.size() != static_cast<std::size_t>(model_.regimes[0].h.rows()))
    fail("switching: {} values are given at a step; {} are expected, one per row of h", y.size(),
         model_.regimes[0].h.rows());
  for (const std::optional<double>& value : y)
    if (value && !std::isfinite(*value))
      fail("switching: a value is {}; a finite number is expected, or nothing if it is missing", *value);
  const bool is_first = paths_.empty();
  SwitchingPaths merged, paths;
  if (is_first) merged.push_back({0, model_.mean, model_.covariance});
  for (std::size_t g = 0; g < std::min(most_merged_, paths_.size()); ++g)
    merged.push_back(merge<SwitchingPath>(paths_, g, most_merged_));
  std::vector<double> logs;
  for (std::size_t g = 0; g < merged.size(); ++g)
    for (std::size_t j = 0; j < regimes; ++j) {
      const auto from = static_cast<Eigen::Index>(g % regimes), to = static_cast<Eigen::Index>(j);
      SwitchingPath path = merged[g];
      path.log_weight += std::log(is_first ? model_.start[to] : model_.transition(from, to));
      if (!is_first) move(path, model_.regimes[j]);
      read(path, model_.regimes[j], y);
      logs.push_back(path.log_weight);
      paths.push_back(std::move(path));
    }
  const double log_density = log_sum_exp(logs);
  if (!std::isfinite(log_density))
    fail(
        "switching: the values of a step are impossible, or too far from all predictions; raise r or q, or give the "
        "regimes a probability above 0");
  for (SwitchingPath& path : paths) path.log_weight -= log_density;
  log_evidence_ += log_density;
  merged_ = std::move(merged), paths_ = std::move(paths);
  return step_of(paths_, regimes);
}

Switched switching(const SwitchingModel& model, HiddenMarkov::Values values, std::size_t order) {
  check(model);
  const std::size_t regimes = model.regimes.size(), outputs = static_cast<std::size_t>(model.regimes[0].h.rows()),
                    steps = values.size() / outputs;
  if (values.empty() || values.size() % outputs != 0)
    fail("switching: {} values are given; {} for each step are expected, one per row of h", values.size(), outputs);
  Switched found;
  found.is_exact = order >= steps || regimes == 1;
  found.order = std::min(order, std::max<std::size_t>(steps, 2));
  SwitchingFilter filter(model, found.order);
  const double state = static_cast<double>(model.mean.size()),
               most = std::pow(static_cast<double>(regimes), static_cast<double>(found.order)),
               numbers = static_cast<double>(steps) * most * (1 + state + state * state);
  if (numbers > kMostPathNumbers)
    fail(
        "switching: {} steps of {:.3g} Gaussians take {:.2g} numbers; at most {:.2g} are possible: take a lower order, "
        "or a SwitchingFilter, which stores none",
        steps, most, numbers, kMostPathNumbers);
  std::vector<SwitchingPaths> merged, paths;
  for (std::size_t t = 0; t < steps; ++t) {
    found.filtered.push_back(filter.add(values.subspan(t * outputs, outputs)));
    merged.push_back(filter.merged()), paths.push_back(filter.paths());
  }
  found.log_evidence = filter.log_evidence();
  found.smoothed.resize(steps);
  for (std::size_t t = steps; t-- > 0;) {
    found.smoothed[t] = step_of(paths[t], regimes);
    for (std::size_t g = 0; t > 0 && g < merged[t].size(); ++g) {
      SwitchingPaths continued;
      for (std::size_t j = 0; j < regimes; ++j)
        continued.push_back(earlier(merged[t][g], paths[t][g * regimes + j], model.regimes[j]));
      const SwitchingPath smoothed = merge<SwitchingPath>(continued);
      if (merged[t].size() == paths[t - 1].size())
        paths[t - 1][g] = smoothed;
      else
        split(paths[t - 1], g, merged[t].size(), merged[t][g], smoothed);
    }
  }
  return found;
}

std::string Switched::text() const {
  const std::string merged = fmt::format("approximate: paths that agree in {} regimes are merged", order);
  return fmt::format("{}; log evidence {:.6g}", is_exact ? "exact" : merged, log_evidence);
}

}  // namespace dma
