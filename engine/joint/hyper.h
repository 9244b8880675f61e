// Parameters that nobody knows: a noise variance, the spread of effects, the length of a kernel. The joint solver finds
// the mode of their evidence and integrates over a lattice around it, on a logarithmic scale (of correlations, that of
// (1 + r) / (1 - r)); what it says of variables, is then a mixture over the points of that lattice.
//
//   const FactorId effects = g.factor("gaussian_noise", {all_to_one(mu), theta}, {{"variance", 1.0}});
//   const Hyper tau = hyper("tau", HyperPrior::half_cauchy(5), {{effects, "variance", 2}});       // variance = tau^2
//   const Plan plan = compile(g, joint({.hypers = {tau}}), standard_registry());
//   ...
//   JointPosterior(state).hyper("tau").mean();
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/graph/graph.h"

namespace dma {

class State;

// A density of a positive number, or of one between -1 and 1.
struct HyperPrior {
  std::string name = {};  // "half_cauchy", with
  std::vector<double> numbers = {};
  std::function<double(double)> log_density = {};  // empty: none was given
  double start = 1;                                // where it has its mass
  bool is_correlation = false;                     // between -1 and 1

  static HyperPrior half_cauchy(double scale);
  static HyperPrior half_normal(double sd);
  static HyperPrior half_student_t(double degrees, double scale);
  static HyperPrior gamma(double shape, double rate);
  static HyperPrior log_normal(double mean, double sd);  // of the logarithm
  static HyperPrior flat();                              // 1, which no evidence is proper with
  static HyperPrior correlation(double shape);           // in proportion to (1 - r^2)^(shape - 1)
  // One of these by its name; an Error says which there are.
  static HyperPrior named(const std::string& name, std::span<const double> numbers);

  // The free number, without bounds, that the solver moves, and its density.
  double free_of(double value) const;
  double value_of(double free) const;
  double log_density_of_free(double free) const;
};

struct Hyper {
  // The parameter is times * value^power in all slots of the factor: power 2 of a standard deviation is a variance.
  struct Use {
    FactorId factor;
    std::string parameter;
    double power = 1;
    std::vector<double> times = {};  // one number, or one for each slot; empty: 1
  };
  std::string name;
  HyperPrior prior;
  std::vector<Use> uses = {};
};
// The parameter itself, under the name "factor.parameter".
Hyper hyper(FactorId factor, std::string_view parameter, HyperPrior prior);
Hyper hyper(std::string name, HyperPrior prior, std::vector<Hyper::Use> uses = {});

// Parameters that are other functions of the hypers than powers, such as the covariances of a kernel: gives a state
// those that belong to these values, in the order of JointOptions::hypers.
using SetByHypers = std::function<void(State& state, std::span<const double> values)>;

// What is known of one of them: values with weights that sum to 1.
class HyperBelief {
 public:
  HyperBelief(std::vector<double> values, std::vector<double> weights, double step, HyperPrior prior);

  double mean() const;
  double sd() const;
  double quantile(double probability) const;
  double expected(const std::function<double(double)>& of) const;
  // Those of several hypers go together: point k has value k of each.
  std::span<const double> values() const { return values_; }
  std::span<const double> weights() const { return weights_; }

 private:
  std::vector<double> values_, weights_;
  double step_;  // of the lattice, in standard deviations
  HyperPrior prior_;
};

}  // namespace dma
