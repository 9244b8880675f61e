// A Bnn whose weights are learned as one Gaussian.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>

#include "engine/support/error.h"
#include "engine/support/shuffle.h"
#include "engine/support/special_functions.h"
#include "models/network/bnn_check.h"
#include "models/network/bnn_member.h"
#include "models/table/distinct_rows.h"

namespace dma {

namespace {

// Epochs of joint learning, and the fraction of them with constant noise.
constexpr int kMostEpochs = 100;
constexpr double kPlainShare = 0.6;
// Where time is limited: seconds that the neighbours of a row take, and seconds that are there in any case.
constexpr double kNeighbourSeconds = 3e-4, kLeastSeconds = 0.25;

// Far rows: the largest fraction of a table, the fewest rows that can tell, the fits without them.
constexpr double kMostFar = 0.1;
constexpr Index kFewestRows = 30;
constexpr int kMostRefits = 3;
constexpr Index kRowsPerFar = 100;

// Of so many rows those that are not among some, which are sorted.
std::vector<Index> others(const std::vector<Index>& some, Index rows) {
  std::vector<Index> rest;
  for (Index n = 0; n < rows; ++n)
    if (!std::ranges::binary_search(some, n)) rest.push_back(n);
  return rest;
}

// Predictions of distinct rows as those of all rows that repeat them; no numbers: of the rows themselves.
std::vector<PredictionComponent> of_all_rows(const std::vector<PredictionComponent>& distinct,
                                             const std::vector<Index>& numbers) {
  return numbers.empty() ? distinct : rows_of(distinct, numbers);
}

}  // namespace

bool Bnn::joint_is_fitted() const {
  return options_.is_joint() && joint_ && !joint_->memory().members.empty() &&
         joint_->memory().members[0].plain_posterior.has_value();
}

void Bnn::make_joint() {
  JointRegressionOptions joint{.shape = shape_};
  joint.choose_smoothing = !options_.smoothing;
  joint.choose_relevance = options_.features == "none";
  joint.choose_width = options_.choose_width;
  joint.members = options_.members;
  joint.seed = options_.seed;
  joint.noise_model = options_.noise_model;
  if (!options_.learn_noise)
    for (const double variance : members_[0]->noise_variance) joint.noise.push_back(variance);
  if (!options_.priors.empty()) {
    // Somebody knows the prior: nothing is learned of it or added to it.
    joint.prior = network_rows(joint.shape).prior();
    Index i = 0;
    for (const LayerPrior& layer : options_.priors)
      for (std::size_t e = 0; e < layer.mean.size(); ++e, ++i) {
        if (!(layer.variance[e] > 0 && std::isfinite(layer.variance[e])))
          fail("priors: joint learning needs variances above 0 and below infinity, {} is given", layer.variance[e]);
        joint.prior.mean(i) = layer.mean[e];
        joint.prior.precision(i) = 1 / layer.variance[e];
      }
    joint.learn_scale = joint.anchored = joint.doubt_extrapolation = joint.linear_baseline = joint.hold_out = false;
    joint.choose_relevance = false;
  } else {
    joint.prior_variance_scale = options_.prior_variance_scale;
  }
  joint_ = std::make_unique<JointRegression>(std::move(joint));
}

bool Bnn::learns_table(const LearnOptions& options) const {
  return options_.is_joint() && options_.learn_noise && options_.priors.empty() && options_.standardise &&
         options_.layers.size() > 2 && (options.team ? options.team->size() : options.workers) == 1;
}

void Bnn::fit_joint(const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& targets, const LearnOptions& options,
                    const BnnCallback& on_epoch) {
  RowData data{features_.apply(input_standardiser_.apply(inputs)), target_standardiser_.apply(targets), row_weights_};
  data.least_noise = least_noise_of(targets, target_standardiser_.scale);
  check_prepared(data.rows, data.targets, options_.layers.front());
  if (!joint_) {
    members_[0]->noise_variance.clear();
    make_member(0, {.batches = 1});  // a given noise in units of the standardised targets
    make_joint();
  }
  const int epochs = std::min(options.epochs, kMostEpochs);
  const int plain = std::max(1, static_cast<int>(std::lround(kPlainShare * epochs)));
  joint_->set_limits(plain, epochs - plain, options.least_gain);
  joint_->use_threads(options.jobs, options.team ? options.team : local_team(options.workers), options.on_stage,
                      keep_going_, seconds_left_);
  const auto begin = std::chrono::steady_clock::now();
  const auto on_joint_epoch = [&](const JointRegression::Progress& progress) {
    Member& member = *members_[progress.member];
    EpochRecord record;
    record.epoch = static_cast<int>(member.joint_epochs.size()) + 1;
    record.log_likelihood = progress.epoch.log_evidence /
                            (total_weight(targets.rows(), row_weights_) * static_cast<double>(targets.cols()));
    record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    member.joint_epochs.push_back(record);
    std::vector<double> sds;
    for (std::size_t j = 0; j < progress.noise.size(); ++j)
      sds.push_back(std::sqrt(progress.noise[j]) * target_standardiser_.scale(static_cast<Eigen::Index>(j)));
    return !on_epoch || on_epoch({progress.member, record, std::move(sds)});
  };
  Matrix observed = data.targets;
  if (row_weights_.size() > 0) observed.conservativeResize(Eigen::NoChange, observed.cols() + 1);
  if (row_weights_.size() > 0) observed.rightCols(1) = row_weights_;  // copies have the same weight
  DistinctRows distinct = distinct_rows(data.rows, observed);
  report_.copies = distinct.copies();
  learned_as_.clear();
  if (report_.copies > 0) {
    data = data.some(distinct.first);
    learned_as_ = std::move(distinct.number);
  }
  const bool with_neighbours = options_.neighbours && learns_table(options) &&
                               Neighbours::suits(data.rows.rows(), data.rows.cols(), data.targets.cols());
  RowData for_neighbours = with_neighbours ? data : RowData{};
  const bool anew = joint_->prepare(data);
  take_shape_of_joint();
  for (auto& member : members_)
    if (anew) member->joint_epochs.clear();
  JointRegressionReport found = joint_->fit(std::move(data), on_joint_epoch);
  report_.interrupted = found.interrupted;
  report_.form = found.form.reason;
  report_.network_fraction = found.network_fraction;
  for (std::size_t k = 0; k < found.epochs.size(); ++k) {
    const auto& learned = members_[k]->joint_epochs;
    const bool last = k + 1 == found.epochs.size();
    const auto stop = found.interrupted && last ? LearnReport::Stop::interrupted
                      : found.settled[k]        ? LearnReport::Stop::least_gain
                                                : LearnReport::Stop::limit;
    report_.members.push_back({stop, learned, 0});
    members_[k]->joint_weights.clear();
  }
  describe_joint_members();
  neighbours_.reset();
  judged_ = joint_->judged();
  const double left = seconds_left_ ? seconds_left_() : HUGE_VAL;
  const bool is_wanted = !found.interrupted || left <= 0,  // not stopped by anybody
      has_time = kNeighbourSeconds * static_cast<double>(for_neighbours.rows.rows()) < std::max(kLeastSeconds, left);
  if (with_neighbours && is_wanted && has_time) {
    const std::vector<double> factors = mix_with_neighbours(std::move(for_neighbours), options);
    std::ranges::transform(found.noise, factors, found.noise.begin(), std::multiplies());
  }
  set_joint_noise(std::move(found.noise));
  report_.noise = noise();
  std::vector<Index> judged = judged_;
  if (!learned_as_.empty() && !judged.empty()) {
    const std::vector<Index> distinct_ones = std::exchange(judged, {});
    for (std::size_t n = 0; n < learned_as_.size(); ++n)
      if (std::ranges::binary_search(distinct_ones, learned_as_[n])) judged.push_back(static_cast<Index>(n));
  }
  report_left_out(of_all_rows(joint_left_out(), learned_as_), targets, judged);
}

// The hidden layers and the number of networks that joint learning has chosen.
void Bnn::take_shape_of_joint() {
  options_.members = joint_->members();
  if (const auto& layers = joint_->options().shape.layers; layers != options_.layers) {
    options_.layers = shape_.layers = layers;
    shape_.slopes = joint_->options().shape.slopes;
    members_.clear();
  }
  while (members_.size() < options_.members) add_member();
}

// Fits all rows, then once more without those that are far, as long as others come to light. Until the last of these
// fits has ended the network stays that of all rows: it is what a checkpoint has, and the others are made again.
FitReport Bnn::fit_near_rows(const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& targets,
                             const Eigen::VectorXd& weights, const LearnOptions& options, const BnnCallback& on_epoch) {
  const auto finished = [&, alone = local_team(1)](Bnn& net) {
    if (net.far_.empty()) {
      net.row_weights_ = weights;
      net.fit_dealt(inputs, targets, *alone, options, on_epoch);
    } else {
      const std::vector<Index> near = others(net.far_, inputs.rows());
      net.row_weights_ = weights_of(weights, near);
      net.fit_dealt(inputs(near, Eigen::all), targets(near, Eigen::all), *alone, options, on_epoch);
    }
    net.report_.far = net.far_;
    return !net.report_.interrupted;
  };
  const auto begin = std::chrono::steady_clock::now();
  const bool has_all_rows = !options.team || options.team->is_whole();  // other processes would find other rows far
  if (!finished(*this) || !options_.learn_noise || inputs.rows() < kFewestRows || !has_all_rows) return report_;
  std::optional<Bnn> best;
  for (int refits = 0; refits < kMostRefits; ++refits) {
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;  // by all fits so far
    if (seconds_left_ && seconds_left_() < taken.count()) break;
    const Bnn& known = best ? *best : *this;
    std::vector<Index> far = known.find_far(inputs, targets);
    if (far.empty() || far == known.far_) break;
    BnnOptions options_of_next = options_;  // a few rows change no width
    options_of_next.choose_width &= static_cast<Index>(far.size()) * kRowsPerFar > inputs.rows();
    Bnn next(std::move(options_of_next));
    next.far_ = std::move(far);
    next.keep_going_ = keep_going_, next.seconds_left_ = seconds_left_;
    if (!finished(next)) {
      report_.interrupted = true;
      report_.members.back().stop = LearnReport::Stop::interrupted;
      return report_;
    }
    if (!(next.score_with_far(inputs, targets, weights) > known.score_with_far(inputs, targets, weights))) break;
    if (next.options_.choose_width != options_.choose_width) next.report_.form = known.report_.form;
    next.options_.choose_width = options_.choose_width;
    best = std::move(next);
  }
  if (best) {
    best->learned_rows_ = learned_rows_;
    *this = std::move(*best);
  }
  return report_;
}

// Deviations are measured in units that half of the rows decide, since far rows stretch every other. Far rows may bend
// the fit until others deviate: those beyond the spread of the targets, before and after the fit, are far in any case,
// and the only ones where they would be too many. Where one value fills half of a column, what is rare is no error.
std::vector<Index> Bnn::find_far(const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& targets) const {
  using Flags = Eigen::Array<bool, Eigen::Dynamic, 1>;
  constexpr double kMost = kFarDeviations / 0.6745;  // medians, which are 0.6745 of standard Gaussian numbers
  const Prediction p = far_.empty() ? Prediction() : predict(inputs(far_, Eigen::all));
  const std::vector<Index> near = others(far_, targets.rows());
  Flags deviates = Flags::Constant(targets.rows(), false), stands_out = deviates;
  for (Index j = 0; j < targets.cols(); ++j) {
    Eigen::ArrayXd residuals(targets.rows()), deviations(targets.rows());
    residuals(near) = left_out_residuals_.col(j), deviations(near) = left_out_deviations_.col(j);
    if (!far_.empty()) {
      residuals(far_) = targets.col(j)(far_) - p.mean.col(j);
      deviations(far_) = residuals(far_) / p.sd.col(j).array();
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
    std::vector<Index> far;
    for (Index n = 0; n < targets.rows(); ++n)
      if (is_far(n)) far.push_back(n);
    return far;
  }
  return far_;
}

// Log density of all rows, learned ones left out. A row is far with the probability of their fraction, and then
// Gaussian about its prediction, as wide as they lie; each of these numbers costs half the logarithm of the rows.
double Bnn::score_with_far(const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& targets,
                           const Eigen::VectorXd& weights) const {
  const Vector weights_of_far = weights_of(weights, far_);
  const double rows = total_weight(targets.rows(), weights),
               far = total_weight(static_cast<Index>(far_.size()), weights_of_far);
  double sum = 0;
  for (const LeftOut& one : report_.left_out) sum += (rows - far) * one.scores.log_likelihood;
  if (far_.empty()) return sum;
  sum += far * std::log(far / rows) + (rows - far) * std::log1p(-far / rows) -
         0.5 * static_cast<double>(1 + targets.cols()) * std::log(rows);
  const Prediction p = predict(inputs(far_, Eigen::all));
  const Eigen::MatrixXd residuals = targets(far_, Eigen::all) - p.mean;
  const auto size = [&](Vector values) {
    if (weights.size() > 0) values = values.cwiseProduct(weights_of_far.cwiseSqrt());
    return values.stableNorm();
  };
  for (Index j = 0; j < targets.cols(); ++j)
    sum -=
        far * (kHalfLogTwoPi + 0.5 + std::log(std::hypot(size(residuals.col(j)), size(p.sd.col(j))) / std::sqrt(far)));
  return sum;
}

void Bnn::report_left_out(const std::vector<PredictionComponent>& left_out, const Eigen::MatrixXd& targets,
                          const std::vector<Index>& judged) {
  left_out_residuals_.resize(targets.rows(), targets.cols());
  left_out_deviations_ = left_out_residuals_;
  std::vector<Scores> scores = scores_of(
      [&](Index first, Index rows) {
        Prediction p = Prediction::mix(rows_of(left_out, first, rows)).in_units_before(target_standardiser_);
        left_out_residuals_.middleRows(first, rows) = targets.middleRows(first, rows) - p.mean;
        left_out_deviations_.middleRows(first, rows) = left_out_residuals_.middleRows(first, rows).cwiseQuotient(p.sd);
        return p;
      },
      targets, row_weights_);
  if (!judged.empty()) {
    const std::vector<PredictionComponent> some = rows_of(left_out, judged);
    scores = scores_of(
        [&](Index first, Index rows) {
          return Prediction::mix(rows_of(some, first, rows)).in_units_before(target_standardiser_);
        },
        targets(judged, Eigen::all), weights_of(row_weights_, judged));
  }
  for (std::size_t j = 0; j < scores.size(); ++j)
    report_.left_out.push_back(
        {scores[j], fraction_explained(scores[j].rmse, targets.col(static_cast<Eigen::Index>(j)), row_weights_)});
}

std::optional<Prediction> Bnn::left_out() const {
  if (!options_.is_joint() && !left_out_.empty())
    return Prediction::mix(left_out_).in_units_before(target_standardiser_);
  if (!options_.is_joint() || !joint_ || joint_->left_out().empty()) return {};
  return Prediction::mix(of_all_rows(joint_left_out(), learned_as_)).in_units_before(target_standardiser_);
}

bool Bnn::update(const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& targets, std::size_t known,
                 const Eigen::VectorXd& weights) {
  if (!joint_is_fitted())
    fail(
        "update: more rows are learned on top of a joint fit; this network has none, fit it by method \"joint\" first");
  if (inputs.cols() != input_standardiser_.shift.size() || targets.cols() != target_standardiser_.shift.size())
    fail("update: {} inputs and {} targets are given; {} and {} are expected", inputs.cols(), targets.cols(),
         input_standardiser_.shift.size(), target_standardiser_.shift.size());
  if (inputs.rows() != targets.rows() || inputs.rows() == 0)
    fail("update: there are {} rows of inputs and {} of targets; as many are expected, and at least one", inputs.rows(),
         targets.rows());
  if (weights.size() > 0) {
    check_weights(weights, inputs.rows());
    const std::vector<Index> kept = rows_that_count(weights);
    if (std::ssize(kept) < weights.size())
      return update(inputs(kept, Eigen::all), targets(kept, Eigen::all), known, weights(kept));
  }
  const Eigen::MatrixXd x = input_standardiser_.apply(inputs), y = target_standardiser_.apply(targets);
  if (!x.allFinite() || !y.allFinite())
    fail("update: the values overflow after standardisation: they are too far from the training data");
  const Eigen::MatrixXd mapped = features_.apply(x);
  const bool settled = joint_->update({mapped, y, weights}, static_cast<Index>(known));
  for (const auto& member : members_) member->joint_weights.clear(), member->whole.reset();
  learned_rows_ = checksum_of(inputs, targets, weights) ^ learned_rows_.value_or(known);  // of old and new ones
  if (neighbours_) neighbours_->add(mapped, y, weights);
  set_joint_noise(joint_->noise(mapped));
  return settled;
}

// The prior, the noise and the smoothing a member ended with, in its graph.
void Bnn::describe_joint_members() {
  for (std::size_t k = 0; k < joint_->members(); ++k) {
    members_[k]->priors = layer_priors(shape_, joint_->prior_of(k), joint_->memory().members[k].plain.scale(0));
    members_[k]->noise_variance.assign(options_.layers.back(), 1);
    const auto& noise = joint_->memory().members[k].plain.noise;
    for (std::size_t j = 0; j < noise.size(); ++j) members_[k]->noise_variance[j] = std::exp(noise[j].beta(0));
    members_[k]->net = build_bnn_graph(drawn_shape(), members_[k]->priors, members_[k]->noise_variance);
  }
}

}  // namespace dma
