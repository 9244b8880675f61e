// A graph as a row model: a list of steps that compute its outputs for a block of examples at once, values forward and
// gains backward.
//
//   affine     z = W h + b          shared scalars times what stands side by side in a row: one matrix product
//   products   z = sum of w h       the same where weights are used again or inputs are gathered (a convolution)
//   linear     z = c0 + sum of c x  with known coefficients
//   function   y = g(x, ...)        any other kind, by its linear view; plates in one call
//   gather     z = v[table]         an element of a shared variable that a table of the data chooses (given())
//
// Gaussian noise on a computed value or an input smooths the model: weights and sums carry its variance to the next
// function, which is replaced by its expected value under that noise. There the noise ends.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/kinds/registry.h"
#include "engine/learn/gaussian/program/row_model.h"

namespace dma {

struct RowCode;  // row_steps.h

class RowProgram final : public RowModel {
 public:
  // A target is an observed variable with Gaussian noise, or another likelihood, on a computed value, or a computed
  // variable itself. What no target needs is left out, shared variables too. An Error names the first thing that does
  // not fit: a target without likelihood, a shared variable without a Gaussian prior, a variable that no function
  // computes. The registry is not kept.
  RowProgram(const Graph& graph, const Registry& registry, const std::vector<VariableId>& targets);

  Index scalars() const override;
  Index outputs() const override;
  void evaluate(const Vector& m, const Matrix& rows, Matrix& f) const override;
  void linearise(const Vector& m, const Matrix& rows, Matrix& f, Matrix& gains) const override;
  // Affine steps whose weights nobody else uses, all of one variance, answer without forming J.
  std::unique_ptr<Gains> gains(const Vector& m, const Matrix& rows, const Vector& variance, Matrix& f) const override;
  // Every row of such a step is a unit; hidden ones from the last step to the first, then those that are outputs.
  std::vector<UnitGains> units(const Vector& m, const Matrix& rows, Matrix& f) const override;

  // Columns of a row: the observed variables but the targets, in the order of the graph, element by element; then the
  // elements that tables of the data choose.
  struct Table {
    FactorId factor;
    std::string port;
    std::uint32_t entries = 0, choices = 0;  // entries per example, each from so many elements
  };
  const std::vector<VariableId>& inputs() const;
  const std::vector<Table>& tables() const;
  Index input_size() const;
  // The shared variables it learns, in the order of the graph, and the first scalar of one.
  const std::vector<VariableId>& shared() const;
  Index first_scalar(VariableId shared) const;
  // The scalars' prior and the outputs' noise by the factors of the graph; noise is 0 for a target that is computed, 1
  // for one whose likelihood is not Gaussian.
  const SharedPrior& prior() const;
  const std::vector<double>& noise() const;
  const OutputLikelihoods& likelihoods() const;
  // Step and row, in words, of a value or gain that is not a finite number; empty: there is none.
  std::string first_fault(const Vector& m, const Matrix& rows) const override;

  friend std::string describe(const RowProgram& program);  // a line for every step

 private:
  std::shared_ptr<const RowCode> code_;
};

}  // namespace dma
