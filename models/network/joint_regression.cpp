#include "models/network/joint_regression.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <utility>

#include "engine/learn/joint/growing.h"
#include "engine/support/error.h"
#include "engine/support/parallel.h"
#include "models/network/joint_components.h"

namespace dma {

namespace {

constexpr double kFirstNoise = 0.3;  // a good part of the target's variance is still unexplained
constexpr int kBaselineEpochs = 100, kBaselineWeightedEpochs = 20, kFewestBaselineEpochs = 3;
constexpr double kBaselineGain = 1e-4;
constexpr int kFullEpochs = 5;           // on all rows, after growing subsets; twice
constexpr double kWeightExponent = 0.7;  // of the fit with weighted rows, see SharedFitOptions

// Of left-out rows, that the linear model may lose by weights.
constexpr double kWeightedSquares = 1.03;

}  // namespace

JointRegression::JointRegression(JointRegressionOptions options)
    : options_(std::move(options)),
      network_(options_.shape, {}),
      linear_(static_cast<Index>(options_.shape.layers.front()), static_cast<Index>(options_.shape.layers.back())) {
  set_relevance({});
  if (!options_.noise.empty()) options_.noise_model = NoiseModel::constant, options_.tails = false;
  if (options_.shape.layers.size() < 3) options_.linear_baseline = false;
}

JointRegressionReport JointRegression::fit(RowData data, const std::function<bool(const Progress&)>& on_epoch) {
  if (!std::exchange(prepared_, false)) prepare(data), prepared_ = false;
  const SolverForm form = choose_form(data.rows.rows(), data.targets.cols(), network_.scalars());
  Fitting fitting{.data = std::move(data), .form = form, .on_epoch = on_epoch};
  Matrix& rows = fitting.data.rows;
  const Matrix& targets = fitting.data.targets;
  if (fitting.form.form == SolverForm::Form::none) fail("fit: {}", fitting.form.reason);
  JointRegressionReport report{fitting.form, {}, {}, 1, false, {}};
  if (!memory_.width_reason.empty()) report.form.reason += "; " + memory_.width_reason;
  collect_parts(fitting);
  memory_.lowest = rows.colwise().minCoeff(), memory_.highest = rows.colwise().maxCoeff();
  if (options_.linear_baseline) fit_baseline(fitting);
  const std::size_t members = memory_.members.size(), jobs = at_once(fitting.form, members);
  fitting.plain.resize(members), fitting.weighted.resize(members);
  fitting.jobs = std::max<std::size_t>(1, options_.jobs / jobs);
  std::vector<char> begun(members);
  parallel_for(members, jobs, [&](std::size_t k) {
    begun[k] = !fitting.is_stopped();
    if (begun[k]) fit_plain(fitting, k);
  });
  if (noise_by_inputs())
    parallel_for(members, jobs, [&](std::size_t k) {
      if (!fitting.is_stopped()) fit_weighted(fitting, k);
    });
  report.interrupted = fitting.stopped;
  std::size_t fitted = 0;
  for (std::size_t k = 0; k < members && begun[k]; ++k) {
    const Member& member = memory_.members[k];
    report.epochs.push_back(std::max(member.plain.epoch, member.weighted.epoch));
    report.settled.push_back(member.plain.is_settled() && (!member.weighted_posterior || member.weighted.is_settled()));
    ++fitted;
  }
  const std::vector<double> noise_of_networks = noise_before_tails(rows, 1),
                            noise_of_baseline = noise_before_tails(rows, 0);
  rows.resize(0, 0);  // what follows is as large as they are
  left_out_.clear();
  const double each = 1 / static_cast<double>(fitted);
  for (std::size_t k = 0; k < fitted; ++k)
    add_network(options_.noise_model, fitting.plain[k],
                memory_.members[k].weighted_posterior ? &fitting.weighted[k] : nullptr, memory_.members[k], each,
                left_out_);
  const std::vector<double> factors = fit_noise(left_out_, fitting.data);
  for (Member& member : memory_.members)
    for (auto* posterior : {&member.plain_posterior, &member.weighted_posterior})
      for (std::size_t j = 0; *posterior && j < (*posterior)->tails.size(); ++j)
        (*posterior)->tails[j].scale *= factors[j];
  memory_.network_fraction = 1;
  if (options_.linear_baseline) {
    const double ahead = nats_ahead(fitting, score_judged(left_out_, fitting.data), members);
    const double fraction = memory_.network_fraction = fraction_of_network(ahead);
    for (PredictionComponent& own : left_out_) own.weight *= fraction;
    if (fraction == 0) left_out_.clear();
    if (fraction < 1)
      left_out_.push_back(component(std::move(fitting.baseline), *memory_.baseline,
                                    Matrix::Constant(targets.rows(), targets.cols(), 1 - fraction)));
  }
  report.network_fraction = memory_.network_fraction;
  if (options_.tails) widen_to_cover(fitting.data);
  report.noise = with_tails(memory_.network_fraction < 0.5 ? noise_of_baseline : noise_of_networks);
  return report;
}

// Each has matrices of its own, and processes of a team must all do the same thing next.
std::size_t JointRegression::at_once(const SolverForm& form, std::size_t networks) const {
  if (options_.team && !options_.team->is_whole()) return 1;
  return std::clamp<std::size_t>(form.members_at_once, 1, std::max<std::size_t>(1, std::min(options_.jobs, networks)));
}

// Of the network, whose judged rows have this log density; evidences are those of constant noise. With more weights
// than rows these are few, chance flatters, and the network must have the better evidence too. With fewer weights the
// evidence is too strict instead: on wine it prefers the linear model by 49 nats that left-out rows do not confirm.
double JointRegression::nats_ahead(const Fitting& fitting, double score, std::size_t members) const {
  double evidence = -1e300;
  for (std::size_t k = 0; k < members; ++k)
    if (memory_.members[k].plain_posterior) evidence = std::max(evidence, memory_.members[k].plain_evidence);
  const double by_rows = score - fitting.baseline_score - kBenefitOfDoubt,
               by_evidence = evidence - fitting.baseline_evidence - kBenefitOfDoubt;
  const bool few_rows = fitting.form.form == SolverForm::Form::dual;
  return few_rows ? std::min(by_rows, by_evidence) : by_rows;
}

void JointRegression::watch(Curvature& curvature, const char* what) const {
  if (options_.on_stage) curvature.watch([this, what](double fraction) { tell(what, fraction); });
}

void JointRegression::fit_baseline(Fitting& fitting) {
  const RowData& data = fitting.data;
  SharedState state{.mean = Vector::Zero(linear_.scalars()), .noise = {}};
  for (Index k = 0; k < data.targets.cols(); ++k) state.noise.push_back(LogLinearNoise::constant(kFirstNoise));
  const auto curvature = data.count() <= linear_.scalars() ? make_dual() : make_primal();
  curvature->use_threads(options_.jobs, options_.team);
  watch(*curvature, "linear model");
  SharedFitOptions joint{.epochs = kBaselineEpochs, .least_gain = kBaselineGain};
  bool going_on = true;
  joint.on_epoch = [&](const SharedEpoch& epoch) {  // whoever stops the fit has a few of them in any case
    bool stops = epoch.epoch >= kFewestBaselineEpochs && options_.keep_going && !options_.keep_going();
    if (options_.team) stops = options_.team->any(stops);
    return going_on = !stops;
  };
  double evidence = fitting.baseline_evidence = fit_shared(linear_, data, linear_prior_, joint, state, *curvature);
  if (noise_by_inputs() && going_on) {
    const auto return_to = [&](SharedState before) {
      state = std::move(before);
      curvature->assemble(linear_, data, state.mean, linear_prior_.scaled(state.scale),
                          data.weighted(row_noise(state, data.rows)));
    };
    const auto left_out_squares = [&] {
      const Matrix errors = leave_one_out(data, row_noise(state, data.rows), *curvature).mean - data.targets;
      return weighted_sum(errors.rowwise().squaredNorm(), data.weights);
    };
    SharedState constant = state;
    const double squares = left_out_squares();
    state.begin_stage();
    joint.epochs = state.epoch + kBaselineWeightedEpochs;
    joint.noise_depends_on_inputs = true;
    evidence = fit_shared(linear_, data, linear_prior_, joint, state, *curvature);
    if (options_.noise_model == NoiseModel::choose && evidence < fitting.baseline_evidence) {
      return_to(std::move(constant));
      evidence = fitting.baseline_evidence;
    } else if (left_out_squares() > kWeightedSquares * squares) {
      // What is skewed is loud where it is high: weights by noise then follow the low rows. The line stays, its noise
      // follows the inputs.
      return_to(std::move(constant));
      learn_noise_function(data, *curvature, state);
      return_to(SharedState(state));
      evidence = log_evidence(linear_prior_, state, data, *curvature);
    }
  }
  SharedSolution fitted = solution_of(linear_, data, state, *curvature, evidence, options_.tails && judged_.empty());
  judge(fitting, fitting.held_baseline, fitted);
  memory_.baseline = std::move(fitted.posterior);
  fitting.baseline = std::move(fitted.left_out);
  fitting.baseline_score = score_judged({component(fitting.baseline, *memory_.baseline, {})}, data);
}

// Of a stage of a member's learning, whose state is told with every epoch. After one no, every answer is no.
SharedFitOptions JointRegression::fit_options(Fitting& fitting, std::size_t index, SharedState Member::*stage,
                                              const SharedState& state) {
  const auto on_epoch = [this, &fitting, index, stage, &state](const SharedEpoch& epoch) {
    std::vector<double> noise;
    for (const LogLinearNoise& own : state.noise)
      noise.push_back(std::exp(own.variances(fitting.data.rows).array().log().mean()));
    const std::lock_guard lock(fitting.mutex);
    memory_.members[index].*stage = state;
    const bool was_stopped = std::exchange(fitting.stopped, true);  // as it stays if the call throws
    const bool yes = !fitting.on_epoch || fitting.on_epoch({index, epoch, std::move(noise)});
    bool stops = was_stopped || !yes;
    if (options_.team) stops = options_.team->any(stops);
    fitting.stopped = stops;
    return !stops;
  };
  return {.epochs = options_.epochs,
          .learn_noise = options_.noise.empty(),
          .learn_scale = options_.learn_scale,
          .least_gain = options_.least_gain,
          .on_epoch = on_epoch,
          .jobs = fitting.jobs,
          .team = options_.team,
          .on_stage = options_.on_stage ? [this](const LearnStage& s) { tell(s.what, s.fraction); } : StageWatch()};
}

std::unique_ptr<Curvature> JointRegression::curvature_for(const Fitting& fitting) const {
  auto curvature = fitting.form.curvature();
  curvature->use_threads(fitting.jobs, options_.team);
  watch(*curvature, "all rows");
  return curvature;
}

void JointRegression::fit_plain(Fitting& fitting, std::size_t index) {
  const RowData& data = fitting.data;
  Member& member = memory_.members[index];
  const bool starts = member.plain.mean.size() == 0;  // or a model without what a checkpoint has
  SharedState plain = starts ? first_state(index, data.targets.cols()) : member.plain;
  {
    const std::lock_guard lock(fitting.mutex);
    if (starts) member = {}, member.plain = plain;
    member.plain_posterior.reset();  // of an earlier fit; this one may stop before it has new ones
    member.weighted_posterior.reset();
  }
  const SharedPrior prior = learned_prior(index);
  SharedFitOptions joint = fit_options(fitting, index, &Member::plain, plain);
  bool going_on = true;
  joint.on_epoch = [&going_on, asked = joint.on_epoch](const SharedEpoch& epoch) { return going_on = asked(epoch); };
  const auto curvature = curvature_for(fitting);
  const bool growing = fitting.form.form == SolverForm::Form::growing;
  const bool knows_most = starts && index < starts_.size() && plain.subset == 0;
  if (growing && (starts || plain.subset > 0) &&
      (knows_most || learn_on_subsets(network_, data, prior, joint, plain, options_.seed + index))) {
    plain.epoch = std::max(0, options_.epochs - kFullEpochs);
    plain.begin_stage();
  }
  if (member.plain_done || plain.subset > 0) joint.epochs = plain.epoch;
  const double plain_evidence = fit_shared(network_, data, prior, joint, plain, *curvature);
  SharedState noisy = plain;
  double evidence = plain_evidence;
  if (noise_by_inputs() && going_on) {  // a stop leaves the noise constant
    learn_noise_function(data, *curvature, noisy);
    curvature->assemble(network_, data, noisy.mean, prior.scaled(noisy.scale),
                        data.weighted(row_noise(noisy, data.rows)));
    evidence = log_evidence(prior, noisy, data, *curvature);
  }
  SharedSolution fitted = solution_of(network_, data, noisy, *curvature, evidence, options_.tails && judged_.empty());
  if (index < fitting.held_plain.size()) judge(fitting, fitting.held_plain[index], fitted);
  fitting.plain[index] = std::move(fitted.left_out);
  const std::lock_guard lock(fitting.mutex);
  member.plain = std::move(plain);
  member.plain_evidence = plain_evidence;
  member.plain_done = going_on;
  member.plain_posterior = std::move(fitted.posterior);
}

void JointRegression::fit_weighted(Fitting& fitting, std::size_t index) {
  const RowData& data = fitting.data;
  Member& member = memory_.members[index];
  // A network that has lost to the linear model needs no finer noise. The evidence is the best of this member and those
  // before it.
  const auto score = [&] {
    std::vector<PredictionComponent> own = {component(fitting.plain[index], *member.plain_posterior, {})};
    fit_noise(own, data);
    return score_judged(own, data);
  };
  if (options_.linear_baseline && nats_ahead(fitting, score(), index + 1) < std::log(kLeastNetworkFraction)) return;
  SharedState weighted = member.weighted.epoch == 0 ? member.plain : member.weighted;
  if (member.weighted.epoch == 0) weighted.begin_stage();
  SharedFitOptions joint = fit_options(fitting, index, &Member::weighted, weighted);
  const bool growing = fitting.form.form == SolverForm::Form::growing;
  joint.epochs = member.plain.epoch + (growing ? kFullEpochs : options_.weighted_epochs);
  joint.noise_depends_on_inputs = true;
  joint.weight_exponent = kWeightExponent;
  const auto curvature = curvature_for(fitting);
  const double evidence = fit_shared(network_, data, learned_prior(index), joint, weighted, *curvature);
  SharedSolution fitted =
      solution_of(network_, data, weighted, *curvature, evidence, options_.tails && judged_.empty());
  if (index < fitting.held_weighted.size()) judge(fitting, fitting.held_weighted[index], fitted);
  fitting.weighted[index] = std::move(fitted.left_out);
  const std::lock_guard lock(fitting.mutex);
  member.weighted = std::move(weighted);
  member.weighted_posterior = std::move(fitted.posterior);
}

void JointRegression::set_limits(int epochs, int weighted_epochs, double least_gain) {
  options_.epochs = epochs;
  options_.weighted_epochs = weighted_epochs;
  if (least_gain > 0) options_.least_gain = least_gain;
}

SharedState JointRegression::first_state(std::size_t member, Index outputs) const {
  if (member < starts_.size()) return starts_[member];
  SharedState state{.mean = prior_.mean + draw(drawn_prior_, options_.seed + member), .noise = {}};
  for (Index k = 0; k < outputs; ++k)
    state.noise.push_back(
        LogLinearNoise::constant(options_.noise.empty() ? kFirstNoise : options_.noise[static_cast<std::size_t>(k)]));
  return state;
}

SharedPrior JointRegression::learned_prior(std::size_t member) const {
  SharedPrior prior = prior_;
  const std::size_t last = options_.shape.layers.size() - 2;
  const Index hidden = network_.scalars() - network_.outputs() * static_cast<Index>(network_.shape().fan_in(last));
  if (options_.anchored) prior.mean.head(hidden) += draw(drawn_prior_, options_.seed + member).head(hidden);
  return prior;
}

}  // namespace dma
