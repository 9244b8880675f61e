#include "factors/likelihoods/priors.h"

#include "engine/support/error.h"
#include "factors/likelihoods/table.h"

namespace dma {

std::vector<double> CategoricalPrior::prepare(std::span<const double> given, const PortLanes& lanes) {
  check_probabilities(given, lanes[0][0]);
  return {given.begin(), given.end()};
}

void CategoricalPrior::to_x(NumbersOfCategories p, std::span<CategoricalLane> x) {
  for (std::size_t k = 0; k < x.size(); ++k)
    x[k] = p.numbers[k] > 0 ? CategoricalLane(std::log(p.numbers[k]), 0) : CategoricalLane::forbidden();
}

// One number serves all categories.
std::vector<double> DirichletPrior::prepare(std::span<const double> given, const PortLanes& lanes) {
  const std::size_t categories = lanes[0][0];
  if (given.size() != 1 && given.size() != categories)
    fail("{} numbers are given; 1 or {} (one for each category) are expected", given.size(), categories);
  std::vector<double> all(given.begin(), given.end());
  all.resize(categories, given[0]);
  return all;
}

void DirichletPrior::to_x(NumbersOfCategories p, std::span<DirichletLane> x) {
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = {p.numbers[k] - 1, 0};
}

}  // namespace dma
