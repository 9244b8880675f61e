// What a Bnn has learned, taken out and put back.
#include <algorithm>
#include <utility>

#include "engine/support/usable.h"
#include "models/network/bnn_member.h"

namespace dma {

void check_memory(const BnnOptions& options, const Bnn::Memory& memory) {
  const auto& layers = options.layers;
  // Of standardised targets, or of targets as they are: a fit that goes on squares, divides and multiplies it.
  constexpr double kLeast = 1e-300, kMost = 1e300;
  const auto check_noise = [&](const std::vector<double>& variances) {
    expect(variances.size() == layers.back(), "noise_variance has not one number for each output");
    for (const double variance : variances)
      if (!(variance >= kLeast && variance <= kMost))
        fail("a variance of the noise is not between {} and {}", kLeast, kMost);
  };
  for (const Standardiser* s : {&memory.inputs, &memory.targets})
    expect(s->fits(s->shift.size()), "shifts and scales do not fit the columns, or are no usable numbers");
  expect(memory.targets.log_from.size() == 0, "a target has a logarithmic scale");
  expect(FeatureMap(options.features).outputs(static_cast<std::size_t>(memory.inputs.shift.size())) == layers.front(),
         "the shifts of the inputs do not fit the first layer");
  expect(static_cast<std::size_t>(memory.targets.shift.size()) == layers.back(),
         "the shifts of the targets do not fit the last layer");
  check_noise(memory.noise_variance);
  expect(memory.members.size() == std::max<std::size_t>(1, options.members), "the number of members is contradictory");
  for (const auto& member : memory.members) {
    check_noise(member.noise_variance);
    expect(member.priors.size() == layers.size() - 1, "the number of priors is not the number of layers");
    for (std::size_t l = 0; l + 1 < layers.size(); ++l) {
      const std::size_t expected = layers[l + 1] * (layers[l] + (options.bias ? 1 : 0));
      const LayerPrior& prior = member.priors[l];
      expect(prior.mean.size() == expected && prior.variance.size() == expected, "the priors do not fit the layers");
      // Variance 0 is a weight known exactly, +inf one of which nothing is known.
      const bool is_usable = std::ranges::all_of(prior.variance, [](double v) { return v >= 0; }) &&
                             std::ranges::all_of(prior.mean, [](double m) { return is_moderate(m); });
      expect(is_usable, "a prior is not a usable number");
    }
  }
}

Bnn::Memory Bnn::memory(bool condensed) const {
  Memory memory{input_standardiser_, target_standardiser_, noise_variance_, {}};
  if (joint_) memory.joint = joint_->memory();
  if (neighbours_) memory.neighbours = neighbours_->memory();
  if (joint_ && !options_.is_joint()) memory.joint->network_fraction = network_fraction_;
  for (const auto& member : members_) {
    memory.members.push_back({member->noise_variance, {}, member->priors});
    Memory::Member& own = memory.members.back();
    if (!options_.is_joint()) {
      own.learner = condensed ? member->learner->condensed_memory() : member->learner->whole_memory();
      continue;
    }
    own.learner.epochs = member->joint_epochs;
    if (!condensed) continue;
    std::size_t weights = 0;
    for (const LayerPrior& prior : member->priors) weights += prior.mean.size();
    own.learner.tau = own.learner.rho = {std::vector<double>(weights)};  // files have the message of nothing here
    own.learner.active = {true};
  }
  if (condensed && memory.joint)  // where learning stands is of no use to who only predicts
    for (auto& member : memory.joint->members) member.plain = member.plain.condensed(), member.weighted = {};
  return memory;
}

void Bnn::restore(Memory memory, const LearnOptions& fit_options) {
  check_memory(options_, memory);
  input_standardiser_ = std::move(memory.inputs);
  target_standardiser_ = std::move(memory.targets);
  noise_variance_ = std::move(memory.noise_variance);
  learned_rows_.reset();
  far_.clear();
  neighbours_.reset();
  if (memory.neighbours) neighbours_.emplace(std::move(*memory.neighbours));
  if (memory.joint) {
    if (options_.is_joint()) {
      make_joint();
    } else {
      make_baseline();
      network_fraction_ = std::exchange(memory.joint->network_fraction, 1);
    }
    joint_->restore(std::move(*memory.joint));
  }
  for (std::size_t k = 0; k < members_.size(); ++k) {
    auto& saved = memory.members[k];
    members_[k]->noise_variance = std::move(saved.noise_variance);
    members_[k]->priors = std::move(saved.priors);
    make_member(k, fit_options);
    members_[k]->joint_weights.clear(), members_[k]->whole.reset();
    if (options_.is_joint()) {
      members_[k]->joint_epochs = std::move(saved.learner.epochs);
      continue;
    }
    if (!saved.learner.tau.empty()) members_[k]->learner->restore(std::move(saved.learner));
  }
}

}  // namespace dma
