// Networks for numbers: learning, and whether what was learned is worth saving.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/support/error.h"
#include "engine/support/whole_number.h"
#include "models/network/bnn_check.h"
#include "tools/dma/fit/prediction_table.h"
#include "tools/dma/fit/table_model.h"

namespace dma {

namespace {

// Members that an interruption left without a single epoch are no part of the model. An Error if whoever reads the file
// would refuse it.
SavedBnn saved_fit(const Bnn& net, const TrainingData& data, const LearnOptions& options, const FitReport& report) {
  SavedBnn saved{.features = data.features,
                 .targets = data.targets,
                 .options = net.options(),
                 .memory = net.memory(true),
                 .training = {.rows = data.rows(),
                              .held_out_rows = data.held_out_rows(),
                              .weight = data.weights.sum(),
                              .options = options},
                 .coding = data.coding};
  saved.options.members = report.members.size();
  saved.memory.members.resize(report.members.size());
  if (saved.options.is_joint() && saved.memory.joint) saved.memory.joint->members.resize(report.members.size());
  saved.training.form = report.form;
  saved.training.left_out = report.left_out;
  saved.training.far = report.far;
  for (const LearnReport& member : report.members) saved.training.stops.push_back(member.stop);
  try {
    check_saved(saved);
  } catch (const Error& e) {
    fail("the fit failed: {}; {}, or another method or noise", e.what(), repair_of_numbers(saved.options.standardise));
  }
  return saved;
}

}  // namespace

Learned learn_network(TrainingData& data, const NetworkFit& fit, const FitWatch& watch) {
  const NetworkSettings& settings = fit.settings;
  LearnOptions watched = settings.fit;
  Bnn net = fit.begin(settings.network, watched);
  net.keep_going_while(watch.goes_on, watch.seconds_left);
  const auto on_epoch = [&](const BnnEpoch& e) {
    const EpochRecord& r = e.record;
    if (fit.on_epoch && !fit.on_epoch(e, net)) return false;
    return !watch.on_epoch || watch.on_epoch({e.member, r.epoch, r.log_likelihood, r.seconds, {}});
  };
  const FitReport report = net.fit(data.inputs, data.outputs, watched, on_epoch, data.weights);
  if (report.interrupted && fit.on_interruption) fit.on_interruption(net);
  data.drop(report.far);
  auto model = std::make_shared<NetworkModel>(saved_fit(net, data, settings.fit, report));
  Learned learned{.model = nullptr,
                  .interrupted = report.interrupted,
                  .reason = settings.network.choose_width ? report.form : settings.reason,
                  .line = report.line(),
                  .copies = report.copies,
                  .curves = model->curves(),
                  .left_out = net.left_out()};
  learned.model = std::move(model);
  return learned;
}

std::string NetworkModel::check(const TrainingData& data) const {
  const std::string_view repair = repair_of_numbers(standardises());
  check_usable(net_, data.inputs.topRows(1));
  // Block by block: of a million rows a prediction is larger than the table.
  constexpr Eigen::Index kRows = 1 << 14;
  Eigen::MatrixXd means(data.outputs.rows(), data.outputs.cols()), sds = means;
  for (Eigen::Index begin = 0; begin < means.rows(); begin += kRows) {
    const Eigen::Index rows = std::min(kRows, means.rows() - begin);
    const Prediction some = net_.predict(data.inputs.middleRows(begin, rows));
    check_prediction(some, data.targets, begin);
    means.middleRows(begin, rows) = some.mean;
    sds.middleRows(begin, rows) = some.sd;
  }
  std::string warning;
  for (Eigen::Index j = 0; j < data.outputs.cols(); ++j) {
    const Eigen::ArrayXd y = data.outputs.col(j).array(), mean = means.col(j).array();
    const double middle = (y / static_cast<double>(y.size())).sum();
    const double miss = root_mean_square(mean - y), spread = root_mean_square(y - middle);
    const std::string& name = data.targets[static_cast<std::size_t>(j)];
    constexpr double kNonsense = 10, kPoor = 3;
    if (miss > kNonsense * y.abs().maxCoeff())
      fail(
          "the fit failed: predictions of '{}' miss the rows they were learned from by {:.3g}, which no value there "
          "comes near (largest: {:.3g}); {}",
          name, miss, y.abs().maxCoeff(), repair);
    if (miss > kPoor * spread && warning.empty())
      warning = fmt::format(
          "predictions of '{}' miss the rows they were learned from by {:.3g}, {:.3g} times the spread of the column: "
          "numbers are beyond what the priors can reach; {}",
          name, miss, miss / spread, repair);
  }
  return warning.empty() ? doubts_about(means, sds, data.outputs, standardises()) : warning;
}

void NetworkModel::judge(const TrainingData& data) {
  saved_.training.held_out = scores_of(
      [&](Eigen::Index begin, Eigen::Index rows) { return net_.predict(data.held_out_inputs.middleRows(begin, rows)); },
      data.held_out_outputs, data.held_out_weights);
}

bool NetworkModel::update(const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& outputs,
                          const Eigen::VectorXd& weights) {
  if (saved_.is_checkpoint()) fail("this is a checkpoint of a fit that has not ended; go on with --resume");
  if (!saved_.options.is_joint())
    fail(
        "this model was learned by sweeps of messages, and rows are added to a joint fit alone; fit all rows together");
  TrainingRecord& training = saved_.training;
  if (!(training.weight > 0) && weights.size() > 0) training.weight = static_cast<double>(training.rows);
  const std::size_t known =
      training.weight > 0 ? whole_number<std::size_t>(training.weight + 0.5, 1, 1'000'000'000'000'000) : training.rows;
  const bool settled = net_.update(inputs, outputs, known, weights);
  (void)predict(inputs);
  saved_.memory = net_.memory(true);
  training.rows += static_cast<std::size_t>(inputs.rows());
  if (training.weight > 0) training.weight += total_weight(inputs.rows(), weights);
  training.left_out.clear();  // of the old rows alone
  saved_.source.clear();
  try {
    check_saved(saved_);
  } catch (const Error& e) {
    fail("the update failed: {}; the new rows are too far from the training data", e.what());
  }
  return settled;
}

double NetworkModel::products_per_row() const {
  const auto outputs = static_cast<double>(saved_.targets.size());
  const bool linear = saved_.memory.joint && saved_.memory.joint->network_fraction == 0;
  const double members = linear ? 1 : static_cast<double>(saved_.memory.members.size());
  double weights = linear ? outputs * static_cast<double>(saved_.features.size() + 1) : 0;
  if (!linear)
    for (const LayerPrior& prior : saved_.memory.members.at(0).priors)
      weights += static_cast<double>(prior.mean.size());
  if (!saved_.options.is_joint()) return 100 * members * weights;  // one sweep of messages
  constexpr double kNeighbours = 3e5;                              // a matrix over the nearest rows, a search
  return (saved_.memory.neighbours ? kNeighbours * outputs : 0) +
         2 * members * outputs * weights * std::min(weights, outputs * static_cast<double>(rows()));
}

}  // namespace dma
