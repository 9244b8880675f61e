// Expectation propagation with the full covariance of the weights, as in Rasmussen and Williams, section 3.6.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "tests/oracles/plain_matrix.h"

namespace dma::oracle {

// For w ~ N(0, prior I) and a likelihood of y given f = x . w per row. A site exp(tau f - rho f^2 / 2) per row is
// refreshed after the other; tilted moments are sums by the trapezoidal rule. The evidence is EP's energy and, over
// pairs of rows that `are_paired`, the second-order terms of third and fourth cumulants.
struct DenseEp {
  DenseEp(
      const PlainMatrix& x, const PlainMatrix& y, double prior,
      const std::function<double(double f, double y)>& log_likelihood,
      const std::function<bool(std::size_t, std::size_t)>& are_paired = [](auto, auto) { return true; });
  PlainMatrix mean, covariance;
  double log_evidence = 0;
};

inline DenseEp::DenseEp(const PlainMatrix& x, const PlainMatrix& y, double prior,
                        const std::function<double(double, double)>& log_likelihood,
                        const std::function<bool(std::size_t, std::size_t)>& are_paired)
    : mean(x.columns(), 1), covariance(prior * PlainMatrix::identity(x.columns())) {
  const std::size_t n = x.rows(), d = x.columns();
  PlainMatrix tau(n, 1), rho(n, 1), third(n, 1), fourth(n, 1), information, pull;
  double change = 1;
  for (int sweep = 0; sweep < 60 && change > 1e-11; ++sweep) {
    change = log_evidence = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const PlainMatrix row = x.row(i).transpose(), seen = covariance * row;
      const double m = dot(row, mean), v = dot(row, seen), cavity_rho = 1 / v - rho[i], cavity_tau = m / v - tau[i];
      double mass = 0, first = 0, second = 0;
      const auto for_each_node = [&](const auto& visit) {
        for (double z = -9; z <= 9; z += 0.05) {
          const double f = cavity_tau / cavity_rho + z / std::sqrt(cavity_rho);
          visit(f, std::exp(-0.5 * z * z + log_likelihood(f, y[i])));
        }
      };
      for_each_node([&](double f, double p) { mass += p, first += p * f, second += p * f * f; });
      const double tilted = first / mass, variance = second / mass - tilted * tilted;
      third[i] = 0, fourth[i] = -3;
      for_each_node([&](double f, double p) {
        const double off = (f - tilted) / std::sqrt(variance);
        third[i] += p * std::pow(off, 3) / mass, fourth[i] += p * std::pow(off, 4) / mass;
      });
      const double more_rho = 1 / variance - cavity_rho - rho[i], more_tau = tilted / variance - cavity_tau - tau[i];
      change = std::max({change, std::abs(more_rho), std::abs(more_tau)});
      mean += (more_tau - more_rho * m) / (1 + more_rho * v) * seen;
      covariance -= (more_rho / (1 + more_rho * v)) * seen * seen.transpose();
      rho[i] += more_rho, tau[i] += more_tau;
      // The integral of the row's likelihood under its cavity, over that of its site.
      log_evidence += std::log(0.05 * mass / std::sqrt(2 * std::numbers::pi)) - 0.5 * std::log(cavity_rho * variance) -
                      0.5 * tilted * tilted / variance + 0.5 * cavity_tau * cavity_tau / cavity_rho;
    }
    // Removes the rounding of updates.
    information = weighted_square(x, rho) + (1 / prior) * PlainMatrix::identity(d);
    pull = x.transpose() * tau;
    covariance = information.inverse(), mean = covariance * pull;
  }
  log_evidence += 0.5 * (dot(mean, pull) - information.log_determinant() - static_cast<double>(d) * std::log(prior));
  const PlainMatrix between = x * covariance * x.transpose();
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (are_paired(i, j)) {
        const double c = between(i, j) / std::sqrt(between(i, i) * between(j, j));
        log_evidence += std::pow(c, 3) * third[i] * third[j] / 6 + std::pow(c, 4) * fourth[i] * fourth[j] / 24;
      }
}

}  // namespace dma::oracle
