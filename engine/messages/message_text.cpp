#include "engine/messages/message_text.h"

#include <fmt/core.h>

namespace dma {

std::string message_text(const Natural& message, Family family) {
  const Gaussian g(message);
  const bool of_logarithm = family == Family::log_normal;
  if (g.is_uniform()) return "uniform";
  if (g.is_point()) return fmt::format("= {:.4g}", of_logarithm ? std::exp(g.mean()) : g.mean());
  return fmt::format("{}({:.4g}, {:.4g}^2)", of_logarithm ? "LN" : "N", g.mean(), g.sd());
}

}  // namespace dma
