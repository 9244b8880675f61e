// Networks that hold rows out, to judge those that learn all of them.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "engine/learn/joint/growing.h"
#include "engine/support/parallel.h"
#include "models/network/joint_components.h"
#include "models/network/smoothing_choice.h"
#include "models/table/relevance.h"

namespace dma {

namespace {

// A fifth of the rows is held out at a time: five times, or less often, but twice at least, where an epoch of all
// networks would take more products than this.
constexpr Index kFolds = 5, kFewestFolds = 2;
constexpr double kFoldProducts = 5e8;
constexpr Index kTimesJudged = 7;  // as long as one that holds rows out a judged network takes, widths included
constexpr Index kFewestToHoldOut = 100;  // four fifths of fewer say too little of what all of them teach
// As many rows tell the level of noise to 4 %; more than the latter tell no more.
constexpr Index kEnoughHeldOut = 400, kMostHeldOut = 4000;
// With so many rows for every weight leverage leaves rows out as well.
constexpr Index kRowsPerWeight = 16;
// Of widths: each is tried while an epoch takes no more products than these. Where weights are about as many as rows a
// network is at its worst, and a wider one may be better again: one failure is passed over where the next is cheap.
constexpr std::size_t kWidths[] = {10, 20, 50, 100, 200};
constexpr Index kMostTrialRows = 10000;
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

// Of one hidden layer 20, of two 20-20.
std::string units_text(const BnnShape& shape) {
  return fmt::format("{}", fmt::join(shape.layers.begin() + 1, shape.layers.end() - 1, "-"));
}

void put(const RowBeliefs& some, const std::vector<Index>& which, RowBeliefs& all) {
  all.mean(which, Eigen::all) = some.mean;
  all.variance(which, Eigen::all) = some.variance;
  all.noise(which, Eigen::all) = some.noise;
}

RowBeliefs beliefs_for(Index rows, Index outputs) {
  const Matrix nothing = Matrix::Zero(rows, outputs);
  return {nothing, nothing, nothing};
}

}  // namespace

// Folds of a random order of the rows, so many of them that there are enough rows held out. A trial learns one member
// with constant noise, and bounds the rows it learns from. Networks of different folds are different draws.
void JointRegression::deal_parts(Index rows, bool trial) {
  parts_.clear();
  const std::vector<Index> order = random_order(rows, options_.seed + 0x5eed);
  JointRegressionOptions own = options_;
  own.choose_relevance = memory_.relevance.size() > 0;  // by its own rows
  own.hold_out = own.choose_width = own.choose_smoothing = own.tails = false;
  own.on_stage = {};
  if (trial) own.members = 1, own.noise_model = NoiseModel::constant, own.linear_baseline = false;
  const Index outputs = network_.outputs(),
              learned = std::min(rows - rows / kFolds, trial ? kMostTrialRows : rows) * outputs;
  const double most = kFoldProducts / products_of_epoch(learned, network_.scalars());
  Index count = 0;
  for (Index fold = 0; fold < kFolds && count < kEnoughHeldOut; ++fold) {
    if (fold >= kFewestFolds && static_cast<double>(fold) >= most) break;
    const Index first = fold * rows / kFolds, last = std::min((fold + 1) * rows / kFolds, first + kMostHeldOut);
    Part part{{order.begin() + first, order.begin() + last}, {order.begin() + last, order.end()}, {}};
    part.learned.insert(part.learned.end(), order.begin(), order.begin() + first);
    if (trial) part.learned.resize(std::min(part.learned.size(), static_cast<std::size_t>(kMostTrialRows)));
    for (auto* some : {&part.held, &part.learned}) std::ranges::sort(*some);
    count += last - first;
    own.seed = options_.seed + 1000 * static_cast<std::uint64_t>(fold);
    part.model = std::make_unique<JointRegression>(own);
    parts_.push_back(std::move(part));
  }
}

// So many parts from the first one on. False: stopped.
bool JointRegression::learn_parts(const RowData& data, std::size_t first, std::size_t count) {
  const SolverForm form = choose_form(data.rows.rows(), data.targets.cols(), network_.scalars());
  const std::size_t jobs = at_once(form, count);
  std::atomic<bool> stopped = false;
  std::atomic<std::size_t> learned = 0;
  parallel_for(count, jobs, [&](std::size_t task) {
    if (stopped) return;
    const Part& part = parts_[first + task];
    JointRegression& model = *part.model;
    model.options_.jobs = std::max<std::size_t>(1, options_.jobs / jobs);
    const auto on_epoch = [&](const Progress&) { return !options_.keep_going || options_.keep_going(); };
    if (model.fit(data.some(part.learned), on_epoch).interrupted) stopped = true;
    if (options_.on_stage)
      options_.on_stage({fmt::format("{} units, rows held out", units_text(options_.shape)),
                         static_cast<double>(++learned) / static_cast<double>(count)});
  });
  return !stopped;
}

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

// Log density of every row that so many trials hold out, with the tails that suit them, and its weight.
Matrix JointRegression::scores_of_parts(const RowData& data, std::size_t count) const {
  std::vector<Index> rows;
  RowBeliefs found = beliefs_for(data.rows.rows(), data.targets.cols());
  for (std::size_t p = 0; p < count; ++p) {
    const Part& part = parts_[p];
    put(part.model->beliefs_of_networks(data.rows(part.held, Eigen::all))[0], part.held, found);
    rows.insert(rows.end(), part.held.begin(), part.held.end());
  }
  const RowData held = data.some(rows);
  SharedPosterior tails;
  if (options_.tails) tails.tails = tails_of(held, found.some(rows));
  Matrix scores = Matrix::Ones(held.targets.rows(), 2);
  scores.col(0) = Prediction::mix({component(found.some(rows), tails, {})}).log_density(held.targets).rowwise().sum();
  if (held.weights.size() > 0) scores.col(1) = held.weights;
  return scores;
}

// Takes over the widest network that predicts rows held out better than those before it; folds are added until that is
// clear. So does the smallest one if it sees all inputs, against those that matter, and a second layer, where one of
// few units is not enough and it is clearly better. False: stopped.
bool JointRegression::try_widths(const RowData& data) {
  const Index rows = data.rows.rows();
  std::unique_ptr<JointRegression> best;
  Matrix scores;
  bool going_on = true;
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
    return choose_form(rows, data.targets.cols(), next.network_.scalars()).form != SolverForm::Form::none;
  };
  // What a network gains, in nats a row held out, if that makes it the best one; else none, and what it has gained.
  struct Gain {
    double nats = 0;
    bool is_enough = false;
  };
  const auto gain_of = [&](std::unique_ptr<JointRegression> next, double least_errors) -> Gain {
    next->choose_smoothing_by(data);
    next->deal_parts(rows, true);
    double gain = 0, error = 1;
    Matrix found;
    for (std::size_t fold = 0; fold < next->parts_.size() && !(std::abs(gain) > kClearErrors * error) &&
                               (!best || found.rows() < scores.rows());
         ++fold) {
      going_on = next->learn_parts(data, fold, 1);
      if (!going_on) break;
      found = next->scores_of_parts(data, fold + 1);
      if (!best) continue;
      const Eigen::ArrayXd gains = found.col(0) - scores.col(0).head(found.rows()), weights = found.col(1);
      const double count = weights.sum();
      gain = (weights * gains).sum() / count;
      error = std::sqrt((weights * (gains - gain).square()).sum() / (count * (count - 1)));
    }
    const bool is_enough = !best || (going_on && gain > std::max(kLeastWidthGain, least_errors * error));
    if (is_enough) best = std::move(next), scores = std::move(found);
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

bool JointRegression::prepare(const RowData& data) {
  const Index rows = data.rows.rows(), outputs = data.targets.cols();
  const bool can_hold_out = options_.hold_out && options_.shape.layers.size() > 2 && rows >= kFewestToHoldOut;
  // Parts that were stopped have left no more than one epoch of their own.
  const bool has_parts =
      can_hold_out && (options_.choose_width || data.count() <= kRowsPerWeight * network_.scalars());
  const auto is_begun = [&](const Member& m) { return m.plain.epoch > (has_parts ? 1 : 0); };
  const bool anew = std::ranges::none_of(memory_.members, is_begun);
  prepared_ = true;
  parts_.clear(), starts_.clear(), judged_.clear();
  bool going_on = true;
  if (anew) {
    memory_ = {};
    set_relevance(options_.choose_relevance ? relevance_of(data.rows, data.targets, options_.seed, data.weights)
                                            : Vector());
    if (options_.choose_width && can_hold_out)
      going_on = try_widths(data);
    else
      choose_smoothing_by(data);
  }
  const bool tried = !parts_.empty();
  const bool judges = going_on && can_hold_out && data.count() <= kRowsPerWeight * network_.scalars() &&
                      choose_form(rows, outputs, network_.scalars()).form != SolverForm::Form::none;
  memory_.members.resize(
      options_.members > 0 ? options_.members
      : judges ? affordable_members(rows - rows / kFolds, outputs, network_.scalars(), kTimesJudged)
               : affordable_members(rows, outputs, network_.scalars()));
  if (judges) {
    if (!tried || rows - static_cast<Index>(parts_[0].held.size()) > kMostTrialRows) deal_parts(rows, false);
    for (Part& part : parts_) {
      part.model->options_.members = memory_.members.size();
      part.model->options_.noise_model = options_.noise_model;
      part.model->options_.linear_baseline = options_.linear_baseline;
    }
    going_on = learn_parts(data, 0, parts_.size());
  }
  if (going_on && !parts_.empty() && parts_[0].model->network_.columns() == network_.columns())
    for (const Member& member : parts_[0].model->memory_.members) {
      SharedState& start = starts_.emplace_back(member.plain);
      const auto learned = static_cast<Index>(parts_[0].learned.size());
      start.epoch = 0, start.subset = learned < rows - static_cast<Index>(parts_[0].held.size()) ? learned : 0;
      start.begin_stage();
    }
  if (!going_on || !judges) parts_.clear();
  return anew;
}

void JointRegression::collect_parts(Fitting& fitting) {
  if (parts_.empty()) return;
  const RowData& data = fitting.data;
  const RowBeliefs nothing = beliefs_for(data.rows.rows(), data.targets.cols());
  fitting.held_plain.assign(memory_.members.size(), nothing);
  fitting.held_weighted.assign(memory_.members.size(), nothing);
  fitting.held_baseline = nothing;
  for (const Part& part : parts_) {
    const Matrix rows = data.rows(part.held, Eigen::all);
    const std::vector<RowBeliefs> found = part.model->beliefs_of_networks(rows);
    for (std::size_t k = 0; k < memory_.members.size(); ++k) {
      put(found[2 * k], part.held, fitting.held_plain[k]);
      put(found[2 * k + (found[2 * k + 1].mean.size() > 0 ? 1 : 0)], part.held, fitting.held_weighted[k]);
    }
    if (options_.linear_baseline)
      put(part.model->memory_.baseline->predict(linear_, linear_prior_, rows), part.held, fitting.held_baseline);
    judged_.insert(judged_.end(), part.held.begin(), part.held.end());
  }
  std::ranges::sort(judged_);
  parts_.clear();
}

// Judged rows are what was held out says of them, with the noise of what learned them; they tell its tails.
void JointRegression::judge(const Fitting& fitting, const RowBeliefs& held, SharedSolution& found) const {
  if (judged_.empty()) return;
  found.left_out.mean(judged_, Eigen::all) = held.mean(judged_, Eigen::all);
  found.left_out.variance(judged_, Eigen::all) = held.variance(judged_, Eigen::all);
  if (options_.tails) found.posterior.tails = tails_of(fitting.data.some(judged_), found.left_out.some(judged_));
}

double JointRegression::score_judged(const std::vector<PredictionComponent>& components, const RowData& data) const {
  return judged_.empty() ? score_of(components, data.targets, data.weights)
                         : score_of(rows_of(components, judged_), data.targets(judged_, Eigen::all),
                                    weights_of(data.weights, judged_));
}

}  // namespace dma
