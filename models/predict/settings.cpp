#include "models/predict/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/learn/gaussian/solver_form.h"
#include "engine/support/text.h"
#include "factors/standard_registry.h"
#include "models/network/bnn.h"
#include "models/table/feature_map.h"
#include "models/table/noise.h"

namespace dma {

namespace {

constexpr std::size_t kUsualWidth = 50, kWidest = 100'000;
constexpr std::size_t kMostMembers = 1000;
constexpr double kMostStored = 5e8;  // doubles that a fit may keep: 4 GB

// The first setting of sweeps of messages that is given, as the caller writes it; empty: none is.
std::string given_to_messages(const FitSettings& s) {
  std::string found;
  for_each_message_setting(s, [&](std::string_view name, const auto& setting) {
    if (found.empty() && setting) found = s.written(name);
  });
  return found;
}

// A setting that a model understands; what nobody has taken is refused.
template <class Value>
std::optional<Value> take(std::optional<Value>& setting) {
  return std::exchange(setting, std::nullopt);
}
void refuse_rest(const FitSettings& rest, std::string_view model) {
  for_each_setting(rest, [&](std::string_view name, const auto& setting) {
    if (setting) fail("{}: {} has no such setting; leave it out", rest.written(name), model);
  });
}

// Checks of single settings, each with the name that the caller gave it.
class Checks {
 public:
  explicit Checks(const FitSettings& settings) : settings_(settings) {}

  void each(const char* name, const std::vector<double>& values, double above, double most = kInfinity) const {
    for (const double value : values)
      if (!(value > above && value <= most && std::isfinite(value)))
        fail("{}: {} is given; a number above {}{} is expected", settings_.written(name), value, above,
             std::isinf(most) ? "" : fmt::format(" and at most {}", most));
  }
  void positive(const char* name, const std::optional<double>& value) const {
    if (value) each(name, {*value}, 0);
  }
  template <class Number>
  void at_least(const char* name, const std::optional<Number>& value, Number least) const {
    if (value && !(*value >= least))
      fail("{}: {} is given; at least {} is expected", settings_.written(name), *value, least);
  }
  void up_to(const char* name, const std::optional<std::size_t>& value, std::size_t most, std::string_view why) const {
    if (value && (*value < 1 || *value > most))
      fail("{}: {} is given{}; 1 to {} is expected", settings_.written(name), *value, why, most);
  }
  void count(const char* name, const std::vector<double>& values, std::size_t expected, const char* of_what) const {
    if (values.size() > 1 && values.size() != expected)
      fail("{}: {} numbers are given, but there are {} {}; give one for all, or one for each", settings_.written(name),
           values.size(), expected, of_what);
  }
  void word(const char* name, const std::optional<std::string>& value, const std::vector<std::string>& known) const {
    if (value && std::ranges::find(known, *value) == known.end())
      fail("{}: there is no '{}'{}", settings_.written(name), *value, suggestion(*value, known));
  }
  // Settings of networks, for numbers and for classes.
  void network() const {
    const FitSettings& s = settings_;
    for (const std::size_t width : s.hidden.value_or(std::vector<std::size_t>{}))
      if (width < 1 || width > kWidest)
        fail("{}: {} is given; widths of 1 to {} are expected", s.written("hidden"), width, kWidest);
    each("slopes", s.slopes.value_or(std::vector<double>{}), 0, 1);
    positive("prior_scale", s.prior_scale);
    up_to("members", s.members, kMostMembers, "");
    at_least("epochs", s.epochs, 1);
  }

