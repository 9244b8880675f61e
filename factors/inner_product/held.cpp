// Where the context of x is held as moments, and y is the same for all slots: the weights of a layer and its activations.
// The messages are those of forward.cpp and backward.cpp; what is sent to x changes it at once. With the cavity N(c, k) of
// a product (inner_product.h) and d = k + (1 - s) c^2, x learns tau = s^2 my c / d and rho = s^3 my^2 / d. In moments, with
// q = d + vx s^3 my^2,
//
//   vx <- vx d / q          mx <- (mx d + vx s^2 my c) / q
//
// To y, where s = mx^2 / u, u = mx^2 + vx makes, with e = k u + vx c^2,
//
//   tau = mx^5 c / (u e)    rho = mx^8 / (u^2 e)
//
// so that 1 / (q u e) serves both. Where y is known, q is the same for all terms, and a row costs one division.
// A row that holds anything out of the ordinary is done by the kernels of natural parameters.
#include <array>
#include <cmath>
#include <cstring>

#include "factors/inner_product.h"
#include "factors/inner_product/block.h"
#include "engine/support/pair.h"

namespace dma {

namespace {

using namespace inner_product;

// The other side of every row.
class HeldOther {
 public:
  HeldOther(const Call& call, bool with_signal) : view_(call.reads[1]), block_(call), side_(block_.y()) {
    constexpr double kFar = 1e15;
    is_shared_ = view_.column == 0 && side_.read(view_, 0, view_.terms, with_signal);
    std::int64_t unknown = 0, far = 0;
    for (std::size_t t = 0; is_shared_ && t < view_.terms; ++t) {
      const double m = side_.mean[t], v = side_.variance[t];
      squares()[t] = m * m;
      unknown += v == 0 ? 0 : 1;
      far += ((std::abs(m) < kFar) & (v < kFar)) ? 0 : 1;
    }
    is_known_ = unknown == 0;
    is_shared_ &= far == 0;
  }
  bool is_shared() const { return is_shared_; }  // and its moments are not out of range
  bool is_known() const { return is_known_; }
  const Side& side() const { return side_; }
  double* squares() const { return block_.mean(); }
  double* spare() const { return block_.variance(); }

  // The numbers themselves, so that it can be seen whether they are still the same.
  void remember(double* numbers) const {
    std::memcpy(numbers, view_.tau, view_.terms * sizeof(double));
    std::memcpy(numbers + view_.terms, view_.rho, view_.terms * sizeof(double));
  }
  bool is_remembered(const double* numbers) const {
    return std::memcmp(numbers, view_.tau, view_.terms * sizeof(double)) == 0 &&
           std::memcmp(numbers + view_.terms, view_.rho, view_.terms * sizeof(double)) == 0;
  }

 private:
  const PortView& view_;
  const Block block_;
  const Side side_;
  bool is_shared_ = false, is_known_ = false;
};

// Sums over the products of a row: m_t, v_t and m_t^2.
template <class Number>
struct RowSums {
  Number mean{}, variance{}, mean_squares{};

  // `square` is my^2.
  template <bool kKnown, bool kSquares>
  [[gnu::always_inline]] void add(const Number& mx, const Number& vx, const Number& my, const Number& vy, const Number& square) {
    const Number m = mx * my;
    mean += m;
    if constexpr (kSquares) mean_squares += m * m;
    if constexpr (!kKnown) variance += (mx * mx + vx) * vy;
    variance += square * vx;
  }
  template <class Other>
  void add(const RowSums<Other>& o) {
    mean += total(o.mean), variance += total(o.variance), mean_squares += total(o.mean_squares);
  }

