#include "engine/learn/gaussian/learner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "engine/learn/gaussian/file.h"
#include "engine/learn/gaussian/learner_data.h"
#include "engine/learn/gaussian/program/output_likelihood.h"
#include "engine/support/text.h"
#include "engine/support/usable.h"

namespace dma {

namespace {

// Examples are first learned in subsets where an epoch of all takes more products than this.
constexpr double kProductsToGrow = 1e9;

bool has_named_groups(const SharedPrior& prior) {
  return std::ranges::any_of(prior.groups, [](const ScaleGroup& group) { return !group.name.empty(); });
}

}  // namespace

EnsembleOptions ensemble_options(const GaussianLearnOptions& o, const RowProgram& program) {
  EnsembleOptions all{.hold_out = o.hold_out};
  all.choose_relevance = all.choose_smoothing = false;
  all.mixture = {.noise = program.noise(),
                 .learn_noise = o.learn_noise,
                 .learn_scale = o.learn_scale || has_named_groups(program.prior()),
                 .noise_model = o.noise_by_inputs ? NoiseModel::inputs : NoiseModel::constant,
                 .weight_exponent = 1,
                 .tails = o.tails,
                 .simple = false,
                 .doubt_extrapolation = false,
                 .by_evidence = true,
                 .grows = false,
                 .epochs = o.epochs,
                 .weighted_epochs = o.epochs,
                 .least_gain = o.least_gain,
                 .members = o.starts,
                 .seed = o.seed};
  return all;
}

SharedModel shared_model(std::shared_ptr<const RowProgram> program, const GaussianLearnOptions& options,
                         const Graph& graph) {
  SharedModel model{.rows = program, .prior = program->prior(), .spread = program->prior(), .first_at_mean = true};
  for (const VariableId v : program->shared()) model.variables.push_back({graph[v].name, graph[v].size, 1});
  if (std::ranges::any_of(program->likelihoods(), [](const auto& own) { return own != nullptr; }))
    model.likelihoods = program->likelihoods();
  model.spread.mean.setZero();
  const auto each = [&](const std::vector<VariableId>& variables, const auto& use) {
    for (const VariableId v : variables)
      for (std::uint32_t i = 0; i < graph[v].size; ++i) use(program->first_scalar(v) + static_cast<Index>(i));
  };
  each(options.anchored, [&](Index i) { model.anchored.push_back(i); });
  if (!options.learn_scale) return model;
  // Scalars without a precision variable share one factor, but for the unscaled ones.
  SharedPrior& prior = model.prior;
  if (prior.group.empty() && options.unscaled.empty()) return model;
  if (prior.group.empty()) prior.group.assign(static_cast<std::size_t>(program->scalars()), 0);
  constexpr Index kUnscaled = -2;  // for the time being
  each(options.unscaled, [&](Index i) { prior.group[static_cast<std::size_t>(i)] = kUnscaled; });
  if (std::ranges::count(prior.group, -1) > 0) {
    std::ranges::replace(prior.group, Index{-1}, prior.group_count());
    prior.groups.emplace_back();
  }
  std::ranges::replace(prior.group, kUnscaled, Index{-1});
  return model;
}

std::vector<Gaussian> beliefs_of(const GraphMixture& mixture, Index first, Index size) {
  Vector mean = Vector::Zero(size), variance = mean;
  std::vector<std::pair<double, GraphMixture::Marginals>> all;
  for (std::size_t k = 0; k < mixture.memory().members.size(); ++k)
    if (const auto& member = mixture.memory().members[k]; member.plain_posterior && member.fraction > 0)
      all.emplace_back(member.fraction, mixture.marginals(k));
  for (const auto& [fraction, own] : all) mean += fraction * own.mean.segment(first, size);
  for (const auto& [fraction, own] : all)
    variance += fraction * (own.variance.segment(first, size) + (own.mean.segment(first, size) - mean).cwiseAbs2());
  std::vector<Gaussian> beliefs;
  for (Index i = 0; i < size; ++i)
    beliefs.push_back(variance(i) > 0 ? Gaussian::from_moments(mean(i), variance(i)) : Gaussian::point(mean(i)));
  return beliefs;
}

struct GaussianLearner::Impl {
  Graph graph;
  std::vector<VariableId> targets;
  std::shared_ptr<const RowProgram> program;
  GaussianLearnOptions options;
  SharedModel whole = {};                    // model of all scalars
  std::vector<std::uint8_t> is_frozen = {};  // by scalar
  Vector held = {};                          // values of the frozen ones
  std::optional<Ensemble> ensemble = {};     // learns the scalars that are not frozen
  RowData data = {};
  std::size_t known = 0;       // examples learned
  bool rows_are_there = true;  // true if data has all of them

