#include "tools/reproduce/run_units.h"

#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <set>
#include <thread>

namespace dma::reproduce {

namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

UnitRun run_units(const std::vector<Unit>& units, const Store& store, int jobs,
                  const std::function<bool(const Progress&)>& on_progress) {
  UnitRun run;
  std::vector<const Unit*> missing;
  std::set<std::string> seen;
  for (const Unit& unit : units) {
    if (!seen.insert(unit.name).second) continue;
    if (Json kept = store.find(unit); !kept.is_null())
      run.results[unit.name] = std::move(kept);
    else
      missing.push_back(&unit);
  }
  std::vector<Json> results(missing.size());
  std::vector<double> seconds(missing.size());
  const auto start = std::chrono::steady_clock::now();
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> stop = false;
  std::mutex mutex;
  std::exception_ptr failure;
  std::size_t done = 0;
  const auto work = [&] {
    for (std::size_t i; !stop && (i = next++) < missing.size();) {
      const auto begin = std::chrono::steady_clock::now();
      try {
        results[i] = missing[i]->work();
        store.keep(*missing[i], results[i]);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        stop = true;
        return;
      }
      seconds[i] = seconds_since(begin);
      const std::lock_guard lock(mutex);
      ++done;
      const double left = seconds_since(start) / static_cast<double>(done) * static_cast<double>(missing.size() - done);
      if (on_progress && !on_progress({done, missing.size(), missing[i]->name, left})) stop = true;
    }
  };
  std::vector<std::thread> threads;
  for (int j = 1; j < jobs; ++j) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
  run.interrupted = done < missing.size();
  for (std::size_t i = 0; i < missing.size(); ++i) {
    if (results[i].is_null()) continue;
    run.results[missing[i]->name] = std::move(results[i]);
    run.seconds.emplace_back(missing[i]->name, seconds[i]);
  }
  return run;
}

}  // namespace dma::reproduce
