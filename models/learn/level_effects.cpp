#include "models/learn/level_effects.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>

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
  Sample(const Vector& numbers, std::size_t levels, std::uint64_t seed, const Vector& weights) {
    std::vector<Index> place(levels + 1, -1);
    for (const Index level : random_order(std::ssize(place) - 1, seed))
      if (count_ < kSampledLevels) place[static_cast<std::size_t>(level)] = static_cast<Index>(count_++);
    for (const Index n : random_order(numbers.size(), seed)) {
      const Index own = place[std::min(levels, static_cast<std::size_t>(numbers(n)))];
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

// `smooth`: features of a function that values must gain beside, if they are numbers.
Found found_effects(const Sample& sample, const Matrix& numbers, const Matrix& smooth, const Matrix& targets) {
  Found found;
  if (!sample.is_enough()) return found;
  const Matrix line = sample.centred(numbers);
  const bool is_number = smooth.cols() > 0;
  std::vector<EffectEvidence> evidence;
  for (Index k = 0; k < targets.cols(); ++k)
    if (const Matrix y = sample.centred(targets.col(k)); y.squaredNorm() > 0) {
      evidence.emplace_back(y, sample.weight()).add(line);
      if (is_number) evidence.back().add(sample.centred(smooth));
      for (std::size_t e = is_number ? 2 : 1; e-- > 0;) evidence.back().adjust(e);
    }
  const Index candidates = std::min<Index>(numbers.cols(), kMostSlopeColumns);
  const double price = std::log(1 + static_cast<double>(candidates)) + kDoubtOfEffects;
  std::vector<bool> may_have_slope;
  for (Index j = 0; j < candidates; ++j) may_have_slope.push_back(sample.varies_within(numbers.col(j)));
  std::vector<Index> known;
  while (found.slopes.size() < kMostSlopes) {
    double most = price;
    Index best = -2;
    const bool asks_first = is_number && known.empty();           // most numbers name nothing
    for (Index j = -1; j < (asks_first ? 0 : candidates); ++j) {  // -1: the effect itself
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
      for (std::size_t e = known.size() + (is_number ? 2 : 1); e-- > 0;) own.adjust(e);
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

void list_fields(Fields& f, LevelEffects& value) {
  DMA_LIST(column, levels, slopes);
  f.unless_empty("values", value.values);
}

Eigen::VectorXd LevelEffects::numbers_of(const Eigen::VectorXd& given) const {
  const auto most = static_cast<double>(levels);
  if (values.empty()) return given.cwiseMin(most);
  std::map<double, double> number;
  for (std::size_t l = 0; l < values.size(); ++l) number[values[l]] = std::min(static_cast<double>(l), most);
  return given.unaryExpr([&](double value) {
    const auto at = number.find(value);
    return at == number.end() ? most : at->second;
  });
}

std::vector<LevelEffects> possible_identifiers(const Matrix& inputs, const std::vector<std::size_t>& levels) {
  constexpr std::size_t kFewest = 5, kMost = 10'000, kMostColumns = 10;
  std::vector<LevelEffects> all;
  for (Index j = 0; j < inputs.cols(); ++j) {
    if (!levels.empty() && levels[static_cast<std::size_t>(j)] > 0) continue;
    std::map<double, std::size_t> counts;
    const auto most = std::min(kMost, static_cast<std::size_t>(inputs.rows()) / 2);
    const bool may_name = std::ranges::all_of(inputs.col(j), [&](double value) {
      return value == std::floor(value) && (++counts[value], counts.size() <= most);
    });
    if (!may_name || counts.size() < kFewest) continue;
    LevelEffects& own = all.emplace_back(LevelEffects{.column = static_cast<std::size_t>(j), .levels = counts.size()});
    for (const auto& [value, count] : counts) own.values.push_back(value);
    std::ranges::stable_sort(own.values, std::greater(), [&](double value) { return counts.at(value); });
  }
  return all.size() > kMostColumns ? std::vector<LevelEffects>() : all;
}

std::vector<LevelEffects> level_effects(const Matrix& rows, const std::vector<std::size_t>& levels,
                                        const Matrix& targets, std::uint64_t seed, const Vector& weights,
                                        const Identifiers& identifiers) {
  const auto is_number = [&](Index j) { return levels.empty() || levels[static_cast<std::size_t>(j)] == 0; };
  std::vector<Index> numbers;
  for (Index j = 0; j < rows.cols(); ++j)
    if (is_number(j)) numbers.push_back(j);
  std::vector<LevelEffects> all;
  const auto look_at = [&](LevelEffects own, const Matrix& given, const Matrix& to_gain) {
    const auto column = static_cast<Index>(own.column);
    const Sample sample(own.numbers_of(given.col(column)), own.levels, seed, weights);
    Matrix own_numbers = rows(sample.which, numbers), smooth;
    if (numbers.empty()) own_numbers.setZero(own_numbers.rows(), 1);
    if (!own.values.empty() && !sample.which.empty()) {
      const Vector x = rows(sample.which, column);
      const double low = x.minCoeff(), range = std::max(x.maxCoeff() - low, 1e-300);
      smooth = effect_features(x, (std::numbers::pi / range * (x.array() - low)).cos());
    }
    const Found found = found_effects(sample, own_numbers, smooth, to_gain(sample.which, Eigen::all));
    if (!found.any) return;
    for (const Index slope : found.slopes)
      own.slopes.push_back(static_cast<std::size_t>(numbers[static_cast<std::size_t>(slope)]));
    all.push_back(std::move(own));
  };
  for (Index j = 0; j < rows.cols(); ++j)
    if (!is_number(j))
      look_at({.column = static_cast<std::size_t>(j), .levels = levels[static_cast<std::size_t>(j)]}, rows, targets);
  for (const LevelEffects& own : identifiers.columns) look_at(own, identifiers.inputs, identifiers.targets);
  if (!all.empty()) make_affordable(all, static_cast<double>(rows.rows()), static_cast<double>(targets.cols()));
  return all;
}

}  // namespace dma
