#include "models/network/classifier_size.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/support/text.h"

namespace dma {

namespace {

constexpr double kProductsOfAnEpoch = 4e9;                           // 0.2 s of one core
constexpr double kProductsOfARow = 2e5, kProductsOfManyRows = 5e10;  // more rows are worth more time, up to 2.5 s
constexpr double kMostClassProducts = 5e11;                          // 25 s
constexpr double kProductsOfMembers = 2e8;
constexpr double kMostClassBytes = 4e9;
constexpr std::size_t kUnits = 50, kFewestUnits = 8;
constexpr double kMostLinearWeights = 2000, kProductsOfLinear = 1e11;
constexpr std::size_t kFewestDirections = 20;

double size_of_network(std::size_t inputs, const std::vector<std::size_t>& hidden, std::size_t classes) {
  double sum = 0, below = static_cast<double>(inputs);
  for (const std::size_t width : hidden)
    sum += (below + 1) * static_cast<double>(width), below = static_cast<double>(width);
  return sum + (below + 1) * static_cast<double>(logits_for(classes));
}

double products_of(double rows, double weights) { return rows * weights * weights + weights * weights * weights; }

// Information, its damped copy and the inverse of its factor live at once.
bool too_large(double rows, double weights) {
  return 3 * 8 * weights * weights > kMostClassBytes || products_of(rows, weights) > kMostClassProducts;
}

// The linear model must stay quick, and rows span no more directions than there are of them.
std::size_t directions_for(std::size_t rows, std::size_t inputs, std::size_t classes) {
  const double weights = std::min(kMostLinearWeights, std::sqrt(kProductsOfLinear / static_cast<double>(rows)));
  const auto affordable = static_cast<std::size_t>(weights / static_cast<double>(logits_for(classes)));
  const std::size_t most = std::min(std::max(affordable, kFewestDirections), rows - 1);
  return inputs > most + 1 ? most : 0;
}

}  // namespace

ClassifierSize classifier_size(std::size_t rows, std::size_t inputs, std::size_t classes,
                               const std::optional<std::vector<std::size_t>>& hidden, std::size_t members) {
  const auto n = static_cast<double>(rows);
  ClassifierSize size;
  std::string sizes = fmt::format("{} rows, {} inputs, {} classes", rows, inputs, classes);
  size.directions = directions_for(rows, inputs, classes);
  if (size.directions > 0) {
    inputs = size.directions + 1;
    sizes += fmt::format(", reduced to {} principal directions", size.directions);
  }
  const auto refuse_too_large = [&](double weights) {
    if (too_large(n, weights))
      fail("{}: {:.0f} weights as one Gaussian take too much memory or time; choose {}fewer columns or fewer rows",
           sizes, weights, hidden && !hidden->empty() ? "a smaller network, " : "");
  };
  refuse_too_large(size_of_network(inputs, {}, classes));
  if (hidden) {
    size.hidden = *hidden;
    refuse_too_large(size_of_network(inputs, size.hidden, classes));
  } else {
    const double most = std::clamp(kProductsOfARow * n, kProductsOfAnEpoch, kProductsOfManyRows);
    const double observed = 2 * n * static_cast<double>(logits_for(classes));
    const auto fits = [&](std::size_t units) {
      const double weights = size_of_network(inputs, {units}, classes);
      return products_of(n, weights) <= most && weights <= observed;
    };
    std::size_t units = kUnits;
    while (units > kFewestUnits && !fits(units)) --units;
    if (!too_large(n, 2 * size_of_network(inputs, {units}, classes))) size.hidden = {units};
  }
  const double weights = size_of_network(inputs, size.hidden, classes);
  size.members = size.hidden.empty() ? 0
                 : members > 0
                     ? members
                     : static_cast<std::size_t>(std::clamp(kProductsOfMembers / products_of(n, weights), 1.0, 4.0));
  if (size.hidden.empty())
    size.reason =
        fmt::format("{}: the linear model{}", sizes, hidden ? ", as asked for" : "; a network would take too long");
  else
    size.reason =
        fmt::format("{}: {} of {} hidden units{}, one Gaussian over {:.0f} weights; the linear model as a baseline",
                    sizes, size.members > 1 ? fmt::format("{} networks", size.members) : "a network",
                    joined(size.hidden, "-"), hidden ? ", as asked for" : "", weights);
  return size;
}

}  // namespace dma
