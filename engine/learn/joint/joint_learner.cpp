#include "engine/learn/joint/joint_learner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>

#include "engine/learn/joint/joint_learner_impl.h"
#include "engine/support/error.h"
#include "engine/support/parallel.h"
#include "engine/support/text.h"

namespace dma {

namespace {

constexpr double kMostJointBytes = 4e9;
double bytes_of(Index scalars) { return 3 * 8 * static_cast<double>(scalars) * static_cast<double>(scalars); }

// An Error where a matrix over all shared scalars is too large, or there is none.
void check_size(const RowProgram& program) {
  const Index scalars = program.scalars();
  if (bytes_of(scalars) > kMostJointBytes)
    fail(
        "joint learning: {} shared scalars would take {:.1f} GB, more than {:.1f} GB; message sweeps (Learner) can "
        "learn them",
        scalars, bytes_of(scalars) / 1e9, kMostJointBytes / 1e9);
  if (scalars == 0) fail("joint learning: no target depends on a shared variable; there is nothing to learn");
}

// Whether one of some scalars that has influence at a draw from the prior has none on these rows at its mean, as in a
// network whose weights are all 0.
bool has_dead_scalar(const RowProgram& program, const Matrix& rows, std::uint64_t seed, std::vector<Index> some) {
  const Matrix block = rows.topRows(std::min<Index>(kRowsPerBlock, rows.rows()));
  const auto influence = [&](const Vector& m) {
    Matrix f, gains;
    program.linearise(m, block, f, gains);
    return Vector(gains.cwiseAbs().colwise().sum());
  };
  const Vector here = influence(program.prior().mean), elsewhere = influence(draw(program.prior(), seed));
  return std::ranges::any_of(some, [&](Index i) { return here(i) == 0 && elsewhere(i) != 0; });
}

}  // namespace

std::vector<Index> JointLearner::Impl::free() const {
  std::vector<Index> all;
  for (std::size_t i = 0; i < is_frozen.size(); ++i)
    if (is_frozen[i] == 0) all.push_back(static_cast<Index>(i));
  return all;
}

std::unique_ptr<RowModel> JointLearner::Impl::model_of(const Start& start) const {
  const std::vector<Index> own = free();
  if (own.size() == is_frozen.size()) return std::make_unique<RowProgram>(program);
  return std::make_unique<PartialRows>(program, start.mean, own);
}

SharedPrior JointLearner::Impl::prior(const Start& start) const {
  SharedPrior all = program.prior();
  const auto each = [&](const std::vector<VariableId>& variables, const auto& use) {
    for (const VariableId v : variables) use(program.first_scalar(v), static_cast<Index>(graph[v].size));
  };
  if (start.anchor.size() > 0)
    each(options.anchored, [&](Index i, Index n) { all.mean.segment(i, n) = start.anchor.segment(i, n); });
  constexpr Index kUnscaled = -2;  // for the time being
  if (!options.unscaled.empty() && options.learn_scale) {
    if (all.group.empty()) all.group.assign(static_cast<std::size_t>(program.scalars()), 0);
    each(options.unscaled, [&](Index i, Index n) { std::fill_n(all.group.begin() + i, n, kUnscaled); });
  }
  SharedPrior own = all.some(free());
  if (options.learn_scale && std::ranges::count(own.group, -1) > 0) {
    std::ranges::replace(own.group, Index{-1}, own.group_count());
    own.groups.emplace_back();
  }
  std::ranges::replace(own.group, kUnscaled, Index{-1});
  return own;
}

void JointLearner::Impl::check_fitted(std::string_view what) const {
  if (starts.empty() || !starts[0].is_fitted()) fail("{}: nothing has been learned yet; call fit first", what);
}

// The evidence of a start which stands where another does counts for both, and so does their mixture.
void JointLearner::Impl::weigh(std::vector<Start>& starts) {
  double highest = -kInfinity, sum = 0;
  for (const Start& start : starts) highest = std::max(highest, start.posterior.log_evidence);
  if (!std::isfinite(highest))
    fail("the examples overflow: use other units, or leave out values that are far from all others");
  for (Start& start : starts) sum += start.weight = std::exp(start.posterior.log_evidence - highest);
  for (Start& start : starts) start.weight /= sum;
}

JointLearner::JointLearner(const Graph& graph, const Registry& registry, std::vector<VariableId> targets,
                           JointLearnOptions options)
    : impl_(new Impl{graph, targets, RowProgram(graph, registry, targets), std::move(options), {}}) {
  check_size(impl_->program);
  for (const double variance : impl_->program.noise())
    if (!(variance > 0))
      fail("joint learning: a target is a computed variable; give the observed one that has gaussian_noise on it");
  const JointLearnOptions& o = impl_->options;
  if (o.epochs < 0) fail("joint learning: {} epochs are given; 0 or more are expected", o.epochs);
  if (o.starts < 1) fail("joint learning: 0 starts are given; at least 1 is expected");
  if ((o.noise_by_inputs || o.tails) && !o.learn_noise)
    fail("joint learning: noise that depends on inputs or has tails is learned; set learn_noise too");
  impl_->is_frozen.assign(static_cast<std::size_t>(impl_->program.scalars()), 0);
  const bool has_others = std::ranges::any_of(impl_->program.likelihoods(), [](const auto& l) { return l != nullptr; });
  if (has_others) impl_->data.likelihoods = impl_->program.likelihoods();
}
JointLearner::~JointLearner() = default;
JointLearner::JointLearner(JointLearner&&) noexcept = default;

const RowProgram& JointLearner::program() const { return impl_->program; }
std::size_t JointLearner::rows() const { return impl_->known; }

JointLearnReport JointLearner::fit(const Data& data, std::span<const double> weights) {
  Impl& l = *impl_;
  if (!l.rows_are_there)
    fail(
        "fit: the examples learned so far are not kept; add others by update(), or make a new learner for all of them");
  const Matrix rows = gather_rows(l.graph, l.program.inputs(), l.program.tables(), data, "fit");
  const Matrix targets = l.targets_of(data, "fit");
  const Index before = l.data.targets.rows(), count = targets.rows();
  if (count == 0) fail("fit: there are no examples");
  if (rows.cols() > 0 && rows.rows() != count) fail("fit: {} examples of inputs but {} of targets", rows.rows(), count);
  if (!weights.empty() && static_cast<Index>(weights.size()) != count)
    fail("fit: {} weights are given for {} examples", weights.size(), count);
  for (const double weight : weights)
    if (!(weight > 0 && std::isfinite(weight)))
      fail("fit: a weight of {} is given; a positive number is expected", weight);
  if (l.starts.empty() || !l.starts[0].is_fitted())
    if (const std::string fault =
            l.program.first_fault(l.program.prior().mean, rows.cols() > 0 ? rows : Matrix(count, 0));
        !fault.empty())
      fail(
          "joint learning: at the prior's mean {}; choose another prior, a function with finite derivatives there, or "
          "leave such examples out",
          fault);
  const bool weighted = l.data.weights.size() > 0 || !weights.empty();
  if (weighted && l.data.weights.size() == 0) l.data.weights = Vector::Ones(before);
  l.data.rows.conservativeResize(before + count, l.program.input_size());
  l.data.targets.conservativeResize(before + count, targets.cols());
  if (rows.cols() > 0) l.data.rows.bottomRows(count) = rows;
  l.data.targets.bottomRows(count) = targets;
  if (weighted) {
    l.data.weights.conservativeResize(before + count);
    for (Index i = 0; i < count; ++i)
      l.data.weights(before + i) = weights.empty() ? 1 : weights[static_cast<std::size_t>(i)];
  }
  l.known += static_cast<std::size_t>(count);
  try {
    return l.learn();
  } catch (const Error&) {  // as if these examples had not come
    l.starts.clear();
    l.known -= static_cast<std::size_t>(count);
    l.data.rows.conservativeResize(before, Eigen::NoChange);
    l.data.targets.conservativeResize(before, Eigen::NoChange);
    if (weighted) l.data.weights.conservativeResize(before);
    throw;
  }
}

JointLearnReport JointLearner::forget(std::span<const std::size_t> examples) {
  Impl& l = *impl_;
  if (!l.rows_are_there) fail("forget: the examples learned so far are not kept");
  std::vector<bool> gone(rows(), false);
  for (const std::size_t example : examples) {
    if (example >= gone.size()) fail("forget: example {} is given, but there are only {}", example, gone.size());
    gone[example] = true;
  }
  std::vector<Index> kept;
  for (std::size_t i = 0; i < gone.size(); ++i)
    if (!gone[i]) kept.push_back(static_cast<Index>(i));
  if (kept.empty()) fail("forget: no example would be left; make a new learner instead");
  l.data = RowData(l.data.some(kept));
  l.known = kept.size();
  return l.learn();
}

// The first start is the prior's mean, unless a scalar that has influence elsewhere has none on any example there.
void JointLearner::Impl::make_starts() {
  const bool is_dead = has_dead_scalar(program, data.rows, options.seed, free());
  starts.resize(options.starts);
  for (std::size_t k = 0; k < starts.size(); ++k) {
    Start& start = starts[k];
    start.mean = program.prior().mean;
    const Vector drawn = draw(program.prior(), options.seed + k);
    if (k > 0 || is_dead) start.mean(free()) = drawn(free());
    start.anchor = start.mean;
    for (const double variance : program.noise()) start.state.noise.push_back(LogLinearNoise::constant(variance));
  }
}

void JointLearner::Impl::learn(Start& start, std::size_t index, std::size_t jobs,
                               const std::function<bool(const JointEpoch&)>& told) {
  const std::vector<Index> own = free();
  const auto model = model_of(start);
  const SharedPrior prior = this->prior(start);
  const auto curvature = make_primal();
  curvature->use_threads(jobs, options.team);
  bool going_on = true;
  SharedFitOptions fit{.epochs = options.epochs + start.state.epoch,
                       .learn_noise = options.learn_noise,
                       .learn_scale = options.learn_scale || !prior.group.empty(),
                       .least_gain = options.least_gain,
                       .on_epoch =
                           [&](const SharedEpoch& epoch) {
                             return going_on = told({index, epoch});
                           },
                       .jobs = jobs,
                       .team = options.team};
  if (data.has_classes() && options.least_gain > 0) fit.least_gain = 0, fit.least_change = kLeastChange;
  start.state.mean = start.mean(own);
  start.state.begin_stage();
  double evidence = fit_shared(*model, data, prior, fit, start.state, *curvature);
  if (options.noise_by_inputs && going_on && data.has_gaussians()) {
    fit.epochs = options.epochs + start.state.epoch;
    fit.noise_depends_on_inputs = true;
    start.state.begin_stage();
    evidence = fit_shared(*model, data, prior, fit, start.state, *curvature);
  }
  start.mean(own) = start.state.mean;
  SharedSolution found = solution_of(*model, data, start.state, *curvature, evidence, options.tails);
  start.posterior = std::move(found.posterior), start.left_out = std::move(found.left_out);
  start.effective_scalars = curvature->effective_scalars();
  if (!prior.group.empty()) start.determined = prior.by_group(curvature->determined());
}

JointLearnReport JointLearner::Impl::learn() {
  if (free().empty()) fail("fit: all shared variables are frozen; thaw one of them");
  if (starts.empty()) make_starts();
  const std::size_t by_memory =
      static_cast<std::size_t>(std::clamp(kMostJointBytes / bytes_of(program.scalars()), 1.0, 1000.0));
  const bool is_whole = !options.team || options.team->is_whole();
  const std::size_t at_once =
      is_whole ? std::min({std::max<std::size_t>(1, options.jobs), starts.size(), by_memory}) : 1;
  std::mutex mutex;
  JointLearnReport report;
  const auto told = [&](const JointEpoch& epoch) {
    const std::lock_guard lock(mutex);
    bool stops = report.interrupted || (options.on_epoch && !options.on_epoch(epoch));
    if (options.team) stops = options.team->any(stops);
    report.interrupted = stops;
    return !stops;
  };
  std::vector<int> before;
  for (const Start& start : starts) before.push_back(start.state.epoch);
  parallel_for(starts.size(), at_once,
               [&](std::size_t k) { learn(starts[k], k, std::max<std::size_t>(1, options.jobs / at_once), told); });
  for (Start& start : starts) try {
      check_posterior(start.posterior, static_cast<Index>(free().size()), program.noise().size(), program.input_size());
    } catch (const Error&) {
      start.posterior.log_evidence = -kInfinity;
    }
  weigh(starts);
  for (std::size_t k = 0; k < starts.size(); ++k)
    report.starts.push_back({starts[k].state.epoch - before[k], starts[k].state.is_settled(),
                             starts[k].posterior.log_evidence, starts[k].weight});
  const Start& best = *std::ranges::max_element(starts, {}, &Start::weight);
  report.log_evidence = best.posterior.log_evidence;
  report.effective_scalars = best.effective_scalars;
  report.precisions = precisions(best);
  std::erase_if(starts, [](const Start& start) { return start.posterior.log_evidence == -kInfinity; });
  return report;
}

std::vector<JointLearnReport::Precision> JointLearner::Impl::precisions(const Start& start) const {
  const SharedPrior own = prior(start);
  std::vector<JointLearnReport::Precision> all;
  for (std::size_t g = 0; g < own.groups.size(); ++g)
    if (!own.groups[g].name.empty())
      all.push_back({own.groups[g].name, start.state.scale(static_cast<Index>(g)),
                     start.determined(static_cast<Index>(g)),
                     static_cast<std::size_t>(std::ranges::count(own.group, static_cast<Index>(g)))});
  return all;
}

bool JointLearner::update(const Data& data) {
  Impl& l = *impl_;
  l.check_fitted("update");
  RowData more{gather_rows(l.graph, l.program.inputs(), l.program.tables(), data, "update"),
               l.targets_of(data, "update"),
               {},
               l.data.likelihoods};
  if (l.program.input_size() == 0) more.rows.resize(more.targets.rows(), 0);
  if (more.targets.rows() == 0) fail("update: there are no examples");
  if (more.rows.rows() != more.targets.rows() && more.rows.cols() > 0)
    fail("update: {} examples of inputs but {} of targets", more.rows.rows(), more.targets.rows());
  const std::optional<Index> known = l.options.learn_noise ? std::optional(static_cast<Index>(l.known)) : std::nullopt;
  bool settled = true;
  std::vector<Impl::Start> next = l.starts;  // all or nothing
  for (Impl::Start& start : next) {
    const auto model = l.model_of(start);
    const SharedPrior prior = l.prior(start);
    const RowBeliefs before = start.posterior.predict(*model, prior, more.rows, more.has_classes());
    const double density = Prediction::mix({l.part(start, before)}).log_density(more.targets).sum();
    SharedUpdate found = start.posterior.updated(*model, prior, more, known);
    start.posterior = std::move(found.posterior);
    start.posterior.log_evidence += density;
    start.state = start.posterior.state;
    start.mean(l.free()) = start.state.mean;
    start.left_out = {};
    settled = settled && found.settled;
  }
  Impl::weigh(next);
  l.starts = std::move(next);
  l.known += static_cast<std::size_t>(more.targets.rows());
  l.rows_are_there = false;
  l.data = {{}, {}, {}, l.data.likelihoods};
  return settled;
}

void JointLearner::freeze(VariableId shared) { impl_->set_frozen(shared, true, "freeze"); }
void JointLearner::thaw(VariableId shared) { impl_->set_frozen(shared, false, "thaw"); }

void JointLearner::Impl::set_frozen(VariableId shared, bool frozen, std::string_view what) {
  if (!rows_are_there)
    fail("{0}: the examples learned so far are not kept; {0} variables before update() or load()", what);
  std::fill_n(is_frozen.begin() + program.first_scalar(shared), graph[shared].size, std::uint8_t{frozen});
  for (Start& start : starts) start.posterior = {}, start.left_out = {};
}

std::string JointLearnReport::line() const {
  if (starts.empty()) return "nothing was learned";
  int epochs = 0, settled = 0;
  for (const Start& start : starts) epochs += start.epochs, settled += start.settled ? 1 : 0;
  std::string text = starts.size() == 1
                         ? fmt::format("{} epochs, {}", epochs, starts[0].settled ? "settled" : "at its limit")
                         : fmt::format("{} starts, {} settled, {} epochs", starts.size(), settled, epochs);
  if (interrupted) text += ", interrupted";
  text +=
      fmt::format("; log evidence {:.4g}; {:.1f} scalars determined by the examples", log_evidence, effective_scalars);
  std::vector<std::string> off;
  for (const Precision& own : precisions)
    if (own.is_off()) off.push_back(own.name);
  return off.empty() ? text : fmt::format("{}; the examples switched off {}", text, joined(off));
}

}  // namespace dma
