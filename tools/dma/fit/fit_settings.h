// The options of `dma fit` that decide what is learned, and what they mean for the model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/classifier/classifier.h"
#include "models/network/bnn.h"

namespace dma {

class Command;

// What was not given on the command line comes from the preset.
struct FitSettings {
  std::string preset = "table";
  // Lists as they were typed, so that nothing in them is passed over: widths ("none": a linear model), numbers.
  std::vector<std::string> hidden = {}, slopes = {}, noise = {};
  std::optional<std::string> noise_model = {};
  std::optional<bool> bias = {}, standardise = {}, learn_prior = {}, neighbours = {}, log_inputs = {};
  std::string feature_map = "none";
  double prior_scale = 1;
  std::optional<std::size_t> members = {};
  std::optional<std::string> method = {};
  std::optional<double> tempering = {};
  std::optional<std::size_t> batches = {}, batch_size = {}, parts = {};
  std::optional<int> epochs = {}, patience = {};
  std::optional<double> tolerance = {}, least_gain = {};
  std::optional<double> max_seconds = {};  // of the command line: --time
  std::uint64_t seed = 1;
  std::size_t workers = 1;  // see LearnOptions
  std::size_t jobs = 1;     // threads; of the command line: all processors
};

// Of --hidden: "50", or "6,5", or "none".
std::vector<std::size_t> hidden_widths(const std::vector<std::string>& lists);

// Each of them as an option of a command (fit_options.cpp).
void add_fit_settings(Command command, FitSettings& settings);

struct Model {
  BnnOptions network;
  LearnOptions fit;
  std::string reason;  // for the method
};

// For data with this many input columns, targets and training rows. An Error names the option of the command line.
Model model_for(const FitSettings& settings, std::size_t inputs, std::size_t targets, std::size_t rows);

// The same for classes; an Error for an option that a classifier does not know.
ClassifierOptions classifier_for(const FitSettings& settings);

}  // namespace dma
