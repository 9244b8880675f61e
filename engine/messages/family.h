// messages/: what travels along an edge and the arithmetic on it. May include support/ alone.
//
// A family says what the numbers of a message mean. They are natural parameters of an exponential family, in components
// of two:
// one component for a scalar, K of them side by side for a message over K categories. Whatever the family,
//
//   product is +, quotient is -, uniform is 0 in every component,
//   a point mass has rho = +inf, and its location in tau, in every component;
//
// so that the loops that multiply, divide and leave one out are the same for all of them, and only what is listed here
// differs. A family is made from a type by family_from.h and registered beside the kinds that use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engine/messages/gaussian.h"

namespace dma {

using Components = std::span<const Natural>;

// Uniform in every component: it says nothing.
inline bool is_flat(Components message) {
  for (const Natural& component : message)
    if (component.tau != 0 || component.rho != 0) return false;
  return true;
}

// Values that are points on a manifold, written as that many numbers: the step that leads to them from 0, the origin.
// Beliefs are Gaussians over steps from a point.
struct Chart {
  std::uint32_t size = 1;
  // Where a step from a point leads; `out` is apart from both.
  void (*retract)(const double* point, const double* step, double* out) = nullptr;
  // The derivative of that by the step, at step 0, row after row; null: the identity.
  void (*slopes)(const double* point, double* out) = nullptr;
};

// Each is called once for a whole range of messages, which stand side by side with `components` components each.
struct FamilyOperations {
  std::string_view name;
  std::string_view values;       // what may be observed, in words: "a positive number"
  bool has_dimension = false;    // it is written name(K), and a message has K components
  bool observes_components = false;   // an observation has a number for each component, otherwise one
  bool is_like_gaussian = false; // the two numbers obey the rules of a Gaussian's: kinds for any family take it
  bool keeps_values = false;     // any finite number may be observed, and is stored as it is
  const Chart* chart = nullptr;  // its values are points, of as many components as the chart has numbers; for joint()

  bool (*are_valid)(Components messages) = nullptr;  // an edge may carry them
  double (*change)(Components before, Components after) = nullptr;  // the largest, on a scale without units
  void (*damp)(Components before, std::span<Natural> after, double damping) = nullptr;
  void (*close)(std::span<Natural> messages) = nullptr;  // beliefs that no double can describe become uniform
  // Point masses at the values, in columns. Returns how many were fit to be: fewer than all at the first that is not
  // one.
  std::size_t (*observe)(std::span<const double> values, std::size_t components, double* tau, double* rho) = nullptr;
  // Mean and variance for each component: of the number itself, or of the probability of each category.
  void (*moments)(Components messages, std::size_t components, double* means, double* variances) = nullptr;
  // Of one message.
  double (*log_density)(Components message, std::span<const double> value) = nullptr;
  double (*log_normaliser)(Components message) =
      nullptr;  // log of the integral of exp(natural parameters . statistics)
  double (*kl)(Components p, Components q) = nullptr;
  std::string (*text)(Components message) = nullptr;
  // Of a family whose values are 0, 1, ..., finitely many: the message with these logs of weights. Null for all others.
  void (*from_logs)(std::span<const double> logs, Natural* message) = nullptr;
  // The message with these moments; of several components, with these means and the sum of these variances. Null: none.
  void (*from_moments)(std::span<const double> means, std::span<const double> variances, Natural* message) = nullptr;
};

extern const FamilyOperations kGaussianOperations;

class Family {
 public:
  Family() = default;  // Gaussian: the one the engine knows
  Family(const FamilyOperations& operations, std::uint32_t components)
      : operations_(&operations), components_(components) {}

  std::string_view name() const { return operations_->name; }
  std::string text() const;  // "gaussian", "categorical(3)"
  std::uint32_t components() const { return components_; }
  std::uint32_t values() const {
    return operations_->observes_components ? components_ : 1;
  }  // of an observation of one element
  // How many values a variable of it can have; 0 if they cannot be counted.
  std::uint32_t outcomes() const {
    return operations_->from_logs == nullptr ? 0 : operations_->has_dimension ? components_ : 2;
  }
  const FamilyOperations* operator->() const { return operations_; }
  friend bool operator==(const Family&, const Family&) = default;

 private:
  const FamilyOperations* operations_ = &kGaussianOperations;  // never destroyed
  std::uint32_t components_ = 1;
};

// "categorical(3)" as a name and a dimension, 0 if there is none. An Error if the dimension is not a whole number from
// 1.
struct FamilyName {
  std::string_view name;
  std::uint32_t dimension = 0;
};
FamilyName parse_family(std::string_view text);

}  // namespace dma
