#include "factors/arithmetic/product.h"

#include <cmath>

#include "engine/kinds/kind.h"
#include "factors/arithmetic/product_ep.h"
#include "factors/arithmetic/product_linearised.h"
#include "factors/arithmetic/vmp.h"
#include "factors/authoring/chunks.h"

namespace dma {

namespace {

// For numbers within this range no power or product below overflows or underflows.
constexpr double kSmall = 1e-20, kLarge = 1e20;
// A smaller result may have lost digits to underflow.
constexpr double kLeast = 1e-290;

bool is_ordinary(double tau, double rho) { return (rho > kSmall) & (rho < kLarge) & (std::abs(tau) < kLarge); }

// One factor is known, like the inputs of a network: z = c x.
bool to_scaled(const SlotBlock& block, std::size_t x, std::size_t known) {
  return slot_by_slot(block, x, known,
                      [](double x_tau, double x_rho, double c, double c_rho, double& tau, double& rho) {
                        const double inverse = 1 / c;
                        tau = x_tau * inverse;
                        rho = x_rho * inverse * inverse;
                        return is_ordinary(x_tau, x_rho) & (c_rho == kInfinity) & (std::abs(c) > kSmall) &
                               (std::abs(c) < kLarge);
                      });
}
// x = z / c; uniform if c is 0.
bool to_unscaled(const SlotBlock& block) {
  return slot_by_slot(block, 0, 1, [](double c, double c_rho, double z_tau, double z_rho, double& tau, double& rho) {
    const double size = std::abs(c);
    tau = z_tau * c;
    rho = z_rho * c * c;
    return is_ordinary(z_tau, z_rho) & (c_rho == kInfinity) & ((size == 0) | (size > kSmall)) & (size < kLarge);
  });
}

}  // namespace

// Puts all fractions of product.h over one common denominator, so that a message takes one division: 1 / (1 + px + py)
// = rho_x rho_y / (rho_x rho_y + tau_x^2 rho_y + tau_y^2 rho_x).
bool Product::block_to_z(const SlotBlock& block) {
  if (block.rho_of(1)[0] == kInfinity) return to_scaled(block, 0, 1);
  if (block.rho_of(0)[0] == kInfinity) return to_scaled(block, 1, 0);
  return slot_by_slot(block, 0, 1,
                      [](double x_tau, double x_rho, double y_tau, double y_rho, double& tau, double& rho) {
                        const double rhos = x_rho * y_rho;
                        const double fraction = rhos / (rhos + x_tau * x_tau * y_rho + y_tau * y_tau * x_rho);
                        const double own = rhos * fraction;
                        tau = x_tau * y_tau * fraction;
                        rho = own;
                        return is_ordinary(x_tau, x_rho) & is_ordinary(y_tau, y_rho) & (own > kLeast);
                      });
}

// With t, r of the other factor and q = r + t^2: s = t^2 / q, s my = t^3 / (r q), 1 - s = r / q, and
// 1 / (1 + (1 - s) pz) = q rho_z / e with e = q rho_z + r tau_z^2.
bool Product::block_to_factor(const SlotBlock& block) {
  if (block.rho_of(0)[0] == kInfinity) return to_unscaled(block);
  return slot_by_slot(block, 0, 1, [](double t, double r, double z_tau, double z_rho, double& tau, double& rho) {
    const double square = t * t, cube = square * t, q = r + square, e = q * z_rho + r * z_tau * z_tau;
    const double inverse = 1 / (r * q * e);
    const double gain = square * cube * z_rho * inverse;  // s (s my) / (1 + (1 - s) pz)
    const double own = gain * (cube * e * inverse) * z_rho;
    tau = gain * z_tau;
    rho = own;
    return is_ordinary(t, r) & (std::abs(t) > kSmall) & is_ordinary(z_tau, z_rho) & (own > kLeast);
  });
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
