// A graph of one's own as a model of a table.
#include <fmt/format.h>

#include <cmath>

#include "engine/support/error.h"
#include "tools/dma/fit/table_model.h"

namespace dma {

GraphFit::GraphFit(GraphFile file, const Registry& registry, std::vector<std::string> targets,
                   JointLearnOptions options, FitWatch watch)
    : told_(std::make_shared<Told>(Told{std::move(watch)})), model_([&] {
        told_->curves.resize(options.starts);
        options.on_epoch = [told = told_, epochs = options.epochs](const JointEpoch& e) {
          const double evidence = e.epoch.log_evidence / told->values;
          told->curves[e.start].push_back(evidence);
          return !told->watch.on_epoch ||
                 told->watch.on_epoch({e.start, e.epoch.epoch, evidence, 0,
                                       fmt::format("start {} of {}, epoch {} of at most {}, log evidence {:.4f} a row",
                                                   e.start + 1, told->curves.size(), e.epoch.epoch, epochs, evidence)});
        };
        return GraphModel(std::move(file), registry, std::move(targets), options);
      }()) {}

Learned GraphFit::learn(const TrainingData& data) && {
  told_->values = static_cast<double>(data.outputs.size());
  const JointLearnReport report =
      data.has_classes() ? model_.fit(data.inputs, data.labels())
                           : model_.fit(data.inputs, data.outputs,
                                        std::span(data.weights.data(), static_cast<std::size_t>(data.weights.size())));
  Learned learned{.model = nullptr, .interrupted = report.interrupted, .line = model_.training.line};
  if (!model_.has_classes()) learned.left_out = model_.learner().left_out();
  learned.model = std::make_shared<OwnGraph>(std::move(model_));
  learned.curves = told_->curves;
  told_->watch = {};
  return learned;
}

ModelColumns OwnGraph::columns() const {
  static const ColumnCoding plain_numbers;
  static const Standardiser as_they_are;
  return {model_.inputs(), plain_numbers, as_they_are, false};
}

void OwnGraph::judge(const TrainingData& data) {
  GraphModel::Training& training = model_.training;
  training.held_out_rows = data.held_out_rows();
  if (has_classes())
    training.held_out_classes = {
        class_scores_of(probabilities(data.held_out_inputs), model_.classes_of(data.held_out_labels()))};
  else
    training.held_out = scores_of(predict(data.held_out_inputs), data.held_out_outputs);
}

bool OwnGraph::update(const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& outputs, const Eigen::VectorXd& weights) {
  if (has_classes()) return TableModel::update(inputs, outputs, weights);
  if (weights.size() > 0) fail("rows that are added to a graph of your own have no weights; leave them out");
  const bool settled = model_.update(inputs, outputs);
  if (inputs.cols() > 0) (void)predict(inputs);
  return settled;
}

std::vector<LeftOut> OwnGraph::left_out() const {
  std::vector<LeftOut> all;
  for (const Scores& scores : model_.training.left_out) all.push_back({scores, std::nan("")});
  return all;
}

std::vector<double> OwnGraph::noise() const {
  std::vector<double> all;
  const OutputLikelihoods& likelihoods = model_.program().likelihoods();
  for (std::size_t j = 0; j < model_.targets().size() && !has_classes(); ++j)
    all.push_back(likelihoods[j] ? std::nan("") : std::sqrt(model_.learner().noise_variance(j)));
  return all;
}

double OwnGraph::products_per_row() const {
  constexpr double kProductsOfLikelihood = 1e5;  // that is averaged over what is known of its input
  const auto scalars = static_cast<double>(model_.program().scalars());
  double products = 0;
  for (const auto& likelihood : model_.program().likelihoods())
    products += static_cast<double>(model_.options().starts) *
                (2 * scalars * scalars + (likelihood ? kProductsOfLikelihood : 0));
  return products;
}

Prediction OwnGraph::predicted(const Eigen::MatrixXd& inputs) const { return model_.predict(inputs); }

}  // namespace dma
