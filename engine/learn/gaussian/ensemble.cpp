#include "engine/learn/gaussian/ensemble.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/learn/gaussian/choice.h"

namespace dma {

namespace {

constexpr Index kTimesJudged = 7;  // as long as one that holds rows out a judged graph takes, sizes included

EnsembleOptions consistent(EnsembleOptions options) {
  if (!options.mixture.learn_noise) options.mixture.noise_model = NoiseModel::constant, options.mixture.tails = false;
  return options;
}

}  // namespace

Ensemble::Ensemble(GraphFamily family, EnsembleOptions options)
    : family_(std::make_shared<const GraphFamily>(std::move(family))),
      options_(consistent(std::move(options))),
      mixture_(family_, options_.mixture) {}

bool Ensemble::prepare(const RowData& data, const LearnControl& given) {
  const LearnControl control = end_.told(given);
  const Index rows = data.rows.rows(), outputs = data.targets.cols();
  const auto scalars = [&] { return mixture_.model().rows->scalars(); };
  const bool can_hold_out = options_.hold_out && rows >= kFewestToHoldOut;
  const bool chooses_sizes = options_.choose_sizes && can_hold_out && !family_->sizes.empty();
  // Parts that were stopped have left no more than one epoch of their own.
  const bool has_parts = can_hold_out && (options_.choose_sizes || data.count() <= kRowsPerScalar * scalars());
  const bool anew = !mixture_.has_begun(has_parts ? 1 : 0);
  prepared_ = true;
  judged_ = {};
  bool going_on = true;
  if (anew) {
    GraphMixture::Memory memory{.choice = family_->first};
    if (options_.choose_relevance && family_->relevance) memory.choice.relevance = family_->relevance(data);
    size_reason_.clear();
    if (chooses_sizes) {
      ChosenSizes chosen = choose_sizes(family_, options_.mixture, options_.choose_smoothing,
                                        std::move(memory.choice.relevance), data, control, end_);
      memory.choice = std::move(chosen.choice);
      size_reason_ = std::move(chosen.reason);
      judged_ = std::move(chosen.judged);
      trial_seconds_ = chosen.trial_seconds;
      going_on = !chosen.stopped;
      mixture_.restore(std::move(memory));
    } else {
      mixture_.restore(std::move(memory));
      end_.after(seconds_after_trials(usual_trial_seconds(data, scalars()), data, scalars(), 1, can_hold_out));
      if (control.on_stage) control.on_stage({"networks", 0});
      if (options_.choose_smoothing) {
        GraphChoice choice = mixture_.memory().choice;
        choice.smoothing = choose_smoothing(mixture_, data, control.jobs);
        mixture_.choose(std::move(choice));
      }
    }
  }
  if (!(trial_seconds_ > 0)) trial_seconds_ = usual_trial_seconds(data, scalars());
  const bool tried = judged_.parts() > 0;
  bool judges = going_on && can_hold_out && data.count() <= kRowsPerScalar * scalars() &&
                choose_form(rows, outputs, scalars()).form != SolverForm::Form::none;
  GraphMixtureOptions mixture = options_.mixture;
  if (mixture.members == 0)
    mixture.members = judges ? affordable_members(rows - rows / 5, outputs, scalars(), kTimesJudged)
                             : affordable_members(rows, outputs, scalars());
  const auto rest = [&] { return seconds_after_trials(trial_seconds_, data, scalars(), mixture.members, judges); };
  const auto has_time = [&] { return control.has_time_for(rest()); };
  while (mixture.members > 1 && !has_time()) --mixture.members;
  if (judges) judges = has_time();
  end_.after(rest());
  if (judges) {
    if (!tried || !judged_.has_learned_all(rows))
      judged_ = Judged(family_, mixture, mixture_.memory().choice, data, false);
    judged_.learn_as(mixture);
    going_on = judged_.learn(data, control, family_->text(mixture_.memory().choice.sizes), 0, judged_.parts());
  }
  mixture_.set_members(mixture.members, mixture.noise_model, mixture.simple);
  mixture_.start_from(going_on ? judged_.starts(mixture_.model(), rows) : std::vector<SharedState>());
  if (!going_on || !judges) judged_ = {};
  end_.after(seconds_after_trials(trial_seconds_, data, scalars(), mixture.members, false));
  return anew;
}

GraphMixtureReport Ensemble::fit(RowData data, const LearnControl& given, const GraphMixture::OnEpoch& on_epoch) {
  const LearnControl control = end_.told(given);
  if (!std::exchange(prepared_, false)) prepare(data, given), prepared_ = false;
  HeldOut held = judged_.beliefs(data, mixture_.options().members);
  judged_ = {};
  GraphMixtureReport report = mixture_.fit(std::move(data), control, on_epoch, std::move(held));
  if (!size_reason_.empty()) report.form.reason += "; " + size_reason_;
  return report;
}

}  // namespace dma
