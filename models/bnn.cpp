#include "models/bnn.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <cmath>
#include <numeric>

#include "engine/support/error.h"
#include "factors/standard_registry.h"
#include "models/bnn_member.h"
#include "models/noise.h"
#include "schedules/forward_backward.h"

namespace dma {

namespace {

// A first guess of standardised noise where none is given: most of the target's spread is still unexplained.
constexpr double kFirstNoiseVariance = 1;
// Noise may not change by more than this factor in one epoch: it must not outrun the network it is estimated with.
constexpr double kLargestNoiseStep = 4;
// Nor may the factor on a layer's prior variances.
constexpr double kLargestPriorStep = 2;
// Learned noise variances, in units of the target's variance.
constexpr double kSmallestNoiseVariance = 1e-8, kLargestNoiseVariance = 10;

// Different streams of randomness from one seed.
std::uint64_t seed_of(std::uint64_t seed, std::uint64_t member, std::uint64_t purpose) {
  std::uint64_t x = seed * 0x9e3779b97f4a7c15ull + member * 0xbf58476d1ce4e5b9ull + purpose * 0x94d049bb133111ebull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

std::vector<Eigen::Index> row_order(Eigen::Index rows, bool shuffle, std::uint64_t seed) {
  std::vector<Eigen::Index> order(static_cast<std::size_t>(rows));
  std::iota(order.begin(), order.end(), Eigen::Index{0});
  if (!shuffle) return order;
  boost::random::mt19937_64 random(seed);
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[boost::random::uniform_int_distribution<std::size_t>(0, i - 1)(random)]);
  return order;
}

void check(const BnnOptions& o) {
  if (o.layers.size() < 2) fail("layers: at least inputs and outputs are expected, {} given", o.layers.size());
  for (const std::size_t width : o.layers)
    if (width == 0 || width > 100000) fail("layers: a width of {} is given; 1 to 100000 is expected", width);
  for (const double noise : o.noise.values)
    if (!(noise > 0) || !std::isfinite(noise)) fail("noise is {}; a positive standard deviation is expected", noise);
  for (const double v : o.activation_prior.values)
    if (!(v > 0)) fail("activation_prior is {}; a positive variance is expected", v);
  if (o.members > 1000) fail("members is {}; at most 1000 is expected", o.members);
  if (!(o.jitter >= 0) || !std::isfinite(o.jitter)) fail("jitter is {}; 0 or more is expected", o.jitter);
  if (o.is_joint() && !o.activation_prior.empty()) fail("activation_prior: joint learning knows none; use method \"dma\" or \"hybrid\"");
  if (o.noise_model == NoiseModel::inputs && !o.is_joint())
    fail("noise_model: noise that depends on the inputs is known to joint learning only; use method \"joint\", or constant noise");
  if (o.noise_model == NoiseModel::inputs && !o.noise.empty() && !o.learn_noise)
    fail("noise_model: the noise is given, and does not depend on the inputs; leave it away to have it learned, or choose constant noise");
  if (!(o.prior_variance_scale > 0)) fail("prior_variance_scale is {}; it must be positive", o.prior_variance_scale);
  if (!(o.prior_mean_scale >= 0)) fail("prior_mean_scale is {}; it must be 0 or more", o.prior_mean_scale);
  if (!o.priors.empty() && (o.members > 1 || o.priors.size() != o.layers.size() - 1))
    fail("priors: explicit priors need one member and one entry per layer");
}

BnnShape shape_of(const BnnOptions& o) {
  BnnShape shape{o.layers, {}, o.bias, {}};
  const std::size_t layers = o.layers.size() - 1;
  if (layers > 1) shape.slopes = o.slopes.expanded(layers - 1, "slopes");
  shape.activation_prior = o.activation_prior.empty() ? std::vector<double>(layers, kInfinity)
                                                      : o.activation_prior.expanded(layers, "activation_prior");
  return shape;
}

}  // namespace

std::string FitReport::line() const {
  std::string text = members.empty() ? "not fitted" : members.back().line();
  if (members.size() > 1) text = fmt::format("{} members; the last {}", members.size(), text);
  return fmt::format("{}; noise sd {:.4g}", text, fmt::join(noise, ", "));
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
  for (std::size_t k = 0; k < std::max<std::size_t>(1, options_.members); ++k) {
    members_.push_back(std::make_unique<Member>());
    members_[k]->priors = options_.priors.empty() ? draw_prior(shape_, options_.prior_mean_scale, options_.prior_variance_scale,
                                                               seed_of(options_.seed, k, 1))
                                                  : options_.priors;
    make_member(k, {.batches = 1});
  }
  noise_variance_ = members_[0]->noise_variance;
}
Bnn::Bnn(Bnn&&) noexcept = default;
Bnn& Bnn::operator=(Bnn&&) noexcept = default;
Bnn::~Bnn() = default;

// Graph and learner of a member, with nothing learned yet.
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
  member.net = build_bnn_graph(shape_, member.priors, member.noise_variance);
  LearnOptions learn = options;
  learn.targets = {member.net.outputs};
  CompileOptions compile_options{.method = options_.is_joint() ? "hybrid" : options_.method, .kind_methods = options_.kind_methods, .fuse = options_.fuse};
  member.learner = std::make_unique<Learner>(member.net.graph, standard_registry(), forward_backward(), forward(), learn,
                                             compile_options);
}

