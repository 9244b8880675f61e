// Logistic and Poisson regression by the joint solver against full-covariance EP written out here (probit:
// sites_test.cpp).
#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <cmath>

#include "tests/engine/joint/joint_models.h"

namespace {

using namespace dma;
using namespace dma::joint_test;

constexpr int kRows = 500, kInputs = 20;
constexpr double kPrior = 0.5;

Eigen::MatrixXd inputs() {
  Eigen::MatrixXd x(kRows, kInputs);
  for (int r = 0; r < kRows; ++r)
    for (int i = 0; i < kInputs; ++i)
      x(r, i) = 0.7 * std::sin(1.0 + 0.7 * r + 1.3 * i + 0.01 * r * i) + 0.4 * std::cos(0.11 * r * (i + 1));
  return x;
}
double linear_predictor(const Eigen::MatrixXd& x, int r) {
  double total = 0;
  for (int i = 0; i < kInputs; ++i) total += x(r, i) * 0.4 * std::cos(0.9 * i);
  return total;
}

// Mean and variance of N(z; m, v) exp(log_f(z)), on an even grid that closes in on the mass.
template <class F>
std::pair<double, double> tilted(const F& log_f, double m, double v) {
  constexpr int kPoints = 601;
  double low = m - 12 * std::sqrt(v), high = m + 12 * std::sqrt(v), mean = m, variance = v;
  for (int zoom = 0; zoom < 20; ++zoom) {
    const double step = (high - low) / (kPoints - 1);
    Eigen::ArrayXd z = Eigen::ArrayXd::LinSpaced(kPoints, low, high), weight(kPoints);
    for (int i = 0; i < kPoints; ++i) weight[i] = log_f(z[i]) - 0.5 * (z[i] - m) * (z[i] - m) / v;
    weight = (weight - weight.maxCoeff()).exp();
    weight /= weight.sum();
    mean = (weight * z).sum(), variance = (weight * (z - mean).square()).sum();
    const double sd = std::max(std::sqrt(variance), step);
    if (sd > 8 * step) break;
    low = mean - 12 * sd, high = mean + 12 * sd;
  }
  return {mean, variance};
}

struct Ep {
  Eigen::VectorXd mean;
  Eigen::MatrixXd covariance;
};

// One site after the other, each against the marginal without it; log_f(row, z).
template <class F>
Ep full_covariance_ep(const Eigen::MatrixXd& x, const F& log_f) {
  Eigen::VectorXd tau = Eigen::VectorXd::Zero(kRows), rho = tau;
  Ep ep{Eigen::VectorXd::Zero(kInputs), kPrior * Eigen::MatrixXd::Identity(kInputs, kInputs)};
  for (int sweep = 0; sweep < 30; ++sweep) {
    double change = 0;
    for (int r = 0; r < kRows; ++r) {
      const Eigen::VectorXd a = x.row(r), ca = ep.covariance * a;
      const double v = a.dot(ca), m = a.dot(ep.mean), cv = 1 / (1 / v - rho[r]), cm = cv * (m / v - tau[r]);
      const auto [mean, variance] = tilted([&](double z) { return log_f(r, z); }, cm, cv);
      const double new_rho = 1 / variance - 1 / cv, new_tau = mean / variance - cm / cv, step = new_rho - rho[r];
      const double tau_step = new_tau - tau[r];
      change = std::max(change, std::abs(mean - m) / std::sqrt(v));
      ep.covariance -= step / (1 + step * v) * ca * ca.transpose();
      ep.mean += (tau_step - step * m) / (1 + step * v) * ca;
      rho[r] = new_rho, tau[r] = new_tau;
    }
    // Anew, so that rounding does not add up.
    ep.covariance =
        (x.transpose() * rho.asDiagonal() * x + Eigen::MatrixXd::Identity(kInputs, kInputs) / kPrior).inverse();
    ep.mean = ep.covariance * (x.transpose() * tau);
    if (change < 1e-7) break;
  }
  return ep;
}

void check_equal(const char* likelihood, const Eigen::MatrixXd& x, const std::vector<double>& y, const Ep& exact) {
  Graph g;
  const VariableId w = g.variable("w", kInputs), z = g.variable("z", kRows), seen = g.observed("y", kRows);
  const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows = x;
  g.factor("gaussian_prior", {w}, {{"mean", 0.0}, {"variance", kPrior}});
  g.factor("linear", {column(w), z}, {{"A", std::vector<double>(rows.data(), rows.data() + rows.size())}});
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
  const Eigen::VectorXd sd = exact.covariance.diagonal().cwiseSqrt();
  CHECK(((posterior.mean(w) - exact.mean).array() / sd.array()).abs().maxCoeff() < 1e-5);
  CHECK((posterior.covariance(w, w) - exact.covariance).cwiseAbs().maxCoeff() <
        1e-5 * exact.covariance.diagonal().maxCoeff());
}

}  // namespace

TEST_CASE("joint: logistic regression, 500 rows of 20 inputs, is full-covariance EP") {
  const Eigen::MatrixXd x = inputs();
  std::vector<double> y;
  for (int r = 0; r < kRows; ++r) y.push_back(linear_predictor(x, r) + 1.5 * std::sin(12.9898 * r) > 0 ? 1 : 0);
  const Ep exact = full_covariance_ep(
      x, [&](int r, double z) { return -std::log1p(std::exp(y[static_cast<std::size_t>(r)] > 0 ? -z : z)); });
  check_equal("logistic", x, y, exact);
}

TEST_CASE("joint: Poisson regression, 500 rows of 20 inputs, is full-covariance EP") {
  const Eigen::MatrixXd x = inputs();
  std::vector<double> y;
  for (int r = 0; r < kRows; ++r)
    y.push_back(std::floor(std::exp(linear_predictor(x, r)) * (1 + 0.8 * std::sin(12.9898 * r)) + 0.5));
  const Ep exact =
      full_covariance_ep(x, [&](int r, double z) { return y[static_cast<std::size_t>(r)] * z - std::exp(z); });
  check_equal("poisson", x, y, exact);
}
