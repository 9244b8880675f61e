// Shared variables of any graph learned as one Gaussian: the counterpart of Learner that keeps all correlations.
//
//   GaussianLearner learner(graph, standard_registry(), {y}, {.learn_noise = true});
//   GaussianLearnReport report = learner.fit({{x, xs}, {y, ys}});
//   learner.belief(w);
//   Prediction p = learner.predict({{x, new_xs}});
//
// The graph becomes a row program (row_program.h); Gauss-Newton steps find the mean, the evidence finds noise and prior
// scale, and a precision matrix over all P shared scalars is kept: 8 P^2 bytes. A target is whatever its factor says:
// Gaussian noise, any density with one input (poisson, logistic, student_t_noise, one of your own), or one of several
// classes by a score for each (softmax), whose slope and curvature the steps then take: Laplace's method. Targets of
// one learner may differ in that.
//
// A shared variable may have the prior gaussian_precision about a known mean, with an element of a shared gamma
// variable as its precision. The evidence then chooses one precision per element, for all scalars that read it;
// elements of one variable are shrunk towards each other: log w ~ N(mean of the logarithms, 1).
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/learn/data.h"
#include "engine/messages/gaussian.h"

namespace dma {

class Registry;
class RowProgram;                                 // program/row_program.h
std::string describe(const RowProgram& program);  // a line for every step
class WorkerTeam;
struct Prediction;  // prediction.h, which <dma_models.h> includes: it has matrices of Eigen

struct GaussianEpoch {
  std::size_t start = 0;  // counting from 0
  int epoch = 0;
  double log_evidence = 0;         // at the beginning of the epoch
  std::vector<double> noise = {};  // geometric mean of the variance over examples, per output
};

struct GaussianLearnOptions {
  int epochs = 100;            // most epochs of one fit
  double least_gain = 0.0003;  // stop when left-out examples gain less than so many nats each in an epoch; 0: never
  // One variance for every element of the targets that have Gaussian noise; otherwise they are the graph's.
  bool learn_noise = false;
  bool noise_by_inputs = false;           // learned noise: its logarithm is linear in the inputs
  bool tails = false;                     // learned noise: Student's t where left-out examples ask for it
  bool learn_scale = false;               // one factor on the precisions of all gaussian_priors ...
  std::vector<VariableId> unscaled = {};  // ... but those of these, such as biases of scores
  // Their prior means are where a start begins: hidden units that the examples do not need stay as they were drawn.
  std::vector<VariableId> anchored = {};
  // Learned from so many starts, mixed by their evidence: the prior's mean, then draws from the prior. Where a scalar
  // has influence, but none at the prior's mean, as in a network whose weights are all 0, the first is a draw too.
  std::size_t starts = 1;
  bool hold_out = false;  // examples held out judge what leaving out by leverage would flatter: judged.h
  std::uint64_t seed = 1;
  std::size_t jobs = 1;                                     // threads; no result depends on them
  std::shared_ptr<WorkerTeam> team = nullptr;               // workers that share the rows (Curvature::use_threads)
  std::function<bool(const GaussianEpoch&)> on_epoch = {};  // false stops; what was learned so far stays
};

struct GaussianLearnReport {
  struct Start {
    int epochs = 0;
    bool settled = false;  // true if left-out examples gained no more; otherwise the limit came, or it was stopped
    double log_evidence = 0, weight = 1;  // in the mixture
  };
  std::vector<Start> starts;
  double log_evidence = 0;       // evidence of the best start
  double effective_scalars = 0;  // scalars of the best start that the examples determine
  // Elements of precision variables: the value that the evidence chose, in the best start.
  struct Precision {
    std::string name;
    double value = 0, determined = 0;  // determined: the number of its scalars that the examples determine
    std::size_t scalars = 0;
    bool is_off() const { return determined < 0.05 * static_cast<double>(scalars); }  // the scalars stay at their mean
  };
  std::vector<Precision> precisions = {};
  bool interrupted = false;
  std::string line() const;
};

class GaussianLearner {
 public:
  // An Error says what of the graph cannot be learned so, and what to do: see RowProgram.
  GaussianLearner(const Graph& graph, const Registry& registry, std::vector<VariableId> targets,
                  GaussianLearnOptions options = {});
  ~GaussianLearner();
  GaussianLearner(GaussianLearner&&) noexcept;

  // Learns these examples besides those it knows. One with weight 2 counts as two; none given: 1 for each.
  GaussianLearnReport fit(const Data& data, std::span<const double> weights = {});
  // Takes back what these examples taught (numbers in the order in which they came) and solves anew without them.
  GaussianLearnReport forget(std::span<const std::size_t> examples);
  // Learns these on top of what is known, whose examples are not looked at again: its Gaussian is the prior of theirs.
  // False: something was still changing at the limit of steps.
  bool update(const Data& data, std::span<const double> weights = {});
  std::size_t rows() const;  // examples learned

  // Holds a shared variable at what the best start believes of it, or at its prior's mean, in the fits to come; thaw()
  // ends that.
  void freeze(VariableId shared);
  void thaw(VariableId shared);  // lets a frozen variable learn again

  // The moments of the elements of a shared variable, one by one.
  std::vector<Gaussian> belief(VariableId shared) const;
  // Examples x elements of the targets: a mixture with moments, quantiles and log density. A likelihood that is not
  // Gaussian is averaged over what is known of its input; of outcomes coded -1 or 0 and 1, the mean is the probability
  // of 1. A target of K classes, which are given as numbers from 0, has K such columns.
  Prediction predict(const Data& inputs) const;
  // The same of the learned examples, each as if it had not been learned; after fit() or forget().
  Prediction left_out() const;
  double noise_variance(std::size_t output) const;  // at inputs of 0, if it depends on them

  // All that was learned, as the bytes of a file; load() gives it to a learner made with the same graph and targets,
  // which can then predict and update. The examples are not in it.
  std::string save() const;
  void load(std::string_view bytes);  // an Error for bytes of another graph

  const RowProgram& program() const;  // steps that a block of examples goes through
  std::size_t scalars() const;        // shared scalars that it learns

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dma
