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
// so that 1 / (q u e) serves both; by linearisation (product_linearised.h) d and these are simpler. Where y is known, q is the same for all terms, and a row costs one division.
// A row that holds anything out of the ordinary is done by the kernels of natural parameters.
#include <array>
#include <cmath>
#include <type_traits>

#include "factors/inner_product.h"
#include "factors/inner_product/held_rows.h"

namespace dma {

namespace {

using namespace inner_product;

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

// What a rule makes of one product: d, and what y learns as a weight and a gain: tau = weight c, rho = weight gain, with all
// fractions taken from r = 1 / (q * below()).
struct HeldDirect {
  double m, v, vy, one_minus_s, c, k;
  double u = m * m + v, e = k * u + v * (c * c);
  double d() const { return k + one_minus_s * (c * c); }
  double below() const { return u * e; }
  double weight(double by_below) const { return m * m * m * (m * m) * by_below; }
  double gain(double by_below) const { return m * m * m * (by_below * e); }
};
// See product_linearised.h: d = k + vy u towards x, k + vx (my^2 + vy) towards y.
struct HeldLinearised {
  double m, v, vy, my_square, c, k;
  double d() const { return k + vy * (m * m + v); }
  double below() const { return k + v * (my_square + vy); }
  double weight(double by_below) const { return m * by_below; }
  double gain(double) const { return m; }
};

// As above. A precision to y that underflows tells nothing. `last` is 1 - s or my^2, as the rule wants; tau_gain and rho_gain
// are what x learns of c / d and 1 / d.
template <class Rule>
void learn_row(double* mx, double* vx, const HeldOther& y, const double* last, const double* tau_gain, const double* rho_gain,
               std::size_t terms, double rest_mean, double rest_variance, double* to_y_tau, double* to_y_rho) {
  const double *const my = y.side().mean, *const vy = y.side().variance;
  std::int64_t silent = 0;
  DMA_INDEPENDENT
  for (std::size_t t = 0; t < terms; ++t) {
    const double m = mx[t], v = vx[t], u = m * m + v;
    const double c = rest_mean + m * my[t], k = rest_variance - (u * vy[t] + my[t] * my[t] * v);
    const Rule rule{m, v, vy[t], last[t], c, k};
    const double d = rule.d(), q = d + v * rho_gain[t], below = rule.below();
    const double r = 1 / (q * below), by_q = r * below, by_below = r * q;
    const double weight = rule.weight(by_below), rho = weight * rule.gain(by_below);
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
  x.is_remembered = y.is_shared() && x.per_term != nullptr;
  if (!y.is_shared()) {
    for (std::size_t c = 0; c < rows; ++c) by_natural_parameters(c);
    return;
  }
  if (x.is_remembered) y.remember(x.per_term);
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

template <InnerProduct::Rule kRule, bool kToY>
void InnerProduct::held_to_terms(const Call& call, HeldContext& x, Outcome& outcome) {
  constexpr bool kDirect = kRule == Rule::direct;
  const HeldOther y(call, kDirect);
  const std::size_t rows = call.columns, terms = call.reads[0].terms;
  const auto by_natural_parameters = [&](std::size_t row) {
    one_row(call, x, row, &to_terms<kRule, false, true, kToY>, true, outcome);
  };
  const bool sums_are_known = x.is_remembered && y.is_remembered(x.per_term);
  x.is_remembered = false;
  if (!y.is_shared() || (!kToY && !y.is_known())) {
    for (std::size_t c = 0; c < rows; ++c) by_natural_parameters(c);
    return;
  }
  const OfRows rest(x, rows);
  if (!sums_are_known) sums_of_rows(x, y, rows, terms, rest);
  const Side& side = y.side();
  for (std::size_t t = 0; kDirect && t < terms; ++t) y.spare()[t] = side.weight[t] * side.gain[t];
  const double *const last = kDirect ? side.rest : y.squares(), *const tau_gain = kDirect ? side.weight : side.mean;
  const double* const rho_gain = kDirect ? y.spare() : y.squares();
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
      using Learns = std::conditional_t<kDirect, HeldDirect, HeldLinearised>;
      if constexpr (kToY)
        learn_row<Learns>(mx, vx, y, last, tau_gain, rho_gain, terms, mean, variance, call.second_sink.tau + out,
                          call.second_sink.rho + out);
      else
        learn_from_known(mx, vx, side.mean, terms, mean, variance);
    } else {
      rest.squares[c] = kLater;
      ++left;
    }
  }
  for (std::size_t c = 0; left > 0 && c < rows; ++c)
    if (rest.squares[c] == kLater) by_natural_parameters(c);
}

template void InnerProduct::held_to_terms<InnerProduct::Rule::direct, false>(const Call&, HeldContext&, Outcome&);
template void InnerProduct::held_to_terms<InnerProduct::Rule::direct, true>(const Call&, HeldContext&, Outcome&);
template void InnerProduct::held_to_terms<InnerProduct::Rule::linearised, false>(const Call&, HeldContext&, Outcome&);
template void InnerProduct::held_to_terms<InnerProduct::Rule::linearised, true>(const Call&, HeldContext&, Outcome&);

}  // namespace dma
