// The graph of a whole series and what its solution says; see state_space.h, which is made of it.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <vector>

#include "engine/joint/joint.h"
#include "models/series/state_space.h"

namespace dma {

// What a rule leaves over is a variable of its own: its belief is what learning asks for.
class SeriesGraph {
 public:
  // `values`, followed by steps without one up to this length.
  SeriesGraph(const StateSpace& model, SeriesValues values, std::size_t length);

  double solve();  // the log evidence
  // Of the series, which is solved without it: levels of a million leave no digits for what happens on top of them. The
  // signal and the first state of leading_level() are that much more than their beliefs here.
  double shift() const { return shift_; }
  std::optional<std::size_t> leading_level() const { return leading_level_; }
  Belief signal() const { return state_->belief(signal_); }
  Belief state(std::size_t process, std::size_t which) const { return state_->belief(states_[process][which]); }
  std::optional<Belief> weights() const { return weights_ ? std::optional(state_->belief(*weights_)) : std::nullopt; }
  // What is known together of all states at the last `steps` steps: of each state the latest first.
  struct Window {
    Eigen::VectorXd mean;
    Eigen::MatrixXd covariance;
  };
  Window last(std::size_t steps) const;

  // See Smoothed; of the series' own steps.
  std::vector<double> value_surprise(double observation_variance) const;
  std::vector<double> level_surprise(const StateSpace& model) const;

  // A variance by its position in StateSpace::variances(): sets it; the derivative of the log evidence by its
  // logarithm.
  void set_variance(std::size_t which, double variance);
  double slope(std::size_t which, double variance) const;

 private:
  struct Rest {
    VariableId variable;
    FactorId prior;
    std::size_t variance;
    double scale;
  };
  void add(const StateSpace& model, std::size_t process, const StateSpace::Start& start);
  VariableId add_inputs(const std::vector<SeriesInput>& inputs, const StateSpace::Start& start);

  std::vector<std::optional<double>> values_;  // less the shift
  std::size_t length_;
  double shift_ = 0;
  std::optional<std::size_t> leading_level_;  // the process whose first state holds the shift; none: nothing is shifted
  Graph graph_;
  std::vector<std::vector<VariableId>> states_;  // by process
  std::vector<Rest> rests_;
  VariableId signal_{}, y_{};
  std::optional<VariableId> weights_;  // of the inputs
  FactorId noise_{};
  std::optional<Plan> plan_;
  std::optional<State> state_;
};

}  // namespace dma
