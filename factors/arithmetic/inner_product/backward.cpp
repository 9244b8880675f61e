// The messages to the terms: the sum's message to each product, and from there to one factor given the other.
#include <cmath>
#include <type_traits>

#include "factors/arithmetic/inner_product.h"
#include "factors/arithmetic/inner_product/cavities.h"
#include "factors/arithmetic/inner_product/known.h"
#include "factors/arithmetic/product_linearised.h"

namespace dma {

namespace {

using namespace inner_product;

// Messages to one factor from the cavity N(c, k) of its product, as d, tau = weight c / d and rho = weight gain / d.
// Prop. 3.2, see product.h.
struct Direct {
  static constexpr bool kUsesSignal = true;
  static double denominator(const Side&, const Side& other, std::size_t t, double c, double k) {
    return k + other.rest[t] * c * c;
  }
  static double gain(const Side& other, std::size_t t) { return other.gain[t]; }
  static double weight(const Side& other, std::size_t t) { return other.weight[t]; }
  static Gaussian one(const Gaussian&, const Gaussian& other, const Gaussian& z) {
    return Product::to_factor(other, z);
  }
};
// See product_linearised.h.
struct Linearised {
  static constexpr bool kUsesSignal = false;
  static double denominator(const Side& own, const Side& other, std::size_t t, double, double k) {
    return k + other.variance[t] * (own.mean[t] * own.mean[t] + own.variance[t]);
  }
  static double gain(const Side& other, std::size_t t) { return other.mean[t]; }
  static double weight(const Side& other, std::size_t t) { return other.mean[t]; }
  static Gaussian one(const Gaussian& own, const Gaussian& other, const Gaussian& z) {
    return ProductLinearised::to_factor(own, other, z);
  }
};

// Destination of the messages.
struct Results {
  double *tau, *rho;
};

// All messages of a block to x, y or both; returns false if one of them is not valid. A rho computed here is never
// negative.
template <class Rule, bool kToX, bool kToY>
bool backward_block(const Block& block, std::size_t count, [[maybe_unused]] const Results to_x,
                    [[maybe_unused]] const Results to_y) {
  const Side x = block.x(), y = block.y();
  const double *const cavity_mean = block.cavity_mean(), *const cavity_variance = block.cavity_variance();
  std::int64_t bad = 0;
  DMA_INDEPENDENT
  for (std::size_t t = 0; t < count; ++t) {
    const double c = cavity_mean[t], k = cavity_variance[t];
    const double to_x_d = Rule::denominator(x, y, t, c, k), to_y_d = Rule::denominator(y, x, t, c, k);
    // One division serves both.
    const double inverse = 1 / (kToX && kToY ? to_x_d * to_y_d : kToX ? to_x_d : to_y_d);
    // An overflow makes one of these infinite or NaN.
    double size = 0;
    bool good = inverse > 0;
    const auto result = [&](const Side& other, double fraction) {
      const double weight = Rule::weight(other, t) * (fraction * inverse);
      const Natural message{weight * c, weight * Rule::gain(other, t)};
      size += std::abs(message.tau) + message.rho;
      good &= (message.rho > 0) | (message.tau == 0);
      return message;
    };
    // Everything is read before anything is written.
    [[maybe_unused]] Natural for_x, for_y;
    if constexpr (kToX) for_x = result(y, kToY ? to_y_d : 1.0);
    if constexpr (kToY) for_y = result(x, kToX ? to_x_d : 1.0);
    bad += (good & (size < kInfinity)) ? 0 : 1;
    if constexpr (kToX) {
      to_x.tau[t] = for_x.tau;
      to_x.rho[t] = for_x.rho;
    }
    if constexpr (kToY) {
      to_y.tau[t] = for_y.tau;
      to_y.rho[t] = for_y.rho;
    }
  }
  return bad == 0;
}

template <class Rule, bool kToX, bool kToY>
class Backward {
 public:
  Backward(const Call& call, Outcome& outcome)
      : call_(call),
        outcome_(outcome),
        block_(call),
        sides_(call, block_, Rule::kUsesSignal && kToY, Rule::kUsesSignal && kToX, kToX && !kToY),
        x_sink_(call.sink),
        y_sink_(kToX ? call.second_sink : call.sink) {}

  void all() {
    const PortView& y = call_.reads[1];
    const bool is_known = kToX && !kToY && y.column == 0 && block_.terms >= kLongEnough && all_points(y);
    if (is_known) {
      for (std::size_t c = 0; c < call_.columns; ++c)
        if (!try_known(c)) some(c, 1);
    } else {
      for (std::size_t c = 0; c < call_.columns; c += block_.capacity)
        some(c, std::min(block_.capacity, call_.columns - c));
    }
  }

 private:
  static constexpr std::size_t kLongEnough = 5;  // shorter rows are better done in blocks

  bool try_known(std::size_t slot) {
    const PortView& x = call_.reads[0];
    const std::ptrdiff_t from = x.offset(0, slot);
    const Results to = results_of(x_sink_, 0, slot);
    if (!row_of_known(x.tau + from, x.rho + from, call_.reads[1].tau, block_.terms, call_.reads[2].at(0, slot),
                      block_.mean(), block_.variance(), to.tau, to.rho))
      return false;
    if (x_sink_.is_tracked) store_results(x_sink_, 0, slot, block_.terms);
    return true;
  }