  void write(double* to) const { to[0] = mean, to[1] = variance, to[2] = mean_squares; }
  static RowSums read(const double* from) { return {from[0], from[1], from[2]}; }
};

// y is known: vy = 0. Squares are wanted if the row is to learn, and then if y is not known.
template <bool kKnown, bool kSquares>
RowSums<double> sums_of_row(const double* mx, const double* vx, const HeldOther& y, std::size_t terms) {
  const double *const my = y.side().mean, *const vy = y.side().variance, *const square = y.squares();
  RowSums<Pair> sums[2];  // additions wait for each other
  RowSums<double> all;
  std::size_t t = 0;
  for (; t + 4 <= terms; t += 4)
    for (std::size_t i = 0; i < 2; ++i) {
      const std::size_t at = t + 2 * i;
      sums[i].template add<kKnown, kSquares>(load_pair(mx + at), load_pair(vx + at), load_pair(my + at),
                                             kKnown ? Pair{} : load_pair(vy + at), load_pair(square + at));
    }
  for (; t < terms; ++t) all.template add<kKnown, kSquares>(mx[t], vx[t], my[t], vy[t], square[t]);
  all.add(sums[0]);
  all.add(sums[1]);
  return all;
}
RowSums<double> sums_of_row(const double* mx, const double* vx, const HeldOther& y, std::size_t terms, bool squares) {
  if (y.is_known()) return sums_of_row<true, false>(mx, vx, y, terms);
  return squares ? sums_of_row<false, true>(mx, vx, y, terms) : sums_of_row<false, false>(mx, vx, y, terms);
}

double largest_variance(const double* mx, const double* vx, const HeldOther& y, std::size_t terms) {
  double largest = 0;
  for (std::size_t t = 0; t < terms; ++t)
    largest = std::max(largest, (mx[t] * mx[t] + vx[t]) * y.side().variance[t] + y.squares()[t] * vx[t]);
  return largest;
}

// What is left of the total without the sum over all products.
struct HeldRest {
  double mean, variance;
  double without_products;  // of that variance, what the total brings
  double mean_squares;

