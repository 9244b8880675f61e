#include "models/table/relevance.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <optional>

#include "engine/learn/joint/growing.h"
#include "engine/support/dense.h"

namespace dma {

namespace {

constexpr Index kRowsPerInput = 50, kFewestInputs = 20;  // more rows, or fewer inputs: models tell by themselves
constexpr Index kMostRest = 1000;                        // inputs that stand for all that were not found
constexpr double kLeastOfRest = 0.01;                    // relevance of these, where they matter together
constexpr Index kMostRows = 2000;                        // a sample of so many finds what matters
constexpr Index kCosines = 6;
constexpr std::size_t kMostEffects = 16;
constexpr double kDoubt = 2.3;         // nats: ten to one
constexpr double kMostPairProducts = 4e9;  // of all pairs in one round

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

// What a table offers: features of an effect of one input, or of two.
struct Effects {
  const Matrix& rows;
  Matrix cosines;
  Matrix squares;  // of pairs, c_i^2 . c_j^2; empty: there are too many
  Vector roots;    // of the weights of rows

  Effects(const Matrix& of, const Vector& weights)
      : rows(of), cosines(cosines_of_ranks(of, weights)), roots(weights.cwiseSqrt()) {
    const auto d = static_cast<double>(rows.cols());
    if (d * d * static_cast<double>(rows.rows()) > kMostPairProducts) return;
    const Matrix each = cosines.cwiseAbs2();
    squares = each.transpose() * roots.cwiseAbs2().asDiagonal() * each;
  }
  double count() const { return roots.squaredNorm(); }
  // Around their mean, rows times the roots of their weights.
  Matrix centred(Matrix features) const {
    features.rowwise() -= (roots.cwiseAbs2().transpose() * features / count()).eval();
    return roots.asDiagonal() * features;
  }

  // cos k t = 2 cos t cos (k - 1) t - cos (k - 2) t.
  Matrix of(Index i, Index j) const {
    if (i != j) return centred(cosines.col(i).cwiseProduct(cosines.col(j)));
    Matrix f(rows.rows(), kCosines + 1);
    f.col(0) = rows.col(j);
    const Vector c = cosines.col(j) / std::numbers::sqrt2;
    Vector before = Vector::Ones(rows.rows()), now = c;
    for (Index k = 1; k <= kCosines; ++k) {
      f.col(k) = std::numbers::sqrt2 / static_cast<double>(k) * now;
      before = 2 * c.cwiseProduct(now) - before;
      now.swap(before);
    }
    return centred(std::move(f));
  }
};

struct FoundEffect {
  Index i, j;          // equal: an effect of one input
  double surplus = 0;  // nats beyond the price
};

// The pair whose product goes best with what is left.
FoundEffect best_pair(const Effects& effects, const Vector& rest, const std::vector<FoundEffect>& known) {
  const Matrix products =
      effects.cosines.transpose() * (rest.cwiseProduct(effects.roots).asDiagonal() * effects.cosines);
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
  const auto price_of = [&](const FoundEffect& f) { return f.i == f.j ? price : price_of_pair; };
  std::vector<FoundEffect> found;
  std::vector<EffectEvidence::Effect> chosen;
  Vector surplus(inputs);
  while (true) {
    const EffectEvidence evidence(y, chosen, effects.count());
    std::optional<FoundEffect> best;
    const auto offer = [&](FoundEffect f) {
      f.surplus = evidence.gain(effects.of(f.i, f.j)).nats - price_of(f);
      if (f.surplus > (best ? best->surplus : 0)) best = f;
      return f.surplus;
    };
    for (Index j = 0; j < inputs; ++j)
      if (std::ranges::none_of(found, [&](const FoundEffect& f) { return f.i == j && f.j == j; }))
        surplus(j) = offer({j, j});
    if (effects.squares.size() > 0 && inputs > 1)
      if (const FoundEffect pair = best_pair(effects, evidence.rest(), found); pair.i != pair.j) offer(pair);
    if (!best || found.size() == kMostEffects) break;
    found.push_back(*best);
    chosen.push_back({effects.of(best->i, best->j)});
    // Variances are in units of the noise, which has become less.
    for (std::size_t e = chosen.size(); e-- > 0;) {
      std::vector<EffectEvidence::Effect> others = chosen;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(e));
      const EffectEvidence::Gain gain = EffectEvidence(y, others, effects.count()).gain(chosen[e].features);
      chosen[e].variance = gain.variance, found[e].surplus = gain.nats - price_of(found[e]);
    }
  }
  if (found.empty()) return Vector::Zero(inputs);
  double variance = 0;  // of what was found
  for (const EffectEvidence::Effect& e : chosen) variance += e.variance / static_cast<double>(chosen.size());
  for (const FoundEffect& f : found)
    if (f.i == f.j) surplus(f.i) = f.surplus;
  for (const FoundEffect& f : found)
    for (const Index j : {f.i, f.j}) surplus(j) = std::max(surplus(j), f.surplus);
  Vector relevance = (std::log(kLeastRelevance) / (1 + surplus.array().exp())).exp();
  std::vector<Index> rest;
  for (Index j = 0; j < inputs && std::ssize(rest) < kMostRest; ++j)
    if (!(surplus(j) > 0)) rest.push_back(j);
  if (rest.empty()) return relevance;
  const EffectEvidence::Gain gain =
      EffectEvidence(y, chosen, effects.count()).gain(effects.centred(effects.rows(Eigen::all, rest)));
  if (gain.nats > kDoubt) relevance = relevance.cwiseMax(std::clamp(gain.variance / variance, kLeastOfRest, 1.0));
  return relevance;
}

}  // namespace

