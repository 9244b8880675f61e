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

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/compile/compile.h"
#include "engine/joint/hyper.h"
#include "engine/run/run.h"

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
  // At most 10 unknown parameters, and the function that sets parameters other than powers of them (hyper.h).
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

}  // namespace dma
