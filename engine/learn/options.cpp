#include "engine/learn/options.h"

#include <cmath>

#include "engine/learn/worker_team.h"
#include "engine/support/error.h"

namespace dma {

void check(const LearnOptions& o) {
  if (o.batches == 0) fail("the number of batches is 0; at least 1 is expected");
  if (o.parts == 0) fail("the number of parts of a mini-batch is 0; at least 1 is expected");
  if (o.epochs < 0) fail("epochs is {}; 0 or more is expected", o.epochs);
  if (o.patience < 0) fail("patience is {}; 0 or more is expected", o.patience);
  if (!(o.tolerance >= 0)) fail("tolerance is {}; 0 or more is expected", o.tolerance);
  if (!(o.floor > 0)) fail("floor is {}; a positive number is expected", o.floor);
  if (!(o.least_gain >= 0)) fail("least_gain is {}; 0 or more is expected", o.least_gain);
  if (!(o.evidence_weight > 0) || !std::isfinite(o.evidence_weight))
    fail("evidence_weight is {}; a positive number is expected", o.evidence_weight);
  if (o.workers == 0) fail("the number of workers is 0; at least 1 is expected");
  if (o.jobs == 0) fail("jobs is 0; at least 1 is expected");
  if (o.team && o.team->size() != o.workers)
    fail("workers is {}, but the team has {}; give the number of the team", o.workers, o.team->size());
  for (const double step : {o.first_step, o.step})
    if (!(step > 0 && step <= 1)) fail("a step of {} is given; it must be in (0, 1]", step);
}

std::size_t count_batches(const LearnOptions& options, std::size_t examples) {
  if (options.batch_size > 0) {
    const std::size_t most = (examples - 1) / options.workers + 1;  // examples of a worker
    return options.workers * ((most - 1) / options.batch_size + 1);
  }
  if (examples < options.batches)
    fail("there are {} examples but {} batches; give at most one batch per example", examples, options.batches);
  return options.batches;
}

}  // namespace dma
