// Quiet and busy hours: a hidden Markov model whose states emit counts. Any density of one unknown parameter per state
// will do; rates, and how long a state lasts, are learned.
//
// Prints:
//   converged: 0.91 calls in a quiet hour, 8.71 in a busy one
//   hour  7: busy with probability 0.001
//   hour  8: busy with probability 1.000
//   hour 19: busy with probability 0.013
//   hour 27: busy with probability 0.985
#include <dma_models.h>
#include <fmt/core.h>

#include <cmath>

int main() {
  using namespace dma;
  const std::vector<std::optional<double>> calls{1, 0, 2, 1, 0, 1,  3, 0,  9, 7,  11, 8, 12, 6, 9, 10, 1, 2, 0, {},
                                                 1, 1, 0, 2, 8, 10, 7, {}, 9, 11, 6,  8, 0,  1, 2, 1,  0, 1, 1, 0};
  const auto poisson = [](double y, double rate) { return y * std::log(rate) - rate - std::lgamma(y + 1); };
  const Eigen::Matrix2d stay = (Eigen::Matrix2d() << 0.9, 0.1, 0.1, 0.9).finished();
  HiddenMarkov model(Eigen::Vector2d(0.5, 0.5), stay, DensityEmission{Eigen::Vector2d(2, 5), poisson, 1e-3, 1e3});
  const auto learned = model.learn(calls);
  const auto& rates = std::get<DensityEmission>(model.emission()).parameter;
  fmt::print("{}: {:.2f} calls in a quiet hour, {:.2f} in a busy one\n",
             learned.converged ? "converged" : "not converged", rates[0], rates[1]);
  const auto hours = model.decode(calls);
  for (const Eigen::Index t : {7, 8, 19, 27})
    fmt::print("hour {:2}: busy with probability {:.3f}\n", t, hours.probability(t, 1));
}
