#include "tools/dma/fit/saved_fit.h"

#include "engine/support/error.h"
#include "engine/support/whole_number.h"
#include "models/network/bnn_check.h"
#include "tools/dma/fit/prediction_table.h"

namespace dma {

SavedBnn saved_fit(const Bnn& net, const TrainingData& data, const LearnOptions& options, const FitReport& report) {
  SavedBnn saved{.features = data.features,
                 .targets = data.targets,
                 .options = net.options(),
                 .memory = net.memory(true),
                 .training = {.rows = data.rows(), .held_out_rows = data.held_out_rows(),
                              .weight = data.weights.sum(), .options = options},
                 .coding = data.coding};
  saved.options.members = report.members.size();
  saved.memory.members.resize(report.members.size());
  if (saved.options.is_joint() && saved.memory.joint) saved.memory.joint->members.resize(report.members.size());
  saved.training.form = report.form;
  saved.training.left_out = report.left_out;
  saved.training.far = report.far;
  for (const LearnReport& member : report.members) saved.training.stops.push_back(member.stop);
  try {
    check_saved(saved);  // as whoever reads the file will
  } catch (const Error& e) {
    fail("the fit failed: {}; {}, or another --method or --noise", e.what(),
         repair_of_numbers(saved.options.standardise));
  }
  return saved;
}

bool learn_more(Bnn& net, SavedBnn& saved, const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& outputs,
                const Eigen::VectorXd& weights) {
  double& weight = saved.training.weight;
  const double added = total_weight(inputs.rows(), weights);
  if (!(weight > 0) && weights.size() > 0) weight = static_cast<double>(saved.training.rows);
  const std::size_t known =
      weight > 0 ? whole_number<std::size_t>(weight + 0.5, 1, 1'000'000'000'000'000) : saved.training.rows;
  const bool settled = net.update(inputs, outputs, known, weights);
  check_prediction(net.predict(inputs), saved.targets);
  saved.memory = net.memory(true);
  saved.training.rows += static_cast<std::size_t>(inputs.rows());
  if (weight > 0) weight += added;
  saved.training.left_out.clear();  // of the old rows alone
  saved.source.clear();
  try {
    check_saved(saved);  // as whoever reads the file will
  } catch (const Error& e) {
    fail("the update failed: {}; the new rows are too far from the training data", e.what());
  }
  return settled;
}

}  // namespace dma
