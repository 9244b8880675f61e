// The functions of Learner, which its Impl carries out.
#include "engine/learn/messages/learner_impl.h"

namespace dma {

Learner::Learner(const Graph& graph, const Registry& registry, const Scheduler& schedule, const Scheduler& predict,
                 LearnOptions options, CompileOptions compile_options)
    : impl_(
          std::make_unique<Impl>(graph, registry, schedule, predict, std::move(options), std::move(compile_options))) {}
Learner::~Learner() = default;
Learner::Learner(Learner&&) noexcept = default;

LearnReport Learner::fit(const Data& data, const Callback& callback) { return impl_->fit(data, callback); }
Learner::Added Learner::add(const Data& examples) { return impl_->add(examples); }
Learner::Added Learner::learn_one(const Data& example) { return impl_->learn_one(example); }
std::optional<LearnReport::Stop> Learner::finished() const { return stop_reason(options(), memory().epochs); }
void Learner::set_stopping(const LearnOptions& rules) { impl_->set_stopping(rules); }
void Learner::forget(std::size_t batch) { impl_->forget(batch); }
void Learner::freeze(VariableId shared_variable) { impl_->learned(shared_variable).is_frozen = true; }
void Learner::thaw(VariableId shared_variable) { impl_->learned(shared_variable).is_frozen = false; }
Belief Learner::belief(VariableId shared_variable) const { return impl_->belief(shared_variable); }
void Learner::predict(const Data& inputs, std::span<double> means, std::span<double> variances) const {
  impl_->predict(inputs, means, variances);
}
void Learner::predict_left_out(const Data& data, std::span<double> means, std::span<double> variances) const {
  impl_->predict_left_out(data, means, variances);
}
std::size_t Learner::target_size() const { return impl_->target_size(); }
TeamSum Learner::sum_over_examples() const { return impl_->sum_over_examples(); }
void Learner::set_parameter(FactorId factor, std::string_view parameter, std::span<const double> values) {
  impl_->set_parameter(factor, parameter, values);
}
const LearnMemory& Learner::memory() const { return impl_->memory(); }
LearnMemory Learner::whole_memory() const { return impl_->whole_memory(); }
LearnMemory Learner::condensed_memory() const { return impl_->condensed_memory(); }
void Learner::restore(Memory memory) { impl_->restore(std::move(memory)); }
std::span<const double> Learner::fitted_means() const { return impl_->means_; }
std::span<const double> Learner::fitted_variances() const { return impl_->variances_; }
const LearnOptions& Learner::options() const { return impl_->options_; }
const Plan& Learner::plan() const { return impl_->plan_; }

}  // namespace dma
