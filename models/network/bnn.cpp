#include "models/network/bnn.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/support/error.h"
#include "engine/support/text.h"
#include "factors/standard_registry.h"
#include "models/network/bnn_check.h"
#include "models/network/bnn_member.h"
#include "models/table/deal_rows.h"
#include "models/table/log_scale.h"
#include "schedules/forward_backward.h"

namespace dma {

namespace {

// A first guess of standardised noise where none is given: most of the target's spread is still unexplained.
constexpr double kFirstNoiseVariance = 1;
void check(const BnnOptions& o) {
  if (o.layers.size() < 2) fail("layers: at least inputs and outputs are expected, {} given", o.layers.size());
  for (const std::size_t width : o.layers)
    if (width == 0 || width > 100000) fail("layers: a width of {} is given; 1 to 100000 is expected", width);
  for (const double slope : o.slopes.values)
    if (!(slope > 0 && slope <= 1)) fail("slopes: {} is given; a number above 0 and at most 1 is expected", slope);
  for (const double noise : o.noise.values)
    if (!(noise > 0) || !std::isfinite(noise)) fail("noise is {}; a positive standard deviation is expected", noise);
  for (const double v : o.activation_prior.values)
    if (!(v > 0)) fail("activation_prior is {}; a positive variance is expected", v);
  if (o.members > 1000) fail("members is {}; at most 1000 is expected", o.members);
  if (o.smoothing && (!(*o.smoothing >= 0) || !std::isfinite(*o.smoothing)))
    fail("smoothing is {}; 0 or more is expected", *o.smoothing);
  if (o.choose_width && (!o.is_joint() || o.layers.size() < 3 || !o.priors.empty()))
    fail("choose_width: joint learning chooses hidden layers with priors of its own; {} layers and method \"{}\" are "
         "given: give the widths instead",
         o.layers.size(), o.method);
  if (o.is_joint() && !o.activation_prior.empty())
    fail("activation_prior: joint learning knows none; use method \"dma\" or \"hybrid\"");
  if (o.noise_model == NoiseModel::inputs && !o.is_joint())
    fail(
        "noise_model: noise that depends on the inputs is known to joint learning only; use method \"joint\", or "
        "constant noise");
  if (o.noise_model == NoiseModel::inputs && !o.noise.empty() && !o.learn_noise)
    fail(
        "noise_model: the noise is given, and does not depend on the inputs; leave it away to have it learned, or "
        "choose constant noise");
  if (!(o.prior_variance_scale > 0)) fail("prior_variance_scale is {}; it must be positive", o.prior_variance_scale);
  if (!(o.prior_mean_scale >= 0)) fail("prior_mean_scale is {}; it must be 0 or more", o.prior_mean_scale);
  if (!o.priors.empty() && (o.members > 1 || o.priors.size() != o.layers.size() - 1))
    fail("priors: explicit priors need one member and one entry per layer");
}

BnnShape shape_of(const BnnOptions& o) {
  BnnShape shape{.layers = o.layers, .slopes = {}, .bias = o.bias};
  if (o.smoothing) shape.smoothing = *o.smoothing;
  if (!o.is_joint()) shape.smoothing = 0;
  const std::size_t layers = o.layers.size() - 1;
  if (layers > 1) shape.slopes = o.slopes.expanded(layers - 1, "slopes");
  if (!o.activation_prior.empty()) shape.activation_prior = o.activation_prior.expanded(layers, "activation_prior");
  return shape;
}

}  // namespace

std::string FitReport::line() const {
  std::string text = members.empty() ? "not fitted" : members.back().line();
  if (members.size() > 1) text = fmt::format("{} members; the last {}", members.size(), text);
  text = fmt::format("{}; noise sd {}", text, joined(noise, ", ", "{:.4g}"));
  if (!neighbours.empty()) {
    std::vector<double> percent;
    for (const double fraction : neighbours) percent.push_back(100 * fraction);
    text += fmt::format("; neighbours {} %", joined(percent, ", ", "{:.0f}"));
  }
  if (far.empty()) return text;
  return fmt::format("{}; {} row{} beyond {} sd set aside", text, far.size(), far.size() == 1 ? "" : "s",
                     kFarDeviations);
}

BnnOptions paper_options(std::vector<std::size_t> layers) {
  return {.layers = std::move(layers), .bias = false, .standardise = false, .method = "dma", .members = 1};
}

Bnn::Bnn(BnnOptions options) : options_(std::move(options)), features_(options_.features) {
  check(options_);
  shape_ = shape_of(options_);
  if (options_.noise.empty()) options_.learn_noise = true;
  if (options_.members == 0 && (!options_.is_joint() || !options_.priors.empty())) options_.members = 1;
  const std::size_t raw_inputs = options_.features == "none" ? options_.layers.front() : 1;
  input_standardiser_ = Standardiser::identity(static_cast<Eigen::Index>(raw_inputs));
  target_standardiser_ = Standardiser::identity(static_cast<Eigen::Index>(options_.layers.back()));
  while (members_.size() < std::max<std::size_t>(1, options_.members)) add_member();
  noise_variance_ = members_[0]->noise_variance;
}
Bnn::Bnn(Bnn&&) noexcept = default;
Bnn& Bnn::operator=(Bnn&&) noexcept = default;
Bnn::~Bnn() = default;

void Bnn::add_member() {
  const std::size_t k = members_.size();
  members_.push_back(std::make_unique<Member>());
  members_[k]->priors =
      options_.priors.empty()
          ? draw_prior(shape_, options_.prior_mean_scale, options_.prior_variance_scale, seed_of(options_.seed, k, 1))
          : options_.priors;
  make_member(k, {.batches = 1});
}

// With the smoothing that joint learning has chosen.
BnnShape Bnn::drawn_shape() const {
  BnnShape shape = shape_;
  if (options_.is_joint() && joint_) shape.smoothing = joint_->options().shape.smoothing;
  return shape;
}

// A member with nothing learned yet.
void Bnn::make_member(std::size_t index, const LearnOptions& options) {
  Member& member = *members_[index];
  const std::size_t outputs = options_.layers.back();
  if (member.noise_variance.empty()) {
    member.noise_variance.assign(outputs, kFirstNoiseVariance);
    if (!options_.noise.empty()) member.noise_variance = options_.noise.expanded(outputs, "noise");
    for (std::size_t j = 0; j < outputs && !options_.noise.empty(); ++j) {
      const double scaled = member.noise_variance[j] / target_standardiser_.scale(static_cast<Eigen::Index>(j));
      member.noise_variance[j] = scaled * scaled;
    }
  }
  member.net = build_bnn_graph(drawn_shape(), member.priors, member.noise_variance);
  member.learner = options_.is_joint() ? nullptr : make_learner(member, options);
}

std::unique_ptr<Learner> Bnn::make_learner(const Member& member, LearnOptions options) const {
  options.targets = {member.net.outputs};
  return std::make_unique<Learner>(member.net.graph, standard_registry(), forward_backward(), forward(), options,
                                   CompileOptions{.method = options_.is_joint() ? "hybrid" : options_.method,
                                                  .kind_methods = options_.kind_methods,
                                                  .fuse = options_.fuse});
}

FitReport Bnn::fit(const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& targets, const LearnOptions& options,
                   const BnnCallback& on_epoch, const Eigen::VectorXd& weights) {
  const auto rows = inputs.rows();
  if (rows == 0) fail("fit: there are no rows");
  if (targets.rows() != rows) fail("fit: {} rows of inputs but {} of targets", rows, targets.rows());
  if (static_cast<std::size_t>(targets.cols()) != options_.layers.back())
    fail("fit: the targets have {} columns but the network {} outputs", targets.cols(), options_.layers.back());
  if (!inputs.allFinite() || !targets.allFinite()) fail("fit: the data hold a value that is not a finite number");
  check(options);
  if (weights.size() > 0) {
    check_weights(weights, rows);
    if ((weights.array() == 1).all()) return fit(inputs, targets, options, on_epoch);
    if (!options_.is_joint() || (options.team && !options.team->is_whole()))
      fail("weights of rows are known to joint learning in one process only; use method \"joint\", or leave them away");
    if ((weights.array() == 0).any()) {
      const std::vector<Index> kept = rows_that_count(weights);
      fit(inputs(kept, Eigen::all), targets(kept, Eigen::all), options, on_epoch, weights(kept));
      for (Index& far : report_.far) far = kept[static_cast<std::size_t>(far)];
      return report_;
    }
  }
  const std::uint64_t given = checksum_of(inputs, targets, weights);
  if (is_fitted() && learned_rows_.value_or(given) != given)
    fail("fit: this network has learned other rows than these {}; make a new one for them, or add them with update()",
         rows);
  learned_rows_ = given;
  if (options_.is_joint()) return fit_near_rows(inputs, targets, weights, options, on_epoch);
  const auto team = options.team ? options.team : local_team(options.workers);
  if (team->is_whole() && team->size() > 1) {
    const auto dealt = deal_rows(static_cast<std::size_t>(rows), team->size(), options_.seed);
    return fit_dealt(inputs(dealt, Eigen::all), targets(dealt, Eigen::all), *team, options, on_epoch);
  }
  return fit_dealt(inputs, targets, *team, options, on_epoch);
}

FitReport Bnn::fit_dealt(const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& targets, WorkerTeam& team,
                         const LearnOptions& options, const BnnCallback& on_epoch) {
  const TeamSum sum(team, Partition::split(team, static_cast<std::size_t>(inputs.rows())));
  const bool resuming = is_fitted();
  if (!resuming && options_.standardise) {
    Eigen::RowVectorXd log_from;
    if (options_.log_inputs && options_.features == "none" && learns_table(options))
      log_from = log_scales_of(inputs, targets, options_.seed, row_weights_);
    input_standardiser_ = Standardiser::of(inputs, sum, row_weights_, log_from);
    target_standardiser_ = Standardiser::of(targets, sum, row_weights_);
  } else if (!resuming) {
    input_standardiser_ = Standardiser::identity(inputs.cols());
  }
  report_ = {};
  if (options_.is_joint()) {
    fit_joint(inputs, targets, options, on_epoch);
    members_[0]->whole.reset();
    return report_;
  }
  // Block by block: a large table is then there twice, not three times.
  constexpr Eigen::Index kBlock = 8192;
  RowMajor x(inputs.rows(), static_cast<Eigen::Index>(features_.outputs(static_cast<std::size_t>(inputs.cols()))));
  for (Eigen::Index begin = 0; begin < x.rows(); begin += kBlock) {
    const Eigen::Index n = std::min(kBlock, x.rows() - begin);
    x.middleRows(begin, n) = features_.apply(input_standardiser_.apply(inputs.middleRows(begin, n)));
  }
  const RowMajor y = target_standardiser_.apply(targets);
  check_prepared(x, y, options_.layers.front());
  fit_members(x, y, sum, options, on_epoch);
  noise_variance_ = members_[0]->noise_variance;
  // Not with several workers: as processes each has rows of its own, and what is learned does not depend on where they
  // run.
  const bool has_baseline = options_.linear_baseline && team.size() == 1;
  std::vector<PredictionComponent> left_out;
  if (options_.learn_noise || has_baseline) left_out = left_out_of_members(x, sum);
  if (options_.learn_noise) choose_prediction_noise(left_out, y, sum);
  report_.noise = noise();
  if (has_baseline) mix_with_baseline(std::move(left_out), x, y, options.jobs);
  members_[0]->whole.reset();
  return report_;
}

}  // namespace dma
