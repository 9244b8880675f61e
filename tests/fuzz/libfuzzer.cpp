// One target as a libFuzzer program: build/dma_fuzz_csv and so on, built by clang with -DDMA_LIBFUZZER=ON.
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  dma::fuzz::Choices choices(std::span(data, size));
  try {
    dma::fuzz::DMA_FUZZ_TARGET(choices);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "FOUND %s\n", e.what());
    std::abort();
  }
  return 0;
}
