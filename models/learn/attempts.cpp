#include "models/learn/attempts.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "engine/support/shuffle.h"
#include "engine/support/special_functions.h"
#include "models/table/log_scale.h"

namespace dma {

namespace {

constexpr double kLeastGain = 4;  // nats of all rows, for effects and logarithms
// Far rows: the largest fraction of a table, the fewest rows that can tell, the fits without them.
constexpr double kMostFar = 0.1;
constexpr Index kFewestRows = 30;
constexpr int kMostRefits = 3;
constexpr Index kRowsPerFar = 100;
constexpr double kMostError = 1.05;  // times the RMSE before, by logarithms

// All rows but some, which are sorted.
std::vector<Index> rows_but(const std::vector<Index>& some, Index rows) {
  std::vector<Index> rest;
  for (Index n = 0; n < rows; ++n)
    if (!std::ranges::binary_search(some, n)) rest.push_back(n);
  return rest;
}

void fit_all_but(std::vector<Index> far, TableLearner& learner, const TableRows& rows, const TableFit& fit) {
  if (far.empty()) return learner.fit_near(rows, {}, fit);
  const TableRows near = rows.some(rows_but(far, rows.inputs.rows()));
  learner.fit_near(near, std::move(far), fit);
}

// Deviations are measured in units that half of the rows decide, since far rows stretch every other. Far rows may bend
// the fit until others deviate: those beyond the spread of the targets, before and after the fit, are far in any case,
// and the only ones where they would be too many. Where one value fills half of a column, rare values are no errors.
std::vector<Index> find_far(const TableLearner& learner, const TableRows& rows) {
  using Flags = Eigen::Array<bool, Eigen::Dynamic, 1>;
  constexpr double kMost = kFarDeviations / 0.6745;  // medians, which are 0.6745 of standard Gaussian numbers
  const Eigen::MatrixXd& targets = rows.targets;
  const std::vector<Index>& far = learner.far();
  const Prediction p = far.empty() ? Prediction() : learner.predict(rows.inputs(far, Eigen::all));
  const std::vector<Index> near = rows_but(far, targets.rows());
  Flags deviates = Flags::Constant(targets.rows(), false), stands_out = deviates;
  for (Index j = 0; j < targets.cols(); ++j) {
    Eigen::ArrayXd residuals(targets.rows()), deviations(targets.rows());
    residuals(near) = learner.left_out_residuals().col(j);
    deviations(near) = learner.left_out_deviations().col(j);
    if (!far.empty()) {
      residuals(far) = targets.col(j)(far) - p.mean.col(j);
      deviations(far) = residuals(far) / p.sd.col(j).array();
    }
    const Eigen::ArrayXd centred = targets.col(j).array() - median(targets.col(j));
    const double spread = kMost * median(centred.abs());
    if (!(spread > 0)) continue;
    deviates = deviates || deviations.abs() > kMost * median(deviations.abs());
    stands_out = stands_out || (centred.abs() > spread && residuals.abs() > spread);
  }
  const auto most = static_cast<Index>(kMostFar * static_cast<double>(targets.rows()));
  for (const Flags& is_far : {Flags(deviates || stands_out), stands_out}) {
    if (is_far.count() > most) continue;
    std::vector<Index> found;
    for (Index n = 0; n < targets.rows(); ++n)
      if (is_far(n)) found.push_back(n);
    return found;
  }
  return far;
}

// Log density of all rows, learned ones left out; as counts, their log probability. A row is far with the probability
// of their fraction, and then Gaussian about its prediction, as wide as they lie; each of these numbers costs half the
// logarithm of the rows.
double score_of_all(TableLearner& learner, const TableRows& rows, bool as_counts) {
  const std::vector<Index>& far_rows = learner.far();
  const Vector weights_of_far = weights_of(rows.weights, far_rows);
  const double all = total_weight(rows.targets.rows(), rows.weights),
               far = total_weight(std::ssize(far_rows), weights_of_far);
  if (const auto& classes = learner.report().left_out_classes) return -all * classes->log_loss;
  double sum = 0;
  if (as_counts)
    sum = (all - far) * learner.left_out_log_mass(rows.some(rows_but(far_rows, rows.targets.rows())));
  else
    for (const LeftOut& one : learner.report().left_out) sum += (all - far) * one.scores.log_likelihood;
  if (far_rows.empty()) return sum;
  sum += far * std::log(far / all) + (all - far) * std::log1p(-far / all) -
         0.5 * static_cast<double>(1 + rows.targets.cols()) * std::log(all);
  const Prediction p = learner.predict(rows.inputs(far_rows, Eigen::all));
  const Eigen::MatrixXd residuals = rows.targets(far_rows, Eigen::all) - p.mean;
  const auto size = [&](Vector values) {
    if (rows.weights.size() > 0) values = values.cwiseProduct(weights_of_far.cwiseSqrt());
    return values.stableNorm();
  };
  for (Index j = 0; j < rows.targets.cols(); ++j)
    sum -=
        far * (kHalfLogTwoPi + 0.5 + std::log(std::hypot(size(residuals.col(j)), size(p.sd.col(j))) / std::sqrt(far)));
  return sum;
}

double mean_square(const Vector& values, const Vector& weights) {
  return weighted_sum(values.cwiseAbs2(), weights) / total_weight(values.size(), weights);
}

// A screen that costs nothing: ratios to the predictions are more probable than differences from them, each under its
// likeliest Gaussian.
bool has_relative_noise(const Vector& targets, const Vector& residuals, const Vector& weights) {
  const double total = total_weight(targets.size(), weights);
  const Vector logs = targets.array().log(),
               ratios = logs.array() - (targets - residuals).array().max(targets.minCoeff()).log();
  const Vector off = ratios.array() - weighted_sum(ratios, weights) / total;
  return 0.5 * std::log(mean_square(off, weights)) + weighted_sum(logs, weights) / total <
         0.5 * std::log(mean_square(residuals, weights));
}

// Targets to be learned by logarithms. These have no tangent: later numbers of 0 and less are refused.
Eigen::RowVectorXd log_from(const TableLearner& learner, const TableRows& rows) {
  Eigen::RowVectorXd from = skewed_from(rows.targets, rows.weights);
  for (Index j = 0; j < from.size(); ++j) {
    const bool is_wanted =
        from(j) > 0 && (!learner.far().empty() ||
                        has_relative_noise(rows.targets.col(j), learner.left_out_residuals().col(j), rows.weights));
    from(j) = is_wanted ? std::numeric_limits<double>::min() : 0;
  }
  return from.isZero(0) ? Eigen::RowVectorXd() : from;
}

// Errors are those of the rows that both have learned.
bool has_similar_errors(const TableLearner& next, const TableLearner& known, const TableRows& rows) {
  const std::vector<Index> near = rows_but(known.far(), rows.targets.rows());
  const Vector weights = weights_of(rows.weights, near);
  for (Index j = 0; j < rows.targets.cols(); ++j) {
    const Vector errors = next.left_out_residuals().col(j)(near), before = known.left_out_residuals().col(j);
    if (!(mean_square(errors, weights) <= kMostError * kMostError * mean_square(before, weights))) return false;
  }
  return true;
}

class Attempts {
 public:
  Attempts(TableLearner& learner, const TableRows& rows, const TableFit& fit)
      : learner_(learner), rows_(rows), fit_(fit) {}

