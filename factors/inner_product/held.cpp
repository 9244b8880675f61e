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
};

// One number for each row: its sums and later, in their places, what is left of the total without them.
struct OfRows {
  OfRows(const HeldContext& x, std::size_t rows) : mean(x.per_slot), variance(mean + rows), squares(variance + rows) {}
  double *mean, *variance, *squares;
};
static_assert(kHeldPerSlot == 3);

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
template <bool kKnown, bool kSquares>
void sums_of_rows(const HeldContext& x, const HeldOther& y, std::size_t rows, std::size_t terms, const OfRows& to) {
  for (std::size_t c = 0; c < rows; ++c) {
    const RowSums<double> sums = sums_of_row<kKnown, kSquares>(x.mean + c * terms, x.variance + c * terms, y, terms);
    to.mean[c] = sums.mean, to.variance[c] = sums.variance, to.squares[c] = sums.mean_squares;
  }
}
void sums_of_rows(const HeldContext& x, const HeldOther& y, std::size_t rows, std::size_t terms, const OfRows& to) {
  if (y.is_known()) sums_of_rows<true, false>(x, y, rows, terms, to);
  else if (x.learns) sums_of_rows<false, true>(x, y, rows, terms, to);
  else sums_of_rows<false, false>(x, y, rows, terms, to);
}

double largest_variance(const double* mx, const double* vx, const HeldOther& y, std::size_t terms) {
  double largest = 0;
  for (std::size_t t = 0; t < terms; ++t)
    largest = std::max(largest, (mx[t] * mx[t] + vx[t]) * y.side().variance[t] + y.squares()[t] * vx[t]);
  return largest;
}

// Whether no power below leaves the range of double and no term dominates the others (see cavities.h), given what is left
// of the total without the sum over all products, the squares of their means, and the least variance of a cavity.
bool is_ordinary(double rest_mean, double rest_variance, double squares, double least) {
  constexpr double kMuch = 256, kFar = 1e30, kManyDeviations = 1e20;
  return (kMuch * least >= rest_variance) & (kMuch * kMuch * least >= squares) & (rest_variance > 1 / kFar) &
         (rest_variance < kFar) & (rest_mean * rest_mean < kManyDeviations * rest_variance);
}

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
void learn_from_known(double* mx, double* vx, const double* y, std::size_t terms, double rest_mean, double rest_variance) {
  const double inverse = 1 / rest_variance, scaled = rest_mean * inverse;
  DMA_INDEPENDENT
  for (std::size_t t = 0; t < terms; ++t) {
    const double gain = vx[t] * y[t];
    mx[t] += gain * scaled;
    vx[t] -= gain * gain * inverse;
  }
}

// As above. A precision to y that underflows tells nothing. `rho_gain` is s^3 my^2.
void learn_row(double* mx, double* vx, const Side& y, const double* rho_gain, std::size_t terms, double rest_mean,
               double rest_variance, double* to_y_tau, double* to_y_rho) {
  const double *const my = y.mean, *const vy = y.variance, *const tau_gain = y.weight, *const one_minus_s = y.rest;
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
  const std::size_t rows = call.columns, terms = call.reads[0].terms;
  const auto by_natural_parameters = [&](std::size_t row) { one_row(call, x, row, &to_total<false>, false, outcome); };
  x.is_remembered = y.is_shared();
  if (!y.is_shared()) {
    for (std::size_t c = 0; c < rows; ++c) by_natural_parameters(c);
    return;
  }
  if (x.learns) y.remember(x.per_term);
  const OfRows sums(x, rows);
  sums_of_rows(x, y, rows, terms, sums);
  double *const tau = call.sink.tau, *const rho = call.sink.rho;
  std::int64_t bad = 0;
  const auto is_bad = [&](std::size_t c) {
    return ((rho[c] > 0) & (rho[c] < kInfinity) & (std::abs(tau[c]) < kInfinity)) ? 0 : 1;
  };
  DMA_INDEPENDENT
  for (std::size_t c = 0; c < rows; ++c) {
    rho[c] = 1 / sums.variance[c];
    tau[c] = sums.mean[c] * rho[c];
    bad += is_bad(c);
  }
  for (std::size_t c = 0; bad > 0 && c < rows; ++c)
    if (is_bad(c)) by_natural_parameters(c);
}

template <bool kToY>
void InnerProduct::held_to_terms(const Call& call, HeldContext& x, Outcome& outcome) {
  const HeldOther y(call, true);
  const std::size_t rows = call.columns, terms = call.reads[0].terms;
  const auto by_natural_parameters = [&](std::size_t row) {
    one_row(call, x, row, &to_terms<Rule::direct, false, true, kToY>, true, outcome);
  };
  const bool sums_are_known = x.is_remembered && y.is_remembered(x.per_term);
  x.is_remembered = false;
  if (!y.is_shared() || (!kToY && !y.is_known())) {
    for (std::size_t c = 0; c < rows; ++c) by_natural_parameters(c);
    return;
  }
  const OfRows rest(x, rows);
  if (!sums_are_known) sums_of_rows(x, y, rows, terms, rest);
  double* const rho_gain = y.spare();
  for (std::size_t t = 0; t < terms; ++t) rho_gain[t] = y.side().weight[t] * y.side().gain[t];
  const PortView& total = call.reads[2];
  for (std::size_t c = 0; c < rows; ++c) {
    const Natural message = total.at(0, c);
    const double variance = 1 / message.rho;
    rest.mean[c] = (message.is_point() ? message.tau : message.tau * variance) - rest.mean[c];
    rest.variance[c] += variance;
  }
  constexpr double kLater = -1;  // in place of squares: the other kernels use the memory that y is in
  std::size_t left = 0;
  for (std::size_t c = 0; c < rows; ++c) {
    double *const mx = x.mean + c * terms, *const vx = x.variance + c * terms;
    const double mean = rest.mean[c], variance = rest.variance[c], squares = rest.squares[c];
    // The total alone mostly is variance enough; otherwise the terms are looked at. Of a uniform one it is infinite.
    if (is_ordinary(mean, variance, squares, 1 / total.at(0, c).rho) ||
        is_ordinary(mean, variance, squares, variance - largest_variance(mx, vx, y, terms))) {
      const std::ptrdiff_t out = call.out_offset(0, c);
      if constexpr (kToY)
        learn_row(mx, vx, y.side(), rho_gain, terms, mean, variance, call.second_sink.tau + out, call.second_sink.rho + out);
      else
        learn_from_known(mx, vx, y.side().mean, terms, mean, variance);
    } else {
      rest.squares[c] = kLater;
      ++left;
    }
  }
  for (std::size_t c = 0; left > 0 && c < rows; ++c)
    if (rest.squares[c] == kLater) by_natural_parameters(c);
}

template void InnerProduct::held_to_terms<false>(const Call&, HeldContext&, Outcome&);
template void InnerProduct::held_to_terms<true>(const Call&, HeldContext&, Outcome&);

}  // namespace dma
