// messages/: messages and their arithmetic. May include support/ alone.
//
// A family says what the numbers of a message mean. They are natural parameters of an exponential family, in components
// of two: one component for a scalar, K of them side by side for a message over K categories. Whatever the family,
//
//   product is +, quotient is -, uniform is 0 in every component,
//   a point mass has rho = +inf, and its location in tau, in every component;
//
// so that loops that multiply, divide and leave one out serve all families, and only the functions listed here differ.
// A family is made from a type by family_from.h and registered beside the kinds that use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/messages/gaussian.h"
#include "engine/support/text.h"

namespace dma {

using Components = std::span<const Natural>;

// Uniform in every component.
inline bool is_flat(Components message) {
  for (const Natural& component : message)
    if (component.tau != 0 || component.rho != 0) return false;
  return true;
}

// A manifold whose points are stored as that many numbers. Beliefs are Gaussians over steps from a point; step 0 is the
// point itself.
struct Chart {
  std::uint32_t size = 1;
  // Moves `point` by `step`; `out` must not alias either.
  void (*retract)(const double* point, const double* step, double* out) = nullptr;
  // Jacobian of the retraction by the step, at step 0, row by row; null: the identity.
  void (*slopes)(const double* point, double* out) = nullptr;
};

// Each function is called once for a range of messages, which stand side by side with `components` components each.
struct FamilyOperations {
  std::string_view name;
  std::string_view values;           // description of values that may be observed: "a positive number"
  bool has_dimension = false;        // it is written name(K), and a message has K components
  bool observes_components = false;  // an observation has a number for each component, otherwise one
  bool is_like_gaussian = false;     // obeys the rules of a Gaussian: kinds for any such family accept it
  bool keeps_values = false;         // any finite number may be observed, and is stored as it is
  // Values are points on a manifold, with as many components as the chart has numbers; for joint().
  const Chart* chart = nullptr;

  bool (*are_valid)(Components messages) = nullptr;                 // valid on an edge
  double (*change)(Components before, Components after) = nullptr;  // the largest change, on a scale without units
  void (*damp)(Components before, std::span<Natural> after, double damping) = nullptr;
  // Replaces beliefs that a double cannot represent by uniform ones.
  void (*close)(std::span<Natural> messages) = nullptr;
  // Writes point masses at the values, column by column. Returns the number written before the first value that is
  // invalid.
  std::size_t (*observe)(std::span<const double> values, std::size_t components, double* tau, double* rho) = nullptr;
  // Mean and variance for each component: of the number itself, or of the probability of each category.
  void (*moments)(Components messages, std::size_t components, double* means, double* variances) = nullptr;
  // Log density of one message at a value.
  double (*log_density)(Components message, std::span<const double> value) = nullptr;
  double (*log_normaliser)(Components message) =
      nullptr;  // log of the integral of exp(natural parameters . statistics)
  double (*kl)(Components p, Components q) = nullptr;
  // The value that a variable with this message is below with probability p, 0 < p < 1. Null: values have no order, or
  // are few.
  double (*quantile)(Components message, double p) = nullptr;
  std::string (*text)(Components message) = nullptr;
  // For a family with finitely many values 0, 1, ...: the message with these log weights. Null for other families.
  void (*from_logs)(std::span<const double> logs, Natural* message) = nullptr;
  // The message with these moments; with several components, with these means and the sum of these variances. Null: not
  // available.
  void (*from_moments)(std::span<const double> means, std::span<const double> variances, Natural* message) = nullptr;
};

extern const FamilyOperations kGaussianOperations;

class Family {
 public:
  Family() = default;  // Gaussian: the only family that the engine knows
  Family(const FamilyOperations& operations, std::uint32_t components)
      : operations_(&operations), components_(components) {}

