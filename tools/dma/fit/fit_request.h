// What `dma fit` was asked for.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/dma/fit/fit_settings.h"

namespace dma {

struct FitRequest {
  std::string data;
  std::vector<std::string> targets, features;
  std::string weights;  // a column
  bool numbers_are_classes = false, strict = false, columns = false;
  double holdout = 0;
  std::filesystem::path graph, model, plot, plot_training, report, checkpoint, resume, update;
  int checkpoint_every = 10;
  bool quiet = false, json = false;
  bool writes = true;  // files; of several processes the first does
  FitSettings settings;
  std::string command_line;
};

}  // namespace dma
