// Runs the units of the chosen experiments on several threads, skipping those whose result is kept.
#pragma once

#include <functional>

#include "tools/experiments/paper/store.h"

namespace dma::reproduce {

struct Progress {
  std::size_t done = 0, all = 0;
  std::string last = {};  // the unit that has just finished
  double seconds_left = 0;
};

struct UnitRun {
  Results results;           // of every unit
  bool interrupted = false;  // results are then incomplete
};

// Units of the same name are run once. The results do not depend on `jobs`. on_progress is called by one thread at a
// time; false stops after the units that are running.
UnitRun run_units(const std::vector<Unit>& units, const Store& store, int jobs,
                  const std::function<bool(const Progress&)>& on_progress = {});

}  // namespace dma::reproduce
