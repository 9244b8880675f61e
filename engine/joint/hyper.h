// Unknown parameters: a noise variance, the spread of effects, the length of a kernel. The joint solver finds the mode
// of their evidence and integrates over a lattice around it, on a logarithmic scale (for correlations, log of (1 + r) /
// (1 - r)); beliefs are then mixtures over the points of that lattice.
//
//  const FactorId effects = g.factor("gaussian_noise", {all_to_one(mu), theta}, {{"variance", 1.0}});
//  const Hyper tau = hyper("tau", HyperPrior::half_cauchy(5), {{effects, "variance", 2}});       // variance = tau^2
//  const Plan plan = compile(g, joint({.hypers = {tau}}), standard_registry());
//  ...
//  JointPosterior(state).hyper("tau").mean();
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/graph/graph.h"

namespace dma {

class State;

namespace joint_system {
struct HyperIntegral;
const HyperIntegral& hyper_integral();  // the code that integrates over hypers
}  // namespace joint_system

// Prior density of a positive number, or of a correlation between -1 and 1.
struct HyperPrior {
  std::string name = {};  // "half_cauchy", with its numbers
  std::vector<double> numbers = {};
  std::function<double(double)> log_density = {};  // empty: no prior given
  double start = 1;                                // typical value
  bool is_correlation = false;                     // between -1 and 1

  static HyperPrior half_cauchy(double scale);                     // positive, with a heavy tail beyond the scale
  static HyperPrior half_normal(double sd);                        // positive half of N(0, sd^2)
  static HyperPrior half_student_t(double degrees, double scale);  // positive half of Student's t
  static HyperPrior gamma(double shape, double rate);              // mean shape / rate
  static HyperPrior log_normal(double mean, double sd);            // mean and sd of the logarithm
  static HyperPrior flat();                                        // density 1; evidence under it is not normalised
  static HyperPrior correlation(double shape);                     // proportional to (1 - r^2)^(shape - 1)
  // The prior with this name; an Error lists the known names.
  static HyperPrior named(const std::string& name, std::span<const double> numbers);

  // The unbounded number that the solver moves, and its density.
  double free_of(double value) const;
  double value_of(double free) const;             // inverse of free_of()
  double log_density_of_free(double free) const;  // prior density of that number
};

struct Hyper {
  // The parameter is times * value^power in all slots of the factor; power 2 turns a standard deviation into a
  // variance.
  struct Use {
    FactorId factor;
    std::string parameter;
    double power = 1;
    std::vector<double> times = {};  // one number, or one per slot; empty: 1
  };
  std::string name;
  HyperPrior prior;
  std::vector<Use> uses = {};
  // Code that integrates over it; programs without hypers are linked without that.
  const joint_system::HyperIntegral* integral = &joint_system::hyper_integral();
};
// A hyper that is the parameter itself, named "factor.parameter".
Hyper hyper(FactorId factor, std::string_view parameter, HyperPrior prior);
Hyper hyper(std::string name, HyperPrior prior, std::vector<Hyper::Use> uses = {});  // several parameters

// Sets parameters that are not powers of the hypers, such as the covariances of a kernel: writes them into a state for
// given hyper values, in the order of JointOptions::hypers.
using SetByHypers = std::function<void(State& state, std::span<const double> values)>;

// Belief of one hyper: values with weights that sum to 1.
class HyperBelief {
 public:
  HyperBelief(std::vector<double> values, std::vector<double> weights, double step, HyperPrior prior);

  double mean() const;                                             // posterior mean
  double sd() const;                                               // posterior standard deviation
  double quantile(double probability) const;                       // value that it is below with this probability
  double expected(const std::function<double(double)>& of) const;  // posterior mean of a function of it
  // Points are shared by all hypers: point k has value k of each.
  std::span<const double> values() const { return values_; }
  std::span<const double> weights() const { return weights_; }  // weights of the values, adding up to 1

 private:
  std::vector<double> values_, weights_;
  double step_;  // lattice step, in standard deviations
  HyperPrior prior_;
};

}  // namespace dma
