// The settings of a fit of a table: one set of names for every kind of model, for the command line and for Python.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/network/bnn.h"
#include "models/network/classifier.h"
#include "models/predict/table_model.h"

namespace dma {

// A setting that is not given is chosen by the library, or by the preset.
struct FitSettings {
  std::optional<std::string> preset = {}, features_map = {}, method = {}, noise_model = {};
  std::optional<std::vector<std::size_t>> hidden = {};  // widths; empty: a linear model
  std::optional<std::vector<double>> slopes = {}, noise = {};
  std::optional<bool> bias = {}, standardise = {}, learn_prior = {}, neighbours = {}, log_inputs = {};
  std::optional<bool> log_target = {}, count_target = {};
  std::optional<double> prior_scale = {}, tolerance = {}, least_gain = {}, max_seconds = {};
  std::optional<std::size_t> members = {}, batches = {}, batch_size = {};
  std::optional<std::size_t> workers = {};  // see LearnOptions
  std::optional<int> epochs = {}, patience = {};
  std::uint64_t seed = 1;
  std::size_t jobs = 1;  // threads

  // Writes the name of a setting as the caller does, for errors: `batch_size`, or `--batch-size`.
  std::string (*written)(std::string_view name) = [](std::string_view name) { return std::string(name); };
};

// visit(name, setting) for every setting that may be left out: those of sweeps of messages, and all.
template <class Settings, class Visit>
void for_each_message_setting(Settings& s, const Visit& visit) {
  visit("tolerance", s.tolerance), visit("batches", s.batches);
  visit("batch_size", s.batch_size), visit("patience", s.patience);
}
template <class Settings, class Visit>
void for_each_setting(Settings& s, const Visit& visit) {
  for_each_message_setting(s, visit);
  visit("preset", s.preset), visit("features_map", s.features_map), visit("method", s.method);
  visit("noise_model", s.noise_model), visit("hidden", s.hidden), visit("slopes", s.slopes), visit("noise", s.noise);
  visit("bias", s.bias), visit("standardise", s.standardise), visit("learn_prior", s.learn_prior);
  visit("neighbours", s.neighbours), visit("log_inputs", s.log_inputs), visit("log_target", s.log_target);
  visit("count_target", s.count_target);
  visit("prior_scale", s.prior_scale), visit("least_gain", s.least_gain), visit("max_seconds", s.max_seconds);
  visit("members", s.members), visit("workers", s.workers), visit("epochs", s.epochs);
}

struct NetworkSettings {
  BnnOptions network;
  LearnOptions fit;
  std::string reason;  // for the method
};

// Settings as the options of each kind of model; of a network for data with so many input columns, targets and training
// rows. An Error names the setting that does not fit, or that the model does not know, as the caller writes it.
NetworkSettings network_settings(const FitSettings& settings, std::size_t inputs, std::size_t targets,
                                 std::size_t rows);
ClassifierOptions classifier_settings(FitSettings settings);
GraphModelOptions graph_settings(FitSettings settings);

}  // namespace dma
