#include "models/learn/table_learner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>

#include "engine/learn/gaussian/learner.h"
#include "engine/learn/gaussian/learner_data.h"
#include "engine/support/text.h"
#include "engine/support/usable.h"
#include "models/learn/attempts.h"
#include "models/learn/check_rows.h"
#include "models/learn/mixing.h"
#include "models/table/distinct_rows.h"

namespace dma {

namespace {

// Epochs of joint learning, and the fraction of them with constant noise.
constexpr int kMostEpochs = 100;
constexpr double kPlainFraction = 0.6;
// Seconds that the neighbours of a row take, and that a limit on time always grants.
constexpr double kNeighbourSeconds = 3e-4, kLeastSeconds = 0.25;

// Predictions of distinct rows as those of all rows that repeat them; no numbers: of the rows themselves.
std::vector<PredictionComponent> of_all_rows(const std::vector<PredictionComponent>& distinct,
                                             const std::vector<Index>& numbers) {
  return numbers.empty() ? distinct : rows_of(distinct, numbers);
}

}  // namespace

std::string TableReport::line() const {
  std::string text = members.empty() ? "not fitted" : members.back().line();
  if (members.size() > 1) text = fmt::format("{} members; the last {}", members.size(), text);
  if (std::ranges::none_of(noise, [](double sd) { return std::isnan(sd); }))
    text = fmt::format("{}; noise sd {}", text, joined(noise, ", ", "{:.4g}"));
  if (!neighbours.empty()) {
    std::vector<double> percent;
    for (const double fraction : neighbours) percent.push_back(100 * fraction);
    text += fmt::format("; neighbours {} %", joined(percent, ", ", "{:.0f}"));
  }
  if (far.empty()) return text;
  return fmt::format("{}; {} row{} beyond {} sd set aside", text, far.size(), far.size() == 1 ? "" : "s",
                     kFarDeviations);
}

TableLearner::TableLearner(TableLearnOptions options)
    : options_(std::move(options)),
      features_(options_.features),
      inputs_(Standardiser::identity(options_.features == "none" ? static_cast<Index>(options_.inputs) : 1)),
      targets_(Standardiser::identity(static_cast<Index>(options_.outputs))) {
  for (std::size_t j = 0; j < options_.levels.size() && !options_.finds_effects; ++j)
    if (options_.levels[j] > 0) effects_.push_back({.column = j, .levels = options_.levels[j]});
}

bool TableLearner::is_gaussian() const { return graphs_->mixture().model().likelihoods.empty(); }

void TableLearner::make_graphs() {
  EnsembleOptions ensemble = options_.ensemble;
  ensemble.mixture.seed = options_.seed;
  for (std::size_t j = 0; j < options_.noise.size(); ++j) {
    const double scaled = options_.noise[j] / targets_.scale(static_cast<Index>(j));
    ensemble.mixture.noise.push_back(scaled * scaled);
  }
  GraphFamily family = options_.family(columns());
  graphs_.emplace(counts_.empty() ? std::move(family) : with_counts(std::move(family), counts_), ensemble);
  const OutputLikelihoods& likelihoods = graphs_->mixture().model().likelihoods;
  for (std::size_t j = 0; j < ensemble.mixture.noise.size(); ++j)
    if (const double variance = ensemble.mixture.noise[j];
        (likelihoods.empty() || !likelihoods[j]) && !is_divisor(variance))
      fail("noise: its variance in units of the target is not between {} and {}; use other units", kLeastDivisor,
           kLargestUsable);
}

std::string TableLearner::first_fault(const Eigen::MatrixXd& inputs) const {
  const GraphFamily family = options_.family(columns());
  const SharedModel graph = family.model(family.first);
  return graph.rows->first_fault(graph.prior.mean, inputs);
}

TableLearner TableLearner::anew(bool keeps_sizes, Eigen::RowVectorXd log_from) const {
  TableLearner next(options_);
  next.graph_of_ = graph_of_;
  next.log_from_ = std::move(log_from);
  if (!keeps_sizes) return next;
  next.options_.ensemble.choose_sizes = false;
  next.options_.family = [family = options_.family,
                          sizes = graphs_->mixture().memory().choice.sizes](const auto& columns) {
    GraphFamily same = family(columns);
    same.first.sizes = sizes;
    return same;
  };
  return next;
}

void TableLearner::replace_by(TableLearner other) {
  other.learned_rows_ = learned_rows_;
  other.options_.family = options_.family;
  other.options_.ensemble = options_.ensemble;
  *this = std::move(other);
}

TableReport TableLearner::fit(const TableRows& rows, const TableFit& fit) {
  check_rows(rows, options_.outputs);
  dma::check(fit.options);
  if (rows.weights.size() > 0) {
    check_weights(rows.weights, rows.inputs.rows());
    if ((rows.weights.array() == 1).all()) return this->fit({rows.inputs, rows.targets}, fit);
    if ((rows.weights.array() == 0).any()) {
      const std::vector<Index> kept = rows_that_count(rows.weights);
      this->fit(rows.some(kept), fit);
      for (Index& far : report_.far) far = kept[static_cast<std::size_t>(far)];
      return report_;
    }
  }
  const std::uint64_t given = checksum_of(rows);
  if ((is_fitted() || !epochs_.empty()) && learned_rows_.value_or(given) != given)
    fail("fit: this network has learned other rows than these {}; make a new one for them, or add them with update()",
         rows.inputs.rows());
  learned_rows_ = given;
  return fit_with_attempts(*this, rows, fit);
}

LearnControl TableLearner::control_of(const TableFit& fit) {
  const LearnOptions& options = fit.options;
  return {.jobs = options.jobs,
          .team = options.team ? options.team : local_team(options.workers),
          .on_stage = options.on_stage,
          .keep_going = fit.keep_going,
          .seconds_left = fit.seconds_left};
}

void TableLearner::fit_near(const TableRows& rows, std::vector<Index> far, const TableFit& fit) {
  far_ = std::move(far);
  const LearnOptions& options = fit.options;
  if (!graphs_) {
    if (options_.for_size)
      reason_ = options_.for_size(options_, static_cast<std::size_t>(rows.inputs.rows()),
                                  static_cast<std::size_t>(number_count()));
    standardise(rows);
    if (options_.directions > 0)
      directions_ =
          PrincipalDirections::of(numbers_of(inputs_.apply(rows.inputs)), static_cast<Index>(options_.directions));
    make_graphs();
    if (options_.standardise && options_.classes == 0 && !is_gaussian())
      targets_ = Standardiser::identity(rows.targets.cols());
  }
  report_ = {};
  RowData data = data_of(rows);
  const bool is_mapped = options_.directions > 0 || !options_.levels.empty() || !effects_.empty();
  check_prepared(data.rows, data.targets, is_mapped ? 0 : options_.inputs);
  GraphMixture& mixture = graphs_->mixture();
  const int epochs = std::min(options.epochs, kMostEpochs);
  const int plain = options_.classes > 0 ? epochs : std::max(1, static_cast<int>(std::lround(kPlainFraction * epochs)));
  mixture.set_limits(plain, epochs - plain, options.least_gain);
  const LearnControl control = control_of(fit);
  const double values = total_weight(data.rows.rows(), data.weights) * static_cast<double>(rows.targets.cols());
  const auto begin = std::chrono::steady_clock::now();
  const auto on_epoch = [&](const GraphMixture::Progress& progress) {
    std::vector<EpochRecord>& own = epochs_[progress.member];
    EpochRecord record;
    record.epoch = static_cast<int>(own.size()) + 1;
    record.log_likelihood = progress.epoch.log_evidence / values - targets_.mean_log(rows.targets, rows.weights);
    record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    own.push_back(record);
    if (options_.classes == 0) noise_variance_ = progress.noise;  // a checkpoint has it
    std::vector<double> sds;
    for (std::size_t j = 0; j < progress.noise.size() && is_gaussian(); ++j)
      sds.push_back(std::sqrt(progress.noise[j]) * targets_.scale(static_cast<Index>(j)));
    return !fit.on_epoch || fit.on_epoch({progress.member, record, std::move(sds)});
  };
  learned_as_.clear();
  if (options_.copies && is_gaussian()) {
    Matrix observed = data.targets;
    if (data.weights.size() > 0) {  // copies have the same weight
      observed.conservativeResize(Eigen::NoChange, observed.cols() + 1);
      observed.rightCols(1) = data.weights;
    }
    DistinctRows distinct = distinct_rows(data.rows, observed);
    report_.copies = distinct.copies();
    if (report_.copies > 0) {
      data = data.some(distinct.first);
      learned_as_ = std::move(distinct.number);
    }
  }
  const bool with_neighbours = options_.neighbours && is_gaussian() && mixture.options().learn_noise &&
                               Neighbours::suits(data.rows.rows(), data.numbers(), data.targets.cols());
  RowData for_neighbours = with_neighbours ? data : RowData{};
  if (with_neighbours && data.choices > 0) for_neighbours.rows = without_levels(data.rows);
  const bool anew = graphs_->prepare(data, control);
  epochs_.resize(mixture.options().members);
  if (anew)
    for (auto& own : epochs_) own.clear();
  mixture_report_ = graphs_->fit(std::move(data), control, on_epoch);
  GraphMixtureReport& found = mixture_report_;
  report_.interrupted = found.interrupted;
  report_.form = reason_.empty() ? found.form.reason : reason_;
  report_.graphs = found.fraction;
  for (std::size_t k = 0; k < found.epochs.size(); ++k) {
    const bool last = k + 1 == found.epochs.size();
    const auto stop = found.interrupted && last ? LearnReport::Stop::interrupted
                      : found.settled[k]        ? LearnReport::Stop::least_gain
                                                : LearnReport::Stop::limit;
    report_.members.push_back({stop, epochs_[k], 0});
  }
  neighbours_.reset(), class_neighbours_.reset();
  judged_ = mixture.judged();
  if (options_.classes > 0) {
    mix_classes(rows, found.score, options);
  } else {
    const double seconds = kNeighbourSeconds * static_cast<double>(for_neighbours.rows.rows());
    const bool is_wanted = !found.interrupted || !control.has_time_for(0);  // the user did not interrupt
    if (with_neighbours && is_wanted && (seconds < kLeastSeconds || control.has_time_for(seconds))) {
      const std::vector<double> factors = mix_with_neighbours(std::move(for_neighbours), options);
      std::ranges::transform(found.noise, factors, found.noise.begin(), std::multiplies());
    }
    set_noise(std::move(found.noise));
    report_.noise = noise();
  }
  report_left_out(rows);
  report_.far = far_;
  if (options_.finds_effects) report_.effects = effects_;
}

// The noise of the model which has most of the mixture.
void TableLearner::set_noise(std::vector<double> of_graphs) {
  noise_variance_ = std::move(of_graphs);
  for (std::size_t k = 0; neighbours_ && k < noise_variance_.size(); ++k)
    if (const auto& output = neighbours_->memory().outputs[k]; output.fraction > 0.5)
      noise_variance_[k] = output.kernel.noise;
}

std::vector<double> TableLearner::noise() const {
  if (options_.classes > 0) return {};
  std::vector<double> sds(options_.outputs, std::nan(""));  // not learned yet, or not Gaussian
  const OutputLikelihoods& likelihoods = graphs_ ? graphs_->mixture().model().likelihoods : OutputLikelihoods();
  for (std::size_t j = 0; j < noise_variance_.size(); ++j)
    if (likelihoods.empty() || !likelihoods[j])
      sds[j] = std::sqrt(noise_variance_[j]) * targets_.scale(static_cast<Index>(j));
  return sds;
}

std::vector<PredictionComponent> TableLearner::components(const Matrix& rows,
                                                          const Eigen::MatrixXd& standardised) const {
  std::vector<PredictionComponent> all = graphs_->mixture().predict(rows);
  if (frequencies_fraction_ > 0)
    add_component(component_of_classes(frequencies_.transpose().replicate(rows.rows(), 1), frequencies_fraction_,
                                       graphs_->mixture().model().likelihoods),
                  all);
  if (neighbours_) add_component(neighbours_->predict(without_levels(rows)), all);
  if (class_neighbours_)
    add_component(component_of_classes(class_neighbours_->predict(numbers_of(standardised)),
                                       class_neighbours_->memory().fraction, graphs_->mixture().model().likelihoods),
                  all);
  return all;
}

// Targets with other than Gaussian noise are never standardised, and keep their likelihoods.
Prediction TableLearner::in_units_before(Prediction learned) const {
  if (!is_gaussian()) return learned;
  learned = learned.in_units_before(targets_);
  if (targets_.log_from.size() == 0) return learned;
  std::vector<bool> is_log;
  for (const double from : targets_.log_from) is_log.push_back(from > 0);
  return Prediction::of_logarithms(std::move(learned), is_log);
}

Prediction TableLearner::predict(const Eigen::MatrixXd& inputs) const {
  if (!is_fitted()) fail("predict: nothing has been learned yet; call fit first");
  if (inputs.cols() != inputs_.shift.size())
    fail("predict: the inputs have {} columns but the network was made for {}", inputs.cols(), inputs_.shift.size());
  if (!inputs.allFinite()) fail("predict: the inputs hold a value that is not a finite number");
  const Eigen::MatrixXd standardised = inputs_.apply(inputs);
  if (!standardised.allFinite())
    fail("predict: the inputs overflow after standardisation: they are too far from the training data");
  return in_units_before(Prediction::mix(components(prepared(inputs, standardised), standardised)));
}

std::vector<PredictionComponent> TableLearner::mixed_left_out() const {
  std::vector<PredictionComponent> all = graphs_->mixture().left_out();
  if (all.empty()) return all;
  if (frequencies_fraction_ > 0) add_component(frequencies_left_out_, all);
  if (neighbours_ || class_neighbours_) add_component(neighbours_left_out_, all);
  return all;
}

std::optional<Prediction> TableLearner::left_out() const {
  if (!is_fitted()) return {};
  std::vector<PredictionComponent> all = of_all_rows(mixed_left_out(), learned_as_);
  if (all.empty()) return {};
  return in_units_before(Prediction::mix(std::move(all)));
}

std::vector<PredictionComponent> TableLearner::judged_left_out(TableRows& rows) const {
  std::vector<PredictionComponent> all = of_all_rows(mixed_left_out(), learned_as_);
  if (judged_.empty()) return all;
  std::vector<Index> judged = judged_;
  if (!learned_as_.empty()) {
    judged.clear();
    for (std::size_t n = 0; n < learned_as_.size(); ++n)
      if (std::ranges::binary_search(judged_, learned_as_[n])) judged.push_back(static_cast<Index>(n));
  }
  rows.targets = rows.targets(judged, Eigen::all).eval();
  rows.weights = weights_of(rows.weights, judged);
  return rows_of(std::move(all), judged);
}

void TableLearner::report_left_out(const TableRows& rows) {
  const std::vector<PredictionComponent> all = of_all_rows(mixed_left_out(), learned_as_);
  if (options_.classes > 0) return report_classes_left_out(all, rows.targets.col(0), rows.weights, report_);
  const Eigen::MatrixXd& targets = rows.targets;
  left_out_residuals_.resize(targets.rows(), targets.cols());
  left_out_deviations_ = left_out_residuals_;
  std::vector<Scores> scores = scores_of(
      [&](Index first, Index count) {
        Prediction p = in_units_before(Prediction::mix(rows_of(all, first, count)));
        left_out_residuals_.middleRows(first, count) = targets.middleRows(first, count) - p.mean;
        left_out_deviations_.middleRows(first, count) =
            left_out_residuals_.middleRows(first, count).cwiseQuotient(p.sd);
        return p;
      },
      targets, rows.weights);
  if (!judged_.empty()) {
    TableRows judged{{}, targets, rows.weights};
    const std::vector<PredictionComponent> some = judged_left_out(judged);
    scores = scores_of(
        [&](Index first, Index count) { return in_units_before(Prediction::mix(rows_of(some, first, count))); },
        judged.targets, judged.weights);
  }
  for (std::size_t j = 0; j < scores.size(); ++j)
    report_.left_out.push_back(
        {scores[j], fraction_explained(scores[j].rmse, targets.col(static_cast<Index>(j)), rows.weights)});
}

bool TableLearner::update(const TableRows& more, double known) {
  if (!is_fitted())
    fail(
        "update: more rows are learned on top of a joint fit; this network has none, fit it by method \"joint\" first");
  if (more.inputs.cols() != inputs_.shift.size() || more.targets.cols() != targets_.shift.size())
    fail("update: {} inputs and {} targets are given; {} and {} are expected", more.inputs.cols(), more.targets.cols(),
         inputs_.shift.size(), targets_.shift.size());
  if (more.inputs.rows() != more.targets.rows() || more.inputs.rows() == 0)
    fail("update: there are {} rows of inputs and {} of targets; as many are expected, and at least one",
         more.inputs.rows(), more.targets.rows());
  if (options_.classes > 0) fail("no rows can be added to a model of classes; fit old and new rows together");
  if (more.weights.size() > 0) {
    check_weights(more.weights, more.inputs.rows());
    const std::vector<Index> kept = rows_that_count(more.weights);
    if (std::ssize(kept) < more.weights.size()) return update(more.some(kept), known);
  }
  for (Index j = 0; j < more.targets.cols(); ++j)
    if (const double least = more.targets.col(j).minCoeff(); targets_.is_log(j) && !(least > 0))
      fail("update: a target is {}, but the model learned logarithms of numbers above 0; fit old and new rows together",
           least);
  RowData data = data_of(more);
  if (!data.rows.allFinite() || !data.targets.allFinite())
    fail("update: the values overflow after standardisation: they are too far from the training data");
  data.least_noise.resize(0);
  const bool settled = graphs_->mixture().update(data, static_cast<Index>(known));
  learned_rows_ = checksum_of(more) ^ learned_rows_.value_or(static_cast<std::uint64_t>(known));  // old and new rows
  if (neighbours_) neighbours_->add(without_levels(data.rows), data.targets, data.weights);
  if (is_gaussian()) set_noise(graphs_->mixture().noise(data.rows));
  return settled;
}

}  // namespace dma
