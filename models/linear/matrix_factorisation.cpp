#include "models/linear/linear_models.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "engine/joint/joint.h"
#include "engine/support/text.h"
#include "factors/standard_registry.h"
#include "models/linear/factorisation_graph.h"

namespace dma {

namespace {

constexpr double kSettled = 1e-4;  // relative change of the variances
constexpr int kMostSolves = 2000;  // with much noise the last steps are small
constexpr int kMostRounds = 500;   // rounds of learning the variances
constexpr double kLeastNoise = 1e-10, kLeastFactor = 1e-8;  // in units of the values' mean square

Eigen::MatrixXd as_matrix(const std::vector<double>& numbers, Eigen::Index rows) {
  using ByRows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<const ByRows>(numbers.data(), rows, static_cast<Eigen::Index>(numbers.size()) / rows);
}

// Variance that a linear view of products omits: of the sum over r of du(r) dv(r), both with mean 0.
Eigen::MatrixXd variance_of_products(const FactorGraph& graph, const State& state, Eigen::Index rows,
                                     Eigen::Index columns, Eigen::Index rank) {
  const JointPosterior posterior(state);
  const Eigen::MatrixXd uu = posterior.covariance(graph.u, graph.u), vv = posterior.covariance(graph.v, graph.v),
                        uv = posterior.covariance(graph.u, graph.v);
  Eigen::MatrixXd variance(rows, columns);
  for (Eigen::Index i = 0; i < rows; ++i)
    for (Eigen::Index j = 0; j < columns; ++j) {
      const auto of_u = uu.block(i * rank, i * rank, rank, rank), of_v = vv.block(j * rank, j * rank, rank, rank),
                 between = uv.block(i * rank, j * rank, rank, rank);
      variance(i, j) = of_u.cwiseProduct(of_v).sum() + between.cwiseProduct(between.transpose()).sum();
    }
  return variance.cwiseMax(0);
}

// The values row by row, and their mean square over those present.
struct Seen {
  std::vector<std::optional<double>> values;
  double count = 0, squares = 0;

  explicit Seen(const Eigen::MatrixXd& table) {
    for (Eigen::Index i = 0; i < table.rows(); ++i)
      for (Eigen::Index j = 0; j < table.cols(); ++j) {
        const double value = table(i, j);
        if (std::isinf(value))
          fail("factorise: the value in row {}, column {} is {}; a finite number is expected, or NaN if it is missing",
               i + 1, j + 1, value);
        values.push_back(std::isnan(value) ? std::nullopt : std::optional(value));
        if (values.back()) {
          ++count;
          squares += value * value;
        }
      }
    if (count == 0) fail("factorise: all {} values are missing; at least one is expected", values.size());
  }
  VarianceOf noise(const Belief& entry) const {
    VarianceOf rest;
    for (std::size_t e = 0; e < values.size(); ++e)
      if (values[e]) rest.add(*values[e] - entry.mean(e), entry.variance(e));
    return rest;
  }
};

void check_factorisation(const FactorisationOptions& options) {
  if (options.rank == 0) fail("factorise: the rank is 0; at least 1 is expected");
  if (options.starts < 1) fail("factorise: {} starts; at least 1 is expected", options.starts);
  for (const auto& given : {options.noise_variance, options.factor_variance})
    if (given && !(*given > 0 && std::isfinite(*given)))
      fail("factorise: a variance of {} is given; a finite number above 0 is expected, or none to have it learned",
           *given);
}

struct SolvedFactors {
  State state;
  Report report;
};

// Solves from each start and keeps the result that explains the values best.
SolvedFactors most_probable(const FactorGraph& graph, const Seen& seen, const FactorisationOptions& options,
                            double noise, double factor) {
  std::optional<SolvedFactors> best;
  for (int start = 0; start < options.starts; ++start) {
    const std::uint64_t seed = std::max<std::uint64_t>(1, options.seed) + static_cast<std::uint64_t>(start);
    // The factors may be rotated, so their posterior is not Gaussian; only their products are used.
    const JointOptions solver{.limit = kMostSolves, .start_seed = seed, .check_draws = 0};
    State state(compile(graph.graph, joint(solver), standard_registry()));
    state.observe(graph.y, seen.values);
    graph.set_variances(state, noise, factor);
    const Report report = run(state.plan(), state);
    const auto is_better = [&](const Report& than) {
      if (report.converged() != than.converged()) return report.converged();
      return report.joint->objective < than.joint->objective;
    };
    if (!best || is_better(best->report)) best.emplace(SolvedFactors{std::move(state), report});
  }
  return *std::move(best);
}

}  // namespace

Factorisation factorise(const Eigen::MatrixXd& values, const FactorisationOptions& options) {
  check_factorisation(options);
  const Seen seen(values);
  const double size = seen.squares > 0 ? seen.squares / seen.count : 1;
  const auto rank = static_cast<Eigen::Index>(options.rank);
  const FactorGraph graph(static_cast<std::size_t>(values.rows()), static_cast<std::size_t>(values.cols()),
                          options.rank);
  const double first_factor = options.factor_variance.value_or(std::sqrt(size / static_cast<double>(rank))),
               first_noise = options.noise_variance.value_or(0.1 * size);
  SolvedFactors best = most_probable(graph, seen, options, first_noise, first_factor);

  Factorisation result{{},          {},           {}, {},
                       first_noise, first_factor, {}, options.noise_variance && options.factor_variance};
  for (int round = 0; round < kMostRounds && !result.settled; ++round) {
    const VarianceOf noises = seen.noise(best.state.belief(graph.entry)), factors = graph.factors(best.state);
    const double noise =
        options.noise_variance.value_or(std::max(kLeastNoise * size, noises.variance(result.noise_variance)));
    const double factor = options.factor_variance.value_or(
        std::max(kLeastFactor * std::sqrt(size), factors.variance(result.factor_variance)));
    result.settled = std::abs(noise - result.noise_variance) <= kSettled * noise &&
                     std::abs(factor - result.factor_variance) <= kSettled * factor;
    result.noise_variance = noise;
    result.factor_variance = factor;
    graph.set_variances(best.state, noise, factor);
    best.report = run(best.state.plan(), best.state, {.warm = true});
  }
  result.report = best.report;
  result.rows = as_matrix(best.state.belief(graph.u).means(), values.rows());
  result.columns = as_matrix(best.state.belief(graph.v).means(), values.cols());
  const Belief entry = best.state.belief(graph.entry);
  result.mean = as_matrix(entry.means(), values.rows());
  result.sd = (as_matrix(entry.variances(), values.rows()) +
               variance_of_products(graph, best.state, values.rows(), values.cols(), rank))
                  .cwiseSqrt();
  return result;
}

}  // namespace dma
