#include "tools/dma/fit/fit_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "engine/support/error.h"
#include "factors/standard_registry.h"
#include "models/network/solver_form.h"
#include "models/network/regression.h"

namespace dma {

namespace {

constexpr std::size_t kUsualWidth = 50, kWidest = 100'000;
constexpr std::size_t kMostMembers = 1000;
constexpr double kMostStored = 5e8;  // doubles that a fit may keep: 4 GB

// "6,5" and "7" as "6", "5", "7"; an empty place between commas is one of them.
std::vector<std::string> elements(const std::vector<std::string>& lists) {
  std::vector<std::string> all;
  for (const std::string& list : lists)
    for (std::size_t begin = 0, end = 0; end != list.npos; begin = end + 1)
      all.push_back(list.substr(begin, (end = list.find(',', begin)) - begin));
  return all;
}

std::vector<double> numbers(const std::vector<std::string>& lists, const char* option) {
  std::vector<double> values;
  for (const std::string& text : elements(lists)) {
    double value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || code != std::errc{} || end != text.data() + text.size())
      fail("{}: '{}' is given; a number is expected, or several with commas between them", option, text);
    values.push_back(value);
  }
  return values;
}

void check_each(const std::vector<double>& values, const char* option, double above, double most = kInfinity) {
  for (const double value : values)
    if (!(value > above && value <= most && std::isfinite(value))) {
      if (std::isinf(most)) fail("{}: {} is given; a number above {} is expected", option, value, above);
      fail("{}: {} is given; a number above {} and at most {} is expected", option, value, above, most);
    }
}

void check_count(const std::vector<double>& values, const char* option, std::size_t expected, const char* of_what) {
  if (values.size() > 1 && values.size() != expected)
    fail("{}: {} numbers are given, but there are {} {}; give one for all, or one for each", option, values.size(),
         expected, of_what);
}

void check_name(const std::string& name, const char* option, const std::vector<std::string>& known) {
  if (std::ranges::find(known, name) == known.end())
    fail("{}: there is no '{}'{}", option, name, suggestion(name, known));
}

// Every method that some kind of factor knows.
std::vector<std::string> known_methods() {
  const Registry registry = standard_registry();
  std::vector<std::string> methods = {"joint"};
  for (const auto& [name, kind] : registry.kinds())
    for (const std::string& method : kind.methods())
      if (method != kExact && std::ranges::find(methods, method) == methods.end()) methods.push_back(method);
  return methods;
}

// Refused here, by the names of the command line, rather than by the library's.
void check(const FitSettings& s, const std::vector<double>& slopes, const std::vector<double>& noise,
           std::size_t hidden_layers, std::size_t targets, std::size_t rows) {
  check_name(s.preset, "--preset", {"table", "paper"});
  check_name(s.feature_map, "--features-map", FeatureMap::names());
  if (s.method) check_name(*s.method, "--method", known_methods());
  if (s.noise_model) check_name(*s.noise_model, "--noise-model", noise_models());
  if (s.noise_model == "inputs" && !noise.empty())
    fail("--noise-model: inputs is given with --noise, which is the same for all rows; leave one of them away");
  check_each(slopes, "--slopes", 0, 1);
  check_each(noise, "--noise", 0);
  check_each({s.prior_scale}, "--prior-scale", 0);
  check_each({s.tempering.value_or(1)}, "--tempering", 0);
  if (hidden_layers > 0) check_count(slopes, "--slopes", hidden_layers, "hidden layers");
  check_count(noise, "--noise", targets, "targets");
  if (s.members && (*s.members < 1 || *s.members > kMostMembers))
    fail("--members: {} is given; 1 to {} is expected", *s.members, kMostMembers);
  for (const auto& [option, value] : {std::pair{"--batches", s.batches}, std::pair{"--batch-size", s.batch_size}})
    if (value && (*value < 1 || *value > rows))
      fail("{}: {} is given, but there are {} rows to learn from; 1 to {} is expected", option, *value, rows, rows);
  if (s.parts && (*s.parts < 1 || *s.parts > rows))
    fail("--parts: {} is given, but there are {} rows to learn from; 1 to {} is expected", *s.parts, rows, rows);
  if (s.epochs && *s.epochs < 1) fail("--epochs: {} is given; at least 1 is expected", *s.epochs);
  if (s.patience && *s.patience < 0) fail("--patience: {} is given; 0 or more is expected", *s.patience);
  if (s.least_gain && !(*s.least_gain >= 0)) fail("--least-gain: {} is given; 0 or more is expected", *s.least_gain);
  if (s.tolerance && !(*s.tolerance >= 0)) fail("--tolerance: {} is given; 0 or more is expected", *s.tolerance);
}

double weights_of(const std::vector<std::size_t>& layers) {
  double weights = 0;
  for (std::size_t l = 0; l + 1 < layers.size(); ++l)
    weights += static_cast<double>(layers[l] + 1) * static_cast<double>(layers[l + 1]);
  return weights;
}

// With a stored message for every weight and batch.
void check_size(const Model& model, std::size_t rows) {
  const double weights = weights_of(model.network.layers);
  const double batches = model.fit.batch_size > 0
                             ? static_cast<double>(rows) / static_cast<double>(model.fit.batch_size)
                             : static_cast<double>(model.fit.batches);
  constexpr double kWhileRunning = 20;  // messages, beliefs and priors of a weight beside its stored ones
  const double stored = 2 * weights * (batches + kWhileRunning) *
                        static_cast<double>(std::max<std::size_t>(1, model.network.members));
  if (stored > kMostStored)
    fail(
        "{:.3g} weights in each of {} members with {:.3g} batches need {:.3g} GB; choose a smaller --hidden, fewer "
        "--batches, more --parts or fewer --members",
        weights, std::max<std::size_t>(1, model.network.members), batches, stored * 8e-9);
}

// A width that is asked for may take days where the table is small: more weights than rows.
void check_time(const FitSettings& s, const Model& model, std::size_t rows) {
  constexpr double kMostSeconds = 3600;
  const double seconds = seconds_of_fit(model.network, model.fit, rows), weights = weights_of(model.network.layers);
  if (s.hidden.empty() || s.max_seconds || weights < static_cast<double>(rows) || seconds <= kMostSeconds) return;
  fail(
      "--hidden: learning {:.3g} weights from {} rows takes about {:.2g} hours of one core, more than {:g}; choose a "
      "smaller --hidden, or say with --time how long it may take",
      weights, rows, seconds / 3600, kMostSeconds / 3600);
}

// Every worker needs a mini-batch, and every mini-batch a row.
void check_workers(const FitSettings& s, LearnOptions& fit, std::size_t rows) {
  if (fit.workers > rows)
    fail("--workers: {} is given, but there are {} rows to learn from; at most one for each is expected", fit.workers,
         rows);
  if (fit.batch_size > 0) return;
  if (!s.batches) fit.batches = std::max(fit.batches, fit.workers);
  if (fit.batches < fit.workers)
    fail("--workers: {} is given, but --batches makes {} mini-batches; every worker needs at least one", fit.workers,
         fit.batches);
}

// An option that only sweeps of messages know; none: nullptr.
const char* option_of_messages(const FitSettings& s) {
  for (const auto& [option, given] :
       {std::pair{"--tempering", s.tempering.has_value()}, std::pair{"--batches", s.batches.has_value()},
        std::pair{"--batch-size", s.batch_size.has_value()}, std::pair{"--parts", s.parts.has_value()},
        std::pair{"--learn-prior", s.learn_prior.has_value()}, std::pair{"--tolerance", s.tolerance.has_value()},
        std::pair{"--patience", s.patience.has_value()}})
    if (given) return option;
  return nullptr;
}

Model preset(const FitSettings& s, std::size_t features, const std::vector<std::size_t>& hidden, std::size_t targets,
             std::size_t rows) {
  const char* const option = option_of_messages(s);
  if (s.method == "joint" && option != nullptr)
    fail("{} is known to sweeps of messages only; leave it out, or choose --method hybrid", option);
  if (s.preset == "table") {
    const std::string method = s.method.value_or(option != nullptr ? "hybrid" : "");
    RegressionSettings settings = s.hidden.empty() ? regression_settings(features, targets, rows, method)
                                                   : regression_settings(features, hidden, targets, rows, method);
    if (!s.method && option != nullptr)
      settings.reason = fmt::format("messages by the hybrid method, because {} is given", option);
    return {std::move(settings.network), std::move(settings.fit), std::move(settings.reason)};
  }
  std::vector<std::size_t> layers = {features};
  layers.insert(layers.end(), hidden.begin(), hidden.end());
  layers.push_back(targets);
  Model paper{paper_options(std::move(layers)), {}, "the paper's settings, as asked for"};
  paper.fit.batches = std::min(paper.fit.batches, rows);
  return paper;
}

}  // namespace

