#include "models/prediction.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/messages/gaussian.h"

namespace dma {

namespace {

double normal_cumulative(double t) { return 0.5 * std::erfc(-t / std::numbers::sqrt2); }

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

Eigen::MatrixXd Prediction::cumulative(const Eigen::MatrixXd& targets) const {
  Eigen::MatrixXd mass = Eigen::MatrixXd::Zero(mean.rows(), mean.cols());
  for (std::size_t k = 0; k < means.size(); ++k)
    mass += ((targets - means[k]).array() / sds[k].array()).unaryExpr(&normal_cumulative).matrix() /
            static_cast<double>(means.size());
  return mass;
}

Eigen::MatrixXd Prediction::log_density(const Eigen::MatrixXd& targets) const {
  Eigen::MatrixXd result(mean.rows(), mean.cols());
  std::vector<double> logs(means.size());
  for (Eigen::Index i = 0; i < mean.rows(); ++i)
    for (Eigen::Index j = 0; j < mean.cols(); ++j) {
      for (std::size_t k = 0; k < means.size(); ++k)
        logs[k] = dma::log_density(Gaussian::from_moments(means[k](i, j), sds[k](i, j) * sds[k](i, j)), targets(i, j));
      const double largest = *std::ranges::max_element(logs);
      double sum = 0;
      for (const double l : logs) sum += std::exp(l - largest);
      result(i, j) = largest + std::log(sum / static_cast<double>(logs.size()));
    }
  return result;
}

Eigen::MatrixXd Prediction::quantile(double probability) const {
  // The mixture's distribution function is monotone and every component reaches the probability within 40 of its standard
  // deviations; bisect to the last digit.
  Eigen::MatrixXd low = means[0] - 40 * sds[0], high = means[0] + 40 * sds[0];
  for (std::size_t k = 1; k < means.size(); ++k) {
    low = low.cwiseMin(means[k] - 40 * sds[k]);
    high = high.cwiseMax(means[k] + 40 * sds[k]);
  }
  for (int step = 0; step < 100; ++step) {
    const Eigen::MatrixXd middle = 0.5 * (low + high);
    const auto below = (cumulative(middle).array() < probability).eval();
    low = below.select(middle, low);
    high = below.select(high, middle);
  }
  return 0.5 * (low + high);
}

}  // namespace dma
