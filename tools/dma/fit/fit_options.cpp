// The settings of a fit as options of the command line.
#include <algorithm>

#include "engine/support/parallel.h"
#include "tools/dma/fit/fit_request.h"
#include "tools/dma/help/command_line.h"

namespace dma {

namespace {

std::string as_option(std::string_view name) {
  std::string option = name == "max_seconds" ? "--time" : "--" + std::string(name);
  std::ranges::replace(option, '_', '-');
  return option;
}

}  // namespace

void add_fit_settings(Command command, FitSettings& s) {
  s.jobs = all_processors();
  s.written = &as_option;
  const std::string network = "Network", learning = "Learning";
  command
      .add_option(
          "--preset", s.preset,
          "defaults of the options below: table (for tables of measurements, the default) or paper (as published)")
      .value("table|paper")
      .group(network);
  command
      .add_list("--hidden", s.hidden,
                "widths of the hidden layers: 50, or 6,5, or none for a linear model (default: one layer, 10 to 200 "
                "units, chosen by rows held out; of a classifier: up to 50, as wide as is quick)",
                true)
      .group(network);
  command
      .add_list("--slopes", s.slopes, "slopes of the leaky ReLU for negative inputs, in (0, 1]: one, or one per layer")
      .group(network);
  command
      .add_list("--noise", s.noise,
                "standard deviation of the noise, in the units of the target: one, or one per target (default: "
                "learned from the data)")
      .group(network);
  command
      .add_option("--noise-model", s.noise_model,
                  "form of the learned noise: constant, inputs (its logarithm linear in the inputs), or choose "
                  "(a fit of each, "
                  "shared row by row; the default); with --graph also given (the graph's), and constant is the default")
      .value("choose|constant|inputs|given")
      .group(network);
  command.add_flag("--bias,!--no-bias", s.bias, "a bias in every layer (default of table: yes)").group(network);
  command
      .add_flag("--standardise,!--no-standardise", s.standardise,
                "work with columns of mean 0 and deviation 1, undone in predictions (default of table: yes)")
      .group(network);
  command
      .add_option("--features-map", s.features_map,
                  "fixed map in front: none (the default); or, of one input column, bumps5 or bumps3")
      .value("none|bumps5|bumps3")
      .group(network);
  command
      .add_flag("--learn-prior,!--no-learn-prior", s.learn_prior,
                "for a graph: one factor on all its prior variances is learned from the data (default: of a table)")
      .group(network);
  command
      .add_flag("--neighbours,!--no-neighbours", s.neighbours,
                "the nearest rows as a model of their own (a Gaussian process, or their classes), mixed in by left-out "
                "rows; the model then keeps all rows (default of joint: yes)")
      .group(network);
  command
      .add_flag("--log-inputs,!--no-log-inputs", s.log_inputs,
                "positive inputs that are skewed are read by their logarithms, unless the target speaks against it "
                "(default of joint: yes)")
      .group(network);
  command
      .add_flag("--log-target,!--no-log-target", s.log_target,
                "a positive target that is skewed is learned by its logarithm where that makes left-out rows more "
                "probable; predictions are then log-normal (default of joint: yes)")
      .group(network);
  command
      .add_flag("--count-target,!--no-count-target", s.count_target,
                "a target of whole numbers of 0 or more is learned as Poisson or negative binomial counts where that "
                "makes left-out rows more probable (default of joint: yes)")
      .group(network);
  command.add_option("--prior-scale", s.prior_scale, "factor on the prior variances of all weights (default: 1)")
      .group(network);
  command
      .add_option(
          "--members", s.members,
          "networks with their own prior draws, predictions mixed (default: 1 to 4, as many as take about two seconds)")
      .group(network);

  command
      .add_option("--method", s.method,
                  "joint: all weights as one Gaussian (default, wherever it fits into memory and time); or how "
                  "messages are computed: hybrid (default beyond), dma (the paper's), ... (dma factors lists them)")
      .value("joint|METHOD")
      .group(learning);
  const Option batches = command.add_option("--batches", s.batches, "number of mini-batches").group(learning);
  command.add_option("--batch-size", s.batch_size, "rows in a mini-batch, instead of --batches")
      .excludes(batches)
      .group(learning);
  command.add_option("--epochs", s.epochs, "most passes over the data").group(learning);
  command
      .add_option("--tolerance", s.tolerance, "stop when the train log-likelihood changes relatively by less than this")
      .group(learning);
  command.add_option("--patience", s.patience, "stop after this many epochs without a better log-likelihood; 0: never")
      .group(learning);
  command
      .add_option("--least-gain", s.least_gain,
                  "stop when the train log-likelihood rises by less than this an epoch, over ten epochs; 0: never")
      .group(learning);
  command.add_option("--seed", s.seed, "decides prior draws, batches and held-out rows")
      .capture_default_str()
      .group(learning);
  command
      .add_option("--workers", s.workers,
                  "workers that learn at the same time, each its own rows; the model depends on how many (default: 1)")
      .between(1, 100'000)
      .group(learning);
  command.add_option("--jobs", s.jobs, "threads (default: all processors); the model does not depend on them")
      .between(1, 1024)
      .group(learning);
}

}  // namespace dma
