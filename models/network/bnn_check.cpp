#include "models/network/bnn_check.h"

#include <fmt/format.h>

#include <cmath>

#include "engine/support/error.h"

namespace dma {

namespace {

constexpr const char* kBeyond = "the numbers are beyond what the priors can reach";
// A prediction off by so many of its standard deviations, in the mean square of all rows, is no accident.
constexpr double kDoubtful = 10;

}  // namespace

std::string_view repair_of_numbers(bool standardised) {
  return standardised
             ? "look for values far from all others, or widen the priors (--prior-scale)"
             : "let columns be standardised (--standardise), use other units, or widen the priors (--prior-scale)";
}

void check_weights(const Eigen::VectorXd& weights, Eigen::Index rows) {
  if (weights.size() != rows)
    fail("{} weights are given for {} rows; one for every row is expected", weights.size(), rows);
  constexpr double kLeast = 1e-100, kMost = 1e100;  // the noise of a row is divided by it
  for (Eigen::Index n = 0; n < rows; ++n)
    if (weights(n) != 0 && !(weights(n) >= kLeast && weights(n) <= kMost))
      fail("row {} has a weight of {}; 0 or a number from {} to {} is expected", n + 1, weights(n), kLeast, kMost);
  if (!(weights.array() > 0).any()) fail("all weights are 0; at least one row to learn from is expected");
}

std::vector<Eigen::Index> rows_that_count(const Eigen::VectorXd& weights) {
  std::vector<Eigen::Index> rows;
  for (Eigen::Index n = 0; n < weights.size(); ++n)
    if (weights(n) > 0) rows.push_back(n);
  return rows;
}

void check_usable(const Bnn& net, const Eigen::MatrixXd& inputs) {
  const BnnOptions& o = net.options();
  const std::string_view repair = repair_of_numbers(o.standardise);
  for (std::size_t member = 0; member < o.members; ++member)
    for (std::size_t layer = 0; layer + 1 < o.layers.size(); ++layer) {
      const auto weights = net.weights(layer, member);
      for (std::size_t i = 0; i < weights.size(); ++i)
        if (!is_valid(weights[i]) || weights[i].is_uniform() || !std::isfinite(weights[i].mean()))
          fail("the fit failed: weight {} of layer {} overflows; {}: {}", i, layer + 1, kBeyond, repair);
    }
  for (const double sd : net.noise())
    if (!(sd > 0) || !std::isfinite(sd))
      fail("the fit failed: the noise overflows or vanishes; {}: {}", kBeyond, repair);
  const Prediction p = net.predict(inputs);
  for (Eigen::Index n = 0; n < p.mean.rows(); ++n)
    for (Eigen::Index j = 0; j < p.mean.cols(); ++j)
      if (!std::isfinite(p.mean(n, j)) || !std::isfinite(p.sd(n, j)) || !(p.sd(n, j) > 0))
        fail("the fit failed: the prediction of row {} overflows or is certain; {}: {}", n + 1, kBeyond, repair);
}

std::string doubts_about(const Bnn& net, const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& targets) {
  const Prediction p = net.predict(inputs);
  return doubts_about(p.mean, p.sd, targets, net.options().standardise);
}

std::string doubts_about(const Eigen::MatrixXd& means, const Eigen::MatrixXd& sds, const Eigen::MatrixXd& targets,
                         bool standardised) {
  const Eigen::ArrayXXd deviations = (targets - means).array() / sds.array();
  for (Eigen::Index j = 0; j < deviations.cols(); ++j) {
    const double off = deviations.col(j).matrix().stableNorm() / std::sqrt(static_cast<double>(deviations.rows()));
    if (!(off <= kDoubtful))
      return fmt::format("output {} is off by {:.3g} standard deviations on the rows it was learned from; {}: {}",
                         j + 1, off, kBeyond, repair_of_numbers(standardised));
  }
  return {};
}

}  // namespace dma
