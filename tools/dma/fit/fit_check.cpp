#include "tools/dma/fit/fit_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/support/error.h"
#include "models/network/bnn_check.h"
#include "tools/dma/fit/prediction_table.h"

namespace dma {

namespace {

// Numbers of any size, without squaring them.
double root_mean_square(const Eigen::ArrayXd& values) {
  const double largest = values.abs().maxCoeff();
  return largest > 0 && std::isfinite(largest) ? largest * std::sqrt((values / largest).square().mean()) : largest;
}

}  // namespace

std::string check_fit(const Bnn& model, const TrainingData& data) {
  const bool standardised = model.options().standardise;
  const std::string_view repair = repair_of_numbers(standardised);
  check_usable(model, data.inputs.topRows(1));
  // Block by block: of a million rows a prediction is larger than the table.
  constexpr Eigen::Index kRows = 1 << 14;
  Eigen::MatrixXd means(data.outputs.rows(), data.outputs.cols()), sds = means;
  for (Eigen::Index begin = 0; begin < means.rows(); begin += kRows) {
    const Eigen::Index rows = std::min(kRows, means.rows() - begin);
    const Prediction some = model.predict(data.inputs.middleRows(begin, rows));
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
          "comes near "
          "(largest: {:.3g}); {}",
          name, miss, y.abs().maxCoeff(), repair);
    if (miss > kPoor * spread && warning.empty())
      warning = fmt::format(
          "predictions of '{}' miss the rows they were learned from by {:.3g}, {:.3g} times the spread of "
          "the column: numbers are beyond what the priors can reach; {}",
          name, miss, miss / spread, repair);
  }
  return warning.empty() ? doubts_about(means, sds, data.outputs, standardised) : warning;
}

}  // namespace dma
