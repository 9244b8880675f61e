#include "tests/models/series/textbook_series.h"

#include <cmath>

namespace dma::oracle {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

KalmanModel model_of(const MatrixXd& transition, const MatrixXd& noise) {
  const Eigen::Index size = transition.rows();
  KalmanModel model{
      transition, noise, Eigen::RowVectorXd::Zero(size), VectorXd::Zero(size), 20 * MatrixXd::Identity(size, size),
      {},         0.5};
  model.gain[0] = 1;
  return model;
}

// A state and its past as one vector, the latest first: `memory` values are observed at the start.
KalmanModel companion(const VectorXd& coefficients, double variance) {
  const Eigen::Index size = coefficients.size();
  MatrixXd transition = MatrixXd::Zero(size, size), noise = MatrixXd::Zero(size, size);
  transition.row(0) = coefficients.transpose();
  for (Eigen::Index i = 1; i < size; ++i) transition(i, i - 1) = 1;
  noise(0, 0) = variance;
  KalmanModel model = model_of(transition, noise);
  model.first_gains = MatrixXd::Identity(size, size).rowwise().reverse();
  return model;
}

}  // namespace

std::vector<TextbookSeries> textbook_series() {
  const auto starts_at_level = [](KalmanModel model) {
    model.mean[0] = 0.3;
    model.first_gains = model.gain;
    return model;
  };
  const MatrixXd line = (MatrixXd(2, 2) << 1, 1, 0, 1).finished();
  return {
      {"walk", {random_walk(0.2)}, starts_at_level(model_of(MatrixXd::Identity(1, 1), MatrixXd::Constant(1, 1, 0.2)))},
      {"trend", {local_trend(0.2, 0.03)}, starts_at_level(model_of(line, VectorXd{{0.2, 0.03}}.asDiagonal()))},
      {"motion", {motion(0.6)}, starts_at_level(model_of(line, (MatrixXd(2, 2) << 0.2, 0.3, 0.3, 0.6).finished()))},
      {"season", {seasonal(4, 0.1)}, companion(VectorXd{{-1, -1, -1}}, 0.1)},
      {"autoregressive", {autoregressive({0.6, -0.3}, 0.7)}, companion(VectorXd{{0.6, -0.3}}, 0.7)}};
}

std::vector<std::optional<double>> series_with_gaps(std::size_t length) {
  std::vector<std::optional<double>> values;
  for (std::size_t t = 0; t < length; ++t) {
    const auto x = static_cast<double>(t);
    values.push_back(0.1 * x + 2 * std::sin(1.3 * x) + std::cos(7 * x * x));
    if (t % 7 == 5) values.back().reset();
  }
  return values;
}

}  // namespace dma::oracle
