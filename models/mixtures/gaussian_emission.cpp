#include "models/mixtures/hidden_markov.h"

namespace dma {

namespace {

// Fraction of the variance of all values: minimum width of a Gaussian with a single value.
constexpr double kLeastWidth = 1e-6;

}  // namespace

void refit(GaussianEmission& emission, const Eigen::MatrixXd& probability,
           std::span<const std::optional<double>> values, double prior) {
  using Array = Eigen::ArrayXd;
  Array count = Array::Zero(emission.mean.size()), sum = count, squares = count;
  const auto fraction = [&](std::size_t t) {
    return probability.row(static_cast<Eigen::Index>(t)).transpose().array();
  };
  for (std::size_t t = 0; t < values.size(); ++t)
    if (values[t]) {
      count += fraction(t);
      sum += *values[t] * fraction(t);
    }
  const double middle = sum.sum() / count.sum();
  const Array mean = (count > 0).select(sum / count, emission.mean.array());
  double spread = 0;
  for (std::size_t t = 0; t < values.size(); ++t)
    if (values[t]) {
      spread += (*values[t] - middle) * (*values[t] - middle) / count.sum();
      squares += fraction(t) * (*values[t] - mean).square();
    }
  if (prior > 0) {
    squares += prior;
    count += 1;
  }
  emission.mean = mean;
  const Array least = emission.variance.array().min(kLeastWidth * spread);
  emission.variance = (count > 0).select(squares / count, emission.variance.array()).max(least);
}

}  // namespace dma
