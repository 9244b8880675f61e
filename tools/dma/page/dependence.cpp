#include "tools/dma/page/dependence.h"

#include <algorithm>
#include <cmath>

#include "engine/support/whole_number.h"

namespace dma::report {

Dependence partial_dependence(const Eigen::MatrixXd& rows, Eigen::Index column, const Eigen::VectorXd& x,
                              const Model& model) {
  const Eigen::Index count = rows.rows();
  Eigen::MatrixXd all = rows.replicate(x.size(), 1);
  for (Eigen::Index i = 0; i < x.size(); ++i) all.col(column).segment(i * count, count).setConstant(x(i));
  const Response response = model(all);
  Dependence found{x, Eigen::MatrixXd(x.size(), response.mean.cols()), Eigen::MatrixXd(x.size(), response.sd.cols())};
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    found.mean.row(i) = response.mean.middleRows(i * count, count).colwise().mean();
    if (response.sd.cols() > 0) found.sd.row(i) = response.sd.middleRows(i * count, count).colwise().mean();
  }
  return found;
}

double quantile_of(std::vector<double> values, double p) {
  std::ranges::sort(values);
  const double place = p * static_cast<double>(values.size() - 1);
  const auto low = whole_number<std::size_t>(place, 0, values.size() - 1);
  const std::size_t high = std::min(low + 1, values.size() - 1);
  const double fraction = place - static_cast<double>(low);
  return (1 - fraction) * values[low] + fraction * values[high];
}

Eigen::VectorXd dependence_grid(const Eigen::VectorXd& values, Eigen::Index most) {
  std::vector<double> distinct(values.begin(), values.end());
  std::ranges::sort(distinct);
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  if (static_cast<Eigen::Index>(distinct.size()) <= most)
    return Eigen::Map<const Eigen::VectorXd>(distinct.data(), static_cast<Eigen::Index>(distinct.size()));
  const std::vector<double> all(values.begin(), values.end());
  double low = quantile_of(all, 0.01), high = quantile_of(all, 0.99);
  if (!(low < high)) low = distinct.front(), high = distinct.back();
  Eigen::VectorXd grid(most);
  for (Eigen::Index i = 0; i < most; ++i) {
    const double fraction = static_cast<double>(i) / static_cast<double>(most - 1);
    grid(i) = (1 - fraction) * low + fraction * high;  // high - low may be beyond the largest double
  }
  return grid;
}

}  // namespace dma::report
