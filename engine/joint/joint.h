// joint/: the whole graph as one Gaussian. May include run/ and what lies below it.
//
// joint() linearises every factor at the current values, solves the resulting Gaussian over all variables at once, and
// repeats. It keeps correlations: for linear Gaussian graphs the answer is exact, with or without loops, where sweeps
// of messages approximate.
//
//   const Plan plan = compile(g, joint(), standard_registry());
//   State state(plan);
//   state.observe(y, values);
//   const Report report = run(plan, state);
//   state.belief(x);
//   const JointPosterior posterior(state);
//   posterior.covariance(x, v);
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/compile/compile.h"
#include "engine/graph/graph.h"
#include "engine/run/run.h"

namespace dma {

class State;

// Hypers are unknown parameters: a noise variance, the spread of effects, the length of a kernel. The joint solver
// finds the mode of their evidence and integrates over a lattice around it, on a logarithmic scale (for correlations,
// log of (1 + r) / (1 - r)); beliefs are then mixtures over the points of that lattice.
//
//  const FactorId effects = g.factor("gaussian_noise", {all_to_one(mu), theta}, {{"variance", 1.0}});
//  const Hyper tau = hyper("tau", HyperPrior::half_cauchy(5), {{effects, "variance", 2}});       // variance = tau^2
//  const Plan plan = compile(g, joint({.hypers = {tau}}), standard_registry());
//  ...
//  JointPosterior(state).hyper("tau").mean();
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

// Forward declaration only: programs that ask for vectors and matrices include <Eigen/Core> themselves.
namespace Eigen {
template <typename Scalar, int Rows, int Columns, int Options, int MostRows, int MostColumns>
class Matrix;
}

namespace dma {

struct JointOptions {
  // Steps end when no component of the gradient exceeds this many standard deviations (of its unknown given the
  // others).
  double tolerance = 1e-9;
  // Largest number of linear systems solved for one set of sites.
  int limit = 200;
  // First Levenberg-Marquardt damping, in units of the information's diagonal: almost none. Steps that do not lower the
  // objective are rejected and damped more; graphs with constant gains need no damping.
  double damping = 1e-12;
  // EP sites are refreshed until no mean that they affect changes by more than this many standard deviations, and no
  // standard deviation by more than this fraction, or until only rounding changes them.
  double site_tolerance = 1e-10;
  // Largest number of refreshes. Sites are damped while they overshoot or do not settle.
  int refreshes = 500;
  // If not 0, unknowns start at a draw from their priors instead of at the prior means (or 0). The solver leaves maxima
  // and saddles, such as 0 between the two factors of a product, in any case.
  std::uint64_t start_seed = 0;
  // Largest size of the factor and its inverse in bytes; also of a covariance or a set of draws.
  std::uint64_t memory = std::uint64_t{8} << 30;
  // Number of draws that check a graph that is not linear: they are weighted by the graph's own density, at most half
  // of them are followed for a few steps of a sampler, and other starts are tried. The Report says whether the Gaussian
  // fits (JointReport::Fit). 0: no check.
  int check_draws = 400;
  // At most 10 unknown parameters, and the function that sets parameters other than powers of them.
  std::vector<Hyper> hypers = {};
  SetByHypers set_by_hypers = {};
  // Called after every solve; returning false stops the run.
  std::function<bool(const JointReport&)> callback = {};
};

struct Joint {
  JointOptions options;
};
inline Joint joint(JointOptions options = {}) { return {std::move(options)}; }  // for compile() and solve()

// Methods in `options` apply to EP sites ("ep" if the kind has it and no other method is given).
Plan compile(const Graph& graph, const Joint& joint, const Registry& registry, const CompileOptions& options = {});

// Sets the starting values used by the next cold run: one value per element of a root variable. Other variables keep
// their own start.
void set_start(State& state, VariableId variable, std::span<const double> values);

class JointDraws;
struct DrawOptions;

// Draws from a posterior, one per row.
class JointSamples {
 public:
  double operator()(std::size_t draw, VariableId variable, std::size_t element = 0) const;
  std::size_t size() const { return draws_; }

 private:
  friend class JointPosterior;
  friend JointDraws draw_posterior(const State& state, const DrawOptions& options);
  Plan plan_;
  std::size_t draws_ = 0, elements_ = 0;
  std::vector<double> values_;  // draw by draw, all elements of each
};

// Reads the result of a joint run from its state. Deterministic variables are linearised at the solution.
class JointPosterior {
 public:
  explicit JointPosterior(const State& state);  // throws an Error if the state was not run by joint