FitReport Bnn::fit(const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& targets, const LearnOptions& options,
                   const BnnCallback& on_epoch) {
  const auto rows = inputs.rows();
  if (rows == 0) fail("fit: there are no rows");
  if (targets.rows() != rows) fail("fit: {} rows of inputs but {} of targets", rows, targets.rows());
  if (static_cast<std::size_t>(targets.cols()) != options_.layers.back())
    fail("fit: the targets have {} columns but the network {} outputs", targets.cols(), options_.layers.back());
  if (!inputs.allFinite() || !targets.allFinite()) fail("fit: the data hold a value that is not a finite number");
  const bool resuming = std::ranges::any_of(members_, [](const auto& m) { return m->is_fitted(); });
  if (!resuming && options_.standardise) {
    input_standardiser_ = Standardiser::of(inputs);
    target_standardiser_ = Standardiser::of(targets);
  } else if (!resuming) {
    input_standardiser_ = Standardiser::identity(inputs.cols());
  }
  report_ = {};
  if (options_.is_joint()) {
    fit_joint(inputs, targets, options, on_epoch);
    return report_;
  }
  const RowMajor x = features_.apply(input_standardiser_.apply(inputs)), y = target_standardiser_.apply(targets);
  check_prepared(x, y, options_.layers.front());
  for (std::size_t k = 0; k < members_.size() && !report_.interrupted; ++k) {
    if (!members_[k]->is_fitted()) {
      members_[k]->noise_variance.clear();
      make_member(k, options);
    }
    report_.members.push_back(fit_member(k, x, y, options, on_epoch));
    report_.interrupted = report_.members.back().stop == LearnReport::Stop::interrupted;
  }
  noise_variance_ = members_[0]->noise_variance;
  if (options_.learn_noise) choose_prediction_noise(x, y);
  report_.noise = noise();
  return report_;
}

LearnReport Bnn::fit_member(std::size_t index, const RowMajor& x, const RowMajor& y, const LearnOptions& options,
                            const BnnCallback& on_epoch) {
  Member& member = *members_[index];
  member.learner->set_stopping(options);
  if (const auto stop = member.learner->finished()) return {*stop, member.learner->memory().epochs, 0};
  const auto order = row_order(x.rows(), options_.shuffle, seed_of(options_.seed, index, 2));
  const RowMajor own_x = x(order, Eigen::all), own_y = y(order, Eigen::all);
  const std::span<const double> y_values(own_y.data(), static_cast<std::size_t>(own_y.size()));
  const Data data{{member.net.inputs, {own_x.data(), static_cast<std::size_t>(own_x.size())}}, {member.net.outputs, y_values}};
  return member.learner->fit(data, [&](const EpochRecord& record) {
    if (options_.learn_noise) update_noise(member, y_values);
    if (options_.learn_prior) update_priors(member);
    std::vector<double> sds;
    for (std::size_t j = 0; j < member.noise_variance.size(); ++j)
      sds.push_back(std::sqrt(member.noise_variance[j]) * target_standardiser_.scale(static_cast<Eigen::Index>(j)));
    return !on_epoch || on_epoch({index, record, std::move(sds)});
  });
}

