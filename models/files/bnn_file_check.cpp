#include <algorithm>
#include <cmath>

#include "engine/support/text.h"
#include "engine/support/usable.h"
#include "models/files/bnn_file.h"
#include "models/files/joint_file.h"

namespace dma {

namespace {

template <class Values>
bool all_finite_above(const Values& values, double bound) {
  return std::ranges::all_of(values, [=](double value) { return value > bound && std::isfinite(value); });
}

template <class Values>
bool all_finite(const Values& values) {
  return all_finite_above(values, -kInfinity);
}

void check_names(const std::vector<std::string>& names) {
  for (const std::string& name : names) expect(is_plain_text(name), "the name of a column holds control characters");
}

void check_options(const SavedBnn& saved) {
  const BnnOptions& o = saved.options;
  constexpr std::size_t kWidest = 100'000;  // no product of two widths overflows
  expect(o.layers.size() >= 2, "there are fewer than two layers");
  for (const std::size_t width : o.layers) expect(width >= 1 && width <= kWidest, "the width of a layer is not usable");
  expect(FeatureMap(o.features).outputs(saved.features.size()) == o.layers.front(),
         "the names of the features do not fit the first layer");
  expect(saved.targets.size() == o.layers.back(), "the names of the targets do not fit the last layer");
  const std::size_t hidden = o.layers.size() - 2;
  expect(hidden == 0 || o.slopes.values.size() == 1 || o.slopes.values.size() == hidden,
         "the slopes do not fit the layers");
  for (const double slope : o.slopes.values) expect(slope > 0 && slope <= 1, "a slope is not in (0, 1]");
  expect(o.noise.values.size() <= 1 || o.noise.values.size() == o.layers.back(), "the noise does not fit the targets");
  expect(all_finite_above(o.noise.values, 0), "a given noise is not a positive number");
  for (const double variance : o.activation_prior.values) expect(variance > 0, "an activation prior is not positive");
  expect(!o.smoothing || (*o.smoothing >= 0 && std::isfinite(*o.smoothing)), "the smoothing is not usable");
  expect(saved.options.is_joint() || saved.options.linear_baseline || !saved.memory.joint,
         "a network of another method has jointly learned weights");
  expect(o.prior_mean_scale >= 0 && std::isfinite(o.prior_mean_scale) && o.prior_variance_scale > 0 &&
             std::isfinite(o.prior_variance_scale),
         "a scale of the priors is not usable");
}

// The batches that a member of a checkpoint has, or will have.
std::size_t batch_count(const TrainingRecord& training) {
  const LearnOptions& o = training.options;
  return o.batch_size == 0 ? o.batches : count_batches(o, training.rows);
}

void check_training(const SavedBnn& saved) {
  const TrainingRecord& t = saved.training;
  const LearnOptions& o = t.options;
  expect(o.workers >= 1 && (!saved.is_checkpoint() || o.workers <= t.rows), "the number of workers is not usable");
  expect(!saved.is_checkpoint() || (t.rows >= 1 && o.batches >= 1 && batch_count(t) >= 1 && batch_count(t) <= t.rows),
         "the number of rows or batches is not usable");
  expect(o.evidence_weight > 0 && std::isfinite(o.evidence_weight) && o.first_step > 0 && o.first_step <= 1 &&
             o.step > 0 && o.step <= 1 && o.tolerance >= 0 && o.least_gain >= 0,
         "the options of the fit are not usable");
  expect(is_plain_text(t.form), "the reason for the form holds control characters");
  expect(t.left_out.empty() || t.left_out.size() == saved.targets.size(), "the left-out scores do not fit the targets");
  expect(std::ranges::is_sorted(t.far) &&
             (t.far.empty() || (t.far.front() >= 0 && static_cast<std::size_t>(t.far.back()) < t.rows + t.far.size())),
         "the far rows are not rows of the table");
  expect(t.weight >= 0 && std::isfinite(t.weight), "the weight of the rows is not usable");
  expect(o.epochs >= 0, "the number of epochs is not usable");
  expect(t.held_out.empty() || t.held_out.size() == saved.targets.size(), "the scores do not fit the targets");
  for (const Scores& scores : t.held_out) check_scores(scores);
  for (const LeftOut& one : t.left_out) {
    check_scores(one.scores);
    expect(one.explained <= 1 && std::isfinite(one.explained), "a score is not usable");
  }
}

// Every belief must be proper: prior precision plus stored precisions, as often as they count. A single stored message
// may lack precision only by rounding.
void check_messages(const SavedBnn& saved, const Learner::Memory& learned, const std::vector<double>& prior_precision) {
  const std::size_t batches = learned.tau.size();
  expect(batches == 0 || batches == (saved.is_checkpoint() ? batch_count(saved.training) : 1),
         "the number of stored messages is not the number of batches");
  for (std::size_t b = 0; b < batches; ++b) {
    expect(learned.tau[b].size() == prior_precision.size() && learned.rho[b].size() == prior_precision.size(),
           "the messages do not fit the layers");
    expect(all_finite(learned.rho[b]) && all_finite(learned.tau[b]), "a message is not a usable number");
  }
  constexpr double kRounding = 1e-6;
  const double weight = saved.is_checkpoint() ? saved.training.options.evidence_weight : 1;
  for (std::size_t i = 0; i < prior_precision.size(); ++i) {
    double precision = prior_precision[i], least = 0;
    for (std::size_t b = 0; b < batches; ++b) {
      precision += weight * learned.rho[b][i];
      least = std::min(least, learned.rho[b][i]);
    }
    expect(precision > 0 && !(least < -kRounding * precision), "a precision is negative");
  }
  for (std::size_t e = 0; e < learned.epochs.size(); ++e)
    expect(learned.epochs[e].epoch == static_cast<int>(e) + 1, "the epochs are not counted in their order");
}

}  // namespace

void check_scores(const Scores& s) {
  expect(s.rmse >= 0 && std::isfinite(s.rmse) && std::isfinite(s.log_likelihood), "a score is not usable");
  for (const double coverage : {s.coverage_50, s.coverage_90, s.coverage_95})
    expect(coverage >= 0 && coverage <= 1 + 1e-9, "a score is not usable");
}

void check_saved(const SavedBnn& saved) {
  check_names(saved.features);
  check_names(saved.targets);
  saved.coding.check(saved.features);
  check_options(saved);
  check_training(saved);
  check_memory(saved.options, saved.memory);
  if (saved.memory.joint) check_joint_memory(saved.options, *saved.memory.joint);
  if (saved.memory.neighbours) check_neighbours(saved.options, *saved.memory.neighbours);
  expect(static_cast<std::size_t>(saved.memory.inputs.shift.size()) == saved.features.size(),
         "shifts and scales do not fit the columns");
  for (const auto& member : saved.memory.members) {
    std::vector<double> precision;
    for (const LayerPrior& prior : member.priors)
      for (const double variance : prior.variance) precision.push_back(1 / variance);
    check_messages(saved, member.learner, precision);
  }
}

}  // namespace dma
