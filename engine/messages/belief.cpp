#include "engine/messages/belief.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/messages/log_normal.h"

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
  for (std::size_t i = 0; i < size(); ++i) {
    const Gaussian g = (*this)[i];
    if (g.is_uniform()) parts.push_back("uniform");
    else if (g.is_point()) parts.push_back(fmt::format("= {:.4g}", mean(i)));
    else
      parts.push_back(fmt::format("{}({:.4g}, {:.4g}^2)", family_ == Family::log_normal ? "LN" : "N", g.mean(), g.sd()));
  }
  return fmt::format("{} ~ {}", name_, fmt::join(parts, ", "));
}

}  // namespace dma
