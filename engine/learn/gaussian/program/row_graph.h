// The part of a graph that its targets need, for the compiler of row programs: factors in an order that computes inputs
// first, the values that the targets observe, and the priors of shared variables.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/compile/resolve.h"
#include "engine/learn/gaussian/program/row_model.h"

namespace dma {

// A Gaussian density of one slot: N(0; coefficients . arguments - offset, variance).
struct GaussianRow {
  std::vector<double> coefficients;
  double offset = 0, variance = 0;
};
GaussianRow gaussian_row(const Resolved::Factor& factor, std::uint32_t slot, std::size_t arguments);
// True for N(0; y - x, variance): noise on the way from x to y.
bool adds_noise(const Resolved::Factor& factor);
// True for another density of the value observed on its output, given one Gaussian input, or one for each of the
// classes that the output may be.
bool is_likelihood(const Resolved::Factor& factor);
// Parameters of one slot.
std::vector<ParameterView> parameters_of(const Resolved::Parameters& parameters, std::size_t slot);

class RowGraph {
 public:
  RowGraph(const Graph& graph, const Registry& registry, const std::vector<VariableId>& targets);

  const Resolved& graph() const { return graph_; }
  const std::vector<std::uint32_t>& order() const { return order_; }      // needed factors
  const std::vector<std::uint32_t>& outputs() const { return outputs_; }  // elements
  const std::vector<double>& output_noise() const { return output_noise_; }
  const OutputLikelihoods& likelihoods() const { return likelihoods_; }
  // Number of times that needed factors and targets read an element.
  std::uint32_t reads(std::uint32_t element) const { return reads_[element]; }
  bool is_reached(std::uint32_t variable) const { return is_reached_[variable] != 0; }
  bool is_input(std::uint32_t variable) const {
    return !graph_.variables[variable].shared && is_observed_[variable] != 0;
  }
  const Resolved::Variable& variable(std::uint32_t element) const { return graph_.variables[variable_of_[element]]; }
  std::string name_of(std::uint32_t element) const { return variable(element).name; }
  std::string names_of(const Resolved::Port& port) const;
  static const Resolved::Port& output_of(const Resolved::Factor& factor);
  // Prior of the elements of reached shared variables, in their order.
  SharedPrior prior() const;

 private:
  using Factor = Resolved::Factor;
  bool is_shared(std::uint32_t element) const { return variable(element).shared; }
  bool is_observed(std::uint32_t element) const { return is_observed_[variable_of_[element]] != 0; }
  template <class Use>
  void for_inputs(const Factor& factor, const Use& use) const;
  void find_writers();
  void find_outputs(const std::vector<VariableId>& targets);
  void add_outputs_of(std::uint32_t target, const Factor& factor, std::uint32_t slot);
  void find_needed();
  void put_in_order();
  void refuse_other_densities() const;
  double known_value(std::uint32_t element, const Factor& reader) const;
  void add_precision_groups(const std::vector<Index>& scalar_of, SharedPrior& prior) const;

  Resolved graph_;
  std::vector<std::uint32_t> order_, outputs_;
  std::vector<double> output_noise_;
  OutputLikelihoods likelihoods_;
  std::vector<std::uint32_t> variable_of_, writer_, reads_;         // by element
  std::vector<std::uint8_t> is_needed_, is_reached_, is_observed_;  // by factor; by variable
  // By observed element of a target: its factor, and the place among what the factor's output reaches.
  std::map<std::uint32_t, std::pair<const Factor*, std::uint32_t>> likelihood_of_;
};

}  // namespace dma
