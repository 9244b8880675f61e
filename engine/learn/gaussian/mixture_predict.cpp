// A fitted mixture predicts rows and learns from more of them; it widens intervals where left-out rows say that they
// are too narrow.
#include <algorithm>
#include <cmath>

#include "engine/learn/gaussian/mixture_fitting.h"
#include "engine/support/parallel.h"
#include "engine/support/text.h"

namespace dma {

void put(const RowBeliefs& some, const std::vector<Index>& which, RowBeliefs& all, bool with_noise) {
  all.mean(which, Eigen::all) = some.mean;
  all.variance(which, Eigen::all) = some.variance;
  if (with_noise) all.noise(which, Eigen::all) = some.noise;
  if (some.covariances.empty()) return;
  all.covariances.resize(static_cast<std::size_t>(all.mean.rows()));
  for (std::size_t i = 0; i < which.size(); ++i)
    all.covariances[static_cast<std::size_t>(which[i])] = some.covariances[i];
}

RowBeliefs no_beliefs(Index rows, Index outputs) {
  const Matrix nothing = Matrix::Zero(rows, outputs);
  return {nothing, nothing, nothing};
}

namespace {

bool has_classes(const OutputLikelihoods& likelihoods) {
  return std::ranges::any_of(likelihoods, [](const auto& own) { return own && own->is_class(); });
}

// The weight of the fit with weighted rows: s0^2 / (s0^2 + s^2) at noise s where constant noise is s0; 1 for
// NoiseModel::inputs.
Matrix weighted_fraction(NoiseModel model, const SharedState& plain, const Matrix& noise) {
  if (model == NoiseModel::inputs) return Matrix::Ones(noise.rows(), noise.cols());
  Matrix fraction(noise.rows(), noise.cols());
  for (Index k = 0; k < noise.cols(); ++k) {
    const double constant = std::exp(plain.noise[static_cast<std::size_t>(k)].beta(0));
    fraction.col(k) = 1 / (1 + (noise.col(k).array() / constant).square());
  }
  return fraction;
}

}  // namespace

// The beliefs are taken over.
void GraphMixture::add_member(const Member& member, RowBeliefs& plain, RowBeliefs* weighted, double fraction,
                              std::vector<PredictionComponent>& all) const {
  const Matrix own = weighted != nullptr ? weighted_fraction(options_.noise_model, member.plain, weighted->noise)
                                         : Matrix::Zero(plain.mean.rows(), plain.mean.cols());
  all.push_back(component(std::move(plain), *member.plain_posterior, fraction * (1 - own.array()), model_.likelihoods));
  if (weighted != nullptr)
    all.push_back(component(std::move(*weighted), *member.weighted_posterior, fraction * own, model_.likelihoods));
}

bool GraphMixture::update(const RowData& more, Index known) {
  constexpr Index kMostScalars = 10000;  // 0.8 GB
  const RowModel& rows = *model_.rows;
  if (!is_fitted()) fail("an update needs a model that was fitted; call fit first");
  if (rows.scalars() > kMostScalars && !memory_.members[0].plain_posterior->stays_by_rows(rows, more.rows.rows()))
    fail(
        "an update keeps a matrix over all weights, of which there are {}; at most {} are possible: fit all rows "
        "together",
        rows.scalars(), kMostScalars);
  const std::optional<Index> counted = options_.learn_noise ? std::optional(known) : std::nullopt;
  bool settled = true;
  // Returns the nats of the new rows, each as if it had not come.
  const auto update = [&](const RowModel& model, const SharedPrior& prior, SharedPosterior& posterior) {
    SharedUpdate found = posterior.updated(model, prior, more, counted);
    double nats = 0;
    if (options_.by_evidence || !more.likelihoods.empty()) {
      RowBeliefs before = posterior.predict(model, prior, more.rows, more.has_classes());
      nats = score_of({component(std::move(before), posterior, {}, more.likelihoods)}, more.targets, more.weights);
      found.posterior.log_evidence += nats;
    }
    posterior = std::move(found.posterior);
    settled = settled && found.settled;
    if (more.likelihoods.empty()) {
      const Eigen::ArrayXXd variance = (found.left_out.variance + found.left_out.noise).array();
      const Eigen::ArrayXXd squares = (more.targets - found.left_out.mean).array().square() / variance;
      nats = -0.5 * weighted_sum((squares + variance.log()).rowwise().sum(), more.weights);
    }
    if (!std::isfinite(nats))
      fail("the new rows overflow: they are too far from the training data; look for wrong units in them");
    return nats;
  };
  GraphMixture next = *this;  // all or nothing
  double of_members = 0;
  std::size_t fitted = 0;
  for (std::size_t k = 0; k < next.memory_.members.size(); ++k) {
    Member& member = next.memory_.members[k];
    if (!member.plain_posterior) continue;
    of_members += update(rows, prior_of(k), *member.plain_posterior), ++fitted;
    if (member.weighted_posterior) (void)update(rows, prior_of(k), *member.weighted_posterior);
  }
  if (next.memory_.simple) {
    // The odds of before, times what the new rows say.
    const double ahead = of_members / static_cast<double>(fitted) -
                         update(*simple_->rows, simple_->prior, *next.memory_.simple),
                 fraction = memory_.fraction;
    if (fraction > 0 && fraction < 1) next.memory_.fraction = 1 / (1 + (1 - fraction) / fraction * std::exp(-ahead));
  }
  if (options_.by_evidence) next.share_among_members();
  next.memory_.lowest = memory_.lowest.cwiseMin(more.rows.colwise().minCoeff());
  next.memory_.highest = memory_.highest.cwiseMax(more.rows.colwise().maxCoeff());
  next.left_out_.clear();
  *this = std::move(next);
  return settled;
}

// Beyond the range of the learned rows a function goes on as it must, not as it was learned: what it adds to its value
// at the edge is doubted by as much as it is.
void GraphMixture::doubt_extrapolation(const SharedPosterior& posterior, const Matrix& rows,
                                       RowBeliefs& beliefs) const {
  const Matrix inside =
      rows.cwiseMax(memory_.lowest.replicate(rows.rows(), 1)).cwiseMin(memory_.highest.replicate(rows.rows(), 1));
  std::vector<Index> beyond;
  for (Index n = 0; n < rows.rows(); ++n)
    if (inside.row(n) != rows.row(n)) beyond.push_back(n);
  if (beyond.empty()) return;
  Matrix edge;
  model_.rows->evaluate(posterior.state.mean, inside(beyond, Eigen::all), edge);
  for (std::size_t i = 0; i < beyond.size(); ++i)
    beliefs.variance.row(beyond[i]) += (beliefs.mean.row(beyond[i]) - edge.row(static_cast<Index>(i))).cwiseAbs2();
}

GraphMixture::Marginals GraphMixture::marginals(std::size_t member) const {
  const SharedPosterior& posterior = memory_.members.at(member).last();
  const SharedPrior prior = prior_of(member);
  // Beyond that the prior's variance, which bounds the posterior's, must do.
  constexpr Index kMostScalars = 5000;
  if (model_.rows->scalars() > kMostScalars)
    return {posterior.state.mean, prior.scaled(posterior.state.scale).cwiseInverse()};
  return {posterior.state.mean, posterior.marginal_variances(*model_.rows, prior)};
}

// A posterior that is kept as rows is solved anew for every question: all of them at the same time.
std::vector<RowBeliefs> GraphMixture::beliefs(const Matrix& rows) const {
  std::vector<RowBeliefs> found(2 * memory_.members.size());
  parallel_for(found.size(), all_processors(), [&](std::size_t task) {
    const Member& member = memory_.members[task / 2];
    const auto& posterior = task % 2 == 0 ? member.plain_posterior : member.weighted_posterior;
    if (!member.plain_posterior || !posterior) return;
    found[task] = posterior->predict(*model_.rows, prior_of(task / 2), rows, has_classes(model_.likelihoods));
    if (options_.doubt_extrapolation) doubt_extrapolation(*posterior, rows, found[task]);
  });
  return found;
}

RowBeliefs GraphMixture::beliefs_of_simple(const Matrix& rows) const {
  return memory_.simple->predict(*simple_->rows, simple_->prior, rows, has_classes(model_.likelihoods));
}

std::vector<PredictionComponent> GraphMixture::predict(const Matrix& rows) const {
  std::vector<PredictionComponent> all;
  std::vector<RowBeliefs> found;
  if (memory_.fraction > 0) found = beliefs(rows);
  for (std::size_t k = 0; 2 * k < found.size(); ++k)
    if (const Member& member = memory_.members[k]; member.plain_posterior && member.fraction > 0)
      add_member(member, found[2 * k], member.weighted_posterior ? &found[2 * k + 1] : nullptr,
                 memory_.fraction * member.fraction, all);
  if (memory_.simple && memory_.fraction < 1)
    all.push_back(component(beliefs_of_simple(rows), *memory_.simple,
                            Matrix::Constant(rows.rows(), model_.rows->outputs(), 1 - memory_.fraction),
                            model_.likelihoods));
  return all;
}

std::vector<double> GraphMixture::noise(const Matrix& rows) const {
  return with_tails(noise_before_tails(rows, memory_.fraction));
}

// The posterior whose noise is told.
const SharedPosterior& GraphMixture::told_of(double fraction) const {
  return memory_.simple && fraction < 0.5 ? *memory_.simple : memory_.members.at(0).last();
}

std::vector<double> GraphMixture::noise_before_tails(const Matrix& rows, double fraction) const {
  std::vector<double> all;
  for (const LogLinearNoise& own : told_of(fraction).state.noise)
    all.push_back(std::exp(own.variances(rows).array().log().mean()));
  return all;
}

std::vector<double> GraphMixture::with_tails(std::vector<double> noise) const {
  constexpr double kLeastDegrees = 4;  // fewer make variances that single rows decide
  const std::vector<StudentTails>& tails = told_of(memory_.fraction).tails;
  for (std::size_t k = 0; k < noise.size() && k < tails.size(); ++k)
    noise[k] *= StudentTails{std::max(tails[k].degrees, kLeastDegrees), tails[k].scale}.variance();
  return noise;
}

// Scales the noise of components to what makes rows held out most likely, if there are any. The factors, per output.
std::vector<double> GraphMixture::fit_noise(std::vector<PredictionComponent>& components, const RowData& data) const {
  std::vector<double> factors(static_cast<std::size_t>(data.targets.cols()), 1.0);
  for (std::size_t k = 0; k < factors.size() && options_.tails && !judged_.empty(); ++k) {
    const auto output = static_cast<Index>(k);
    if (!data.is_gaussian(output)) continue;
    factors[k] =
        likeliest_factor(rows_of(components, judged_), data.targets(judged_, Eigen::all), output,
                         weights_of(data.weights, judged_), data.least_noise.size() > 0 ? data.least_noise(output) : 0);
    for (PredictionComponent& own : components) own.tails.at(k).scale *= factors[k];
  }
  return factors;
}

// The noise of all graphs, until 95 % intervals hold as many left-out rows as they promise.
void GraphMixture::widen_to_cover(const RowData& data) {
  for (Index k = 0; k < data.targets.cols(); ++k)
    if (data.is_gaussian(k))
      scale_noise(k, judged_.empty() ? covering_factor(left_out_, data.targets, k, data.weights)
                                     : covering_factor(rows_of(left_out_, judged_), data.targets(judged_, Eigen::all),
                                                       k, weights_of(data.weights, judged_)));
}

void GraphMixture::scale_noise(Index output, double factor) {
  const auto scale = [&](auto& own) { own.tails.at(static_cast<std::size_t>(output)).scale *= factor; };
  for (PredictionComponent& component : left_out_) scale(component);
  if (memory_.simple) scale(*memory_.simple);
  for (Member& member : memory_.members)
    for (auto* posterior : {&member.plain_posterior, &member.weighted_posterior})
      if (*posterior) scale(**posterior);
}

void GraphMixture::restore(Memory memory) {
  choose(memory.choice);
  memory_ = std::move(memory);
  left_out_.clear(), judged_.clear();
}

}  // namespace dma