  // Falls back to slot by slot for unusual blocks, and to the unfused way for unusual slots.
  void some(std::size_t first, std::size_t slots) {
    if (try_block(first, slots)) return;
    if (slots == 1) return one(first);
    for (std::size_t s = 0; s < slots; ++s) some(first + s, 1);
  }

  bool try_block(std::size_t first, std::size_t slots) {
    if (!sides_.read(first, slots)) return false;
    sides_.form_products(slots);
    if (!read_totals(first, slots)) return false;
    with_row_length(block_.terms, [&](const auto terms) {
      for (std::size_t s = 0; s < slots; ++s) form_cavities(block_, terms, s, total_mean()[s], total_variance()[s]);
    });
    const std::size_t count = slots * block_.terms;
    const Results to_x = results_of(x_sink_, 0, first), to_y = results_of(y_sink_, 1, first);
    const double* const known = sides_.known();
    const bool is_good = known != nullptr ? block_of_known(known, block_.cavity_mean(), block_.cavity_variance(), count,
                                                           to_x.tau, to_x.rho)
                                          : backward_block<Rule, kToX, kToY>(block_, count, to_x, to_y);
    if (!is_good) return false;
    if (kToX && x_sink_.is_tracked) store_results(x_sink_, 0, first, count);
    if (kToY && y_sink_.is_tracked) store_results(y_sink_, 1, first, count);
    return true;
  }

  // Totals of the slots of a block, stored at the places of the results.
  double* total_mean() const { return block_.tau(0); }
  double* total_variance() const { return block_.rho(0); }
  // Returns false if one of them is uniform.
  bool read_totals(std::size_t first, std::size_t slots) const {
    const PortView& totals = call_.reads[2];
    double *const mean = total_mean(), *const variance = total_variance();
    const auto read = [&](const auto step) {
      const double *const tau = totals.tau + totals.offset(0, first), *const rho = totals.rho + totals.offset(0, first);
      std::int64_t uniform = 0;
      DMA_INDEPENDENT
      for (std::ptrdiff_t s = 0; s < static_cast<std::ptrdiff_t>(slots); ++s) {
        const double t = tau[s * step], r = rho[s * step], v = 1 / r, m = t * v;
        mean[s] = r == kInfinity ? t : m;
        variance[s] = v;
        uniform += r == 0 ? 1 : 0;
      }
      return uniform == 0;
    };
    return totals.column == 1 ? read(std::integral_constant<std::ptrdiff_t, 1>()) : read(totals.column);
  }

  // Untracked messages need no comparison with the old ones: they are written in place.
  Results results_of(const Sink& sink, int side, std::size_t first) const {
    if (sink.is_tracked) return {block_.tau(side), block_.rho(side)};
    const std::ptrdiff_t out = call_.out_offset(0, first);
    return {sink.tau + out, sink.rho + out};
  }

  void store_results(const Sink& sink, int side, std::size_t first, std::size_t count) {
    sink.store_all(call_.out_offset(0, first), block_.tau(side), block_.rho(side), count, first,
                         static_cast<std::uint32_t>(block_.terms), outcome_);
  }

  void one(std::size_t slot) {
    Unfused unfused(call_, slot);
    unfused.form_cavities(Gaussian(call_.reads[2].at(0, slot)));
    for (std::size_t t = 0; t < block_.terms; ++t) {
      const auto i = call_.out_offset(0, slot) + static_cast<std::ptrdiff_t>(t);
      const Gaussian x(unfused.x.at(0, slot, t)), y(unfused.y.at(0, slot, t));
      if constexpr (kToX) x_sink_.store(i, Rule::one(x, y, unfused.cavities[t]), slot, outcome_);
      if constexpr (kToY) y_sink_.store(i, Rule::one(y, x, unfused.cavities[t]), slot, outcome_);
    }
  }

  const Call& call_;
  Outcome& outcome_;
  const Block block_;
  Sides sides_;
  const Sink x_sink_, y_sink_;
};

}  // namespace

template <InnerProduct::Rule kRule, bool kToX, bool kToY>
void InnerProduct::to_terms(const Call& call, Outcome& outcome) {
  using Messages = std::conditional_t<kRule == Rule::direct, Direct, Linearised>;
  Backward<Messages, kToX, kToY>(call, outcome).all();
}

#define DMA_INSTANTIATE(rule)                                                      \
  template void InnerProduct::to_terms<rule, true, false>(const Call&, Outcome&); \
  template void InnerProduct::to_terms<rule, false, true>(const Call&, Outcome&); \
  template void InnerProduct::to_terms<rule, true, true>(const Call&, Outcome&);
DMA_INSTANTIATE(InnerProduct::Rule::direct)
DMA_INSTANTIATE(InnerProduct::Rule::linearised)
#undef DMA_INSTANTIATE

}  // namespace dma
