#include "factors/copy.h"

#include <cstddef>

#include "factors/leave_one_out.h"

namespace dma {

namespace {

// The product of all messages but the j-th, one by one.
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
  }
}

}  // namespace dma
