// Processor time of the calling thread: what a piece of work costs, whatever else the machine does.
#pragma once

#include <ctime>

namespace dma {

inline double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace dma
