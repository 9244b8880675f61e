#include "models/network/bnn_check.h"

#include <fmt/format.h>

#include <cmath>

#include "engine/support/error.h"

namespace dma {

namespace {

constexpr std::string_view kRepair = "the numbers are beyond what the priors can reach: standardise, or scale the columns to about 1";
// A prediction off by so many of its standard deviations, in the mean square of all rows, is no accident.
constexpr double kDoubtful = 10;

}  // namespace

void check_usable(const Bnn& net, const Eigen::MatrixXd& inputs) {
  const BnnOptions& o = net.options();
  for (std::size_t member = 0; member < o.members; ++member)
    for (std::size_t layer = 0; layer + 1 < o.layers.size(); ++layer) {
      const auto weights = net.weights(layer, member);
      for (std::size_t i = 0; i < weights.size(); ++i)
        if (!is_valid(weights[i]) || weights[i].is_uniform() || !std::isfinite(weights[i].mean()))
          fail("the fit failed: weight {} of layer {} has mean {} and sd {}; {}", i, layer + 1, weights[i].mean(),
               weights[i].sd(), kRepair);
    }
  for (const double sd : net.noise())
    if (!(sd > 0) || !std::isfinite(sd)) fail("the fit failed: the noise has sd {}; {}", sd, kRepair);
  const Prediction p = net.predict(inputs);
  for (Eigen::Index n = 0; n < p.mean.rows(); ++n)
    for (Eigen::Index j = 0; j < p.mean.cols(); ++j)
      if (!std::isfinite(p.mean(n, j)) || !std::isfinite(p.sd(n, j)) || !(p.sd(n, j) > 0))
        fail("the fit failed: row {} is predicted as {} with sd {}; {}", n + 1, p.mean(n, j), p.sd(n, j), kRepair);
}

std::string doubts_about(const Bnn& net, const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& targets) {
  const Prediction p = net.predict(inputs);
  return doubts_about(p.mean, p.sd, targets);
}

std::string doubts_about(const Eigen::MatrixXd& means, const Eigen::MatrixXd& sds, const Eigen::MatrixXd& targets) {
  const Eigen::ArrayXXd deviations = (targets - means).array() / sds.array();
  for (Eigen::Index j = 0; j < deviations.cols(); ++j) {
    const double off = deviations.col(j).matrix().stableNorm() / std::sqrt(static_cast<double>(deviations.rows()));
    if (!(off <= kDoubtful))
      return fmt::format("output {} is off by {:.3g} standard deviations on the rows it was learned from; {}", j + 1, off, kRepair);
  }
  return {};
}

}  // namespace dma
