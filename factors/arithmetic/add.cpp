#include "factors/arithmetic/add.h"

#include "engine/kinds/kind.h"
#include "factors/authoring/chunks.h"

namespace dma {

namespace {

// N(mean_b + sign mean_a, variance_a + variance_b) with one division:
//
//   rho = rho_a rho_b / (rho_a + rho_b)      tau = (rho_a tau_b + sign rho_b tau_a) / (rho_a + rho_b)
//
// Returns false if a message is not proper, or a product overflows.
bool combine(const SlotBlock& block, double sign) {
  return slot_by_slot(block, 0, 1,
                      [sign](double a_tau, double a_rho, double b_tau, double b_rho, double& tau, double& rho) {
                        const double inverse = 1 / (a_rho + b_rho), fraction = a_rho * inverse;
                        const double t = fraction * b_tau + sign * (b_rho * inverse) * a_tau, r = fraction * b_rho;
                        tau = t;
                        rho = r;
                        return (r > 0) & (r < kInfinity) & (std::abs(t) < kInfinity);
                      });
}

}  // namespace

bool Add::block_to_z(const SlotBlock& block) { return combine(block, 1); }
bool Add::block_to_term(const SlotBlock& block) { return combine(block, -1); }

void Add::linear_view(const LinearCall& call) {
  const double *const x = call.input(0), *const y = call.input(1);
  for (std::size_t s = 0; s < call.slots; ++s) call.value[s] = x[s] + y[s];
  call.no_variance_gains();
  if (call.gains != nullptr) std::fill_n(call.gains, 2 * call.slots, 1.0);
}

Kind add_kind() {
  return kind("add", "z = x + y")
      .input("x")
      .input("y")
      .output("z")
      .function([](auto v, auto) { return Add::value(v[0], v[1]); })
      .linear_view(&Add::linear_view, linear_in_all)
      .message<&Add::to_z, &Add::block_to_z>(kExact, "z")
      .message<&Add::to_term, &Add::block_to_term>(kExact, "x", from("y", "z"))
      .message<&Add::to_term, &Add::block_to_term>(kExact, "y", from("x", "z"));
}

}  // namespace dma
