// What a fitted JointRegression says of rows and learns from more of them; its intervals where left-out rows say that
// they are too narrow.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/support/error.h"
#include "engine/support/parallel.h"
#include "models/network/joint_components.h"
#include "models/network/joint_regression.h"
#include "models/table/relevance.h"

namespace dma {

bool JointRegression::update(const RowData& more, Index known) {
  const Matrix &rows = more.rows, &targets = more.targets;
  constexpr Index kMostScalars = 10000;  // 0.8 GB
  if (memory_.members.empty() || !memory_.members[0].plain_posterior)
    fail("an update needs a model that was fitted; call fit first");
  if (network_.scalars() > kMostScalars && !memory_.members[0].plain_posterior->stays_by_rows(network_, rows.rows()))
    fail(
        "an update keeps a matrix over all weights, of which there are {}; at most {} are possible: fit all rows "
        "together",
        network_.scalars(), kMostScalars);
  const std::optional<Index> counted = options_.noise.empty() ? std::optional(known) : std::nullopt;
  bool settled = true;
  // Returns the nats of the new rows, each as if it had not come.
  const auto update = [&](const RowModel& model, const SharedPrior& prior, SharedPosterior& posterior) {
    SharedUpdate found = posterior.updated(model, prior, more, counted);
    posterior = std::move(found.posterior);
    settled = settled && found.settled;
    const Eigen::ArrayXXd variance = (found.left_out.variance + found.left_out.noise).array();
    const Eigen::ArrayXXd squares = (targets - found.left_out.mean).array().square() / variance;
    const double nats = -0.5 * weighted_sum((squares + variance.log()).rowwise().sum(), more.weights);
    if (!std::isfinite(nats))
      fail("the new rows overflow: they are too far from the training data; look for wrong units in them");
    return nats;
  };
  Memory next = memory_;  // all or nothing
  double of_networks = 0;
  std::size_t fitted = 0;
  for (std::size_t k = 0; k < next.members.size(); ++k) {
    Member& member = next.members[k];
    if (!member.plain_posterior) continue;
    of_networks += update(network_, learned_prior(k), *member.plain_posterior), ++fitted;
    if (member.weighted_posterior) (void)update(network_, learned_prior(k), *member.weighted_posterior);
  }
  if (next.baseline) {
    // The odds of before, times what the new rows say.
    const double ahead = of_networks / static_cast<double>(fitted) - update(linear_, linear_prior_, *next.baseline),
                 fraction = next.network_fraction;
    if (fraction > 0 && fraction < 1) next.network_fraction = 1 / (1 + (1 - fraction) / fraction * std::exp(-ahead));
  }
  next.lowest = next.lowest.cwiseMin(rows.colwise().minCoeff());
  next.highest = next.highest.cwiseMax(rows.colwise().maxCoeff());
  memory_ = std::move(next);
  left_out_.clear();
  return settled;
}

// Beyond the range of the learned rows a network goes on as it must, not as it learned: what it adds to its value at
// the edge is doubted by as much as it is.
void JointRegression::doubt_extrapolation(const SharedPosterior& posterior, const Matrix& rows,
                                          RowBeliefs& beliefs) const {
  const Matrix inside =
      rows.cwiseMax(memory_.lowest.replicate(rows.rows(), 1)).cwiseMin(memory_.highest.replicate(rows.rows(), 1));
  std::vector<Index> beyond;
  for (Index n = 0; n < rows.rows(); ++n)
    if (inside.row(n) != rows.row(n)) beyond.push_back(n);
  if (beyond.empty()) return;
  Matrix edge;
  network_.evaluate(posterior.state.mean, inside(beyond, Eigen::all), edge);
  for (std::size_t i = 0; i < beyond.size(); ++i)
    beliefs.variance.row(beyond[i]) += (beliefs.mean.row(beyond[i]) - edge.row(static_cast<Index>(i))).cwiseAbs2();
}

JointRegression::Marginals JointRegression::weights(std::size_t member) const {
  const Member& m = memory_.members.at(member);
  const SharedPosterior& posterior = m.weighted_posterior ? *m.weighted_posterior : *m.plain_posterior;
  // Beyond that the prior's variance, which bounds the posterior's, must do.
  constexpr Index kMostScalars = 5000;
  if (network_.scalars() > kMostScalars)
    return {of_all_inputs(posterior.state.mean, 0),
            of_all_inputs(prior_.scaled(posterior.state.scale).cwiseInverse(), 0)};
  return {of_all_inputs(posterior.state.mean, 0),
          of_all_inputs(posterior.marginal_variances(network_, learned_prior(member)), 0)};
}

// Of each member what constant noise says, then what weighted rows say; nothing where there is none. A posterior that
// is kept as rows is solved anew for every question: all of them at the same time.
std::vector<RowBeliefs> JointRegression::beliefs_of_networks(const Matrix& rows) const {
  std::vector<RowBeliefs> found(2 * memory_.members.size());
  parallel_for(found.size(), all_processors(), [&](std::size_t task) {
    const Member& member = memory_.members[task / 2];
    const auto& posterior = task % 2 == 0 ? member.plain_posterior : member.weighted_posterior;
    if (!member.plain_posterior || !posterior) return;
    found[task] = posterior->predict(network_, learned_prior(task / 2), rows);
    if (options_.doubt_extrapolation) doubt_extrapolation(*posterior, rows, found[task]);
  });
  return found;
}

double JointRegression::fraction_of_each() const {
  const auto fitted = std::ranges::count_if(memory_.members, [](const Member& m) { return bool(m.plain_posterior); });
  return memory_.network_fraction / static_cast<double>(std::max<std::ptrdiff_t>(1, fitted));
}

std::vector<MixedNetwork> JointRegression::networks() const {
  std::vector<MixedNetwork> all;
  const auto fit = [](const BnnShape& shape, const SharedPosterior& own, const SharedPrior& prior) {
    return MixedNetwork::Fit{layer_priors(shape, prior, own.state.scale(0)), own.state.noise, own.tails};
  };
  const double each = fraction_of_each();
  for (std::size_t k = 0; each > 0 && k < memory_.members.size(); ++k) {
    const auto& [plain, weighted, done, plain_posterior, weighted_posterior, evidence] = memory_.members[k];
    if (!plain_posterior) continue;
    all.push_back({k == 0 ? "network" : fmt::format("network{}", k + 1), each, options_.shape});
    MixedNetwork& own = all.back();
    if (!weighted_posterior || options_.noise_model != NoiseModel::inputs)
      own.fits.push_back(fit(own.shape, *plain_posterior, prior_of(k)));
    if (weighted_posterior) own.fits.push_back(fit(own.shape, *weighted_posterior, prior_of(k)));
    for (const LogLinearNoise& noise : plain.noise) own.balance.push_back(noise.beta(0));
  }
  if (memory_.baseline && memory_.network_fraction < 1) {
    const BnnShape shape{.layers = {options_.shape.layers.front(), options_.shape.layers.back()}, .slopes = {}};
    all.push_back({"linear", 1 - memory_.network_fraction, shape, {fit(shape, *memory_.baseline, linear_prior_)}});
  }
  return all;
}

std::vector<PredictionComponent> JointRegression::predict(const Matrix& rows) const {
  std::vector<PredictionComponent> all;
  const double each = fraction_of_each();
  std::vector<RowBeliefs> found;
  if (each > 0) found = beliefs_of_networks(rows);
  for (std::size_t k = 0; 2 * k < found.size(); ++k)
    if (const Member& member = memory_.members[k]; member.plain_posterior)
      add_network(options_.noise_model, found[2 * k], member.weighted_posterior ? &found[2 * k + 1] : nullptr, member,
                  each, all);
  if (memory_.baseline && memory_.network_fraction < 1)
    all.push_back(component(memory_.baseline->predict(linear_, linear_prior_, rows), *memory_.baseline,
                            Matrix::Constant(rows.rows(), linear_.outputs(), 1 - memory_.network_fraction)));
  return all;
}

std::vector<double> JointRegression::noise(const Matrix& rows) const {
  return with_tails(noise_before_tails(rows, memory_.network_fraction));
}

// The posterior whose noise is told.
const SharedPosterior& JointRegression::told_of(double network_fraction) const {
  if (memory_.baseline && network_fraction < 0.5) return *memory_.baseline;
  const Member& first = memory_.members.at(0);
  return first.weighted_posterior ? *first.weighted_posterior : *first.plain_posterior;
}

std::vector<double> JointRegression::noise_before_tails(const Matrix& rows, double network_fraction) const {
  std::vector<double> all;
  for (const LogLinearNoise& own : told_of(network_fraction).state.noise)
    all.push_back(std::exp(own.variances(rows).array().log().mean()));
  return all;
}

std::vector<double> JointRegression::with_tails(std::vector<double> noise) const {
  constexpr double kLeastDegrees = 4;  // fewer make variances that single rows decide
  const std::vector<StudentTails>& tails = told_of(memory_.network_fraction).tails;
  for (std::size_t k = 0; k < noise.size() && k < tails.size(); ++k)
    noise[k] *= StudentTails{std::max(tails[k].degrees, kLeastDegrees), tails[k].scale}.variance();
  return noise;
}

// Scales the noise of components to what makes rows held out most likely, if there are any. The factors, per output.
std::vector<double> JointRegression::fit_noise(std::vector<PredictionComponent>& components,
                                               const RowData& data) const {
  std::vector<double> factors(static_cast<std::size_t>(data.targets.cols()), 1.0);
  for (std::size_t k = 0; k < factors.size() && options_.tails && !judged_.empty(); ++k) {
    factors[k] = likeliest_factor(rows_of(components, judged_), data.targets(judged_, Eigen::all),
                                  static_cast<Index>(k), weights_of(data.weights, judged_),
                                  data.least_noise.size() > 0 ? data.least_noise(static_cast<Index>(k)) : 0);
    for (PredictionComponent& own : components) own.tails.at(k).scale *= factors[k];
  }
  return factors;
}

// The noise of all models, until 95 % intervals hold as many left-out rows as they promise.
void JointRegression::widen_to_cover(const RowData& data) {
  for (Index k = 0; k < data.targets.cols(); ++k)
    scale_noise(k, judged_.empty() ? covering_factor(left_out_, data.targets, k, data.weights)
                                   : covering_factor(rows_of(left_out_, judged_), data.targets(judged_, Eigen::all), k,
                                                     weights_of(data.weights, judged_)));
}

void JointRegression::scale_noise(Index output, double factor) {
  const auto scale = [&](auto& own) { own.tails.at(static_cast<std::size_t>(output)).scale *= factor; };
  for (PredictionComponent& component : left_out_) scale(component);
  if (memory_.baseline) scale(*memory_.baseline);
  for (Member& member : memory_.members)
    for (auto* posterior : {&member.plain_posterior, &member.weighted_posterior})
      if (*posterior) scale(**posterior);
}

void JointRegression::set_smoothing(double smoothing) {
  memory_.smoothing = options_.shape.smoothing = smoothing;
  network_ = NetworkOfColumns(options_.shape, network_.columns());
}

// Networks see the inputs that matter. Whatever the relevances, a unit has as much prior variance in all.
void JointRegression::set_relevance(Vector relevance) {
  const auto all = static_cast<Index>(options_.shape.layers[0]), units = static_cast<Index>(options_.shape.layers[1]);
  linear_prior_ = {Vector::Zero(linear_.scalars()), Vector::Constant(linear_.scalars(), static_cast<double>(all + 1))};
  const std::vector<Index> seen = inputs_that_matter(relevance);
  network_ = NetworkOfColumns(options_.shape, seen.size() < options_.shape.layers[0] ? seen : std::vector<Index>());
  drawn_prior_ = network_.prior();
  if (relevance.size() > 0) {
    const Vector own = relevance(seen);
    const double bias = options_.shape.bias ? 1 : 0, fan_in = own.sum() + bias;
    for (Index j = 0; j < units; ++j)
      drawn_prior_.precision.segment(j * own.size(), own.size()) = fan_in * own.cwiseInverse();
    if (options_.shape.bias) drawn_prior_.precision.segment(units * own.size(), units).setConstant(fan_in);
    for (Index k = 0; k < linear_.outputs(); ++k)
      linear_prior_.precision.segment(k * (all + 1), all + 1) << (relevance.sum() + 1) * relevance.cwiseInverse(),
          relevance.sum() + 1;
  }
  prior_ = options_.prior;
  if (prior_.mean.size() == 0) prior_ = drawn_prior_, prior_.precision /= options_.prior_variance_scale;
  memory_.relevance = std::move(relevance);
}

// Numbers of the learned weights as those of all; `unseen` of weights of inputs that networks do not see.
Vector JointRegression::of_all_inputs(const Vector& of_weights, double unseen) const {
  const std::vector<Index>& seen = network_.columns();
  if (seen.empty()) return of_weights;
  const auto all = static_cast<Index>(options_.shape.layers[0]), units = static_cast<Index>(options_.shape.layers[1]),
             own = static_cast<Index>(seen.size()), rest = of_weights.size() - units * own;
  Vector whole = Vector::Constant(units * all + rest, unseen);
  for (Index j = 0; j < units; ++j) whole.segment(j * all, all)(seen) = of_weights.segment(j * own, own);
  whole.tail(rest) = of_weights.tail(rest);
  return whole;
}

SharedPrior JointRegression::prior_of(std::size_t member) const {
  const SharedPrior own = learned_prior(member);
  return {of_all_inputs(own.mean, 0), of_all_inputs(own.precision, HUGE_VAL)};
}

void JointRegression::restore(Memory memory) {
  memory_ = std::move(memory);
  if (memory_.smoothing >= 0) set_smoothing(memory_.smoothing);
  set_relevance(std::move(memory_.relevance));
}

}  // namespace dma
