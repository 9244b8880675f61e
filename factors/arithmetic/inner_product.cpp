#include "factors/arithmetic/inner_product.h"

#include <algorithm>

#include "engine/kinds/kind.h"

namespace dma {

double InnerProduct::value(std::span<const double> v) {
  double sum = 0;
  for (std::size_t t = 0; t < v.size() / 2; ++t) sum += v[t] * v[v.size() / 2 + t];
  return sum;
}

void InnerProduct::linear_view(const LinearCall& call) {
  const std::size_t terms = call.inputs / 2;
  std::fill_n(call.value, call.slots, 0.0);
  for (std::size_t t = 0; t < terms; ++t) {
    const double *const x = call.input(t), *const y = call.input(terms + t);
    for (std::size_t s = 0; s < call.slots; ++s) call.value[s] += x[s] * y[s];
  }
  call.no_variance_gains();
  if (call.gains == nullptr) return;
  std::copy_n(call.input(terms), terms * call.slots, call.gain(0));
  std::copy_n(call.input(0), terms * call.slots, call.gain(terms));
}

bool InnerProduct::linear_in(std::span<const std::uint8_t> free) {
  const std::size_t terms = free.size() / 2;
  for (std::size_t t = 0; t < terms; ++t)
    if (free[t] && free[terms + t]) return false;
  return true;
}

namespace {

template <InnerProduct::Rule kRule>
void add_kernels(Kind& kind, std::string_view method) {
  using I = InnerProduct;
  const from all("x", "y", "total");
  kind.kernel(method, "total", from("x", "y"), &I::to_total, &I::held_to_total)
      .kernel(method, "x", all, &I::to_terms<kRule, true, false>, &I::held_to_terms<kRule, false>)
      .kernel(method, "y", all, &I::to_terms<kRule, false, true>)
      .pair_kernel(method, "x", "y", &I::to_terms<kRule, true, true>, &I::held_to_terms<kRule, true>);
}

}  // namespace

Kind inner_product_kind() {
  Kind result = kind("inner_product", "total = sum of x y")
                    .variadic_input("x")
                    .variadic_input("y")
                    .same_terms("x", "y")
                    .output("total")
                    .function([](auto v, auto) { return InnerProduct::value(v); })
                    .linear_view(&InnerProduct::linear_view, &InnerProduct::linear_in)
                    .watch_signal_to_noise();
  add_kernels<InnerProduct::Rule::direct>(result, "dma");
  add_kernels<InnerProduct::Rule::linearised>(result, "linearised");
  return result;
}

}  // namespace dma
