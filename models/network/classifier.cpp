#include "models/network/classifier.h"

#include <cmath>

#include "engine/support/fields.h"
#include "engine/support/text.h"
#include "models/learn/mixing.h"
#include "models/learn/table_learner.h"
#include "models/network/classifier_size.h"
#include "models/network/network_graph.h"

namespace dma {

void list_fields(Fields& f, ClassifierOptions& value) {
  DMA_LIST(hidden, slope, smoothing, prior_variance_scale, standardise);
  f.unless_empty("levels", value.levels);
  DMA_LIST(neighbours, log_inputs, members, epochs, seed);
}

void check(const ClassifierOptions& o) {
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

namespace {

NetworkFamilyOptions family_of(const ClassifierOptions& o, const PreparedColumns& columns, std::size_t classes,
                               const std::vector<std::size_t>& hidden) {
  BnnShape shape{.layers = {columns.numbers}, .slopes = std::vector<double>(hidden.size(), o.slope)};
  shape.layers.insert(shape.layers.end(), hidden.begin(), hidden.end());
  shape.layers.push_back(logits_for(classes));
  shape.smoothing = o.smoothing;
  shape.levels = columns.levels;
  return {.shape = std::move(shape),
          .prior_variance_scale = o.prior_variance_scale,
          .classes = true,
          .learns_relevance = false,
          .seed = o.seed};
}

// The network of a member as it was learned.
Graph graph_of(const ClassifierOptions& o, const TableLearner& learner, std::size_t member) {
  if (!learner.is_fitted()) return {};
  const GraphMixture& mixture = learner.graphs().mixture();
  const GraphMixture::Memory& memory = mixture.memory();
  const BnnShape shape =
      chosen_shape(family_of(o, learner.columns(), learner.options().classes, memory.choice.sizes), memory.choice);
  return network_of_classes(shape,
                            layer_priors(shape, mixture.prior_of(member), memory.members.at(member).last().state.scale))
      .graph;
}

}  // namespace

TableLearnOptions class_table(const ClassifierOptions& o, std::size_t inputs, std::size_t classes) {
  const auto family = [o, classes](std::vector<std::size_t> hidden) {
    return [o, classes, hidden](const PreparedColumns& columns) {
      return network_family(family_of(o, columns, classes, hidden));
    };
  };
  // One that is read from a file has a hidden layer, or none, as its choice says.
  TableLearnOptions table{.family = family(o.hidden.value_or(std::vector<std::size_t>{1})),
                          .inputs = inputs,
                          .outputs = 1,
                          .levels = o.levels,
                          .finds_effects = o.standardise,
                          .classes = classes,
                          .standardise = o.standardise,
                          .log_inputs = o.log_inputs,
                          .neighbours = o.neighbours,
                          .seed = o.seed};
  table.for_size = [o, family, classes](TableLearnOptions& own, std::size_t rows, std::size_t columns) {
    const ClassifierSize size = classifier_size(rows, columns, classes, o.hidden, o.members);
    own.family = family(size.hidden);
    own.directions = size.directions;
    own.ensemble.mixture.members = std::max<std::size_t>(1, size.members);
    own.log_inputs = own.log_inputs && !size.hidden.empty();
    own.neighbours = own.neighbours && !size.hidden.empty();
    return size.reason;
  };
  table.ensemble = {.choose_relevance = false, .choose_smoothing = false, .hold_out = false};
  table.ensemble.mixture.doubt_extrapolation = table.ensemble.mixture.tails = false;
  table.ensemble.mixture.grows = false;
  table.ensemble.mixture.members = 1;
  return table;
}

TableFit class_fit(const ClassifierOptions& o) {
  TableFit fit;
  fit.options.epochs = o.epochs;
  fit.options.jobs = o.jobs;
  return fit;
}

Classifier::Classifier(ClassifierOptions options) : options_(std::move(options)) { check(options_); }

Classifier::Classifier(ClassifierOptions options, std::size_t inputs, std::vector<std::string> classes)
    : Classifier(std::move(options)) {
  if (!options_.levels.empty() && options_.levels.size() != inputs)
    fail("classifier: levels has {} numbers of values for {} inputs; one for each input is expected",
         options_.levels.size(), inputs);
  classes_ = std::move(classes);
  table_ = std::make_unique<TableLearner>(class_table(options_, inputs, classes_.size()));
  table_->describe_by([o = options_](const TableLearner& t, std::size_t member) { return graph_of(o, t, member); });
}

TableReport Classifier::fit(const Eigen::MatrixXd& inputs, const ClassLabels& labels, const TableFit& fit,
                            const Eigen::VectorXd& weights) {
  if (static_cast<std::size_t>(inputs.rows()) != labels.of_rows.size())
    fail("classifier: {} rows of inputs, but {} labels; one label per row is expected", inputs.rows(),
         labels.of_rows.size());
  if (inputs.cols() == 0) fail("classifier: the rows have no columns; at least one is expected");
  if (!inputs.allFinite()) fail("classifier: an input is not a finite number; leave such rows out");
  check_classes(labels, "classifier");
  *this = Classifier(options_, static_cast<std::size_t>(inputs.cols()), labels.names);
  Eigen::MatrixXd numbers(inputs.rows(), 1);
  for (Eigen::Index n = 0; n < numbers.rows(); ++n)
    numbers(n, 0) = static_cast<double>(labels.of_rows[static_cast<std::size_t>(n)]);
  return table_->fit({inputs, std::move(numbers), weights}, fit);
}

Classifier::~Classifier() = default;
Classifier::Classifier(Classifier&&) noexcept = default;
Classifier& Classifier::operator=(Classifier&&) noexcept = default;

Eigen::MatrixXd Classifier::predict(const Eigen::MatrixXd& inputs) const {
  if (!table_) fail("classifier: predict() before fit(); there is nothing to predict with");
  if (inputs.cols() != table_->input_units().shift.size())
    fail("classifier: rows of {} columns are given, but it was fitted on {}", inputs.cols(),
         table_->input_units().shift.size());
  return probabilities_of(table_->predict(inputs).mean, classes_.size());
}

Eigen::MatrixXd Classifier::left_out() const {
  const auto left_out = table_ ? table_->left_out() : std::nullopt;
  if (!left_out) fail("classifier: left-out rows are known after fit() only");
  return probabilities_of(left_out->mean, classes_.size());
}

std::size_t Classifier::weights() const {
  return table_ && table_->is_fitted() ? static_cast<std::size_t>(table_->graphs().mixture().model().rows->scalars())
                                       : 0;
}

}  // namespace dma