void Bnn::update_noise(Member& member, std::span<const double> targets) {
  const auto means = member.learner->fitted_means(), variances = member.learner->fitted_variances();
  const std::size_t outputs = member.noise_variance.size(), rows = targets.size() / outputs;
  std::vector<double> observed(rows);
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
                              std::max(kSmallestNoiseVariance, noise * kLargestNoiseStep));
  }
  member.learner->set_parameter(member.net.noise, "variance", member.noise_variance);
}

// Expectation maximisation: with beliefs N(m, v) of weights with priors N(m0, v0), the expected log prior is largest for the
// factor mean of ((m - m0)^2 + v) / v0 on the prior variances of a layer. Weights known exactly, or without a prior, have no
// say.
void Bnn::update_priors(Member& member) {
  for (std::size_t l = 0; l < member.priors.size(); ++l) {
    LayerPrior& prior = member.priors[l];
    double sum = 0, count = 0;
    std::size_t i = 0;
    for (const auto& [variable, factor] : member.net.learned(l)) {
      const Belief belief = member.learner->belief(variable);
      for (std::size_t e = 0; e < belief.size(); ++e, ++i) {
        if (!(prior.variance[i] > 0 && prior.variance[i] < kInfinity)) continue;
        const double off = belief[e].mean() - prior.mean[i];
        sum += (off * off + belief[e].variance()) / prior.variance[i];
        ++count;
      }
    }
    if (count == 0) continue;
    const double ratio = std::clamp(sum / count, 1 / kLargestPriorStep, kLargestPriorStep);
    for (double& variance : prior.variance) variance *= ratio;
    i = 0;
    for (const auto& [variable, factor] : member.net.learned(l)) {
      const std::size_t size = member.net.graph[variable].size;
      member.learner->set_parameter(factor, "variance", std::span(prior.variance).subspan(i, size));
      i += size;
    }
  }
}

void Bnn::choose_prediction_noise(const RowMajor& x, const RowMajor& y) {
  const auto outputs = static_cast<std::size_t>(y.cols()), rows = static_cast<std::size_t>(y.rows());
  std::vector<std::vector<ComponentPredictions>> components(outputs);
  for (std::size_t k = 0; k < members_.size(); ++k) {
    Member& member = *members_[k];
    if (!member.is_fitted()) continue;
    const auto order = row_order(x.rows(), options_.shuffle, seed_of(options_.seed, k, 2));
    const RowMajor own_x = x(order, Eigen::all);
    std::vector<double> means(rows * outputs), variances(rows * outputs);
    member.learner->predict_left_out({{member.net.inputs, {own_x.data(), static_cast<std::size_t>(own_x.size())}}}, means,
                                     variances);
    for (std::size_t j = 0; j < outputs; ++j) {
      ComponentPredictions component{std::vector<double>(rows), std::vector<double>(rows)};
      for (std::size_t n = 0; n < rows; ++n) {
        const auto row = static_cast<std::size_t>(order[n]);
        component.means[row] = means[n * outputs + j];
        component.variances[row] = std::max(0.0, variances[n * outputs + j] - member.noise_variance[j]);
      }
      components[j].push_back(std::move(component));
    }
  }
  for (std::size_t j = 0; j < outputs; ++j) {
    const Eigen::VectorXd targets = y.col(static_cast<Eigen::Index>(j));
    noise_variance_[j] = most_likely_noise(components[j], {targets.data(), rows}, kSmallestNoiseVariance, kLargestNoiseVariance);
  }
}

}  // namespace dma
