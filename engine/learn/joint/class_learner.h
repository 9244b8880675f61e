// Classes learned by any graph that computes a logit for each: the counterpart of JointLearner where a row has a class
// instead of a number.
//
//   const auto logits = add(g, matrix_product(g, w, features), b);      // an element for each class; one: two classes
//   ClassLearner learner(g, standard_registry(), logits);
//   learner.fit({{x, xs}}, classes);                                    // of the examples, from 0
//   Matrix p = learner.predict({{x, new_xs}});                          // examples x classes
//
// The graph becomes a row program (row_program.h), whose shared scalars are one Gaussian: Gauss-Newton steps in the
// curvature of the softmax, the scale of the prior by evidence, 8 P^2 bytes for P scalars (class_fit.h).
#pragma once

#include <memory>

#include "engine/learn/joint/class_posterior.h"
#include "engine/learn/joint/joint_learner.h"

namespace dma {

struct ClassLearnOptions {
  int epochs = 40;           // of every start, at most
  bool learn_scale = true;   // one factor on the prior precisions of all shared variables ...
  std::vector<VariableId> unscaled = {};  // ... but these, such as biases of the logits
  // Their prior means are where they start: hidden units that the examples do not need stay as they were drawn.
  std::vector<VariableId> anchored = {};
  // Fits from different draws of the prior, mixed in equal parts. Where every shared scalar has influence at the
  // prior's mean, as in a linear model, the first starts there.
  std::size_t starts = 1;
  std::uint64_t seed = 1;
  std::size_t jobs = 1;      // threads; no result depends on them
  std::function<bool(std::size_t start, const ClassEpoch&)> on_epoch = {};  // false stops
};

class ClassLearner {
 public:
  // `logits` is a computed variable. An Error says what of the graph cannot be learned so, and what to do.
  ClassLearner(const Graph& graph, const Registry& registry, VariableId logits, ClassLearnOptions options = {});

  JointLearnReport fit(const Data& inputs, std::span<const Index> classes);
  Matrix predict(const Data& inputs) const;
  // The same of the learned examples, each as if it had not been learned.
  const Matrix& left_out() const { return left_out_; }
  // Of a shared variable: the moments of its elements, one by one.
  std::vector<Gaussian> belief(VariableId shared) const;
  const RowProgram& program() const { return program_; }

  // All that was learned, as text, for a learner made with the same graph and logits; the examples are not in it.
  std::string save() const;
  void load(std::string_view text);

 private:
  void check_fitted(std::string_view what) const;

  Graph graph_;
  VariableId logits_;
  RowProgram program_;
  ClassLearnOptions options_;
  std::vector<ClassSolution> starts_;
  Matrix left_out_;
};

}  // namespace dma
