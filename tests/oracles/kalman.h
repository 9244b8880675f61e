// The textbook's Kalman filter and Rauch-Tung-Striebel smoother, on dense matrices.
#pragma once

#include <Eigen/Dense>
#include <optional>
#include <vector>

namespace dma::oracle {

// x_0 ~ N(mean, covariance) with the values observed there at once, one row of `first_gains` each; then x_t =
// transition x_{t-1} + N(0, noise), observed through `gain`. Every value has the variance `seen_variance`.
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
  std::vector<double> forecast_means, forecast_variances;  // predictions of values, given those before; from x_1 on
  double log_evidence = 0;
};

KalmanResult kalman(const KalmanModel& model, const std::vector<std::optional<double>>& values);

}  // namespace dma::oracle
