// The build defines DMA_VERSION for this file alone: nothing else is compiled anew when it changes.
#include "engine/support/version.h"

namespace dma {

std::string_view version() { return DMA_VERSION; }

}  // namespace dma
