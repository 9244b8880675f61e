#include "tests/oracles/kalman.h"

#include <cmath>
#include <numbers>

namespace dma::oracle {

namespace {

// N(m, p) after a value, and the log density of the value.
double update(const Eigen::RowVectorXd& h, double r, double value, Eigen::VectorXd& m, Eigen::MatrixXd& p) {
  const double s = h.dot(p * h.transpose()) + r, ahead = value - h.dot(m);
  const Eigen::VectorXd k = p * h.transpose() / s;
  m += k * ahead;
  const Eigen::MatrixXd left = Eigen::MatrixXd::Identity(p.rows(), p.rows()) - k * h;
  p = left * p * left.transpose() + r * k * k.transpose();  // Joseph's form: symmetric and positive
  return -0.5 * (ahead * ahead / s + std::log(2 * std::numbers::pi * s));
}

}  // namespace

KalmanResult kalman(const KalmanModel& model, const std::vector<std::optional<double>>& values) {
  KalmanResult result;
  Eigen::VectorXd m = model.mean;
  Eigen::MatrixXd p = model.covariance;
  const auto first = static_cast<std::size_t>(model.first_gains.rows());
  for (std::size_t i = 0; i < first; ++i)
    if (values[i])
      result.log_evidence +=
          update(model.first_gains.row(static_cast<Eigen::Index>(i)), model.seen_variance, *values[i], m, p);
  result.means = {m}, result.covariances = {p};
  std::vector<Eigen::VectorXd> predicted{m};
  std::vector<Eigen::MatrixXd> predicted_covariances{p};
  for (std::size_t t = first; t < values.size(); ++t) {
    m = model.transition * m;
    p = model.transition * p * model.transition.transpose() + model.noise;
    predicted.push_back(m), predicted_covariances.push_back(p);
    result.forecast_means.push_back(model.gain.dot(m));
    result.forecast_variances.push_back(model.gain.dot(p * model.gain.transpose()) + model.seen_variance);
    if (values[t]) result.log_evidence += update(model.gain, model.seen_variance, *values[t], m, p);
    result.means.push_back(m), result.covariances.push_back(p);
  }
  for (std::size_t t = result.means.size() - 1; t-- > 0;) {
    // Also for a singular covariance: the right-hand side lies in its range.
    const Eigen::MatrixXd moved = model.transition * result.covariances[t],
                          g = Eigen::LDLT<Eigen::MatrixXd>(predicted_covariances[t + 1]).solve(moved).transpose();
    result.means[t] += g * (result.means[t + 1] - predicted[t + 1]);
    result.covariances[t] += g * (result.covariances[t + 1] - predicted_covariances[t + 1]) * g.transpose();
  }
  return result;
}

}  // namespace dma::oracle
