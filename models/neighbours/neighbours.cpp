#include "models/neighbours/neighbours.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

#include "engine/learn/joint/posterior.h"
#include "engine/support/error.h"
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
// Parts of the rows that are judged by kernels of the others: more where that takes no time.
constexpr std::size_t kParts = 2, kPartsOfFew = 4;
constexpr Index kFewRows = 500;
constexpr Index kChoosing = 600;  // rows of a large table that choose its kernel
constexpr Index kEnoughJudged = 20000, kJudgedSample = 5000;  // of more rows than the former so many are judged
constexpr double kNothing = 1e-20;  // variance that the line leaves

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

// What is learned of one output, and its judged rows, each without itself.
struct Learned {
  NeighbourKernel kernel;
  LinePosterior line;
  Vector errors, spread;
};

KernelChoice choice_for(const ProcessRows& table, bool by_column, double least_noise, const NeighbourOptions& options) {
  Vector relevance = relevance_of(table.rows, table.targets, options.seed, table.weights);
  if (relevance.size() == 0) relevance = Vector::Ones(table.rows.cols());
  return {std::move(relevance), by_column, least_noise, options.seed, options.jobs};
}

// Each part of the rows is judged by all rows with the kernel that the other parts have chosen. Where these kernels lie
// the choice of all rows begins.
Learned learned_by_all(const ProcessRows& table, const KernelChoice& choice, const NeighbourOptions& options,
                       const std::function<void(double)>& told) {
  const Index count = table.rows.rows();
  const std::size_t parts = count <= kFewRows ? kPartsOfFew : kParts;
  const std::vector<std::size_t> dealt = workers_of_rows(static_cast<std::size_t>(count), parts, options.seed);
  std::vector<KernelNumbers::Setting> settings(parts);
  Learned learned{{}, {}, Vector(count), Vector(count)};
  std::atomic<int> done = 0;
  parallel_for(parts, options.jobs, [&](std::size_t part) {
    std::vector<Index> own, others;
    for (Index n = 0; n < count; ++n) (dealt[static_cast<std::size_t>(n)] == part ? own : others).push_back(n);
    const ProcessRows rest = table.some(others);
    settings[part] = likeliest_process(rest, choice_for(rest, choice.by_column, choice.least_noise, options));
    const ProcessBeliefs found = left_out(table, settings[part].kernel, settings[part].line);
    learned.errors(own) = table.targets(own) - found.mean(own), learned.spread(own) = found.variance(own);
    told(static_cast<double>(++done) / static_cast<double>(parts + 1));
  });
  const auto [kernel, line] = likeliest_process(table, choice, settings);
  learned.kernel = kernel, learned.line = line_given(table, kernel, line);
  return learned;
}

// Rows that did not choose the kernel are judged.
Learned learned_by_nearest(const ProcessRows& table, const Trend& trend, const KernelChoice& choice,
                           const std::vector<Index>& choosing, const std::vector<Index>& judged,
                           const NeighbourOptions& options) {
  const Matrix& rows = table.rows;
  Learned learned{likeliest_kernel(table, trend.left, trend.left_out, choosing, choice), {trend.weights, {}}, {}, {}};
  learned.line.covariance = trend.covariance(rows, learned.kernel, options.seed);
  Vector mean(std::ssize(judged)), spread = mean;
  Matrix apart;
  believe(learned.kernel, learned.line.covariance, NearestRows(learned.kernel.scaled(rows)), rows, trend.left,
          table.weights, rows(judged, Eigen::all), judged, options.jobs, mean, spread, &apart);
  learned.errors = trend.left(judged) - mean + trend.change(rows, judged, apart);
  learned.spread = spread;
  return learned;
}

// Of so many rows some that choose the kernel, in order, and those that are judged.
struct Roles {
  std::vector<Index> choosing, judged;
  Roles(Index rows, std::uint64_t seed) {
    boost::random::mt19937_64 random(seed);
    const bool is_exact = rows <= Neighbours::kMostExactRows;
    const std::vector<Index> order = drawn(rows, rows, random);
    const auto first = order.begin() + (is_exact ? 0 : kChoosing);
    choosing.assign(order.begin(), first);
    judged.assign(first, rows > kEnoughJudged ? first + kJudgedSample : order.end());
    std::ranges::sort(choosing), std::ranges::sort(judged);
  }
};

}  // namespace

Neighbours::Neighbours(Memory memory) : memory_(std::move(memory)) { prepare(); }

