// joint/: the whole graph as one Gaussian. May include run/ and what lies below it.
//
// A second way to solve a graph: every factor is linearised at the current values, the resulting Gaussian over all
// variables is solved at once, and that is repeated. Correlations are kept, so that what sweeps of messages approximate
// is exact here for linear Gaussian graphs, with loops or without.
//
//   const Plan plan = compile(g, joint(), standard_registry());
//   State state(plan);
//   state.observe(y, values);
//   const Report report = run(plan, state);
//   state.belief(x);
//   const JointPosterior posterior(state);
//   posterior.covariance(x, v);
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/compile/compile.h"
#include "engine/compile/resolve.h"
#include "engine/joint/hyper.h"
#include "engine/run/run.h"

// Programs that ask for vectors and matrices include <Eigen/Core>; others do not wait for it.
namespace Eigen {
template <typename Scalar, int Rows, int Columns, int Options, int MostRows, int MostColumns>
class Matrix;
}

namespace dma {

struct JointOptions {
  // Steps end when no component of the gradient exceeds this many standard deviations (of its unknown given the
  // others).
  double tolerance = 1e-9;
  // ... or this many linear systems are solved for one set of sites.
  int limit = 200;
  // The first Levenberg-Marquardt damping, in units of the information's diagonal: next to none. Steps that do not
  // lower the objective are taken back and damped more; graphs with constant gains need none.
  double damping = 1e-12;
  // EP sites are refreshed until no mean of what they reach changes by more than this many standard deviations, and no
  // standard deviation by more than this fraction of it, or by rounding alone.
  double site_tolerance = 1e-10;
  // ... or this often. Sites are damped only when they do not settle.
  int refreshes = 500;
  // Not 0: unknowns start at a draw from their own priors instead of at the priors' means (or 0). A maximum or a
  // saddle, such as 0 between the two factors of a product, is left for something lower in any case.
  std::uint64_t start_seed = 0;
  // Bytes that the factor and its inverse may take; a covariance or a set of draws likewise.
  std::uint64_t memory = std::uint64_t{8} << 30;
  // Where the graph is not linear, so many draws from the Gaussian are weighted by the graph's own density, half as
  // many or fewer are followed for a few steps of a sampler, other starts are tried, and the Report says whether it
  // fits (JointReport::Fit). 0: none of it.
  int check_draws = 400;
  // Parameters that are not known, at most 10, and what depends on them in other ways than by powers (hyper.h).
  std::vector<Hyper> hypers = {};
  SetByHypers set_by_hypers = {};
  // Called after every solve; false stops the run.
  std::function<bool(const JointReport&)> callback = {};
};

struct Joint {
  JointOptions options;
};
inline Joint joint(JointOptions options = {}) { return {std::move(options)}; }

// Methods in `options` are those of EP sites ("ep" where a kind has it and nothing else is asked for).
Plan compile(const Graph& graph, const Joint& joint, const Registry& registry, const CompileOptions& options = {});

// Where the next run begins that is not warm: a value for every element of a root variable. Others keep their own
// start.
void set_start(State& state, VariableId variable, std::span<const double> values);

class JointChains;
struct ChainOptions;

// Draws from a posterior, one row each.
class JointSamples {
 public:
  double operator()(std::size_t draw, VariableId variable, std::size_t element = 0) const;
  std::size_t size() const { return draws_; }

 private:
  friend class JointPosterior;
  friend JointChains draw_chains(const State& state, const ChainOptions& options);
  Plan plan_;
  std::size_t draws_ = 0, elements_ = 0;
  std::vector<double> values_;  // all elements of the first draw, then of the next
};

// What a joint run found, read from its state. Deterministic variables are linearised at the solution.
class JointPosterior {
 public:
  explicit JointPosterior(const State& state);  // Error unless the state was run by joint

  using Vector = Eigen::Matrix<double, -1, 1, 0, -1, 1>;   // Eigen::VectorXd
  using Matrix = Eigen::Matrix<double, -1, -1, 0, -1, -1>;  // Eigen::MatrixXd

  Vector mean(VariableId variable) const;
  // Between all elements of a and all of b, or between one element of each. With hypers all of this is of the mixture.
  Matrix covariance(VariableId a, VariableId b) const;
  double covariance(VariableId a, std::size_t element_of_a, VariableId b, std::size_t element_of_b) const;
  // Roots from the Gaussian; deterministic variables by their functions.
  JointSamples sample(std::size_t draws, std::uint64_t seed) const;
  // log p(observed): exact for linear Gaussian graphs, otherwise by Laplace's method, with EP's energy for sites.
  double log_evidence() const;
  // The value that an element lies below with that probability.
  double quantile(VariableId variable, double probability, std::size_t element = 0) const;
  HyperBelief hyper(std::string_view name) const;

 private:
  const State* state_;
};

// One graph solved in two ways.
struct JointComparison {
  struct Row {
    std::string variable;
    double mean_difference = 0;  // largest |mean by sweeps - mean by joint|, in standard deviations by joint
    double variance_ratio = 1;   // variance by sweeps / by joint, the one farthest from 1
  };
  Report sweeps, joint;
  std::vector<Row> rows;  // variables that are not observed
  std::string text() const;
};
// Runs both plans on the values that `observe` gives to a state of each.
JointComparison compare_with_joint(const Graph& graph, const Scheduler& rule, const Registry& registry,
                                   const std::function<void(State&)>& observe, const JointOptions& joint_options = {},
                                   const CompileOptions& options = {});

}  // namespace dma
