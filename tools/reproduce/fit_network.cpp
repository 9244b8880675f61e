#include "tools/reproduce/fit_network.h"

#include <algorithm>

#include "models/regression.h"

namespace dma::reproduce {

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
  options.layers = data.layers;
  options.slopes = data.slopes;
  options.noise = data.noise;
  options.seed = seed;
  Bnn net(options);
  report = net.fit(data.inputs, data.targets, fit);
  return net;
}

Fitted fit_network(const Task& task, std::uint64_t seed, const Effort& effort, const NetworkChange& change) {
  FitReport report;
  const auto net = std::make_shared<Bnn>(fitted_network(task, seed, effort, change, report));
  Fitted fitted{.predict = [net](const Eigen::MatrixXd& features) { return net->predict(features); }};
  const LearnReport& learned = report.members.at(0);
  for (const EpochRecord& record : learned.epochs) fitted.curve.push_back(-record.log_likelihood);
  fitted.more["refused"] = learned.faults;
  fitted.more["replaced"] = learned.replaced;
  fitted.more["stopped"] = learned.stop != LearnReport::Stop::limit;
  return fitted;
}

Eigen::VectorXd prior_means(const Task& task, std::uint64_t seed) {
  BnnOptions options = paper_options(task.data.layers);
  options.slopes = task.data.slopes;
  options.noise = task.data.noise;
  options.seed = seed;
  const Bnn net(options);
  std::vector<double> means;
  for (std::size_t l = 0; l + 1 < task.data.layers.size(); ++l)
    means.insert(means.end(), net.prior(l).mean.begin(), net.prior(l).mean.end());
  return Eigen::Map<const Eigen::VectorXd>(means.data(), static_cast<Eigen::Index>(means.size()));
}

}  // namespace dma::reproduce
