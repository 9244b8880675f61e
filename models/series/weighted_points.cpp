#include "models/series/weighted_points.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <functional>

#include "engine/support/dense.h"
#include "engine/support/special_functions.h"
#include "engine/support/text.h"

namespace dma {

namespace {

constexpr double kWider = 1.4;  // width relative to the curvature at the summit: the tails may be heavier
constexpr double kWidest = 3;   // standard deviation along a nearly flat direction
constexpr double kDifference = 0.05;
constexpr double kSameSummit = 0.5;  // searches that end closer than this found the same summit
constexpr double kFarBelow = 12;     // nats below the highest: a summit of negligible mass
constexpr double kLeastShare = 0.1;  // minimum fraction of the points for a lower summit
constexpr double kLogRootTwoPi = 0.9189385332046727;

// Term `index` of Van der Corput's sequence: over several primes together, points that fill a cube evenly (Halton).
double radical_inverse(std::size_t index, std::size_t prime) {
  double inverse = 0;
  for (double digit = 1 / static_cast<double>(prime); index > 0; index /= prime, digit /= static_cast<double>(prime))
    inverse += digit * static_cast<double>(index % prime);
  return inverse;
}

// A square root of the covariance of the Gaussian with the curvature at the summit.
Eigen::MatrixXd width_at(const LogDensity& log_density, const Eigen::VectorXd& summit) {
  const Eigen::Index count = summit.size();
  Eigen::MatrixXd curvature(count, count);
  Eigen::VectorXd above(count), below(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    Eigen::VectorXd at = summit;
    at[i] += kDifference;
    (void)log_density(at, above);
    at[i] -= 2 * kDifference;
    (void)log_density(at, below);
    curvature.col(i) = (below - above) / (2 * kDifference);
  }
  const Eigen::MatrixXd symmetric = 0.5 * (curvature + curvature.transpose());
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solved(symmetric);
  const Eigen::VectorXd scales = solved.eigenvalues().cwiseMax(1 / (kWidest * kWidest)).cwiseSqrt().cwiseInverse();
  return solved.eigenvectors() * scales.asDiagonal();
}

// A Gaussian around a summit, from which points are drawn.
struct Proposal {
  Eigen::VectorXd centre;
  Eigen::MatrixXd width;  // columns: directions times standard deviations
  double log_size = 0;    // log of the width's determinant
  double log_mass = 0;    // mass around the summit according to its curvature
  double share = 0;       // fraction of the points
};

// The log density of the Gaussian; `width` has orthogonal columns.
double log_proposal(const Proposal& proposal, const Eigen::VectorXd& at) {
  const Eigen::ArrayXd scales = proposal.width.colwise().squaredNorm().transpose();
  const Eigen::ArrayXd z = (proposal.width.transpose() * (at - proposal.centre)).array() / scales;
  return -0.5 * z.square().sum() - proposal.log_size - kLogRootTwoPi * static_cast<double>(at.size());
}

double log_sum(std::span<const double> logs) {
  const double largest = *std::ranges::max_element(logs);
  double sum = 0;
  for (const double log : logs) sum += std::exp(log - largest);
  return largest + std::log(sum);
}

std::vector<Proposal> proposals_at(const LogDensity& log_density, std::span<const Maximum> summits) {
  std::vector<Proposal> proposals;
  std::vector<double> masses;
  for (const Maximum& summit : summits) {
    Proposal proposal{summit.at, width_at(log_density, summit.at)};
    const double log_size = 0.5 * proposal.width.colwise().squaredNorm().array().log().sum();
    const auto size = static_cast<double>(summit.at.size());
    masses.push_back(proposal.log_mass = summit.value + log_size + kLogRootTwoPi * size);
    proposal.width *= kWider;
    proposal.log_size = log_size + size * std::log(kWider);
    proposals.push_back(std::move(proposal));
  }
  const double all = log_sum(masses);
  double shares = 0;
  for (Proposal& proposal : proposals)
    shares += proposal.share = std::max(std::exp(proposal.log_mass - all), kLeastShare);
  for (Proposal& proposal : proposals) proposal.share /= shares;
  return proposals;
}

}  // namespace

std::vector<Maximum> summits(const LogDensity& log_density, std::span<const Eigen::VectorXd> starts,
                             const MaximiseOptions& options) {
  std::vector<Maximum> found;
  int evaluations = 0;
  for (const Eigen::VectorXd& start : starts) {
    Maximum summit = maximise(log_density, start, options);
    evaluations += summit.evaluations;
    if (std::isfinite(summit.value)) found.push_back(std::move(summit));
  }
  if (found.empty()) fail("weighted points: the density is NaN at every start of the search");
  std::ranges::stable_sort(found, std::greater(), &Maximum::value);
  std::vector<Maximum> distinct;
  for (Maximum& summit : found) {
    if (summit.value < found.front().value - kFarBelow) break;
    if (std::ranges::none_of(distinct, [&](const Maximum& other) {
          return summit.at.size() == 0 || (summit.at - other.at).lpNorm<Eigen::Infinity>() < kSameSummit;
        }))
      distinct.push_back(summit);
  }
  distinct.front().evaluations = evaluations;
  return distinct;
}

WeightedPoints weighted_points(const LogDensity& log_density, std::span<const Maximum> summits,
                               const WeightedPointsOptions& options) {
  constexpr std::size_t kPrimes[] = {2, 3, 5, 7, 11, 13, 17, 19};
  if (summits.empty()) fail("weighted points: there is no summit to draw points around; at least one is expected");
  const Maximum& highest = summits.front();
  const auto size = static_cast<std::size_t>(highest.at.size());
  if (size > std::size(kPrimes))
    fail("weighted points: {} numbers are asked for; at most {}", size, std::size(kPrimes));
  if (size == 0) return {{{highest.at, 1}}, highest.value};
  const std::vector<Proposal> proposals = proposals_at(log_density, summits);
  std::vector<double> logs(proposals.size());
  std::ranges::transform(proposals, logs.begin(), &Proposal::log_mass);
  const WeightedPoints summit_alone{{{highest.at, 1}}, log_sum(logs)};
  std::vector<WeightedPoint> points;
  std::vector<double> weights;
  Eigen::VectorXd z(highest.at.size()), unused(highest.at.size());
  std::size_t drawn = 0, pair = 0;
  for (const Proposal& proposal : proposals) {
    // An even number of points, in pairs symmetric about the summit.
    const auto pairs = static_cast<std::size_t>(std::lround(proposal.share * static_cast<double>(options.count) / 2));
    for (std::size_t j = 0; j < 2 * pairs; ++j, ++drawn) {
      if (j % 2 == 0) ++pair;
      for (std::size_t i = 0; i < size; ++i) {
        const double normal = normal_quantile(radical_inverse(pair, kPrimes[i]));
        z[static_cast<Eigen::Index>(i)] = j % 2 == 0 ? normal : -normal;
      }
      const Eigen::VectorXd at = proposal.centre + proposal.width * z;
      if (at.minCoeff() < options.low || at.maxCoeff() > options.high) continue;
      const double log = log_density(at, unused);
      if (!std::isfinite(log)) continue;
      for (std::size_t k = 0; k < proposals.size(); ++k)
        logs[k] = std::log(proposals[k].share) + log_proposal(proposals[k], at);
      points.push_back({at, 0});
      weights.push_back(log - log_sum(logs));
    }
  }
  if (points.empty()) return summit_alone;
  const double total = log_sum(weights);
  for (std::size_t j = 0; j < points.size(); ++j) points[j].weight = std::exp(weights[j] - total);
  return {std::move(points), total - std::log(static_cast<double>(drawn))};
}

}  // namespace dma
