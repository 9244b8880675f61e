// Models written as expressions: each function adds a factor of the kind it is named after, makes the variable for its
// result with the size that follows from its arguments, and returns it.
//
//   auto w = gaussian_prior(g, g.variable("w", 3), 0.0, 1.0);
//   auto z = sum(g, product(g, w, x));
//   gaussian_noise(g, z, 0.04, y);                              // into an existing variable
//
// The last argument, the destination of the result, is optional. These are short forms of Graph::factor, which also
// takes named ports, methods and several outputs; compile() checks both alike.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/graph/graph.h"

namespace dma {

// Destination of a result: a new variable with a number or a name, or an existing one.
struct Destination {
  Destination() = default;
  Destination(const char* new_name) : name(new_name) {}             // NOLINT: product(g, w, x, "p")
  Destination(std::string new_name) : name(std::move(new_name)) {}  // NOLINT
  Destination(VariableId there) : variable(there) {}                // NOLINT: gaussian_noise(g, z, 0.04, y)
  std::string name;
  std::optional<VariableId> variable;
};

// A factor of any kind whose last port is its only output: `apply(g, "softplus", {x})`. A new result has one element
// per slot of the plate that the inputs agree on (row(a) and column(b): rows x columns), and the inputs' family.
VariableId apply(Graph& g, std::string_view kind, std::initializer_list<Connection> inputs,
                 ParameterList parameters = {}, const Destination& result = {});

// Returns x, now with the prior N(mean, variance).
VariableId gaussian_prior(Graph& g, VariableId x, ParameterValue mean, ParameterValue variance);
// N(x, variance).
VariableId gaussian_noise(Graph& g, const Connection& x, ParameterValue variance, const Destination& result = {});

// x y, x + y, x^2, element by element.
VariableId product(Graph& g, const Connection& x, const Connection& y, const Destination& result = {});
VariableId add(Graph& g, const Connection& x, const Connection& y, const Destination& result = {});  // x + y
VariableId square(Graph& g, const Connection& x, const Destination& result = {});                    // x^2
// a x + b, exp(x), the larger of two.
VariableId affine(Graph& g, const Connection& x, ParameterValue a, ParameterValue b, const Destination& result = {});
VariableId exponential(Graph& g, const Connection& x, const Destination& result = {});                 // exp(x)
VariableId max(Graph& g, const Connection& x1, const Connection& x2, const Destination& result = {});  // the larger
// max(0, x) + slope min(0, x).
VariableId leaky_relu(Graph& g, const Connection& x, ParameterValue slope, const Destination& result = {});

// The sum of all elements of x.
VariableId sum(Graph& g, VariableId x, const Destination& result = {});
// The sums of the rows of x, which holds `rows` rows one after the other.
VariableId sum_rows(Graph& g, VariableId x, std::size_t rows, const Destination& result = {});
// A x + b: the matrix row by row, and b as one number or one per row.
VariableId linear(Graph& g, VariableId x, const std::vector<double>& a, ParameterValue b = 0.0,
                  const Destination& result = {});
// The matrix w, row by row, times the vector x; the result has size of w / size of x elements.
VariableId matrix_product(Graph& g, VariableId w, VariableId x, const Destination& result = {});

class State;
class JointPosterior;
struct HyperPrior;
struct JointOptions;

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

// Measurements of angles, rotations and poses: variables of the families angle, rotation, pose2 and pose3, solved by
// joint(). A pose2 is x, y and an angle; a pose3 is x, y, z and a rotation, written as its axis times its angle.
// Beliefs are over steps: a position moves in the frame of the world, a rotation turns in that of the body.
//
//   const VariableId x = g.variable("x", 3, "pose2");
//   point_prior(g, gather(x, {0}), {0, 0, 0}, SpreadMatrix::covariance(...));
//   between(g, gather(x, {0, 1}), gather(x, {1, 2}), {1, 0, 0.1, 1, 0, 0.2}, SpreadMatrix::precision(...));
//
// A connection may have many points; measurement and matrix are then shared, or given per point.
// Each function returns the variable of its residuals, one per measured number. b in the frame of a: log(measured^-1
// a^-1 b) is noise.
VariableId between(Graph& g, const Connection& a, const Connection& b, const std::vector<double>& measured,
                   const SpreadMatrix& matrix, const Loss& loss = {});
// The step from `at` to x is noise, along the directions of the belief.
VariableId point_prior(Graph& g, const Connection& x, const std::vector<double>& at, const SpreadMatrix& matrix,
                       const Loss& loss = {});
// The distance from pose x to the point p, a block of 2 or 3 numbers.
VariableId range(Graph& g, const Connection& x, const Connection& p, const std::vector<double>& measured,
                 const SpreadMatrix& matrix, const Loss& loss = {});
// The direction of p in the frame of x: an angle, or azimuth and elevation.
VariableId bearing(Graph& g, const Connection& x, const Connection& p, const std::vector<double>& measured,
                   const SpreadMatrix& matrix, const Loss& loss = {});
// The point p in the frame of x.
VariableId landmark(Graph& g, const Connection& x, const Connection& p, const std::vector<double>& measured,
                    const SpreadMatrix& matrix, const Loss& loss = {});

}  // namespace dma
