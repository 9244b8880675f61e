// Any graph whose data flow leads from shared and observed variables by functions to Gaussian noise on the targets, as
// a row model: forward values and one reverse sweep of gains, a block of rows at once.
#pragma once

#include <vector>

#include "engine/compile/resolve.h"
#include "engine/learn/joint/fit.h"

namespace dma {

class GraphRows final : public RowModel {
 public:
  // An Error names the first factor or variable that does not fit: a target without Gaussian noise on it, a shared
  // variable without a Gaussian prior of its own, a local variable that no function computes. The registry must outlive
  // the model.
  GraphRows(const Graph& graph, const Registry& registry, const std::vector<VariableId>& targets);

  Index scalars() const override { return static_cast<Index>(shared_.size()); }
  Index outputs() const override { return static_cast<Index>(outputs_.size()); }
  void evaluate(const Vector& m, const Matrix& rows, Matrix& f) const override;
  void linearise(const Vector& m, const Matrix& rows, Matrix& f, Matrix& gains) const override;

  // What the graph's prior factors say of the shared scalars, and its noise factors of the outputs.
  const SharedPrior& prior() const { return prior_; }
  const std::vector<double>& noise() const { return noise_; }
  // Columns of a row: the observed variables but the targets, in the order of the graph, element by element.
  const std::vector<VariableId>& inputs() const { return inputs_; }
  Index input_size() const { return static_cast<Index>(observed_.size()); }
  // The first scalar of a shared variable.
  Index first_scalar(VariableId shared) const;

 private:
  struct Walk;  // the values of a block of rows
  static constexpr std::uint32_t kNone = 0xffffffffu;

  void order_functions();
  void read_priors_and_noise(const std::vector<VariableId>& targets);
  void read_row(const Resolved::Factor& factor, const std::vector<std::uint32_t>& target_of);
  // Arguments of one slot: elements, those of input ports in order; last the output's.
  void arguments(const Resolved::Factor& factor, std::uint32_t slot, std::vector<std::uint32_t>& elements) const;
  void run_forward(const Vector& m, const Matrix& rows, Matrix& values) const;

  Resolved graph_;
  std::vector<std::uint32_t> functions_;  // factors in an order that computes inputs first
  std::vector<std::uint32_t> shared_, observed_, outputs_;  // elements
  std::vector<VariableId> inputs_;
  std::vector<std::uint32_t> scalar_of_;  // element -> shared scalar
  SharedPrior prior_;
  std::vector<double> noise_;
};

}  // namespace dma