  void run() {
    fit_all_but(learner_.far(), learner_, rows_, fit_);
    if (learner_.report().interrupted) return;
    const bool is_plain = has_plain_noise();
    try_effects();
    set_far_rows_aside();
    if (!is_interrupted_ && best_) learner_.replace_by(std::move(*best_));
    best_.reset();
    try_logarithms();
    if (is_plain) try_counts();
    if (!is_interrupted_ && best_) learner_.replace_by(std::move(*best_));
    if (!is_interrupted_) return;
    learner_.report().interrupted = true;
    learner_.report().members.back().stop = LearnReport::Stop::interrupted;
  }

 private:
  TableLearner& known() { return best_ ? *best_ : learner_; }
  bool has_time() const {  // for as much again as all fits so far have taken
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin_;
    return !is_interrupted_ && TableLearner::control_of(fit_).has_time_for(taken.count());
  }
  // Targets are numbers with Gaussian noise that is learned, and not by logarithms already.
  bool has_plain_noise() const {
    const TableLearnOptions& options = learner_.options();
    return options.ensemble.mixture.learn_noise && options.classes == 0 &&
           learner_.target_units().log_from.size() == 0 && learner_.graphs().mixture().model().likelihoods.empty();
  }

  // One more fit, which becomes the best where it gains so many nats and `is_usable` has no objection. False: it stays
  // as it was.
  bool attempt(TableLearner next, std::vector<Index> far, double least_gain, bool keeps_sizes, const auto& is_usable) {
    fit_all_but(std::move(far), next, rows_, fit_);
    is_interrupted_ = next.report().interrupted;
    if (is_interrupted_ || !is_usable(next) || !(score(next) > score(known()) + least_gain)) return false;
    if (keeps_sizes) next.report().form = known().report().form;
    best_ = std::move(next);
    return true;
  }
  double score(TableLearner& learner) const { return score_of_all(learner, rows_, as_counts_); }
  static constexpr auto kAny = [](const TableLearner&) { return true; };

