// Switching state spaces: a vector that moves, and is read, by one of K linear rules at a time (regimes), and a Markov
// chain that chooses the rule. A robot rolls or slips; a target flies straight or turns.
//
//   const SwitchingModel robot{.regimes = {{a, q, h, r}, {a, q_slipping, h, r}}, .start = ..., .transition = ...,
//                              .mean = ..., .covariance = ...};
//   const Switched found = switching(robot, values);        // step by step; std::nullopt: missing
//   found.smoothed[t].probability;                          // of the regimes at step t, given all values
//   SwitchingFilter filter(robot);
//   filter.add({{1.2, std::nullopt}}).mean;                 // the same online, without storing anything
//
// The posterior is a mixture of K^T Gaussians, one per path of regimes. Paths that agree in their last `order` regimes
// are merged into one Gaussian of their mean and covariance before each step (generalised pseudo-Bayes; order 2 is
// GPB2), so a step takes K^order Kalman updates. The first `order` steps of the filter are exact; from order T on, all
// results are.
//
// The smoother is a backward sweep of expectation propagation. For a merged Gaussian, the ratio of smoothed to filtered
// is the message of the later values; it multiplies each path that was merged, and again only means and covariances
// are kept. Along directions in which this message would widen, its precision is taken for 0: a path is never less
// certain than without the later values.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "engine/support/text.h"
#include "models/mixtures/hidden_markov.h"

namespace dma {

struct LinearRegime {  // x_t = a x_{t-1} + N(0, q), y_t = h x_t + N(0, r)
  Eigen::MatrixXd a, q, h, r;
};

struct SwitchingModel {
  std::vector<LinearRegime> regimes;
  Eigen::VectorXd start;       // P(regime) at the first step
  Eigen::MatrixXd transition;  // from regime i to regime j
  Eigen::VectorXd mean;        // x_1 ~ N(mean, covariance) in every regime
  Eigen::MatrixXd covariance;
};

struct SwitchingStep {
  Eigen::VectorXd probability;  // by regime
  Eigen::VectorXd mean;
  Eigen::MatrixXd covariance;
};

struct SwitchingPath {  // the paths that agree in their last regimes
  double log_weight = 0;
  Eigen::VectorXd mean;
  Eigen::MatrixXd covariance;
};
using SwitchingPaths = std::vector<SwitchingPath>;

inline constexpr std::size_t kAllPaths = std::numeric_limits<std::size_t>::max();

class SwitchingFilter {
 public:
  // At least order 2; K^order may be at most 65536.
  explicit SwitchingFilter(SwitchingModel model, std::size_t order = 2);

  // The values of the next step, one per row of h. The result is given all values so far.
  SwitchingStep add(HiddenMarkov::Values y);
  double log_evidence() const { return log_evidence_; }  // log p(values so far)

  // Path g K + j continues path g by regime j.
  const SwitchingPaths& merged() const { return merged_; }  // before the last step
  const SwitchingPaths& paths() const { return paths_; }    // after it

 private:
  SwitchingModel model_;
  std::size_t most_merged_;  // K^(order - 1)
  double log_evidence_ = 0;
  SwitchingPaths merged_, paths_;
};

struct Switched {
  bool is_exact = false;
  std::size_t order = 2;
  double log_evidence = 0;
  std::vector<SwitchingStep> filtered, smoothed;  // given the values so far; given all

  std::string text() const;  // "approximate: paths merged that agree in 2 regimes; log evidence -12.3"
};

// `values` are step after step, one per row of h. kAllPaths is exact; too many paths are an Error that names the
// largest possible order.
Switched switching(const SwitchingModel& model, HiddenMarkov::Values values, std::size_t order = 2);

}  // namespace dma

template <>
struct fmt::formatter<dma::Switched> : dma::TextFormatter {
  auto format(const dma::Switched& found, format_context& context) const { return write(found.text(), context); }
};
