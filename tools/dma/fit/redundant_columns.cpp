#include "tools/dma/fit/redundant_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_real_distribution.hpp>
#include <cmath>
#include <limits>
#include <numeric>

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
  std::vector<double> extremes(2 * columns, -std::numeric_limits<double>::infinity()), sums(columns + 1),
      squares(columns);
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

// The square of the distance of two standardised columns, or of one and the mirrored other, whichever is less; no more
// is looked at than it takes to see that both are far.
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

using EqualColumns = std::vector<std::size_t>;

// Columns that may be copies of one another, each list in order: products with one random vector are then the same but
// for their sign, and comparing all pairs of many columns is avoided.
std::vector<EqualColumns> possible_copies(const Columns& features, const ColumnUnits& units, WorkerTeam& team) {
  boost::random::mt19937_64 random(team.first());
  boost::random::uniform_real_distribution<double> between(-1, 1);
  Eigen::VectorXd weights(features.rows());
  for (double& w : weights) w = between(random);
  const std::size_t columns = units.mean.size();
  std::vector<double> products(columns + 1);
  for (std::size_t j = 0; j < columns; ++j)
    if (!units.is_constant[j])
      products[j] =
          ((features.col(static_cast<Eigen::Index>(j)).array() - units.mean[j]) / units.norm[j]).matrix().dot(weights);
  products[columns] = weights.squaredNorm();
  products = summed(std::move(products), team);
  std::ranges::replace_if(products, [](double p) { return !std::isfinite(p); }, 0.0);  // a norm that underflows
  const double tolerance = 2 * kRounding * std::sqrt(products[columns]);
  std::vector<std::size_t> order;
  for (std::size_t j = 0; j < columns; ++j)
    if (!units.is_constant[j]) order.push_back(j);
  std::ranges::stable_sort(order, {}, [&](std::size_t j) { return std::abs(products[j]); });
  std::vector<EqualColumns> groups;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || std::abs(products[order[i]]) - std::abs(products[order[i - 1]]) > tolerance) groups.emplace_back();
    groups.back().push_back(order[i]);
  }
  std::erase_if(groups, [](const EqualColumns& group) { return group.size() == 1; });
  for (EqualColumns& group : groups) std::ranges::sort(group);
  return groups;
}

// Of every column the earlier one that it is a copy of, or itself. Processes ask each other once a round; a group with
// k columns that are not copies takes k of them.
std::vector<std::size_t> originals(const Columns& features, const ColumnUnits& units, WorkerTeam& team) {
  std::vector<std::size_t> original(units.mean.size());
  std::iota(original.begin(), original.end(), std::size_t{0});
  for (std::vector<EqualColumns> groups = possible_copies(features, units, team); !groups.empty();) {
    std::vector<double> distances;
    for (const EqualColumns& group : groups)
      for (std::size_t i = 1; i < group.size(); ++i) distances.push_back(distance(features, units, group[0], group[i]));
    distances = summed(std::move(distances), team);
    auto next = distances.begin();
    for (EqualColumns& group : groups) {
      const std::size_t first = group[0];
      std::erase_if(group, [&](std::size_t j) {
        if (j == first) return true;
        if (!(*next++ < kFarApart)) return false;
        original[j] = first;
        return true;
      });
    }
    std::erase_if(groups, [](const EqualColumns& group) { return group.size() < 2; });
  }
  return original;
}

}  // namespace

RedundantColumns redundant_columns(const Columns& features, const std::vector<std::string>& names,
                                   const std::shared_ptr<WorkerTeam>& team) {
  const auto name = [&](std::size_t column) { return printable(names[column]); };
  const ColumnUnits units = units_of(features, *team);
  const std::vector<std::size_t> original = originals(features, units, *team);
  RedundantColumns found;
  std::vector<std::string> reasons;
  for (std::size_t i = 0; i < original.size(); ++i)
    if (units.is_constant[i]) reasons.push_back(fmt::format("'{}' (constant)", name(i)));
    else if (original[i] != i) reasons.push_back(fmt::format("'{}' (as '{}')", name(i), name(original[i])));
    else found.kept.push_back(static_cast<Eigen::Index>(i));
  if (!reasons.empty()) found.text = fmt::format("columns ignored, because they say nothing new: {}", joined(reasons));
  return found;
}

}  // namespace dma
