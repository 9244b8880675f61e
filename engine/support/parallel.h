// The one parallel loop: members, splits, seeds and certificates are tasks of it.
#pragma once

#include <cstddef>
#include <functional>

namespace dma {

// Jobs that keep this machine busy; at least 1.
std::size_t all_processors();

// Calls f(0), ..., f(count - 1), each once, on at most `jobs` threads, of which the calling one is one. Tasks are begun in
// this order. If f writes only to places of its own task, the result does not depend on `jobs`.
// When a call throws, no task after it is begun and, once all threads have ended, the exception of the lowest such task is
// thrown again: every task before it has been done, as in a plain loop.
void parallel_for(std::size_t count, std::size_t jobs, const std::function<void(std::size_t)>& f);

}  // namespace dma
