// Hidden layers by rows held out: how wide, and whether two are better than one.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "models/network/joint_components.h"
#include "models/network/smoothing_choice.h"

namespace dma {

namespace {

// Each is tried while an epoch takes no more products than these. Where weights are about as many as rows a
// network is at its worst, and a wider one may be better again: one failure is passed over where the next is cheap.
constexpr std::size_t kWidths[] = {10, 20, 50, 100, 200};
constexpr double kMostTrialProducts = 1e10, kCheapTrialProducts = 1e8;
constexpr Index kMostWeightsPerRow = 2;  // more take long for what they gain
// A dear one is tried where the one before it has gained so many nats a row.
constexpr double kDearTrialProducts = 1e9, kGainBeforeDear = 0.1;
// Nats a held-out row that a wider network must gain, and in standard errors; so many of these are clear. A narrow one
// takes less time, and more members of it can be mixed.
constexpr double kLeastWidthGain = 0.005, kLeastWidthErrors = 0.5, kClearErrors = 1.5;
// Two layers of so many units each, where one layer has as many at least, and an epoch takes no more products.
constexpr std::size_t kDeepWidths[] = {20, 50};
constexpr double kDeepTrialProducts = 4e8;

}  // namespace

void JointRegression::choose_smoothing_by(const RowData& data) {
  if (!options_.choose_smoothing) return;
  const std::vector<Index>& columns = network_.columns();
  RowData seen;
  if (!columns.empty()) seen = {data.rows(Eigen::all, columns), data.targets, data.weights, data.likelihoods};
  set_smoothing(choose_smoothing(
      network_.shape(), learned_prior(0), first_state(0, data.targets.cols()), columns.empty() ? data : seen,
      {.learn_noise = options_.noise.empty(), .learn_scale = options_.learn_scale, .jobs = options_.jobs},
      options_.seed));
}

// Takes over the widest network that predicts rows held out better than those before it; folds are added until that is
// clear. So does the smallest one if it sees all inputs, against those that matter, and a second layer, where one of
// few units is not enough and it is clearly better. False: stopped.
bool JointRegression::try_widths(const RowData& data) {
  const Index rows = data.rows.rows();
  std::unique_ptr<JointRegression> best;
  Matrix scores;
  bool going_on = true;
  constexpr double kNextTrial = 8;  // times as long as one network takes that of the next width, twice
  const auto network_of = [&](std::vector<std::size_t> hidden, bool sees_all = false) {
    JointRegressionOptions own = options_;
    own.shape.slopes.resize(hidden.size(), own.shape.slopes[0]);
    hidden.insert(hidden.begin(), own.shape.layers.front()), hidden.push_back(own.shape.layers.back());
    own.shape.layers = std::move(hidden);
    auto next = std::make_unique<JointRegression>(std::move(own));
    if (!sees_all) next->set_relevance(best ? best->memory_.relevance : memory_.relevance);
    return next;
  };
  const auto products_of = [&](const JointRegression& next) {
    return products_of_epoch(std::min(data.count(), kMostTrialRows), next.network_.scalars());
  };
  const auto is_small = [&](const JointRegression& next) {
    return next.network_.scalars() <= kMostWeightsPerRow * data.count();
  };
  const auto can_learn = [&](const JointRegression& next) {
    const double trial = trial_seconds_ * products_of(next) / products_of(*best);
    return choose_form(rows, data.targets.cols(), next.network_.scalars()).form != SolverForm::Form::none &&
           has_time_for(2 * trial + next.seconds_after_trials(trial, data));
  };
  // What a network gains over the best so far, in nats a row held out, and whether it takes the place of that.
  struct Gain {
    double nats = 0;
    bool is_enough = false;
  };
  const auto gain_of = [&](std::unique_ptr<JointRegression> next, double least_errors) -> Gain {
    next->expected_end_ = expected_end_;
    next->choose_smoothing_by(data);
    next->deal_parts(rows, true);
    double gain = 0, error = 1;
    Matrix found;
    const auto begin = std::chrono::steady_clock::now();
    double networks = 0;
    for (std::size_t fold = 0; fold < next->parts_.size() && !(std::abs(gain) > kClearErrors * error) &&
                               (!best || found.rows() < scores.rows());
         ++fold) {
      going_on = next->learn_parts(data, fold, 1);
      if (!going_on) break;
      ++networks;
      found = next->scores_of_parts(data, fold + 1);
      if (!best) continue;
      const Eigen::ArrayXd gains = found.col(0) - scores.col(0).head(found.rows()), weights = found.col(1);
      const double count = weights.sum();
      gain = (weights * gains).sum() / count;
      error = std::sqrt((weights * (gains - gain).square()).sum() / (count * (count - 1)));
    }
    const bool is_enough = !best || (going_on && gain > std::max(kLeastWidthGain, least_errors * error));
    if (is_enough) {
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
      if (networks > 0) trial_seconds_ = taken.count() / networks;
      best = std::move(next), scores = std::move(found);
    }
    expect_end_after((is_enough ? kNextTrial * trial_seconds_ : 0) + best->seconds_after_trials(trial_seconds_, data));
    return {gain, is_enough};
  };
  const auto try_all_widths = [&] {
    int failures = 0;
    double last_gain = HUGE_VAL;
    for (const std::size_t width : kWidths) {
      auto next = network_of({width});
      const double products = products_of(*next);
      if (failures == 2 || (failures == 1 && products > kCheapTrialProducts)) return;
      if (best && !is_small(*next)) {
        if (failures == 0)
          memory_.width_reason = fmt::format("{} have more than {} weights a row", width, kMostWeightsPerRow);
        return;
      }
      if (best && (products > (last_gain > kGainBeforeDear ? kMostTrialProducts : kDearTrialProducts) ||
                   !can_learn(*next))) {
        memory_.width_reason = fmt::format("{} would take long (--hidden {})", width, width);
        return;
      }
      const bool is_first = !best;
      const Gain gain = gain_of(std::move(next), kLeastWidthErrors);
      if (!going_on) return;
      if (is_first && !network_.columns().empty())
        if (auto all = network_of({width}, true); products_of(*all) <= kMostTrialProducts) {
          (void)gain_of(std::move(all), kLeastWidthErrors);
          if (!going_on) return;
        }
      if (gain.is_enough) {
        memory_.width_reason.clear(), failures = 0;
        if (!is_first) last_gain = gain.nats;
      } else {
        memory_.width_reason = fmt::format("{} predict rows held out no better ({:+.3f} nats a row)", width, gain.nats);
        ++failures;
      }
    }
  };
  const auto first = network_of({kWidths[0]});
  trial_seconds_ = first->usual_trial_seconds(data);
  const double least = trial_seconds_ + first->seconds_after_trials(trial_seconds_, data);
  expect_end_after(least + kNextTrial * trial_seconds_);
  tell("networks", 0);
  if (!has_time_for(least)) {
    memory_.width_reason = fmt::format("{} hidden units: there is no time to try others", kWidths[0]);
    options_.shape = first->options_.shape;
    set_relevance(std::move(memory_.relevance));
    choose_smoothing_by(data);
    return true;
  }
  try_all_widths();
  for (const std::size_t width : kDeepWidths) {
    if (!going_on || best->options_.shape.layers[1] < width) break;
    auto next = network_of({width, width});
    if (products_of(*next) > kDeepTrialProducts || !is_small(*next) || !can_learn(*next)) break;
    if (!gain_of(std::move(next), kClearErrors).is_enough) break;
    memory_.width_reason.clear();
  }
  memory_.width_reason = fmt::format("{} hidden units{}{}", units_text(best->options_.shape),
                                     memory_.width_reason.empty() ? "" : ": ", memory_.width_reason);
  options_.shape = best->options_.shape;
  set_relevance(best->memory_.relevance);
  memory_.smoothing = best->memory_.smoothing;
  parts_ = std::move(best->parts_);
  return going_on;
}

}  // namespace dma
