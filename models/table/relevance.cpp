#include "models/table/relevance.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "engine/support/dense.h"
#include "engine/support/shuffle.h"
#include "engine/support/usable.h"

namespace dma {

namespace {

constexpr Index kRowsPerInput = 50, kFewestInputs = 20;  // more rows, or fewer inputs: models tell by themselves
constexpr Index kMostRest = 400;                         // inputs that stand for all that were not found
constexpr double kLeastOfRest = 0.01;                    // relevance of these, where they matter together
constexpr Index kMostRows = 2000;                        // a sample of so many finds what matters
constexpr Index kCosines = 6;
constexpr std::size_t kMostEffects = 16;
constexpr double kDoubt = 2.3;             // nats: ten to one
constexpr double kMostPairProducts = 1e9;  // limit for a search of all pairs

// sqrt2 cos(pi u) of every column; equal values share their ranks.
Matrix cosines_of_ranks(const Matrix& rows, const Vector& weights) {
  const double all_weights = weights.sum();
  Matrix all(rows.rows(), rows.cols());
  std::vector<Index> order(static_cast<std::size_t>(rows.rows()));
  std::iota(order.begin(), order.end(), Index{0});
  for (Index j = 0; j < rows.cols(); ++j) {
    const auto column = rows.col(j);
    std::ranges::sort(order, {}, [&](Index n) { return column(n); });
    double before = 0;
    for (std::size_t first = 0, last = 0; first < order.size(); first = last) {
      double own = 0;
      while (last < order.size() && column(order[last]) == column(order[first])) own += weights(order[last++]);
      const double rank = (before + 0.5 * own) / all_weights;
      before += own;
      for (std::size_t i = first; i < last; ++i)
        all(order[i], j) = std::numbers::sqrt2 * std::cos(std::numbers::pi * rank);
    }
  }
  return all;
}

// Effects that a table offers: features of one input, or of two.
struct Effects {
  const Matrix& rows;
  Matrix cosines;
  Matrix squares;  // c_i^2 . c_j^2 of pairs; empty: there are too many
  Vector roots;    // square roots of the weights of rows

  Effects(const Matrix& of, const Vector& weights)
      : rows(of), cosines(cosines_of_ranks(of, weights)), roots(weights.cwiseSqrt()) {
    const auto d = static_cast<double>(rows.cols());
    if (d * d * static_cast<double>(rows.rows()) > kMostPairProducts) return;
    const Matrix each = roots.asDiagonal() * cosines.cwiseAbs2();
    squares = transposed_product(each, each);
  }
  double count() const { return roots.squaredNorm(); }
  // Features minus their means, rows times the roots of their weights.
  Matrix centred(Matrix features) const {
    features.rowwise() -= (roots.cwiseAbs2().transpose() * features / count()).eval();
    return roots.asDiagonal() * features;
  }

