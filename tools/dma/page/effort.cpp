#include "tools/dma/page/effort.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "engine/support/shuffle.h"
#include "engine/support/whole_number.h"

namespace dma::report {

Effort effort_for(double products_per_row, Eigen::Index rows, Eigen::Index columns, Eigen::Index outputs) {
  constexpr double kProducts = 2e10, kMostProducts = 3e11;  // about two seconds of one core, and half a minute
  constexpr Eigen::Index kLeastRows = 50, kMostRows = 1000, kMostAveraged = 100, kLeastAveraged = 20;
  // The cost of a row, whatever the size of the model, is at least this.
  const double cost = std::max(products_per_row, 1e5);
  Effort effort;
  const double per_row = effort.shuffles * static_cast<double>(columns) * cost;
  effort.rows = std::min(rows, whole_number<Eigen::Index>(kProducts / per_row, kLeastRows, kMostRows));
  effort.columns = whole_number<Eigen::Index>(
      kMostProducts / (effort.shuffles * static_cast<double>(effort.rows) * cost), 1, columns);
  if (outputs > 1) effort.dependences = std::max<Eigen::Index>(2, 6 / outputs);
  const double curves = static_cast<double>(std::min(columns, effort.dependences * outputs) * effort.grid);
  effort.dependence_rows =
      std::min(rows, whole_number<Eigen::Index>(kProducts / (curves * cost), kLeastAveraged, kMostAveraged));
  return effort;
}

std::vector<Eigen::Index> columns_to_shuffle(const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& predicted,
                                             Eigen::Index most) {
  std::vector<Eigen::Index> order(static_cast<std::size_t>(inputs.cols()));
  std::iota(order.begin(), order.end(), Eigen::Index{0});
  if (inputs.cols() <= most) return order;
  const auto direction = [](const Eigen::VectorXd& values) {
    const double largest = values.cwiseAbs().maxCoeff();
    Eigen::VectorXd centred = largest > 0 ? (values / largest).eval() : values;
    centred.array() -= centred.mean();
    const double norm = centred.norm();
    return norm > 0 ? (centred / norm).eval() : centred;
  };
  Eigen::VectorXd goes_with = Eigen::VectorXd::Zero(inputs.cols());
  for (Eigen::Index j = 0; j < predicted.cols(); ++j) {
    const Eigen::VectorXd output = direction(predicted.col(j));
    for (Eigen::Index i = 0; i < inputs.cols(); ++i)
      goes_with(i) = std::max(goes_with(i), std::abs(direction(inputs.col(i)).dot(output)));
  }
  std::ranges::stable_sort(order, [&](Eigen::Index a, Eigen::Index b) { return goes_with(a) > goes_with(b); });
  order.resize(static_cast<std::size_t>(most));
  std::ranges::sort(order);
  return order;
}

std::vector<Eigen::Index> sample_rows(Eigen::Index rows, Eigen::Index most, std::uint64_t seed) {
  constexpr std::uint64_t kPurpose = 0xd1b54a32d192ed03;  // its own stream, apart from the seed's other uses
  std::vector<Eigen::Index> order = random_order(rows, seed ^ kPurpose);
  if (rows > most) order.resize(static_cast<std::size_t>(most));
  std::ranges::sort(order);
  return order;
}

}  // namespace dma::report
