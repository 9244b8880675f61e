#include "engine/learn/learn.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <chrono>

#include "engine/support/error.h"
#include "engine/run/executor.h"
#include "engine/support/independent.h"

namespace dma {

namespace {

std::size_t count_examples(const Plan& plan, const Data& data) {
  if (data.empty()) fail("no data: give the values of at least one observed variable");
  std::optional<std::size_t> examples;
  std::string_view first;
  for (const auto& [variable, values] : data) {
    const auto& v = plan->variables.at(variable.value);
    if (values.size() % v.size != 0)
      fail("variable '{}' has {} elements, which do not divide the {} values given", v.name, v.size, values.size());
    const std::size_t count = values.size() / v.size;
    if (!examples) examples = count, first = v.name;
    if (count != *examples)
      fail("'{}' has values for {} examples but '{}' for {}", first, *examples, v.name, count);
  }
  if (*examples == 0) fail("no data: there are no examples");
  return *examples;
}

void observe_example(const Data& data, std::size_t example, State& state) {
  for (const auto& [variable, values] : data) {
    const auto& v = state.plan()->variables[variable.value];
    if (v.observed) state.observe(variable, values.subspan(example * v.size, v.size));
  }
}

}  // namespace

std::string LearnReport::line() const {
  constexpr std::string_view kReasons[] = {"the log-likelihood settled", "the log-likelihood no longer improved",
                                           "the limit of epochs was reached", "it was interrupted",
                                           "the log-likelihood hardly rose any more"};
  const double last = epochs.empty() ? 0.0 : epochs.back().log_likelihood;
  return fmt::format("stopped after epoch {} because {}: train log-likelihood {:.4f}, {} messages refused, {} replaced",
                     epochs.empty() ? 0 : epochs.back().epoch, kReasons[static_cast<int>(stop)], last, faults,
                     replaced);
}

Learner::Learner(const Graph& graph, const Registry& registry, const Scheduler& sweep, const Scheduler& predict,
                 LearnOptions options, CompileOptions compile_options)
    : options_(std::move(options)) {
  if (options_.targets.empty()) fail("the learner needs at least one target: LearnOptions.targets is empty");
  for (const VariableId target : options_.targets)
    if (!graph[target].observed) fail("target '{}' is not an observed variable", graph[target].name);
  if (options_.batches == 0) fail("the number of batches is 0; at least 1 is expected");
  if (!(options_.evidence_weight > 0)) fail("evidence_weight is {}; it must be positive", options_.evidence_weight);
  for (const double step : {options_.first_step, options_.step})
    if (!(step > 0 && step <= 1)) fail("a step of {} is given; it must be in (0, 1]", step);
  compile_options.constants_in_context = true;
  if (options_.likelihood == LearnOptions::Likelihood::while_sweeping) compile_options.predicted = options_.targets;
  plan_ = compile(graph, sweep, registry, compile_options);
  compile_options.predicted.clear();
  compile_options.unobserved = options_.targets;
  predict_plan_ = compile(graph, predict, registry, compile_options);
  state_ = std::make_unique<State>(plan_);
  predict_state_ = std::make_unique<State>(predict_plan_);
  for (std::uint32_t v = 0; v < plan_->variables.size(); ++v)
    if (plan_->variables[v].shared) {
      shared_.push_back({{v}, shared_size_, plan_->variables[v].size});
      shared_size_ += plan_->variables[v].size;
    }
  if (shared_.empty()) fail("the graph has no shared variable to learn; declare one with graph.shared(...)");
  cavity_tau_.resize(shared_size_);
  cavity_rho_.resize(shared_size_);
  take_constants();
  rebuild_context();
}

// A sweep then reads one message for every shared scalar, and nothing is combined anew for every example.
void Learner::take_constants() {
  for (State* const state : {predict_state_.get(), state_.get()}) {
    Executor executor(*state);
    executor.refresh_constants();
    prior_tau_.assign(shared_size_, 0);
    prior_rho_.assign(shared_size_, 0);
    for (const SharedVariable& s : shared_)
      executor.take_constants(s.id, {prior_tau_.data() + s.first, prior_rho_.data() + s.first});
  }
}

std::size_t Learner::target_size() const {
  std::size_t size = 0;
  for (const VariableId target : options_.targets) size += plan_->variables[target.value].size;
  return size;
}

void Learner::prepare(std::size_t examples) {
  if (examples_ == examples && !memory_.tau.empty()) return;
  if (!memory_.tau.empty() && examples_ != 0)
    fail("the learner was fitted on {} examples and is now given {}; make a new one", examples_, examples);
  if (examples < options_.batches)
    fail("there are {} examples but {} batches; give at most one batch per example", examples, options_.batches);
  examples_ = examples;
  if (memory_.tau.empty()) {
    memory_.tau.assign(options_.batches, std::vector<double>(shared_size_));
    memory_.rho = memory_.tau;
    memory_.active.assign(options_.batches, true);
  }
  means_.resize(examples * target_size());
  variances_.resize(means_.size());
}

void Learner::restore(Memory memory) {
  for (const auto* arrays : {&memory.tau, &memory.rho})
    for (const auto& batch : *arrays)
      if (arrays->size() != options_.batches || batch.size() != shared_size_)
        fail("the stored messages do not fit: expected {} batches of {} shared scalars", options_.batches, shared_size_);
  if (memory.active.size() != options_.batches) fail("the stored messages name {} batches, not {}", memory.active.size(), options_.batches);
  memory_ = std::move(memory);
  rebuild_context();
}

Learner::Memory Learner::condensed_memory() const {
  Memory condensed{{std::vector<double>(shared_size_)}, {std::vector<double>(shared_size_)}, {true}, memory_.epochs};
  for (const SharedVariable& s : shared_) sum_memory(s, condensed.tau[0].data() + s.first, condensed.rho[0].data() + s.first);
  return condensed;
}

void Learner::sum_memory(const SharedVariable& s, double* tau, double* rho) const {
  std::fill_n(tau, s.size, 0.0);
  std::fill_n(rho, s.size, 0.0);
  for (std::size_t b = 0; b < memory_.tau.size(); ++b)
    for (std::uint32_t i = 0; i < s.size; ++i) {
      tau[i] += options_.evidence_weight * memory_.tau[b][s.first + i];
      rho[i] += options_.evidence_weight * memory_.rho[b][s.first + i];
    }
}

void Learner::rebuild_context() {
  for (const SharedVariable& s : shared_) {
    const MessageArrays context = state_->context(s.id);
    sum_memory(s, context.tau, context.rho);
    for (std::uint32_t i = 0; i < s.size; ++i) {
      const Natural product = multiply({prior_tau_[s.first + i], prior_rho_[s.first + i]}, context[i]);
      context.tau[i] = product.tau;
      context.rho[i] = product.rho;
    }
  }
  give_context_to_predictor();
}

void Learner::give_context_to_predictor(std::optional<std::size_t> without_batch) {
  for (const SharedVariable& s : shared_) {
    const MessageArrays from = state_->context(s.id), to = predict_state_->context(s.id);
    std::copy_n(from.tau, s.size, to.tau);
    std::copy_n(from.rho, s.size, to.rho);
    for (std::uint32_t i = 0; without_batch && i < s.size; ++i) {
      to.tau[i] -= options_.evidence_weight * memory_.tau[*without_batch][s.first + i];
      to.rho[i] -= options_.evidence_weight * memory_.rho[*without_batch][s.first + i];
    }
  }
}

void Learner::learn_batch(const Data& data, std::size_t batch, std::size_t begin, std::size_t end, Executor& executor,
                          EpochRecord& record) {
  for (const SharedVariable& s : shared_) {
    const MessageArrays context = state_->context(s.id);
    const auto take_out = [&](const std::vector<double>& stored, double* in_context, std::vector<double>& cavity) {
      const double* const old = stored.data() + s.first;
      double* const left = cavity.data() + s.first;
      DMA_INDEPENDENT
      for (std::size_t i = 0; i < s.size; ++i) {
        const double value = in_context[i] - old[i];
        in_context[i] = value;
        left[i] = value;
      }
    };
    take_out(memory_.tau[batch], context.tau, cavity_tau_);
    take_out(memory_.rho[batch], context.rho, cavity_rho_);
    // What is left is a sum of non-negative precisions, up to rounding.
    for (std::uint32_t i = 0; i < s.size; ++i) assert(context.rho[i] >= -1e-9 * memory_.rho[batch][s.first + i]);
  }
  for (std::size_t n = begin; n < end; ++n) {
    observe_example(data, n, *state_);
    executor.start_fresh();
    Executor::Total total;
    executor.sweep(total);
    record.faults += total.faults;
    record.replaced += total.replaced;
    if (options_.likelihood == LearnOptions::Likelihood::while_sweeping) read_predictions(executor, n, means_, variances_);
    for (const SharedVariable& s : shared_) executor.absorb(s.id);
  }
  // The old message counts evidence_weight times in the context and was taken out once; so with the new one.
  const double step = memory_.epochs.empty() ? options_.first_step : options_.step;
  const double weight = options_.evidence_weight;
  for (const SharedVariable& s : shared_) {
    const MessageArrays context = state_->context(s.id);
    const auto replace = [&](std::vector<double>& stored, double* in_context, const std::vector<double>& cavity) {
      double* const message = stored.data() + s.first;
      const double* const left = cavity.data() + s.first;
      DMA_INDEPENDENT
      for (std::size_t i = 0; i < s.size; ++i) {
        const double old = message[i], difference = in_context[i] - left[i];
        const double gained = in_context[i] == left[i] ? 0 : difference;  // also where both are infinite: known exactly
        const double change = step * (gained - old);
        in_context[i] = left[i] + old + weight * change;
        message[i] = old + change;
      }
    };
    replace(memory_.tau[batch], context.tau, cavity_tau_);
    replace(memory_.rho[batch], context.rho, cavity_rho_);
  }
}

LearnReport Learner::fit(const Data& data, const Callback& callback) {
  const std::size_t examples = count_examples(plan_, data);
  prepare(examples);
  // Every observed variable must be there before the first sweep.
  observe_example(data, 0, *state_);
  Executor executor(*state_);
  executor.check_observed();
  const auto start = std::chrono::steady_clock::now();
  const double before = memory_.epochs.empty() ? 0.0 : memory_.epochs.back().seconds;
  LearnReport report;
  for (;;) {
    if (static_cast<int>(memory_.epochs.size()) >= options_.epochs) break;  // the limit
    rebuild_context();  // once an epoch, so that rounding cannot drift
    EpochRecord record;
    record.epoch = static_cast<int>(memory_.epochs.size()) + 1;
    for (std::size_t b = 0; b < options_.batches; ++b)
      if (memory_.active[b])
        learn_batch(data, b, first_example(b), first_example(b + 1), executor, record);
    if (options_.likelihood == LearnOptions::Likelihood::after_epoch) predict(data, means_, variances_);
    record.log_likelihood = log_likelihood(data, examples);
    record.seconds = before + std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    memory_.epochs.push_back(record);
    report.faults += record.faults;
    report.replaced += record.replaced;
    const bool go_on = !callback || callback(record);
    if (const auto reason = finished()) {
      report.stop = *reason;
      break;
    }
    if (!go_on) {
      report.stop = LearnReport::Stop::interrupted;
      break;
    }
  }
  rebuild_context();
  report.epochs = memory_.epochs;
  return report;
}

std::optional<LearnReport::Stop> Learner::finished() const {
  const auto& epochs = memory_.epochs;
  if (epochs.size() >= 2) {
    const double before = epochs[epochs.size() - 2].log_likelihood, now = epochs.back().log_likelihood;
    if (std::abs(now - before) / std::max(options_.floor, std::abs(before)) < options_.tolerance)
      return LearnReport::Stop::tolerance;
  }
  if (options_.patience > 0 && !epochs.empty()) {
    const auto best = std::ranges::max_element(epochs, {}, &EpochRecord::log_likelihood);
    if (epochs.end() - best > options_.patience) return LearnReport::Stop::patience;
  }
  constexpr std::size_t kGainEpochs = 10;
  if (options_.least_gain > 0 && epochs.size() > kGainEpochs) {
    const double gain = epochs.back().log_likelihood - epochs[epochs.size() - 1 - kGainEpochs].log_likelihood;
    if (gain < options_.least_gain * kGainEpochs) return LearnReport::Stop::least_gain;
  }
  if (static_cast<int>(epochs.size()) >= options_.epochs) return LearnReport::Stop::limit;
  return {};
}

double Learner::log_likelihood(const Data& data, std::size_t examples) const {
  double sum = 0;
  std::size_t k = 0;
  for (std::size_t n = 0; n < examples; ++n)
    for (const VariableId target : options_.targets) {
      const std::size_t size = plan_->variables[target.value].size;
      const auto column = std::ranges::find(data, target, &Observations::variable);
      for (std::size_t i = 0; i < size; ++i, ++k)
        sum += log_density(Gaussian::from_moments(means_[k], variances_[k]), column->values[n * size + i]);
    }
  return sum / static_cast<double>(k);
}

void Learner::read_predictions(const Executor& executor, std::size_t example, std::span<double> means,
                               std::span<double> variances) const {
  std::size_t k = example * target_size();
  for (const VariableId target : options_.targets)
    for (std::uint32_t i = 0; i < plan_->variables[target.value].size; ++i, ++k) {
      const Gaussian message(executor.prediction(target, i));
      means[k] = message.mean();
      variances[k] = message.variance();
    }
}

void Learner::predict_examples(const Data& inputs, std::size_t begin, std::size_t end, std::span<double> means,
                               std::span<double> variances) {
  Executor executor(*predict_state_);
  for (std::size_t n = begin; n < end; ++n) {
    observe_example(inputs, n, *predict_state_);
    if (n == begin) executor.check_observed();
    executor.start_fresh();
    Executor::Total total;
    executor.sweep(total);
    read_predictions(executor, n, means, variances);
  }
}

void Learner::predict(const Data& inputs, std::span<double> means, std::span<double> variances) {
  give_context_to_predictor();
  predict_examples(inputs, 0, count_examples(plan_, inputs), means, variances);
}

void Learner::predict_left_out(const Data& data, std::span<double> means, std::span<double> variances) {
  prepare(count_examples(plan_, data));
  for (std::size_t b = 0; b < options_.batches; ++b) {
    give_context_to_predictor(b);
    predict_examples(data, first_example(b), first_example(b + 1), means, variances);
  }
  give_context_to_predictor();
}

Belief Learner::belief(VariableId shared_variable) const {
  const auto& v = plan_->variables.at(shared_variable.value);
  if (!v.shared) fail("variable '{}' is not shared", v.name);
  const Executor executor(*state_);
  std::vector<Natural> elements(v.size);
  const MessageArrays context = state_->context(shared_variable);
  for (std::uint32_t i = 0; i < v.size; ++i) elements[i] = context[i];
  executor.multiply_by_model(shared_variable, elements);
  return {v.name, v.family, std::move(elements)};
}

void Learner::forget(std::size_t batch) {
  if (batch >= memory_.tau.size()) fail("there is no batch {}; the learner has {}", batch, memory_.tau.size());
  std::ranges::fill(memory_.tau[batch], 0.0);
  std::ranges::fill(memory_.rho[batch], 0.0);
  memory_.active[batch] = false;
  rebuild_context();
}

void Learner::set_parameter(FactorId factor, std::string_view parameter, std::span<const double> values) {
  state_->set_parameter(factor, parameter, values);
  predict_state_->set_parameter(factor, parameter, values);
  const std::vector<double> tau_before = prior_tau_, rho_before = prior_rho_;
  take_constants();
  for (const SharedVariable& s : shared_) {
    const MessageArrays context = state_->context(s.id);
    for (std::uint32_t i = 0; i < s.size; ++i) {
      const std::uint32_t k = s.first + i;
      if (prior_tau_[k] == tau_before[k] && prior_rho_[k] == rho_before[k]) continue;
      if (prior_rho_[k] == kInfinity || rho_before[k] == kInfinity) return rebuild_context();
      context.tau[i] += prior_tau_[k] - tau_before[k];
      context.rho[i] += prior_rho_[k] - rho_before[k];
    }
  }
}

}  // namespace dma
