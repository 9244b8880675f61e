// Options of a network for a table, and of the way it is learned.
#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/learn/gaussian/prediction.h"
#include "engine/support/error.h"

namespace dma {

class Fields;
struct BnnShape;  // network_graph.h

// One number for everything, or one for each: the form of options that may differ per layer or per output.
struct Numbers {
  Numbers() = default;
  Numbers(double one) : values{one} {}                            // NOLINT: .noise = 0.2
  Numbers(std::initializer_list<double> each) : values(each) {}   // NOLINT: .slopes = {0.4, 0.8}
  Numbers(std::vector<double> each) : values(std::move(each)) {}  // NOLINT

  bool empty() const { return values.empty(); }
  // As many as wanted, a single one repeated.
  std::vector<double> expanded(std::size_t count, std::string_view what) const {
    if (values.size() == 1) return std::vector<double>(count, values[0]);
    if (values.size() != count) fail("{}: {} numbers are given, but 1 or {} expected", what, values.size(), count);
    return values;
  }
  std::vector<double> values;
};

// Prior mean and variance of every weight of a layer, row by row, biases last.
struct LayerPrior {
  std::vector<double> mean, variance;
};

struct BnnOptions {
  std::vector<std::size_t> layers;  // widths: features, hidden layers, outputs
  Numbers slopes = 0.1;             // in (0, 1], one per hidden layer or one for all
  Numbers noise = {};               // standard deviation per output or one for all; none: learned from the data
  bool learn_noise = false;         // start from `noise` and learn it (always so when `noise` is not given)
  NoiseModel noise_model = NoiseModel::choose;  // form of learned noise; messages know constant noise only
  bool bias = true;                             // a bias in every layer
  bool standardise = true;                      // inputs and targets, undone in predictions
  double prior_mean_scale = 1;                  // prior means are drawn from N(0, scale^2 / fan_in)
  double prior_variance_scale = 1;              // prior variances are scale / (layers * fan_in)
  std::vector<LayerPrior> priors = {};          // given explicitly instead, for a single member
  // Number of values of every input, numbered from 0, and 0 for an input of numbers; empty: all are numbers. One more
  // number stands for a value that was not learned. The values have effects of their own where these gain (joint, of
  // standardised columns with learned noise).
  std::vector<std::size_t> levels = {};
  std::string features = "none";                         // fixed feature map in front, by name (feature_map.h)
  std::string method = "joint";                          // "joint", or how messages are computed: "dma", "hybrid", ...
  std::map<std::string, std::string> kind_methods = {};  // ... for single kinds of factors
  // A linear model learned beside the network and mixed with it by how well each predicts left-out rows. Joint learning
  // has one in any case.
  bool linear_baseline = false;
  // A Gaussian process on the nearest rows (neighbours.h) beside the network, with the weight under which left-out rows
  // are most probable; and inputs and targets on a logarithmic scale where that suits them (log_scale.h). Both only
  // where hidden layers and noise are learned jointly of standardised columns, by one worker.
  bool neighbours = true, log_inputs = true, log_target = true;
  // Targets that are whole numbers of 0 or more are tried as Poisson and negative binomial counts
  // (models/learn/counts.h), under the same conditions.
  bool count_target = true;
  std::size_t members =
      0;  // networks with their own prior draws, predictions mixed; 0: as many as are quick (joint), or 1
  // Hidden layers are chosen by rows held out (joint): one of 10, 20, 50, ... units while they gain, then two. `layers`
  // has the chosen ones after the fit.
  bool choose_width = false;
  std::uint64_t seed = 1;
  bool shuffle = true;  // rows into mini-batches at random, by the seed; otherwise in their order
  bool fuse = true;     // see CompileOptions
  std::optional<double> smoothing =
      {};  // sd of noise on standardised inputs of hidden layers: smooths the kinks (joint); none: chosen by evidence

  bool is_joint() const { return method == "joint"; }  // true if all weights are one Gaussian
};

// The paper's: no biases, columns as they are, messages by its own rules, one network.
BnnOptions paper_options(std::vector<std::size_t> layers);
void list_fields(Fields& f, BnnOptions& options);
void check(const BnnOptions& options);         // an Error for what no network can have
BnnShape shape_of(const BnnOptions& options);  // sizes of all layers

}  // namespace dma
