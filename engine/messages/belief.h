// The belief of a variable: for each element, the product of all messages that reach it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/messages/family.h"
#include "engine/messages/gaussian.h"
#include "engine/support/text.h"

namespace dma {

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