std::vector<std::size_t> hidden_widths(const std::vector<std::string>& lists) {
  const std::vector<std::string> texts = elements(lists);
  if (texts == std::vector<std::string>{"none"}) return {};
  std::vector<std::size_t> widths;
  for (const std::string& text : texts) {
    std::size_t width = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), width);
    if (code != std::errc{} || end != text.data() + text.size() || width < 1 || width > kWidest)
      fail("--hidden: '{}' is given; widths of 1 to {} are expected, such as 50 or 6,5, or none for a linear model",
           text, kWidest);
    widths.push_back(width);
  }
  return widths;
}

Model model_for(const FitSettings& s, std::size_t inputs, std::size_t targets, std::size_t rows) {
  const std::vector<std::size_t> hidden =
      s.hidden.empty() ? std::vector<std::size_t>{kUsualWidth} : hidden_widths(s.hidden);
  const std::vector<double> slopes = numbers(s.slopes, "--slopes"), noise = numbers(s.noise, "--noise");
  check(s, slopes, noise, hidden.size(), targets, rows);
  Model model = preset(s, FeatureMap(s.feature_map).outputs(inputs), hidden, targets, rows);

  BnnOptions& network = model.network;
  if (!slopes.empty()) network.slopes = slopes;
  if (!noise.empty()) network.noise = noise;
  if (s.noise_model) network.noise_model = noise_model_named(*s.noise_model);
  if (network.noise_model == NoiseModel::inputs && s.method.value_or(network.method) != "joint")
    fail(
        "--noise-model: inputs is known to joint learning only, but here {}; leave it out, or choose a smaller "
        "--hidden and --method joint",
        model.reason);
  network.bias = s.bias.value_or(network.bias);
  network.standardise = s.standardise.value_or(network.standardise);
  network.learn_prior = s.learn_prior.value_or(network.learn_prior);
  network.neighbours = s.neighbours.value_or(network.neighbours);
  network.log_inputs = s.log_inputs.value_or(network.log_inputs);
  network.features = s.feature_map;
  network.prior_variance_scale *= s.prior_scale;
  network.method = s.method.value_or(network.method);
  if (s.members) network.members = *s.members;
  network.seed = s.seed;

  LearnOptions& fit = model.fit;
  if (s.batches || s.batch_size) fit.batches = s.batches.value_or(1), fit.batch_size = s.batch_size.value_or(0);
  fit.epochs = s.epochs.value_or(fit.epochs);
  fit.tolerance = s.tolerance.value_or(fit.tolerance);
  fit.patience = s.patience.value_or(fit.patience);
  fit.least_gain = s.least_gain.value_or(fit.least_gain);
  if (s.tempering) set_tempering(fit, *s.tempering);
  fit.workers = s.workers;
  fit.jobs = s.jobs;
  if (s.parts) {
    const std::size_t batches = fit.batch_size > 0 ? (rows + fit.batch_size - 1) / fit.batch_size : fit.batches;
    fit.parts = std::min(*s.parts, batches);
    fit.batches = (batches + fit.parts - 1) / fit.parts;
    fit.batch_size *= fit.parts;
  } else if (const std::string shared = network.is_joint() ? "" : bound_stored_messages(network, rows, fit);
             !shared.empty()) {
    model.reason += "; " + shared;
  }
  if (!network.is_joint() && fit.workers > 1) check_workers(s, fit, rows);
  if (network.is_joint() && fit.workers > 1 &&
      choose_form(static_cast<Index>(rows), static_cast<Index>(targets), static_cast<Index>(weights_of(network.layers)))
              .form == SolverForm::Form::dual)
    model.reason += "; --workers changes nothing, a matrix over rows is the work of one";
  check_size(model, rows);
  check_time(s, model, rows);
  return model;
}

