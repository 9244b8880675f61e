#include "tools/dma/fit_settings.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "engine/error.h"
#include "factors/standard_registry.h"

namespace dma {

namespace {

constexpr std::size_t kDefaultBatches = 10;
constexpr std::size_t kWidest = 100'000;
// Doubles that a fit may keep: 4 GB.
constexpr double kMostStored = 5e8;

std::vector<std::size_t> hidden_widths(const std::vector<std::string>& texts) {
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

void check_each(const std::vector<double>& values, const char* option, double above, double most) {
  for (const double value : values)
    if (!(value > above && value <= most)) {
      if (std::isinf(most)) fail("{}: {} is given; a number above {} is expected", option, value, above);
      fail("{}: {} is given; a number above {} and at most {} is expected", option, value, above, most);
    }
}

void check_count(const std::vector<double>& values, const char* option, std::size_t expected, const char* of_what) {
  if (values.size() > 1 && values.size() != expected)
    fail("{}: {} numbers are given, but there are {} {}; give one for all, or one for each", option, values.size(),
         expected, of_what);
}

// Every method that some kind of factor of the network knows.
std::vector<std::string> known_methods() {
  const Registry registry = standard_registry();
  std::vector<std::string> methods;
  for (const auto& [name, kind] : registry.kinds())
    for (const std::string& method : kind.methods())
      if (method != kExact && std::ranges::find(methods, method) == methods.end()) methods.push_back(method);
  return methods;
}

}  // namespace

void add_fit_settings(CLI::App& command, FitSettings& s) {
  const std::string group = "Network";
  const auto list = [](CLI::Option* option) { return option->delimiter(',')->allow_extra_args(false); };
  list(command.add_option("--hidden", s.hidden, "widths of the hidden layers: 50, or 6,5, or none for a linear model"))
      ->capture_default_str()
      ->group(group);
  list(command.add_option("--slopes", s.slopes,
                          "slope of the leaky ReLU for negative inputs, in (0, 1]: one, or one per layer"))
      ->capture_default_str()
      ->group(group);
  list(command.add_option("--noise", s.noise,
                          "standard deviation of the noise in the units of the target: one, or one per target; "
                          "learned from the data unless given"))
      ->group(group);
  command.add_flag("--bias,!--no-bias", s.bias, "a bias in every layer (default: yes)")->group(group);
  command
      .add_flag("--standardise,!--no-standardise", s.standardise,
                "work with columns of mean 0 and standard deviation 1, undone in predictions (default: yes)")
      ->group(group);
  command
      .add_option("--features-map", s.feature_map,
                  "fixed map in front: none; or, of one input column, bumps5 or bumps3")
      ->capture_default_str()
      ->group(group);
  command.add_option("--prior-scale", s.prior_scale, "factor on the prior variances of all weights")
      ->capture_default_str()
      ->group(group);
  command.add_option("--members", s.members, "networks with their own prior draws, predictions mixed")
      ->capture_default_str()
      ->group(group);

  const std::string learning = "Learning";
  command.add_option("--method", s.method, "how messages are computed (dma factors lists the methods)")
      ->capture_default_str()
      ->group(learning);
  auto* batches =
      command.add_option("--batches", s.batches, "number of mini-batches (default: 10, or one per row if fewer)");
  batches->group(learning);
  command.add_option("--batch-size", s.batch_size, "rows in a mini-batch, instead of --batches")
      ->excludes(batches)
      ->group(learning);
  command.add_option("--epochs", s.epochs, "most passes over the data")->capture_default_str()->group(learning);
  command
      .add_option("--tolerance", s.tolerance, "stop when the train log-likelihood changes relatively by less than this")
      ->capture_default_str()
      ->group(learning);
  command.add_option("--patience", s.patience, "stop after this many epochs without a better log-likelihood; 0: never")
      ->capture_default_str()
      ->group(learning);
  command.add_option("--seed", s.seed, "decides prior draws, batches and held-out rows")
      ->capture_default_str()
      ->group(learning);
}

BnnOptions bnn_options(const FitSettings& s, std::size_t inputs, std::size_t targets) {
  const std::vector<std::size_t> hidden = hidden_widths(s.hidden);
  check_each(s.slopes, "--slopes", 0, 1);
  check_each(s.noise, "--noise", 0, kInfinity);
  check_each({s.prior_scale}, "--prior-scale", 0, kInfinity);
  if (!hidden.empty()) check_count(s.slopes, "--slopes", hidden.size(), "hidden layers");
  check_count(s.noise, "--noise", targets, "targets");
  if (s.members < 1 || s.members > 1000) fail("--members: {} is given; 1 to 1000 is expected", s.members);
  const auto methods = known_methods();
  if (std::ranges::find(methods, s.method) == methods.end())
    fail("--method: there is no '{}'{}", s.method, suggestion(s.method, methods));

  BnnOptions o;
  o.layers = {FeatureMap(s.feature_map).outputs(inputs)};
  o.layers.insert(o.layers.end(), hidden.begin(), hidden.end());
  o.layers.push_back(targets);
  o.slopes = s.slopes;
  o.noise = s.noise;
  o.bias = s.bias;
  o.standardise = s.standardise;
  o.prior_variance_scale = s.prior_scale;
  o.features = s.feature_map;
  o.method = s.method;
  o.members = s.members;
  o.seed = s.seed;
  return o;
}

FitOptions fit_options(const FitSettings& s, std::size_t rows) {
  if (s.batches && (*s.batches < 1 || *s.batches > rows))
    fail("--batches: {} is given, but there are {} rows to learn from; 1 to {} is expected", *s.batches, rows, rows);
  if (s.batch_size && (*s.batch_size < 1 || *s.batch_size > rows))
    fail("--batch-size: {} is given, but there are {} rows to learn from; 1 to {} is expected", *s.batch_size, rows,
         rows);
  if (s.epochs < 1) fail("--epochs: {} is given; at least 1 is expected", s.epochs);
  if (s.patience < 0) fail("--patience: {} is given; 0 or more is expected", s.patience);
  if (!(s.tolerance >= 0)) fail("--tolerance: {} is given; 0 or more is expected", s.tolerance);

  FitOptions o;
  o.batches = s.batches.value_or(std::min(kDefaultBatches, rows));
  o.batch_size = s.batch_size.value_or(0);
  o.epochs = s.epochs;
  o.tolerance = s.tolerance;
  o.patience = s.patience;
  return o;
}

void check_size(const BnnOptions& network, const FitOptions& fit, std::size_t rows) {
  double weights = 0;
  for (std::size_t l = 0; l + 1 < network.layers.size(); ++l)
    weights += static_cast<double>(network.layers[l] + 1) * static_cast<double>(network.layers[l + 1]);
  const double batches = fit.batch_size > 0 ? static_cast<double>(rows) / static_cast<double>(fit.batch_size)
                                            : static_cast<double>(fit.batches);
  constexpr double kWhileRunning = 20;  // messages, beliefs and priors of a weight beside its stored ones
  const double stored = 2 * weights * (batches + kWhileRunning) * static_cast<double>(network.members);
  if (stored > kMostStored)
    fail(
        "a network of {:.3g} weights in {} members with {:.3g} batches needs {:.3g} GB; choose a smaller --hidden, "
        "fewer "
        "--batches or fewer --members",
        weights, network.members, batches, stored * 8e-9);
}

}  // namespace dma
