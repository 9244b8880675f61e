#include "models/neighbours/neighbours.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <optional>

#include "engine/learn/gaussian/posterior.h"
#include "engine/support/parallel.h"
#include "engine/support/shuffle.h"
#include "engine/support/text.h"
#include "models/table/deal_rows.h"
#include "models/table/relevance.h"

namespace dma {

namespace {

constexpr Index kFewestToLearn = 50, kMostColumns = 500;
constexpr double kMostKeptNumbers = 2e7;    // numbers of a table: 160 MB, twice
constexpr double kMostSearched = 1e11;      // products, of all rows with all rows, where no tree helps
constexpr double kRowsPerLengthscale = 20;  // fewer: one shift of all lengthscales
// Parts of the rows that are judged by kernels of the others: more where that takes no time.
constexpr std::size_t kParts = 2, kPartsOfFew = 4;
constexpr Index kFewRows = 500;
constexpr Index kChoosing = 600;                              // rows of a large table that choose its kernel
constexpr Index kEnoughJudged = 20000, kJudgedSample = 5000;  // above the first, a sample of the second is judged

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

// Beliefs of the process about points by their nearest rows. With `own` the points are rows of these numbers, each left
// out of its own neighbours. An error of the line counts by `apart`: as far as the neighbours do not share it.
struct NearBeliefs {
  Vector mean, variance;
  Matrix apart;
};
NearBeliefs believed_by_nearest(const NeighbourKernel& kernel, const NearestRows& search, const Matrix& rows,
                                const Vector& values, const Vector& weights, const Matrix& points,
                                std::span<const Index> own, std::size_t jobs) {
  const Index count = points.rows();
  NearBeliefs all{Vector(count), Vector(count), with_constant(points)};
  by_blocks(count, jobs, [&](Index begin, Index size) {
    const auto some = points.middleRows(begin, size);
    const IndexMatrix nearest = search.find(kernel.scaled(some), Neighbours::kNeighbours, part_of(own, begin, size));
    RowConditional conditional(kernel, rows, values, weights);
    for (Index i = 0; i < size; ++i) {
      const RowConditional::Belief belief = conditional.at(some.row(i), nearest.col(i));
      all.mean(begin + i) = belief.mean, all.variance(begin + i) = belief.variance;
      const Matrix near = with_constant(rows(nearest.col(i), Eigen::all));
      all.apart.row(begin + i) -= transposed_times(near, conditional.weights());
    }
  });
  return all;
}

// Model of one output, with errors and variances of its judged rows, each left out.
struct Learned {
  NeighbourKernel kernel;
  Line line;
  Vector errors, spread;
  std::optional<TableProcess> process = {};
};

KernelChoice choice_for(const Matrix& rows, const Vector& targets, const Vector& weights, bool by_column,
                        double least_noise, const NeighbourOptions& options) {
  Vector relevance = relevance_of(rows, targets, options.seed, weights);
  if (relevance.size() == 0) relevance = Vector::Ones(rows.cols());
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
    settings[part] = likeliest_process(
        rest, choice_for(rest.rows, rest.targets, rest.weights, choice.by_column, choice.least_noise, options));
    const ProcessBeliefs found = left_out(table, settings[part].kernel, settings[part].line, own);
    for (std::size_t i = 0; i < own.size(); ++i) {
      learned.errors(own[i]) = table.targets(own[i]) - found.mean(static_cast<Index>(i));
      learned.spread(own[i]) = found.variance(static_cast<Index>(i));
    }
    told(static_cast<double>(++done) / static_cast<double>(parts + 1));
  });
  const auto [kernel, line] = likeliest_process(table, choice, settings);
  learned.process.emplace(table, kernel, line);
  learned.kernel = kernel, learned.line = learned.process->line();
  return learned;
}

// Rows that did not choose the kernel are judged; together they tell the line. With q = apart.S apart, S the covariance
// of the line, t the variance of a row's error without the line and h = q / t, leaving that row out divides its error
// by 1 - h, and so it does q.
Learned learned_by_nearest(const Matrix& rows, const Vector& targets, const Vector& weights, const KernelChoice& choice,
                           const std::vector<Index>& choosing, const std::vector<Index>& judged) {
  const ProcessRows some{rows(choosing, Eigen::all), targets(choosing), weights_of(weights, choosing)};
  const KernelNumbers::Setting start = likeliest_process(some, choice);
  const Line first = TableProcess(some, start.kernel, start.line).line();
  const Vector values = targets - times(with_constant(rows), first.mean);
  const NeighbourKernel kernel = likeliest_kernel(rows, values, weights, choosing, start, choice);
  const NearBeliefs found = believed_by_nearest(kernel, NearestRows(kernel.scaled(rows)), rows, values, weights,
                                                rows(judged, Eigen::all), judged, choice.jobs);
  Vector noise = Vector::Constant(std::ssize(judged), kernel.noise);
  if (weights.size() > 0) noise = noise.cwiseQuotient(weights(judged));
  const Vector errors = values(judged) - found.mean, variances = found.variance + noise;
  const Line line = line_given(start.line, first.mean, {found.apart, errors, variances});
  const Eigen::ArrayXd of_line = row_products(product_of(found.apart, line.covariance), found.apart),
                       others = 1 - of_line / variances.array();
  return {kernel, line, (errors - times(found.apart, line.mean - first.mean)).array() / others,
          found.variance.array() + of_line / others};
}

