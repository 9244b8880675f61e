#include "factors/inner_product.h"

#include "factors/product.h"
#include "factors/sum.h"

namespace dma {

double InnerProduct::value(std::span<const double> v) {
  double sum = 0;
  for (std::size_t t = 0; t < v.size() / 2; ++t) sum += v[t] * v[v.size() / 2 + t];
  return sum;
}

namespace {

// One factor's messages of a row as moments, with s = m^2 / (m^2 + v) and 1 - s.
struct Side {
  double *mean, *variance, *signal, *rest;

  // One division per message: r = 1 / (rho (tau^2 + rho)) gives v = r (tau^2 + rho), s = r rho tau^2, 1 - s = r rho^2.
  // False if a message is uniform or r leaves the range of double.
  bool read(const PortView& view, std::size_t slot) const {
    const double* const tau = view.tau + view.offset(0, slot);
    const double* const rho = view.rho + view.offset(0, slot);
    int bad = 0;
    for (std::size_t t = 0; t < view.terms; ++t) {
      const bool point = rho[t] == kInfinity;
      const double square = tau[t] * tau[t], sum = square + rho[t];
      const double r = 1 / (rho[t] * sum);
      const double v = point ? 0.0 : r * sum;
      variance[t] = v;
      mean[t] = point ? tau[t] : tau[t] * v;
      signal[t] = point ? (tau[t] != 0 ? 1.0 : 0.0) : r * rho[t] * square;
      rest[t] = point ? (tau[t] != 0 ? 0.0 : 1.0) : r * rho[t] * rho[t];
      bad += !(point || (r > 0 && r < kInfinity));
    }
    return bad == 0;
  }
};

// The working arrays of one row, cut from the batch's scratch memory.
struct Row {
  static constexpr std::size_t kArrays = 16;  // the unfused way needs 4 more per term; 32 are there
  explicit Row(const Batch& batch) : terms(batch.reads[0].terms), memory(batch.scratch) {}

  double* array(std::size_t i) const { return memory + i * terms; }
  Side x() const { return {array(0), array(1), array(2), array(3)}; }
  Side y() const { return {array(4), array(5), array(6), array(7)}; }
  double* mean() const { return array(8); }             // of each product
  double* variance() const { return array(9); }
  double* later_means() const { return array(10); }     // sums over all later products
  double* later_variances() const { return array(11); }
  double* tau(int side) const { return array(side == 0 ? 12 : 14); }  // results
  double* rho(int side) const { return array(side == 0 ? 13 : 15); }

  std::size_t terms;
  double* memory;
};

// The unfused way, message by message: for uniform messages, and where squares leave the range of double.
struct Unfused {
  Unfused(const Batch& batch, std::size_t slot) : x(batch.reads[0]), y(batch.reads[1]), c(slot) {
    const Row row(batch);
    auto* const room = reinterpret_cast<Gaussian*>(row.array(Row::kArrays));
    products = {room, row.terms};
    cavities = {room + row.terms, row.terms};
    for (std::size_t t = 0; t < row.terms; ++t) {
      ::new (&products[t]) Gaussian(Product::to_z(Gaussian(x.at(0, c, t)), Gaussian(y.at(0, c, t))));
      ::new (&cavities[t]) Gaussian;
    }
  }
  void form_cavities(const Gaussian& total) { Sum::to_terms(products, total, {}, cavities); }
  Gaussian to_x(std::size_t t) const { return Product::to_factor(Gaussian(y.at(0, c, t)), cavities[t]); }
  Gaussian to_y(std::size_t t) const { return Product::to_factor(Gaussian(x.at(0, c, t)), cavities[t]); }

  const PortView &x, &y;
  std::size_t c;
  std::span<Gaussian> products, cavities;
};

// Moments of both sides for every slot; a side that all slots share is read once.
class Sides {
 public:
  Sides(const Batch& batch, const Row& row) : x_(batch.reads[0]), y_(batch.reads[1]), row_(row) {}
  bool read(std::size_t slot) {
    if (slot == 0 || x_.column != 0) x_usable_ = row_.x().read(x_, slot);
    if (slot == 0 || y_.column != 0) y_usable_ = row_.y().read(y_, slot);
    return x_usable_ && y_usable_;
  }

