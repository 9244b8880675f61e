#include "factors/likelihoods/priors.h"

#include <cmath>

#include "engine/support/text.h"
#include "factors/likelihoods/table.h"

namespace dma {

std::vector<double> CategoricalPrior::prepare(std::span<const double> given, const PortComponents& components) {
  check_probabilities(given, components[0][0]);
  return {given.begin(), given.end()};
}

void CategoricalPrior::to_x(NumbersOfCategories p, std::span<CategoricalComponent> x) {
  for (std::size_t k = 0; k < x.size(); ++k)
    x[k] = p.numbers[k] > 0 ? CategoricalComponent(std::log(p.numbers[k]), 0) : CategoricalComponent::forbidden();
}

// A single number applies to all categories.
std::vector<double> DirichletPrior::prepare(std::span<const double> given, const PortComponents& components) {
  const std::size_t categories = components[0][0];
  if (given.size() != 1 && given.size() != categories)
    fail("{} numbers are given; 1 or {} (one for each category) are expected", given.size(), categories);
  std::vector<double> all(given.begin(), given.end());
  all.resize(categories, given[0]);
  return all;
}

void DirichletPrior::to_x(NumbersOfCategories p, std::span<DirichletComponent> x) {
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = {p.numbers[k] - 1, 0};
}

Kind gamma_prior_kind() {
  return kind("gamma_prior", "gamma(x; shape, rate)")
      .output("x", "gamma")
      .parameter("shape", above(0), finite())
      .parameter("rate", above(0), finite())
      .log_density([](auto v, auto p) {
        return p[0] * std::log(p[1]) - std::lgamma(p[0]) + (p[0] - 1) * std::log(v[0]) - p[1] * v[0];
      })
      .message<&GammaPrior::to_x>(kExact, "x");
}

Kind beta_prior_kind() {
  return kind("beta_prior", "beta(x; a, b)")
      .output("x", "beta")
      .parameter("a", above(0), finite())
      .parameter("b", above(0), finite())
      .message<&BetaPrior::to_x>(kExact, "x");
}

Kind bernoulli_prior_kind() {
  return kind("bernoulli_prior", "x = 1 with the probability")
      .output("x", "bernoulli")
      .parameter("probability", at_least(0), at_most(1))
      .message<&BernoulliPrior::to_x>(kExact, "x");
}

Kind dirichlet_prior_kind() {
  return kind("dirichlet_prior", "dirichlet(x; concentration)")
      .output("x", "dirichlet")
      .table_parameter("concentration", &DirichletPrior::prepare, above(0) & finite())
      .message<&DirichletPrior::to_x>(kExact, "x");
}

Kind categorical_prior_kind() {
  return kind("categorical_prior", "x = k with probability k")
      .output("x", "categorical")
      .table_parameter("probability", &CategoricalPrior::prepare, at_least(0))
      .weights([](std::span<const double> numbers) { return numbers; })
      .message<&CategoricalPrior::to_x>(kExact, "x");
}

}  // namespace dma
