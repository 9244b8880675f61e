// The processes of a series: random walks, trends, seasons, each with a few states that follow linear rules with noise.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace dma {

// States that follow linear rules with noise: for each state, a combination of it and the past is N(0, scale *
// variance).
struct Process {
  struct Term {
    std::size_t state = 0, lag = 0;
    double coefficient = 1;
  };
  struct Rule {  // one per state; its first term is the state itself, now
    std::vector<Term> terms;
    std::size_t noise = 0;  // index of its noise
    double scale = 1;
  };
  struct Noise {
    std::string name;
    std::optional<double> variance;  // none: learned
    // Typical variance before any data: this fraction of the variance of the series' moves per step; much less for a
    // slope, whose noise is summed twice before it is seen.
    double usual = 1;
    bool is_slope = false;
  };

  std::string name;
  std::vector<std::string> states;
  std::vector<Rule> rules;
  std::vector<Noise> noises;
  bool has_level = false;  // its first state starts at the level of the series, not around 0
  double period = 0;       // steps of a season
  // Above 0: the only state has no rule; it is a sum of as many cosines and sines of the period, with constant weights.
  std::size_t harmonics = 0;
  // The series is the sum of the first states of all processes.

  std::size_t longest_lag() const;
  // Unknowns that no rule covers.
  std::size_t start_states() const { return harmonics > 0 ? 2 * harmonics : states.size() * longest_lag(); }
};

Process random_walk(std::optional<double> variance = {});  // a level that wanders
// A level that moves by a slope; both follow random walks.
Process local_trend(std::optional<double> level_variance = {}, std::optional<double> slope_variance = {});
// Position and velocity under white accelerations of this intensity.
Process motion(std::optional<double> intensity = {});
// Any `period` consecutive values sum to noise.
Process seasonal(std::size_t period, std::optional<double> variance = {});
// A season of any length, such as 365.25 days or 52.18 weeks, whose shape stays as it is. At most period / 2 harmonics.
inline constexpr double kLongestSeason = 10'000;
Process fixed_season(double period, std::size_t harmonics);  // constant in size
// Row after row, cos(2 pi j t / period) and sin(2 pi j t / period) for j = 1, 2, ..., `harmonics`.
std::vector<double> harmonic_rows(double period, std::size_t harmonics, std::size_t length);
// x_t = coefficients[0] x_{t-1} + coefficients[1] x_{t-2} + ... + noise.
Process autoregressive(std::vector<double> coefficients, std::optional<double> variance = {});

}  // namespace dma