EffectEvidence::EffectEvidence(Vector targets, const std::vector<Effect>& effects, double number)
    : targets_(std::move(targets)), count_(number > 0 ? number : static_cast<double>(targets_.size())) {
  Index count = 0;
  for (const Effect& e : effects) count += e.features.cols();
  all_.resize(targets_.size(), count);
  Index at = 0;
  for (const Effect& e : effects) {
    all_.middleCols(at, e.features.cols()) = std::sqrt(e.variance) * e.features;
    at += e.features.cols();
  }
  Matrix square = Matrix::Identity(count, count);
  square.noalias() += all_.transpose() * all_;
  const Eigen::LLT<Matrix> root(square);
  factor_ = root.matrixL();
  rest_ = targets_ - all_ * root.solve(all_.transpose() * targets_);
}

double EffectEvidence::log_evidence() const {
  const double n = count_, noise = targets_.dot(rest_) / n;
  return -0.5 * n * (std::log(2 * std::numbers::pi * noise) + 1) - factor_.diagonal().array().log().sum();
}

// With S = F^T C^-1 F of eigenvalues s_i and q = F^T C^-1 y along its axes, v F F^T takes sum v q_i^2 / (1 + v s_i)
// from y^T C^-1 y and multiplies |C| by prod (1 + v s_i).
EffectEvidence::Gain EffectEvidence::gain(const Matrix& features) const {
  constexpr double kLeast = 0x1p-20, kMost = 0x1p10;
  const Matrix shared = factor_.triangularView<Eigen::Lower>().solve(all_.transpose() * features);
  const Eigen::SelfAdjointEigenSolver<Matrix> axes(
      Matrix(features.transpose() * features - shared.transpose() * shared));
  const Eigen::ArrayXd s = axes.eigenvalues().array().max(0),
                       q = (axes.eigenvectors().transpose() * (features.transpose() * rest_)).array().square();
  const double squares = targets_.dot(rest_), n = count_;
  Gain best;
  for (double v = kLeast; v <= kMost; v *= 2) {
    const double taken = (v * q / (1 + v * s)).sum() / squares;
    const double nats = -0.5 * (n * std::log1p(-std::min(taken, 1 - 1e-12)) + (1 + v * s).log().sum());
    if (nats > best.nats) best = {nats, v};
  }
  return best;
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

std::vector<Index> inputs_that_matter(const Vector& relevance) {
  std::vector<Index> which;
  for (Index j = 0; j < relevance.size(); ++j)
    if (relevance(j) * relevance(j) > kLeastRelevance) which.push_back(j);
  return which;
}

}  // namespace dma
