#include "engine/messages/belief.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/messages/log_normal.h"
#include "engine/messages/message_text.h"

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

std::string Belief::text() const {
  std::vector<std::string> parts;
  for (const Natural& element : elements_) parts.push_back(message_text(element, family_));
  return fmt::format("{} ~ {}", name_, fmt::join(parts, ", "));
}

}  // namespace dma
