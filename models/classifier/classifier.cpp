#include "models/classifier/classifier.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <utility>

#include "engine/learn/joint/curvature.h"
#include "engine/support/error.h"
#include "engine/support/parallel.h"
#include "engine/support/text.h"
#include "factors/standard_registry.h"
#include "models/classifier/classifier_size.h"
#include "models/network/bnn_check.h"
#include "models/table/log_scale.h"
#include "models/table/scores.h"

namespace dma {

namespace {

constexpr double kBiasPrecision = 0.04;  // of the logits' biases: frequencies from 1 to 1000 are within two deviations
constexpr double kLeastPart = 1e-6;      // of the mixture
// Nats that the simpler of two models is given: ten to one.
constexpr double kBenefitOfSimplicity = 2.3;
// No row ever has probability 0: the frequencies keep this fraction, over the number of rows.
constexpr double kLeastFrequenciesShare = 0.1;
// Where no row is near the others know more, which left-out rows, all among the rest, hardly tell. It costs at most
// 0.01 nats a row.
constexpr double kMostNeighbours = 0.99;

// One logit tells two classes apart.
OutputLikelihoods likelihoods_of(Index classes) {
  const Index logits = logits_for(classes);
  const auto each = std::make_shared<const OutputLikelihood>(
      standard_registry().kind(logits == 1 ? "logistic" : "softmax"), std::vector<double>(), "class", logits);
  return OutputLikelihoods(static_cast<std::size_t>(logits), each);
}

double log_score(const Matrix& p, const std::vector<Index>& classes, const Vector& weights) {
  double sum = 0;
  for (Index n = 0; n < p.rows(); ++n)
    sum += weight_of(weights, n) * std::log(std::max(p(n, classes[static_cast<std::size_t>(n)]), 1e-300));
  return sum;
}

// Half a row of every class is added: no class is impossible.
Vector counts_of(const ClassLabels& labels, const Vector& weights) {
  Vector counts = Vector::Constant(static_cast<Index>(labels.names.size()), 0.5);
  for (std::size_t n = 0; n < labels.of_rows.size(); ++n)
    counts(labels.of_rows[n]) += weight_of(weights, static_cast<Index>(n));
  return counts;
}
// The frequencies of the classes among all rows but one, of each.
Matrix frequencies_without_each(const Vector& counts, const ClassLabels& labels, const Vector& weights) {
  Matrix all(static_cast<Index>(labels.of_rows.size()), counts.size());
  for (Index n = 0; n < all.rows(); ++n) {
    Vector others = counts;
    double& own = others(labels.of_rows[static_cast<std::size_t>(n)]);
    own = std::max(0.5, own - weight_of(weights, n));  // less by rounding alone
    all.row(n) = (others / others.sum()).transpose();
  }
  return all;
}

void check_inputs(const Matrix& inputs, const ClassLabels& labels, const Vector& weights) {
  if (static_cast<std::size_t>(inputs.rows()) != labels.of_rows.size())
    fail("classifier: {} rows of inputs, but {} labels; one label per row is expected", inputs.rows(),
         labels.of_rows.size());
  if (inputs.cols() == 0) fail("classifier: the rows have no columns; at least one is expected");
  if (!inputs.allFinite()) fail("classifier: an input is not a finite number; leave such rows out");
  check_classes(labels, "classifier");
  if (weights.size() > 0) check_weights(weights, inputs.rows());
  for (Index n = 0; n < weights.size(); ++n)
    if (weights(n) == 0) fail("classifier: row {} has a weight of 0; leave it out", n + 1);
}

}  // namespace

Classifier::Classifier(ClassifierOptions options) : options_(std::move(options)) {
  const ClassifierOptions& o = options_;
  if (!(o.slope > 0 && o.slope <= 1))
    fail("classifier: the slope is {}; a number above 0 and at most 1 is expected", o.slope);
  if (!(o.smoothing >= 0 && std::isfinite(o.smoothing)))
    fail("classifier: the smoothing is {}; 0 or more is expected", o.smoothing);
  if (!(o.prior_variance_scale > 0 && std::isfinite(o.prior_variance_scale)))
    fail("classifier: the scale of the prior is {}; a number above 0 is expected", o.prior_variance_scale);
  if (o.epochs < 1) fail("classifier: {} epochs are given; at least 1 is expected", o.epochs);
  for (const std::size_t width : o.hidden.value_or(std::vector<std::size_t>{}))
    if (width < 1) fail("classifier: a hidden layer of width 0 is given; at least 1 is expected");
}

std::vector<std::size_t> Classifier::widths(const Part& part) const {
  std::vector<std::size_t> all = {static_cast<std::size_t>(width())};
  all.insert(all.end(), part.hidden.begin(), part.hidden.end());
  all.push_back(static_cast<std::size_t>(logits_for(static_cast<Index>(memory_.classes.size()))));
  return all;
}

RowProgram Classifier::rows_of(const Part& part) const {
  return network_rows({.layers = widths(part),
                       .slopes = std::vector<double>(part.hidden.size(), options_.slope),
                       .smoothing = options_.smoothing});
}

Matrix Classifier::prepared(const Eigen::MatrixXd& inputs) const {
  const Matrix standardised = memory_.inputs.apply(inputs);
  return memory_.directions.used() ? memory_.directions.apply(standardised) : standardised;
}

// Hidden weights have their prior means where they start: units that the rows do not need stay as they were drawn.
SharedPrior Classifier::prior_of(const Part& part, const RowProgram& rows, Vector& start, std::uint64_t seed) const {
  SharedPrior prior = rows.prior();
  prior.precision /= options_.prior_variance_scale;
  prior.group.assign(static_cast<std::size_t>(rows.scalars()), 0);
  const Index logits = rows.outputs();
  const auto inputs_of_last = static_cast<Index>(part.hidden.empty() ? widths(part).front() : part.hidden.back());
  const Index hidden = rows.scalars() - logits * (inputs_of_last + 1);
  prior.precision.tail(logits).setConstant(kBiasPrecision);
  std::fill_n(prior.group.end() - logits, logits, Index{-1});
  start = Vector::Zero(rows.scalars());
  if (part.hidden.empty()) return prior;
  start = draw(rows.prior(), seed);
  start.tail(logits).setZero();
  prior.mean.head(hidden) = start.head(hidden);
  return prior;
}

Matrix Classifier::probabilities(RowBeliefs logits, const SharedPosterior& posterior) const {
  const auto classes = static_cast<Index>(memory_.classes.size());
  const Matrix p = component(std::move(logits), posterior, {}, likelihoods_of(classes)).mean;
  if (p.cols() == classes) return p;
  Matrix both(p.rows(), 2);
  both << (1 - p.array()).matrix(), p;
  return both;
}

ClassifierReport Classifier::fit(const Eigen::MatrixXd& inputs, const ClassLabels& labels,
                                 const ClassifierCallback& on_epoch, const Eigen::VectorXd& weights_of_rows) {
  check_inputs(inputs, labels, weights_of_rows);
  const auto size = classifier_size(static_cast<std::size_t>(inputs.rows()), static_cast<std::size_t>(inputs.cols()),
                                    labels.names.size(), options_.hidden, options_.members);
  const Vector counts = counts_of(labels, weights_of_rows);
  Eigen::RowVectorXd log_from;
  if (options_.log_inputs && options_.standardise && !size.hidden.empty() && size.directions == 0) {
    Matrix of_classes = Matrix::Zero(inputs.rows(), counts.size() - 1);  // all but the first
    for (Index n = 0; n < inputs.rows(); ++n)
      if (const Index c = labels.of_rows[static_cast<std::size_t>(n)]; c > 0) of_classes(n, c - 1) = 1;
    log_from = log_scales_of(inputs, of_classes, options_.seed, weights_of_rows);
  }
  memory_ = {.inputs = options_.standardise ? Standardiser::of(inputs, weights_of_rows, log_from)
                                            : Standardiser::identity(inputs.cols()),
             .classes = labels.names,
             .frequencies = counts / counts.sum(),
             .parts = {}};
  if (size.directions > 0)
    memory_.directions = PrincipalDirections::of(memory_.inputs.apply(inputs), static_cast<Index>(size.directions));
  const Index n = inputs.rows(), logits = logits_for(counts.size());
  RowData data{prepared(inputs), Matrix::Zero(n, logits), weights_of_rows, likelihoods_of(counts.size())};
  for (Index i = 0; i < n; ++i) {
    const Index own = labels.of_rows[static_cast<std::size_t>(i)];
    if (logits > 1)
      data.targets(i, own) = 1;
    else
      data.targets(i, 0) = static_cast<double>(own);
  }
  ClassifierReport report;
  report.reason = size.reason;

  const std::size_t parts = 1 + size.members;
  struct Fitted {
    SharedSolution solution;
    Matrix left_out;  // probabilities of the learned rows, each as if it had not been learned
    double score = 0;
    bool interrupted = false;
  };
  std::vector<std::optional<Fitted>> found(parts);
  const auto hidden_of = [&](std::size_t k) { return k == 0 ? std::vector<std::size_t>{} : size.hidden; };
  std::mutex mutex;  // of on_epoch and stopped
  bool stopped = false;
  // After one no, every answer is no.
  const auto ask = [&](const auto& question) {
    const std::lock_guard lock(mutex);
    const bool was_stopped = std::exchange(stopped, true);  // as it stays if the question throws
    stopped = !question() || was_stopped;
    return !stopped;
  };
  // Each has three matrices over its weights.
  constexpr double kMostBytesAtOnce = 2e9;
  const auto weights = static_cast<double>(rows_of({.hidden = size.hidden}).scalars());
  const auto by_memory =
      static_cast<std::size_t>(std::clamp(kMostBytesAtOnce / (3 * 8 * weights * weights), 1.0, 1000.0));
  const std::size_t at_once = std::min({std::max<std::size_t>(1, options_.jobs), parts, by_memory});
  parallel_for(parts, at_once, [&](std::size_t k) {
    if (k > 0 && !ask([] { return true; })) return;  // the linear model is always there
    const Part part{.hidden = hidden_of(k)};
    const RowProgram rows = rows_of(part);
    Fitted own;
    SharedState state{.mean = {}, .noise = {}};
    const SharedPrior prior = prior_of(part, rows, state.mean, options_.seed + k - 1);
    state.noise.assign(static_cast<std::size_t>(logits), LogLinearNoise::constant(1));
    SharedFitOptions options{
        .epochs = options_.epochs, .learn_noise = false, .least_gain = 0, .least_change = kLeastChange};
    options.on_epoch = [&](const SharedEpoch& epoch) {
      own.interrupted = !ask([&] { return !on_epoch || on_epoch({k, parts, options_.epochs, epoch}); });
      return !own.interrupted;
    };
    const auto curvature = make_primal();
    curvature->use_threads(std::max<std::size_t>(1, options_.jobs / at_once));
    const double evidence = fit_shared(rows, data, prior, options, state, *curvature);
    own.solution = solution_of(rows, data, state, *curvature, evidence, false);
    own.left_out = probabilities(std::move(own.solution.left_out), own.solution.posterior);
    own.score = log_score(own.left_out, labels.of_rows, weights_of_rows);
    found[k] = std::move(own);
  });
  std::vector<Fitted> fitted;
  for (std::size_t k = 0; k < parts && found[k]; ++k) {
    report.epochs.push_back(found[k]->solution.posterior.state.epoch);
    report.settled.push_back(found[k]->solution.posterior.state.is_settled());
    report.interrupted = report.interrupted || found[k]->interrupted;
    fitted.push_back(std::move(*found[k]));
  }

  // Nats of the frequencies, the linear model and the networks together; every step up in complexity must earn its
  // place. Left-out rows are predicted with hidden units that have seen them: with more weights than rows they flatter,
  // and the network must have the better evidence too.
  const double total = total_weight(n, data.weights);
  const Matrix frequencies = frequencies_without_each(counts, labels, data.weights);
  const auto evidence_of = [&](std::size_t k) { return fitted[k].solution.posterior.log_evidence; };
  Matrix networks = Matrix::Zero(n, counts.size());
  double evidence = -1e300;
  for (std::size_t k = 1; k < fitted.size(); ++k) {
    networks += fitted[k].left_out / static_cast<double>(fitted.size() - 1);
    evidence = std::max(evidence, evidence_of(k));
  }
  const double linear = fitted[0].score - kBenefitOfSimplicity;
  Eigen::Array3d nats(log_score(frequencies, labels.of_rows, data.weights), linear, -1e300);
  if (fitted.size() > 1) {
    nats(2) = log_score(networks, labels.of_rows, data.weights) - 2 * kBenefitOfSimplicity;
    const bool few_rows = n * logits <= fitted[1].solution.posterior.state.mean.size();
    if (few_rows) nats(2) = std::min(nats(2), linear + evidence - evidence_of(0) - kBenefitOfSimplicity);
  }
  Eigen::Array3d fractions = (nats - nats.maxCoeff()).exp();
  fractions /= fractions.sum();
  fractions = (fractions < kLeastPart).select(0, fractions);
  fractions(0) = std::max(fractions(0), kLeastFrequenciesShare / total);
  fractions /= fractions.sum();

  memory_.frequencies_fraction = report.frequencies_fraction = fractions(0);
  report.linear_fraction = fractions(1), report.network_fraction = fractions(2);
  left_out_ = fractions(0) * frequencies + fractions(1) * fitted[0].left_out + fractions(2) * networks;
  for (std::size_t k = 0; k < fitted.size(); ++k) {
    const double fraction = k == 0 ? fractions(1) : fractions(2) / static_cast<double>(fitted.size() - 1);
    if (fraction > 0) memory_.parts.push_back({hidden_of(k), fraction, std::move(fitted[k].solution.posterior)});
  }
  if (options_.neighbours && !size.hidden.empty() && !report.interrupted)
    mix_with_neighbours(inputs, labels, data.weights, frequencies, report);
  report.left_out = class_scores_of(left_out_, labels.of_rows, data.weights);
  report.frequencies = class_scores_of(memory_.frequencies.transpose().replicate(n, 1), labels.of_rows, data.weights);
  report.frequencies.log_loss = -nats(0) / total;
  return report;
}

void Classifier::mix_with_neighbours(const Eigen::MatrixXd& inputs, const ClassLabels& labels, const Vector& weights,
                                     const Matrix& frequencies, ClassifierReport& report) {
  if (!ClassNeighbours::suits(inputs.rows(), inputs.cols())) return;
  ClassNeighbours::Fit found =
      ClassNeighbours::fit(memory_.inputs.apply(inputs), memory_.inputs.scale.transpose(), labels.of_rows,
                           memory_.frequencies, frequencies, options_.jobs, weights);
  Vector ahead(inputs.rows());
  for (Index n = 0; n < ahead.size(); ++n) {
    const Index c = labels.of_rows[static_cast<std::size_t>(n)];
    ahead(n) = std::log(found.left_out(n, c) / left_out_(n, c));
  }
  const double fraction = likeliest_fraction(ahead, kBenefitOfSimplicity + ClassNeighbours::kFlattery, weights);
  if (!(fraction > 0)) return;
  const double taken = std::min(fraction, kMostNeighbours), left = 1 - taken;
  found.model.set_fraction(taken);
  report.frequencies_fraction = memory_.frequencies_fraction *= left;
  for (Part& part : memory_.parts) part.fraction *= left;
  report.linear_fraction *= left, report.network_fraction *= left;
  report.neighbours_fraction = taken;
  left_out_ = left * left_out_ + taken * found.left_out;
  memory_.neighbours = std::make_shared<const ClassNeighbours>(std::move(found.model));
}

Eigen::MatrixXd Classifier::predict(const Eigen::MatrixXd& inputs) const {
  if (memory_.classes.empty()) fail("classifier: predict() before fit(); there is nothing to predict with");
  if (inputs.cols() != memory_.inputs.shift.size())
    fail("classifier: rows of {} columns are given, but it was fitted on {}", inputs.cols(),
         memory_.inputs.shift.size());
  Matrix p = memory_.frequencies_fraction * memory_.frequencies.transpose().replicate(inputs.rows(), 1);
  if (memory_.neighbours)
    p += memory_.neighbours->memory().fraction *
         memory_.neighbours->predict(memory_.inputs.apply(inputs), options_.jobs);
  const Matrix rows = prepared(inputs);
  for (const Part& part : memory_.parts)
    p += part.fraction *
         probabilities(part.posterior.predict(rows_of(part), {}, rows, memory_.classes.size() > 2), part.posterior);
  return p;
}

void Classifier::restore(Memory memory) {
  memory_ = std::move(memory);
  left_out_.resize(0, 0);
}

Classifier::Weights Classifier::weights(const Part& part) const {
  const RowProgram rows = rows_of(part);
  Vector ignored;
  const SharedPrior prior = prior_of(part, rows, ignored, options_.seed);
  Weights all{.mean = part.posterior.state.mean,
              .variance = part.posterior.marginal_variances(rows, prior),
              .prior_variance = prior.scaled(part.posterior.state.scale).cwiseInverse(),
              .first = {0}};
  const std::vector<std::size_t> layers = widths(part);
  for (std::size_t l = 0; l + 1 < layers.size(); ++l)
    all.first.push_back(all.first.back() + static_cast<Index>(layers[l + 1] * (layers[l] + 1)));
  return all;
}

}  // namespace dma
