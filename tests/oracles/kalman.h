// The textbook: Kalman's filter and the smoother of Rauch, Tung and Striebel, on dense matrices.
#pragma once

#include <Eigen/Dense>
#include <optional>
#include <vector>

namespace dma::oracle {

// x_0 ~ N(mean, covariance) with the values seen at once there, one row of `first_gains` each; then
// x_t = transition x_{t-1} + N(0, noise), seen through `gain`. Every value has the variance `seen_variance`.
struct KalmanModel {
  Eigen::MatrixXd transition, noise;
  Eigen::RowVectorXd gain;
  Eigen::VectorXd mean;
  Eigen::MatrixXd covariance, first_gains;
  double seen_variance = 1;
};

struct KalmanResult {
  std::vector<Eigen::VectorXd> means;  // smoothed
  std::vector<Eigen::MatrixXd> covariances;
  std::vector<double> forecast_means, forecast_variances;  // of values, given those before; from x_1 on
  double log_evidence = 0;
};

KalmanResult kalman(const KalmanModel& model, const std::vector<std::optional<double>>& values);

}  // namespace dma::oracle