  void try_effects() {
    const std::vector<LevelEffects> found = learner_.find_effects(rows_);
    if (found.empty() || !has_time()) return;
    TableLearner next = learner_.anew(true);
    next.learn_effects(found);
    (void)attempt(std::move(next), {}, kLeastGain, true, kAny);
  }

  void set_far_rows_aside() {
    if (!learner_.options().far_rows || !has_plain_noise() || rows_.inputs.rows() < kFewestRows) return;
    for (int refits = 0; refits < kMostRefits && has_time(); ++refits) {
      std::vector<Index> far = find_far(known(), rows_);
      if (far.empty() || far == known().far()) return;
      const bool keeps_sizes = std::ssize(far) * kRowsPerFar <= rows_.inputs.rows();  // a few rows change no size
      TableLearner next = learner_.anew(keeps_sizes);
      next.learn_effects(known().effects());
      if (!attempt(std::move(next), std::move(far), 0, keeps_sizes, kAny)) return;
    }
  }

  void try_logarithms() {
    const TableLearnOptions& options = learner_.options();
    if (!options.log_target || !options.standardise || !has_plain_noise() || !has_time()) return;
    const Eigen::RowVectorXd from = log_from(learner_, rows_);
    if (from.size() == 0) return;
    TableLearner next = learner_.anew(true, from);
    next.learn_effects(learner_.effects());
    (void)attempt(std::move(next), {}, kLeastGain, true,
                  [&](const TableLearner& own) { return has_similar_errors(own, learner_, rows_); });
  }

  // Poisson first. Left-out rows that vary more tell the shape of a negative binomial, with which the graphs and then
  // the shape change once more.
  void try_counts() {
    constexpr int kMostShapes = 2;
    constexpr double kSimilar = 0.5;  // logarithms of shapes
    if (!learner_.options().count_target || !has_time()) return;
    const TableRows near = rows_.some(rows_but(learner_.far(), rows_.targets.rows()));
    if (!may_count(near.targets, learner_.left_out_residuals(), near.weights)) return;
    as_counts_ = true;
    std::vector<CountNoise> noise = CountNoise::poisson(rows_.targets, rows_.weights), likeliest;
    const double smoothing = learner_.graphs().mixture().memory().choice.smoothing;
    for (int shapes = 0; shapes <= kMostShapes && has_time(); ++shapes) {
      TableLearner next = learner_.anew(true);
      next.learn_effects(learner_.effects());
      next.learn_counts(noise, smoothing);
      (void)attempt(std::move(next), {}, known().counts().empty() ? kLeastGain : 0, true, [&](const TableLearner& own) {
        likeliest = own.likeliest_counts(rows_);
        return true;
      });
      const auto is_similar = [](const CountNoise& a, const CountNoise& b) {
        return a.shape == b.shape || std::abs(std::log(a.shape / b.shape)) < kSimilar;
      };
      if (is_interrupted_ || std::ranges::equal(noise, likeliest, is_similar)) return;
      if (std::ranges::all_of(likeliest, [](const CountNoise& one) { return one.shape == 0; })) return;
      noise = likeliest;
    }
  }

  TableLearner& learner_;
  const TableRows& rows_;
  const TableFit& fit_;
  bool as_counts_ = false;  // attempts are scored by probabilities of counts
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::optional<TableLearner> best_;  // attempt so far, which the learner does not have yet
  bool is_interrupted_ = false;
};

}  // namespace

TableReport fit_with_attempts(TableLearner& learner, const TableRows& rows, const TableFit& fit) {
  Attempts(learner, rows, fit).run();
  return learner.report();
}

}  // namespace dma
