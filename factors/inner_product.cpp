#include "factors/inner_product.h"

#include <type_traits>

#include "factors/inner_product_rows.h"
#include "factors/product_linearised.h"

namespace dma {

double InnerProduct::value(std::span<const double> v) {
  double sum = 0;
  for (std::size_t t = 0; t < v.size() / 2; ++t) sum += v[t] * v[v.size() / 2 + t];
  return sum;
}

namespace {

using namespace inner_product;

// Messages to one factor from the cavity N(c, k) of its product, as d, tau = weight c / d and rho = weight gain / d.
// Prop. 3.2, see product.h.
struct Direct {
  static constexpr bool kUsesSignal = true;
  static double denominator(const Side&, const Side& other, std::size_t t, double c, double k) {
    return k + other.rest[t] * c * c;
  }
  static double gain(const Side& other, std::size_t t) { return other.signal[t] * other.mean[t]; }
  static double weight(const Side& other, std::size_t t) { return other.signal[t] * gain(other, t); }
  static Gaussian one(const Gaussian&, const Gaussian& other, const Gaussian& z) { return Product::to_factor(other, z); }
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

// Where the messages of a row go.
struct Results {
  double *tau, *rho;
};

// All messages of one row to x, y or both; false if one of them is not valid. A rho computed here is never negative.
template <class Rule, bool kToX, bool kToY>
bool backward_row(const Row& row, double total_mean, double total_variance, [[maybe_unused]] const Results& to_x,
                  [[maybe_unused]] const Results& to_y) {
  const Side x = row.x(), y = row.y();
  const double *const m = row.mean(), *const v = row.variance();
  const double *const later_m = row.later_means(), *const later_v = row.later_variances();
  double earlier_m = 0, earlier_v = 0;
  int bad = 0;
  for (std::size_t t = 0; t < row.terms; ++t) {
    const double c = total_mean - (earlier_m + later_m[t]), k = total_variance + (earlier_v + later_v[t]);
    earlier_m += m[t];
    earlier_v += v[t];
    const double to_x_d = Rule::denominator(x, y, t, c, k), to_y_d = Rule::denominator(y, x, t, c, k);
    // One division serves both.
    const double inverse = 1 / (kToX && kToY ? to_x_d * to_y_d : kToX ? to_x_d : to_y_d);
    const auto result = [&](const Side& other, double share, const Results& to) {
      const double weight = Rule::weight(other, t) * (share * inverse);
      const double tau = weight * c, rho = weight * Rule::gain(other, t);
      to.tau[t] = tau;
      to.rho[t] = rho;
      bad += !(inverse > 0 && inverse < kInfinity && rho < kInfinity && is_valid({tau, rho}));
    };
    if constexpr (kToX) result(y, kToY ? to_y_d : 1.0, to_x);
    if constexpr (kToY) result(x, kToX ? to_x_d : 1.0, to_y);
  }
  return bad == 0;
}

template <class Rule, bool kTracked, bool kToX, bool kToY>
void backward(const Batch& batch, Outcome& outcome) {
  const Row row(batch);
  Sides sides(batch, row, Rule::kUsesSignal && kToY, Rule::kUsesSignal && kToX);
  const Sink& x_sink = batch.sink;
  const Sink& y_sink = kToX ? batch.second_sink : batch.sink;
  for (std::size_t c = 0; c < batch.columns; ++c) {
    const Gaussian total(batch.reads[2].at(0, c));
    const bool usable = sides.read(c);
    const std::ptrdiff_t out = batch.out_offset(0, c);
    bool done = false;
    if (usable && !total.is_uniform()) {
      form_products(row);
      form_later_sums(row);
      // Untracked messages need no comparison with the old ones: they go straight to their place.
      const auto results = [&](const Sink& sink, int side) {
        return kTracked ? Results{row.tau(side), row.rho(side)} : Results{sink.tau + out, sink.rho + out};
      };
      done = backward_row<Rule, kToX, kToY>(row, total.mean(), total.variance(), results(x_sink, 0), results(y_sink, 1));
    }
    if (done && kTracked) {
      for (std::size_t t = 0; t < row.terms; ++t) {
        const auto i = out + static_cast<std::ptrdiff_t>(t);
        if constexpr (kToX) x_sink.store<kTracked>(i, {row.tau(0)[t], row.rho(0)[t]}, c, outcome);
        if constexpr (kToY) y_sink.store<kTracked>(i, {row.tau(1)[t], row.rho(1)[t]}, c, outcome);
      }
    } else if (!done) {
      Unfused unfused(batch, c);
      unfused.form_cavities(total);
      for (std::size_t t = 0; t < row.terms; ++t) {
        const auto i = out + static_cast<std::ptrdiff_t>(t);
        const Gaussian x(unfused.x.at(0, c, t)), y(unfused.y.at(0, c, t));
        if constexpr (kToX) x_sink.store<kTracked>(i, Rule::one(x, y, unfused.cavities[t]), c, outcome);
        if constexpr (kToY) y_sink.store<kTracked>(i, Rule::one(y, x, unfused.cavities[t]), c, outcome);
      }
    }
  }
}

}  // namespace

template <bool kTracked>
void InnerProduct::to_total(const Batch& batch, Outcome& outcome) {
  const Row row(batch);
  Sides sides(batch, row, false, false);
  for (std::size_t c = 0; c < batch.columns; ++c) {
    double mean = 0, variance = kInfinity;
    if (sides.read(c)) {
      form_products(row);
      variance = 0;
      for (std::size_t t = 0; t < row.terms; ++t) {
        mean += row.mean()[t];
        variance += row.variance()[t];
      }
    }
    const Gaussian total = std::abs(mean) < kInfinity && variance < kInfinity ? Gaussian::from_moments(mean, variance)
                                                                              : Sum::to_total(Unfused(batch, c).products, {});
    batch.sink.store<kTracked>(batch.out_offset(0, c), total, c, outcome);
  }
}

template <InnerProduct::Rule kRule, bool kTracked, bool kToX, bool kToY>
void InnerProduct::to_terms(const Batch& batch, Outcome& outcome) {
  using Messages = std::conditional_t<kRule == Rule::direct, Direct, Linearised>;
  backward<Messages, kTracked, kToX, kToY>(batch, outcome);
}

template void InnerProduct::to_total<false>(const Batch&, Outcome&);
template void InnerProduct::to_total<true>(const Batch&, Outcome&);
#define DMA_INSTANTIATE(rule)                                                                   \
  template void InnerProduct::to_terms<rule, false, true, false>(const Batch&, Outcome&);       \
  template void InnerProduct::to_terms<rule, false, false, true>(const Batch&, Outcome&);       \
  template void InnerProduct::to_terms<rule, false, true, true>(const Batch&, Outcome&);        \
  template void InnerProduct::to_terms<rule, true, true, false>(const Batch&, Outcome&);        \
  template void InnerProduct::to_terms<rule, true, false, true>(const Batch&, Outcome&);        \
  template void InnerProduct::to_terms<rule, true, true, true>(const Batch&, Outcome&);
DMA_INSTANTIATE(InnerProduct::Rule::direct)
DMA_INSTANTIATE(InnerProduct::Rule::linearised)
#undef DMA_INSTANTIATE

}  // namespace dma
