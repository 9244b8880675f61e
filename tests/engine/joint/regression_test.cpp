// Logistic and Poisson regression by the joint solver against full-covariance EP written out here (probit:
// sites_test.cpp).
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tests/engine/joint/joint_models.h"
#include "tests/oracles/plain_matrix.h"

namespace {

using namespace dma;
using namespace dma::joint_test;
using oracle::PlainMatrix, oracle::largest_difference;

constexpr int kRows = 500, kInputs = 20;
constexpr double kPrior = 0.5;

PlainMatrix inputs() {
  PlainMatrix x(kRows, kInputs);
  for (int r = 0; r < kRows; ++r)
    for (int i = 0; i < kInputs; ++i)
      x(r, i) = 0.7 * std::sin(1.0 + 0.7 * r + 1.3 * i + 0.01 * r * i) + 0.4 * std::cos(0.11 * r * (i + 1));
  return x;
}
double linear_predictor(const PlainMatrix& x, int r) {
  double total = 0;
  for (int i = 0; i < kInputs; ++i) total += x(r, i) * 0.4 * std::cos(0.9 * i);
  return total;
}

// Mean and variance of N(z; m, v) exp(log_f(z)), on an even grid that is refined around the mass.
template <class F>
std::pair<double, double> tilted(const F& log_f, double m, double v) {
  constexpr int kPoints = 601;
  double low = m - 12 * std::sqrt(v), high = m + 12 * std::sqrt(v), mean = m, variance = v;
  for (int zoom = 0; zoom < 20; ++zoom) {
    const double step = (high - low) / (kPoints - 1);
    std::array<double, kPoints> weight;
    for (int i = 0; i < kPoints; ++i) {
      const double z = low + i * step;
      weight[i] = log_f(z) - 0.5 * (z - m) * (z - m) / v;
    }
    const double largest = *std::ranges::max_element(weight);
    double sum = 0, first = 0, second = 0;  // about the middle
    for (int i = 0; i < kPoints; ++i) {
      const double p = std::exp(weight[i] - largest), at = (i - kPoints / 2) * step;
      sum += p, first += p * at, second += p * at * at;
    }
    mean = low + kPoints / 2 * step + first / sum, variance = second / sum - first / sum * (first / sum);
    const double sd = std::max(std::sqrt(variance), step);
    if (sd > 8 * step) break;
    low = mean - 12 * sd, high = mean + 12 * sd;
  }
  return {mean, variance};
}

struct Ep {
  PlainMatrix mean, covariance;
};

// One site after the other, each against the marginal without it; log_f(row, z).
template <class F>
Ep full_covariance_ep(const PlainMatrix& x, const F& log_f) {
  PlainMatrix tau(kRows, 1), rho = tau;
  Ep ep{PlainMatrix(kInputs, 1), kPrior * PlainMatrix::identity(kInputs)};
  for (int sweep = 0; sweep < 30; ++sweep) {
    double change = 0;
    for (int r = 0; r < kRows; ++r) {
      const PlainMatrix a = x.row(r).transpose(), ca = ep.covariance * a;
      const double v = dot(a, ca), m = dot(a, ep.mean), cv = 1 / (1 / v - rho[r]), cm = cv * (m / v - tau[r]);
      const auto [mean, variance] = tilted([&](double z) { return log_f(r, z); }, cm, cv);
      const double new_rho = 1 / variance - 1 / cv, new_tau = mean / variance - cm / cv, step = new_rho - rho[r];
      const double tau_step = new_tau - tau[r];
      change = std::max(change, std::abs(mean - m) / std::sqrt(v));
      ep.covariance -= step / (1 + step * v) * ca * ca.transpose();
      ep.mean += (tau_step - step * m) / (1 + step * v) * ca;
      rho[r] = new_rho, tau[r] = new_tau;
    }
    // Recomputed, so that rounding does not accumulate.
    ep.covariance = (weighted_square(x, rho) + (1 / kPrior) * PlainMatrix::identity(kInputs)).inverse();
    ep.mean = ep.covariance * (x.transpose() * tau);
    if (change < 1e-7) break;
  }
  return ep;
}

void check_equal(const char* likelihood, const PlainMatrix& x, const std::vector<double>& y, const Ep& exact) {
  Graph g;
  const VariableId w = g.variable("w", kInputs), z = g.variable("z", kRows), seen = g.observed("y", kRows);
  g.factor("gaussian_prior", {w}, {{"mean", 0.0}, {"variance", kPrior}});
  g.factor("linear", {column(w), z}, {{"A", x.values()}});
  g.factor(likelihood, {z, seen});
  const Plan plan = compile(g, joint(), standard_registry());
  State state(plan);
  state.observe(seen, y);
  const Report report = run(plan, state);
  CAPTURE(report.line());
  CHECK(report.stop == Report::Stop::converged);
  CHECK(report.faults == 0);
  CHECK(report.replaced == 0);
  const JointPosterior posterior(state);
  const PlainMatrix mean = posterior.mean(w), variance = exact.covariance.diagonal();
  for (int i = 0; i < kInputs; ++i) CHECK(std::abs(mean[i] - exact.mean[i]) < 1e-5 * std::sqrt(variance[i]));
  CHECK(largest_difference(posterior.covariance(w, w), exact.covariance) < 1e-5 * largest_size(variance));
}

}  // namespace

TEST_CASE("joint: logistic regression, 500 rows of 20 inputs, is full-covariance EP") {
  const PlainMatrix x = inputs();
  std::vector<double> y;
  for (int r = 0; r < kRows; ++r) y.push_back(linear_predictor(x, r) + 1.5 * std::sin(12.9898 * r) > 0 ? 1 : 0);
  const Ep exact = full_covariance_ep(
      x, [&](int r, double z) { return -std::log1p(std::exp(y[static_cast<std::size_t>(r)] > 0 ? -z : z)); });
  check_equal("logistic", x, y, exact);
}

TEST_CASE("joint: Poisson regression, 500 rows of 20 inputs, is full-covariance EP") {
  const PlainMatrix x = inputs();
  std::vector<double> y;
  for (int r = 0; r < kRows; ++r)
    y.push_back(std::floor(std::exp(linear_predictor(x, r)) * (1 + 0.8 * std::sin(12.9898 * r)) + 0.5));
  const Ep exact =
      full_covariance_ep(x, [&](int r, double z) { return y[static_cast<std::size_t>(r)] * z - std::exp(z); });
  check_equal("poisson", x, y, exact);
}