  using Vector = Eigen::Matrix<double, -1, 1, 0, -1, 1>;    // Eigen::VectorXd
  using Matrix = Eigen::Matrix<double, -1, -1, 0, -1, -1>;  // Eigen::MatrixXd

  Vector mean(VariableId variable) const;  // mean of every element
  // Between all elements of a and b, or between one element of each. With hypers, of the mixture.
  Matrix covariance(VariableId a, VariableId b) const;
  double covariance(VariableId a, std::size_t element_of_a, VariableId b, std::size_t element_of_b) const;
  // Draws roots from the Gaussian and computes deterministic variables by their functions.
  JointSamples sample(std::size_t draws, std::uint64_t seed) const;
  // log p(observed): exact for linear Gaussian graphs, otherwise by Laplace's method, with EP's energy for sites, to
  // second order for pairs of sites that share their unknowns, where these are few.
  double log_evidence() const;
  // The quantile of an element at this probability.
  double quantile(VariableId variable, double probability, std::size_t element = 0) const;
  HyperBelief hyper(std::string_view name) const;  // belief of a hyper by its name

 private:
  const State* state_;
};

// Compares two solutions of one graph.
struct JointComparison {
  struct Row {
    std::string variable;
    double mean_difference = 0;  // largest |mean by sweeps - mean by joint|, in standard deviations by joint
    double variance_ratio = 1;   // variance by sweeps / by joint, the ratio farthest from 1
  };
  Report sweeps, joint;
  std::vector<Row> rows;  // one per variable that is not observed
  std::string text() const;
};
// Runs both plans on the values that `observe` sets in a state of each.
JointComparison compare_with_joint(const Graph& graph, const Scheduler& rule, const Registry& registry,
                                   const std::function<void(State&)>& observe, const JointOptions& joint_options = {},
                                   const CompileOptions& options = {});

// Draws from the graph's own density, for posteriors that the Gaussian of a joint run does not fit: Hamiltonian Monte
// Carlo in the metric of that Gaussian, with several Markov chains. The first starts at a draw of it, the others at
// draws of Gaussians solved from other starts, in their metrics. R-hat and effective sizes are measured.
//
//  if (report.joint->fit && !report.joint->fit->is_good()) {
//    const JointDraws draws = draw_posterior(state);
//    draws.line();         // "2000 draws of 4 chains: R-hat 1.003, 812 effective, 84 % accepted"
//    draws.mean(x);
//  }
struct DrawOptions {
  int chains = 4;
  int warm_up = 500;  // draws per chain that tune the step and are discarded
  int draws = 500;    // per chain
  int leaps = 12;     // largest number of leapfrog steps between two draws
  std::uint64_t seed = 1;
};

class JointDraws {
 public:
  double operator()(std::size_t draw, VariableId variable, std::size_t element = 0) const {
    return draws_(draw, variable, element);
  }
  std::size_t size() const { return draws_.size(); }                // all draws of the first chain, then of the next
  double mean(VariableId variable, std::size_t element = 0) const;  // mean of all draws
  double sd(VariableId variable, std::size_t element = 0) const;    // their standard deviation

  // Worst values over all unknowns: R-hat (spread of all draws relative to that within half chains) and effective
  // sample size.
  double r_hat = 1, effective = 0;
  double accepted = 0;  // fraction of proposals
  int chains = 0;
  bool have_settled() const;  // R-hat below 1.05, and at least 100 effective draws
  std::string line() const;

 private:
  friend JointDraws draw_posterior(const State& state, const DrawOptions& options);
  JointSamples draws_;
};

// R-hat and effective size of the draws of one number: chain by chain in one vector, cut into parts of equal length,
// two per chain (Vehtari, Gelman, Simpson, Carpenter, Buerkner 2021).
struct ChainWorth {
  double r_hat = 1, effective = 0;  // infinite and 0 if the number never moves
};
ChainWorth worth_of(const std::vector<double>& draws, std::size_t parts);  // cuts into so many parts

// The state must have been run by joint without hypers. Every kind must have a function, a row or a log density.
JointDraws draw_posterior(const State& state, const DrawOptions& options = {});

}  // namespace dma
