// Networks that hold rows out, to judge those that learn all of them.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>

#include "engine/learn/joint/growing.h"
#include "engine/support/parallel.h"
#include "engine/support/shuffle.h"
#include "models/network/joint_components.h"
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

// What a trial, which holds rows out, learns from.
Index trial_rows(Index rows) { return std::min(rows - rows / kFolds, kMostTrialRows); }

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

double JointRegression::usual_trial_seconds(const RowData& data) const {
  constexpr double kEpochs = 50, kEpochsOfAllRows = 12, kProductsASecond = 1e10;
  const Index rows = data.rows.rows(), outputs = data.targets.cols(), scalars = network_.scalars();
  return (worth_growing(rows, outputs, scalars) ? kEpochsOfAllRows : kEpochs) *
         products_of_epoch(trial_rows(rows) * outputs, scalars) / kProductsASecond;
}

double JointRegression::seconds_after_trials(double trial, const RowData& data, std::size_t members,
                                             bool judges) const {
  constexpr double kTimesATrial = 1.7;  // noise that depends on inputs is learned too
  const Index rows = data.rows.rows(), scalars = network_.scalars();
  const double most = kFoldProducts / products_of_epoch((rows - rows / kFolds) * data.targets.cols(), scalars),
               folds = judges && data.count() <= kRowsPerWeight * scalars
                           ? std::clamp(most, double{kFewestFolds}, double{kFolds})
                           : 0;
  const double each = kTimesATrial * trial * static_cast<double>(rows) / static_cast<double>(trial_rows(rows));
  return each * static_cast<double>(members) * (1 + folds * (1 - 1.0 / kFolds));
}

void JointRegression::expect_end_after(double seconds) {
  using namespace std::chrono;
  expected_end_ = steady_clock::now() + duration_cast<steady_clock::duration>(duration<double>(std::min(seconds, 1e7)));
}

void JointRegression::tell(std::string what, double fraction) const {
  if (!options_.on_stage) return;
  const std::chrono::duration<double> left = expected_end_ - std::chrono::steady_clock::now();
  const bool is_known = expected_end_.time_since_epoch().count() > 0;
  options_.on_stage({std::move(what), fraction, is_known ? std::max(0.0, left.count()) : -1});
}

// Folds of a random order of the rows, so many of them that there are enough rows held out. A trial learns one member
// with constant noise, and bounds the rows it learns from. Networks of different folds are different draws.
void JointRegression::deal_parts(Index rows, bool trial) {
  parts_.clear();
  const std::vector<Index> order = random_order(rows, options_.seed + 0x5eed);
  JointRegressionOptions own = options_;
  own.choose_relevance = memory_.relevance.size() > 0;  // by its own rows
  own.hold_out = own.choose_width = own.choose_smoothing = own.tails = false;
  own.on_stage = {}, own.seconds_left = {};
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
    tell(fmt::format("{} units, rows held out", units_text(options_.shape)),
         static_cast<double>(++learned) / static_cast<double>(count));
  });
  return !stopped;
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
    if (options_.choose_width && can_hold_out) {
      going_on = try_widths(data);
    } else {
      expect_end_after(seconds_after_trials(usual_trial_seconds(data), data, 1, can_hold_out));
      tell("networks", 0);
      choose_smoothing_by(data);
    }
  }
  if (!(trial_seconds_ > 0)) trial_seconds_ = usual_trial_seconds(data);
  const bool tried = !parts_.empty();
  bool judges = going_on && can_hold_out && data.count() <= kRowsPerWeight * network_.scalars() &&
                      choose_form(rows, outputs, network_.scalars()).form != SolverForm::Form::none;
  memory_.members.resize(
      options_.members > 0 ? options_.members
      : judges ? affordable_members(rows - rows / kFolds, outputs, network_.scalars(), kTimesJudged)
               : affordable_members(rows, outputs, network_.scalars()));
  const auto rest = [&] { return seconds_after_trials(trial_seconds_, data, memory_.members.size(), judges); };
  while (memory_.members.size() > 1 && !has_time_for(rest())) memory_.members.pop_back();
  if (judges) judges = has_time_for(rest());
  expect_end_after(rest());
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
  expect_end_after(seconds_after_trials(trial_seconds_, data, memory_.members.size(), false));
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
