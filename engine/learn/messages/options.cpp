#include "engine/learn/messages/options.h"

#include "engine/learn/worker_team.h"
#include "engine/support/error.h"
#include "engine/support/fields.h"
#include "engine/support/usable.h"

namespace dma {

void check(const LearnOptions& o) {
  if (o.batches == 0) fail("the number of batches is 0; at least 1 is expected");
  if (o.parts == 0) fail("the number of parts of a mini-batch is 0; at least 1 is expected");
  if (o.epochs < 0) fail("epochs is {}; 0 or more is expected", o.epochs);
  if (o.patience < 0) fail("patience is {}; 0 or more is expected", o.patience);
  if (!(o.tolerance >= 0)) fail("tolerance is {}; 0 or more is expected", o.tolerance);
  if (!(o.floor > 0)) fail("floor is {}; a positive number is expected", o.floor);
  if (!(o.least_gain >= 0)) fail("least_gain is {}; 0 or more is expected", o.least_gain);
  if (!is_divisor(o.evidence_weight))
    fail("evidence_weight is {}; a number from {} to {} is expected", o.evidence_weight, kLeastDivisor, kLargestUsable);
  if (o.workers == 0) fail("the number of workers is 0; at least 1 is expected");
  if (o.jobs == 0) fail("jobs is 0; at least 1 is expected");
  if (o.team && o.team->size() != o.workers)
    fail("workers is {}, but the team has {}; give the number of the team", o.workers, o.team->size());
  for (const double step : {o.first_step, o.step})
    if (!(step > 0 && step <= 1)) fail("a step of {} is given; it must be in (0, 1]", step);
}

void list_fields(Fields& f, LearnOptions& o) {
  f("batches", o.batches);
  f("batch_size", o.batch_size);
  f("parts", o.parts);
  f("epochs", o.epochs);
  f("tolerance", o.tolerance);
  f("patience", o.patience);
  f("least_gain", o.least_gain);
  f("evidence_weight", o.evidence_weight);
  f("first_step", o.first_step);
  f("step", o.step);
  f("workers", o.workers);
  bool while_sweeping = o.likelihood == LearnOptions::Likelihood::while_sweeping;
  f("likelihood_while_sweeping", while_sweeping);
  if (f.is_reading() && while_sweeping) o.likelihood = LearnOptions::Likelihood::while_sweeping;
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
