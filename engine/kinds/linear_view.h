// A factor linearised at given values of its variables, for solvers that linearise a whole graph: a deterministic one
// as value and gains, a Gaussian density as a row with a variance. Computed for all slots of a plate in one call.
//
//   y = g(x_1, ..., x_k)        ~  g(m) + sum_i gain_i (x_i - m_i)                    LinearCall
//   smoothed under variances v  ~  E[g] + sum_i gain_i (x_i - m_i),  gain_i = dE[g]/dm_i,  x_i ~ N(m_i, v_i)
//   independent f(x_1, ..., x_k)            =  N(0; sum_i coefficient_i x_i - offset, variance)   RowCall
//
// Numbers are stored by argument: that of argument i at slot s is at [i * slots + s]. Arguments are listed by port, and
// within a variadic port by term. Those of log_normal variables are logarithms.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "engine/kinds/call.h"

namespace dma {

struct LinearCall {
  std::size_t slots = 0;
  std::size_t inputs = 0;   // arguments per slot, of input ports
  std::size_t outputs = 1;  // number of different outputs: value and gains are stored output by output
  const double* values = nullptr;             // m
  const double* variances = nullptr;          // v >= 0; null: not smoothed
  const ParameterView* parameters = nullptr;  // in the order of declaration; slot s is column s
  std::size_t parameter_count = 0;
  double* value = nullptr;                    // by slot
  double* gains = nullptr;                    // by argument and slot; null: not needed
  double* variance_gains = nullptr;           // dE[g]/dv_i, likewise; null: not needed

  const double* input(std::size_t i) const { return values + i * slots; }
  double* gain(std::size_t i, std::size_t output = 0) const { return gains + (output * inputs + i) * slots; }
  ParameterRow parameter_row(std::size_t slot) const { return {parameters, 0, slot}; }
  // Writes the values of a slot's inputs, and the numbers of its parameters one after the other.
  void read_slot(std::size_t slot, std::vector<double>& x, std::vector<double>& numbers) const;
  // For a function whose expected value does not depend on the variances.
  void no_variance_gains() const {
    if (variance_gains != nullptr) std::fill_n(variance_gains, inputs * slots, 0.0);
  }
};
using LinearView = std::function<void(const LinearCall&)>;

// True if gains do not depend on the values of the inputs marked free, with the others fixed.
using LinearIn = std::function<bool(std::span<const std::uint8_t> free)>;
bool linear_in_all(std::span<const std::uint8_t> free);

struct RowCall {
  std::size_t slots = 0;
  std::size_t arguments = 0;  // arguments per slot, of all ports
  const ParameterView* parameters = nullptr;
  double* coefficients = nullptr;           // by argument and slot
  double *offset = nullptr, *variance = nullptr;  // by slot; variance in [0, inf]

  double* coefficient(std::size_t i) const { return coefficients + i * slots; }
  ParameterRow parameter_row(std::size_t slot) const { return {parameters, 0, slot}; }
};
using RowView = std::function<void(const RowCall&)>;

// The view of a plain function. Gains by central differences of fourth order in steps that fit the size of each value;
// expected values by Gauss-Hermite quadrature along one input at a time, exact to the second order in the standard
// deviations.
LinearView numerical_linear_view(std::function<double(std::span<const double>, std::span<const double>)> function);

// The view of a function of several outputs, which it writes to its last argument. It is not smoothed.
using VectorFunction =
    std::function<void(std::span<const double> inputs, std::span<const double> parameters, std::span<double> outputs)>;
LinearView numerical_linear_view(VectorFunction function);

}  // namespace dma
