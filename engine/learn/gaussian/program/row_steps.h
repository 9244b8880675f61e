// Parts of a row program, and a pass of it over a block of rows.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "engine/compile/resolve.h"
#include "engine/learn/gaussian/program/row_program.h"

namespace dma {

// Place of a number of a row: in a column of the rows, among the shared scalars, or in a column of computed values.
struct RowPlace {
  enum class In : std::uint8_t { input, scalar, computed };
  In in = In::computed;
  Index at = 0;
  Index noise = -1;  // number of its variance; -1: it has none

  bool is_scalar() const { return in == In::scalar; }
};

struct ColumnRange {
  Index begin = 0, end = 0;
  Index size() const { return std::max<Index>(0, end - begin); }
};

// Results of a step stand side by side from column `out` on, their variances from number `noise` on.

struct AffineStep {
  RowPlace h = {};  // the first of `columns` side by side; so are their variances
  Index rows = 0, columns = 0;
  Index weights = 0, bias = -1;  // the first scalars; weights stand row by row
  Index out = 0, noise = -1;
  bool owns_scalars = false;           // true if no other step uses them
  Index function = -1;                 // the step that alone reads the results, slot by slot; -1: there is none
  std::vector<ColumnRange> live = {};  // by output: the rows it depends on
};

struct ProductsStep {
  Index slots = 0, terms = 0;
  std::vector<Index> weights = {};  // scalars, slot by slot
  std::vector<RowPlace> others = {};
  Index out = 0, noise = -1;
};

struct LinearStep {
  Index slots = 0, terms = 0;
  std::vector<double> offsets = {}, coefficients = {};  // slot by slot
  std::vector<RowPlace> inputs = {};
  Index out = 0, noise = -1;
};

struct FunctionStep {
  LinearView view = {};
  Index slots = 0, arguments = 0;
  std::vector<RowPlace> inputs = {};  // argument a of slot s at [a * slots + s]
  Resolved::Parameters parameters = {};
  bool same_parameters = true;  // true if all slots have the same
  bool is_noisy = false;
  Index out = 0;
};

struct GatherStep {
  Index input = 0;               // column that holds the element
  Index first = 0, choices = 0;  // scalars
  Index out = 0;
};

using RowStep = std::variant<AffineStep, ProductsStep, LinearStep, FunctionStep, GatherStep>;

struct RowCode {
  std::vector<RowStep> steps;
  std::vector<std::string> lines;  // a description of every step
  Index inputs = 0, scalars = 0, computed = 0;
  Vector noise;                       // variances; 0 for those that depend on weights
  std::vector<std::uint8_t> derived;  // 1 for variances that depend on weights
  std::vector<RowPlace> outputs;
  std::vector<Index> added_to;  // scalars whose gains are sums over steps, and must start at 0

  SharedPrior prior;
  std::vector<double> output_noise;
  OutputLikelihoods likelihoods;
  std::vector<VariableId> input_variables, shared;
  std::vector<Index> first_scalars;  // first scalar of each of `shared`
  std::vector<RowProgram::Table> tables;
};

RowCode compile_rows(const Graph& graph, const Registry& registry, const std::vector<VariableId>& targets);

// Derivatives of one output: by computed values and by variances.
struct RowAdjoint {
  Matrix computed, noise;
};

class RowPass {
 public:
  RowPass(const RowCode& code, const Vector& m, const Matrix& rows, bool with_slopes);

  Matrix outputs() const;
  RowAdjoint backward(Index output) const;
  // J of one output, rows x columns: that of scalar i into column column_of[i]; below 0: left out. The scalars of a
  // step that owns them are all there, row by row, or none is.
  void write_gains(const RowAdjoint& adjoint, Index output, std::span<const Index> column_of,
                   Eigen::Ref<Matrix> gains) const;

  Index count() const { return rows_.rows(); }
  Eigen::Map<const Matrix> columns(const RowPlace& first, Index count) const;
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::Map<const RowMajor> weights(const AffineStep& step) const {
    return {m_.data() + step.weights, step.rows, step.columns};
  }
  // The same transposed: a column for each result.
  Eigen::Map<const Matrix> weights_by_result(const AffineStep& step) const {
    return {m_.data() + step.weights, step.columns, step.rows};
  }
  const Vector& noise() const { return noise_; }
  // Gain of a function in argument a of slot s, by rows; by_noise: in that argument's variance.
  Eigen::Map<const Vector> gain(Index step, Index argument, Index slot, bool by_noise = false) const;

 private:
  struct Slopes {
    Matrix gains, noise_gains;
    Index slots_at_once = 1;
  };
  void run(const AffineStep& step, Index number);
  void run(const ProductsStep& step, Index number);
  void run(const LinearStep& step, Index number);
  void run(const FunctionStep& step, Index number);
  void run(const GatherStep& step, Index number);
  void pull(const AffineStep& step, Index number, Index output, RowAdjoint& adjoint) const;
  void pull(const ProductsStep& step, Index number, Index output, RowAdjoint& adjoint) const;
  void pull(const LinearStep& step, Index number, Index output, RowAdjoint& adjoint) const;
  void pull(const FunctionStep& step, Index number, Index output, RowAdjoint& adjoint) const;
  void pull(const GatherStep&, Index, Index, RowAdjoint&) const {}
  struct Columns;
  void write(const AffineStep& step, Index number, Columns& to) const;
  void write(const ProductsStep& step, Index number, Columns& to) const;
  void write(const LinearStep& step, Index number, Columns& to) const;
  void write(const FunctionStep& step, Index number, Columns& to) const;
  void write(const GatherStep& step, Index number, Columns& to) const;

  const RowCode& code_;
  const Vector& m_;
  const Matrix& rows_;
  bool with_slopes_;
  Matrix computed_;
  Vector noise_;
  std::vector<Slopes> slopes_;  // by step
};

}  // namespace dma
