// The numbers of a system in one State: values of all elements, gains, rows, residuals. Memory is allocated once;
// further evaluations allocate nothing.
#pragma once

#include <cmath>
#include <vector>

#include "engine/compile/plan_data.h"
#include "engine/joint/fronts.h"
#include "engine/joint/system.h"
#include "engine/run/state.h"

namespace dma::joint_system {

class Numbers {
 public:
  explicit Numbers(const System& system);

  // Reads observed values, parameters and cavities, and skips those that did not change. Throws an Error for values
  // that a Gaussian system cannot represent. Returns false if the state needs another system: one in which inferred()
  // are unknowns, and whose functions are solved for their noise only where possible.
  bool read(const State& state);
  const std::vector<std::uint8_t>& inferred() const { return inferred_; }
  bool can_be_solved_for_noise() const { return can_be_solved_for_noise_; }
  // Sum of log |dx / dy| over noise x for which functions with output y are solved: the Jacobian of integrating over y.
  double log_gains_of_noise() const;
  // Sets missing elements that rows predict from the values of the others.
  void predict();
  // Evaluates all elements with the roots at x. Gains by unknown points on manifolds are along steps from their last
  // placement.
  void place(std::span<const double> x, bool with_gains);
  // Makes the current placement, with the roots at x, the origin of steps on manifolds.
  void recentre();
  // Evaluates all elements and residuals with the roots at x; returns the objective.
  double evaluate(std::span<const double> x, bool with_gains);
  // Minus the log density of rows and cavities with the roots at x, without normalisers and without sites.
  double evaluate_rows(std::span<const double> x);
  // The rows' part of the last objective, without cavities and sites.
  double cost_of_rows() const { return cost(system->first_cavity_row); }
  // Computes the rows over the roots from the last gains. Returns false if they did not change.
  bool trace();
  // Writes minus the derivative of the objective, by unknown, into `gradient`.
  void find_gradient();
  // The same two functions for constant gains, from the rows of the roots alone. Call begin_linear() before follow();
  // it also computes the gradient at x = 0 if the roots are there.
  void begin_linear(bool at_zero);
  double follow(std::span<const double> x);  // objective and gradient in one pass
  // Removes rounding from a null direction, using the rows themselves. The factor is singular.
  void polish(std::vector<double>& direction);
  // Call after changing weights: the factor is stale.
  void weights_changed() { factored_ = false; }
  // Factorises unless rows, weights and damping are unchanged. Returns false if singular. Without damping the inverse
  // shows whether digits were lost; the factorisation is then repeated by QR.
  bool factorise(double damping);
  // Largest component of the gradient, in units of the conditional standard deviation of its unknown.
  double gradient_size() const;
  // Estimate of how many standard deviations the roots may still move: along directions known less than the conditional
  // standard deviations suggest, a small gradient may leave a long way to go.
  double distance_left() const { return gradient_size() * std::sqrt(spread_); }
  // Bound on the error of a root by rounding of the gradient, in its standard deviations.
  double rounding_left();
  // Inverts the factor if not yet done.
  void invert();
  // True if the last matrix was finite.
  bool is_finite() const { return is_finite_; }
  bool is_factor_of(double damping) const { return factored_ && damping == factored_damping_; }

  // One element over the roots at the last gains, and the variance of its own noise.
  struct Sparse {
    std::vector<std::uint32_t> unknowns;
    std::vector<double> values;
    double noise = 0;
  };
  // Working memory of one reader; several readers may run in parallel.
  struct Reader {
    explicit Reader(const Numbers& of) : mark(of.values.size(), kNowhere), adjoint(of.values.size()) {}
    std::vector<std::uint32_t> mark, derived, roots, from;
    std::vector<double> adjoint;
    std::vector<double> room = {};  // for Fronts::quadratic
    std::uint32_t stamp = 0;
  };
  void gradient_of(std::uint32_t element, Reader& reader, Sparse& out) const;

  // A missing element that appears in one row only: integrating it out removes the row, and the row predicts it,
  // element = (offset - sum of coefficient_i x_i) / coefficient + N(0, noise).
  struct Prediction {
    std::uint32_t element, plate, slot;
    double coefficient, noise;
  };
  const std::vector<Prediction>& predictions() const { return predictions_; }
  const Prediction* prediction_of(std::uint32_t element) const;

  const System* system;
  std::vector<double> values;  // by element
  std::vector<double> weights, taus,
      offsets;  // by row: the cost of sum s is weight s^2 / 2 - tau s, with the offset subtracted from s
  std::vector<double> sums;        // by row: s
  std::vector<double> row_values;  // parallel to the pattern's columns
  std::vector<double> x, trial, gradient, step, room;  // by unknown
  std::vector<double> points;                          // by unknown: origins of steps on manifolds
  std::vector<double> site_tau, site_rho;              // by site message
  std::vector<std::uint8_t> missing;                   // by element
  Fronts fronts;

 private:
  void set_views(const State& state);
  void read_values(const State& state);
  void read_plate(std::size_t plate);
  void place_missing();
  void solve_batch(const Batch& batch);
  void turn_gains(const Batch& batch);
  template <class Visit>
  void for_others(const Prediction& of, const Visit& visit) const;  // element, index in the prediction
  // True if the numbers behind `count` views are unchanged; copies them into `kept` otherwise.
  bool keep_parameters(std::size_t first_view, std::size_t count, std::size_t slots, std::vector<double>& kept);
  void sum_plate(const RowPlate& plate, const std::vector<double>& from, std::vector<double>& out) const;
  double objective(std::uint32_t rows);
  double cost(std::uint32_t rows) const;

  const PlanData* plan_ = nullptr;
  std::vector<double> gains_, coefficients_, traced_gains_;
  std::vector<double> inputs_, results_;      // buffers for one batch
  std::vector<double> adjoint_;               // by element; zero between uses
  std::vector<double> conditional_variance_;  // by unknown: given the others, from the last factor
  std::vector<ParameterView> views_;
  std::vector<std::size_t> batch_views_, plate_views_;                    // first view of each
  std::vector<std::vector<double>> batch_parameters_, plate_parameters_;  // at the last read
  std::vector<double> gathered_;             // parameters of batches that cover part of a group
  std::vector<double> new_coefficients_;     // buffer for one plate
  std::vector<std::uint8_t> plate_changed_;  // at the last read
  std::vector<double> at_zero_, base_;       // for constant gains: elements and sums with all roots at 0
  std::vector<double> row_variances_;        // buffer for plates
  std::vector<Prediction> predictions_;      // by element
  std::vector<std::uint8_t> inferred_;       // by element; empty: none
  bool can_be_solved_for_noise_ = true;
  bool is_read_ = false, any_missing_ = false, missing_changed_ = false, gains_stale_ = true, gains_evaluated_ = false,
       coefficients_changed_ = false;
  bool traced_ = false, factored_ = false, inverted_ = false, whole_ = true, is_finite_ = true;
  double factored_damping_ = 0, spread_ = 1;
};

// Appends the parameters of a group, viewed as a plate of one row.
void append_views(const State& state, std::uint32_t group, std::vector<ParameterView>& views);

}  // namespace dma::joint_system
