// How shared variables are learned and when that ends. For every learner and model.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/learn/stage.h"

namespace dma {

class Fields;
class WorkerTeam;

struct LearnOptions {
  std::vector<VariableId> targets =
      {};  // observed variables to predict; the log-likelihood is theirs. A model sets them
  std::size_t batches = 10;              // mini-batches, at most one per example
  std::size_t batch_size = 0;            // if given, instead of batches: at most this many examples in each
  // A mini-batch is learned in this many parts, one after the other, each from what is known without its fraction of
  // what the mini-batch said before: 1 / parts of it, as in averaged and stochastic expectation propagation. One stored
  // message, 16 bytes for every shared scalar, then serves so many times more examples.
  std::size_t parts = 1;
  int epochs = 200;                      // the limit
  // Stop when |L_e - L_(e-1)| / max(floor, |L_(e-1)|) < tolerance, L_e the mean log predictive density after epoch e.
  double tolerance = 0.1;
  double floor = 1e-3;
  // Stop when L has not been better than its best for this many epochs; 0: never.
  int patience = 0;
  // Stop when L has risen by less than this an epoch, over the last ten; 0: never.
  double least_gain = 0;
  // Every stored message counts this many times in the belief: 1 is the posterior, more a colder ("tempered") one, less
  // a warmer one. A mini-batch takes one of its copies out before it is learned anew, or all it has if that is less:
  // above 1 its examples see at least what 1 would show them.
  double evidence_weight = 1;
  // The fraction of the change of a stored message that is made at once, in (0, 1]; in the first epoch, and later.
  double first_step = 1, step = 1;
  // Where the log-likelihood of an epoch comes from: a pass over all examples after it, or the predictions that the
  // sweeps make anyway, each before its example is learned (anew).
  enum class Likelihood { after_epoch, while_sweeping } likelihood = Likelihood::after_epoch;
  // Workers that learn at the same time, each its own examples: in a round every worker learns one of its mini-batches
  // from the same product, which then gains what all of them learned. Fewer rounds an epoch, each a little staler: the
  // result depends on how many workers there are, and on nothing else. A step is at most 1 / workers: the product gains
  // the mean of what they say. 1: one mini-batch after the other.
  std::size_t workers = 1;
  std::size_t jobs = 1;                  // threads; no result depends on them
  std::shared_ptr<WorkerTeam> team = nullptr;  // the workers, if they are not all of this process
  StageWatch on_stage = {};
};

void list_fields(Fields& f, LearnOptions& options);
// Throws Error for a number outside its range, by the option's name.
void check(const LearnOptions& options);

// How many mini-batches so many examples of all workers make.
std::size_t count_batches(const LearnOptions& options, std::size_t examples);

}  // namespace dma
