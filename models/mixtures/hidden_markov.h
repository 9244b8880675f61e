// A hidden Markov model: one of K states, which changes from step to step and is seen only through its emissions,
// symbols, numbers or whatever has a density. Solved exactly in one forward and one backward sweep.
//
//  HiddenMarkov model(start, transition, SymbolEmission{probability});    // or GaussianEmission{mean, variance}
//  model.learn(values);                                                   // std::nullopt: missing
//  model.decode(values).probability;                                      // one row per step, one column per state
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace dma {

// Numbers from one of several Gaussians: the states of a hidden Markov model, the components of a mixture.
struct GaussianEmission {
  Eigen::VectorXd mean, variance;  // one per Gaussian
};

// Sets the means and variances that make the values most probable, where row i, column k of `probability` is the
// probability that value i comes from Gaussian k. A Gaussian without values is unchanged. `prior`, a variance, counts
// as one more value of every Gaussian, at that distance from its mean. A variance is at least a millionth of that of
// all values, unless it was smaller before: so no step of learning makes the values less probable.
void refit(GaussianEmission& emission, const Eigen::MatrixXd& probability,
           std::span<const std::optional<double>> values, double prior = 0);

// Every row of p is a distribution; if not, an Error of `who` names the first that is none.
void check_distributions(std::string_view who, std::string_view what, const Eigen::MatrixXd& p, Eigen::Index rows,
                         Eigen::Index columns);

// Values are symbols 0, 1, ...: one row per state, one column per symbol.
struct SymbolEmission {
  Eigen::MatrixXd probability;
};

// Values of any density with one unknown parameter, such as counts with a rate.
struct DensityEmission {
  Eigen::VectorXd parameter;                                          // one per state
  std::function<double(double value, double parameter)> log_density;  // with one maximum over the parameter
  double low, high;                                                   // the parameter is learned between these
};

class HiddenMarkov {
 public:
  using Values = std::span<const std::optional<double>>;
  using Emission = std::variant<SymbolEmission, GaussianEmission, DensityEmission>;

  // transition(i, j): from state i to state j.
  HiddenMarkov(Eigen::VectorXd start, Eigen::MatrixXd transition, Emission emission);

  struct Decoded {
    Eigen::MatrixXd probability;  // P(state (column) | all values), by step (row)
    Eigen::MatrixXd transitions;  // expected number of transitions from state i to state j
    double log_evidence = 0;
  };
  Decoded decode(Values values) const;  // states of every step, given all values

  struct LearnOptions {
    double tolerance = 1e-6;  // on the log evidence
    int limit = 500;
  };
  struct Learned {
    double log_evidence = 0;
    int iterations = 0;
    bool converged = false;
    // Description of a failure: the log evidence fell or was NaN, and the model is the one before; empty: none.
    std::string fault = {};
  };
  // Updates all probabilities, means and variances by EM until the evidence stops rising. The result depends on the
  // start: equal states stay equal.
  Learned learn(Values values, const LearnOptions& options);
  Learned learn(Values values) { return learn(values, LearnOptions()); }

  std::size_t states() const { return static_cast<std::size_t>(start_.size()); }  // number of hidden states
  const Eigen::VectorXd& start() const { return start_; }            // probabilities of the states at the first step
  const Eigen::MatrixXd& transition() const { return transition_; }  // row by row: probabilities of the next state
  const Emission& emission() const { return emission_; }             // emissions of the states

 private:
  void take(const Decoded& found, Values values);

  Eigen::VectorXd start_;
  Eigen::MatrixXd transition_;
  Emission emission_;
};

}  // namespace dma