  Matrix of(Index i, Index j) const {
    if (i != j) return centred(cosines.col(i).cwiseProduct(cosines.col(j)));
    return centred(effect_features(rows.col(j), cosines.col(j) / std::numbers::sqrt2));
  }
};

struct FoundEffect {
  Index i, j;          // equal: an effect of one input
  double surplus = 0;  // nats beyond the price
};

// The pair whose product goes best with what is left.
FoundEffect best_pair(const Effects& effects, const Vector& rest, const std::vector<FoundEffect>& known) {
  const Matrix products =
      transposed_product(effects.cosines, rest.cwiseProduct(effects.roots).asDiagonal() * effects.cosines);
  FoundEffect best{0, 0};
  double most = 0;
  for (Index j = 0; j < products.cols(); ++j)
    for (Index i = j + 1; i < products.rows(); ++i) {
      const double fit = products(i, j) * products(i, j) / std::max(effects.squares(i, j), 1e-9);
      const auto is_this = [&](const FoundEffect& f) { return f.i == i && f.j == j; };
      if (!(fit > most) || std::ranges::any_of(known, is_this)) continue;
      most = fit, best = {i, j};
    }
  return best;
}

// Relevances for one target; 0 where nothing is found.
Vector relevance_for(const Effects& effects, const Vector& y) {
  const Index inputs = effects.rows.cols();
  const double count = static_cast<double>(inputs), price = std::log(count) + kDoubt,
               price_of_pair = std::log(std::max(1.0, count * (count - 1) / 2)) + kDoubt;
  EffectEvidence evidence(y, effects.count());
  std::vector<FoundEffect> found;
  std::vector<EffectEvidence::Products> products(static_cast<std::size_t>(inputs));
  Vector surplus(inputs);
  while (true) {
    FoundEffect best{0, 0};
    for (Index j = 0; j < inputs; ++j) {
      if (std::ranges::any_of(found, [&](const FoundEffect& f) { return f.i == j && f.j == j; })) continue;
      EffectEvidence::Products& own = products[static_cast<std::size_t>(j)];
      evidence.complete(own, effects.of(j, j));
      surplus(j) = evidence.gain(own).nats - price;
      if (surplus(j) > best.surplus) best = {j, j, surplus(j)};
    }
    if (!(best.surplus > 0) && effects.squares.size() > 0)
      if (const FoundEffect pair = best_pair(effects, evidence.rest(), found); pair.i != pair.j)
        best = {pair.i, pair.j, evidence.gain(effects.of(pair.i, pair.j)).nats - price_of_pair};
    if (!(best.surplus > 0) || found.size() == kMostEffects) break;
    found.push_back(best);
    evidence.add(effects.of(best.i, best.j));
    // Variances are in units of the noise, which has become less.
    for (std::size_t e = found.size(); e-- > 0;)
      found[e].surplus = evidence.adjust(e).nats - (found[e].i == found[e].j ? price : price_of_pair);
  }
  if (found.empty()) return Vector::Zero(inputs);
  for (const FoundEffect& f : found)
    if (f.i == f.j) surplus(f.i) = f.surplus;
  for (const FoundEffect& f : found)
    for (const Index j : {f.i, f.j}) surplus(j) = std::max(surplus(j), f.surplus);
  Vector relevance = (std::log(kLeastRelevance) / (1 + surplus.array().exp())).exp();
  std::vector<Index> rest;
  for (Index j = 0; j < inputs && std::ssize(rest) < kMostRest; ++j)
    if (!(surplus(j) > 0)) rest.push_back(j);
  if (rest.empty()) return relevance;
  const EffectEvidence::Gain gain = evidence.gain(effects.centred(effects.rows(Eigen::all, rest)));
  if (gain.nats > kDoubt)
    relevance = relevance.cwiseMax(std::clamp(gain.variance / evidence.mean_variance(), kLeastOfRest, 1.0));
  return relevance;
}

}  // namespace

EffectEvidence::EffectEvidence(Vector targets, double count)
    : targets_(std::move(targets)),
      count_(count > 0 ? count : static_cast<double>(targets_.size())),
      features_(targets_.size(), 0),
      first_{0},
      squares_(targets_.squaredNorm()) {}

void EffectEvidence::complete(Products& products, const Matrix& features) const {
  if (products.with_targets.size() == 0) {
    products.with_themselves = transposed_product(features, features);
    products.with_targets = transposed_product(features, targets_);
  }
  const Index known = products.with_effects.rows(), count = features_.cols();
  products.with_effects.conservativeResize(count, features.cols());
  products.with_effects.bottomRows(count - known) = transposed_product(features_.rightCols(count - known), features);
}

void EffectEvidence::add(const Matrix& features, double variance) {
  Products own;
  complete(own, features);
  const Index before = features_.cols(), count = before + features.cols();
  features_.conservativeResize(Eigen::NoChange, count);
  features_.rightCols(features.cols()) = features;
  square_.conservativeResize(count, count);
  square_.topRightCorner(before, features.cols()) = own.with_effects;
  square_.bottomLeftCorner(features.cols(), before) = own.with_effects.transpose();
  square_.bottomRightCorner(features.cols(), features.cols()) = own.with_themselves;
  with_targets_.conservativeResize(count), roots_.conservativeResize(count);
  with_targets_.tail(features.cols()) = own.with_targets;
  first_.push_back(count);
  set_variance(first_.size() - 2, variance);
}

void EffectEvidence::set_variance(std::size_t effect, double variance) {
  roots_.segment(first_[effect], first_[effect + 1] - first_[effect]).setConstant(std::sqrt(variance));
  Matrix sum = roots_.asDiagonal() * square_ * roots_.asDiagonal();
  sum.diagonal().array() += 1;
  factor_ = Eigen::LLT<Matrix>(sum).matrixL();
  known_ = roots_.cwiseProduct(with_targets_);
  solve_lower(factor_, known_);
  constexpr double kRounding = 1e-14;  // least fraction left of targets without noise
  const double all = targets_.squaredNorm();
  squares_ = std::max(all - known_.squaredNorm(), kRounding * all);
}

EffectEvidence::Gain EffectEvidence::adjust(std::size_t effect) {
  const Index first = first_[effect], size = first_[effect + 1] - first;
  set_variance(effect, 0);
  const Gain best = gain(
      {square_.block(first, first, size, size), square_.middleCols(first, size), with_targets_.segment(first, size)});
  set_variance(effect, best.variance);
  return best;
}

double EffectEvidence::mean_variance() const {
  double sum = 0;
  for (std::size_t e = 0; e + 1 < first_.size(); ++e) sum += roots_(first_[e]) * roots_(first_[e]);
  return sum / static_cast<double>(first_.size() - 1);
}

double EffectEvidence::log_evidence() const {
  const double noise = squares_ / count_;
  return -0.5 * count_ * (std::log(2 * std::numbers::pi * noise) + 1) - factor_.diagonal().array().log().sum();
}

Vector EffectEvidence::rest() const {
  const Vector inner = factor_.transpose().triangularView<Eigen::Upper>().solve(known_);
  return targets_ - features_ * roots_.cwiseProduct(inner);
}

// With S = F^T C^-1 F of eigenvalues s_i and q = F^T C^-1 y along its axes, v F F^T takes sum v q_i^2 / (1 + v s_i)
// from y^T C^-1 y and multiplies |C| by prod (1 + v s_i).
EffectEvidence::Gain EffectEvidence::gain(const Products& of) const {
  constexpr double kLeast = 0x1p-20, kMost = 0x1p10;
  Matrix shared = roots_.asDiagonal() * of.with_effects;
  solve_lower(factor_, shared);
  const Eigen::SelfAdjointEigenSolver<Matrix> axes(Matrix(of.with_themselves - transposed_product(shared, shared)));
  const Eigen::ArrayXd
      s = axes.eigenvalues().array().max(0),
      q = transposed_product(axes.eigenvectors(), of.with_targets - shared.transpose() * known_).array().square();
  Gain best;
  for (double v = kLeast; v <= kMost; v *= 2) {
    const double taken = (v * q / (1 + v * s)).sum() / squares_;
    const double nats = -0.5 * (count_ * std::log1p(-std::min(taken, 1 - 1e-12)) + (1 + v * s).log().sum());
    if (nats > best.nats) best = {nats, v};
  }
  return best;
}

EffectEvidence::Gain EffectEvidence::gain(const Matrix& features) const {
  Products products;
  complete(products, features);
  return gain(products);
}

// cos k t = 2 cos t cos (k - 1) t - cos (k - 2) t.
Matrix effect_features(const Vector& x, const Vector& cosine) {
  Matrix f(x.size(), kCosines + 1);
  f.col(0) = x;
  Vector before = Vector::Ones(x.size()), now = cosine;
  for (Index k = 1; k <= kCosines; ++k) {
    f.col(k) = std::numbers::sqrt2 / static_cast<double>(k) * now;
    before = 2 * cosine.cwiseProduct(now) - before;
    now.swap(before);
  }
  return f;
}

Vector relevance_of(const Matrix& rows, const Matrix& targets, std::uint64_t seed, const Vector& weights) {
  const Index count = std::min(rows.rows(), kMostRows), inputs = rows.cols();
  if (inputs < kFewestInputs || rows.rows() >= kRowsPerInput * inputs) return {};
  std::vector<Index> some = random_order(rows.rows(), seed);
  some.resize(static_cast<std::size_t>(count));
  const Matrix sample = rows(some, Eigen::all);
  const Effects effects(sample, weights.size() > 0 ? weights_of(weights, some) : Vector(Vector::Ones(count)));
  Vector relevance = Vector::Zero(inputs);
  for (Index k = 0; k < targets.cols(); ++k) {
    const Vector y = effects.centred(targets(some, k));
    if (y.squaredNorm() > 0) relevance = relevance.cwiseMax(relevance_for(effects, y));
  }
  if (inputs_that_matter(relevance).empty()) return {};
  return relevance;
}

bool is_relevant(double relevance) { return relevance * relevance > kLeastRelevance; }

std::vector<Index> inputs_that_matter(const Vector& relevance) {
  std::vector<Index> which;
  for (Index j = 0; j < relevance.size(); ++j)
    if (is_relevant(relevance(j))) which.push_back(j);
  return which;
}

void check_relevance(const Vector& relevance, Index inputs) {
  if (relevance.size() == 0) return;
  expect(relevance.size() == inputs && (relevance.array() > 0).all() && (relevance.array() <= 1).all() &&
             !inputs_that_matter(relevance).empty(),
         "the relevances do not fit the inputs");
}

}  // namespace dma
