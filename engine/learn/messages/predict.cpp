// The part of Learner that predicts.
#include <algorithm>

#include "engine/compile/plan_data.h"
#include "engine/learn/messages/example.h"
#include "engine/learn/messages/learner_impl.h"
#include "engine/support/parallel.h"
#include "engine/support/text.h"

namespace dma {

std::size_t Learner::Impl::target_size() const {
  std::size_t size = 0;
  for (const VariableId target : options_.targets) size += plan_->variables[target.value].size;
  return size;
}

void Learner::Impl::give_cavities(State& predictor, std::optional<std::size_t> without_batch) const {
  for (const auto& [id, scalars, is_frozen] : shared_) {
    const MessageArrays from = state_->cavity(id), to = predictor.cavity(id);
    if (without_batch) {
      stored_.form_cavity(scalars, *without_batch, from, to);
    } else {
      std::copy_n(from.tau, scalars.size, to.tau);
      std::copy_n(from.rho, scalars.size, to.rho);
    }
  }
}

void Learner::Impl::predict_examples(State& predictor, const Data& inputs, std::size_t begin, std::size_t end,
                                     std::span<Natural> messages) const {
  Executor executor(predictor);
  const Executor::Holding holding(executor);
  for (const auto& shared : shared_) executor.hold(shared.id);
  const std::size_t size = target_size();
  for (std::size_t n = begin; n < end; ++n) {
    observe_example(inputs, n, predictor);
    EpochRecord record;
    solve_example(predictor, executor, record);
    read_predictions(executor, messages.subspan(n * size, size));
  }
}

void Learner::Impl::read_predictions(const Executor& executor, std::span<Natural> of_example) const {
  std::size_t k = 0;
  for (const VariableId target : options_.targets) k += executor.predict(target, of_example.subspan(k));
}

void Learner::Impl::read_moments(std::span<const Natural> messages, std::span<double> means,
                                 std::span<double> variances) const {
  for (std::size_t k = 0; k < messages.size();)
    for (const VariableId target : options_.targets) {
      const auto& v = plan_->variables[target.value];
      v.family->moments(messages.subspan(k, v.size), v.family.components(), means.data() + k, variances.data() + k);
      k += v.size;
    }
}

void Learner::Impl::check_spans(std::size_t examples, std::span<const double> means,
                                std::span<const double> variances) const {
  const std::size_t expected = examples * target_size();
  if (means.size() != expected || variances.size() != expected)
    fail("predict: there is room for {} means and {} variances, but {} examples of {} target elements make {}",
         means.size(), variances.size(), examples, target_size(), expected);
}

void Learner::predict(const Data& inputs, std::span<double> means, std::span<double> variances) const {
  Impl& m = *impl_;
  const std::size_t examples = check_data(m.plan_, inputs, m.options_.targets);
  m.check_spans(examples, means, variances);
  State predictor = m.predict_state_->copy();  // several threads may predict at once
  m.give_cavities(predictor);
  std::vector<Natural> messages(means.size());
  m.predict_examples(predictor, inputs, 0, examples, messages);
  m.read_moments(messages, means, variances);
}

void Learner::predict_left_out(const Data& data, std::span<double> means, std::span<double> variances) const {
  Impl& m = *impl_;
  const std::size_t examples = check_data(m.plan_, data, m.options_.targets), batches = m.stored_.batches();
  m.check_spans(examples, means, variances);
  if (batches == 0) fail("predict_left_out: nothing has been learned yet; call fit first");
  if (m.examples_ != 0 && m.examples_ != examples)
    fail("the learner was fitted on {} examples and is now given {}", m.examples_, examples);
  const Partition partition(
      *m.team_, [&](std::size_t all) { return count_batches(m.options_, all); }, examples);
  if (partition.batches() != batches)
    fail("the restored messages are those of {} batches, but {} examples make {}", batches, examples,
         partition.batches());
  std::vector<Natural> messages(means.size());
  const std::size_t parts = std::min(m.pool_->jobs(), batches);
  parallel_for(parts, parts, [&](std::size_t part) {
    State predictor = m.predict_state_->copy();
    for (std::size_t b = part * batches / parts; b < (part + 1) * batches / parts; ++b) {
      const auto [begin, end] = partition.examples_of_batch(b);
      m.give_cavities(predictor, b);
      m.predict_examples(predictor, data, begin, end, messages);
    }
  });
  m.read_moments(messages, means, variances);
}

void Learner::Impl::predict_fitted(const Data& data) {
  give_cavities(*predict_state_);
  const std::size_t parts = std::min(pool_->jobs(), examples_);
  if (parts == 1) return predict_examples(*predict_state_, data, 0, examples_, fitted_);
  pool_->run(parts, [&](std::size_t part) {
    State predictor = predict_state_->copy();
    predict_examples(predictor, data, part * examples_ / parts, (part + 1) * examples_ / parts, fitted_);
  });
}

TeamSum Learner::sum_over_examples() const {
  Impl& m = *impl_;
  std::vector<Partition::Range> rows;
  for (std::size_t w = 0; w < m.partition_.workers(); ++w) rows.push_back(m.partition_.examples(w));
  return {*m.team_, std::move(rows)};
}

// Examples of forgotten mini-batches do not count.
double Learner::Impl::log_likelihood(const Data& data) {
  if (options_.likelihood == LearnOptions::Likelihood::after_epoch) predict_fitted(data);
  read_moments(fitted_, means_, variances_);
  std::vector<double> parts;  // a sum and a count of every worker
  for (std::size_t w = 0; w < partition_.workers(); ++w) {
    const auto [sum, count] = log_likelihood_of(data, partition_.batches(w));
    parts.insert(parts.end(), {sum, static_cast<double>(count)});
  }
  double total[2];
  team_->sum(parts, total);
  return total[1] == 0 ? 0 : total[0] / total[1];
}

Learner::Impl::SumAndCount Learner::Impl::log_likelihood_of(const Data& data, Partition::Range batches) const {
  double sum = 0;
  std::size_t count = 0;
  for (std::size_t b = batches.begin; b < batches.end; ++b) {
    if (!stored_.is_active(b)) continue;
    const auto [begin, end] = partition_.examples_of_batch(b);
    std::size_t k = begin * target_size();
    for (std::size_t n = begin; n < end; ++n)
      for (const VariableId target : options_.targets) {
        const auto& v = plan_->variables[target.value];
        const Observations own = observations_of(data, target);
        const std::size_t components = v.family.components(), numbers = v.family.values();
        const std::size_t first = data.place(n) * v.values();
        for (std::size_t i = first; i < first + v.values(); i += numbers, k += components) {
          if (!own.is_missing.empty() && own.is_missing[i] != 0) continue;
          ++count;
          sum += v.family->log_density(std::span(fitted_).subspan(k, components), own.values.subspan(i, numbers));
        }
      }
  }
  return {sum, count};
}

}  // namespace dma