  std::string_view name() const { return operations_->name; }  // name without numbers
  std::string text() const;                                    // "gaussian", "categorical(3)"
  std::uint32_t components() const { return components_; }     // pairs of numbers in a message
  std::uint32_t values() const {
    return operations_->observes_components ? components_ : 1;
  }  // numbers in an observation of one element
  // Number of values of a variable; 0 if not finite.
  std::uint32_t outcomes() const {
    return operations_->from_logs == nullptr ? 0 : operations_->has_dimension ? components_ : 2;
  }
  const FamilyOperations* operator->() const { return operations_; }
  friend bool operator==(const Family&, const Family&) = default;

 private:
  const FamilyOperations* operations_ = &kGaussianOperations;  // never destroyed
  std::uint32_t components_ = 1;
};

struct FamilyName {
  std::string_view name;
  std::uint32_t dimension = 0;
};
// "categorical(3)" as a name and a dimension, 0 if there is none. An Error if the dimension is not a whole number from
// 1.
FamilyName parse_family(std::string_view text);

// The belief of a variable: for each element, the product of all messages that reach it.
// Moments of the variable itself, and its log density at x, from the two numbers of its message.
double mean(const Family& family, const Natural& message);
double variance(const Family& family, const Natural& message);               // variance of the variable itself
double log_density(const Family& family, const Natural& message, double x);  // log density of the variable at x

class Belief {
 public:
  // The components of all elements, one after the other.
  Belief(std::string name, Family family, std::vector<Natural> components)
      : name_(std::move(name)), family_(family), components_(std::move(components)) {}
  // Belief of variable `number`, which has no name: "v3". The name is formatted when read, not for every belief.
  Belief(std::uint32_t number, Family family, std::vector<Natural> components)
      : number_(number), family_(family), components_(std::move(components)) {}

  std::size_t size() const { return components_.size() / family_.components(); }
  const Family& family() const { return family_; }  // family of the variable
  // The two natural parameters as a Gaussian: of the variable, or of its logarithm if it is log-normal. Here and below,
  // an index beyond the elements is an Error.
  Gaussian operator[](std::size_t i) const { return Gaussian(message(i)[0]); }
  Components message(std::size_t i) const {  // natural parameters of an element
    const std::size_t components = family_.components(), first = i * components;
    if (first >= components_.size()) refuse(i);
    return Components(components_).subspan(first, components);
  }
  // No factor informs the element: every message that reaches it is uniform.
  bool is_uninformed(std::size_t i = 0) const { return is_flat(message(i)); }
  // Moments of the variable itself, for one element or all; a family with K components has moments of the probability
  // of each category k.
  double mean(std::size_t i = 0, std::size_t k = 0) const;
  double variance(std::size_t i = 0, std::size_t k = 0) const;                                 // posterior variance
  double sd(std::size_t i = 0, std::size_t k = 0) const { return std::sqrt(variance(i, k)); }  // standard deviation
  // The value that the variable is below with this probability, and the central interval that holds it with this one.
  // Variables of other families than gaussian, log_normal, gamma and beta have none: an Error.
  double quantile(double probability, std::size_t i = 0) const;
  std::pair<double, double> interval(double probability = 0.95, std::size_t i = 0) const;  // its two ends
  // The probability that a discrete variable has this value: 0 or 1, or a category.
  double probability(std::size_t i, std::size_t value) const;
  std::vector<double> means() const;                                        // mean of every element
  std::vector<double> variances() const;                                    // variance of every element
  double log_density(std::size_t i, std::span<const double> value) const {  // for one element
    return family_->log_density(message(i), value);
  }

  // "w ~ N(0.318, 0.775^2), uniform, = 2"
  std::string text() const;

 private:
  [[noreturn]] void refuse(std::size_t i) const;
  void check_component(std::size_t k) const;

  std::string name() const { return name_.empty() ? "v" + std::to_string(number_) : name_; }

  std::string name_;
  std::uint32_t number_ = 0;
  Family family_;
  std::vector<Natural> components_;
};

}  // namespace dma

template <>
struct fmt::formatter<dma::Belief> : dma::TextFormatter {
  auto format(const dma::Belief& belief, format_context& context) const { return write(belief.text(), context); }
};
