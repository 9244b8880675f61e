// Kernels for a cavity of x held as moments, with a y shared by all slots: the weights of a layer and its activations.
// The messages are those of forward.cpp and backward.cpp; messages to x update its moments at once. With the cavity
// N(c, k) of a product (inner_product.h) and d = k + (1 - s) c^2, the message to x is tau = s^2 my c / d and rho = s^3
// my^2 / d. In moments, with q = d + vx s^3 my^2,
//
//   vx <- vx d / q          mx <- (mx d + vx s^2 my c) / q
//
// To y, with s = mx^2 / u, u = mx^2 + vx and e = k u + vx c^2,
//
//   tau = mx^5 c / (u e)    rho = mx^8 / (u^2 e)
//
// so one division, 1 / (q u e), serves both; by linearisation (product_linearised.h) d and these are simpler. If y is
// known, q is the same for all terms, and a row costs one division. Rows with unusual messages are left to the kernels
// of natural parameters.
#include <array>
#include <cmath>
#include <type_traits>

#include "factors/arithmetic/inner_product.h"
#include "factors/arithmetic/inner_product/held_rows.h"

namespace dma {

namespace {

using namespace inner_product;

// One row by natural parameters; its messages to x are multiplied into the moments if it `learns`, and those to y are
// written to `to_y` if given.
void one_row(const Call& call, HeldCavity& x, std::size_t slot, Kernel kernel, bool learns, const MessageArrays& to_y,
             Outcome& outcome) {
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
    if (sink->tau != nullptr) {
      sink->tau += call.out_offset(0, slot);
      sink->rho += call.out_offset(0, slot);
    }
  if (to_y.tau != nullptr) {
    one.second_sink.tau = to_y.tau;
    one.second_sink.rho = to_y.rho;
  }
  Outcome own;
  kernel(one, own);
  for (std::uint64_t i = 0; i < own.faults; ++i) outcome.fault(slot);
  for (std::size_t t = 0; learns && t < terms; ++t) {
    const Gaussian belief(multiply(row[t], Natural{one.sink.tau[t], one.sink.rho[t]}));
    mean[t] = belief.mean();
    variance[t] = belief.variance();
  }
}

// y is known: s = 1, and with R the remaining variance, mx moves by vx y (rest) / R and vx shrinks by (vx y)^2 / R.
void learn_from_known(double* mx, double* vx, const double* y, std::size_t terms, double rest_mean,
                      double rest_variance) {
  const double inverse = 1 / rest_variance, scaled = rest_mean * inverse;
  DMA_INDEPENDENT
  for (std::size_t t = 0; t < terms; ++t) {
    const double gain = vx[t] * y[t];
    mx[t] += gain * scaled;
    vx[t] -= gain * gain * inverse;
  }
}

// Terms of one product under a rule: d, and y's message as a weight and a gain: tau = weight c, rho = weight gain, with
// all fractions computed from r = 1 / (q * below()).
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

// As above; the messages to y are added to those of earlier rows.
template <class Rule>
[[gnu::always_inline]] inline void learn_row(double* mx, double* vx, const HeldOther& y, const double* my,
                                             std::size_t terms, double rest_mean, double rest_variance,
                                             double* to_y_tau, double* to_y_rho) {
  const double* const vy = y.variance;
  const double *const tau_gain = y.tau_gain, *const rho_gain = y.rho_gain, *const last = y.last;
  DMA_INDEPENDENT
  for (std::size_t t = 0; t < terms; ++t) {
    const double m = mx[t], v = vx[t], u = m * m + v;
    const double c = rest_mean + m * my[t], k = rest_variance - (u * vy[t] + my[t] * my[t] * v);
    const Rule rule{m, v, vy[t], last[t], c, k};
    const double d = rule.d(), q = d + v * rho_gain[t], below = rule.below();
    const double r = 1 / (q * below), by_q = r * below, by_below = r * q;
    const double weight = rule.weight(by_below);
    to_y_tau[t] += weight * c;
    to_y_rho[t] += weight * rule.gain(by_below);
    mx[t] = (m * d + v * (tau_gain[t] * c)) * by_q;
    vx[t] = v * d * by_q;
  }
}

bool is_usable(double tau, double rho) { return (rho > 0) & (rho < kInfinity) & (std::abs(tau) < kInfinity); }

}  // namespace

void InnerProduct::held_to_total(const Call& call, HeldCavity& x, Outcome& outcome) {
  const HeldOther y(call, x);
  const std::size_t rows = call.columns, terms = call.reads[0].terms;
  const auto by_natural_parameters = [&](std::size_t row) {
    one_row(call, x, row, &to_total, false, {}, outcome);
  };
  const Found found = y.read();
  if (x.is_read_again) x.left = found;
  if (found == kUnusual) {
    for (std::size_t c = 0; c < rows; ++c) by_natural_parameters(c);
    return;
  }
  const OfRows sums(x, rows);
  sums_of_rows(x, y.mean(found), y.variance, found == kValues, x.is_read_again, rows, terms, sums);
  double *const tau = call.sink.tau, *const rho = call.sink.rho;
  std::int64_t bad = 0;
  DMA_INDEPENDENT
  for (std::size_t c = 0; c < rows; ++c) {
    rho[c] = 1 / sums.variance[c];
    tau[c] = sums.mean[c] * rho[c];
    bad += is_usable(tau[c], rho[c]) ? 0 : 1;
  }
  for (std::size_t c = 0; bad > 0 && c < rows; ++c)
    if (!is_usable(tau[c], rho[c])) by_natural_parameters(c);
}

template <InnerProduct::Rule kRule, bool kToY>
void InnerProduct::held_to_terms(const Call& call, HeldCavity& x, Outcome& outcome) {
  constexpr bool kDirect = kRule == Rule::direct;
  const HeldOther y(call, x);
  const std::size_t rows = call.columns, terms = call.reads[0].terms;
  // The product of all messages to y is stored in the first one.
  const MessageArrays all{call.second_sink.tau, call.second_sink.rho};
  const auto by_natural_parameters = [&](std::size_t row) {
    const MessageArrays to_y = kToY && y.is_shared ? y.spare : MessageArrays{};
    one_row(call, x, row, &to_terms<kRule, true, kToY>, true, to_y, outcome);
    for (std::size_t t = 0; to_y.tau != nullptr && t < terms; ++t) all.set(t, multiply(all[t], to_y[t]));
  };
  const bool was_read = x.left != kNotRead;
  const Found found = was_read ? static_cast<Found>(x.left) : y.read();
  // A known y receives ordinary messages too.
  const bool sums_are_known = was_read && !(kToY && found == kValues);
  if constexpr (kToY) {
    if (y.is_shared) {
      std::fill_n(all.tau, terms, 0.0);
      std::fill_n(all.rho, terms, 0.0);
    }
    if (found == kValues) std::fill_n(y.variance, terms, 0.0);
  }
  std::size_t left = rows;
  const OfRows rest(x, rows);
  constexpr double kLater = -1;  // placeholder for squares: sums of ordinary messages first, then the remaining rows
  if (found == (kToY ? kMoments : kValues) || (kToY && found == kValues)) {
    const double* const my = y.mean(found);
    if (!sums_are_known) sums_of_rows(x, my, y.variance, !kToY, kToY, rows, terms, rest);
    if constexpr (kToY) y.signal<kDirect>(my);
    const PortView& total = call.reads[2];
    left = 0;
    double *mx = x.mean, *vx = x.variance;
    for (std::size_t c = 0; c < rows; ++c, mx += terms, vx += terms) {
      const Natural message = total.at(0, c);
      const double total_variance = 1 / message.rho, squares = rest.squares[c];
      const double mean = (message.is_point() ? message.tau : message.tau * total_variance) - rest.mean[c];
      const double variance = rest.variance[c] + total_variance;
      // The total's variance mostly suffices; otherwise the terms are examined. It is infinite for a uniform total.
      if (is_ordinary(mean, variance, squares, total_variance) ||
          is_ordinary(mean, variance, squares, variance - largest_variance(mx, vx, my, y.variance, !kToY, terms))) {
        using Learns = std::conditional_t<kDirect, HeldDirect, HeldLinearised>;
        if constexpr (kToY) learn_row<Learns>(mx, vx, y, my, terms, mean, variance, all.tau, all.rho);
        else learn_from_known(mx, vx, my, terms, mean, variance);
      } else {
        rest.squares[c] = kLater;
        ++left;
      }
    }
  }
  for (std::size_t c = 0; left > 0 && c < rows; ++c)
    if (left == rows || rest.squares[c] == kLater) by_natural_parameters(c);
  if constexpr (kToY) {
    if (!y.is_shared) return;
    // A precision that underflows carries no information.
    for (std::size_t t = 0; t < terms; ++t) all.tau[t] = all.rho[t] == 0 ? 0 : all.tau[t];
    if (x.product.tau != nullptr) {
      std::copy_n(all.tau, terms, x.product.tau);
      std::copy_n(all.rho, terms, x.product.rho);
    }
  }
}

template void InnerProduct::held_to_terms<InnerProduct::Rule::direct, false>(const Call&, HeldCavity&, Outcome&);
template void InnerProduct::held_to_terms<InnerProduct::Rule::direct, true>(const Call&, HeldCavity&, Outcome&);
template void InnerProduct::held_to_terms<InnerProduct::Rule::linearised, false>(const Call&, HeldCavity&, Outcome&);
template void InnerProduct::held_to_terms<InnerProduct::Rule::linearised, true>(const Call&, HeldCavity&, Outcome&);

}  // namespace dma
