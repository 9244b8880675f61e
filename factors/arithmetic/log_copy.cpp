#include "factors/arithmetic/log_copy.h"

#include <cstdint>

#include "engine/kinds/kind.h"

namespace dma {

// v/m^2 = 1/(m tau); log1p keeps its relative accuracy from 1e-24 to 1e20.
LogNormal LogCopy::to_log(Gaussian x, Parameters p) {
  if (!(p.sign * x.tau > 0)) return LogNormal::uniform();
  const double mean = p.sign * x.mean();
  if (x.is_point()) return LogNormal::point(mean);
  const double log_variance = std::log1p(1 / (p.sign * x.tau) / mean);
  return LogNormal::from_log_moments(std::log(mean) - 0.5 * log_variance, log_variance);
}

// With e = exp(-(ml + vl/2)) = 1/|mean| and ml + vl/2 = (tau + 1/2) / rho: precision e^2 / expm1(vl), tau = mean
// precision.
Gaussian LogCopy::to_x(LogNormal l, Parameters p) {
  if (l.is_uniform()) return Gaussian::uniform();
  if (l.is_point()) return closed(value(l.tau, p), kInfinity, value(l.tau, p));
  const double e = std::exp(-(l.tau + 0.5) / l.rho);
  const double tau = e / std::expm1(1 / l.rho);
  return closed(p.sign * tau, e * tau, [&] { return p.sign / e; });
}

namespace {

// Checks the results of a block, Gaussians or log-normals.
bool are_proper(const SlotBlock& block) {
  std::int64_t bad = 0;
  for (std::size_t i = 0; i < block.slots; ++i)
    bad += ((block.rho[i] > 0) & (block.rho[i] < kInfinity) & (std::abs(block.tau[i]) < kInfinity)) ? 0 : 1;
  return bad == 0;
}

}  // namespace

bool LogCopy::block_to_log(const SlotBlock& block) {
  const double *const tau = block.tau_of(0), *const rho = block.rho_of(0);
  double *const mean = block.spare, *const variance = block.spare + block.slots;  // finally of the logarithm
  std::int64_t bad = 0;
  for (std::size_t i = 0; i < block.slots; ++i) {
    const double sign = *block.parameter(0, i);
    mean[i] = sign * (tau[i] / rho[i]);
    variance[i] = 1 / (sign * tau[i]) / mean[i];
    bad += ((mean[i] > 0) & (mean[i] < kInfinity) & (rho[i] < kInfinity)) ? 0 : 1;
  }
  if (bad > 0) return false;
  for (std::size_t i = 0; i < block.slots; ++i) variance[i] = std::log1p(variance[i]);
  for (std::size_t i = 0; i < block.slots; ++i) mean[i] = std::log(mean[i]);
  for (std::size_t i = 0; i < block.slots; ++i) {
    block.rho[i] = 1 / variance[i];
    block.tau[i] = (mean[i] - 0.5 * variance[i]) * block.rho[i];
  }
  return are_proper(block);
}

bool LogCopy::block_to_x(const SlotBlock& block) {
  const double *const tau = block.tau_of(0), *const rho = block.rho_of(0);
  double *const inverse_mean = block.spare, *const spread = block.spare + block.slots;  // e and expm1(vl)
  std::int64_t bad = 0;
  for (std::size_t i = 0; i < block.slots; ++i) {
    inverse_mean[i] = -(tau[i] + 0.5) / rho[i];
    spread[i] = 1 / rho[i];
    bad += ((rho[i] > 0) & (rho[i] < kInfinity)) ? 0 : 1;
  }
  if (bad > 0) return false;
  for (std::size_t i = 0; i < block.slots; ++i) inverse_mean[i] = std::exp(inverse_mean[i]);
  for (std::size_t i = 0; i < block.slots; ++i) spread[i] = std::expm1(spread[i]);
  for (std::size_t i = 0; i < block.slots; ++i) {
    const double size = inverse_mean[i] / spread[i];
    block.tau[i] = *block.parameter(0, i) * size;
    block.rho[i] = inverse_mean[i] * size;
  }
  return are_proper(block);
}

void LogCopy::linear_view(const LinearCall& call) {
  for (std::size_t s = 0; s < call.slots; ++s) {
    const double half_variance = call.variances != nullptr ? 0.5 * call.variances[s] : 0;
    call.value[s] = value(call.values[s] + half_variance, {call.parameter_row(s).number(0)});
    if (call.gains != nullptr) call.gains[s] = call.value[s];
    if (call.variance_gains != nullptr) call.variance_gains[s] = 0.5 * call.value[s];
  }
}

Kind log_copy_kind() {
  return kind("log_copy", "x = sign exp(log)")
      .input("log", "log_normal")
      .output("x")
      .optional_parameter("sign", 1.0, one_of({-1, 1}))
      .function([](auto v, auto p) { return LogCopy::value(v[0], {p[0]}); })
      .linear_view(&LogCopy::linear_view)
      .message<&LogCopy::to_x, &LogCopy::block_to_x>("dma", "x")
      .message<&LogCopy::to_log, &LogCopy::block_to_log>("dma", "log");
}

}  // namespace dma
