// DMA_INDEPENDENT before a loop: no iteration reads results of another one, although the compiler cannot see it. It may
// then vectorise the loop.
#pragma once

#if defined(__clang__)
#define DMA_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define DMA_INDEPENDENT _Pragma("GCC ivdep")
#else
#define DMA_INDEPENDENT
#endif
