// Options of learning by messages.
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
  std::vector<VariableId> targets = {};  // observed variables to predict, whose log-likelihood is reported
  std::size_t batches = 10;              // mini-batches, at most one per example
  std::size_t batch_size = 0;            // most examples per mini-batch; if not 0, it replaces `batches`
  int epochs = 200;                      // the limit
  // Stop when |L_e - L_(e-1)| / max(0.001, |L_(e-1)|) < tolerance, with L_e the mean log predictive density after
  // epoch e.
  double tolerance = 0.1;
  int patience = 0;       // stop after this many epochs without a better L; 0: never
  double least_gain = 0;  // stop when L has risen by less than this per epoch over the last ten; 0: never
  double step = 1;        // fraction of a stored message's change, in (0, 1]; the first epoch makes all of it
  // The log-likelihood of an epoch is that of a pass over all examples after it, or of the predictions that the sweeps
  // make of each example before they learn it.
  enum class Likelihood { after_epoch, while_sweeping } likelihood = Likelihood::after_epoch;
  // Workers that learn their own examples at the same time. In a round each learns one mini-batch from the same
  // belief, which then gains the mean of their changes (steps are at most 1 / workers). The result depends on the
  // number of workers and on nothing else. 1: one mini-batch after the other.
  std::size_t workers = 1;
  std::size_t jobs = 1;                        // threads; no result depends on them
  std::shared_ptr<WorkerTeam> team = nullptr;  // the workers, if other processes have some of them
  StageWatch on_stage = {};
};

void list_fields(Fields& f, LearnOptions& options);
void check(const LearnOptions& options);  // an Error for what cannot be set

// Number of mini-batches of that many examples of all workers.
std::size_t count_batches(const LearnOptions& options, std::size_t examples);

}  // namespace dma