  std::vector<Index> free() const {
    std::vector<Index> all;
    for (std::size_t i = 0; i < is_frozen.size(); ++i)
      if (is_frozen[i] == 0) all.push_back(static_cast<Index>(i));
    return all;
  }
  // A new ensemble of the scalars that are not frozen.
  void make_ensemble() {
    const std::vector<Index> own = free();
    SharedModel model = whole;
    if (std::ssize(own) < whole.rows->scalars()) {
      model.rows = std::make_shared<PartialRows>(*program, held, own);
      model.prior = whole.prior.some(own), model.spread = whole.spread.some(own);
      model.anchored.clear();
      for (std::size_t i = 0; i < own.size(); ++i)
        if (std::ranges::find(whole.anchored, own[i]) != whole.anchored.end())
          model.anchored.push_back(static_cast<Index>(i));
    }
    ensemble.emplace(single_graph(std::move(model)), ensemble_options(options, *program));
  }
  GraphMixture& mixture() { return ensemble->mixture(); }
  const GraphMixture& mixture() const { return ensemble->mixture(); }
  void check_fitted(std::string_view what) const {
    if (!mixture().is_fitted()) fail("{}: nothing has been learned yet; call fit first", what);
  }
  Matrix targets_of(const Data& examples, std::string_view what) const {
    return coded_targets(gather_rows(graph, targets, {}, examples, what), program->likelihoods(), program->outputs(),
                         what);
  }
  void set_frozen(VariableId shared, bool frozen, std::string_view what);
  Vector whole_mean(std::size_t member) const {
    Vector mean = held;
    mean(free()) = mixture().memory().members[member].last().state.mean;
    return mean;
  }
  std::size_t best() const {
    const auto& members = mixture().memory().members;
    return static_cast<std::size_t>(std::ranges::max_element(members, {}, &GraphMixture::Member::fraction) -
                                    members.begin());
  }
  GaussianLearnReport learn();
};

GaussianLearner::GaussianLearner(const Graph& graph, const Registry& registry, std::vector<VariableId> targets,
                                 GaussianLearnOptions options)
    : impl_(
          new Impl{graph, targets, std::make_shared<const RowProgram>(graph, registry, targets), std::move(options)}) {
  Impl& l = *impl_;
  if (l.program->scalars() == 0)
    fail("Gaussian learning: no target depends on a shared variable; there is nothing to learn");
  for (const double variance : l.program->noise())
    if (!(variance > 0))
      fail("Gaussian learning: a target is a computed variable; give the observed one that has gaussian_noise on it");
  const GaussianLearnOptions& o = l.options;
  if (o.epochs < 0) fail("Gaussian learning: {} epochs are given; 0 or more are expected", o.epochs);
  if (o.starts < 1) fail("Gaussian learning: 0 starts are given; at least 1 is expected");
  if ((o.noise_by_inputs || o.tails) && !o.learn_noise)
    fail("Gaussian learning: noise that depends on inputs or has tails is learned; set learn_noise too");
  l.whole = shared_model(l.program, o, l.graph);
  l.is_frozen.assign(static_cast<std::size_t>(l.program->scalars()), 0);
  l.held = l.program->prior().mean;
  l.data.likelihoods = l.whole.likelihoods;
  l.make_ensemble();
}
GaussianLearner::~GaussianLearner() = default;
GaussianLearner::GaussianLearner(GaussianLearner&&) noexcept = default;

std::size_t GaussianLearner::scalars() const { return static_cast<std::size_t>(impl_->program->scalars()); }
const RowProgram& GaussianLearner::program() const { return *impl_->program; }
std::size_t GaussianLearner::rows() const { return impl_->known; }

namespace {

void check_example_weights(std::span<const double> weights, Index count, std::string_view what) {
  if (!weights.empty() && static_cast<Index>(weights.size()) != count)
    fail("{}: {} weights are given for {} examples", what, weights.size(), count);
  for (const double weight : weights)
    if (!(weight > 0 && std::isfinite(weight)))
      fail("{}: a weight of {} is given; a positive number is expected", what, weight);
}

}  // namespace

GaussianLearnReport GaussianLearner::fit(const Data& data, std::span<const double> weights) {
  Impl& l = *impl_;
  if (!l.rows_are_there)
    fail(
        "fit: the examples learned so far are not kept; add others by update(), or make a new learner for all of them");
  Matrix rows = gather_rows(l.graph, l.program->inputs(), l.program->tables(), data, "fit");
  const Matrix targets = l.targets_of(data, "fit");
  const Index before = l.data.targets.rows(), count = targets.rows();
  if (count == 0) fail("fit: there are no examples");
  if (rows.cols() > 0 && rows.rows() != count) fail("fit: {} examples of inputs but {} of targets", rows.rows(), count);
  check_example_weights(weights, count, "fit");
  if (rows.cols() == 0) rows.resize(count, 0);
  if (!l.mixture().is_fitted())
    if (const std::string fault = l.program->first_fault(l.program->prior().mean, rows); !fault.empty())
      fail(
          "Gaussian learning: at the prior's mean {}; choose another prior, a function with finite derivatives there, "
          "or leave such examples out",
          fault);
  const RowData known = l.data;
  Matrix all_rows(before + count, l.program->input_size()), all_targets(before + count, targets.cols());
  if (before > 0) all_rows.topRows(before) = known.rows.topRows(before);
  if (before > 0) all_targets.topRows(before) = known.targets.topRows(before);
  all_rows.bottomRows(rows.rows()) = rows;
  all_targets.bottomRows(targets.rows()) = targets;
  l.data.rows = std::move(all_rows), l.data.targets = std::move(all_targets);
  const Vector own = Eigen::Map<const Vector>(weights.data(), static_cast<Index>(weights.size()));
  l.data.weights = joined_weights(known.weights, before, own, count);
  l.known += static_cast<std::size_t>(count);
  try {
    return l.learn();
  } catch (const Error&) {  // as if these examples had not come
    l.data = known;
    l.known -= static_cast<std::size_t>(count);
    l.make_ensemble();
    throw;
  }
}

GaussianLearnReport GaussianLearner::forget(std::span<const std::size_t> examples) {
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

GaussianLearnReport GaussianLearner::Impl::learn() {
  if (free().empty()) fail("fit: all shared variables are frozen; thaw one of them");
  if (mixture().is_fitted()) mixture().begin_again();
  mixture().set_grows(products_of_epoch(data.count(), program->scalars()) > kProductsToGrow);
  GraphMixture::OnEpoch on_epoch;
  if (options.on_epoch)
    on_epoch = [this](const GraphMixture::Progress& now) {
      return options.on_epoch({now.member, now.epoch.epoch, now.epoch.log_evidence, now.noise});
    };
  const GraphMixtureReport fitted = ensemble->fit(data, {.jobs = options.jobs, .team = options.team}, on_epoch);
  return report_of(mixture(), fitted);
}

bool GaussianLearner::update(const Data& data, std::span<const double> weights) {
  Impl& l = *impl_;
  l.check_fitted("update");
  RowData more{gather_rows(l.graph, l.program->inputs(), l.program->tables(), data, "update"),
               l.targets_of(data, "update"), Eigen::Map<const Vector>(weights.data(), std::ssize(weights)),
               l.data.likelihoods};
  if (l.program->input_size() == 0) more.rows.resize(more.targets.rows(), 0);
  const Index count = more.targets.rows();
  if (count == 0) fail("update: there are no examples");
  if (more.rows.rows() != count) fail("update: {} examples of inputs but {} of targets", more.rows.rows(), count);
  check_example_weights(weights, count, "update");
  const double known =
      l.data.targets.rows() > 0 ? total_weight(l.data.targets.rows(), l.data.weights) : static_cast<double>(l.known);
  const bool settled = l.mixture().update(more, static_cast<Index>(known));
  l.known += static_cast<std::size_t>(count);
  l.rows_are_there = false;
  l.data = {{}, {}, {}, l.data.likelihoods};
  return settled;
}

void GaussianLearner::freeze(VariableId shared) { impl_->set_frozen(shared, true, "freeze"); }
void GaussianLearner::thaw(VariableId shared) { impl_->set_frozen(shared, false, "thaw"); }

void GaussianLearner::Impl::set_frozen(VariableId shared, bool frozen, std::string_view what) {
  if (!rows_are_there)
    fail("{0}: the examples learned so far are not kept; {0} variables before update() or load()", what);
  const Index first = program->first_scalar(shared);
  std::vector<Vector> means;
  std::vector<SharedState> states;
  if (mixture().is_fitted()) {
    for (std::size_t k = 0; k < mixture().memory().members.size(); ++k) {
      means.push_back(whole_mean(k));
      states.push_back(mixture().memory().members[k].last().state);
    }
    held = means[best()];
  }
  std::fill_n(is_frozen.begin() + first, graph[shared].size, std::uint8_t{frozen});
  make_ensemble();
  const std::vector<Index> own = free();
  for (std::size_t k = 0; k < states.size(); ++k) {
    states[k] = {.mean = means[k](own), .scale = states[k].scale, .noise = states[k].noise};
  }
  mixture().start_from(std::move(states));
}

std::vector<Gaussian> GaussianLearner::belief(VariableId shared) const {
  const Impl& l = *impl_;
  if (!l.graph[shared].shared) fail("variable '{}' is not shared: it belongs to one example", l.graph[shared].name);
  const Index first = l.program->first_scalar(shared), size = l.graph[shared].size;
  std::vector<Gaussian> all;
  if (l.is_frozen[static_cast<std::size_t>(first)] != 0) {
    for (Index i = first; i < first + size; ++i) all.push_back(Gaussian::point(l.held(i)));
  } else if (l.mixture().is_fitted()) {
    const auto before = std::count(l.is_frozen.begin(), l.is_frozen.begin() + first, 1);
    all = beliefs_of(l.mixture(), first - before, size);
  } else {
    const SharedPrior& prior = l.program->prior();
    for (Index i = first; i < first + size; ++i)
      all.push_back(Gaussian::from_moments(prior.mean(i), 1 / prior.precision(i)));
  }
  return all;
}

Prediction GaussianLearner::predict(const Data& inputs) const {
  const Impl& l = *impl_;
  l.check_fitted("predict");
  return Prediction::mix(
      l.mixture().predict(gather_rows(l.graph, l.program->inputs(), l.program->tables(), inputs, "predict")));
}

Prediction GaussianLearner::left_out() const {
  const Impl& l = *impl_;
  l.check_fitted("left_out");
  if (l.mixture().left_out().empty())
    fail("left_out: the examples learned so far are not kept; it is there after fit()");
  return Prediction::mix(l.mixture().left_out());
}

double GaussianLearner::noise_variance(std::size_t output) const {
  const Impl& l = *impl_;
  if (output >= l.program->noise().size())
    fail("noise_variance: output {} is asked for, but there are {}", output, l.program->noise().size());
  if (!l.program->likelihoods().empty())
    if (const auto& likelihood = l.program->likelihoods()[output])
      fail("noise_variance: target '{}' has no Gaussian noise, but a likelihood of kind '{}'", likelihood->target(),
           likelihood->kind());
  if (!l.mixture().is_fitted()) return l.program->noise()[output];
  double mean = 0;
  for (const GraphMixture::Member& member : l.mixture().memory().members)
    if (member.plain_posterior) mean += member.fraction * std::exp(member.last().state.noise[output].beta(0));
  return mean;
}

std::string GaussianLearner::save() const {
  const Impl& l = *impl_;
  l.check_fitted("save");
  return learned_text({.shape = shape_of(l.graph, *l.program, l.targets),
                       .examples = l.known,
                       .frozen = {l.is_frozen.begin(), l.is_frozen.end()},
                       .held = l.held,
                       .mixture = l.mixture().memory()});
}

void GaussianLearner::load(std::string_view bytes) {
  Impl& l = *impl_;
  SavedLearner saved = learned_from(bytes, shape_of(l.graph, *l.program, l.targets));
  expect(saved.frozen.size() == l.is_frozen.size() && saved.held.size() == l.held.size(),
         "load: the frozen scalars do not fit the graph");
  const Index free = std::ranges::count(saved.frozen, false);
  check_mixture(saved.mixture, MixtureSizes(l.whole, nullptr, free, l.program->input_size()));
  expect(!saved.mixture.members.empty() && saved.mixture.members[0].plain_posterior.has_value(),
         "load: nothing was learned");
  l.is_frozen.assign(saved.frozen.begin(), saved.frozen.end());
  l.held = saved.held;
  l.make_ensemble();
  l.mixture().restore(std::move(saved.mixture));
  l.known = saved.examples;
  l.data = {{}, {}, {}, l.data.likelihoods};
  l.rows_are_there = false;
}

}  // namespace dma
