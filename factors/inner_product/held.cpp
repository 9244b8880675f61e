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

// Sums over the products of a row, from which all that its messages need to be ordinary can be told.
template <class Number>
struct RowSums {
  Number mean{}, variance{}, mean_squares{}, variance_squares{}, second{};  // m_t, v_t, m_t^2, v_t^2 and mx^2 + vx

  [[gnu::always_inline]] void add(const Number& mx, const Number& vx, const Number& my, const Number& vy) {
    const Number u = mx * mx + vx, m = mx * my, v = u * vy + my * my * vx;
    mean += m;
    variance += v;
    mean_squares += m * m;
    variance_squares += v * v;
    second += u;
  }
  template <class Other>
  void add(const RowSums<Other>& o) {
    mean += total(o.mean), variance += total(o.variance), mean_squares += total(o.mean_squares);
    variance_squares += total(o.variance_squares), second += total(o.second);
  }

  void write(double* to) const {
    const double numbers[kHeldPerSlot] = {mean, variance, mean_squares, variance_squares, second};
    std::copy_n(numbers, kHeldPerSlot, to);
  }
  static RowSums read(const double* from) { return {from[0], from[1], from[2], from[3], from[4]}; }
};

RowSums<double> sums_of_row(const double* mx, const double* vx, const double* my, const double* vy, std::size_t terms) {
  RowSums<Pair> first, second;  // additions wait for each other
  RowSums<double> all;
  std::size_t t = 0;
  for (; t + 4 <= terms; t += 4) {
    first.add(load_pair(mx + t), load_pair(vx + t), load_pair(my + t), load_pair(vy + t));
    second.add(load_pair(mx + t + 2), load_pair(vx + t + 2), load_pair(my + t + 2), load_pair(vy + t + 2));
  }
  for (; t < terms; ++t) all.add(mx[t], vx[t], my[t], vy[t]);
  all.add(first);
  all.add(second);
  return all;
}

// What is left of the total without the sum over all products, and whether every term is ordinary: none dominates the rest
// of them (see cavities.h), and no power below leaves the range of double.
struct HeldRest {
  double mean, variance;
  bool is_ordinary;
  bool has_small_means;  // asked for where they are added to a cavity

  HeldRest(const RowSums<double>& sums, const Natural& total) {
    constexpr double kMuch = 256, kFar = 1e60;
    const double total_variance = 1 / total.rho;
    mean = (total.is_point() ? total.tau : total.tau * total_variance) - sums.mean;
    variance = total_variance + sums.variance;
    const double least = variance - std::sqrt(sums.variance_squares);  // of the variances of all cavities
    is_ordinary = (kMuch * least >= variance) & (variance > 1 / kFar) & (variance + mean * mean + sums.second < kFar);
    has_small_means = kMuch * kMuch * least >= sums.mean_squares;
  }
};

// The other side of every row.
class HeldOther {
 public:
  HeldOther(const Call& call, bool with_signal) : view_(call.reads[1]), block_(call), side_(block_.y()) {
    is_shared_ = view_.column == 0 && side_.read(view_, 0, view_.terms, with_signal);
    for (std::size_t t = 0; is_shared_ && t < view_.terms; ++t) is_known_ &= side_.variance[t] == 0;
  }
  bool is_shared() const { return is_shared_; }  // and its moments are in the range of double
  bool is_known() const { return is_known_; }
  const Side& side() const { return side_; }
  double* spare() const { return block_.mean(); }

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
  bool is_shared_ = false, is_known_ = true;
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
    silent += rho > 0 ? 0 : 1;
  }
  for (std::size_t t = 0; silent > 0 && t < terms; ++t)
    if (!(to_y_rho[t] > 0)) to_y_tau[t] = to_y_rho[t] = 0;
}

}  // namespace

void InnerProduct::held_to_total(const Call& call, HeldContext& x, Outcome& outcome) {
  const HeldOther y(call, false);
  const std::size_t terms = call.reads[0].terms;
  x.is_remembered = y.is_shared();
  if (x.is_remembered) y.remember(x.per_term);
  for (std::size_t c = 0; c < call.columns; ++c) {
    if (y.is_shared()) {
      const RowSums<double> sums = sums_of_row(x.mean + c * terms, x.variance + c * terms, y.side().mean, y.side().variance, terms);
      sums.write(x.per_slot + c * kHeldPerSlot);
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
      const RowSums<double> sums = sums_are_known ? RowSums<double>::read(x.per_slot + c * kHeldPerSlot)
                                                  : sums_of_row(mx, vx, y.side().mean, y.side().variance, terms);
      const HeldRest rest(sums, total);
      if (rest.is_ordinary && (!kToY || rest.has_small_means)) {
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
