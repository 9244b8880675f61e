// The numbers of a system in one State, in four layers, each made from the one before: values from the state, gains at
// a point, rows over the roots, and their factor. A layer counts its changes; the next one compares these counts to see
// whether it is stale. Memory is allocated once; further evaluations allocate nothing.
#pragma once

#include <cmath>
#include <tuple>
#include <vector>

#include "engine/compile/plan_data.h"
#include "engine/joint/fronts.h"
#include "engine/joint/system.h"
#include "engine/run/run.h"

namespace dma::joint_system {

// Known values, parameters, rows of densities and cavities, and missing elements, as the state has them.
class Values {
 public:
  explicit Values(const System& system);

  // By element: missing elements that must be unknowns; empty: none.
  const std::vector<std::uint8_t>& inferred() const { return inferred_; }
  // Call after changing weights.
  void weights_changed() { ++weight_changes_; }

  // A missing element that appears in one row only: integrating it out removes the row, and the row predicts it,
  // element = (offset - sum of coefficient_i x_i) / coefficient + N(0, noise).
  struct Prediction {
    std::uint32_t element, plate, slot;
    double coefficient, noise;
    friend bool operator==(const Prediction&, const Prediction&) = default;
  };
  const std::vector<Prediction>& predictions() const { return predictions_; }
  const Prediction* prediction_of(std::uint32_t element) const;
  // Sets missing elements that rows predict from the values of the others.
  void predict();

  const System* system;
  std::vector<double> values;  // by element; Gains computes those that are not known
  std::vector<double> weights, taus,
      offsets;  // by row: the cost of sum s is weight s^2 / 2 - tau s, with the offset subtracted from s
  std::vector<std::uint8_t> missing;  // by element

 protected:
  // Skips what did not change. Throws an Error for values that a Gaussian system cannot represent.
  void read_values(const State& state);
  // Calls visit(element, its coefficient in the prediction).
  template <class Visit>
  void for_others(const Prediction& of, const Visit& visit) const {
    const RowPlate& plate = system->plates[of.plate];
    for (std::size_t q = of.slot; q < plate.arguments.size(); q += plate.slots)
      if (plate.arguments[q] != of.element)
        visit(plate.arguments[q], -coefficients_[plate.coefficients + q] / of.coefficient);
  }

  const PlanData* plan_ = nullptr;
  std::vector<double> coefficients_;
  std::vector<double> at_zero_;  // by element, with all roots at 0: for constant gains
  std::vector<ParameterView> views_;
  std::vector<std::size_t> batch_views_;  // first view of each batch
  // Counts of changes: of a weight, a coefficient, a parameter of a plate, an input or parameter of a function.
  std::uint64_t weight_changes_ = 1, coefficient_changes_ = 1, plate_changes_ = 1, function_changes_ = 1;

 private:
  void set_views(const State& state);
  bool read_elements(const State& state);  // returns whether any is missing
  void read_plate(std::size_t plate);
  void place_missing(bool is_any_missing);
  void list_missing();
  // True if the numbers behind `count` views are unchanged; copies them into `kept` otherwise.
  bool keep_parameters(std::size_t first_view, std::size_t count, std::size_t slots, std::vector<double>& kept) const;

  bool is_read_ = false;                                                  // completely; if not, all is read again
  std::vector<std::size_t> plate_views_;                                  // first view of each
  std::vector<std::vector<double>> batch_parameters_, plate_parameters_;  // at the last read
  std::vector<double> gathered_;          // parameters of batches that cover part of a group
  std::vector<double> new_coefficients_;  // buffer for one plate
  std::vector<double> row_variances_;
  std::vector<Prediction> predictions_, predictions_before_;  // by element
  std::vector<std::uint8_t> inferred_;
};

// All elements at one point of the roots, and the gains there.
class Gains : public Values {
 public:
  explicit Gains(const System& system);

  // Reads a state. Returns false if it needs another system: one in which inferred() are unknowns, and whose functions
  // are solved for their noise only where possible.
  bool read(const State& state);
  bool can_be_solved_for_noise() const { return can_be_solved_for_noise_; }
  // Sum of log |dx / dy| over noise x for which functions with output y are solved: the Jacobian of integrating over y.
  double log_gains_of_noise() const;
  // Evaluates all elements with the roots at x. Gains by unknown points on manifolds are along steps from their last
  // placement.
  void place(std::span<const double> x, bool with_gains);
  // Makes the current placement, with the roots at x, the origin of steps on manifolds.
  void recentre();

