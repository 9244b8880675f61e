#include "tools/dma/fit/redundant_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_real_distribution.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine/support/text.h"

namespace dma {

namespace {

using Columns = Eigen::Ref<const Eigen::MatrixXd>;

// The shift and scale that give every column mean 0 and norm 1 over all rows of the team.
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

// Products of the standardised columns with random vectors: copies have the same three, or all of them mirrored, and
// other columns have them with a probability below 1e-20. Comparing columns themselves would take a look at all pairs.
using Products = std::array<double, 3>;
constexpr double kRounding = 1e-9;

bool are_copies(const Products& a, const Products& b) {
  double apart = 0, mirrored = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    apart = std::max(apart, std::abs(a[k] - b[k]));
    mirrored = std::max(mirrored, std::abs(a[k] + b[k]));
  }
  return std::min(apart, mirrored) <= kRounding;
}

std::vector<Products> products_of(const Columns& features, const ColumnUnits& units, WorkerTeam& team) {
  const std::size_t columns = units.mean.size(), each = Products().size();
  boost::random::mt19937_64 random(team.first());
  boost::random::uniform_real_distribution<double> between(-1, 1);
  Eigen::MatrixXd weights(features.rows(), static_cast<Eigen::Index>(each));
  for (double& w : weights.reshaped()) w = between(random);
  std::vector<double> sums(columns * each);
  for (std::size_t j = 0; j < columns; ++j)
    if (!units.is_constant[j]) {
      const auto column = features.col(static_cast<Eigen::Index>(j)).array();
      Eigen::Map<Eigen::Vector3d> own(&sums[j * each]);
      own = weights.transpose() * ((column - units.mean[j]) / units.norm[j]).matrix();
    }
  sums = summed(std::move(sums), team);
  std::vector<Products> products(columns);
  for (std::size_t j = 0; j < columns; ++j) std::copy_n(&sums[j * each], each, products[j].begin());
  return products;
}

// The first column that each column is a copy of, or itself.
std::vector<std::size_t> originals(const Columns& features, const ColumnUnits& units, WorkerTeam& team) {
  const std::vector<Products> products = products_of(features, units, team);
  std::vector<std::size_t> original(products.size()), order;
  std::iota(original.begin(), original.end(), std::size_t{0});
  for (std::size_t j = 0; j < products.size(); ++j)  // a norm that underflows leaves no finite product
    if (!units.is_constant[j] && std::ranges::all_of(products[j], [](double p) { return std::isfinite(p); }))
      order.push_back(j);
  const auto size = [&](std::size_t j) { return std::abs(products[j][0]); };
  std::ranges::stable_sort(order, {}, size);
  for (auto a = order.begin(); a != order.end(); ++a)
    for (auto b = a + 1; b != order.end() && size(*b) - size(*a) <= kRounding; ++b)
      if (const auto [first, last] = std::minmax(*a, *b); are_copies(products[*a], products[*b]))
        original[last] = std::min(original[last], first);
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
    if (units.is_constant[i])
      reasons.push_back(fmt::format("'{}' (constant)", name(i)));
    else if (original[i] != i)
      reasons.push_back(fmt::format("'{}' (as '{}')", name(i), name(original[i])));
    else
      found.kept.push_back(static_cast<Eigen::Index>(i));
  if (!reasons.empty()) found.text = fmt::format("columns ignored, because they say nothing new: {}", joined(reasons));
  return found;
}

}  // namespace dma
