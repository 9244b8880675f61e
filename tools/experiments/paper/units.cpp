#include "tools/experiments/paper/units.h"

#include <atomic>
#include <chrono>
#include <fstream>
#include <iterator>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/support/parallel.h"
#include "tools/dma/io/write_file.h"

namespace dma::reproduce {

namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::filesystem::path file_of(const Unit& unit, const std::filesystem::path& folder) {
  return folder / (unit.name + ".json");
}

// The kept result; null if there is none, or one of other settings.
Json kept_result(const Unit& unit, const std::filesystem::path& folder) {
  std::ifstream stream(file_of(unit, folder));
  if (!stream) return nullptr;
  Json kept;
  try {
    kept = parse_json(std::string(std::istreambuf_iterator(stream), {}));
  } catch (const Json::exception&) {  // cut short
    return nullptr;
  }
  if (!kept.is_object() || kept.value("settings", "") != unit.settings || !kept.contains("result")) return nullptr;
  return kept["result"];
}

}  // namespace

UnitRun run_units(const std::vector<Unit>& units, const std::filesystem::path& folder, int jobs,
                  const std::function<bool(const Progress&)>& on_progress) {
  UnitRun run;
  std::vector<const Unit*> missing;
  std::set<std::string> seen;
  for (const Unit& unit : units) {
    if (!seen.insert(unit.name).second) continue;
    if (Json kept = kept_result(unit, folder); !kept.is_null())
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
    write_file(file_of(*missing[i], folder), readable({{"settings", missing[i]->settings}, {"result", results[i]}}));
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
