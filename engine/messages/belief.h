// What is known of a variable: the product of all messages that reach it, element by element.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "engine/messages/gaussian.h"
#include "engine/messages/family.h"

namespace dma {

// Moments of the variable itself, and its log density at x, from the natural parameters of its message.
double mean(Family family, const Natural& message);
double variance(Family family, const Natural& message);
double log_density(Family family, const Natural& message, double x);

class Belief {
 public:
  Belief(std::string_view name, Family family, std::vector<Natural> elements)
      : name_(name), family_(family), elements_(std::move(elements)) {}

  std::size_t size() const { return elements_.size(); }
  Family family() const { return family_; }
  // The two natural parameters as a Gaussian: of the variable, or of its logarithm if it is log-normal.
  // An element that is not there is an Error, here and below.
  Gaussian operator[](std::size_t i) const { return Gaussian(element(i)); }
  // Moments of the variable itself, of one element or of all.
  double mean(std::size_t i = 0) const { return dma::mean(family_, element(i)); }
  double variance(std::size_t i = 0) const { return dma::variance(family_, element(i)); }
  double sd(std::size_t i = 0) const { return std::sqrt(variance(i)); }
  std::vector<double> means() const;
  std::vector<double> variances() const;

  // "w ~ N(0.318, 0.775^2), uniform, = 2"
  std::string text() const;

 private:
  const Natural& element(std::size_t i) const {
    if (i >= elements_.size()) refuse(i);
    return elements_[i];
  }
  [[noreturn]] void refuse(std::size_t i) const;

  std::string name_;
  Family family_;
  std::vector<Natural> elements_;
};

}  // namespace dma

template <>
struct fmt::formatter<dma::Belief> : fmt::formatter<std::string_view> {
  auto format(const dma::Belief& belief, format_context& context) const {
    return fmt::formatter<std::string_view>::format(belief.text(), context);
  }
};
