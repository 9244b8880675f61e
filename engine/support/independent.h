// DMA_INDEPENDENT before a loop: no iteration reads what another one writes, although the compiler cannot see it. It
// may then compute several at once.
#pragma once

#if defined(__clang__)
#define DMA_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define DMA_INDEPENDENT _Pragma("GCC ivdep")
#else
#define DMA_INDEPENDENT
#endif
