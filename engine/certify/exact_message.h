// The exact sum-product message of one scalar factor, by quadrature of its definition: derived from what a kind *is*
// (its function or density), never from how its messages are computed.
//
//   density f       m(x_j) = integral of f(x) prod_{k != j} m_k(x_k) dx_{-j}
//   z = g(inputs)   the same with f = delta(z - g). The delta is spent on z where z carries a proper message (towards
//   an
//                   input: m_z(g) is a plain integrand) and on one input otherwise (towards z: the pushforward,
//                   sum over the roots of g = z of m(root) / |dg|)
//
// On log-normal ports everything is said of the logarithm: coordinates in which every message is Gaussian.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/certify/curve.h"
#include "engine/kinds/evaluate.h"

namespace dma {

// Belongs to one thread: it calculates in memory of its own.
class ExactMessage {
 public:
  // Nothing where there is no density to integrate: the kind has neither function nor density, an arrival that matters
  // is uniform, or so many are point masses that the message is one itself.
  static std::optional<ExactMessage> make(const Kind& kind, std::size_t port, std::size_t term,
                                          const Arrivals& arrivals, std::span<const double> parameters,
                                          double tolerance = 1e-10);

  // Up to a constant factor. Costs a few hundred evaluations of the kind for each dimension integrated over.
  double operator()(double x) const;

  // The places of its mass if the factor were linear around the means of what arrives.
  std::vector<Hint> hints() const;

 private:
  struct Slot {
    Gaussian message;
    bool output;
    double mean, sd, peak;  // moments of the message; peak of its density

    Slot(const Gaussian& m, bool is_output);
    double weight(double x) const;  // 1 everywhere if uniform
  };
  ExactMessage() = default;
  void set_values_to_means() const;
  double g() const;                          // the function at the inputs among values_
  double integrate(std::size_t from) const;  // over free_[from...]
  double innermost() const;
  double over_roots() const;
  std::vector<double> breaks(std::size_t slot) const;
  double derivative(std::size_t slot) const;

  const Kind* kind_ = nullptr;
  std::vector<double> parameters_;
  std::vector<Slot> slots_;  // all ports and terms in order
  std::size_t target_ = 0;
  double tolerance_ = 0;
  std::vector<std::size_t> free_;       // integrated over
  std::optional<std::size_t> pivot_;    // solved for
  std::optional<double> output_point_;  // the known output, when an input is solved for and the target is an input
  mutable std::vector<double> values_;
  mutable std::vector<double> inputs_;  // values_ of the inputs, for the function
};

// The exact message traced where its mass is, and where that of its product with each of `also` is (the computed
// message, incoming ones).
std::optional<Curve> trace_exact(const Kind& kind, std::size_t port, std::size_t term, const Arrivals& arrivals,
                                 std::span<const double> parameters, const std::vector<Gaussian>& also = {},
                                 double tolerance = 1e-9);

}  // namespace dma
