#include "engine/messages/gaussian_family.h"

#include <fmt/core.h>

namespace dma {

std::string GaussianFamily::text() const {
  return is_point() ? fmt::format("= {:.4g}", mean()) : fmt::format("N({:.4g}, {:.4g}^2)", mean(), sd());
}

}  // namespace dma
