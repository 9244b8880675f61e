// A loopy model by sweeps.
#include <cmath>

#include "engine/compile/compile.h"
#include "engine/compile/plan_data.h"
#include "engine/run/run.h"
#include "factors/standard_registry.h"
#include "schedules/schedules.h"
#include "tools/bench/comparison.h"

namespace dma::bench {

// Bayesian linear regression y_n = sum_j w_j x_nj + noise by loopy sweeps, 10,000 points and 2 coefficients as plates,
// next to a loop over the same messages.
namespace {

constexpr std::size_t kPoints = 10000, kCoefficients = 2;
constexpr int kSweeps = 20;
constexpr double kPriorVariance = 1, kNoiseVariance = 0.04;

struct Points {
  std::vector<double> x, y;
  Points() {
    for (std::size_t n = 0; n < kPoints; ++n) {
      const auto t = static_cast<double>(n);
      x.push_back(std::sin(0.7 * t));
      x.push_back(std::cos(1.3 * t) + 0.5);
      y.push_back(0.8 * x[2 * n] - 0.3 * x[2 * n + 1] + 0.2 * std::sin(11 * t));
    }
  }
};

// Sweeps as the sequential schedule makes them: all points see the messages to w of the sweep before.
class PlainRegression {
 public:
  explicit PlainRegression(const Points& points) : points_(points) {}

  void sweep(int times) {
    std::fill(tau_.begin(), tau_.end(), 0.0);
    std::fill(rho_.begin(), rho_.end(), 0.0);
    std::fill(total_tau, total_tau + kCoefficients, 0.0);
    std::fill(total_rho, total_rho + kCoefficients, 1 / kPriorVariance);
    for (int s = 0; s < times; ++s) sweep();
  }
  double total_tau[kCoefficients], total_rho[kCoefficients];  // the beliefs of w

 private:
  void sweep() {
    double next_tau[kCoefficients] = {}, next_rho[kCoefficients] = {};
    for (auto& rho : next_rho) rho = 1 / kPriorVariance;
    for (std::size_t n = 0; n < kPoints; ++n) {
      const double* const x = points_.x.data() + n * kCoefficients;
      double mean[kCoefficients], variance[kCoefficients], sum_mean = 0, sum_variance = 0;
      for (std::size_t j = 0; j < kCoefficients; ++j) {
        const std::size_t i = n * kCoefficients + j;
        const double v = 1 / (total_rho[j] - rho_[i]);
        mean[j] = x[j] * v * (total_tau[j] - tau_[i]);
        variance[j] = x[j] * x[j] * v;
        sum_mean += mean[j];
        sum_variance += variance[j];
      }
      z_rho_[n] = 1 / sum_variance;
      z_tau_[n] = z_rho_[n] * sum_mean;
      for (std::size_t j = 0; j < kCoefficients; ++j) {
        const std::size_t i = n * kCoefficients + j;
        const double c = points_.y[n] - (sum_mean - mean[j]);
        const double weight = x[j] / (kNoiseVariance + (sum_variance - variance[j]));
        next_tau[j] += tau_[i] = weight * c;
        next_rho[j] += rho_[i] = weight * x[j];
      }
    }
    for (std::size_t j = 0; j < kCoefficients; ++j) total_tau[j] = next_tau[j], total_rho[j] = next_rho[j];
  }

  const Points& points_;
  std::vector<double> tau_ = std::vector<double>(kPoints * kCoefficients), rho_ = tau_;  // to w
  std::vector<double> z_tau_ = std::vector<double>(kPoints), z_rho_ = z_tau_;            // to the sum
};

void regression(benchmark::State& bench, Table& table) {
  const Points points;
  Graph g;
  const auto w = g.variable("w", kCoefficients), x = g.observed("x", kPoints * kCoefficients);
  const auto p = g.variable("p", kPoints * kCoefficients), z = g.variable("z", kPoints), y = g.observed("y", kPoints);
  g.factor("gaussian_prior", {w}, {{"mean", 0.0}, {"variance", kPriorVariance}});
  g.factor("product", {column(w), x, p});
  g.factor("sum", {p, z});
  g.factor("gaussian_noise", {z, y}, {{"variance", kNoiseVariance}});
  const Plan plan = compile(g, sequential({.tolerance = 0, .limit = kSweeps}), standard_registry());
  State state(plan);
  state.observe(x, points.x);
  state.observe(y, points.y);
  PlainRegression plain(points);
  const auto messages = static_cast<double>(run(plan, state).messages);
  compare(
      bench, table, {.name = "regression: 20 loopy sweeps, 10,000 points", .bound = 2, .messages = messages},
      [&] { run(plan, state); }, [&] { plain.sweep(kSweeps); });
  const Belief belief = state.belief(w);
  for (std::size_t j = 0; j < kCoefficients; ++j)
    if (std::abs(belief[j].tau / plain.total_tau[j] - 1) > 1e-9 ||
        std::abs(belief[j].rho / plain.total_rho[j] - 1) > 1e-9)
      return bench.SkipWithError("the engine and the plain loop disagree");
  table.set({.name = "regression: memory per edge slot",
             .value = static_cast<double>(plan.bytes()) / plan->slots,
             .bound = 48,
             .unit = "B"});
}

}  // namespace

void register_regression(Table& table) { add(table, "regression/sweeps", regression); }

}  // namespace dma::bench
