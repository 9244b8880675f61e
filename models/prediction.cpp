#include "models/prediction.h"

#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "engine/support/error.h"
#include "engine/support/log_sum_exp.h"
#include "factors/normal.h"

namespace dma {

namespace {

double log_normal_density(double x, double mean, double sd) {
  constexpr double kHalfLogTwoPi = 0.91893853320467274178;
  if (sd == 0) return x == mean ? HUGE_VAL : -HUGE_VAL;
  const double t = (x - mean) / sd;
  return -0.5 * t * t - std::log(sd) - kHalfLogTwoPi;
}

}  // namespace

Prediction Prediction::mix(std::vector<Eigen::MatrixXd> means, const std::vector<Eigen::MatrixXd>& epistemic_variances,
                           const std::vector<Eigen::MatrixXd>& noise_variances) {
  const auto count = static_cast<double>(means.size());
  const Eigen::Index rows = means[0].rows(), columns = means[0].cols();
  Prediction p;
  p.mean = Eigen::MatrixXd::Zero(rows, columns);
  Eigen::MatrixXd within = p.mean, between = p.mean, noise = p.mean;
  for (const auto& m : means) p.mean += m / count;
  for (std::size_t k = 0; k < means.size(); ++k) {
    within += epistemic_variances[k] / count;
    noise += noise_variances[k] / count;
    between += ((means[k] - p.mean).array().square() / count).matrix();
    p.sds.push_back((epistemic_variances[k] + noise_variances[k]).cwiseSqrt());
  }
  p.epistemic_sd = (within + between).cwiseSqrt();
  p.noise_sd = noise.cwiseSqrt();
  p.sd = (within + between + noise).cwiseSqrt();
  p.means = std::move(means);
  return p;
}

Prediction Prediction::in_units_before(const Standardiser& standardiser) const {
  Prediction p;
  p.mean = standardiser.undo(mean);
  p.sd = standardiser.undo_scale(sd);
  p.epistemic_sd = standardiser.undo_scale(epistemic_sd);
  p.noise_sd = standardiser.undo_scale(noise_sd);
  for (std::size_t k = 0; k < means.size(); ++k) {
    p.means.push_back(standardiser.undo(means[k]));
    p.sds.push_back(standardiser.undo_scale(sds[k]));
  }
  return p;
}

Eigen::MatrixXd Prediction::cumulative(const Eigen::MatrixXd& targets) const {
  Eigen::MatrixXd mass = Eigen::MatrixXd::Zero(mean.rows(), mean.cols());
  for (std::size_t k = 0; k < means.size(); ++k)
    mass += ((targets - means[k]).array() / sds[k].array()).unaryExpr(&normal::distribution).matrix() /
            static_cast<double>(means.size());
  return mass;
}

Eigen::MatrixXd Prediction::log_density(const Eigen::MatrixXd& targets) const {
  Eigen::MatrixXd result(mean.rows(), mean.cols());
  std::vector<double> logs(means.size());
  for (Eigen::Index i = 0; i < mean.rows(); ++i)
    for (Eigen::Index j = 0; j < mean.cols(); ++j) {
      for (std::size_t k = 0; k < means.size(); ++k)
        logs[k] = log_normal_density(targets(i, j), means[k](i, j), sds[k](i, j));
      result(i, j) = log_sum_exp(logs) - std::log(static_cast<double>(logs.size()));
    }
  return result;
}

Eigen::MatrixXd Prediction::quantile(double probability) const {
  if (!(probability > 0 && probability < 1)) fail("quantile: a probability of {} is given; it must be in (0, 1)", probability);
  // Every component's own quantile lies at this many of its standard deviations; that of the mixture between the lowest and
  // the highest of them.
  const double deviations = -std::numbers::sqrt2 * boost::math::erfc_inv(2 * probability);
  Eigen::MatrixXd result(mean.rows(), mean.cols());
  for (Eigen::Index i = 0; i < mean.rows(); ++i)
    for (Eigen::Index j = 0; j < mean.cols(); ++j) {
      double low = HUGE_VAL, high = -HUGE_VAL;
      for (std::size_t k = 0; k < means.size(); ++k) {
        const double own = means[k](i, j) + deviations * sds[k](i, j);
        low = std::min(low, own), high = std::max(high, own);
      }
      const auto excess = [&](double x) {
        double mass = 0;
        for (std::size_t k = 0; k < means.size(); ++k) mass += normal::distribution((x - means[k](i, j)) / sds[k](i, j));
        return mass / static_cast<double>(means.size()) - probability;
      };
      // Rounding may leave the bracket without a change of sign at one of its ends, which then is the answer.
      if (!(low < high) || excess(low) >= 0) {
        result(i, j) = low;
      } else if (excess(high) <= 0) {
        result(i, j) = high;
      } else {
        std::uintmax_t steps = 100;
        const auto bracket = boost::math::tools::toms748_solve(excess, low, high, boost::math::tools::eps_tolerance<double>(), steps);
        result(i, j) = 0.5 * (bracket.first + bracket.second);
      }
    }
  return result;
}

}  // namespace dma