 private:
  const FitSettings& settings_;
};

// Every method that some kind of factor knows.
std::vector<std::string> known_methods() {
  std::vector<std::string> methods = standard_registry().methods();
  std::erase(methods, std::string(kExact));
  methods.insert(methods.begin(), "joint");
  return methods;
}

void check(const FitSettings& s, std::size_t hidden_layers, std::size_t targets, std::size_t rows) {
  const Checks checks(s);
  checks.network();
  checks.word("preset", s.preset, {"table", "paper"});
  checks.word("features_map", s.features_map, FeatureMap::names());
  checks.word("method", s.method, known_methods());
  checks.word("noise_model", s.noise_model, noise_models());
  const std::vector<double> none, &slopes = s.slopes ? *s.slopes : none, &noise = s.noise ? *s.noise : none;
  if (s.noise_model == "inputs" && !noise.empty())
    fail("{}: inputs is given with {}, which is the same for all rows; leave one of them away",
         s.written("noise_model"), s.written("noise"));
  if (s.batches && s.batch_size)
    fail("{} and {} are given; give one of them", s.written("batches"), s.written("batch_size"));
  checks.each("noise", noise, 0);
  if (hidden_layers > 0) checks.count("slopes", slopes, hidden_layers, "hidden layers");
  checks.count("noise", noise, targets, "targets");
  const std::string why = fmt::format(", but there are {} rows to learn from", rows);
  checks.up_to("batches", s.batches, rows, why);
  checks.up_to("batch_size", s.batch_size, rows, why);
  checks.at_least("patience", s.patience, 0);
  checks.at_least("least_gain", s.least_gain, 0.0);
  checks.at_least("tolerance", s.tolerance, 0.0);
}

double weights_of(const std::vector<std::size_t>& layers) {
  double weights = 0;
  for (std::size_t l = 0; l + 1 < layers.size(); ++l)
    weights += static_cast<double>(layers[l] + 1) * static_cast<double>(layers[l + 1]);
  return weights;
}

// With a stored message for every weight and batch.
void check_size(const FitSettings& s, const NetworkSettings& model, std::size_t rows) {
  const double weights = weights_of(model.network.layers);
  const double batches = model.fit.batch_size > 0
                             ? static_cast<double>(rows) / static_cast<double>(model.fit.batch_size)
                             : static_cast<double>(model.fit.batches);
  constexpr double kWhileRunning = 20;  // messages, beliefs and priors of a weight beside its stored ones
  const double stored =
      2 * weights * (batches + kWhileRunning) * static_cast<double>(std::max<std::size_t>(1, model.network.members));
  if (stored > kMostStored)
    fail(
        "{:.3g} weights in each of {} members with {:.3g} batches need {:.3g} GB; choose a smaller {}, fewer {} or "
        "fewer {}",
        weights, std::max<std::size_t>(1, model.network.members), batches, stored * 8e-9, s.written("hidden"),
        s.written("batches"), s.written("members"));
}

// A width that is asked for may take days where the table is small: more weights than rows.
void check_time(const FitSettings& s, const NetworkSettings& model, std::size_t rows) {
  constexpr double kMostSeconds = 3600;
  const double seconds = seconds_of_fit(model.network, model.fit, rows), weights = weights_of(model.network.layers);
  if (!s.hidden || s.hidden->empty() || s.max_seconds || weights < static_cast<double>(rows) || seconds <= kMostSeconds)
    return;
  fail(
      "{}: learning {:.3g} weights from {} rows takes about {:.2g} hours of one core, more than {:g}; choose a smaller "
      "{}, or say with {} how long it may take",
      s.written("hidden"), weights, rows, seconds / 3600, kMostSeconds / 3600, s.written("hidden"),
      s.written("max_seconds"));
}

// Every worker needs a mini-batch, and every mini-batch a row.
void check_workers(const FitSettings& s, LearnOptions& fit, std::size_t rows) {
  if (fit.workers > rows)
    fail("{}: {} is given, but there are {} rows to learn from; at most one for each is expected", s.written("workers"),
         fit.workers, rows);
  if (fit.batch_size > 0) return;
  if (!s.batches) fit.batches = std::max(fit.batches, fit.workers);
  if (fit.batches < fit.workers)
    fail("{}: {} is given, but {} makes {} mini-batches; every worker needs at least one", s.written("workers"),
         fit.workers, s.written("batches"), fit.batches);
}

NetworkSettings preset(const FitSettings& s, std::size_t features, const std::vector<std::size_t>& hidden,
                       std::size_t targets, std::size_t rows) {
  const std::string of_messages = given_to_messages(s);
  if (s.method == "joint" && !of_messages.empty())
    fail("{} is known to sweeps of messages only; leave it out, or choose {} hybrid", of_messages, s.written("method"));
  if (s.preset.value_or("table") == "table") {
    const std::string method = s.method.value_or(of_messages.empty() ? "" : "hybrid");
    RegressionSettings settings = !s.hidden ? regression_settings(features, targets, rows, method)
                                            : regression_settings(features, hidden, targets, rows, method);
    if (!s.method && !of_messages.empty())
      settings.reason = fmt::format("messages by the hybrid method, because {} is given", of_messages);
    return {std::move(settings.network), std::move(settings.fit), std::move(settings.reason)};
  }
  std::vector<std::size_t> layers = {features};
  layers.insert(layers.end(), hidden.begin(), hidden.end());
  layers.push_back(targets);
  NetworkSettings paper{paper_options(std::move(layers)), {}, "the paper's settings, as asked for"};
  paper.fit.batches = std::min(paper.fit.batches, rows);
  return paper;
}

}  // namespace

NetworkSettings network_settings(const FitSettings& s, std::size_t inputs, std::size_t targets, std::size_t rows) {
  const std::vector<std::size_t> hidden = s.hidden.value_or(std::vector<std::size_t>{kUsualWidth});
  check(s, hidden.size(), targets, rows);
  if (s.learn_prior) fail("{}: it is known to graphs of your own; leave it out", s.written("learn_prior"));
  const std::string features_map = s.features_map.value_or("none");
  NetworkSettings model = preset(s, FeatureMap(features_map).outputs(inputs), hidden, targets, rows);

  BnnOptions& network = model.network;
  if (s.slopes) network.slopes = *s.slopes;
  if (s.noise) network.noise = *s.noise;
  if (s.noise_model) network.noise_model = noise_model_named(*s.noise_model);
  if (network.noise_model == NoiseModel::inputs && s.method.value_or(network.method) != "joint")
    fail("{}: inputs is known to joint learning only, but here {}; leave it out, or choose a smaller {} and {} joint",
         s.written("noise_model"), model.reason, s.written("hidden"), s.written("method"));
  network.bias = s.bias.value_or(network.bias);
  network.standardise = s.standardise.value_or(network.standardise);
  network.neighbours = s.neighbours.value_or(network.neighbours);
  network.log_inputs = s.log_inputs.value_or(network.log_inputs);
  network.log_target = s.log_target.value_or(network.log_target);
  network.count_target = s.count_target.value_or(network.count_target);
  network.features = features_map;
  network.prior_variance_scale *= s.prior_scale.value_or(1);
  network.method = s.method.value_or(network.method);
  if (s.members) network.members = *s.members;
  network.seed = s.seed;

  LearnOptions& fit = model.fit;
  if (s.batches || s.batch_size) fit.batches = s.batches.value_or(1), fit.batch_size = s.batch_size.value_or(0);
  fit.epochs = s.epochs.value_or(fit.epochs);
  fit.tolerance = s.tolerance.value_or(fit.tolerance);
  fit.patience = s.patience.value_or(fit.patience);
  fit.least_gain = s.least_gain.value_or(fit.least_gain);
  fit.workers = s.workers.value_or(1);
  fit.jobs = s.jobs;
  const bool is_given = s.batches || s.batch_size;
  if (const std::string larger = network.is_joint() || is_given ? "" : bound_stored_messages(network, rows, fit);
      !larger.empty())
    model.reason += "; " + larger;
  if (!network.is_joint() && fit.workers > 1) check_workers(s, fit, rows);
  if (network.is_joint() && fit.workers > 1 &&
      choose_form(static_cast<Index>(rows), static_cast<Index>(targets), static_cast<Index>(weights_of(network.layers)))
              .form == SolverForm::Form::dual)
    model.reason += fmt::format("; {} changes nothing, a matrix over rows is the work of one", s.written("workers"));
  check_size(s, model, rows);
  check_time(s, model, rows);
  return model;
}

ClassifierOptions classifier_settings(FitSettings s) {
  Checks(s).network();
  const auto only = [&](const char* name, auto& setting, const auto& value, const char* words) {
    if (take(setting).value_or(value) != value)
      fail("{}: a classifier knows {} only; leave it out", s.written(name), words);
  };
  only("preset", s.preset, "table", "table");
  only("features_map", s.features_map, "none", "none");
  only("method", s.method, "joint", "joint");
  only("no_bias", s.bias, true, "networks with biases");
  only("workers", s.workers, 1u, "1");
  ClassifierOptions options;
  options.hidden = take(s.hidden);
  if (const auto slopes = take(s.slopes)) {
    if (slopes->size() != 1) fail("{}: a classifier knows one slope for all layers only", s.written("slopes"));
    options.slope = slopes->front();
  }
  options.prior_variance_scale = take(s.prior_scale).value_or(1);
  options.standardise = take(s.standardise).value_or(true);
  options.neighbours = take(s.neighbours).value_or(true);
  options.log_inputs = take(s.log_inputs).value_or(true);
  options.members = take(s.members).value_or(0);
  options.epochs = take(s.epochs).value_or(options.epochs);
  options.seed = s.seed;
  options.jobs = s.jobs;
  (void)take(s.max_seconds);  // whoever watches the fit ends it
  refuse_rest(s, "a classifier");
  return options;
}

GraphModelOptions graph_settings(FitSettings s) {
  const Checks checks(s);
  checks.word("noise_model", s.noise_model, {"given", "constant", "inputs"});
  checks.word("preset", s.preset, {"table"});
  GraphModelOptions options{{.learn_noise = true, .tails = true, .seed = s.seed, .jobs = s.jobs},
                            take(s.preset) == "table"};
  GaussianLearnOptions& learn = options.learn;
  const std::string noise_model = take(s.noise_model).value_or("constant");
  learn.learn_noise = learn.tails = noise_model != "given";
  learn.noise_by_inputs = noise_model == "inputs";
  learn.learn_scale = take(s.learn_prior).value_or(options.as_table);
  learn.starts = take(s.members).value_or(options.as_table ? 0 : 1);
  learn.epochs = take(s.epochs).value_or(learn.epochs);
  learn.least_gain = take(s.least_gain).value_or(learn.least_gain);
  (void)take(s.max_seconds);
  refuse_rest(s, "a graph of your own");
  return options;
}

}  // namespace dma
