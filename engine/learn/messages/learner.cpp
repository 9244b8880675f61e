#include "engine/learn/messages/learner.h"

#include <algorithm>
#include <chrono>

#include "engine/compile/plan_data.h"
#include "engine/learn/messages/example.h"
#include "engine/learn/messages/learner_impl.h"
#include "engine/support/text.h"

namespace dma {

namespace {

void check_targets(const Graph& graph, const std::vector<VariableId>& targets) {
  if (targets.empty()) fail("the learner needs at least one target: LearnOptions.targets is empty");
  for (auto target = targets.begin(); target != targets.end(); ++target) {
    if (target->value >= graph.variables().size())
      fail("LearnOptions.targets names variable {}, but the graph has {}", target->value, graph.variables().size());
    if (!graph[*target].observed) fail("target '{}' is not an observed variable", graph[*target].name);
    if (std::find(targets.begin(), target, *target) != target) fail("target '{}' is named twice", graph[*target].name);
  }
}

}  // namespace

Learner::Impl::Impl(const Graph& graph, const Registry& registry, const Scheduler& schedule, const Scheduler& predict,
                    LearnOptions options, CompileOptions compile_options)
    : options_(std::move(options)), shared_factors_(graph, registry, schedule, compile_options) {
  check_targets(graph, options_.targets);
  check(options_);
  compile_options.constants_in_cavity = true;
  if (options_.likelihood == LearnOptions::Likelihood::while_sweeping) compile_options.predicted = options_.targets;
  plan_ = compile(graph, schedule, registry, compile_options);
  compile_options.predicted.clear();
  compile_options.unobserved = options_.targets;
  predict_plan_ = compile(graph, predict, registry, compile_options);
  for (const Plan& plan : {plan_, predict_plan_})
    if (plan->solver != nullptr)
      fail("the learner keeps messages of single factors, which this solver does not make; give it a schedule");
  state_ = std::make_unique<State>(plan_);
  predict_state_ = std::make_unique<State>(predict_plan_);
  team_ = options_.team ? options_.team : local_team(options_.workers);
  pool_ = std::make_unique<ThreadPool>(options_.jobs);
  std::vector<bool> any_sign;
  for (std::uint32_t v = 0; v < plan_->variables.size(); ++v)
    if (const auto variable = plan_->variables[v]; variable.shared) {
      shared_.push_back({{v}, {scalars_, variable.size}});
      scalars_ += variable.size;
      any_sign.resize(scalars_, !variable.family->is_like_gaussian);
    }
  if (shared_.empty()) fail("the graph has no shared variable to learn; declare one with graph.shared(...)");
  stored_ = StoredMessages(scalars_, std::move(any_sign));
  take_constants();
  rebuild_cavity();
}

Learner::Learner(const Graph& graph, const Registry& registry, const Scheduler& schedule, const Scheduler& predict,
                 LearnOptions options, CompileOptions compile_options)
    : impl_(
          std::make_unique<Impl>(graph, registry, schedule, predict, std::move(options), std::move(compile_options))) {}
Learner::~Learner() = default;
Learner::Learner(Learner&&) noexcept = default;

std::optional<LearnReport::Stop> Learner::finished() const { return stop_reason(options(), memory().epochs); }
void Learner::freeze(VariableId shared_variable) { impl_->learned(shared_variable).is_frozen = true; }
void Learner::thaw(VariableId shared_variable) { impl_->learned(shared_variable).is_frozen = false; }
std::size_t Learner::target_size() const { return impl_->target_size(); }
const LearnMemory& Learner::memory() const { return impl_->memory(); }
std::span<const double> Learner::fitted_means() const { return impl_->means_; }
std::span<const double> Learner::fitted_variances() const { return impl_->variances_; }
const LearnOptions& Learner::options() const { return impl_->options_; }
const Plan& Learner::plan() const { return impl_->plan_; }

// A sweep then reads one message per shared scalar instead of combining constants for every example.
void Learner::Impl::take_constants() {
  const MessageArrays prior = stored_.prior();
  for (State* const state : {predict_state_.get(), state_.get()}) {
    Executor executor(*state);
    executor.refresh_constants();
    std::fill_n(prior.tau, scalars_, 0.0);
    std::fill_n(prior.rho, scalars_, 0.0);
    for (const auto& [id, scalars, is_frozen] : shared_) executor.take_constants(id, prior.from(scalars.first));
  }
}

void Learner::Impl::prepare(std::size_t examples) {
  if (examples_ != 0 && examples_ != examples)
    fail("the learner was fitted on {} examples and is now given {}; make a new one", examples_, examples);
  partition_ = Partition(
      *team_, [&](std::size_t all) { return count_batches(options_, all); }, examples);
  const std::size_t batches = partition_.batches();
  divide_batches(partition_.all_batches(), nullptr);
  if (stored_.batches() == 0) stored_.start(batches);
  if (stored_.batches() != batches)
    fail("the restored messages are those of {} batches, but {} examples make {}", stored_.batches(), examples,
         batches);
  if (!team_->any(std::ranges::any_of(memory().active, [](bool active) { return active; })))
    fail("every batch was forgotten; nothing is left to learn from");
  examples_ = examples;
  fitted_.resize(examples * target_size());
  means_.resize(fitted_.size());
  variances_.resize(fitted_.size());
}

void Learner::restore(Memory memory) {
  Impl& m = *impl_;
  if (m.options_.batch_size == 0 && memory.tau.size() != m.options_.batches)
    fail("the stored messages are those of {} batches, but {} are expected", memory.tau.size(), m.options_.batches);
  const std::size_t batches = memory.tau.size();
  if (m.team_->size() > 1 && batches < m.team_->size())
    fail("the stored messages are those of {} batches, but there are {} workers; each has at least one", batches,
         m.team_->size());
  if (!m.team_->is_whole()) m.divide_batches(batches, &memory);
  m.stored_.restore(std::move(memory));
  m.divide_batches(batches, nullptr);
  m.rebuild_cavity();
}

void Learner::Impl::rebuild_cavity() {
  if (team_->size() == 1) {
    for (const auto& [id, scalars, is_frozen] : shared_) stored_.form_product(scalars, state_->cavity(id));
  } else {
    std::vector<double> total(2 * std::size_t{scalars_});
    sum_stored(total);
    const MessageArrays sum{total.data(), total.data() + scalars_};
    for (const auto& [id, scalars, is_frozen] : shared_)
      stored_.form_product_of(scalars, sum.from(scalars.first), state_->cavity(id));
  }
  is_rebuilt_ = true;
  cavities_changed();
}

void Learner::Impl::cavities_changed() {
  has_points_ = std::ranges::any_of(
      shared_, [&](const SharedVariable& s) { return has_point(state_->cavity(s.id), s.scalars.size); });
  shared_factors_.update(*state_);
}

Learner::Impl::Worker::Worker(State& its_state) : state(its_state) {}
Learner::Impl::Worker::Worker(State&& its_own) : own(std::make_unique<State>(std::move(its_own))), state(*own) {}

void Learner::Impl::learn_batch(const Data& data, std::size_t batch, Worker& worker) {
  const auto [begin, end] = partition_.examples_of_batch(batch);
  State& state = worker.state;
  for (auto* array : {&worker.cavity_tau, &worker.cavity_rho}) array->resize(scalars_);
  const MessageArrays cavity{worker.cavity_tau.data(), worker.cavity_rho.data()};
  for (const auto& [id, scalars, is_frozen] : shared_)
    if (!is_frozen) stored_.take_out(scalars, batch, state.cavity(id), cavity.from(scalars.first), worker.has_points);
  const bool compares_nothing = worker.has_points;  // nothing can be divided by a point mass
  if (compares_nothing)
    for (auto* array : {&worker.said_tau, &worker.said_rho}) array->assign(scalars_, 0.0);
  const auto said = [&](const StoredMessages::Range& scalars) {
    return compares_nothing ? MessageArrays{worker.said_tau.data(), worker.said_rho.data()}.from(scalars.first)
                            : MessageArrays{};
  };
  Executor executor(state);
  const Executor::Holding holding(executor);
  std::vector<const SharedVariable*> absorbing;  // held cavities are updated by the sweep itself
  for (const SharedVariable& variable : shared_)
    if (!variable.is_frozen && (compares_nothing || !executor.hold(variable.id))) absorbing.push_back(&variable);
  for (std::size_t n = begin; n < end; ++n) {
    observe_example(data, n, state);
    solve_example(state, executor, worker.record);
    if (options_.likelihood == LearnOptions::Likelihood::while_sweeping)
      read_predictions(executor, std::span(fitted_).subspan(n * target_size(), target_size()));
    for (const SharedVariable* const variable : absorbing) {
      worker.has_points = executor.absorb(variable->id, worker.has_points);
      if (compares_nothing) executor.multiply_by_example(variable->id, said(variable->scalars));
    }
  }
  worker.has_points |= executor.release();
  const double step = step_of_batch();
  for (const auto& [id, scalars, is_frozen] : shared_)
    if (!is_frozen)
      stored_.put_back(scalars, batch, step, state.cavity(id), cavity.from(scalars.first), said(scalars),
                       worker.has_points);
}

void Learner::Impl::tell(std::size_t done, std::size_t of) const {
  if (options_.on_stage) options_.on_stage({{}, static_cast<double>(done) / static_cast<double>(of)});
}

LearnReport Learner::fit(const Data& data, const Callback& callback) {
  Impl& m = *impl_;
  m.prepare(check_data(m.plan_, data));
  LearnReport report;
  try {
    report = m.run_epochs(data, callback);
  } catch (...) {
    m.rebuild_cavity();  // without the mini-batch that was being learned
    throw;
  }
  m.rebuild_cavity();
  std::vector<Natural>().swap(m.fitted_);  // as large as two columns of the table
  report.epochs = m.memory().epochs;
  return report;
}

Learner::Added Learner::add(const Data& examples) {
  Impl& m = *impl_;
  const std::size_t count = check_data(m.plan_, examples);
  Executor executor(*m.state_);
  EpochRecord record;
  m.said_tau_.resize(m.scalars_);
  m.said_rho_.resize(m.scalars_);
  for (std::size_t n = 0; n < count; ++n) {
    observe_example(examples, n, *m.state_);
    solve_example(*m.state_, executor, record);
    for (const Impl::SharedVariable& variable : m.shared_)
      if (!variable.is_frozen) m.add_messages(variable, executor);
    if (m.team_->size() > 1) m.rebuild_cavity();
  }
  m.shared_factors_.update(*m.state_);
  return {count, record.faults, record.replaced, record.unfinished};
}

// Updates the cavities of those scalars that the example reaches: few of very many.
void Learner::Impl::add_messages(const SharedVariable& variable, const Executor& executor) {
  const std::uint32_t first = variable.scalars.first;
  const MessageArrays said{said_tau_.data() + first, said_rho_.data() + first}, cavity = state_->cavity(variable.id);
  met_.clear();
  executor.multiply_by_example(variable.id, said, &met_);
  for (const std::uint32_t i : met_) {
    stored_.add(first + i, said[i]);
    said.set(i, {});
    if (team_->size() > 1) continue;
    stored_.form_product({first + i, 1}, cavity.from(i));
    has_points_ |= cavity[i].is_point();
  }
}

Learner::Added Learner::learn_one(const Data& example) {
  Impl& m = *impl_;
  if (const std::size_t count = check_data(m.plan_, example); count != 1)
    fail("learn_one was given {} examples; one is expected, and add() takes any number", count);
  return add(example);
}

LearnReport Learner::Impl::run_epochs(const Data& data, const Callback& callback) {
  const auto start = std::chrono::steady_clock::now();
  const double before = memory().epochs.empty() ? 0.0 : memory().epochs.back().seconds;
  LearnReport report;
  if (alone_ == nullptr) alone_ = std::make_unique<Worker>(*state_);
  Worker& alone = *alone_;
  while (static_cast<int>(memory().epochs.size()) < options_.epochs) {
    if (!is_rebuilt_) rebuild_cavity();  // once an epoch, so that rounding cannot drift
    is_rebuilt_ = false;
    EpochRecord record;
    record.epoch = static_cast<int>(memory().epochs.size()) + 1;
    if (team_->size() == 1) {
      alone.has_points = has_points_;
      alone.record = record;
      for (std::size_t b = 0; b < stored_.batches(); ++b) {
        tell(b, stored_.batches());
        if (stored_.is_active(b)) learn_batch(data, b, alone);
      }
      record = alone.record;
    } else {
      learn_in_rounds(data, record);
    }
    cavities_changed();
    record.log_likelihood = log_likelihood(data);
    record.seconds = before + std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    stored_.add_epoch(record);
    report.faults += record.faults;
    report.replaced += record.replaced;
    const bool go_on = !team_->any(callback && !callback(record));
    if (const auto reason = stop_reason(options_, memory().epochs)) {
      report.stop = *reason;
      break;
    }
    if (!go_on) {
      report.stop = LearnReport::Stop::interrupted;
      break;
    }
  }
  return report;
}

void Learner::set_stopping(const LearnOptions& rules) {
  Impl& m = *impl_;
  LearnOptions changed = m.options_;
  changed.epochs = rules.epochs;
  changed.tolerance = rules.tolerance;
  changed.patience = rules.patience;
  changed.least_gain = rules.least_gain;
  changed.on_stage = rules.on_stage;
  check(changed);
  m.options_ = std::move(changed);
}

Learner::Impl::SharedVariable& Learner::Impl::learned(VariableId id) {
  const auto found = std::ranges::find(shared_, id, &SharedVariable::id);
  if (found == shared_.end()) fail("variable '{}' is not shared", plan_->variable(id).name);
  return *found;
}

Belief Learner::belief(VariableId shared_variable) const {
  Impl& m = *impl_;
  const auto& v = m.plan_->variable(shared_variable);
  if (!v.shared) fail("variable '{}' is not shared", v.name);
  std::vector<Natural> elements(v.size);
  const MessageArrays cavity = m.state_->cavity(shared_variable);
  for (std::uint32_t i = 0; i < v.size; ++i) elements[i] = cavity[i];
  m.shared_factors_.multiply_into(shared_variable, elements);
  return {v.name, v.family, std::move(elements)};
}

void Learner::forget(std::size_t batch) {
  Impl& m = *impl_;
  m.stored_.forget(batch);
  m.rebuild_cavity();
}

void Learner::set_parameter(FactorId factor, std::string_view parameter, std::span<const double> values) {
  Impl& m = *impl_;
  m.state_->set_parameter(factor, parameter, values);
  m.predict_state_->set_parameter(factor, parameter, values);
  m.shared_factors_.set_parameter(factor, parameter, values);
  m.is_rebuilt_ = false;
  const MessageArrays prior = m.stored_.prior();
  const std::vector<double> tau_before(prior.tau, prior.tau + m.scalars_);
  const std::vector<double> rho_before(prior.rho, prior.rho + m.scalars_);
  m.take_constants();
  for (const auto& [id, scalars, is_frozen] : m.shared_) {
    const MessageArrays cavity = m.state_->cavity(id);
    for (std::uint32_t i = 0; i < scalars.size; ++i) {
      const std::uint32_t k = scalars.first + i;
      const Natural was{tau_before[k], rho_before[k]}, now = prior[k];
      if (now == was) continue;
      if (cavity[i].is_point() || now.is_point()) return m.rebuild_cavity();
      cavity.set(i, multiply(cavity[i], divide(now, was)));
    }
  }
  m.cavities_changed();
}

}  // namespace dma
