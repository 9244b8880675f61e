// A hidden Markov model: a state among K that changes from step to step, of which only what it emits is seen, symbols
// or numbers. Solved exactly in one sweep forward and one backward.
//
//   HiddenMarkov model(start, transition, SymbolEmission{probability});    // or GaussianEmission{mean, variance}
//   model.learn(values);                                                   // std::nullopt: missing
//   model.decode(values).probability;                                      // a row for each step, a column for each
//   state
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "models/mixtures/gaussian_emission.h"

namespace dma {

// Values are symbols 0, 1, ...: a row for each state, a column for each symbol.
struct SymbolEmission {
  Eigen::MatrixXd probability;
};

class HiddenMarkov {
 public:
  using Values = std::span<const std::optional<double>>;
  using Emission = std::variant<SymbolEmission, GaussianEmission>;

  // transition(i, j): from state i to state j.
  HiddenMarkov(Eigen::VectorXd start, Eigen::MatrixXd transition, Emission emission);

  struct Decoded {
    Eigen::MatrixXd probability;  // of each state (column) at each step (row), given all values
    Eigen::MatrixXd transitions;  // how often from one state to another, expected
    double log_evidence = 0;
  };
  Decoded decode(Values values) const;

  struct LearnOptions {
    double tolerance = 1e-6;  // of the log evidence
    int limit = 500;
  };
  struct Learned {
    double log_evidence = 0;
    int iterations = 0;
    bool converged = false;
    std::string fault = {};  // the log evidence fell, or was no number: how, in words; the model is the one before
  };
  // Moves all probabilities, means and variances to where the values are more probable, until nothing is gained (EM).
  // What it finds depends on where it begins: states that are equal stay equal.
  Learned learn(Values values, const LearnOptions& options);
  Learned learn(Values values) { return learn(values, LearnOptions()); }

  std::size_t states() const { return static_cast<std::size_t>(start_.size()); }
  const Eigen::VectorXd& start() const { return start_; }
  const Eigen::MatrixXd& transition() const { return transition_; }
  const Emission& emission() const { return emission_; }

 private:
  void take(const Decoded& found, Values values);

  Eigen::VectorXd start_;
  Eigen::MatrixXd transition_;
  Emission emission_;
};

}  // namespace dma