 private:
  const PortView &x_, &y_;
  const Row& row_;
  bool x_usable_ = false, y_usable_ = false;
};

// m_t and v_t of every product of the row.
void form_products(const Row& row) {
  const Side x = row.x(), y = row.y();
  double *const mean = row.mean(), *const variance = row.variance();
  for (std::size_t t = 0; t < row.terms; ++t) {
    const double mx = x.mean[t], vx = x.variance[t], my = y.mean[t], vy = y.variance[t];
    mean[t] = mx * my;
    variance[t] = (vx + mx * mx) * vy + my * my * vx;
  }
}

void form_later_sums(const Row& row) {
  double mean = 0, variance = 0;
  for (std::size_t t = row.terms; t-- > 0;) {
    row.later_means()[t] = mean;
    row.later_variances()[t] = variance;
    mean += row.mean()[t];
    variance += row.variance()[t];
  }
}

// All messages of one row to x, y or both; false if one of them is not valid.
template <bool kToX, bool kToY>
bool backward_row(const Row& row, double total_mean, double total_variance) {
  const Side x = row.x(), y = row.y();
  const double *const m = row.mean(), *const v = row.variance();
  const double *const later_m = row.later_means(), *const later_v = row.later_variances();
  double *const x_tau = row.tau(0), *const x_rho = row.rho(0), *const y_tau = row.tau(1), *const y_rho = row.rho(1);
  double earlier_m = 0, earlier_v = 0;
  int bad = 0;
  for (std::size_t t = 0; t < row.terms; ++t) {
    const double c = total_mean - (earlier_m + later_m[t]), k = total_variance + (earlier_v + later_v[t]);
    earlier_m += m[t];
    earlier_v += v[t];
    const double to_x_d = k + y.rest[t] * c * c, to_y_d = k + x.rest[t] * c * c;
    // One division serves both.
    const double inverse = 1 / (kToX && kToY ? to_x_d * to_y_d : kToX ? to_x_d : to_y_d);
    const auto result = [&](const Side& other, double share, double* tau, double* rho) {
      const double gain = other.signal[t] * other.mean[t];            // s m
      const double weight = other.signal[t] * gain * share * inverse;  // s^2 m / d
      tau[t] = weight * c;
      rho[t] = weight * gain;
      bad += !(rho[t] < kInfinity && std::abs(tau[t]) < kInfinity);
    };
    if constexpr (kToX) result(y, kToY ? to_y_d : 1.0, x_tau, x_rho);
    if constexpr (kToY) result(x, kToX ? to_x_d : 1.0, y_tau, y_rho);
  }
  return bad == 0;
}

template <bool kTracked, bool kToX, bool kToY>
void backward(const Batch& batch, Outcome& outcome) {
  const Row row(batch);
  Sides sides(batch, row);
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
      done = backward_row<kToX, kToY>(row, total.mean(), total.variance());
    }
    if (done) {
      for (std::size_t t = 0; t < row.terms; ++t) {
        const auto i = out + static_cast<std::ptrdiff_t>(t);
        if constexpr (kToX) x_sink.store<kTracked>(i, {row.tau(0)[t], row.rho(0)[t]}, c, outcome);
        if constexpr (kToY) y_sink.store<kTracked>(i, {row.tau(1)[t], row.rho(1)[t]}, c, outcome);
      }
    } else {
      Unfused unfused(batch, c);
      unfused.form_cavities(total);
      for (std::size_t t = 0; t < row.terms; ++t) {
        const auto i = out + static_cast<std::ptrdiff_t>(t);
        if constexpr (kToX) x_sink.store<kTracked>(i, unfused.to_x(t), c, outcome);
        if constexpr (kToY) y_sink.store<kTracked>(i, unfused.to_y(t), c, outcome);
      }
    }
  }
}

}  // namespace

template <bool kTracked>
void InnerProduct::to_total(const Batch& batch, Outcome& outcome) {
  const Row row(batch);
  Sides sides(batch, row);
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

template <bool kTracked>
void InnerProduct::to_x(const Batch& batch, Outcome& outcome) {
  backward<kTracked, true, false>(batch, outcome);
}
template <bool kTracked>
void InnerProduct::to_y(const Batch& batch, Outcome& outcome) {
  backward<kTracked, false, true>(batch, outcome);
}
template <bool kTracked>
void InnerProduct::to_x_and_y(const Batch& batch, Outcome& outcome) {
  backward<kTracked, true, true>(batch, outcome);
}

template void InnerProduct::to_total<false>(const Batch&, Outcome&);
template void InnerProduct::to_total<true>(const Batch&, Outcome&);
template void InnerProduct::to_x<false>(const Batch&, Outcome&);
template void InnerProduct::to_x<true>(const Batch&, Outcome&);
template void InnerProduct::to_y<false>(const Batch&, Outcome&);
template void InnerProduct::to_y<true>(const Batch&, Outcome&);
template void InnerProduct::to_x_and_y<false>(const Batch&, Outcome&);
template void InnerProduct::to_x_and_y<true>(const Batch&, Outcome&);

}  // namespace dma
