#include "models/network/bnn.h"

#include <fmt/format.h>

#include <cmath>

#include "engine/support/text.h"
#include "models/learn/table_learner.h"
#include "models/network/message_network.h"
#include "models/network/network_graph.h"

namespace dma {

namespace {

NetworkFamilyOptions family_of(const BnnOptions& o, const PreparedColumns& columns) {
  BnnShape shape = shape_of(o);
  shape.layers.front() = columns.numbers;
  shape.levels = columns.levels;
  return {.shape = std::move(shape),
          .prior_variance_scale = o.prior_variance_scale,
          .priors = o.priors,
          .learns_relevance = o.features == "none" && o.priors.empty(),
          .seed = o.seed};
}

TableLearnOptions table_options(const BnnOptions& o) {
  // Given priors are kept: nothing is learned of them or added to them.
  const bool is_free = o.priors.empty(), has_hidden = o.layers.size() > 2;
  const bool is_table = o.learn_noise && is_free && o.standardise && has_hidden;
  TableLearnOptions table{
      .family = [o](const PreparedColumns& columns) { return network_family(family_of(o, columns)); },
      .inputs = o.layers.front(),
      .outputs = o.layers.back(),
      .levels = o.levels,
      .finds_effects = o.learn_noise && is_free && o.standardise,
      .features = o.features,
      .standardise = o.standardise,
      .log_inputs = o.log_inputs && is_table,
      .log_target = o.log_target && is_table,
      .count_target = o.count_target && is_table,
      .neighbours = o.neighbours && is_table,
      .seed = o.seed};
  if (!o.learn_noise) table.noise = o.noise.expanded(o.layers.back(), "noise");
  EnsembleOptions& ensemble = table.ensemble;
  ensemble.choose_relevance = o.features == "none" && is_free;
  ensemble.choose_smoothing = !o.smoothing;
  ensemble.choose_sizes = o.choose_width;
  ensemble.hold_out = is_free && has_hidden;
  GraphMixtureOptions& mixture = ensemble.mixture;
  mixture.learn_noise = o.learn_noise;
  mixture.learn_scale = mixture.simple = mixture.doubt_extrapolation = is_free;
  mixture.noise_model = o.noise_model;
  mixture.members = o.members;
  return table;
}

// The network of a member as it was learned.
Graph graph_of(const BnnOptions& options, const TableLearner& learner, std::size_t index) {
  const NetworkFamilyOptions family = family_of(options, learner.columns());
  if (!learner.is_fitted())
    return network_graph(family.shape, fan_in_priors(family.shape), std::vector<double>(options.layers.back(), 1.0))
        .graph;
  const GraphMixture& mixture = learner.graphs().mixture();
  BnnShape shape = chosen_shape(family, mixture.memory().choice);
  const std::size_t inputs = shape.layers.front();
  const auto& columns = mixture.model().columns;
  if (!columns.empty()) shape.layers.front() = columns.size();
  const SharedPosterior& posterior = mixture.memory().members.at(index).last();
  std::vector<NetworkNoise> noise;
  for (std::size_t k = 0; k < posterior.state.noise.size(); ++k) {
    noise.push_back({posterior.state.noise[k], k < posterior.tails.size() ? posterior.tails[k] : StudentTails{}});
    if (!learner.counts().empty()) noise.back().count = learner.counts()[k];
  }
  return network_graph(shape, layer_priors(shape, mixture.prior_of(index), posterior.state.scale), noise, columns,
                       inputs)
      .graph;
}

}  // namespace

Bnn::Bnn(BnnOptions options) : options_(std::move(options)) {
  check(options_);
  BnnOptions& o = options_;
  if (o.noise.empty()) o.learn_noise = true;
  if (o.members == 0 && (!o.is_joint() || !o.priors.empty())) o.members = 1;
  (void)shape_of(o);  // an Error for slopes that do not fit
  if (!o.is_joint()) {
    auto messages = std::make_unique<MessageNetwork>(o);
    messages_ = messages.get();
    method_ = std::move(messages);
    return;
  }
  for (const LayerPrior& layer : o.priors)
    for (const double variance : layer.variance)
      if (!(variance > 0 && std::isfinite(variance)))
        fail("priors: joint learning needs variances above 0 and below infinity, {} is given", variance);
  auto joint = std::make_unique<TableLearner>(table_options(o));
  joint->describe_by([o](const TableLearner& learner, std::size_t member) { return graph_of(o, learner, member); });
  joint_ = joint.get();
  method_ = std::move(joint);
}

void Bnn::take_choices() {
  if (joint_ == nullptr || !joint_->is_fitted()) {
    if (messages_ != nullptr) options_.members = messages_->members();
    return;
  }
  const GraphMixture::Memory& memory = joint_->graphs().mixture().memory();
  const std::size_t inputs = options_.layers.front(), outputs = options_.layers.back();
  options_.layers = {inputs};
  options_.layers.insert(options_.layers.end(), memory.choice.sizes.begin(), memory.choice.sizes.end());
  options_.layers.push_back(outputs);
  options_.members = memory.members.size();
}

FitReport Bnn::fit(const TableRows& rows, const TableFit& fit) {
  FitReport report = method_->fit(rows, fit);
  take_choices();
  return report;
}

FitReport Bnn::fit(const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& targets, const LearnOptions& options,
                   const BnnCallback& on_epoch, const Eigen::VectorXd& weights) {
  return fit({inputs, targets, weights}, {.options = options, .on_epoch = on_epoch});
}

Prediction Bnn::predict(const Eigen::MatrixXd& inputs) const { return method_->predict(inputs); }

LayerPrior Bnn::prior(std::size_t layer, std::size_t member) const {
  if (messages_ != nullptr) return messages_->prior(layer, member);
  const NetworkFamilyOptions family = family_of(options_, joint_->columns());
  const auto of = [&](const GraphMixture& mixture, const Vector& scales) {
    BnnShape shape = chosen_shape(family, mixture.memory().choice);
    if (const auto& columns = mixture.model().columns; !columns.empty()) shape.layers.front() = columns.size();
    return layer_priors(shape, mixture.prior_of(member), scales).at(layer);
  };
  if (joint_->is_fitted()) {
    const GraphMixture& mixture = joint_->graphs().mixture();
    return of(mixture, mixture.memory().members.at(member).last().state.scale);
  }
  GraphMixtureOptions untouched;
  untouched.seed = options_.seed;
  return of(GraphMixture(std::make_shared<const GraphFamily>(network_family(family)), untouched), {});
}

std::vector<Gaussian> Bnn::weights(std::size_t layer, std::size_t member) const {
  std::vector<Gaussian> all;
  const std::string number = fmt::format("{}", layer + 1);
  for (const LearnedVariable& own : method_->variables())
    if (own.member == member && (own.name == "W" + number || own.name == "b" + number))
      all.insert(all.end(), own.beliefs.begin(), own.beliefs.end());
  if (!all.empty()) return all;
  const LayerPrior prior = this->prior(layer, member);
  for (std::size_t i = 0; i < prior.mean.size(); ++i)
    all.push_back(Gaussian::from_moments(prior.mean[i], prior.variance[i]));
  return all;
}

}  // namespace dma
