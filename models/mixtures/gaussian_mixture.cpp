#include "models/mixtures/gaussian_mixture.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_01.hpp>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "engine/compile/compile.h"
#include "engine/run/run.h"
#include "engine/support/text.h"
#include "factors/standard_registry.h"
#include "models/mixtures/hidden_markov.h"
#include "schedules/schedules.h"

namespace dma {

namespace {

using Column = std::vector<std::optional<double>>;

constexpr double kPriorShare = 0.01;  // fraction of a column's variance: minimum width of a cluster of equal rows

std::vector<double> as_vector(const Eigen::VectorXd& vector) { return {vector.begin(), vector.end()}; }

// Returns the log-likelihood under the weights, means and variances of a fit, and sets its probabilities. One selector
// per row picks a Gaussian in every column: a tree, solved exactly.
double solve_mixture(const Eigen::MatrixXd& x, MixtureFit& fit) {
  const auto rows = static_cast<std::size_t>(x.rows());
  Graph g;
  const VariableId of = g.variable("of", rows, fmt::format("categorical({})", fit.components()));
  g.factor("categorical_prior", {of}, {{"probability", as_vector(fit.weight)}});
  std::vector<VariableId> means, seen;
  for (Eigen::Index j = 0; j < x.cols(); ++j) {
    means.push_back(g.observed("", fit.components()));
    seen.push_back(g.observed("", rows));
    g.factor("mixture", {of, column(means.back()), seen.back()}, {{"variance", as_vector(fit.variance.col(j))}});
  }
  const Plan plan = compile(g, forward_backward(), standard_registry(), {.kind_methods = {{"mixture", "ep"}}});
  State state(plan);
  for (Eigen::Index j = 0; j < x.cols(); ++j) {
    state.observe(means[static_cast<std::size_t>(j)], as_vector(fit.mean.col(j)));
    state.observe(seen[static_cast<std::size_t>(j)], as_vector(x.col(j)));
  }
  const Report report = run(plan, state);
  if (!report.converged()) fail("mixture: {}", report.line());
  const Belief belief = state.belief(of);
  for (Eigen::Index i = 0; i < fit.probability.rows(); ++i)
    for (Eigen::Index k = 0; k < fit.weight.size(); ++k)
      fit.probability(i, k) = belief.mean(static_cast<std::size_t>(i), static_cast<std::size_t>(k));
  return log_evidence(plan, state);
}

// The same by Bayes' rule for all rows at once: fast enough for thousands of learning steps.
double share_out(const Eigen::MatrixXd& x, MixtureFit& fit) {
  for (Eigen::Index k = 0; k < fit.weight.size(); ++k) {
    auto logs = fit.probability.col(k).array();
    logs = std::log(fit.weight[k]);
    for (Eigen::Index j = 0; j < x.cols(); ++j)
      logs -= (x.col(j).array() - fit.mean(k, j)).square() / (2 * fit.variance(k, j)) +
              0.5 * std::log(2 * std::numbers::pi * fit.variance(k, j));
  }
  const Eigen::VectorXd largest = fit.probability.rowwise().maxCoeff();
  for (Eigen::Index k = 0; k < fit.weight.size(); ++k)
    for (Eigen::Index i = 0; i < x.rows(); ++i) fit.probability(i, k) = std::exp(fit.probability(i, k) - largest[i]);
  const Eigen::VectorXd sum = fit.probability.rowwise().sum();
  fit.probability.array().colwise() /= sum.array();
  return (largest.array() + sum.array().log()).sum();
}

class MixtureLearner {
 public:
  MixtureLearner(const Eigen::MatrixXd& x, const MixtureOptions& options) : x_(x), options_(options) {
    for (Eigen::Index j = 0; j < x.cols(); ++j) columns_.emplace_back(x.col(j).begin(), x.col(j).end());
    spread_ = (x.rowwise() - x.colwise().mean()).array().square().colwise().mean();
    if (!spread_.allFinite()) fail("mixture: the squares of the numbers overflow; divide them by a power of ten");
    for (double& variance : spread_) variance = variance > 0 ? variance : 1;
  }

  MixtureFit best_of_starts(std::size_t components) const {
    boost::random::mt19937_64 random(options_.seed);
    MixtureFit best = learned(started(components, random));
    for (std::size_t s = 1; s < (components == 1 ? 1 : options_.starts); ++s) {
      MixtureFit fit = learned(started(components, random));
      if (fit.log_likelihood > best.log_likelihood || std::isnan(best.log_likelihood)) best = std::move(fit);
    }
    best.log_likelihood = solve_mixture(x_, best);
    const auto k = static_cast<double>(components), columns = static_cast<double>(x_.cols());
    best.log_evidence =
        best.log_likelihood - 0.5 * (2 * k * columns + k - 1) * std::log(static_cast<double>(x_.rows()));
    return best;
  }

