// The numbers of a system in one State: values of all elements, gains, rows, residuals. Everything is taken once;
// evaluating again allocates nothing.
#pragma once

#include <cmath>
#include <memory>
#include <vector>

#include "engine/joint/fronts.h"
#include "engine/joint/system.h"
#include "engine/run/state.h"

namespace dma::joint_system {

class Numbers {
 public:
  explicit Numbers(const System& system);

  // Values that were observed, parameters, cavities; what did not change since the last time is left alone. Throws
  // Error for what has no place in a Gaussian system. False: the state needs another system, one in which inferred()
  // are unknowns, and no function is solved for its noise unless it can be.
  bool read(const State& state);
  const std::vector<std::uint8_t>& inferred() const { return inferred_; }
  bool can_be_solved_for_noise() const { return can_be_solved_for_noise_; }
  // Sum of log |dx / dy| over noise x that functions of output y are solved for: what it costs to integrate over y.
  double log_gains_of_noise() const;
  // The values of missing elements that rows predict, at the values of the others.
  void predict();
  // All elements with the roots at x. Gains by unknown points are those along steps from where they are placed.
  void place(std::span<const double> x, bool with_gains);
  // Points are counted from where they were placed last, with the roots at x.
  void recentre();
  // All elements and residuals with the roots at x; returns the objective.
  double evaluate(std::span<const double> x, bool with_gains);
  // Minus the log density of rows and cavities with the roots at x, without their normalisers; sites have no part in
  // it.
  double evaluate_rows(std::span<const double> x);
  // The part that rows have in the objective evaluated last, without cavities and sites.
  double cost_of_rows() const { return cost(system->first_cavity_row); }
  // The rows over the roots, from the gains evaluated last. False if they are what they were.
  bool trace();
  // Minus the derivative of the objective, by unknown, into `gradient`.
  void find_gradient();
  // The same two for constant gains, without the values of the elements: the rows of the roots suffice. begin_linear()
  // comes before follow(), and finds the gradient at x = 0 if that is where the roots are.
  void begin_linear(bool at_zero);
  double follow(std::span<const double> x);  // objective and gradient in one pass
  // A direction along which no sum changes, freed from rounding by the rows themselves. The factor is singular.
  void polish(std::vector<double>& direction);
  // To be said by whoever changes weights.
  void weights_changed() { factored_ = false; }
  // Factorises unless rows, weights and damping are those of last time. False: singular. Without damping the inverse
  // shows whether digits were lost; then it is done again, carefully.
  bool factorise(double damping);
  // The gradient's largest component in units of the conditional standard deviation of its unknown.
  double gradient_size() const;
  // By how many standard deviations the roots may still move, about: a gradient that is small given the other unknowns
  // says less along directions that are known less than that.
  double distance_left() const { return gradient_size() * std::sqrt(spread_); }
  // How far the rounding of the gradient may have moved a root, in its standard deviations.
  double rounding_left();
  // Inverts the factor, unless that is done.
  void invert();
  // Whether the last matrix had nothing but numbers.
  bool is_finite() const { return is_finite_; }
  bool is_factor_of(double damping) const { return factored_ && damping == factored_damping_; }

  // The numbers of one element over the roots at the gains evaluated last, and the variance of noise of its own.
  struct Sparse {
    std::vector<std::uint32_t> unknowns;
    std::vector<double> values;
    double noise = 0;
  };
  // Memory of a reader: many may ask at a time.
  struct Reader {
    explicit Reader(const Numbers& of) : mark(of.values.size(), kNone), adjoint(of.values.size()) {}
    std::vector<std::uint32_t> mark, derived, roots, from;
    std::vector<double> adjoint;
    std::vector<double> room = {};  // of Fronts::quadratic
    std::uint32_t stamp = 0;
  };
  void gradient_of(std::uint32_t element, Reader& reader, Sparse& out) const;

  // A missing element that one row alone knows: integrated over, it takes the row with it, and the row predicts it,
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
      offsets;                     // by row: the cost of sum s is weight s^2 / 2 - tau s, with s less the offset
  std::vector<double> sums;        // by row: s
  std::vector<double> row_values;  // parallel to the pattern's columns
  std::vector<double> x, trial, gradient, step, room;  // by unknown
  std::vector<double> points;                          // by unknown: what those of charts are steps from
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
  void for_others(const Prediction& of, const Visit& visit) const;  // element, number in the prediction
  // Whether the numbers behind `count` views are those of last time; they are kept.
  bool keep_parameters(std::size_t first_view, std::size_t count, std::size_t slots, std::vector<double>& kept);
  void sum_plate(const RowPlate& plate, const std::vector<double>& from, std::vector<double>& out) const;
  double objective(std::uint32_t rows);
  double cost(std::uint32_t rows) const;

  const PlanData* plan_ = nullptr;
  std::vector<double> gains_, coefficients_, traced_gains_;
  std::vector<double> inputs_, results_;      // of a batch
  std::vector<double> adjoint_;               // by element; zero between uses
  std::vector<double> conditional_variance_;  // by unknown: given the others, at the last factor
  std::vector<ParameterView> views_;
  std::vector<std::size_t> batch_views_, plate_views_;                    // the first of each
  std::vector<std::vector<double>> batch_parameters_, plate_parameters_;  // of the last read
  std::vector<double> gathered_;             // parameters of batches that are part of a group
  std::vector<double> new_coefficients_;     // of a plate
  std::vector<std::uint8_t> plate_changed_;  // by the last read
  std::vector<double> at_zero_, base_;       // constant gains: elements and sums with all roots at 0
  std::vector<double> row_variances_;        // of plates
  std::vector<Prediction> predictions_;      // by element
  std::vector<std::uint8_t> inferred_;       // by element; empty: none
  bool can_be_solved_for_noise_ = true;
  bool is_read_ = false, any_missing_ = false, missing_changed_ = false, gains_stale_ = true, gains_evaluated_ = false,
       coefficients_changed_ = false;
  bool traced_ = false, factored_ = false, inverted_ = false, whole_ = true, is_finite_ = true;
  double factored_damping_ = 0, spread_ = 1;
};

// Parameters of a group as a plate of one row sees them.
void append_views(const State& state, std::uint32_t group, std::vector<ParameterView>& views);

}  // namespace dma::joint_system
