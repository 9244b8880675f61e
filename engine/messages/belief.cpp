#include "engine/messages/family.h"

#include <fmt/format.h>

#include "engine/support/text.h"

namespace dma {

namespace {

struct Moments {
  explicit Moments(const Family& family, Components message) : means(message.size()), variances(message.size()) {
    family->moments(message, family.components(), means.data(), variances.data());
  }
  std::vector<double> means, variances;
};

void check_probability(double probability, const std::string& name) {
  if (!(probability > 0 && probability < 1))
    fail("belief of '{}': a probability of {} is given; one above 0 and below 1 is expected", name, probability);
}

}  // namespace

double mean(const Family& family, const Natural& message) {
  double mean, variance;
  family->moments({&message, 1}, 1, &mean, &variance);
  return mean;
}
double variance(const Family& family, const Natural& message) {
  double mean, variance;
  family->moments({&message, 1}, 1, &mean, &variance);
  return variance;
}
double log_density(const Family& family, const Natural& message, double x) {
  return family->log_density({&message, 1}, {&x, 1});
}

double Belief::mean(std::size_t i, std::size_t k) const {
  if (family_.components() == 1 && k == 0) return dma::mean(family_, message(i)[0]);
  check_component(k);
  return Moments(family_, message(i)).means[k];
}
double Belief::variance(std::size_t i, std::size_t k) const {
  if (family_.components() == 1 && k == 0) return dma::variance(family_, message(i)[0]);
  check_component(k);
  return Moments(family_, message(i)).variances[k];
}
double Belief::quantile(double probability, std::size_t i) const {
  check_probability(probability, name());
  if (family_->quantile == nullptr)
    fail("belief of '{}': {} has no quantiles{}", name(), family_.text(),
         family_.outcomes() > 0 ? "; ask for probability(element, value)" : "; ask for its mean and variance");
  return family_->quantile(message(i), probability);
}
std::pair<double, double> Belief::interval(double probability, std::size_t i) const {
  check_probability(probability, name());
  const double outside = 0.5 * (1 - probability);
  return {quantile(outside, i), quantile(1 - outside, i)};
}
double Belief::probability(std::size_t i, std::size_t value) const {
  if (family_.outcomes() == 0)
    fail("belief of '{}': {} is not discrete; ask for quantile(probability) or interval(probability)", name(),
         family_.text());
  if (value >= family_.outcomes())
    fail("belief of '{}': there is no value {}; {} has {}", name(), value, family_.text(), family_.outcomes());
  if (family_.components() > 1) return mean(i, value);
  return value == 1 ? mean(i) : 1 - mean(i);
}
std::vector<double> Belief::means() const { return Moments(family_, components_).means; }
std::vector<double> Belief::variances() const { return Moments(family_, components_).variances; }

void Belief::refuse(std::size_t i) const {
  fail("belief of '{}': there is no element {}; it has {}", name(), i, size());
}
void Belief::check_component(std::size_t k) const {
  if (k >= family_.components())
    fail("belief of '{}': there is no category {}; {} has {}", name(), k, family_.text(), family_.components());
}

std::string Belief::text() const {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < size(); ++i) parts.push_back(family_->text(message(i)));
  return fmt::format("{} ~ {}", name(), joined(parts));
}

}  // namespace dma