// Numbers of the rows that choose the kernel, and of those that are judged, in ascending order.
struct Roles {
  std::vector<Index> choosing, judged;
  Roles(Index rows, bool is_exact, std::uint64_t seed) {
    const std::vector<Index> order = random_order(rows, seed);
    const auto first = order.begin() + (is_exact ? 0 : kChoosing);
    choosing.assign(order.begin(), first);
    judged.assign(first, rows > kEnoughJudged ? first + kJudgedSample : order.end());
    std::ranges::sort(choosing), std::ranges::sort(judged);
  }
};

}  // namespace

Neighbours::Neighbours(Memory memory, std::vector<TableProcess> processes)
    : memory_(std::move(memory)), processes_(std::move(processes)) {
  const auto& [rows, targets, outputs, weights] = memory_;
  const bool by_all = is_exact(rows.rows(), targets.cols());
  if (!processes_.empty()) return;
  if (!by_all) values_ = targets;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const Output& output = outputs[k];
    const auto column = static_cast<Index>(k);
    if (by_all) {
      processes_.emplace_back(ProcessRows{rows, targets.col(column), weights}, output.kernel,
                              Line{output.trend, output.trend_covariance}, all_processors());
    } else {
      values_.col(column) -= times(with_constant(rows), output.trend);
      search_.emplace_back(output.kernel.scaled(rows));
    }
  }
}

// A process of n rows is kept as n^2 numbers.
bool Neighbours::is_exact(Index rows, Index outputs) {
  constexpr double kMostNumbers = 1.6e7;
  const auto n = static_cast<double>(rows);
  return rows <= kMostExactRows && n * n * static_cast<double>(outputs) <= kMostNumbers;
}

bool Neighbours::suits(Index rows, Index columns, Index outputs) {
  const auto n = static_cast<double>(rows), d = static_cast<double>(columns);
  return rows >= std::max(kFewestToLearn, 2 * columns) && columns <= kMostColumns &&
         n * (d + static_cast<double>(outputs)) <= kMostKeptNumbers &&
         (columns <= NearestRows::kMostTreeColumns || n * n * d <= kMostSearched);
}

Neighbours::Fit Neighbours::fit(Matrix rows, Matrix targets, const NeighbourOptions& options, Vector weights) {
  const Index count = rows.rows(), outputs = targets.cols();
  const bool by_all = is_exact(count, outputs);
  Roles roles(count, by_all, options.seed);
  const std::vector<Index>& judged = roles.judged;
  const auto size = std::ssize(judged);
  const Matrix judged_targets = targets(judged, Eigen::all);
  const Vector judged_weights = weights_of(weights, judged);
  PredictionComponent left_out{judged_targets, Matrix(size, outputs), Matrix(size, outputs)};
  std::vector<bool> is_learned;
  std::vector<Output> learned;
  std::vector<TableProcess> processes;
  const auto told = [&](double fraction) {
    if (options.on_stage) options.on_stage({"neighbours", fraction});
  };
  for (Index k = 0; k < outputs; ++k) {
    const double least = options.least_noise.size() > 0 ? options.least_noise(k) : kLeastNoiseVariance;
    const Vector own_targets = targets.col(k);
    KernelChoice choice = choice_for(rows, own_targets, weights, false, least, options);
    choice.by_column = rows.cols() > 1 && static_cast<double>(count) >= kRowsPerLengthscale * choice.relevance.sum();
    choice.told = told;
    const double variance = weighted_sum(own_targets.cwiseAbs2(), weights) / total_weight(count, weights);
    is_learned.push_back(variance > least);
    Learned found{{Vector::Ones(rows.cols()), 0, least},
                  {Vector::Zero(rows.cols() + 1), {}},
                  own_targets(judged),
                  Vector::Zero(size)};
    if (by_all) {
      const ProcessRows table{rows, own_targets, weights};
      if (is_learned.back()) found = learned_by_all(table, choice, options, told);
      if (!found.process) found.process.emplace(table, found.kernel, found.line);
      processes.push_back(std::move(*found.process));
    } else if (is_learned.back()) {
      found = learned_by_nearest(rows, own_targets, weights, choice, roles.choosing, judged);
    }
    left_out.mean.col(k) -= found.errors;
    left_out.epistemic_sd.col(k) = found.spread.cwiseSqrt();
    left_out.noise_sd.col(k).setConstant(std::sqrt(found.kernel.noise));
    learned.push_back({found.line.mean, found.kernel, {}, 0, found.line.covariance});
  }
  left_out.tails = tails_of({{}, judged_targets, judged_weights, {}, options.least_noise},
                            {left_out.mean, left_out.epistemic_sd.cwiseAbs2(), left_out.noise_sd.cwiseAbs2()});
  for (Index k = 0; k < outputs; ++k) {
    const auto at = static_cast<std::size_t>(k);
    if (is_learned[at]) left_out.tails[at].scale *= covering_factor({left_out}, judged_targets, k, judged_weights);
    learned[at].tails = left_out.tails[at];
  }
  return {
      Neighbours({std::move(rows), std::move(targets), std::move(learned), std::move(weights)}, std::move(processes)),
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
      const auto& [mean, variance, apart] = believed_by_nearest(output.kernel, search_[at], memory_.rows,
                                                                values_.col(k), memory_.weights, rows, own, jobs);
      all.mean.col(k) = mean + times(with_constant(rows), output.trend);
      all.epistemic_sd.col(k) = variance;
      if (output.trend_covariance.size() > 0)
        all.epistemic_sd.col(k) += row_products(product_of(apart, output.trend_covariance), apart).cwiseMax(0);
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
  *this = Neighbours(std::move(memory_));
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
