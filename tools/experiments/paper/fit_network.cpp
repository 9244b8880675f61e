// The library's own network on a task, by one of its methods.
#include <algorithm>

#include "models/network/bnn.h"
#include "tools/experiments/paper/methods.h"

namespace dma::reproduce {

namespace {

std::vector<LayerPrior> data_prior(const std::vector<std::size_t>& layers) {
  const auto count = static_cast<double>(layers.size() - 1);
  std::vector<LayerPrior> priors;
  for (std::size_t l = 0; l + 1 < layers.size(); ++l) {
    const std::size_t weights = layers[l] * layers[l + 1];
    priors.push_back({std::vector<double>(weights, 0.0),
                      std::vector<double>(weights, (1 + 1 / count) / static_cast<double>(layers[l]))});
  }
  return priors;
}

}  // namespace

Bnn fitted_network(const Task& task, std::uint64_t seed, const Effort& effort, const NetworkChange& change,
                   FitReport& report) {
  const validation::PaperTask& data = task.data;
  BnnOptions options = paper_options(data.layers);
  LearnOptions fit = task.fit;
  if (change.by_default) {
    const std::vector<std::size_t> hidden(data.layers.begin() + 1, data.layers.end() - 1);
    RegressionSettings settings = regression_settings(data.layers.front(), hidden, data.layers.back(),
                                                      static_cast<std::size_t>(data.inputs.rows()));
    options = settings.network;
    fit = settings.fit;
    fit.epochs = std::min(fit.epochs, effort.epochs);
    options.bias = options.standardise = options.learn_noise = false;  // the task has neither bias nor unknown scales
  } else {
    options.method = change.method;
    options.kind_methods = change.kind_methods;
  }
  if (options.is_joint() && !change.by_default) {
    // Without mini-batches; the limits of the default.
    fit =
        regression_settings(data.layers.front(), {1}, data.layers.back(), static_cast<std::size_t>(data.inputs.rows()))
            .fit;
    options.smoothing = change.smoothing;
  }
  if (change.tolerance) fit.tolerance = *change.tolerance;
  if (change.data_prior) options.priors = data_prior(data.layers);
  options.layers = data.layers;
  options.slopes = change.linear ? Numbers(1.0) : Numbers(data.slopes);
  options.noise = data.noise;
  options.seed = seed;
  Bnn net(options);
  report = net.fit(data.inputs, data.targets, fit);
  return net;
}

Fitted fit_network(const Task& task, std::uint64_t seed, const Effort& effort, const NetworkChange& change) {
  constexpr std::uint64_t kApart = 1'000'000;  // seeds of further starts
  std::vector<std::shared_ptr<Bnn>> nets;
  Fitted fitted;
  double refused = 0, replaced = 0;
  bool stopped = true;
  for (std::size_t k = 0; k < change.starts; ++k) {
    FitReport report;
    nets.push_back(std::make_shared<Bnn>(fitted_network(task, seed + k * kApart, effort, change, report)));
    const LearnReport& learned = report.members.at(0);
    if (k == 0)
      for (const EpochRecord& record : learned.epochs) fitted.curve.push_back(-record.log_likelihood);
    refused += static_cast<double>(learned.faults);
    replaced += static_cast<double>(learned.replaced);
    stopped = stopped && learned.stop != LearnReport::Stop::limit && learned.stop != LearnReport::Stop::diverged;
  }
  fitted.predict = [nets](const Eigen::MatrixXd& features) {
    if (nets.size() == 1) return nets[0]->predict(features);
    std::vector<PredictionComponent> all;
    for (const auto& net : nets)
      for (PredictionComponent& own : net->predict(features).components) {
        if (own.weight.size() == 0) own.weight = Eigen::MatrixXd::Ones(own.mean.rows(), own.mean.cols());
        own.weight /= static_cast<double>(nets.size());
        all.push_back(std::move(own));
      }
    return Prediction::mix(std::move(all));
  };
  fitted.more["refused"] = refused;
  fitted.more["replaced"] = replaced;
  fitted.more["stopped"] = stopped;
  return fitted;
}

Eigen::VectorXd prior_means(const Task& task, std::uint64_t seed) {
  BnnOptions options = paper_options(task.data.layers);
  options.slopes = task.data.slopes;
  options.noise = task.data.noise;
  options.seed = seed;
  const Bnn net(options);
  std::vector<double> means;
  for (std::size_t l = 0; l + 1 < task.data.layers.size(); ++l) {
    const LayerPrior prior = net.prior(l);
    means.insert(means.end(), prior.mean.begin(), prior.mean.end());
  }
  return Eigen::Map<const Eigen::VectorXd>(means.data(), static_cast<Eigen::Index>(means.size()));
}

}  // namespace dma::reproduce
