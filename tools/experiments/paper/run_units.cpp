#include "tools/experiments/paper/run_units.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/support/parallel.h"

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
  const auto start = std::chrono::steady_clock::now();
  std::atomic<bool> stop = false;
  std::mutex mutex;
  std::size_t done = 0;
  parallel_for(missing.size(), static_cast<std::size_t>(jobs), [&](std::size_t i) {
    if (stop) return;
    results[i] = missing[i]->work();
    store.keep(*missing[i], results[i]);
    const std::lock_guard lock(mutex);
    ++done;
    const double left = seconds_since(start) / static_cast<double>(done) * static_cast<double>(missing.size() - done);
    if (on_progress && !on_progress({done, missing.size(), missing[i]->name, left})) stop = true;
  });
  run.interrupted = done < missing.size();
  for (std::size_t i = 0; i < missing.size(); ++i) {
    if (!results[i].is_null()) run.results[missing[i]->name] = std::move(results[i]);
  }
  return run;
}

}  // namespace dma::reproduce
