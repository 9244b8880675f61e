// Units of work and their results, which are kept as small files so that a killed run goes on where it was.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/support/json.h"

namespace dma::reproduce {

// One piece of work whose result depends on nothing but its name and settings.
struct Unit {
  std::string name;      // name of its file: small.dma.3
  std::string settings;  // all that decides the result; a kept result of other settings is not used
  std::function<Json()> work;
};

// By the unit's name.
using Results = std::map<std::string, Json>;

struct Progress {
  std::size_t done = 0, all = 0;
  std::string last = {};  // the unit that has just finished
  double seconds_left = 0;
};

struct UnitRun {
  Results results;           // results of all units
  bool interrupted = false;  // results are then incomplete
};

// Runs the units whose result is not in the folder, and keeps it there. Units of the same name are run once. The
// results do not depend on `jobs`. on_progress is called by one thread at a time; false stops after the units that are
// running.
UnitRun run_units(const std::vector<Unit>& units, const std::filesystem::path& folder, int jobs,
                  const std::function<bool(const Progress&)>& on_progress = {});

}  // namespace dma::reproduce
