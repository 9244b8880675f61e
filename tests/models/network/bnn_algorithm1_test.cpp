#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "models/network/bnn.h"
#include "tests/oracles/algorithm1.h"
#include "tools/dma/io/paper_tasks.h"

namespace {

using namespace dma;

// Both sides round differently in thousands of dependent updates; the paper's formulas on the oracle's side also
// cancel.
constexpr double kTolerance = 1e-9;

std::vector<std::vector<double>> rows_of(const Eigen::MatrixXd& m) {
  std::vector<std::vector<double>> rows;
  for (Eigen::Index i = 0; i < m.rows(); ++i) {
    const Eigen::RowVectorXd row = m.row(i);
    rows.emplace_back(row.data(), row.data() + row.size());
  }
  return rows;
}

// The worst difference of a network with fused factors and of one without.
double worst_difference(const validation::PaperTask& task, std::uint64_t seed, std::size_t batches) {
  constexpr int kEpochs = 3;
  std::optional<oracle::Algorithm1> plain;
  double worst = 0;
  for (const bool fuse : {true, false}) {
    Bnn net({.layers = task.layers,
             .slopes = task.slopes,
             .noise = task.noise,
             .bias = false,
             .standardise = false,
             .method = "dma",
             .seed = seed,
             .shuffle = false,
             .fuse = fuse});
    std::vector<std::vector<double>> prior_mean, prior_variance;
    for (std::size_t l = 0; l + 1 < task.layers.size(); ++l) {
      prior_mean.push_back(net.prior(l).mean);
      prior_variance.push_back(net.prior(l).variance);
    }
    if (!plain) {
      plain.emplace(std::vector<int>(task.layers.begin(), task.layers.end()), task.slopes, prior_mean, prior_variance,
                    task.noise * task.noise, static_cast<int>(batches));
      for (int e = 0; e < kEpochs; ++e) plain->epoch(rows_of(task.inputs), rows_of(task.targets));
    }
    const FitReport report =
        net.fit(task.inputs, task.targets, {.batches = batches, .epochs = kEpochs, .tolerance = 0});
    CHECK(report.members[0].faults == 0);
    for (std::size_t l = 0; l + 1 < task.layers.size(); ++l) {
      const auto weights = net.weights(l);
      for (std::size_t k = 0; k < weights.size(); ++k) {
        CHECK(weights[k].rho >= 1 / prior_variance[l][k]);
        const double mean = plain->tau[l][k] / plain->rho[l][k], sd = 1 / std::sqrt(plain->rho[l][k]);
        worst = std::max({worst, std::abs(weights[k].rho / plain->rho[l][k] - 1),
                          std::abs(weights[k].mean() - mean) / std::max(std::abs(mean), sd)});
      }
    }
  }
  return worst;
}

}  // namespace

TEST_CASE("bnn: every weight belief of 8-6-5-1 after 3 epochs equals plain loops of Algorithm 1") {
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u, 5u})
    CHECK(worst_difference(validation::small_task(seed), seed, 10) < kTolerance);
}

TEST_CASE("bnn: every weight belief of 6-6-12-48-24-4 after 3 epochs equals plain loops of Algorithm 1") {
  CHECK(worst_difference(validation::large_task(1), 1, 100) < kTolerance);
}
