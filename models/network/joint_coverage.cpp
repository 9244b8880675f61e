// Intervals of joint learning where left-out rows say that they are too narrow; the smoothing of its networks.
#include <algorithm>
#include <cmath>

#include "models/network/joint_regression.h"

namespace dma {

// Where noise has another shape than the tails can take, as one row in ten that is shifted, the likeliest tails may leave too many rows
// outside: the noise of all models is widened until 95 % intervals hold as many left-out rows as they promise.
void JointRegression::widen_to_cover(const Matrix& targets) {
  constexpr double kLevel = 0.95, kSlack = 0.01, kWidest = 100;
  constexpr int kSteps = 12;
  constexpr Index kEnoughRows = 20000;  // to tell such a share
  const Index rows = std::min(targets.rows(), kEnoughRows);
  const std::vector<PredictionComponent> some = rows_of(left_out_, 0, rows);
  const Matrix observed = targets.topRows(rows);
  const double chance = std::sqrt(kLevel * (1 - kLevel) / static_cast<double>(rows));
  const auto coverage = [&](double factor, Index output) {
    std::vector<PredictionComponent> own = some;
    for (PredictionComponent& component : own) component.tails.at(static_cast<std::size_t>(output)).scale *= factor;
    const Eigen::ArrayXd below = Prediction::mix(std::move(own)).cumulative(observed).col(output);
    return (below >= (1 - kLevel) / 2 && below <= (1 + kLevel) / 2).cast<double>().mean();
  };
  for (Index k = 0; k < targets.cols(); ++k) {
    if (coverage(1, k) >= kLevel - kSlack - 2 * chance) continue;
    double low = 0, high = std::log(kWidest);
    for (int step = 0; step < kSteps; ++step) {
      const double middle = 0.5 * (low + high);
      (coverage(std::exp(middle), k) < kLevel ? low : high) = middle;
    }
    const auto widen = [&](std::vector<StudentTails>& tails) { tails.at(static_cast<std::size_t>(k)).scale *= std::exp(high); };
    for (PredictionComponent& component : left_out_) widen(component.tails);
    if (memory_.rival) widen(memory_.rival->tails);
    for (Member& member : memory_.members) {
      if (member.plain_posterior) widen(member.plain_posterior->tails);
      if (member.weighted_posterior) widen(member.weighted_posterior->tails);
    }
  }
}

void JointRegression::set_jitter(double jitter) {
  memory_.jitter = options_.shape.jitter = jitter;
  network_ = NetworkRows(options_.shape);
}

void JointRegression::restore(Memory memory) {
  memory_ = std::move(memory);
  if (memory_.jitter >= 0) set_jitter(memory_.jitter);
}

}  // namespace dma
