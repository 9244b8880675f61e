#include "models/neighbours/neighbours.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine/support/parallel.h"
#include "models/neighbours/trend.h"
#include "models/table/deal_rows.h"
#include "models/table/relevance.h"

namespace dma {

namespace {

constexpr Index kFewestToLearn = 50, kMostColumns = 500;
constexpr double kMostKeptNumbers = 2e7;   // of a table: 160 MB, twice
constexpr double kMostSearched = 1e11;     // products, of all rows with all rows, where no tree helps
constexpr double kRowsPerLengthscale = 20;  // fewer: one shift of all lengthscales
constexpr Index kRowsPerParameter = 50;    // fewer: the halves of the rows judge each other
constexpr Index kEnoughJudged = 20000, kJudgedSample = 5000;  // of more rows than the former so many are judged

// Adam: steps with one lengthscale, then with one for each column; rows of a step, and those they are drawn from;
// neighbours of each; steps until these are sought anew.
constexpr int kCommonSteps = 40, kSteps = 80, kRefresh = 20;
constexpr Index kBatch = 128, kPool = 1024, kFew = 24;
constexpr double kRate = 0.15, kLastRate = 0.01, kMomentum = 0.9, kSquares = 0.99;
constexpr double kLeastNoiseToSignal = 1e-8;  // of the signal: keeps equal rows from making K singular
constexpr double kLongest = 6;                // logarithm of a lengthscale, away from the usual one
constexpr double kMatters = 0.1;              // relevance from which on a column gets a lengthscale of its own
constexpr double kNoVariance = 1e-20;         // of what the trend leaves: nothing is left

// Calls f with the first and the number of every so many rows, several at the same time.
void by_blocks(Index rows, std::size_t jobs, const auto& f) {
  constexpr Index kBlock = 64;
  parallel_for(static_cast<std::size_t>((rows + kBlock - 1) / kBlock), jobs, [&](std::size_t task) {
    const Index begin = static_cast<Index>(task) * kBlock;
    f(begin, std::min(kBlock, rows - begin));
  });
}

std::span<const Index> part_of(std::span<const Index> all, Index begin, Index size) {
  if (all.empty()) return all;
  return all.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(size));
}

// Logarithms of lengthscales before anything is learned: r_j / l_j^2 sums to 1 over the columns.
Vector usual_lengths(const Vector& relevance) { return 0.5 * (std::log(relevance.sum()) - relevance.array().log()); }

// The kernel of rows whose values, and what is left of each when it is left out, are given. The prior of a logarithm of
// a lengthscale is N(usual, 1) of one shift of all, then N(that, 1) of each column that matters. With a start, how far
// parts of the rows have led the logarithms, the second half of the steps is enough.
NeighbourKernel learned_kernel(const Matrix& rows, const Vector& values, const Vector& own_values,
                               const Vector& weights, const Vector& relevance, bool has_lengthscales,
                               const Vector& start, const NeighbourOptions& options,
                               const std::function<void(double)>& told) {
  boost::random::mt19937_64 random(options.seed);
  const Index columns = rows.cols();
  const double rate_of_prior = 1 / total_weight(rows.rows(), weights),
               variance = weighted_sum(own_values.cwiseAbs2(), weights) * rate_of_prior;
  const Vector usual = usual_lengths(relevance);
  Vector at(columns + 2);
  at << usual, std::log(0.7 * variance), std::log(0.3 * variance);
  if (start.size() > 0) at << usual + start.head(columns), start.tail(2);
  Vector centre = at;
  if (start.size() > 0) centre.head(columns) = usual.array() + start.head(columns).mean();
  Vector momentum = Vector::Zero(at.size()), squares = momentum, gradient;
  const int steps = kCommonSteps + (has_lengthscales ? kSteps : kSteps / 4), first = start.size() > 0 ? steps / 2 : 0;
  std::vector<Index> pool;
  IndexMatrix nearest;
  for (int step = first; step < steps; ++step) {
    told(static_cast<double>(step) / steps);
    NeighbourKernel kernel = NeighbourKernel::from_logs(at);
    const bool is_common = !has_lengthscales || (first == 0 && step < kCommonSteps);
    if (step == kCommonSteps && first == 0) centre = at;
    if ((step - first) % kRefresh == 0) {
      pool = drawn(rows.rows(), kPool, random);
      const Matrix scaled = kernel.scaled(rows);
      const NearestRows search(scaled);
      nearest.resize(std::min(kFew, rows.rows() - 1), static_cast<Index>(pool.size()));
      by_blocks(nearest.cols(), options.jobs, [&](Index begin, Index size) {
        const auto own = part_of(pool, begin, size);
        nearest.middleCols(begin, size) = search.find(scaled(own, Eigen::all), kFew, own);
      });
    }
    const std::vector<Index> places = drawn(static_cast<Index>(pool.size()), kBatch, random);
    std::vector<Index> batch;
    for (const Index place : places) batch.push_back(pool[static_cast<std::size_t>(place)]);
    const auto slopes_at = [&](const NeighbourKernel& there) {
      return mean_log_density(there, rows, values, own_values, batch, nearest(Eigen::all, places), gradient,
                              options.jobs, weights);
    };
    if (step == 0) {
      // What changes many times over the table looks like noise to long lengthscales: begins where rows are likeliest.
      double most = -std::numeric_limits<double>::infinity();
      const Vector usual_start = at;
      for (const double shorter : {0.0, 1.5, 3.0}) {
        Vector there = usual_start;
        there.head(columns).array() -= shorter;
        if (const double found = slopes_at(NeighbourKernel::from_logs(there)); found > most) most = found, at = there;
      }
      kernel = NeighbourKernel::from_logs(at);
    }
    (void)slopes_at(kernel);
    auto slopes = gradient.head(columns);
    if (is_common)
      slopes.setConstant(slopes.sum() - rate_of_prior * (at(0) - usual(0)));
    else
      slopes = (relevance.array() < kMatters).select(0, slopes - rate_of_prior * (at - centre).head(columns));
    momentum = kMomentum * momentum + (1 - kMomentum) * gradient;
    squares = kSquares * squares + (1 - kSquares) * gradient.cwiseAbs2();
    const double fraction = static_cast<double>(step) / steps, rate = kRate + (kLastRate - kRate) * fraction,
                 begun =
                     (1 - std::pow(kMomentum, step - first + 1)) / std::sqrt(1 - std::pow(kSquares, step - first + 1));
    at.array() += rate / begun * momentum.array() / (squares.array().sqrt() + 1e-10);
    at.head(columns) = at.head(columns).array().max(usual.array() - kLongest).min(usual.array() + kLongest);
    const double size = std::log(variance);
    at(columns) = std::clamp(at(columns), size - 12, size + 6);
    at(columns + 1) = std::clamp(at(columns + 1), at(columns) + std::log(kLeastNoiseToSignal), size + 1);
  }
  return NeighbourKernel::from_logs(at);
}

// What the process says of points by their nearest rows; with `own`, the numbers of the rows that they are, each
// without itself. An error of the trend counts as far as the neighbours do not share it: `all_apart`, if wanted, is how
// far they do not.
void believe(const NeighbourKernel& kernel, const Matrix& trend_covariance, const NearestRows& search,
             const Matrix& rows, const Vector& values, const Vector& weights, const Matrix& points,
             std::span<const Index> own, std::size_t jobs, Eigen::Ref<Vector> mean, Eigen::Ref<Vector> variance,
             Matrix* all_apart = nullptr) {
  if (all_apart) all_apart->resize(points.rows(), rows.cols() + 1);
  by_blocks(points.rows(), jobs, [&](Index begin, Index size) {
    const auto some = points.middleRows(begin, size);
    const IndexMatrix nearest = search.find(kernel.scaled(some), Neighbours::kNeighbours, part_of(own, begin, size));
    RowConditional conditional(kernel, rows, values, weights);
    Vector apart(rows.cols() + 1);
    for (Index i = 0; i < size; ++i) {
      const RowConditional::Belief belief = conditional.at(some.row(i), nearest.col(i));
      mean(begin + i) = belief.mean, variance(begin + i) = belief.variance;
      if (trend_covariance.size() == 0) continue;
      apart.head(rows.cols()) = some.row(i) - conditional.weights().transpose() * rows(nearest.col(i), Eigen::all);
      apart(rows.cols()) = 1 - conditional.weights().sum();
      if (all_apart) all_apart->row(begin + i) = apart;
      variance(begin + i) += std::max(0.0, apart.dot(trend_covariance * apart));
    }
  });
}

}  // namespace

