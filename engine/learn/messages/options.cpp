#include "engine/learn/messages/learner.h"

#include "engine/learn/worker_team.h"
#include "engine/support/fields.h"
#include "engine/support/text.h"

namespace dma {

void check(const LearnOptions& o) {
  if (o.batches == 0) fail("the number of batches is 0; at least 1 is expected");
  if (o.epochs < 0) fail("epochs is {}; 0 or more is expected", o.epochs);
  if (o.patience < 0) fail("patience is {}; 0 or more is expected", o.patience);
  if (!(o.tolerance >= 0)) fail("tolerance is {}; 0 or more is expected", o.tolerance);
  if (!(o.least_gain >= 0)) fail("least_gain is {}; 0 or more is expected", o.least_gain);
  if (o.workers == 0) fail("the number of workers is 0; at least 1 is expected");
  if (o.jobs == 0) fail("jobs is 0; at least 1 is expected");
  if (o.team && o.team->size() != o.workers)
    fail("workers is {}, but the team has {}; give the number of the team", o.workers, o.team->size());
  if (!(o.step > 0 && o.step <= 1)) fail("a step of {} is given; it must be in (0, 1]", o.step);
}

void list_fields(Fields& f, LearnOptions& o) {
  f("batches", o.batches);
  f("batch_size", o.batch_size);
  f("epochs", o.epochs);
  f("tolerance", o.tolerance);
  f("patience", o.patience);
  f("least_gain", o.least_gain);
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
