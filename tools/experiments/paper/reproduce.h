// The whole: units, times, report.
#pragma once

#include <filesystem>
#include <optional>

#include "tools/experiments/paper/report.h"
#include "tools/experiments/paper/run_units.h"

namespace dma::reproduce {

struct Request {
  std::string name;  // of an experiment, or all
  Options options;
  std::filesystem::path out;
  std::string command;  // as the report shows it
};

// Runs what out/units does not hold yet and writes the report; nothing if it was interrupted.
std::optional<Report> reproduce(const Request& request, const std::function<bool(const Progress&)>& on_progress = {});

}  // namespace dma::reproduce
