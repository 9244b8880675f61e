#include "engine/learn/gaussian/choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "engine/learn/gaussian/growing.h"
#include "engine/support/shuffle.h"

namespace dma {

namespace {

constexpr double kTrialProducts = 1e7, kMostTrialledProducts = 4e8;  // products per epoch: some 2 ms, and some 50
constexpr Index kFewestTrialRows = 30;
constexpr int kFirstTrialEpochs = 15, kTrialEpochs = 40;
constexpr double kClearTrialNats = 5, kClearTrialNatsPerRow = 0.05;

// Each size is tried while an epoch takes no more products than these. Where scalars are about as many as rows a graph
// is at its worst, and a larger one may be better again: one failure is passed over where the next is cheap.
constexpr double kMostSizeProducts = 1e10, kCheapSizeProducts = 1e8;
constexpr Index kMostScalarsPerRow = 2;  // more take long for what they gain
// A dear one is tried where the one before it has gained so many nats per row.
constexpr double kDearSizeProducts = 1e9, kGainBeforeDear = 0.1;
// Nats per held-out row that a larger graph must gain, and in standard errors; so many of these are clear. A small one
// takes less time, and more members of it can be mixed.
constexpr double kLeastGain = 0.005, kLeastErrors = 0.5, kClearErrors = 1.5;
constexpr double kDeepProducts = 4e8;  // most products per epoch of a deeper graph
constexpr double kNextTrial = 8;       // times as long as a graph takes one of the next size, twice

Index rows_for_smoothing(Index rows, Index outputs, Index scalars) {
  const auto p = static_cast<double>(scalars);
  const double most = std::max(std::cbrt(kTrialProducts), kTrialProducts / (p * p)) / static_cast<double>(outputs);
  return std::min(rows, static_cast<Index>(most));
}

}  // namespace

double choose_smoothing(const GraphMixture& mixture, const RowData& data, std::size_t jobs) {
  const GraphFamily& family = mixture.family();
  const GraphChoice& choice = mixture.memory().choice;
  if (!family.smoothings) return choice.smoothing;
  const Index rows = data.rows.rows(), outputs = data.targets.cols(), scalars = mixture.model().rows->scalars();
  const bool dear = products_of_epoch(data.count(), scalars) > kMostTrialledProducts;
  const Index tried = rows_for_smoothing(rows, outputs, scalars);
  if (tried < kFewestTrialRows || (dear && !worth_growing(rows, outputs, scalars))) return choice.smoothing;
  std::vector<Index> some = random_order(rows, mixture.options().seed);
  some.resize(static_cast<std::size_t>(tried));
  const RowData subset = data.some(some);
  struct Trial {
    double smoothing, evidence;
    SharedState state;
  };
  const SharedPrior prior = mixture.prior_of(0);
  const SharedState start = mixture.first_state(0, data);
  const auto learn = [&](Trial& trial, int epochs) {
    GraphChoice own = choice;
    own.smoothing = trial.smoothing;
    const bool is_dual = subset.count() <= scalars && !subset.has_classes() && prior.group_count() <= 1;
    const auto curvature = is_dual ? make_dual() : make_primal();
    const SharedModel graph = family.model(own);  // the curvature refers to it
    curvature->use_threads(jobs, nullptr);
    trial.evidence = fit_shared(*graph.rows, subset, prior,
                                {.epochs = epochs,
                                 .learn_noise = mixture.options().learn_noise,
                                 .learn_scale = mixture.options().learn_scale,
                                 .jobs = jobs},
                                trial.state, *curvature);
  };
  const double clear = std::max(kClearTrialNats, kClearTrialNatsPerRow * static_cast<double>(subset.count()));
  Trial own{choice.smoothing, 0, start};
  learn(own, kFirstTrialEpochs);
  std::vector<Trial> others;
  for (const double smoothing : family.smoothings(choice)) {
    if (smoothing == choice.smoothing) continue;
    Trial other{smoothing, 0, start};
    learn(other, kFirstTrialEpochs);
    if (other.evidence > own.evidence - clear) others.push_back(std::move(other));  // the rest will not get ahead
  }
  if (others.empty()) return choice.smoothing;
  learn(own, kTrialEpochs);
  double best = choice.smoothing, least = own.evidence + clear;
  for (Trial& other : others) {
    learn(other, kTrialEpochs);
    if (other.evidence > least) best = other.smoothing, least = other.evidence;
  }
  return best;
}

namespace {

class SizeSearch {
 public:
  SizeSearch(const std::shared_ptr<const GraphFamily>& family, const GraphMixtureOptions& options, bool smoothing_too,
             Vector relevance, const RowData& data, const LearnControl& control, ExpectedEnd& end)
      : family_(family),
        options_(options),
        smoothing_too_(smoothing_too),
        relevance_(std::move(relevance)),
        data_(data),
        control_(control),
        end_(end) {}