  // One element over the roots at the last gains, and the variance of its own noise.
  struct Sparse {
    std::vector<std::uint32_t> unknowns;
    std::vector<double> values;
    double noise = 0;
  };
  // Working memory of one reader; several readers may run in parallel.
  struct Reader {
    explicit Reader(const Values& of) : mark(of.values.size(), kNowhere), adjoint(of.values.size()) {}
    std::vector<std::uint32_t> mark, derived, roots, from;
    std::vector<double> adjoint;
    std::vector<double> room = {};  // for Fronts::quadratic
    std::uint32_t stamp = 0;
  };
  void gradient_of(std::uint32_t element, Reader& reader, Sparse& out) const;

  std::vector<double> x, trial;  // by unknown
  std::vector<double> points;    // by unknown: origins of steps on manifolds

 protected:
  std::vector<double> gains_;
  std::uint64_t gain_changes_ = 0;

 private:
  void solve_batch(const Batch& batch);
  void turn_gains(const Batch& batch);

  std::vector<double> inputs_, results_;  // buffers for one batch
  bool can_be_solved_for_noise_ = true;
  std::uint64_t checked_at_ = 0;  // count of function changes when that was found
};

// The rows over the roots, and the objective and its gradient.
class RootRows : public Gains {
 public:
  explicit RootRows(const System& system);

  // Evaluates all elements and residuals with the roots at x; returns the objective.
  double evaluate(std::span<const double> x, bool with_gains);
  // Minus the log density of rows and cavities with the roots at x, without normalisers and without sites.
  double evaluate_rows(std::span<const double> x);
  // The rows' part of the last objective, without cavities and sites.
  double cost_of_rows() const { return cost(system->first_cavity_row); }
  // Computes the rows over the roots from the last gains, unless they are the same.
  void trace();
  // Writes minus the derivative of the objective, by unknown, into `gradient`.
  void find_gradient();
  // An evaluation and its gradient for constant gains, from the rows over the roots alone. Call begin_linear() before
  // follow(); it also computes the gradient at x = 0 if the roots are there.
  void begin_linear(bool at_zero);
  double follow(std::span<const double> x);  // objective and gradient in one pass

  std::vector<double> sums;        // by row: s
  std::vector<double> row_values;  // parallel to the pattern's columns
  std::vector<double> gradient;    // by unknown

 protected:
  std::uint64_t row_changes_ = 0;

 private:
  void sum_plate(const RowPlate& plate, const std::vector<double>& from, std::vector<double>& out) const;
  double objective(std::uint32_t rows);
  double cost(std::uint32_t rows) const;

  std::vector<double> traced_gains_;
  std::vector<double> adjoint_;  // by element; zero between uses
  std::vector<double> base_;     // for constant gains: sums with all roots at 0
  // The changes from which the rows, and from which at_zero_ and base_, were made.
  std::uint64_t traced_gains_at_ = 0, traced_coefficients_at_ = 0, base_functions_at_ = 0, base_plates_at_ = 0;
};

// The factor of the information matrix.
class Numbers : public RootRows {
 public:
  explicit Numbers(const System& system);

  // Factorises unless rows, weights and damping are unchanged. Returns false if singular. Without damping the inverse
  // shows whether digits were lost; the factorisation is then repeated by QR.
  bool factorise(double damping);
  // Inverts the factor if not yet done.
  void invert();
  // Removes rounding from a null direction, using the rows themselves. The factor is singular.
  void polish(std::vector<double>& direction);
  // Largest component of the gradient, in units of the conditional standard deviation of its unknown.
  double gradient_size() const;
  // Estimate of how many standard deviations the roots may still move: along directions known less than the conditional
  // standard deviations suggest, a small gradient may leave a long way to go.
  double distance_left() const { return gradient_size() * std::sqrt(spread_); }
  // Bound on the error of a root by rounding of the gradient, in its standard deviations.
  double rounding_left();
  // True if the last matrix was finite.
  bool is_finite() const;

  Fronts fronts;
  std::vector<double> step, room;          // by unknown
  std::vector<double> site_tau, site_rho;  // by site message

 private:
  std::tuple<std::uint64_t, std::uint64_t, double> made_from_;  // changes of rows and of weights, damping
  bool inverted_ = false;
  std::vector<double> conditional_variance_;  // by unknown: given the others
  double spread_ = 1;
};

// Appends the parameters of a group, viewed as a plate of one row.
void append_views(const State& state, std::uint32_t group, std::vector<ParameterView>& views);

}  // namespace dma::joint_system
