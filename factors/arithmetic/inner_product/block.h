// Working arrays for a block of slots. Rows of a few terms are too short for vector loops; a block of them is as good
// as one long row.
#pragma once

#include <algorithm>
#include <span>

#include "factors/arithmetic/inner_product/moments.h"
#include "factors/arithmetic/product.h"
#include "factors/arithmetic/sum.h"

namespace dma::inner_product {

// The arrays of one block, cut from the call's scratch memory: several slots of few terms, or one.
struct Block {
  static constexpr std::size_t kArrays = 18;
  // Every loop over a block has a fixed cost: with many terms, a block has as many slots as fit.
  static constexpr std::size_t kFewTerms = 32;
  // The unfused way needs 4 more arrays of one slot's terms.
  static_assert((kArrays + 4) * kFewTerms <= kLeastScratch && (kArrays + 4) * kManyTerms <= kScratchOfMany);

  explicit Block(const Call& call)
      : terms(call.reads[0].terms),
        capacity(std::max<std::size_t>(1, (call.columns * terms < kManyTerms ? kFewTerms : kManyTerms) / terms)),
        memory(call.scratch) {}

  double* array(std::size_t i) const { return memory + i * capacity * terms; }
  Side x() const { return {array(0), array(1), array(2), array(3), array(4)}; }
  Side y() const { return {array(5), array(6), array(7), array(8), array(9)}; }
  double* mean() const { return array(10); }  // per product
  double* variance() const { return array(11); }
  double* cavity_mean() const { return array(12); }  // the sum's message to each product
  double* cavity_variance() const { return array(13); }
  double* tau(int side) const { return array(side == 0 ? 14 : 16); }  // results
  double* rho(int side) const { return array(side == 0 ? 15 : 17); }

  std::size_t terms, capacity;
  double* memory;
};

// The unfused way, message by message: for uniform messages, and if squares overflow.
struct Unfused {
  Unfused(const Call& call, std::size_t slot) : x(call.reads[0]), y(call.reads[1]), c(slot) {
    const Block block(call);
    auto* const room = reinterpret_cast<Gaussian*>(block.array(Block::kArrays));
    products = {room, block.terms};
    cavities = {room + block.terms, block.terms};
    for (std::size_t t = 0; t < block.terms; ++t) {
      ::new (&products[t]) Gaussian(Product::to_z(Gaussian(x.at(0, c, t)), Gaussian(y.at(0, c, t))));
      ::new (&cavities[t]) Gaussian;
    }
  }
  void form_cavities(const Gaussian& total) { Sum::to_terms(products, total, {}, cavities); }

  const PortView &x, &y;
  std::size_t c;
  std::span<Gaussian> products, cavities;
};

// Moments of both sides for the slots of a block, and of their products; a side shared by all slots is read once.
class Sides {
 public:
  // With `knows_y`, observed values of the second side are not copied: see known().
  Sides(const Call& call, const Block& block, bool x_signal, bool y_signal, bool knows_y)
      : x_{call.reads[0], block.x(), x_signal},
        y_{call.reads[1], block.y(), y_signal},
        block_(block),
        knows_y_(knows_y) {
    for (Source* source : {&x_, &y_})
      if (source->view.column == 0) {
        source->usable = source->side.read(source->view, 0, block.terms, source->with_signal);
        source->side.repeat(block.terms, block.capacity * block.terms);
      }
  }
  bool read(std::size_t first_slot, std::size_t slots) {
    const std::size_t count = slots * block_.terms;
    known_ = knows_y_ ? known_values(y_.view, first_slot, count) : nullptr;
    if (x_.view.column != 0) x_.read(first_slot, count);
    if (y_.view.column != 0 && known_ == nullptr) y_.read(first_slot, count);
    return x_.usable && (known_ != nullptr || y_.usable);
  }
  // The values of the second side of the slots that were read, if all are known exactly; otherwise null.
  const double* known() const { return known_; }

  // m_t and v_t of every product.
  void form_products(std::size_t slots) const {
    const Side x = x_.side, y = y_.side;
    const double* const known = known_;
    double *const mean = block_.mean(), *const variance = block_.variance();
    if (known != nullptr) {
      DMA_INDEPENDENT
      for (std::size_t t = 0; t < slots * block_.terms; ++t) {
        mean[t] = x.mean[t] * known[t];
        variance[t] = known[t] * known[t] * x.variance[t];
      }
      return;
    }
    DMA_INDEPENDENT
    for (std::size_t t = 0; t < slots * block_.terms; ++t) {
      const double mx = x.mean[t], vx = x.variance[t], my = y.mean[t], vy = y.variance[t];
      mean[t] = mx * my;
      variance[t] = (vx + mx * mx) * vy + my * my * vx;
    }
  }

 private:
  struct Source {
    const PortView& view;
    Side side;
    bool with_signal, usable = false;
    void read(std::size_t first_slot, std::size_t count) { usable = side.read(view, first_slot, count, with_signal); }
  };
  static const double* known_values(const PortView& view, std::size_t first_slot, std::size_t count) {
    if (view.column == 0) return nullptr;
    const double* const rho = view.rho + view.offset(0, first_slot);
    std::int64_t others = 0;
    for (std::size_t t = 0; t < count; ++t) others += rho[t] == kInfinity ? 0 : 1;
    return others == 0 ? view.tau + view.offset(0, first_slot) : nullptr;
  }

  Source x_, y_;
  const Block& block_;
  const bool knows_y_;
  const double* known_ = nullptr;
};

}  // namespace dma::inner_product
