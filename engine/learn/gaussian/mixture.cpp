#include "engine/learn/gaussian/mixture.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/learn/gaussian/growing.h"
#include "engine/learn/gaussian/mixture_fitting.h"
#include "engine/support/parallel.h"
#include "engine/support/text.h"

namespace dma {

namespace {

constexpr double kFirstNoise = 0.3;  // a good part of the target's variance is still unexplained
constexpr int kSimpleEpochs = 100, kSimpleWeightedEpochs = 20, kFewestSimpleEpochs = 3;
constexpr double kSimpleGain = 1e-4;
constexpr int kFullEpochs = 5;             // epochs on all rows, after growing subsets; twice
constexpr double kLeastFraction = 1e-6;    // a smaller fraction of a mixture is none
constexpr double kAnywhere = 1e15;         // beyond any number of an element that a column chooses
constexpr double kWeightedSquares = 1.03;  // most by which weights may raise left-out squares of the simple graph

// True if a scalar that has influence at a draw has none on these rows at the prior's mean, as in a network whose
// weights are all 0.
bool has_dead_scalar(const SharedModel& model, const Matrix& rows, const Vector& drawn) {
  const Matrix block = rows.topRows(std::min(kRowsPerBlock, rows.rows()));
  const auto influence = [&](const Vector& m) {
    Matrix f, gains;
    model.rows->linearise(m, block, f, gains);
    return Vector(gains.cwiseAbs().colwise().sum());
  };
  const Vector here = influence(model.prior.mean), elsewhere = influence(drawn);
  return ((here.array() == 0) && (elsewhere.array() != 0)).any();
}

}  // namespace

double fraction_of_model(double nats_ahead) {
  const double fraction = 1 / (1 + std::exp(-nats_ahead));
  if (!(fraction >= kLeastFraction)) return 0;  // or it is not a number
  return fraction > 1 - kLeastFraction ? 1 : fraction;
}

GraphFamily single_graph(SharedModel model) {
  return {.model = [model = std::move(model)](const GraphChoice&) { return model; },
          .text = [](const std::vector<std::size_t>&) { return std::string("the graph"); }};
}

GraphMixture::GraphMixture(std::shared_ptr<const GraphFamily> family, GraphMixtureOptions options)
    : family_(std::move(family)), options_(std::move(options)) {
  options_.simple = options_.simple && family_->simple;
  if (!options_.learn_noise) options_.noise_model = NoiseModel::constant, options_.tails = false;
  choose(family_->first);
}

void GraphMixture::set_members(std::size_t members, NoiseModel noise_model, bool simple) {
  options_.members = members;
  options_.noise_model = noise_model;
  options_.simple = simple && family_->simple;
  if (options_.simple && !simple_) simple_ = family_->simple(memory_.choice.relevance);
}

void GraphMixture::set_limits(int epochs, int weighted_epochs, double least_gain) {
  options_.epochs = epochs;
  options_.weighted_epochs = weighted_epochs;
  if (least_gain > 0) options_.least_gain = least_gain;
}

void GraphMixture::choose(GraphChoice choice) {
  model_ = family_->model(choice);
  if (options_.simple) simple_ = family_->simple(choice.relevance);
  memory_.choice = std::move(choice);
}

// Each member has matrices of its own, and processes of a team must all do the same thing next.
std::size_t members_at_once(const SolverForm& form, const LearnControl& control, std::size_t members) {
  if (control.team && !control.team->is_whole()) return 1;
  return std::clamp<std::size_t>(form.members_at_once, 1, std::max<std::size_t>(1, std::min(control.jobs, members)));
}

bool GraphMixture::has_begun(int epochs) const {
  return std::ranges::any_of(memory_.members, [&](const Member& m) { return m.plain.epoch - m.since > epochs; });
}

void GraphMixture::begin_again() {
  for (Member& member : memory_.members) {
    member.plain = member.last().state;
    member.since = member.plain.epoch;
    member.plain.begin_stage();
    member.weighted = {};
    member.plain_done = false;
  }
}

GraphMixtureReport GraphMixture::fit(RowData data, const LearnControl& control, const OnEpoch& on_epoch, HeldOut held) {
  const Index scalars = model_.rows->scalars();
  // A posterior by rows knows Gaussian noise alone, and precisions by group ask it for what it must estimate.
  const bool may_be_dual = data.likelihoods.empty() && model_.prior.group_count() <= 1;
  SolverForm form =
      choose_form(data.rows.rows(), data.targets.cols(), scalars, options_.grows, kMostGaussianBytes, may_be_dual);
  if (form.form == SolverForm::Form::none) fail("fit: {}", form.reason);
  Fitting fitting{
      .data = std::move(data), .form = form, .control = control, .on_epoch = on_epoch, .held = std::move(held)};
  Matrix& rows = fitting.data.rows;
  const Matrix& targets = fitting.data.targets;
  judged_ = fitting.held.rows;
  GraphMixtureReport report{.form = fitting.form};
  memory_.lowest = rows.colwise().minCoeff(), memory_.highest = rows.colwise().maxCoeff();
  memory_.lowest.tail(fitting.data.choices).setConstant(-kAnywhere);
  memory_.highest.tail(fitting.data.choices).setConstant(kAnywhere);
  if (memory_.members.empty()) decide_first_start(fitting.data);
  memory_.members.resize(std::max(options_.members, memory_.members.size()));
  if (options_.simple) fit_simple(fitting);
  const std::size_t members = memory_.members.size(), jobs = members_at_once(fitting.form, control, members);
  fitting.plain.resize(members), fitting.weighted.resize(members);
  fitting.jobs = std::max<std::size_t>(1, control.jobs / jobs);
  std::vector<char> begun(members);
  parallel_for(members, jobs, [&](std::size_t k) {
    begun[k] = !fitting.is_stopped();
    if (begun[k]) fit_plain(fitting, k);
  });
  if (noise_by_inputs(fitting.data))
    parallel_for(members, jobs, [&](std::size_t k) {
      if (!fitting.is_stopped()) fit_weighted(fitting, k);
    });
  report.interrupted = fitting.stopped;
  for (std::size_t k = 0; k < members && begun[k]; ++k) {
    const Member& member = memory_.members[k];
    report.epochs.push_back(std::max(member.plain.epoch, member.weighted.epoch) - member.since);
    report.settled.push_back(member.plain.is_settled() && (!member.weighted_posterior || member.weighted.is_settled()));
  }
  share_among_members();
  const std::vector<double> noise_of_members = noise_before_tails(rows, 1),
                            noise_of_simple = noise_before_tails(rows, 0);
  rows.resize(0, 0);  // makes room for components, which are as large
  left_out_.clear();
  for (std::size_t k = 0; k < members && begun[k]; ++k)
    add_member(memory_.members[k], fitting.plain[k],
               memory_.members[k].weighted_posterior ? &fitting.weighted[k] : nullptr, memory_.members[k].fraction,
               left_out_);
  const std::vector<double> factors = fit_noise(left_out_, fitting.data);
  for (Member& member : memory_.members)
    for (auto* posterior : {&member.plain_posterior, &member.weighted_posterior})
      for (std::size_t j = 0; *posterior && j < (*posterior)->tails.size(); ++j)
        (*posterior)->tails[j].scale *= factors[j];
  memory_.fraction = 1;
  report.score = score_judged(left_out_, fitting.data);
  if (options_.simple) {
    const double ahead = nats_ahead(fitting, report.score, members);
    const double fraction = memory_.fraction = fraction_of_model(ahead);
    report.score =
        fitting.simple_score + (ahead > 0 ? ahead + std::log1p(std::exp(-ahead)) : std::log1p(std::exp(ahead)));
    for (PredictionComponent& own : left_out_) own.weight *= fraction;
    if (fraction == 0) left_out_.clear();
    if (fraction < 1)
      left_out_.push_back(component(std::move(fitting.simple), *memory_.simple,
                                    Matrix::Constant(targets.rows(), targets.cols(), 1 - fraction),
                                    model_.likelihoods));
  }
  report.fraction = memory_.fraction;
  if (options_.tails) widen_to_cover(fitting.data);
  report.noise = with_tails(memory_.fraction < 0.5 ? noise_of_simple : noise_of_members);
  return report;
}

void GraphMixture::decide_first_start(const RowData& data) {
  memory_.first_at_mean = model_.first_at_mean &&
                          !has_dead_scalar(model_, data.rows, model_.prior.mean + draw(model_.spread, options_.seed));
}

// The evidence of a start which stands where another does counts for both, and so does their mixture.
void GraphMixture::share_among_members() {
  double highest = -kInfinity, sum = 0;
  for (Member& member : memory_.members) {
    member.fraction = member.plain_posterior ? 1 : 0;
    if (member.plain_posterior) highest = std::max(highest, member.last().log_evidence);
  }
  if (options_.by_evidence && !std::isfinite(highest))
    fail("the examples overflow: use other units, or leave out values that are far from all others");
  for (Member& member : memory_.members) {
    if (options_.by_evidence && member.plain_posterior)
      member.fraction = std::exp(member.last().log_evidence - highest);
    sum += member.fraction;
  }
  for (Member& member : memory_.members) member.fraction /= sum;
}

// `score`: of the judged rows by the members; evidences are those of constant noise. With more scalars than rows these
// are few, chance flatters, and members must have the better evidence too. With fewer scalars the evidence is too
// strict instead: on wine it prefers the linear model by 49 nats that left-out rows do not confirm.
double GraphMixture::nats_ahead(const Fitting& fitting, double score, std::size_t members) const {
  double evidence = -1e300;
  for (std::size_t k = 0; k < members; ++k)
    if (memory_.members[k].plain_posterior) evidence = std::max(evidence, memory_.members[k].plain_evidence);
  const double by_rows = score - fitting.simple_score - kBenefitOfDoubt,
               by_evidence = evidence - fitting.simple_evidence - kBenefitOfDoubt;
  const bool few_rows = fitting.data.count() <= model_.rows->scalars();
  return few_rows ? std::min(by_rows, by_evidence) : by_rows;
}

void GraphMixture::fit_simple(Fitting& fitting) {
  const RowData& data = fitting.data;
  const LearnControl& control = fitting.control;
  const RowModel& rows = *simple_->rows;
  const SharedPrior& prior = simple_->prior;
  SharedState state{.mean = prior.mean, .noise = {}};
  for (Index k = 0; k < data.targets.cols(); ++k)
    state.noise.push_back(LogLinearNoise::constant(
        options_.learn_noise || options_.noise.empty() ? kFirstNoise : options_.noise[static_cast<std::size_t>(k)]));
  const bool is_dual = data.count() <= rows.scalars() && data.likelihoods.empty() && prior.group_count() <= 1;
  const auto curvature = is_dual ? make_dual() : make_primal();
  curvature->use_threads(control.jobs, control.team);
  if (control.on_stage) curvature->watch([&](double fraction) { control.on_stage({"linear model", fraction}); });
  SharedFitOptions joint{
      .epochs = kSimpleEpochs, .learn_noise = learns_noise(data) || options_.noise.empty(), .least_gain = kSimpleGain};
  bool going_on = true;
  joint.on_epoch = [&](const SharedEpoch& epoch) {  // whoever stops the fit has a few of them in any case
    bool stops = epoch.epoch >= kFewestSimpleEpochs && control.keep_going && !control.keep_going();
    if (control.team) stops = control.team->any(stops);
    return going_on = !stops;
  };
  if (data.has_outcomes()) joint.least_gain = 0, joint.least_change = kLeastChange, joint.epochs = options_.epochs;
  double evidence = fitting.simple_evidence = fit_shared(rows, data, prior, joint, state, *curvature);
  if (noise_by_inputs(data) && going_on) {
    const auto return_to = [&](SharedState before) {
      state = std::move(before);
      curvature->assemble(rows, data, state.mean, prior.scaled(state.scale),
                          data.weighted(row_noise(state, data.rows)));
    };
    const auto left_out_squares = [&] {
      const Matrix errors = leave_one_out(data, row_noise(state, data.rows), *curvature).mean - data.targets;
      return weighted_sum(errors.rowwise().squaredNorm(), data.weights);
    };
    SharedState constant = state;
    const double squares = left_out_squares();
    state.begin_stage();
    joint.epochs = state.epoch + kSimpleWeightedEpochs;
    joint.noise_depends_on_inputs = true;
    evidence = fit_shared(rows, data, prior, joint, state, *curvature);
    if (options_.noise_model == NoiseModel::choose && evidence < fitting.simple_evidence) {
      return_to(std::move(constant));
      evidence = fitting.simple_evidence;
    } else if (left_out_squares() > kWeightedSquares * squares) {
      // Skewed targets are noisy where they are high: weights by noise then follow the low rows. The function stays,
      // its noise follows the inputs.
      return_to(std::move(constant));
      learn_noise_function(data, *curvature, state);
      return_to(SharedState(state));
      evidence = log_evidence(prior, state, data, *curvature);
    }
  }
  SharedSolution fitted = solution_of(rows, data, state, *curvature, evidence, options_.tails && judged_.empty());
  judge(fitting, fitting.held.simple, fitted);
  memory_.simple = std::move(fitted.posterior);
  fitting.simple = std::move(fitted.left_out);
  fitting.simple_score = score_judged({component(fitting.simple, *memory_.simple, {}, model_.likelihoods)}, data);
}

// The state of a stage of a member's learning is told with every epoch. After one no, every answer is no.
SharedFitOptions GraphMixture::fit_options(Fitting& fitting, std::size_t index, SharedState Member::*stage,
                                           const SharedState& state) {
  const LearnControl& control = fitting.control;
  const auto on_epoch = [this, &fitting, &control, index, stage, &state](const SharedEpoch& epoch) {
    std::vector<double> noise;
    for (const LogLinearNoise& own : state.noise)
      noise.push_back(std::exp(own.variances(fitting.data.rows).array().log().mean()));
    const std::lock_guard lock(fitting.mutex);
    memory_.members[index].*stage = state;
    memory_.members[index].effective_scalars = epoch.effective_scalars;
    const bool was_stopped = std::exchange(fitting.stopped, true);  // as it stays if the call throws
    const bool yes = !fitting.on_epoch || fitting.on_epoch({index, epoch, std::move(noise)});
    bool stops = was_stopped || !yes;
    if (control.team) stops = control.team->any(stops);
    fitting.stopped = stops;
    return !stops;
  };
  SharedFitOptions options{.epochs = memory_.members[index].since + options_.epochs,
                           .learn_noise = learns_noise(fitting.data),
                           .learn_scale = options_.learn_scale,
                           .least_gain = options_.least_gain,
                           .on_epoch = on_epoch,
                           .jobs = fitting.jobs,
                           .team = control.team,
                           .on_stage = control.on_stage};
  if (fitting.data.has_outcomes() && options.least_gain > 0)
    options.least_gain = 0, options.least_change = kLeastChange;
  return options;
}

void GraphMixture::fit_plain(Fitting& fitting, std::size_t index) {
  const RowData& data = fitting.data;
  Member& member = memory_.members[index];
  const bool starts = member.plain.mean.size() == 0;  // or a model without what a checkpoint has
  SharedState plain = starts ? first_state(index, data) : member.plain;
  {
    const std::lock_guard lock(fitting.mutex);
    if (starts) member = {}, member.plain = plain;
    member.plain_posterior.reset();  // the one of an earlier fit; this fit may stop before it has a new one
    member.weighted_posterior.reset();
  }
  const SharedPrior prior = prior_of(index);
  SharedFitOptions joint = fit_options(fitting, index, &Member::plain, plain);
  bool going_on = true;
  joint.on_epoch = [&going_on, asked = joint.on_epoch](const SharedEpoch& epoch) { return going_on = asked(epoch); };
  const auto curvature = fitting.curvature();
  const bool growing = fitting.form.form == SolverForm::Form::growing;
  const bool knows_most = starts && index < starts_.size() && plain.subset == 0;
  const RowModel& rows = *model_.rows;
  if (growing && (starts || plain.subset > 0) &&
      (knows_most || learn_on_subsets(rows, data, prior, joint, plain, options_.seed + index))) {
    plain.epoch = std::max(0, options_.epochs - kFullEpochs);
    plain.begin_stage();
  }
  if (member.plain_done || plain.subset > 0) joint.epochs = plain.epoch;
  const double plain_evidence = fit_shared(rows, data, prior, joint, plain, *curvature);
  SharedState noisy = plain;
  double evidence = plain_evidence;
  if (noise_by_inputs(data) && going_on) {  // a stop leaves the noise constant
    learn_noise_function(data, *curvature, noisy);
    curvature->assemble(rows, data, noisy.mean, prior.scaled(noisy.scale), data.weighted(row_noise(noisy, data.rows)));
    evidence = log_evidence(prior, noisy, data, *curvature);
  }
  SharedSolution fitted = solution_of(rows, data, noisy, *curvature, evidence, options_.tails && judged_.empty());
  if (index < fitting.held.plain.size()) judge(fitting, fitting.held.plain[index], fitted);
  fitting.plain[index] = std::move(fitted.left_out);
  Vector determined;
  if (std::ranges::any_of(prior.groups, [](const ScaleGroup& group) { return !group.name.empty(); }))
    determined = prior.by_group(curvature->determined());
  const std::lock_guard lock(fitting.mutex);
  member.plain = std::move(plain);
  member.plain_evidence = plain_evidence;
  member.plain_done = going_on;
  member.plain_posterior = std::move(fitted.posterior);
  member.determined = std::move(determined);
}

void GraphMixture::fit_weighted(Fitting& fitting, std::size_t index) {
  const RowData& data = fitting.data;
  Member& member = memory_.members[index];
  // A member that has lost to the simple graph needs no finer noise. The evidence is the best of this member and those
  // before it.
  const auto score = [&] {
    std::vector<PredictionComponent> own = {
        component(fitting.plain[index], *member.plain_posterior, {}, model_.likelihoods)};
    fit_noise(own, data);
    return score_judged(own, data);
  };
  if (options_.simple && nats_ahead(fitting, score(), index + 1) < std::log(kLeastFraction)) return;
  SharedState weighted = member.weighted.epoch == 0 ? member.plain : member.weighted;
  if (member.weighted.epoch == 0) weighted.begin_stage();
  SharedFitOptions joint = fit_options(fitting, index, &Member::weighted, weighted);
  const bool growing = fitting.form.form == SolverForm::Form::growing;
  joint.epochs = member.plain.epoch + (growing ? kFullEpochs : options_.weighted_epochs);
  joint.noise_depends_on_inputs = true;
  joint.weight_exponent = options_.weight_exponent;
  const auto curvature = fitting.curvature();
  const double evidence = fit_shared(*model_.rows, data, prior_of(index), joint, weighted, *curvature);
  SharedSolution fitted =
      solution_of(*model_.rows, data, weighted, *curvature, evidence, options_.tails && judged_.empty());
  if (index < fitting.held.weighted.size()) judge(fitting, fitting.held.weighted[index], fitted);
  fitting.weighted[index] = std::move(fitted.left_out);
  const std::lock_guard lock(fitting.mutex);
  member.weighted = std::move(weighted);
  member.weighted_posterior = std::move(fitted.posterior);
}

SharedState GraphMixture::first_state(std::size_t member, const RowData& data) const {
  if (member < starts_.size()) return starts_[member];
  SharedState state{.mean = model_.prior.mean, .noise = {}};
  if (member > 0 || !memory_.first_at_mean) state.mean += draw(model_.spread, options_.seed + member);
  for (Index k = 0; k < data.targets.cols(); ++k)
    state.noise.push_back(
        LogLinearNoise::constant(options_.noise.empty() ? kFirstNoise : options_.noise[static_cast<std::size_t>(k)]));
  return state;
}

SharedPrior GraphMixture::prior_of(std::size_t member) const {
  SharedPrior prior = model_.prior;
  if (model_.anchored.empty() || (member == 0 && memory_.first_at_mean)) return prior;
  const Vector start = draw(model_.spread, options_.seed + member);
  for (const Index i : model_.anchored) prior.mean(i) += start(i);
  return prior;
}

// Judged rows are what was held out says of them, with the noise of what learned them; they tell its tails.
void GraphMixture::judge(const Fitting& fitting, const RowBeliefs& held, SharedSolution& found) const {
  if (judged_.empty()) return;
  put(held.some(judged_), judged_, found.left_out, false);
  if (options_.tails) found.posterior.tails = tails_of(fitting.data.some(judged_), found.left_out.some(judged_));
}

double GraphMixture::score_judged(const std::vector<PredictionComponent>& components, const RowData& data) const {
  return judged_.empty() ? score_of(components, data.targets, data.weights)
                         : score_of(rows_of(components, judged_), data.targets(judged_, Eigen::all),
                                    weights_of(data.weights, judged_));
}

}  // namespace dma
