// The options of `dma fit` that decide what is learned, and what they mean for the model.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/bnn.h"

namespace dma {

struct FitSettings {
  std::vector<std::string> hidden = {"50"};  // widths; "none": a linear model
  std::vector<double> slopes = {0.1};
  std::vector<double> noise = {};  // none: learned
  std::optional<std::size_t> batches = {}, batch_size = {};
  int epochs = 200;
  double tolerance = 1e-3;
  int patience = 10;
  std::string method = "dma";
  std::size_t members = 1;
  bool bias = true, standardise = true;
  double prior_scale = 1;
  std::string feature_map = "none";
  std::uint64_t seed = 1;
};

void add_fit_settings(CLI::App& command, FitSettings& settings);

// For data with this many input columns, targets and training rows. Errors name the option of the command line.
BnnOptions bnn_options(const FitSettings& settings, std::size_t inputs, std::size_t targets);
FitOptions fit_options(const FitSettings& settings, std::size_t rows);

// An Error if a network of this size, with a stored message for every weight and batch, would not fit into a computer.
void check_size(const BnnOptions& network, const FitOptions& fit, std::size_t rows);

}  // namespace dma