  HeldRest(const RowSums<double>& sums, const Natural& total)
      : without_products(1 / total.rho), mean_squares(sums.mean_squares) {
    mean = (total.is_point() ? total.tau : total.tau * without_products) - sums.mean;
    variance = without_products + sums.variance;
  }
  // No power below leaves the range of double, and no term dominates the others (see cavities.h), if `least` is the least
  // variance of a cavity.
  bool is_ordinary(double least, bool known) const {
    constexpr double kMuch = 256, kFar = 1e30, kManyDeviations = 1e20;
    return (kMuch * least >= variance) & (known | (kMuch * kMuch * least >= mean_squares)) & (variance > 1 / kFar) &
           (variance < kFar) & (mean * mean < kManyDeviations * variance);
  }
  // The total alone mostly is variance enough; otherwise the terms are looked at.
  bool is_ordinary(const double* mx, const double* vx, const HeldOther& y, std::size_t terms) const {
    return is_ordinary(without_products, y.is_known()) ||
           is_ordinary(variance - largest_variance(mx, vx, y, terms), y.is_known());
  }
};

// One row by natural parameters; what it sends to x is multiplied into the moments if it `learns`.
void one_row(const Call& call, HeldContext& x, std::size_t slot, Kernel kernel, bool learns, Outcome& outcome) {
  const std::size_t terms = call.reads[0].terms, first = slot * terms;
  const MessageArrays row = x.natural.from(first);
  double *const mean = x.mean + first, *const variance = x.variance + first;
  for (std::size_t t = 0; t < terms; ++t) row.set(t, learned(row[t], mean[t], variance[t]));
  std::array<PortView, 3> reads{};
  for (std::size_t i = 0; i < (learns ? 3u : 2u); ++i) {
    reads[i] = call.reads[i];
    reads[i].tau += call.reads[i].offset(0, slot);
    reads[i].rho += call.reads[i].offset(0, slot);
  }
  Call one = call;
  one.columns = 1;
  one.reads = reads.data();
  for (Sink* sink : {&one.sink, &one.second_sink})
    if (sink->tau != nullptr) sink->tau += call.out_offset(0, slot), sink->rho += call.out_offset(0, slot);
  Outcome own;
  kernel(one, own);
  for (std::uint64_t i = 0; i < own.faults; ++i) outcome.fault(slot);
  for (std::size_t t = 0; learns && t < terms; ++t) {
    const Gaussian belief(multiply(row[t], Natural{one.sink.tau[t], one.sink.rho[t]}));
    mean[t] = belief.mean();
    variance[t] = belief.variance();
  }
}

// y is known: s = 1, and with R the variance of what is left, mx moves by vx y (rest) / R and vx shrinks by (vx y)^2 / R.
void learn_from_known(double* mx, double* vx, const double* y, std::size_t terms, const HeldRest& rest) {
  const double inverse = 1 / rest.variance, scaled = rest.mean * inverse;
  DMA_INDEPENDENT
  for (std::size_t t = 0; t < terms; ++t) {
    const double gain = vx[t] * y[t];
    mx[t] += gain * scaled;
    vx[t] -= gain * gain * inverse;
  }
}

// As above. A precision to y that underflows tells nothing. `rho_gain` is s^3 my^2.
void learn_row(double* mx, double* vx, const Side& y, const double* rho_gain, std::size_t terms, const HeldRest& rest, double* to_y_tau,
               double* to_y_rho) {
  const double *const my = y.mean, *const vy = y.variance, *const tau_gain = y.weight, *const one_minus_s = y.rest;
  const double rest_mean = rest.mean, rest_variance = rest.variance;
  std::int64_t silent = 0;
  DMA_INDEPENDENT
  for (std::size_t t = 0; t < terms; ++t) {
    const double m = mx[t], v = vx[t], square = m * m, u = square + v, cube = square * m;
    const double c = rest_mean + m * my[t], k = rest_variance - (u * vy[t] + my[t] * my[t] * v);
    const double d = k + one_minus_s[t] * (c * c), q = d + v * rho_gain[t];
    const double e = k * u + v * (c * c), ue = u * e;
    const double r = 1 / (q * ue), by_q = r * ue, by_ue = r * q;
    const double weight = cube * square * by_ue, rho = weight * cube * (by_ue * e);
    to_y_tau[t] = weight * c;
    to_y_rho[t] = rho;
    mx[t] = (m * d + v * (tau_gain[t] * c)) * by_q;
    vx[t] = v * d * by_q;
    silent += rho == 0 ? 1 : 0;
  }
  for (std::size_t t = 0; silent > 0 && t < terms; ++t)
    if (to_y_rho[t] == 0) to_y_tau[t] = 0;
}

}  // namespace

void InnerProduct::held_to_total(const Call& call, HeldContext& x, Outcome& outcome) {
  const HeldOther y(call, false);
  const std::size_t terms = call.reads[0].terms;
  x.is_remembered = x.learns && y.is_shared();
  if (x.is_remembered) y.remember(x.per_term);
  for (std::size_t c = 0; c < call.columns; ++c) {
    if (y.is_shared()) {
      const RowSums<double> sums = sums_of_row(x.mean + c * terms, x.variance + c * terms, y, terms, x.learns);
      if (x.is_remembered) sums.write(x.per_slot + c * kHeldPerSlot);
      if (std::abs(sums.mean) < kInfinity && sums.variance < kInfinity && sums.variance > 0) {
        call.sink.store<false>(call.out_offset(0, c), Gaussian::from_moments(sums.mean, sums.variance), c, outcome);
        continue;
      }
    }
    one_row(call, x, c, &to_total<false>, false, outcome);
  }
}

template <bool kToY>
void InnerProduct::held_to_terms(const Call& call, HeldContext& x, Outcome& outcome) {
  const HeldOther y(call, true);
  const std::size_t terms = call.reads[0].terms;
  const bool sums_are_known = x.is_remembered && y.is_remembered(x.per_term);
  x.is_remembered = false;
  const bool is_quick = y.is_shared() && (kToY || y.is_known());
  double* const rho_gain = y.spare();
  for (std::size_t t = 0; is_quick && t < terms; ++t) rho_gain[t] = y.side().weight[t] * y.side().gain[t];
  for (std::size_t c = 0; c < call.columns; ++c) {
    double *const mx = x.mean + c * terms, *const vx = x.variance + c * terms;
    const Natural total = call.reads[2].at(0, c);
    if (is_quick && !total.is_uniform()) {
      const HeldRest rest(sums_are_known ? RowSums<double>::read(x.per_slot + c * kHeldPerSlot) : sums_of_row(mx, vx, y, terms, true), total);
      if (rest.is_ordinary(mx, vx, y, terms)) {
        const std::ptrdiff_t out = call.out_offset(0, c);
        if constexpr (kToY) learn_row(mx, vx, y.side(), rho_gain, terms, rest, call.second_sink.tau + out, call.second_sink.rho + out);
        else learn_from_known(mx, vx, y.side().mean, terms, rest);
        continue;
      }
    }
    one_row(call, x, c, &to_terms<Rule::direct, false, true, kToY>, true, outcome);
  }
}

template void InnerProduct::held_to_terms<false>(const Call&, HeldContext&, Outcome&);
template void InnerProduct::held_to_terms<true>(const Call&, HeldContext&, Outcome&);

}  // namespace dma
