#include "tools/bench/numbers.h"

#include <fmt/format.h>

#include "tools/bench/network_case.h"

namespace dma::bench {

std::string numbers() {
  std::string out;
  for (const char* name : {"8-6-5-1", "13-50-1"}) {
    const NetworkCase network = network_case(name);
    for (const bool fuse : {true, false}) {
      Bnn net({.layers = network.task.layers, .slopes = network.task.slopes, .noise = network.task.noise, .bias = false,
               .standardise = false, .method = "dma", .seed = 1, .shuffle = false, .fuse = fuse});
      net.fit(network.task.inputs, network.task.targets, {.batches = network.batches, .epochs = 3, .tolerance = 0});
      for (std::size_t l = 0; l + 1 < network.task.layers.size(); ++l)
        for (const Gaussian& w : net.weights(l)) out += fmt::format("{:.17g}\n{:.17g}\n", w.mean(), w.rho);
    }
  }
  return out;
}

}  // namespace dma::bench
