// The message to the total: moments of the products, added up.
#include <algorithm>
#include <cmath>

#include "engine/messages/leave_one_out.h"
#include "factors/arithmetic/inner_product.h"
#include "factors/arithmetic/inner_product/block.h"

namespace dma {

namespace {

using namespace inner_product;

struct SumOfProducts {
  double mean, variance;
};
template <class Terms>
SumOfProducts sum_of_products(const Block& block, Terms terms, std::size_t slot) {
  const double *const m = block.mean() + slot * terms, *const v = block.variance() + slot * terms;
  SumOfProducts sum{0, 0};
  for (std::size_t t = 0; t < terms; ++t) {
    sum.mean += m[t];
    sum.variance += v[t];
  }
  return sum;
}

struct Moments {
  double mean, variance;
};

// A side of the forward message: read slot by slot, or stored as moments if all slots share it. Observed values, which
// are point masses, need no division.
class Terms {
 public:
  Terms(const PortView& view, const Side& side, std::size_t slots)
      : view_(view), side_(side), is_shared_(view.column == 0), is_observed_(all_points(view, slots)) {
    if (is_shared_) side_.read(view, 0, view.terms, false);
  }
  // at(t) for every term of a slot; a uniform message has infinite variance.
  template <class Use>
  auto of(std::size_t slot, const Use& use) const {
    if (is_shared_) return use([&](std::size_t t) { return Moments{side_.mean[t], side_.variance[t]}; });
    const double *const tau = view_.tau + view_.offset(0, slot), *const rho = view_.rho + view_.offset(0, slot);
    if (is_observed_) return use([=](std::size_t t) { return Moments{tau[t], 0}; });
    return use([=](std::size_t t) {
      const double v = 1 / rho[t], m = tau[t] * v;
      return Moments{rho[t] == kInfinity ? tau[t] : m, v};
    });
  }

 private:
  static bool all_points(const PortView& view, std::size_t slots) {
    if (view.column == 0 || view.rho[0] != kInfinity) return false;
    std::int64_t others = 0;
    for (std::size_t i = 0; i < slots * view.terms; ++i) others += view.rho[i] == kInfinity ? 0 : 1;
    return others == 0;
  }

  const PortView& view_;
  const Side side_;
  const bool is_shared_, is_observed_;
};

// Short rows, a block at a time.
void short_to_total(const Call& call, Outcome& outcome) {
  const Block block(call);
  Sides sides(call, block, false, false, true);
  const auto some = [&](std::size_t first, std::size_t slots) {
    if (!sides.read(first, slots)) return false;
    sides.form_products(slots);
    double *const mean = block.tau(0), *const variance = block.rho(0);
    with_row_length(block.terms, [&](const auto terms) {
      for (std::size_t s = 0; s < slots; ++s) {
        const SumOfProducts sum = sum_of_products(block, terms, s);
        mean[s] = sum.mean;
        variance[s] = sum.variance;
      }
    });
    double *const tau = block.tau(1), *const rho = block.rho(1);
    std::int64_t bad = 0;  // a count, not a flag: counting loops vectorise
    DMA_INDEPENDENT
    for (std::size_t s = 0; s < slots; ++s) {
      rho[s] = 1 / variance[s];
      tau[s] = rho[s] * mean[s];
      const bool is_proper = (variance[s] < kInfinity) & (rho[s] < kInfinity);
      bad += (is_proper & (std::abs(mean[s]) < kInfinity) & (std::abs(tau[s]) < kInfinity)) ? 0 : 1;
    }
    const bool good = bad == 0;
    if (good) call.sink.store_all(call.out_offset(0, first), tau, rho, slots, first, 1, outcome);
    return good;
  };
  for (std::size_t c = 0; c < call.columns; c += block.capacity) {
    const std::size_t slots = std::min(block.capacity, call.columns - c);
    if (some(c, slots)) continue;
    for (std::size_t s = c; s < c + slots; ++s)
      call.sink.store(call.out_offset(0, s), Sum::to_total(Unfused(call, s).products, {}), s, outcome);
  }
}

}  // namespace

// Long rows: one pass per row, nothing stored.
void InnerProduct::to_total(const Call& call, Outcome& outcome) {
  constexpr std::size_t kShort = 5;
  if (call.reads[0].terms < kShort) return short_to_total(call, outcome);
  const Block block(call);
  const Terms xs(call.reads[0], block.x(), call.columns), ys(call.reads[1], block.y(), call.columns);
  for (std::size_t c = 0; c < call.columns; ++c) {
    const Moments sum = xs.of(c, [&](const auto& x_at) {
      return ys.of(c, [&](const auto& y_at) {
        Moments total{0, 0};
        for (std::size_t t = 0; t < block.terms; ++t) {
          const Moments x = x_at(t), y = y_at(t);
          total.mean += x.mean * y.mean;
          total.variance += (x.variance + x.mean * x.mean) * y.variance + y.mean * y.mean * x.variance;
        }
        return total;
      });
    });
    const Gaussian total = std::abs(sum.mean) < kInfinity && sum.variance < kInfinity
                               ? Gaussian::from_moments(sum.mean, sum.variance)
                               : Sum::to_total(Unfused(call, c).products, {});
    call.sink.store(call.out_offset(0, c), total, c, outcome);
  }
}

}  // namespace dma
