// Vectors with full covariances. A block is as many consecutive elements of a variable as the matrix has rows, and a
// variable of several blocks has one factor per block. Every block becomes rows, one per element given those before it
// (`gaussian_linear`): a chain of blocks stays sparse.
//
//   const VariableId x = g.variable("x", 2 * steps), y = g.observed("y", 2 * steps);
//   gaussian_vector_prior(g, gather(x, {0, 1}), {0, 0}, SpreadMatrix::covariance({1, 0.2, 0.2, 1}));
//   gaussian_vector_noise(g, gather(x, before), gather(x, after), SpreadMatrix::covariance(q), rotation);
//   gaussian_vector_noise(g, x, y, SpreadMatrix::covariance(r));
//
// Matrices are stored row by row.
#pragma once

#include <string>
#include <vector>

#include "engine/graph/graph.h"

namespace dma {

class State;
class JointPosterior;
struct HyperPrior;
struct JointOptions;

// A symmetric, positive definite matrix: a covariance or its inverse.
struct SpreadMatrix {
  std::vector<double> numbers;
  bool is_precision = false;

  static SpreadMatrix covariance(std::vector<double> numbers) { return {std::move(numbers), false}; }  // row by row
  static SpreadMatrix precision(std::vector<double> numbers) { return {std::move(numbers), true}; }    // row by row
};

// The factors of its rows; set() gives them another matrix in a state, for functions of hypers.
struct VectorFactor {
  std::vector<FactorId> rows;
  std::vector<double> mean;  // a prior's mean
  std::vector<double> gains;
  bool is_precision = false;

  void set(State& state, const std::vector<double>& matrix) const;  // another covariance or precision, in one state
};

// x ~ N(mean, matrix) for every block of x: a variable, or gather(...) of some of its elements. The matrix is shared,
// or given per block, one after the other.
VectorFactor gaussian_vector_prior(Graph& g, const Connection& x, const std::vector<double>& mean,
                                   const SpreadMatrix& matrix);
// y ~ N(A x, matrix) for every block of y and the corresponding one of x. No A: the identity.
VectorFactor gaussian_vector_noise(Graph& g, const Connection& x, const Connection& y, const SpreadMatrix& matrix,
                                   const std::vector<double>& a = {});

// An unknown covariance: appends its standard deviations "name.sd0", ... and correlations "name.r10", "name.r20",
// "name.r21", ... to the hypers of the joint solver, at most 10 in all. From r21 on they are partial, given the
// elements before both. Their prior is LKJ, det(correlations)^(concentration - 1); concentration 1 is flat.
//
//   JointOptions options{.hypers = {sigma}};
//   learn_covariance(options, "effects", effects, HyperPrior::half_normal(1));
//   compile(g, joint(options), standard_registry());
void learn_covariance(JointOptions& options, const std::string& name, const VectorFactor& factor, const HyperPrior& sd,
                      double concentration = 1);
// Its posterior mean after a run, row by row.
std::vector<double> learned_covariance(const JointPosterior& posterior, const std::string& name,
                                       const VectorFactor& factor);

// The covariance of a Gaussian process between two places at distance d, d^2 = sum_c ((x_c - x'_c) / length_c)^2: sd^2
// times exp(-d^2 / 2) (squared_exponential), exp(-d) (matern12), (1 + t) exp(-t) with t = sqrt3 d (matern32) or
// (1 + t + t^2 / 3) exp(-t) with t = sqrt5 d (matern52).
struct ProcessCovariance {
  std::string shape = "squared_exponential";
  double sd = 1;
  std::vector<double> lengths = {1};  // one for all columns of the places, or one per column
};

// The elements of a variable as values of an unknown function at given places: f ~ N(0, K). Every element is one row
// given its nearest elements among those before it, a factor per number of neighbours; all elements before it make the
// process itself.
struct GaussianProcess {
  std::vector<double> places;  // row by row
  std::size_t columns = 1;
  ProcessCovariance form;
  std::vector<std::uint32_t> order = {};                // elements in the order of conditioning
  std::vector<std::vector<std::uint32_t>> before = {};  // neighbours of each element, in this order
  std::vector<FactorId> rows = {};

  // Another covariance of the same shape, in one state: about n^3 / 3 products for n elements, n m^3 / 3 with m
  // neighbours.
  void set(State& state, const ProcessCovariance& other) const;
};

// Exact to the rounding of a variance 1e-10 sd^2 on the diagonal, which keeps smooth ones positive definite. With
// `neighbours` (0: all) a large process is an approximation that is sparse; it is exact for matern12 along one column
// with one neighbour. Elements of which nothing is observed are predictions.
//
//   const VariableId f = g.variable("f", times.size());
//   const GaussianProcess process = gaussian_process(g, f, times, {.shape = "matern52", .lengths = {5}});
//   g.factor("poisson", {f, counts});
GaussianProcess gaussian_process(Graph& g, VariableId f, std::vector<double> places, const ProcessCovariance& form,
                                 std::size_t neighbours = 0);
// Makes sd and lengths unknown: appends the hypers "name.sd" and "name.length", or "name.length0", "name.length1", ...
// of several lengths.
void learn_process(JointOptions& options, const std::string& name, const GaussianProcess& process, const HyperPrior& sd,
                   const HyperPrior& length);

// Cost of large residuals: a kind of loss, "huber" or "cauchy" (factors/arithmetic/poses.h), and the number of standard
// deviations at which it begins. No kind: half the square.
struct Loss {
  std::string kind = {};
  double width = 1;
};
// Residuals in blocks of that size, equal to 0 up to noise N(0, matrix), with one matrix or one per block. A loss has
// no normaliser, so the evidence of such a graph is that of no density.
void weigh_residuals(Graph& g, const Connection& r, std::size_t size, const SpreadMatrix& matrix,
                     const Loss& loss = {});

}  // namespace dma