Neighbours::Neighbours(Memory memory) : memory_(std::move(memory)) { prepare(); }

void Neighbours::prepare() {
  values_ = memory_.targets;
  search_.clear();
  for (std::size_t k = 0; k < memory_.outputs.size(); ++k) {
    const Output& output = memory_.outputs[k];
    values_.col(static_cast<Index>(k)) -= Trend::at(output.trend, memory_.rows);
    search_.emplace_back(output.kernel.scaled(memory_.rows));
  }
}

bool Neighbours::suits(Index rows, Index columns, Index outputs) {
  const auto n = static_cast<double>(rows), d = static_cast<double>(columns);
  return rows >= std::max(kFewestToLearn, 2 * columns) && columns <= kMostColumns &&
         n * (d + static_cast<double>(outputs)) <= kMostKeptNumbers &&
         (columns <= NearestRows::kMostTreeColumns || n * n * d <= kMostSearched);
}

Neighbours::Fit Neighbours::fit(Matrix rows, Matrix targets, const NeighbourOptions& options, Vector weights) {
  const Index count = rows.rows(), outputs = targets.cols();
  std::vector<Index> judged(static_cast<std::size_t>(count));
  std::iota(judged.begin(), judged.end(), Index{0});
  if (count > kEnoughJudged) {
    boost::random::mt19937_64 random(options.seed);
    judged = drawn(count, kJudgedSample, random);
    std::ranges::sort(judged);
  }
  const auto size = static_cast<Index>(judged.size());
  const Matrix judged_targets = targets(judged, Eigen::all);
  const Vector judged_weights = weights_of(weights, judged);
  PredictionComponent left_out{judged_targets, Matrix(size, outputs), Matrix(size, outputs)};
  Vector flattery = Vector::Zero(outputs);
  std::vector<Output> learned;
  const bool are_few = count < kRowsPerParameter * (rows.cols() + 2);
  std::vector<std::vector<Index>> parts(are_few ? 2 : 1);  // of which each is judged by the others, or by itself
  const std::vector<std::size_t> dealt = workers_of_rows(static_cast<std::size_t>(count), parts.size(), options.seed);
  for (Index n = 0; n < count; ++n) parts[dealt[static_cast<std::size_t>(n)]].push_back(n);
  const auto judged_by = [&](std::size_t part) -> const std::vector<Index>& { return are_few ? parts[part] : judged; };
  for (Index k = 0; k < outputs; ++k) {
    const auto relevance_by = [&](const Matrix& x, const Vector& y, const Vector& of_rows) {
      Vector found = relevance_of(x, y, options.seed, of_rows);
      return found.size() > 0 ? found : Vector(Vector::Ones(rows.cols()));
    };
    const Vector relevance = relevance_by(rows, targets.col(k), weights);
    const bool has_lengthscales =
        rows.cols() > 1 && static_cast<double>(count) >= kRowsPerLengthscale * relevance.sum();
    const Trend trend = Trend::fit(rows, targets.col(k), weights, relevance);
    const double variance = weighted_sum(trend.left_out.cwiseAbs2(), weights) / total_weight(count, weights);
    NeighbourKernel kernel{Vector::Ones(rows.cols()), 0, std::max(variance, std::numeric_limits<double>::min())};
    Vector errors = trend.left_out, spread = Vector::Zero(count);
    const bool has_structure = variance > kNoVariance;
    flattery(k) = !has_structure ? std::numeric_limits<double>::infinity()
                  : are_few      ? 0
                                 : static_cast<double>(kernel.parameters());
    Vector logs = Vector::Zero(kernel.parameters());
    const auto told = [&](double fraction) {
      if (options.on_stage) options.on_stage({"neighbours", fraction});
    };
    for (std::size_t p = 0; p < parts.size() && has_structure; ++p) {
      const std::vector<Index>&own_rows = judged_by(p), &from = parts[parts.size() - 1 - p];
      const Matrix own_from = rows(from, Eigen::all);
      const Vector own_weights = weights_of(weights, from),
                   of_part = are_few ? relevance_by(own_from, targets(from, k), own_weights) : relevance;
      kernel = learned_kernel(own_from, trend.left(from), trend.left_out(from), own_weights, of_part, has_lengthscales,
                              {}, options, told);
      Vector away = kernel.logs();
      away.head(rows.cols()) -= usual_lengths(of_part);
      logs += away / static_cast<double>(parts.size());
      Vector own_mean(static_cast<Index>(own_rows.size())), own_spread = own_mean;
      Matrix apart;
      believe(kernel, trend.covariance(rows, kernel, options.seed), NearestRows(kernel.scaled(rows)), rows,
              trend.left, weights, rows(own_rows, Eigen::all), own_rows, options.jobs, own_mean, own_spread, &apart);
      errors(own_rows) = trend.left(own_rows) - own_mean + trend.change(rows, own_rows, apart);
      spread(own_rows) = own_spread;
    }
    if (has_structure && are_few)
      kernel =
          learned_kernel(rows, trend.left, trend.left_out, weights, relevance, has_lengthscales, logs, options, told);
    // The noise is that of the kernel that stays, whose tails these rows tell.
    errors = errors(judged).eval();
    const Vector own_spread = spread(judged), noise = Vector::Constant(size, kernel.noise);
    left_out.mean.col(k) -= errors;
    left_out.epistemic_sd.col(k) = own_spread.cwiseSqrt();
    left_out.noise_sd.col(k) = noise.cwiseSqrt();
    learned.push_back({trend.weights, kernel,
                       has_structure ? most_likely_tails(errors, own_spread, noise, judged_weights) : StudentTails{}, 0,
                       trend.covariance(rows, kernel, options.seed)});
    left_out.tails.push_back(learned.back().tails);
  }
  for (Index k = 0; k < outputs; ++k) {
    const double factor =
        std::isfinite(flattery(k)) ? covering_factor({left_out}, judged_targets, k, judged_weights) : 1;
    left_out.tails[static_cast<std::size_t>(k)].scale *= factor;
    learned[static_cast<std::size_t>(k)].tails = left_out.tails[static_cast<std::size_t>(k)];
  }
  return {Neighbours({std::move(rows), std::move(targets), std::move(learned), std::move(weights)}), std::move(judged),
          std::move(left_out), std::move(flattery)};
}