ClassifierOptions classifier_for(const FitSettings& s) {
  const auto refuse = [](const char* option, const char* why) {
    fail("{}: {}; leave it out, or fit a target of numbers", option, why);
  };
  constexpr const char* kJointly = "a classifier's weights are learned jointly, without it";
  if (!s.noise.empty()) refuse("--noise", "classes have no noise");
  if (s.noise_model) refuse("--noise-model", "classes have no noise");
  if (s.method && *s.method != "joint") refuse("--method", kJointly);
  if (const char* const option = option_of_messages(s)) refuse(option, kJointly);
  if (s.workers > 1) refuse("--workers", "a classifier is learned by one");
  if (s.least_gain) refuse("--least-gain", "a classifier stops when its evidence no longer changes");
  if (s.preset != "table") refuse("--preset", "the paper has no classifier");
  if (s.feature_map != "none") refuse("--features-map", "a classifier takes columns as they are");
  if (!s.bias.value_or(true))
    refuse("--no-bias", "a classifier needs its biases, they hold the frequencies of the classes");
  const std::vector<double> slopes = numbers(s.slopes, "--slopes");
  check_each(slopes, "--slopes", 0, 1);
  check_each({s.prior_scale}, "--prior-scale", 0);
  if (slopes.size() > 1)
    fail("--slopes: {} numbers are given; a classifier has one slope for all layers", slopes.size());
  if (s.members && (*s.members < 1 || *s.members > kMostMembers))
    fail("--members: {} is given; 1 to {} is expected", *s.members, kMostMembers);
  if (s.epochs && *s.epochs < 1) fail("--epochs: {} is given; at least 1 is expected", *s.epochs);
  ClassifierOptions options;
  if (!s.hidden.empty()) options.hidden = hidden_widths(s.hidden);
  if (!slopes.empty()) options.slope = slopes[0];
  options.prior_variance_scale = s.prior_scale;
  options.standardise = s.standardise.value_or(true);
  options.neighbours = s.neighbours.value_or(true);
  options.log_inputs = s.log_inputs.value_or(true);
  options.members = s.members.value_or(0);
  options.epochs = s.epochs.value_or(options.epochs);
  options.seed = s.seed;
  options.jobs = s.jobs;
  return options;
}

}  // namespace dma