void Neighbours::prepare() {
  values_ = memory_.targets;
  search_.clear(), processes_.clear();
  for (std::size_t k = 0; k < memory_.outputs.size(); ++k) {
    const Output& output = memory_.outputs[k];
    const auto values = values_.col(static_cast<Index>(k));
    if (memory_.rows.rows() <= kMostExactRows) {
      processes_.emplace_back(ProcessRows{memory_.rows, values, memory_.weights}, output.kernel,
                              LinePosterior{output.trend, output.trend_covariance});
      continue;
    }
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
  Roles roles(count, options.seed);
  const std::vector<Index>& judged = roles.judged;
  const auto size = std::ssize(judged);
  const Matrix judged_targets = targets(judged, Eigen::all);
  const Vector judged_weights = weights_of(weights, judged);
  PredictionComponent left_out{judged_targets, Matrix(size, outputs), Matrix(size, outputs)};
  std::vector<bool> is_learned;
  std::vector<Output> learned;
  const auto told = [&](double fraction) {
    if (options.on_stage) options.on_stage({"neighbours", fraction});
  };
  for (Index k = 0; k < outputs; ++k) {
    const double least = options.least_noise.size() > 0 ? options.least_noise(k) : kLeastNoiseVariance;
    const ProcessRows table{rows, targets.col(k), weights};
    KernelChoice choice = choice_for(table, false, least, options);
    choice.by_column = rows.cols() > 1 && static_cast<double>(count) >= kRowsPerLengthscale * choice.relevance.sum();
    choice.told = told;
    const Trend trend = Trend::fit(rows, table.targets, weights, choice.relevance);
    const double variance = weighted_sum(trend.left_out.cwiseAbs2(), weights) / total_weight(count, weights);
    is_learned.push_back(variance > std::max(kNothing, least));
    Learned found{{Vector::Ones(rows.cols()), 0, std::max(variance, least)}, {trend.weights, {}}, trend.left_out(judged),
                  Vector::Zero(size)};
    if (is_learned.back())
      found = count <= kMostExactRows
                  ? learned_by_all(table, choice, options, told)
                  : learned_by_nearest(table, trend, choice, roles.choosing, judged, options);
    left_out.mean.col(k) -= found.errors;
    left_out.epistemic_sd.col(k) = found.spread.cwiseSqrt();
    left_out.noise_sd.col(k).setConstant(std::sqrt(found.kernel.noise));
    learned.push_back({found.line.mean, found.kernel, {}, 0, found.line.covariance});
  }
  left_out.tails = tails_of({{}, judged_targets, judged_weights},
                            {left_out.mean, left_out.epistemic_sd.cwiseAbs2(), left_out.noise_sd.cwiseAbs2()});
  for (Index k = 0; k < outputs; ++k) {
    const auto at = static_cast<std::size_t>(k);
    if (is_learned[at]) left_out.tails[at].scale *= covering_factor({left_out}, judged_targets, k, judged_weights);
    learned[at].tails = left_out.tails[at];
  }
  return {Neighbours({std::move(rows), std::move(targets), std::move(learned), std::move(weights)}),
          std::move(roles.judged), std::move(left_out), std::move(is_learned)};
}

PredictionComponent Neighbours::predict(const Matrix& rows) const { return believed(rows, {}, all_processors()); }

PredictionComponent Neighbours::left_out(std::size_t jobs) const {
  if (!processes_.empty()) fail("neighbours: left-out rows of {} rows are those of their fit", memory_.rows.rows());
  std::vector<Index> all(static_cast<std::size_t>(memory_.rows.rows()));
  std::iota(all.begin(), all.end(), Index{0});
  return believed(memory_.rows, all, jobs);
}

PredictionComponent Neighbours::believed(const Matrix& rows, std::span<const Index> own, std::size_t jobs) const {
  const auto outputs = static_cast<Index>(memory_.outputs.size());
  PredictionComponent all{Matrix(rows.rows(), outputs), Matrix(rows.rows(), outputs), Matrix(rows.rows(), outputs),
                          fractions().transpose().replicate(rows.rows(), 1)};
  for (Index k = 0; k < outputs; ++k) {
    const auto at = static_cast<std::size_t>(k);
    const Output& output = memory_.outputs[at];
    if (!processes_.empty()) {
      by_blocks(rows.rows(), jobs, [&](Index begin, Index size) {
        const auto [mean, variance] = processes_[at].at(rows.middleRows(begin, size));
        all.mean.col(k).segment(begin, size) = mean, all.epistemic_sd.col(k).segment(begin, size) = variance;
      });
    } else {
      believe(output.kernel, output.trend_covariance, search_[at], memory_.rows, values_.col(k), memory_.weights, rows,
              own, jobs, all.mean.col(k), all.epistemic_sd.col(k));
      all.mean.col(k) += Trend::at(output.trend, rows);
    }
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
