#include "models/table/noise_model.h"

#include <algorithm>

#include "engine/support/error.h"

namespace dma {

const std::vector<std::string>& noise_models() {
  static const std::vector<std::string> names = {"choose", "constant", "inputs"};
  return names;
}

const std::string& name_of(NoiseModel model) { return noise_models()[static_cast<std::size_t>(model)]; }

NoiseModel noise_model_named(std::string_view name) {
  const auto found = std::ranges::find(noise_models(), name);
  if (found == noise_models().end()) fail("there is no noise model '{}'{}", name, suggestion(name, noise_models()));
  return static_cast<NoiseModel>(found - noise_models().begin());
}

}  // namespace dma
