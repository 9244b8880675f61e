#include "models/learn/level_effects.h"

#include <algorithm>
#include <cmath>

#include "engine/support/fields.h"
#include "engine/support/shuffle.h"
#include "models/table/relevance.h"

namespace dma {

namespace {

// Some of the values, and some of their rows, tell whether values differ.
constexpr std::size_t kSampledLevels = 60;
constexpr Index kSampledRows = 2000, kFewestSampled = 20;
constexpr std::size_t kMostSlopes = 2, kMostSlopeColumns = 40;  // slopes of one column, and columns that may have them
constexpr double kDoubtOfEffects = 2.3;                         // nats: ten to one
constexpr double kMostProducts = 4e9;                           // an epoch of learning: about half a second

// Some rows with one of the values that are looked at.
class Sample {
 public:
  Sample(const Matrix& rows, Index column, std::size_t levels, std::uint64_t seed, const Vector& weights) {
    std::vector<Index> place(levels + 1, -1);
    for (const Index level : random_order(std::ssize(place) - 1, seed))
      if (count_ < kSampledLevels) place[static_cast<std::size_t>(level)] = static_cast<Index>(count_++);
    for (const Index n : random_order(rows.rows(), seed)) {
      const Index own = place[std::min(levels, static_cast<std::size_t>(rows(n, column)))];
      if (own < 0 || std::ssize(which) >= kSampledRows) continue;
      which.push_back(n);
      places_.push_back(own);
    }
    counts_ = weights.size() > 0 ? weights_of(weights, which) : Vector(Vector::Ones(std::ssize(which)));
  }

  bool is_enough() const { return std::ssize(which) >= kFewestSampled && which.size() >= 2 * count_; }
  double weight() const { return counts_.sum(); }
  // Around their mean, rows times the roots of their weights.
  Matrix centred(Matrix features) const {
    features.rowwise() -= (counts_.transpose() * features / weight()).eval();
    return counts_.cwiseSqrt().asDiagonal() * features;
  }
  // A column for each value, `x` where it is the row's.
  Matrix by_level(const Vector& x) const {
    Matrix all = Matrix::Zero(x.size(), static_cast<Index>(count_));
    for (Index n = 0; n < x.size(); ++n) all(n, places_[static_cast<std::size_t>(n)]) = x(n);
    return centred(std::move(all));
  }

  // True if a column differs among the rows of one value: otherwise it has no slope there.
  bool varies_within(const Vector& x) const {
    constexpr double kLeastFraction = 0.05;
    Vector sums = Vector::Zero(static_cast<Index>(count_)), counts = sums, within = x;
    for (Index n = 0; n < x.size(); ++n) {
      const Index own = places_[static_cast<std::size_t>(n)];
      sums(own) += counts_(n) * x(n);
      counts(own) += counts_(n);
    }
    for (Index n = 0; n < x.size(); ++n) {
      const Index own = places_[static_cast<std::size_t>(n)];
      within(n) -= sums(own) / counts(own);
    }
    return counts_.dot(within.cwiseAbs2()) > kLeastFraction * centred(x).squaredNorm();
  }

  std::vector<Index> which;  // rows of the table

 private:
  std::size_t count_ = 0;
  std::vector<Index> places_;
  Vector counts_;
};

// True if values have effects; the columns whose slopes differ by value.
struct Found {
  bool any = false;
  std::vector<Index> slopes = {};
};

Found found_effects(const Sample& sample, const Matrix& numbers, const Matrix& targets) {
  Found found;
  if (!sample.is_enough()) return found;
  const Matrix line = sample.centred(numbers);
  std::vector<EffectEvidence> evidence;
  for (Index k = 0; k < targets.cols(); ++k)
    if (const Matrix y = sample.centred(targets.col(k)); y.squaredNorm() > 0) {
      evidence.emplace_back(y, sample.weight()).add(line);
      evidence.back().adjust(0);
    }
  const Index candidates = std::min<Index>(numbers.cols(), kMostSlopeColumns);
  const double price = std::log(1 + static_cast<double>(candidates)) + kDoubtOfEffects;
  std::vector<bool> may_have_slope;
  for (Index j = 0; j < candidates; ++j) may_have_slope.push_back(sample.varies_within(numbers.col(j)));
  std::vector<Index> known;
  while (found.slopes.size() < kMostSlopes) {
    double most = price;
    Index best = -2;
    for (Index j = -1; j < candidates; ++j) {  // -1: the effect itself
      if (std::ranges::find(known, j) != known.end() || (j >= 0 && !may_have_slope[static_cast<std::size_t>(j)]))
        continue;
      const Matrix features = sample.by_level(j < 0 ? Vector(Vector::Ones(numbers.rows())) : Vector(numbers.col(j)));
      double nats = 0;
      for (const EffectEvidence& own : evidence) nats += own.gain(features).nats;
      if (!(nats > most)) continue;
      most = nats;
      best = j;
    }
    if (best == -2) break;
    found.any = true;
    known.push_back(best);
    if (best >= 0) found.slopes.push_back(best);
    const Matrix features =
        sample.by_level(best < 0 ? Vector(Vector::Ones(numbers.rows())) : Vector(numbers.col(best)));
    for (EffectEvidence& own : evidence) {
      own.add(features);
      for (std::size_t e = known.size() + 1; e-- > 0;) own.adjust(e);
    }
  }
  return found;
}

// An epoch takes about N K P^2 products, with P effects of each of K outputs.
void make_affordable(std::vector<LevelEffects>& all, double rows, double outputs) {
  const double most = std::sqrt(kMostProducts / (rows * outputs)) / (outputs * static_cast<double>(all.size()));
  for (LevelEffects& own : all) {
    const auto count = [&] { return static_cast<double>((own.levels + 1) * (own.slopes.size() + 1)); };
    while (!own.slopes.empty() && count() > most) own.slopes.pop_back();
    if (count() > most) own.levels = static_cast<std::size_t>(std::max(2.0, most - 1));
  }
}

}  // namespace

void list_fields(Fields& f, LevelEffects& value) { DMA_LIST(column, levels, slopes); }

std::vector<LevelEffects> level_effects(const Matrix& rows, const std::vector<std::size_t>& levels,
                                        const Matrix& targets, std::uint64_t seed, const Vector& weights) {
  std::vector<Index> numbers;
  for (std::size_t j = 0; j < levels.size(); ++j)
    if (levels[j] == 0) numbers.push_back(static_cast<Index>(j));
  std::vector<LevelEffects> all;
  for (std::size_t j = 0; j < levels.size(); ++j) {
    if (levels[j] == 0) continue;
    const Sample sample(rows, static_cast<Index>(j), levels[j], seed, weights);
    Matrix own_numbers = rows(sample.which, numbers);
    if (numbers.empty()) own_numbers.setZero(own_numbers.rows(), 1);
    const Found found = found_effects(sample, own_numbers, targets(sample.which, Eigen::all));
    if (!found.any) continue;
    LevelEffects& own = all.emplace_back(LevelEffects{j, levels[j]});
    for (const Index slope : found.slopes)
      own.slopes.push_back(static_cast<std::size_t>(numbers[static_cast<std::size_t>(slope)]));
  }
  if (!all.empty()) make_affordable(all, static_cast<double>(rows.rows()), static_cast<double>(targets.cols()));
  return all;
}

}  // namespace dma
