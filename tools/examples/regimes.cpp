// Calm and wild days: a hidden Markov model finds two regimes in a series of changes, learns how long each lasts, and
// gives each day's regime. A missing day has its regime from its neighbours.
//
// Prints:
//   converged, log evidence -136.08
//   calm: sd 0.33, 28 days on average
//   wild: sd 1.42, 55 days on average
//   day  10: wild with probability 0.00
//   day  29: wild with probability 0.34
//   day  30: wild with probability 1.00
//   day  31: wild with probability 1.00
//   day  45: wild with probability 1.00
//   day 100: wild with probability 1.00
#include <dma_models.h>
#include <fmt/core.h>

#include <cmath>

int main() {
  using namespace dma;
  std::vector<std::optional<double>> changes;
  for (int t = 0; t < 120; ++t) {
    const bool is_wild = (t / 30) % 2 == 1;
    changes.push_back((is_wild ? 2.0 : 0.5) * std::sin(12.9898 * t * t + 4.1 * t));
  }
  changes[45].reset();

  const Eigen::Matrix2d stay = (Eigen::Matrix2d() << 0.9, 0.1, 0.1, 0.9).finished();
  HiddenMarkov model(Eigen::Vector2d(0.5, 0.5), stay, GaussianEmission{Eigen::Vector2d(0, 0), Eigen::Vector2d(0.5, 2)});
  const auto learned = model.learn(changes);
  const auto& emission = std::get<GaussianEmission>(model.emission());
  fmt::print("{}, log evidence {:.2f}\n", learned.converged ? "converged" : "not converged", learned.log_evidence);
  for (Eigen::Index i = 0; i < 2; ++i)
    fmt::print("{}: sd {:.2f}, {:.0f} days on average\n", i == 0 ? "calm" : "wild", std::sqrt(emission.variance[i]),
               1 / (1 - model.transition()(i, i)));
  const auto days = model.decode(changes);
  for (const Eigen::Index t : {10, 29, 30, 31, 45, 100})
    fmt::print("day {:3}: wild with probability {:.2f}\n", t, days.probability(t, 1));
}
