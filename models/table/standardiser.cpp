#include "models/table/standardiser.h"

#include <cmath>
#include <limits>

#include "engine/support/fields.h"

namespace dma {

namespace {

// The power of two at or below the largest magnitude: dividing by it rounds nothing, and squares and sums of what is
// left stay in range. 1 if all are 0.
double unit_of(const Eigen::ArrayXd& values, const TeamSum& sum) {
  double largest = values.size() == 0 ? 0.0 : values.abs().maxCoeff();
  sum.team().largest({&largest, 1});
  return largest > 0 && std::isfinite(largest) ? std::ldexp(1.0, std::ilogb(largest)) : 1.0;
}

double mean_of(const Eigen::ArrayXd& values, const TeamSum& sum, const Eigen::VectorXd& weights) {
  if (weights.size() > 0) return weights.dot(values.matrix()) / weights.sum();
  if (sum.team().size() == 1) return values.mean();
  const double total = sum([&](std::size_t begin, std::size_t end) {
    return values.segment(static_cast<Eigen::Index>(begin), static_cast<Eigen::Index>(end - begin)).sum();
  });
  return total / sum([](std::size_t begin, std::size_t end) { return static_cast<double>(end - begin); });
}

}  // namespace

Eigen::MatrixXd with_logs(Eigen::MatrixXd data, const Eigen::RowVectorXd& log_from) {
  for (Eigen::Index j = 0; j < log_from.size(); ++j) {
    const double from = log_from(j);
    if (from == 0) continue;
    for (double& x : data.col(j)) x = std::log(std::max(x, from)) + std::min(0.0, (x - from) / from);
  }
  return data;
}

Standardiser Standardiser::identity(Eigen::Index columns) {
  return {Eigen::RowVectorXd::Zero(columns), Eigen::RowVectorXd::Ones(columns)};
}

Standardiser Standardiser::of(const Eigen::MatrixXd& data, const Eigen::VectorXd& weights,
                              const Eigen::RowVectorXd& log_from) {
  const auto alone = local_team(1);
  return of(data, TeamSum(*alone, {{0, static_cast<std::size_t>(data.rows())}}), weights, log_from);
}

Standardiser Standardiser::of(const Eigen::MatrixXd& data, const TeamSum& sum, const Eigen::VectorXd& weights,
                              const Eigen::RowVectorXd& log_from) {
  if (log_from.size() > 0) {
    Standardiser of_logs = of(with_logs(data, log_from), sum, weights);
    of_logs.log_from = log_from;
    return of_logs;
  }
  Standardiser s = identity(data.cols());
  for (Eigen::Index j = 0; j < data.cols(); ++j) {
    const Eigen::ArrayXd column = data.col(j);
    const double unit = unit_of(column, sum);
    const Eigen::ArrayXd scaled = column / unit;
    const double mean = mean_of(scaled, sum, weights);
    const Eigen::ArrayXd deviations = scaled - mean;
    const double spread = unit_of(deviations, sum),
                 sd = spread * std::sqrt(mean_of((deviations / spread).square(), sum, weights));
    s.shift(j) = mean * unit;
    // Rounding gives a constant column a spread of a few ulps of its value. Below the smallest normal number a
    // deviation has no digits left.
    constexpr double kConstant = 1e-12;
    if (sd > kConstant * std::abs(mean) && sd * unit >= std::numeric_limits<double>::min()) s.scale(j) = sd * unit;
  }
  return s;
}

void list_fields(Fields& f, Standardiser& value) { DMA_LIST(shift, scale, log_from); }

double Standardiser::mean_log(const Eigen::MatrixXd& data, const Eigen::VectorXd& weights) const {
  double sum = 0;
  for (Eigen::Index j = 0; j < log_from.size(); ++j)
    if (is_log(j)) {
      const Eigen::ArrayXd logs = data.col(j).array().log();
      sum += weights.size() > 0 ? weights.dot(logs.matrix()) / weights.sum() : logs.mean();
    }
  return sum / static_cast<double>(shift.size());
}

bool Standardiser::fits(Eigen::Index columns) const {
  return shift.size() == columns && scale.size() == columns && shift.allFinite() && scale.allFinite() &&
         (scale.array() >= std::numeric_limits<double>::min()).all() &&
         (log_from.size() == 0 ||
          (log_from.size() == columns && log_from.allFinite() && (log_from.array() >= 0).all()));
}

Eigen::MatrixXd Standardiser::apply(const Eigen::MatrixXd& data) const {
  if (log_from.size() > 0) return Standardiser{shift, scale}.apply(with_logs(data, log_from));
  Eigen::MatrixXd result(data.rows(), data.cols());
  for (Eigen::Index j = 0; j < data.cols(); ++j) {
    const auto column = data.col(j).array();
    // Differences of the largest numbers leave the range of a double; a quarter of each does not.
    constexpr double kLarge = std::numeric_limits<double>::max() / 4;
    const bool is_large = std::abs(shift(j)) > kLarge || (column.abs() > kLarge).any();
    const double unit = is_large ? 0.25 : 1.0;
    result.col(j) = (column * unit - shift(j) * unit) / (scale(j) * unit);
  }
  return result;
}

Eigen::RowVectorXd Standardiser::centre() const {
  Eigen::RowVectorXd all = shift;
  for (Eigen::Index j = 0; j < log_from.size(); ++j)
    if (const double from = log_from(j); from > 0) {
      const double above = shift(j) - std::log(from);
      all(j) = from * (above < 0 ? 1 + above : std::exp(above));
    }
  return all;
}

Eigen::MatrixXd Standardiser::usual() const {
  Eigen::MatrixXd rows = centre().replicate(3, 1);
  for (Eigen::Index j = 0; j < scale.size(); ++j)
    if ((log_from.size() == 0 || log_from(j) == 0) && std::isfinite(std::abs(shift(j)) + scale(j)))
      rows(1, j) += scale(j), rows(2, j) -= scale(j);
  return rows;
}

Eigen::MatrixXd Standardiser::undo(const Eigen::MatrixXd& data) const {
  // In smaller units where a product may leave the range that its sum with the shift is back in.
  constexpr double kLarge = 0x1p+960, kSmaller = 0x1p-60;
  Eigen::MatrixXd result(data.rows(), data.cols());
  for (Eigen::Index j = 0; j < data.cols(); ++j) {
    const double unit = scale(j) > kLarge ? kSmaller : 1.0;
    result.col(j) = (data.col(j).array() * (scale(j) * unit) + shift(j) * unit) / unit;
  }
  return result;
}

Eigen::MatrixXd Standardiser::undo_scale(const Eigen::MatrixXd& deviations) const {
  return deviations.array().rowwise() * scale.array();
}

}  // namespace dma