  ChosenSizes search() {
    const Candidate first = candidate(family_->sizes[0]);
    trial_seconds_ = usual_trial_seconds(data_, first.scalars);
    const double least = trial_seconds_ + seconds_after_trials(trial_seconds_, data_, first.scalars);
    end_.after(least + kNextTrial * trial_seconds_);
    if (control_.on_stage) control_.on_stage({"networks", 0});
    if (!control_.has_time_for(least)) {
      ChosenSizes chosen{first.choice};
      chosen.reason = fmt::format("{}: there is no time to try others", family_->text(first.choice.sizes));
      if (smoothing_too_) choose_smoothing_of(chosen.choice);
      chosen.trial_seconds = trial_seconds_;
      return chosen;
    }
    try_sizes();
    for (const auto& sizes : family_->deeper) {
      if (stopped_ || best_->choice.sizes[0] < sizes[0]) break;
      const Candidate next = candidate(sizes);
      if (products_of(next) > kDeepProducts || !is_small(next) || !can_learn(next)) break;
      if (!try_candidate(next, kClearErrors).is_enough) break;
      why_.clear();
    }
    return {best_->choice, std::move(best_->judged),
            fmt::format("{}{}{}", family_->text(best_->choice.sizes), why_.empty() ? "" : ": ", why_), trial_seconds_,
            stopped_};
  }

 private:
  struct Candidate {
    GraphChoice choice;
    Index scalars;
    bool reads_some = false;  // true if it does not read all inputs
  };
  struct Best {
    GraphChoice choice;
    Index scalars;
    Judged judged;
    Matrix scores;
  };
  // Gain of a graph over the best so far, in nats per row held out; is_enough: true if it takes the place of that.
  struct Gain {
    double nats = 0;
    bool is_enough = false;
  };

  Candidate candidate(const std::vector<std::size_t>& sizes, bool reads_all = false) const {
    GraphChoice choice = family_->first;
    choice.sizes = sizes;
    choice.relevance = reads_all ? Vector() : best_ ? best_->choice.relevance : relevance_;
    const SharedModel graph = family_->model(choice);
    return {std::move(choice), graph.rows->scalars(), !graph.columns.empty()};
  }
  double products_of(const Candidate& next) const {
    return products_of_epoch(std::min(data_.count(), kMostTrialRows), next.scalars);
  }
  bool is_small(const Candidate& next) const { return next.scalars <= kMostScalarsPerRow * data_.count(); }
  bool can_learn(const Candidate& next) const {
    const double trial = trial_seconds_ * products_of(next) / products_of({best_->choice, best_->scalars});
    return choose_form(data_.rows.rows(), data_.targets.cols(), next.scalars).form != SolverForm::Form::none &&
           control_.has_time_for(2 * trial + seconds_after_trials(trial, data_, next.scalars));
  }

