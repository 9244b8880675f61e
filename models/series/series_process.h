// What a series is made of: random walks, trends, seasons, each a few states that follow linear rules with noise.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace dma {

// States that follow linear rules with noise: of each state and the past, a combination is N(0, scale * variance).
struct Process {
  struct Term {
    std::size_t state = 0, lag = 0;
    double coefficient = 1;
  };
  struct Rule {  // one for each state; its first term is the state itself, now
    std::vector<Term> terms;
    std::size_t noise = 0;  // which of the noises
    double scale = 1;
  };
  struct Noise {
    std::string name;
    std::optional<double> variance;  // none: to be learned
    // What is usual before anything is seen: this much of the variance that the series moves by in a step, and for the
    // noise of a slope, which is summed up twice before it is seen, what moves a series of n steps as much: 3 / n^2.
    double usual = 1;
    bool is_slope = false;
  };

  std::string name;
  std::vector<std::string> states;
  std::vector<Rule> rules;
  std::vector<Noise> noises;
  bool has_level = false;  // its first state begins where the series does, not around 0
  // What is observed is the sum of the first states of all processes.

  std::size_t longest_lag() const;
  std::size_t start_states() const { return states.size() * longest_lag(); }  // to which no rule applies
};

Process random_walk(std::optional<double> variance = {});
// A level that moves on by a slope; both wander.
Process local_trend(std::optional<double> level_variance = {}, std::optional<double> slope_variance = {});
// Position and velocity under white accelerations of this intensity.
Process motion(std::optional<double> intensity = {});
// Any `period` consecutive values sum to noise.
Process seasonal(std::size_t period, std::optional<double> variance = {});
// x_t = coefficients[0] x_{t-1} + coefficients[1] x_{t-2} + ... + noise.
Process autoregressive(std::vector<double> coefficients, std::optional<double> variance = {});

}  // namespace dma
