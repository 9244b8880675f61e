#include "factors/arithmetic/product.h"

#include <cmath>
#include <cstdint>

#include "engine/kinds/kind.h"
#include "engine/support/independent.h"
#include "factors/arithmetic/product_ep.h"
#include "factors/arithmetic/product_linearised.h"
#include "factors/arithmetic/vmp.h"

namespace dma {

namespace {

// For numbers within this range no power or product below overflows or underflows.
constexpr double kSmall = 1e-20, kLarge = 1e20;
// A smaller result may have lost digits to underflow.
constexpr double kLeast = 1e-290;

bool is_ordinary(double tau, double rho) { return (rho > kSmall) & (rho < kLarge) & (std::abs(tau) < kLarge); }

// One factor is known, like the inputs of a network: z = c x.
bool to_scaled(const SlotBlock& block, std::size_t x, std::size_t known) {
  const double *const x_tau = block.tau_of(x), *const x_rho = block.rho_of(x);
  const double *const c = block.tau_of(known), *const c_rho = block.rho_of(known);
  double *const tau = block.tau, *const rho = block.rho;
  std::int64_t bad = 0;
  DMA_INDEPENDENT
  for (std::size_t i = 0; i < block.slots; ++i) {
    const double inverse = 1 / c[i];
    tau[i] = x_tau[i] * inverse;
    rho[i] = x_rho[i] * inverse * inverse;
    bad += (is_ordinary(x_tau[i], x_rho[i]) & (c_rho[i] == kInfinity) & (std::abs(c[i]) > kSmall) &
            (std::abs(c[i]) < kLarge))
               ? 0
               : 1;
  }
  return bad == 0;
}
// x = z / c; uniform if c is 0.
bool to_unscaled(const SlotBlock& block) {
  const double *const c = block.tau_of(0), *const c_rho = block.rho_of(0);
  const double *const z_tau = block.tau_of(1), *const z_rho = block.rho_of(1);
  double *const tau = block.tau, *const rho = block.rho;
  std::int64_t bad = 0;
  DMA_INDEPENDENT
  for (std::size_t i = 0; i < block.slots; ++i) {
    const double size = std::abs(c[i]);
    tau[i] = z_tau[i] * c[i];
    rho[i] = z_rho[i] * c[i] * c[i];
    bad +=
        (is_ordinary(z_tau[i], z_rho[i]) & (c_rho[i] == kInfinity) & ((size == 0) | (size > kSmall)) & (size < kLarge))
            ? 0
            : 1;
  }
  return bad == 0;
}

}  // namespace

// Puts all fractions of product.h over one common denominator, so that a message takes one division: 1 / (1 + px + py)
// = rho_x rho_y / (rho_x rho_y + tau_x^2 rho_y + tau_y^2 rho_x).
bool Product::block_to_z(const SlotBlock& block) {
  if (block.rho_of(1)[0] == kInfinity) return to_scaled(block, 0, 1);
  if (block.rho_of(0)[0] == kInfinity) return to_scaled(block, 1, 0);
  const double *const x_tau = block.tau_of(0), *const x_rho = block.rho_of(0);
  const double *const y_tau = block.tau_of(1), *const y_rho = block.rho_of(1);
  double *const tau = block.tau, *const rho = block.rho;
  std::int64_t bad = 0;
  DMA_INDEPENDENT
  for (std::size_t i = 0; i < block.slots; ++i) {
    const double rhos = x_rho[i] * y_rho[i];
    const double fraction = rhos / (rhos + x_tau[i] * x_tau[i] * y_rho[i] + y_tau[i] * y_tau[i] * x_rho[i]);
    tau[i] = x_tau[i] * y_tau[i] * fraction;
    rho[i] = rhos * fraction;
    bad += (is_ordinary(x_tau[i], x_rho[i]) & is_ordinary(y_tau[i], y_rho[i]) & (rho[i] > kLeast)) ? 0 : 1;
  }
  return bad == 0;
}

// With t, r of the other factor and q = r + t^2: s = t^2 / q, s my = t^3 / (r q), 1 - s = r / q, and
// 1 / (1 + (1 - s) pz) = q rho_z / e with e = q rho_z + r tau_z^2.
bool Product::block_to_factor(const SlotBlock& block) {
  if (block.rho_of(0)[0] == kInfinity) return to_unscaled(block);
  const double *const other_tau = block.tau_of(0), *const other_rho = block.rho_of(0);
  const double *const z_tau = block.tau_of(1), *const z_rho = block.rho_of(1);
  double *const tau = block.tau, *const rho = block.rho;
  std::int64_t bad = 0;
  DMA_INDEPENDENT
  for (std::size_t i = 0; i < block.slots; ++i) {
    const double t = other_tau[i], r = other_rho[i], square = t * t, cube = square * t, q = r + square;
    const double e = q * z_rho[i] + r * z_tau[i] * z_tau[i];
    const double inverse = 1 / (r * q * e);
    const double gain = square * cube * z_rho[i] * inverse;  // s (s my) / (1 + (1 - s) pz)
    tau[i] = gain * z_tau[i];
    rho[i] = gain * (cube * e * inverse) * z_rho[i];
    bad += (is_ordinary(t, r) & (std::abs(t) > kSmall) & is_ordinary(z_tau[i], z_rho[i]) & (rho[i] > kLeast)) ? 0 : 1;
  }
  return bad == 0;
}

void Product::linear_view(const LinearCall& call) {
  const double *const x = call.input(0), *const y = call.input(1);
  for (std::size_t s = 0; s < call.slots; ++s) call.value[s] = x[s] * y[s];
  call.no_variance_gains();
  if (call.gains == nullptr) return;
  std::copy_n(y, call.slots, call.gain(0));
  std::copy_n(x, call.slots, call.gain(1));
}

Kind product_kind() {
  return kind("product", "z = x y")
      .input("x")
      .input("y")
      .output("z")
      .function([](auto v, auto) { return Product::value(v[0], v[1]); })
      .linear_view(&Product::linear_view, &Product::linear_in)
      .watch_signal_to_noise()
      .message<&Product::to_z, &Product::block_to_z>("dma", "z")
      .message<&Product::to_factor, &Product::block_to_factor>("dma", "x", from("y", "z"))
      .message<&Product::to_factor, &Product::block_to_factor>("dma", "y", from("x", "z"))
      .message<&ProductLinearised::to_z, &Product::block_to_z>("linearised", "z")
      .message<&ProductLinearised::to_factor>("linearised", "x", from("x", "y", "z"))
      .message<&ProductLinearised::to_factor>("linearised", "y", from("y", "x", "z"))
      .message<&ProductEp::to_z>("ep", "z", from("x", "y", "z"))
      .message<&ProductEp::to_factor>("ep", "x", from("x", "y", "z"))
      .message<&ProductEp::to_factor>("ep", "y", from("y", "x", "z"))
      .message<&ProductVmp::to_z>("vmp", "z")
      .message<&ProductVmp::to_factor>("vmp", "x", from("y", "z"))
      .message<&ProductVmp::to_factor>("vmp", "y", from("x", "z"));
}

}  // namespace dma
