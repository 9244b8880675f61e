#include "models/decisions/decision.h"

#include <algorithm>
#include <cmath>

#include "engine/support/text.h"

namespace dma {

namespace {

// For each value of the observed variable and each action: the utility times the probability of that value.
std::vector<std::vector<double>> weighted_utilities(const std::vector<double>& joint, std::size_t combinations,
                                                    const std::vector<double>& utility) {
  if (utility.empty() || utility.size() % combinations != 0)
    fail(
        "decide: {} utilities are given; a number for each action "
        "and each of the {} combinations of the causes is expected",
        utility.size(), combinations);
  for (const double u : utility)
    if (!std::isfinite(u)) fail("decide: a utility is {}; a finite number is expected", u);
  std::vector<std::vector<double>> out;
  for (std::size_t first = 0; first < joint.size(); first += combinations) {
    auto& actions = out.emplace_back(utility.size() / combinations);
    for (std::size_t i = 0; i < utility.size(); ++i)
      actions[i / combinations] += joint[first + i % combinations] * utility[i];
  }
  return out;
}

double largest(const std::vector<double>& numbers) { return *std::ranges::max_element(numbers); }

}  // namespace

Decision decide(const ExactPosterior& posterior, const std::vector<ElementOf>& causes,
                const std::vector<double>& utility) {
  const std::vector<double> joint = posterior.marginal(causes);
  Decision out;
  out.utilities = weighted_utilities(joint, joint.size(), utility)[0];
  out.utility = largest(out.utilities);
  out.action = static_cast<std::size_t>(std::ranges::find(out.utilities, out.utility) - out.utilities.begin());
  return out;
}

double value_of_information(const ExactPosterior& posterior, const std::vector<ElementOf>& causes,
                            const std::vector<double>& utility, ElementOf seen) {
  std::vector<ElementOf> all{seen};
  all.insert(all.end(), causes.begin(), causes.end());
  const std::size_t combinations = posterior.marginal(causes).size();
  const auto by_value = weighted_utilities(posterior.marginal(all), combinations, utility);
  double informed = 0;
  std::vector<double> blind(utility.size() / combinations);
  for (const std::vector<double>& actions : by_value) {
    informed += largest(actions);
    for (std::size_t a = 0; a < blind.size(); ++a) blind[a] += actions[a];
  }
  return std::max(0.0, informed - largest(blind));
}

}  // namespace dma
