#include "tools/experiments/baselines/chain_diagnostics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/support/error.h"

namespace dma::baselines {

namespace {

double mean(const std::vector<double>& x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

}  // namespace

ChainDiagnostics diagnose(const std::vector<std::vector<double>>& chains) {
  if (chains.empty() || chains[0].size() < 4) fail("a diagnosis needs chains of at least 4 draws");
  std::vector<std::vector<double>> halves;
  const std::size_t n = chains[0].size() / 2;
  for (const auto& chain : chains) {
    if (chain.size() != chains[0].size())
      fail("chains of different lengths: {} and {}", chains[0].size(), chain.size());
    halves.emplace_back(chain.begin(), chain.begin() + static_cast<std::ptrdiff_t>(n));
    halves.emplace_back(chain.end() - static_cast<std::ptrdiff_t>(n), chain.end());
  }
  const auto count = static_cast<double>(n), m = static_cast<double>(halves.size());
  std::vector<double> means;
  double within = 0;
  for (auto& half : halves) {
    means.push_back(mean(half));
    for (double& x : half) x -= means.back();  // from here on, deviations
    within += std::inner_product(half.begin(), half.end(), half.begin(), 0.0) / (count - 1) / m;
  }
  const double centre = mean(means);
  double between = 0;
  for (const double x : means) between += (x - centre) * (x - centre) / (m - 1);
  const double pooled = (count - 1) / count * within + between;
  if (!(within > 0)) return {between > 0 ? INFINITY : 1, between > 0 ? 0 : m * count};
  // Geyer's initial monotone sequence: sums of pairs of autocorrelations, until one is negative, none larger than the
  // last.
  const auto autocorrelation = [&](std::size_t lag) {
    double covariance = 0;
    for (const auto& half : halves)
      covariance += std::inner_product(half.begin() + static_cast<std::ptrdiff_t>(lag), half.end(), half.begin(), 0.0) /
                    count / m;
    return 1 - (within - covariance) / pooled;
  };
  double sum = 0, last = INFINITY;
  for (std::size_t lag = 0; lag + 1 < n; lag += 2) {
    const double pair = (lag == 0 ? 1 : autocorrelation(lag)) + autocorrelation(lag + 1);
    if (pair < 0) break;
    last = std::min(last, pair);
    sum += last;
  }
  const double draws = m * count;
  return {std::sqrt(pooled / within),
          std::min(draws * std::log10(draws), draws / std::max(2 * sum - 1, 1 / std::log10(draws)))};
}

}  // namespace dma::baselines
