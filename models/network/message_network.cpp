#include "models/network/message_network.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "engine/learn/messages/learner.h"
#include "engine/support/shuffle.h"
#include "engine/support/text.h"
#include "factors/standard_registry.h"
#include "models/learn/check_rows.h"
#include "models/learn/mixing.h"
#include "models/network/network_graph.h"
#include "models/table/deal_rows.h"
#include "models/table/noise.h"
#include "schedules/schedules.h"

namespace dma {

namespace {

// A first guess of standardised noise where none is given: most of the target's spread is still unexplained.
constexpr double kFirstNoiseVariance = 1;
// Noise may not change by more than this factor in one epoch: it must not outrun the network it is estimated with.
constexpr double kLargestNoiseStep = 4;
// Learned noise variances, in units of the target's variance.
constexpr double kSmallestNoiseVariance = 1e-8, kLargestNoiseVariance = 10;

// For Data::order, in half the memory.
std::vector<std::uint32_t> as_places(const std::vector<Eigen::Index>& rows) { return {rows.begin(), rows.end()}; }

}  // namespace

std::uint64_t seed_of(std::uint64_t seed, std::uint64_t member, std::uint64_t purpose) {
  std::uint64_t x = seed * 0x9e3779b97f4a7c15ull + member * 0xbf58476d1ce4e5b9ull + purpose * 0x94d049bb133111ebull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

MessageNetwork::MessageNetwork(BnnOptions options) : options_(std::move(options)), features_(options_.features) {
  const BnnShape shape = shape_of(options_);
  const std::size_t raw_inputs = options_.features == "none" ? options_.layers.front() : 1;
  inputs_ = Standardiser::identity(static_cast<Eigen::Index>(raw_inputs));
  targets_ = Standardiser::identity(static_cast<Eigen::Index>(options_.layers.back()));
  members_.resize(std::max<std::size_t>(1, options_.members));
  for (std::size_t k = 0; k < members_.size(); ++k) {
    members_[k].priors =
        options_.priors.empty()
            ? draw_prior(shape, options_.prior_mean_scale, options_.prior_variance_scale, seed_of(options_.seed, k, 1))
            : options_.priors;
    make_learner(members_[k], {.batches = 1});
  }
  noise_variance_ = members_[0].noise_variance;
}
MessageNetwork::~MessageNetwork() = default;

bool MessageNetwork::is_fitted() const { return std::ranges::any_of(members_, &Member::is_fitted); }

// A learner of nothing yet.
void MessageNetwork::make_learner(Member& member, LearnOptions options) const {
  const std::size_t outputs = options_.layers.back();
  if (member.noise_variance.empty()) {
    member.noise_variance.assign(outputs, kFirstNoiseVariance);
    if (!options_.noise.empty()) member.noise_variance = options_.noise.expanded(outputs, "noise");
    for (std::size_t j = 0; j < outputs && !options_.noise.empty(); ++j) {
      const double scaled = member.noise_variance[j] / targets_.scale(static_cast<Eigen::Index>(j));
      member.noise_variance[j] = scaled * scaled;
    }
  }
  member.net = network_graph(shape_of(options_), member.priors, member.noise_variance);
  options.targets = {member.net.outputs};
  member.learner = std::make_unique<Learner>(
      member.net.graph, standard_registry(), forward_backward(), forward(), options,
      CompileOptions{.method = options_.method, .kind_methods = options_.kind_methods, .fuse = options_.fuse});
}

TableReport MessageNetwork::fit(const TableRows& rows, const TableFit& fit) {
  check_rows(rows, options_.layers.back());
  dma::check(fit.options);
  if (rows.weights.size() > 0) {
    check_weights(rows.weights, rows.inputs.rows());
    if ((rows.weights.array() == 1).all()) return this->fit({rows.inputs, rows.targets}, fit);
    fail("weights of rows are known to joint learning only; use method \"joint\", or leave them away");
  }
  const std::uint64_t given = checksum_of(rows);
  if (is_fitted() && learned_rows_.value_or(given) != given)
    fail("fit: this network has learned other rows than these {}; make a new one for them, or add them with update()",
         rows.inputs.rows());
  learned_rows_ = given;
  const auto team = fit.options.team ? fit.options.team : local_team(fit.options.workers);
  if (team->is_whole() && team->size() > 1)
    fit_dealt(rows.some(deal_rows(static_cast<std::size_t>(rows.inputs.rows()), team->size(), options_.seed)), *team,
              fit);
  else
    fit_dealt(rows, *team, fit);
  return report_;
}

bool MessageNetwork::update(const TableRows&, double) {
  fail("update: more rows are learned on top of a joint fit; this network has none, fit it by method \"joint\" first");
}

void MessageNetwork::fit_dealt(const TableRows& rows, WorkerTeam& team, const TableFit& fit) {
  const TeamSum sum(team, Partition::split(team, static_cast<std::size_t>(rows.inputs.rows())));
  if (!is_fitted() && options_.standardise) {
    inputs_ = Standardiser::of(rows.inputs, sum);
    targets_ = Standardiser::of(rows.targets, sum);
    for (std::size_t j = 0; j < options_.levels.size(); ++j)  // numbers of values are no quantities: they become 0
      if (options_.levels[j] > 0) inputs_.scale(static_cast<Eigen::Index>(j)) = 1e300;
  } else if (!is_fitted()) {
    inputs_ = Standardiser::identity(rows.inputs.cols());
  }
  report_ = {};
  // Block by block: a large table is then there twice, not three times.
  constexpr Eigen::Index kBlock = 8192;
  RowMajor x(rows.inputs.rows(),
             static_cast<Eigen::Index>(features_.outputs(static_cast<std::size_t>(rows.inputs.cols()))));
  for (Eigen::Index begin = 0; begin < x.rows(); begin += kBlock) {
    const Eigen::Index n = std::min(kBlock, x.rows() - begin);
    x.middleRows(begin, n) = features_.apply(inputs_.apply(rows.inputs.middleRows(begin, n)));
  }
  const RowMajor y = targets_.apply(rows.targets);
  check_prepared(x, y, options_.layers.front());
  fit_members(x, y, sum, fit);
  noise_variance_ = members_[0].noise_variance;
  // Not with several workers: as processes each has rows of its own, and what is learned does not depend on where they
  // run.
  const bool has_linear = options_.linear_baseline && team.size() == 1;
  std::vector<PredictionComponent> left_out;
  if (options_.learn_noise || has_linear) left_out = left_out_of_members(x, sum);
  if (options_.learn_noise) choose_prediction_noise(left_out, y, sum);
  report_.noise = noise();
  if (has_linear) mix_with_linear(std::move(left_out), x, y, fit.options.jobs);
  gathered_.clear();
  if (!team.is_whole())
    for (const Member& member : members_) gathered_.push_back(member.learner->condensed_memory());
}

Prediction MessageNetwork::predict(const Eigen::MatrixXd& inputs) const {
  if (inputs.cols() != inputs_.shift.size())
    fail("predict: the inputs have {} columns but the network was made for {}", inputs.cols(), inputs_.shift.size());
  if (!inputs.allFinite()) fail("predict: the inputs hold a value that is not a finite number");
  Eigen::MatrixXd standardised = inputs_.apply(inputs);
  if (!standardised.allFinite())
    fail("predict: the inputs overflow after standardisation: they are too far from the training data");
  const RowMajor x = features_.apply(std::move(standardised));
  const auto outputs = static_cast<Eigen::Index>(options_.layers.back());
  std::vector<PredictionComponent> components;
  const bool any_fitted = is_fitted();
  const Eigen::RowVectorXd prediction_noise = Eigen::Map<const Eigen::RowVectorXd>(noise_variance_.data(), outputs);
  for (const Member& member : members_) {
    if (any_fitted && !member.is_fitted()) continue;  // an interrupted fit did not reach it
    RowMajor mean(x.rows(), outputs), variance(x.rows(), outputs);
    const auto size = static_cast<std::size_t>(mean.size());
    member.learner->predict({{member.net.inputs, {x.data(), static_cast<std::size_t>(x.size())}}}, {mean.data(), size},
                            {variance.data(), size});
    const Eigen::RowVectorXd own_noise = Eigen::Map<const Eigen::RowVectorXd>(member.noise_variance.data(), outputs);
    components.push_back({mean, (variance.rowwise() - own_noise).cwiseMax(0.0).cwiseSqrt(),
                          prediction_noise.cwiseSqrt().replicate(x.rows(), 1)});
  }
  if (fraction_ < 1) add_linear(linear_->mixture().predict(x), components);
  return Prediction::mix(std::move(components)).in_units_before(targets_);
}

std::optional<Prediction> MessageNetwork::left_out() const {
  if (left_out_.empty()) return {};
  return Prediction::mix(left_out_).in_units_before(targets_);
}

std::vector<double> MessageNetwork::noise() const {
  std::vector<double> sds;
  for (std::size_t j = 0; j < noise_variance_.size(); ++j)
    sds.push_back(std::sqrt(noise_variance_[j]) * targets_.scale(static_cast<Eigen::Index>(j)));
  return sds;
}

void MessageNetwork::add_linear(std::vector<PredictionComponent> linear,
                                std::vector<PredictionComponent>& members) const {
  const double each = fraction_ / static_cast<double>(members.size());
  if (fraction_ == 0) members.clear();
  for (PredictionComponent& own : members)
    own.weight = Eigen::MatrixXd::Constant(own.mean.rows(), own.mean.cols(), each);
  for (PredictionComponent& own : linear) {
    own.weight *= 1 - fraction_;
    members.push_back(std::move(own));
  }
}

// The linear model is a network without hidden layers, learned jointly.
void MessageNetwork::make_linear() {
  EnsembleOptions options{.choose_relevance = true, .choose_smoothing = false, .hold_out = false};
  options.mixture.doubt_extrapolation = options.mixture.simple = false;
  options.mixture.seed = options_.seed;
  linear_.emplace(network_family({.shape = {.layers = {options_.layers.front(), options_.layers.back()}, .slopes = {}},
                                  .seed = options_.seed}),
                  options);
}

void MessageNetwork::mix_with_linear(std::vector<PredictionComponent> left_out, const RowMajor& x, const RowMajor& y,
                                     std::size_t jobs) {
  const Eigen::RowVectorXd noise =
      Eigen::Map<const Eigen::RowVectorXd>(noise_variance_.data(), std::ssize(noise_variance_)).cwiseSqrt();
  for (PredictionComponent& own : left_out) own.noise_sd = noise.replicate(x.rows(), 1);
  fraction_ = 1;
  linear_.reset();
  left_out_ = std::move(left_out);
  if (left_out_.empty()) return;  // interrupted before anything was learned
  make_linear();
  if (choose_form(x.rows(), y.cols(), linear_->mixture().model().rows->scalars()).form == SolverForm::Form::none) {
    linear_.reset();
  } else {
    linear_->fit({x, y}, {.jobs = jobs});
    const std::vector<PredictionComponent>& linear = linear_->mixture().left_out();
    const double ahead = Prediction::mix(left_out_).log_density(y).sum() - Prediction::mix(linear).log_density(y).sum();
    fraction_ = fraction_of_model(ahead - kBenefitOfDoubt);
    if (fraction_ < 1) add_linear(linear, left_out_);
  }
  report_.graphs = fraction_;
  const Eigen::MatrixXd targets = targets_.undo(y);
  const std::vector<Scores> scores = scores_of(
      [&](Eigen::Index first, Eigen::Index rows) {
        return Prediction::mix(rows_of(left_out_, first, rows)).in_units_before(targets_);
      },
      targets);
  for (std::size_t j = 0; j < scores.size(); ++j)
    report_.left_out.push_back(
        {scores[j], fraction_explained(scores[j].rmse, targets.col(static_cast<Eigen::Index>(j)))});
}

void MessageNetwork::fit_members(const RowMajor& x, const RowMajor& y, const TeamSum& sum, const TableFit& fit) {
  for (std::size_t k = 0; k < members_.size() && !report_.interrupted; ++k) {
    if (!members_[k].is_fitted()) {
      members_[k].noise_variance.clear();
      make_learner(members_[k], fit.options);
    } else if (go_on_with_) {  // read from a checkpoint: the workers of this fit take it over
      Learner::Memory memory = members_[k].learner->memory();
      make_learner(members_[k], fit.options);
      members_[k].learner->restore(std::move(memory));
    }
    report_.members.push_back(fit_member(k, x, y, sum, fit));
    report_.interrupted = report_.members.back().stop == LearnReport::Stop::interrupted;
  }
  go_on_with_.reset();
}

std::vector<Eigen::Index> MessageNetwork::learning_order(std::size_t member, const std::vector<Partition::Range>& parts,
                                                         std::size_t first_worker) const {
  std::vector<Eigen::Index> order;
  for (std::size_t w = 0; w < parts.size(); ++w) {
    constexpr std::uint64_t kOrder = 2, kNextWorker = 256;
    std::vector<Eigen::Index> rows(parts[w].size());
    if (options_.shuffle)
      rows = random_order(std::ssize(rows), seed_of(options_.seed, member, kOrder + kNextWorker * (first_worker + w)));
    else
      std::iota(rows.begin(), rows.end(), Eigen::Index{0});
    for (const Eigen::Index row : rows) order.push_back(row + static_cast<Eigen::Index>(parts[w].begin));
  }
  return order;
}

LearnReport MessageNetwork::fit_member(std::size_t index, const RowMajor& x, const RowMajor& y, const TeamSum& sum,
                                       const TableFit& fit) {
  Member& member = members_[index];
  member.learner->set_stopping(fit.options);
  if (const auto stop = member.learner->finished()) return {*stop, member.learner->memory().epochs, 0};
  const auto rows = as_places(learning_order(index, sum.rows(), sum.team().first()));
  const RowMajor own_y = y(rows, Eigen::all);
  const std::span<const double> y_values(own_y.data(), static_cast<std::size_t>(own_y.size()));
  Data data{{member.net.inputs, {x.data(), static_cast<std::size_t>(x.size())}},
            {member.net.outputs, {y.data(), static_cast<std::size_t>(y.size())}}};
  data.order = rows;
  return member.learner->fit(data, [&](const EpochRecord& record) {
    if (options_.learn_noise) update_noise(member, y_values);
    std::vector<double> sds;
    for (std::size_t j = 0; j < member.noise_variance.size(); ++j)
      sds.push_back(std::sqrt(member.noise_variance[j]) * targets_.scale(static_cast<Eigen::Index>(j)));
    return !fit.on_epoch || fit.on_epoch({index, record, std::move(sds)});
  });
}

void MessageNetwork::update_noise(Member& member, std::span<const double> targets) {
  const auto means = member.learner->fitted_means(), variances = member.learner->fitted_variances();
  const std::size_t outputs = member.noise_variance.size(), rows = targets.size() / outputs;
  std::vector<double> observed(rows);
  const TeamSum sum = member.learner->sum_over_examples();
  ComponentPredictions predicted{std::vector<double>(rows), std::vector<double>(rows)};
  for (std::size_t j = 0; j < outputs; ++j) {
    double& noise = member.noise_variance[j];
    for (std::size_t n = 0; n < rows; ++n) {
      const std::size_t k = n * outputs + j;
      observed[n] = targets[k];
      predicted.means[n] = means[k];
      predicted.variances[n] = std::max(0.0, variances[k] - noise);
    }
    noise = most_likely_noise({&predicted, 1}, observed, std::max(kSmallestNoiseVariance, noise / kLargestNoiseStep),
                              std::max(kSmallestNoiseVariance, noise * kLargestNoiseStep), &sum);
  }
  member.learner->set_parameter(member.net.noise, "variance", member.noise_variance);
}

std::vector<PredictionComponent> MessageNetwork::left_out_of_members(const RowMajor& x, const TeamSum& sum) const {
  const auto outputs = static_cast<Eigen::Index>(options_.layers.back());
  std::vector<PredictionComponent> all;
  for (std::size_t k = 0; k < members_.size(); ++k) {
    const Member& member = members_[k];
    if (!member.is_fitted()) continue;
    const auto order = as_places(learning_order(k, sum.rows(), sum.team().first()));
    Data data{{member.net.inputs, {x.data(), static_cast<std::size_t>(x.size())}}};
    data.order = order;
    RowMajor means(x.rows(), outputs), variances(x.rows(), outputs);
    const auto size = static_cast<std::size_t>(means.size());
    member.learner->predict_left_out(data, {means.data(), size}, {variances.data(), size});
    const Eigen::RowVectorXd own_noise = Eigen::Map<const Eigen::RowVectorXd>(member.noise_variance.data(), outputs);
    PredictionComponent& component = all.emplace_back();
    component.mean.resize(x.rows(), outputs);
    component.epistemic_sd.resize(x.rows(), outputs);
    component.mean(order, Eigen::all) = means;
    component.epistemic_sd(order, Eigen::all) = (variances.rowwise() - own_noise).cwiseMax(0.0).cwiseSqrt();
  }
  return all;
}

void MessageNetwork::choose_prediction_noise(const std::vector<PredictionComponent>& left_out, const RowMajor& y,
                                             const TeamSum& sum) {
  const auto rows = static_cast<std::size_t>(y.rows());
  for (Eigen::Index j = 0; j < y.cols(); ++j) {
    std::vector<ComponentPredictions> components;
    for (const PredictionComponent& own : left_out) {
      const Eigen::VectorXd mean = own.mean.col(j), variance = own.epistemic_sd.col(j).cwiseAbs2();
      components.push_back({{mean.begin(), mean.end()}, {variance.begin(), variance.end()}});
    }
    const Eigen::VectorXd targets = y.col(j);
    noise_variance_[static_cast<std::size_t>(j)] =
        most_likely_noise(components, {targets.data(), rows}, kSmallestNoiseVariance, kLargestNoiseVariance, &sum);
  }
}

}  // namespace dma
