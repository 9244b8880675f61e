#include <algorithm>
#include <cmath>

#include "models/bnn_file.h"

namespace dma {

void check_saved(const SavedBnn& saved) {
  const auto expect = [](bool holds, std::string_view what) {
    if (!holds) fail("{}", what);
  };
  const auto all_above = [](const auto& values, double bound) {
    return std::ranges::all_of(values, [=](double value) { return value > bound && std::isfinite(value); });
  };
  const auto& layers = saved.options.layers;
  expect(layers.size() >= 2, "there are fewer than two layers");
  expect(FeatureMap(saved.options.features).outputs(saved.features.size()) == layers.front(),
         "the names of the features do not fit the first layer");
  expect(saved.targets.size() == layers.back(), "the names of the targets do not fit the last layer");
  for (const auto& [s, size] : {std::pair{&saved.memory.inputs, saved.features.size()},
                                std::pair{&saved.memory.targets, saved.targets.size()}}) {
    const auto columns = static_cast<Eigen::Index>(size);
    expect(s->shift.size() == columns && s->scale.size() == columns, "shifts and scales do not fit the columns");
    expect(s->shift.allFinite() && all_above(s->scale, 0), "a shift or scale is not a usable number");
  }
  const auto is_noise = [&](const std::vector<double>& variances) {
    return variances.size() == layers.back() && all_above(variances, 0);
  };
  expect(is_noise(saved.memory.noise_variance), "the noise variances are not usable");
  expect(saved.memory.members.size() == saved.options.members, "the number of members is contradictory");
  for (const auto& member : saved.memory.members) {
    expect(is_noise(member.noise_variance), "the noise variances of a member are not usable");
    expect(member.priors.size() == layers.size() - 1, "the number of priors is not the number of layers");
    std::size_t weights = 0;
    for (std::size_t l = 0; l + 1 < layers.size(); ++l) {
      const std::size_t expected = layers[l + 1] * (layers[l] + (saved.options.bias ? 1 : 0));
      const LayerPrior& prior = member.priors[l];
      expect(prior.mean.size() == expected && prior.variance.size() == expected, "the priors do not fit the layers");
      expect(all_above(prior.variance, 0) && all_above(prior.mean, -kInfinity), "a prior is not a usable number");
      weights += expected;
    }
    const Learner::Memory& learned = member.learner;
    for (std::size_t b = 0; b < learned.tau.size(); ++b) {
      expect(learned.tau[b].size() == weights && learned.rho[b].size() == weights,
             "the messages do not fit the layers");
      expect(all_above(learned.rho[b], -kInfinity) && all_above(learned.tau[b], -kInfinity),
             "a message is not a usable number");
    }
  }
}

}  // namespace dma