 private:
  // Starts with means at rows far apart, in standard deviations of the columns: each is drawn with probability
  // proportional to its squared distance from earlier ones (k-means++).
  MixtureFit started(std::size_t components, boost::random::mt19937_64& random) const {
    const auto k = static_cast<Eigen::Index>(components);
    MixtureFit fit{Eigen::VectorXd::Constant(k, 1 / static_cast<double>(components)), Eigen::MatrixXd(k, x_.cols()),
                   spread_.matrix().transpose().replicate(k, 1) / static_cast<double>(components),
                   Eigen::MatrixXd::Zero(x_.rows(), k)};
    Eigen::ArrayXd distance = Eigen::ArrayXd::Ones(x_.rows());
    for (Eigen::Index c = 0; c < k; ++c) {
      double left = boost::random::uniform_01<double>()(random) * distance.sum();
      Eigen::Index row = 0;
      while (row + 1 < x_.rows() && (left -= distance[row]) > 0) ++row;
      fit.mean.row(c) = x_.row(row);
      const Eigen::ArrayXd to_this =
          ((x_.rowwise() - x_.row(row)).array().square().rowwise() / spread_.transpose()).rowwise().sum();
      distance = c == 0 ? to_this : distance.min(to_this).eval();
    }
    return fit;
  }

  MixtureFit learned(MixtureFit fit) const {
    fit.log_likelihood = share_out(x_, fit);
    for (int i = 0; i < options_.limit && !fit.converged; ++i) {
      fit.weight = fit.probability.colwise().mean().transpose();
      fit.weight /= fit.weight.sum();
      for (Eigen::Index j = 0; j < x_.cols(); ++j) {
        GaussianEmission column{fit.mean.col(j), fit.variance.col(j)};
        refit(column, fit.probability, columns_[static_cast<std::size_t>(j)], kPriorShare * spread_[j]);
        fit.mean.col(j) = column.mean;
        fit.variance.col(j) = column.variance;
      }
      const double before = std::exchange(fit.log_likelihood, share_out(x_, fit));
      fit.converged = std::abs(fit.log_likelihood - before) < options_.tolerance;
    }
    return fit;
  }

  const Eigen::MatrixXd& x_;
  const MixtureOptions& options_;
  std::vector<Column> columns_;
  Eigen::ArrayXd spread_;  // by column
};

// Sorts the components by weight, the largest first, so that equal clusterings have equal order.
MixtureFit in_order(const MixtureFit& fit) {
  std::vector<Eigen::Index> order(fit.components());
  std::iota(order.begin(), order.end(), Eigen::Index{0});
  std::ranges::stable_sort(order, [&](Eigen::Index a, Eigen::Index b) { return fit.weight[a] > fit.weight[b]; });
  MixtureFit sorted = fit;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const auto to = static_cast<Eigen::Index>(k);
    sorted.weight[to] = fit.weight[order[k]];
    sorted.mean.row(to) = fit.mean.row(order[k]);
    sorted.variance.row(to) = fit.variance.row(order[k]);
    sorted.probability.col(to) = fit.probability.col(order[k]);
  }
  return sorted;
}

}  // namespace

MixtureFit gaussian_mixture(const Eigen::MatrixXd& x, const MixtureOptions& options) {
  if (x.rows() < 2 || x.cols() < 1)
    fail("mixture: the table is {} x {}; at least two rows of one number are expected", x.rows(), x.cols());
  if (!x.allFinite()) fail("mixture: a number of the table is not finite");
  const auto rows = static_cast<std::size_t>(x.rows());
  if (options.components > rows)
    fail("mixture: {} components are requested for {} rows; at most one per row is expected", options.components, rows);
  if (options.starts == 0 || options.most_components == 0)
    fail("mixture: starts and most_components must be at least 1");
  const MixtureLearner learner(x, options);
  if (options.components > 0) return in_order(learner.best_of_starts(options.components));
  MixtureFit best;
  std::vector<double> candidates;
  // Two further components without gain end the search: one number may be poor between two good ones.
  for (std::size_t k = 1; k <= std::min(options.most_components, rows); ++k) {
    MixtureFit fit = learner.best_of_starts(k);
    candidates.push_back(fit.log_evidence);
    if (k == 1 || fit.log_evidence > best.log_evidence)
      best = std::move(fit);
    else if (k > best.components() + 1)
      break;
  }
  best = in_order(best);
  best.candidates = std::move(candidates);
  return best;
}

}  // namespace dma
