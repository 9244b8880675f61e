#include "tools/dma/idle_columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/support/text.h"

namespace dma {

namespace {

using Columns = Eigen::Ref<const Eigen::MatrixXd>;

// Of every column over all rows of the team: what makes its mean 0 and its norm 1.
struct ColumnUnits {
  std::vector<double> mean, norm;
  std::vector<bool> is_constant;
};

std::vector<double> summed(std::vector<double> own, WorkerTeam& team) {
  std::vector<double> total(own.size());
  if (!own.empty()) team.sum(own, total);
  return total;
}

ColumnUnits units_of(const Columns& features, WorkerTeam& team) {
  const auto columns = static_cast<std::size_t>(features.cols());
  std::vector<double> extremes(2 * columns, -std::numeric_limits<double>::infinity()), sums(columns + 1), squares(columns);
  const auto column = [&](std::size_t j) { return features.col(static_cast<Eigen::Index>(j)).array(); };
  for (std::size_t j = 0; j < columns && features.rows() > 0; ++j)
    extremes[j] = column(j).maxCoeff(), extremes[columns + j] = -column(j).minCoeff();
  team.largest(extremes);
  ColumnUnits units{std::vector<double>(columns), std::vector<double>(columns), std::vector<bool>(columns)};
  // In units of the largest magnitude, so that no sum leaves the range of a double.
  std::vector<double> size(columns);
  for (std::size_t j = 0; j < columns; ++j) {
    units.is_constant[j] = !(-extremes[columns + j] < extremes[j]);
    size[j] = std::max({std::abs(extremes[j]), std::abs(extremes[columns + j]), std::numeric_limits<double>::min()});
    sums[j] = (column(j) / size[j]).sum();
  }
  sums[columns] = static_cast<double>(features.rows());
  sums = summed(std::move(sums), team);
  for (std::size_t j = 0; j < columns; ++j) {
    const double mean = sums[j] / sums[columns];
    units.mean[j] = mean * size[j];
    squares[j] = (column(j) / size[j] - mean).square().sum();
  }
  squares = summed(std::move(squares), team);
  for (std::size_t j = 0; j < columns; ++j) units.norm[j] = size[j] * std::sqrt(squares[j]);
  return units;
}

constexpr double kRounding = 1e-9, kFarApart = kRounding * kRounding;

// The square of the distance of two standardised columns, or of one and the mirrored other, whichever is less; no more is
// looked at than it takes to see that both are far.
double distance(const Columns& features, const ColumnUnits& units, std::size_t a, std::size_t b) {
  double apart = 0, mirrored = 0;
  for (Eigen::Index n = 0; n < features.rows(); ++n) {
    const double x = (features(n, static_cast<Eigen::Index>(a)) - units.mean[a]) / units.norm[a],
                 y = (features(n, static_cast<Eigen::Index>(b)) - units.mean[b]) / units.norm[b];
    apart += (x - y) * (x - y), mirrored += (x + y) * (x + y);
    if (apart >= kFarApart && mirrored >= kFarApart) break;
  }
  return std::min(apart, mirrored);
}

}  // namespace

IdleColumns idle_columns(const Columns& features, const std::vector<std::string>& names, const std::shared_ptr<WorkerTeam>& team) {
  const auto name = [&](std::size_t column) { return printable(names[column]); };
  const auto columns = static_cast<std::size_t>(features.cols());
  const ColumnUnits units = units_of(features, *team);
  std::vector<double> distances;  // of all pairs, so that processes ask each other once
  for (std::size_t i = 0; i < columns; ++i)
    for (std::size_t k = 0; k < i; ++k)
      distances.push_back(units.is_constant[i] || units.is_constant[k] ? 1.0 : distance(features, units, i, k));
  distances = summed(std::move(distances), *team);
  IdleColumns found;
  std::vector<std::string> reasons;
  for (std::size_t i = 0; i < columns; ++i) {
    std::string reason;
    if (units.is_constant[i]) reason = fmt::format("'{}' (constant)", name(i));
    for (const Eigen::Index kept : found.kept) {
      const auto k = static_cast<std::size_t>(kept);
      if (!reason.empty() || !(distances[i * (i - 1) / 2 + k] < kFarApart)) continue;
      reason = fmt::format("'{}' (as '{}')", name(i), name(k));
    }
    if (reason.empty())
      found.kept.push_back(static_cast<Eigen::Index>(i));
    else
      reasons.push_back(std::move(reason));
  }
  if (!reasons.empty())
    found.text = fmt::format("columns ignored, because they say nothing new: {}", fmt::join(reasons, ", "));
  return found;
}

}  // namespace dma