  void choose_smoothing_of(GraphChoice& choice) const {
    GraphMixture mixture(family_, options_);
    mixture.choose(choice);
    choice.smoothing = choose_smoothing(mixture, data_, control_.jobs);
  }

  Gain try_candidate(Candidate next, double least_errors) {
    if (smoothing_too_) choose_smoothing_of(next.choice);
    Judged judged(family_, options_, next.choice, data_, true);
    double gain = 0, error = 1;
    Matrix found;
    const auto begin = std::chrono::steady_clock::now();
    double learned = 0;
    for (std::size_t fold = 0; fold < judged.parts() && !(std::abs(gain) > kClearErrors * error) &&
                               (!best_ || found.rows() < best_->scores.rows());
         ++fold) {
      stopped_ = !judged.learn(data_, control_, family_->text(next.choice.sizes), fold, 1);
      if (stopped_) break;
      ++learned;
      found = judged.scores(data_, fold + 1, options_.tails);
      if (!best_) continue;
      const Eigen::ArrayXd gains = found.col(0) - best_->scores.col(0).head(found.rows()), weights = found.col(1);
      const double count = weights.sum();
      gain = (weights * gains).sum() / count;
      error = std::sqrt((weights * (gains - gain).square()).sum() / (count * (count - 1)));
    }
    const bool is_enough = !best_ || (!stopped_ && gain > std::max(kLeastGain, least_errors * error));
    if (is_enough) {
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
      if (learned > 0) trial_seconds_ = taken.count() / learned;
      best_ = Best{std::move(next.choice), next.scalars, std::move(judged), std::move(found)};
    }
    end_.after((is_enough ? kNextTrial * trial_seconds_ : 0) +
               seconds_after_trials(trial_seconds_, data_, best_->scalars));
    return {gain, is_enough};
  }

  void try_sizes() {
    int failures = 0;
    double last_gain = HUGE_VAL;
    for (const auto& sizes : family_->sizes) {
      Candidate next = candidate(sizes);
      const double products = products_of(next);
      if (failures == 2 || (failures == 1 && products > kCheapSizeProducts)) return;
      if (best_ && !is_small(next)) {
        if (failures == 0) why_ = fmt::format("{} have more than {} weights per row", sizes[0], kMostScalarsPerRow);
        return;
      }
      if (best_ &&
          (products > (last_gain > kGainBeforeDear ? kMostSizeProducts : kDearSizeProducts) || !can_learn(next))) {
        why_ = fmt::format("{} would take long (--hidden {})", sizes[0], sizes[0]);
        return;
      }
      const bool is_first = !best_, reads_some = next.reads_some;
      const Gain gain = try_candidate(std::move(next), kLeastErrors);
      if (stopped_) return;
      if (is_first && reads_some)
        if (Candidate all = candidate(sizes, true); products_of(all) <= kMostSizeProducts) {
          (void)try_candidate(std::move(all), kLeastErrors);
          if (stopped_) return;
        }
      if (gain.is_enough) {
        why_.clear(), failures = 0;
        if (!is_first) last_gain = gain.nats;
      } else {
        why_ = fmt::format("{} predict rows held out no better ({:+.3f} nats per row)", sizes[0], gain.nats);
        ++failures;
      }
    }
  }

  std::shared_ptr<const GraphFamily> family_;
  GraphMixtureOptions options_;
  bool smoothing_too_;
  Vector relevance_;
  const RowData& data_;
  const LearnControl& control_;
  ExpectedEnd& end_;
  std::optional<Best> best_;
  double trial_seconds_ = 0;
  std::string why_;
  bool stopped_ = false;
};

}  // namespace

ChosenSizes choose_sizes(const std::shared_ptr<const GraphFamily>& family, const GraphMixtureOptions& options,
                         bool smoothing_too, Vector relevance, const RowData& data, const LearnControl& control,
                         ExpectedEnd& end) {
  return SizeSearch(family, options, smoothing_too, std::move(relevance), data, control, end).search();
}

}  // namespace dma
