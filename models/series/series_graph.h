// The graph of a whole series and its solution; used by state_space.h.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <vector>

#include "engine/joint/joint.h"
#include "models/series/state_space.h"

namespace dma {

// The residual of each rule is a variable of its own: learning needs its belief.
class SeriesGraph {
 public:
  // `values`, followed by steps without a value up to `length`.
  SeriesGraph(const StateSpace& model, SeriesValues values, std::size_t length);

  double solve();  // returns the log evidence
  // A constant subtracted from the series before solving: levels of a million would leave too few digits. signal() is
  // relative to it.
  double shift() const { return shift_; }
  Belief signal() const { return state_->belief(signal_); }
  // Beliefs in the units of the values, at the variances that are set; without surprises.
  Smoothed smoothed(const StateSpace& model, double observation_variance) const;
  // Joint posterior of all states at the last `steps` steps: for each state, the latest first.
  struct Window {
    Eigen::VectorXd mean;
    Eigen::MatrixXd covariance;
  };
  Window last(std::size_t steps) const;

  // See Smoothed; for the steps of the series itself.
  std::vector<double> value_surprise(double observation_variance) const;
  std::vector<double> level_surprise(const StateSpace& model) const;

  // The position of a variance in StateSpace::variances() is `which`; slope() is the derivative of the log evidence by
  // its logarithm.
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
  // rows x weights, where there are as many weights as prior variances.
  struct Effect {
    VariableId weights, value;
  };
  Effect add_effect(std::vector<double> rows, const std::vector<double>& variances);

  std::vector<std::optional<double>> values_;  // minus the shift
  std::size_t length_;
  double shift_ = 0;
  std::optional<std::size_t> leading_level_;  // process whose first state holds the shift; none: no shift
  Graph graph_;
  std::vector<std::vector<VariableId>> states_;  // by process
  std::vector<Rest> rests_;
  VariableId signal_{}, y_{};
  std::optional<VariableId> weights_;  // the inputs' weights
  FactorId noise_{};
  std::optional<Plan> plan_;
  std::optional<State> state_;
};

}  // namespace dma
