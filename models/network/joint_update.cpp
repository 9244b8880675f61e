// What a fitted JointRegression learns from more rows, and what it says beyond those it has seen.
#include <algorithm>
#include <cmath>

#include "engine/support/error.h"
#include "models/network/joint_regression.h"

namespace dma {

bool JointRegression::update(const Matrix& rows, const Matrix& targets, Index known) {
  constexpr Index kMostScalars = 10000;  // 0.8 GB
  if (memory_.members.empty() || !memory_.members[0].plain_posterior)
    fail("an update needs a model that was fitted; call fit first");
  if (network_.scalars() > kMostScalars)
    fail(
        "an update keeps a matrix over all weights, of which there are {}; at most {} are possible: fit all rows "
        "together",
        network_.scalars(), kMostScalars);
  const RowData more{rows, targets};
  const std::optional<Index> counted = options_.noise.empty() ? std::optional(known) : std::nullopt;
  bool settled = true;
  // Returns the nats of the new rows, each as if it had not come.
  const auto update = [&](const RowModel& model, const SharedPrior& prior, SharedPosterior& posterior) {
    SharedUpdate found = posterior.updated(model, prior, more, counted);
    posterior = std::move(found.posterior);
    settled = settled && found.settled;
    const Eigen::ArrayXXd variance = (found.left_out.variance + found.left_out.noise).array();
    return -0.5 * ((targets - found.left_out.mean).array().square() / variance + variance.log()).sum();
  };
  Memory next = memory_;  // all or nothing
  double of_networks = 0;
  std::size_t fitted = 0;
  for (std::size_t k = 0; k < next.members.size(); ++k) {
    Member& member = next.members[k];
    if (!member.plain_posterior) continue;
    of_networks += update(network_, prior_of(k), *member.plain_posterior), ++fitted;
    if (member.weighted_posterior) (void)update(network_, prior_of(k), *member.weighted_posterior);
  }
  if (next.rival) {
    // The odds of before, times what the new rows say.
    const double ahead = of_networks / static_cast<double>(fitted) - update(linear_, linear_prior_, *next.rival),
                 share = next.network_share;
    if (share > 0 && share < 1) next.network_share = 1 / (1 + (1 - share) / share * std::exp(-ahead));
  }
  next.lowest = next.lowest.cwiseMin(rows.colwise().minCoeff());
  next.highest = next.highest.cwiseMax(rows.colwise().maxCoeff());
  memory_ = std::move(next);
  left_out_.clear();
  return settled;
}

// Beyond the range of the learned rows a network goes on as it must, not as it learned: what it adds to its value at
// the edge is doubted by as much as it is.
void JointRegression::doubt_extrapolation(const SharedPosterior& posterior, const Matrix& rows,
                                          RowBeliefs& beliefs) const {
  const Matrix inside =
      rows.cwiseMax(memory_.lowest.replicate(rows.rows(), 1)).cwiseMin(memory_.highest.replicate(rows.rows(), 1));
  std::vector<Index> beyond;
  for (Index n = 0; n < rows.rows(); ++n)
    if (inside.row(n) != rows.row(n)) beyond.push_back(n);
  if (beyond.empty()) return;
  Matrix edge;
  network_.evaluate(posterior.state.mean, inside(beyond, Eigen::all), edge);
  for (std::size_t i = 0; i < beyond.size(); ++i)
    beliefs.variance.row(beyond[i]) += (beliefs.mean.row(beyond[i]) - edge.row(static_cast<Index>(i))).cwiseAbs2();
}

JointRegression::Marginals JointRegression::weights(std::size_t member) const {
  const Member& m = memory_.members.at(member);
  const SharedPosterior& posterior = m.weighted_posterior ? *m.weighted_posterior : *m.plain_posterior;
  // Beyond that the prior's variance, which bounds the posterior's, must do.
  constexpr Index kMostScalars = 5000;
  if (network_.scalars() > kMostScalars)
    return {posterior.state.mean, (posterior.state.scale * options_.prior.precision).cwiseInverse()};
  return {posterior.state.mean, posterior.marginal_variances(network_, prior_of(member))};
}

}  // namespace dma
