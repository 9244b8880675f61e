// What a Bnn says: predictions, beliefs, noise.
#include <fmt/format.h>

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <utility>

#include "engine/support/error.h"
#include "models/network/bnn_member.h"
#include "models/network/joint_components.h"

namespace dma {

namespace {

// A block of rows after the other: of a million rows a mixture is larger than the table.
Matrix log_densities(const std::vector<PredictionComponent>& components, const Matrix& targets) {
  constexpr Index kRows = 1 << 14;
  Matrix all(targets.rows(), targets.cols());
  for (Index begin = 0; begin < targets.rows(); begin += kRows) {
    const Index rows = std::min(kRows, targets.rows() - begin);
    all.middleRows(begin, rows) =
        Prediction::mix(rows_of(components, begin, rows)).log_density(targets.middleRows(begin, rows));
  }
  return all;
}

}  // namespace

Prediction Bnn::predict(const Eigen::MatrixXd& inputs) const {
  if (inputs.cols() != input_standardiser_.shift.size())
    fail("predict: the inputs have {} columns but the network was made for {}", inputs.cols(),
         input_standardiser_.shift.size());
  if (!inputs.allFinite()) fail("predict: the inputs hold a value that is not a finite number");
  Eigen::MatrixXd standardised = input_standardiser_.apply(inputs);
  if (!standardised.allFinite())
    fail("predict: the inputs overflow after standardisation: they are too far from the training data");
  if (joint_is_fitted()) {
    const Eigen::MatrixXd mapped = features_.apply(std::move(standardised));
    std::vector<PredictionComponent> all = joint_->predict(mapped);
    if (neighbours_) add_component(neighbours_->predict(mapped), all);
    return Prediction::mix(std::move(all)).in_units_before(target_standardiser_);
  }
  const RowMajor x = features_.apply(std::move(standardised));
  const auto outputs = static_cast<Eigen::Index>(options_.layers.back());
  std::vector<PredictionComponent> components;
  const bool any_fitted = is_fitted();
  const Eigen::RowVectorXd prediction_noise = Eigen::Map<const Eigen::RowVectorXd>(noise_variance_.data(), outputs);
  for (std::size_t k = 0; k < members_.size(); ++k) {
    const Member& member = *members_[k];
    if (any_fitted && !member.is_fitted()) continue;  // an interrupted fit did not reach it
    RowMajor mean(x.rows(), outputs), variance(x.rows(), outputs);
    const auto size = static_cast<std::size_t>(mean.size());
    learner(k).predict({{member.net.inputs, {x.data(), static_cast<std::size_t>(x.size())}}}, {mean.data(), size},
                       {variance.data(), size});
    const Eigen::RowVectorXd own_noise = Eigen::Map<const Eigen::RowVectorXd>(member.noise_variance.data(), outputs);
    components.push_back({mean, (variance.rowwise() - own_noise).cwiseMax(0.0).cwiseSqrt(),
                          prediction_noise.cwiseSqrt().replicate(x.rows(), 1)});
  }
  if (network_fraction_ < 1) add_baseline(joint_->predict(x), network_fraction_, components);
  return Prediction::mix(std::move(components)).in_units_before(target_standardiser_);
}

bool Bnn::is_fitted() const {
  return std::ranges::any_of(members_, [](const auto& member) { return member->is_fitted(); });
}

const Graph& Bnn::graph() const {
  const Member& first = *members_[0];
  const std::lock_guard lock(first.asking);
  if (!first.whole) first.whole = std::make_unique<Graph>(whole_graph());
  return *first.whole;
}

Graph Bnn::whole_graph() const {
  if (joint_is_fitted()) return mixture_graph(joint_->networks());
  std::vector<MixedNetwork> all;
  MixedNetwork::Fit fit;
  for (const double variance : noise_variance_) fit.noise.push_back(LogLinearNoise::constant(variance));
  const auto count = std::ranges::count_if(members_, [](const auto& member) { return member->is_fitted(); });
  const double each = network_fraction_ / static_cast<double>(count > 0 ? count : std::ssize(members_));
  for (std::size_t k = 0; each > 0 && k < members_.size(); ++k)
    if (count == 0 || members_[k]->is_fitted()) {
      fit.priors = members_[k]->priors;
      all.push_back({k == 0 ? "network" : fmt::format("network{}", k + 1), each, drawn_shape(), {fit}});
    }
  if (network_fraction_ < 1)
    for (MixedNetwork& own : joint_->networks())
      own.name = "linear", own.fraction *= 1 - network_fraction_, all.push_back(std::move(own));
  return mixture_graph(all);
}
const Graph& Bnn::graph(std::size_t member) const { return members_.at(member)->net.graph; }
const Learner& Bnn::learner(std::size_t member) const {
  const Member& m = *members_.at(member);
  const std::lock_guard lock(m.asking);
  if (!m.learner) m.learner = make_learner(m, {.batches = 1});
  return *m.learner;
}
Learner& Bnn::learner(std::size_t member) { return const_cast<Learner&>(std::as_const(*this).learner(member)); }
const LayerPrior& Bnn::prior(std::size_t layer, std::size_t member) const {
  return members_.at(member)->priors.at(layer);
}

std::vector<Gaussian> Bnn::weights(std::size_t layer, std::size_t member) const {
  const Member& m = *members_.at(member);
  std::vector<Gaussian> all;
  if (joint_is_fitted()) {
    const std::lock_guard lock(m.asking);
    if (m.joint_weights.empty()) {
      const auto [means, variances] = joint_->weights(member);
      for (Eigen::Index i = 0; i < means.size(); ++i)
        m.joint_weights.push_back(Gaussian::from_moments(means(i), variances(i)));
    }
    std::size_t first = 0;
    for (std::size_t l = 0; l < layer; ++l) first += m.priors[l].mean.size();
    const auto begin = m.joint_weights.begin() + static_cast<std::ptrdiff_t>(first);
    return {begin, begin + static_cast<std::ptrdiff_t>(m.priors.at(layer).mean.size())};
  }
  const auto append = [&](VariableId v) {
    const Belief belief = learner(member).belief(v);
    for (std::size_t i = 0; i < belief.size(); ++i) all.push_back(belief[i]);
  };
  for (const auto& learned : m.net.learned(layer)) append(learned.variable);
  return all;
}

Eigen::MatrixXd Bnn::sample_weights(std::size_t count, std::uint64_t seed, std::size_t member) const {
  std::vector<Gaussian> all;
  for (std::size_t l = 0; l + 1 < options_.layers.size(); ++l) {
    const auto layer = weights(l, member);
    all.insert(all.end(), layer.begin(), layer.end());
  }
  boost::random::mt19937_64 random(seed);
  boost::random::normal_distribution<double> normal;
  Eigen::MatrixXd draws(static_cast<Eigen::Index>(count), static_cast<Eigen::Index>(all.size()));
  for (Eigen::Index i = 0; i < draws.rows(); ++i)
    for (Eigen::Index j = 0; j < draws.cols(); ++j) {
      const Gaussian& w = all[static_cast<std::size_t>(j)];
      draws(i, j) = w.mean() + w.sd() * normal(random);
    }
  return draws;
}

std::vector<double> Bnn::noise() const {
  std::vector<double> sds(options_.layers.back());
  for (std::size_t j = 0; j < sds.size(); ++j)
    sds[j] = std::sqrt(noise_variance_[j]) * target_standardiser_.scale(static_cast<Eigen::Index>(j));
  return sds;
}

void add_baseline(std::vector<PredictionComponent> linear, double network_fraction,
                  std::vector<PredictionComponent>& networks) {
  const double each = network_fraction / static_cast<double>(networks.size());
  if (network_fraction == 0) networks.clear();
  for (PredictionComponent& own : networks)
    own.weight = Eigen::MatrixXd::Constant(own.mean.rows(), own.mean.cols(), each);
  const double rest = 1 - network_fraction, equal = 1 / static_cast<double>(linear.size());
  for (PredictionComponent& own : linear) {
    if (own.weight.size() == 0) own.weight = Eigen::MatrixXd::Constant(own.mean.rows(), own.mean.cols(), equal);
    own.weight *= rest;
    networks.push_back(std::move(own));
  }
}

// By their fractions of the mixture with what is known by now. Returns the factors on the noise of every output.
//
// Noise that each model has learned alone holds what it misses and others know; in a mixture their spread counts that
// once more. So the noise of all is scaled to what makes rows left out most likely under the mixture.
std::vector<double> Bnn::mix_with_neighbours(RowData data, const LearnOptions& options) {
  const Matrix targets = data.targets;
  const Vector weights = data.weights;
  Neighbours::Fit found = Neighbours::fit(
      std::move(data.rows), std::move(data.targets),
      {.seed = options_.seed, .least_noise = data.least_noise, .jobs = options.jobs, .on_stage = options.on_stage},
      std::move(data.weights));
  std::vector<Index> judged, places;  // rows that neither model has learned from; where the neighbours have them
  for (std::size_t i = 0; i < found.judged.size(); ++i)
    if (joint_->judged().empty() || std::ranges::binary_search(joint_->judged(), found.judged[i]))
      judged.push_back(found.judged[i]), places.push_back(static_cast<Index>(i));
  const Matrix seen = targets(judged, Eigen::all);
  const Vector seen_weights = weights_of(weights, judged);
  const Matrix ahead =
      log_densities(rows_of({found.left_out}, places), seen) - log_densities(rows_of(joint_->left_out(), judged), seen);
  Vector fractions(targets.cols());
  for (Index k = 0; k < targets.cols(); ++k)
    fractions(k) = found.is_learned[static_cast<std::size_t>(k)]
                       ? likeliest_fraction(ahead.col(k), kBenefitOfDoubt, seen_weights)
                       : 0;
  std::vector<double> factors(static_cast<std::size_t>(targets.cols()), 1.0);
  if ((fractions.array() == 0).all()) return factors;
  found.model.set_fractions(fractions);
  report_.neighbours.assign(fractions.begin(), fractions.end());
  const bool has_all = static_cast<Index>(found.judged.size()) == targets.rows();
  neighbours_left_out_ = has_all ? std::move(found.left_out) : found.model.left_out(options.jobs);
  neighbours_left_out_.weight = fractions.transpose().replicate(targets.rows(), 1);
  neighbours_ = std::move(found.model);
  for (Index k = 0; k < targets.cols(); ++k)
    for (const bool covers : {false, true}) {
      if (fractions(k) == 0) continue;
      const std::vector<PredictionComponent> own = rows_of(joint_left_out(), judged);
      const double factor = covers ? covering_factor(own, seen, k, seen_weights)
                                   : likeliest_factor(own, seen, k, seen_weights, data.least_noise(k));
      factors[static_cast<std::size_t>(k)] *= factor;
      joint_->scale_noise(k, factor);
      neighbours_->scale_noise(k, factor);
      neighbours_left_out_.tails[static_cast<std::size_t>(k)].scale *= factor;
    }
  judged_ = std::move(judged);
  return factors;
}

std::vector<PredictionComponent> Bnn::joint_left_out() const {
  std::vector<PredictionComponent> all = joint_->left_out();
  if (neighbours_) add_component(neighbours_left_out_, all);
  return all;
}

// That of the model which has most of the mixture.
void Bnn::set_joint_noise(std::vector<double> of_networks) {
  noise_variance_ = std::move(of_networks);
  for (std::size_t k = 0; neighbours_ && k < noise_variance_.size(); ++k)
    if (const auto& output = neighbours_->memory().outputs[k]; output.fraction > 0.5)
      noise_variance_[k] = output.kernel.noise;
}

void Bnn::make_baseline() {
  JointRegressionOptions linear{.shape = {.layers = {options_.layers.front(), options_.layers.back()}, .slopes = {}}};
  linear.doubt_extrapolation = linear.linear_baseline = linear.choose_smoothing = false;
  linear.members = 1;
  linear.seed = options_.seed;
  joint_ = std::make_unique<JointRegression>(std::move(linear));
}

void Bnn::mix_with_baseline(std::vector<PredictionComponent> left_out, const RowMajor& x, const RowMajor& y,
                            std::size_t jobs) {
  const Eigen::RowVectorXd noise =
      Eigen::Map<const Eigen::RowVectorXd>(noise_variance_.data(), static_cast<Eigen::Index>(noise_variance_.size()))
          .cwiseSqrt();
  for (PredictionComponent& own : left_out) own.noise_sd = noise.replicate(x.rows(), 1);
  network_fraction_ = 1;
  joint_.reset();
  left_out_ = std::move(left_out);
  if (left_out_.empty()) return;  // interrupted before anything was learned
  make_baseline();
  if (choose_form(x.rows(), y.cols(), joint_->network().scalars()).form == SolverForm::Form::none) {
    joint_.reset();
  } else {
    joint_->use_threads(jobs, nullptr);
    joint_->fit({x, y});
    const double ahead =
        Prediction::mix(left_out_).log_density(y).sum() - Prediction::mix(joint_->left_out()).log_density(y).sum();
    network_fraction_ = fraction_of_network(ahead - kBenefitOfDoubt);
    if (network_fraction_ < 1) add_baseline(joint_->left_out(), network_fraction_, left_out_);
  }
  report_.network_fraction = network_fraction_;
  report_left_out(left_out_, target_standardiser_.undo(y));
}

}  // namespace dma