PredictionComponent Neighbours::predict(const Matrix& rows) const { return believed(rows, {}, all_processors()); }

PredictionComponent Neighbours::left_out(std::size_t jobs) const {
  std::vector<Index> all(static_cast<std::size_t>(memory_.rows.rows()));
  std::iota(all.begin(), all.end(), Index{0});
  return believed(memory_.rows, all, jobs);
}

PredictionComponent Neighbours::believed(const Matrix& rows, std::span<const Index> own, std::size_t jobs) const {
  const auto outputs = static_cast<Index>(memory_.outputs.size());
  PredictionComponent all{Matrix(rows.rows(), outputs), Matrix(rows.rows(), outputs), Matrix(rows.rows(), outputs),
                          fractions().transpose().replicate(rows.rows(), 1)};
  for (Index k = 0; k < outputs; ++k) {
    const Output& output = memory_.outputs[static_cast<std::size_t>(k)];
    believe(output.kernel, output.trend_covariance, search_[static_cast<std::size_t>(k)], memory_.rows, values_.col(k),
            memory_.weights, rows, own, jobs, all.mean.col(k), all.epistemic_sd.col(k));
    all.mean.col(k) += Trend::at(output.trend, rows);
    all.epistemic_sd.col(k) = all.epistemic_sd.col(k).cwiseSqrt().eval();
    all.noise_sd.col(k).setConstant(std::sqrt(output.kernel.noise));
    all.tails.push_back(output.tails);
  }
  return all;
}

void Neighbours::add(const Matrix& rows, const Matrix& targets, const Vector& weights) {
  const Index known = memory_.rows.rows();
  memory_.weights = joined_weights(memory_.weights, known, weights, rows.rows());
  for (const auto& [all, more] : {std::pair{&memory_.rows, &rows}, std::pair{&memory_.targets, &targets}}) {
    all->conservativeResize(known + more->rows(), Eigen::NoChange);
    all->bottomRows(more->rows()) = *more;
  }
  prepare();
}

void Neighbours::set_fractions(const Vector& fractions) {
  for (Index k = 0; k < fractions.size(); ++k) memory_.outputs[static_cast<std::size_t>(k)].fraction = fractions(k);
}

Vector Neighbours::fractions() const {
  Vector all(static_cast<Index>(memory_.outputs.size()));
  for (Index k = 0; k < all.size(); ++k) all(k) = memory_.outputs[static_cast<std::size_t>(k)].fraction;
  return all;
}

}  // namespace dma
