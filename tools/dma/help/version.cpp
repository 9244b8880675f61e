// The build defines DMA_BUILD_TYPE, DMA_PROCESSOR and so on for this file alone: nothing else is compiled anew when
// they change.
#include "tools/dma/help/version.h"

#include <fmt/format.h>

namespace dma {

namespace {

std::string compiler() {
#ifdef __clang__
  return fmt::format("clang++ {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return fmt::format("g++ {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

}  // namespace

std::string build_options() {
  const std::string type = DMA_BUILD_TYPE;
  return fmt::format("{}, {}, for {} {} processor{}", compiler(), type.empty() ? "no build type" : type,
                     DMA_FOR_THIS_PROCESSOR ? "the building machine's" : "any", DMA_PROCESSOR,
                     DMA_SANITIZED ? ", with sanitizers" : "");
}

}  // namespace dma
