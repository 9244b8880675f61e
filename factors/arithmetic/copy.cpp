#include "factors/arithmetic/copy.h"

#include <cstddef>
#include <cstdint>

#include "engine/kinds/kind.h"
#include "engine/messages/leave_one_out.h"

namespace dma {

namespace {

// The product of all messages except the j-th, multiplied one by one.
Gaussian product_of_others(std::span<const Gaussian> in, std::size_t j) {
  Gaussian others;
  for (std::size_t k = 0; k < in.size(); ++k)
    if (k != j) others = others * in[k];
  return others;
}

}  // namespace

void Copy::to_all(std::span<const Gaussian> in, std::span<Gaussian> out) {
  const std::size_t count = in.size();
  for (std::size_t first = 0; first < count; ++first) {
    if (!in[first].is_point()) continue;
    for (std::size_t j = 0; j < count; ++j) out[j] = in[first];
    out[first] = product_of_others(in, first);
    return;
  }

  LeaveOneOut tau, rho;
  for (const Gaussian& g : in) {
    tau.add(g.tau);
    rho.add(g.rho);
  }
  const auto term_tau = [&](std::size_t k) { return in[k].tau; };
  const auto term_rho = [&](std::size_t k) { return in[k].rho; };
  for (std::size_t j = 0; j < count; ++j) {
    const auto add_taus = [&] { return sum_of_others(j, count, term_tau); };
    const auto add_rhos = [&] { return sum_of_others(j, count, term_rho); };
    out[j] = {tau.without(in[j].tau, add_taus), rho.without(in[j].rho, add_rhos)};
    if (!is_finite_sum(out[j].tau, out[j].rho)) out[j] = product_of_others(in, j);
  }
}

// log of the integral of exp(tau x - rho x^2 / 2) is -log N(0; the message).
double Copy::log_integral(std::span<const Natural> all) {
  Gaussian product;
  for (const Natural& m : all) product = product * Gaussian(m);
  double sum = product.is_point() || product.is_uniform() ? 0.0 : -log_density(product, 0);
  for (const Natural& m : all) {
    if (m.is_uniform() || m.is_point()) continue;
    sum += log_density(Gaussian(m), product.is_point() ? product.tau : 0.0);
  }
  return sum;
}

Gaussian Copy::to_x(std::span<const Gaussian> copies) {
  Gaussian product;
  for (const Gaussian& message : copies) product = product * message;
  return product;
}

void Copy::to_copies(const Gaussian& x, std::span<const Gaussian> copies, std::span<Gaussian> out) {
  to_all(copies, out);
  for (Gaussian& message : out) message = x * message;
}

// Precisions are not negative, so a point mass or an overflow makes their sum infinite.
bool Copy::block_to_x(const SlotBlock& block) {
  return with_row_length(block.call.reads[0].terms, [&](const auto terms) {
    const double *tau = block.tau_of(0), *rho = block.rho_of(0);
    std::int64_t bad = 0;
    for (std::size_t slot = 0; slot < block.slots; ++slot, tau += terms, rho += terms) {
      double tau_sum = 0, rho_sum = 0;
      for (std::size_t t = 0; t < terms; ++t) {
        tau_sum += tau[t];
        rho_sum += rho[t];
      }
      block.tau[slot] = tau_sum;
      block.rho[slot] = rho_sum;
      bad += is_finite_sum(tau_sum, rho_sum) ? 0 : 1;
    }
    return bad == 0;
  });
}

bool Copy::block_to_copies(const SlotBlock& block) {
  return with_row_length(block.call.reads[1].terms, [&](const auto terms) {
    const double *x_tau = block.tau_of(0), *x_rho = block.rho_of(0), *tau = block.tau_of(1), *rho = block.rho_of(1);
    double *to_tau = block.tau, *to_rho = block.rho;
    std::int64_t bad = 0;
    for (std::size_t slot = 0; slot < block.slots; ++slot) {
      const double from_x_tau = x_tau[slot], from_x_rho = x_rho[slot];
      sums_of_others(tau, terms, to_tau);
      sums_of_others(rho, terms, to_rho);
      for (std::size_t t = 0; t < terms; ++t) {
        to_tau[t] += from_x_tau;
        to_rho[t] += from_x_rho;
        bad += is_finite_sum(to_tau[t], to_rho[t] + rho[t]) ? 0 : 1;
      }
      tau += terms;
      rho += terms;
      to_tau += terms;
      to_rho += terms;
    }
    return bad == 0;
  });
}

void Copy::linear_view(const LinearCall& call) {
  std::copy_n(call.values, call.slots, call.value);
  call.no_variance_gains();
  if (call.gains != nullptr) std::fill_n(call.gains, call.slots, 1.0);
}

Kind copy_kind() {
  return kind("copy", "all copies equal x")
      .input("x", std::nullopt)
      .variadic_output("copies", std::nullopt)
      .function([](auto v, auto) { return v[0]; })
      .linear_view(&Copy::linear_view, linear_in_all)
      .log_integral([](auto m, auto) { return Copy::log_integral(m); })
      .message<&Copy::to_x, &Copy::block_to_x>(kExact, "x")
      .message<&Copy::to_copies, &Copy::block_to_copies>(kExact, "copies", from("x", "copies"));
}

}  // namespace dma
