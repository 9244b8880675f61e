// Shared variables of any graph learned as one Gaussian: the counterpart of Learner that keeps all correlations.
//
//   JointLearner learner(graph, standard_registry(), {y});
//   learner.fit({{x, xs}, {y, ys}});
//   learner.belief(w);
//
// Rows are kept, so that some can be forgotten and others added; memory besides: 8 P^2 bytes for P shared scalars.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/learn/joint/fit.h"
#include "engine/learn/learn.h"
#include "engine/learn/rows/row_program.h"

namespace dma {

struct JointLearnReport {
  int epochs = 0;
  double log_evidence = 0;
  double effective_scalars = 0;
  std::string line() const;
};

class JointLearner {
 public:
  // Noise and the priors' scale stay as the graph has them unless the options say they are learned.
  JointLearner(const Graph& graph, const Registry& registry, std::vector<VariableId> targets,
               SharedFitOptions options = {.learn_noise = false, .learn_scale = false});
  ~JointLearner();
  JointLearner(JointLearner&&) noexcept;

  // Learns these rows besides those it knows.
  JointLearnReport fit(const Data& data);
  // Takes back what these rows taught (numbers in the order in which they came) and solves anew without them.
  JointLearnReport forget(std::span<const std::size_t> rows);
  std::size_t rows() const;

  // Of a shared variable: the marginals of its elements.
  std::vector<Gaussian> belief(VariableId shared) const;
  // Mean and variance of the function and its noise, for every element of the targets, one example after the other.
  void predict(const Data& inputs, std::span<double> means, std::span<double> variances) const;

  const SharedState& state() const;
  double noise_variance(std::size_t output) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
  JointLearnReport learn();
};

}  // namespace dma
