#include "engine/messages/belief.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/messages/log_normal.h"
#include "engine/messages/message_text.h"
#include "engine/support/error.h"

namespace dma {

double mean(Family family, const Natural& message) {
  return family == Family::log_normal ? LogNormal(message).mean() : Gaussian(message).mean();
}
double variance(Family family, const Natural& message) {
  return family == Family::log_normal ? LogNormal(message).variance() : Gaussian(message).variance();
}
double log_density(Family family, const Natural& message, double x) {
  return family == Family::log_normal ? log_density(LogNormal(message), x) : log_density(Gaussian(message), x);
}

std::vector<double> Belief::means() const {
  std::vector<double> means;
  for (std::size_t i = 0; i < size(); ++i) means.push_back(mean(i));
  return means;
}
std::vector<double> Belief::variances() const {
  std::vector<double> variances;
  for (std::size_t i = 0; i < size(); ++i) variances.push_back(variance(i));
  return variances;
}

void Belief::refuse(std::size_t i) const {
  fail("belief of '{}': there is no element {}; it has {}", name_, i, size());
}

std::string Belief::text() const {
  std::vector<std::string> parts;
  for (const Natural& element : elements_) parts.push_back(message_text(element, family_));
  return fmt::format("{} ~ {}", name_, fmt::join(parts, ", "));
}

}  // namespace dma
