// The request of a `dma fit`.
#pragma once

#include <chrono>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "models/predict/settings.h"

namespace dma {

class Command;

// Each setting as an option of a command (fit_options.cpp).
void add_fit_settings(Command command, FitSettings& settings);

struct FitRequest {
  std::string data;
  std::vector<std::string> targets, features;
  std::string weights;  // a column
  bool numbers_are_classes = false, strict = false, columns = false;
  double holdout = 0;
  std::filesystem::path graph, model, plot, plot_training, report, checkpoint, resume, update;
  int checkpoint_every = 10;
  bool quiet = false, json = false, progress = false, verbose = false;
  std::string time;  // that all may take, as it is given
  std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();
  bool writes = true;  // files; of several processes the first does
  FitSettings settings;
  std::string command_line;
  std::vector<std::string> given;  // names of the options on it

  // Seconds left for learning; a part is kept for what comes after it.
  double seconds_to_learn() const {
    return 0.85 * settings.max_seconds.value_or(HUGE_VAL) -
           std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  }
};

}  // namespace dma
