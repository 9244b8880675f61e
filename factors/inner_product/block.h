// Working arrays for a block of slots at a time. Rows of a few terms are too short for a processor to get going; a block of
// them is as good as one long row.
#pragma once

#include <algorithm>
#include <span>

#include "factors/inner_product/moments.h"
#include "factors/product.h"
#include "factors/sum.h"

namespace dma::inner_product {

// The arrays of one block, cut from the call's scratch memory: as many slots as make up kBlockTerms, or one.
struct Block {
  static constexpr std::size_t kArrays = 18;
  static constexpr std::size_t kBlockTerms = 32;
  // The unfused way needs 4 more for each term of one slot.
  static_assert(kArrays * kBlockTerms + 4 * kBlockTerms <= kLeastScratch);

  explicit Block(const Call& call)
      : terms(call.reads[0].terms), capacity(std::max<std::size_t>(1, kBlockTerms / terms)), memory(call.scratch) {}

  double* array(std::size_t i) const { return memory + i * capacity * terms; }
  Side x() const { return {array(0), array(1), array(2), array(3), array(4)}; }
  Side y() const { return {array(5), array(6), array(7), array(8), array(9)}; }
  double* mean() const { return array(10); }            // of each product
  double* variance() const { return array(11); }
  double* cavity_mean() const { return array(12); }     // of the message from the sum to each product
  double* cavity_variance() const { return array(13); }
  double* tau(int side) const { return array(side == 0 ? 14 : 16); }  // results
  double* rho(int side) const { return array(side == 0 ? 15 : 17); }

  std::size_t terms, capacity;
  double* memory;
};

// The unfused way, message by message: for uniform messages, and where squares leave the range of double.
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

// Moments of both sides for the slots of a block; a side that all slots share is read once.
class Sides {
 public:
  Sides(const Call& call, const Block& block, bool x_signal, bool y_signal)
      : x_{call.reads[0], block.x(), x_signal}, y_{call.reads[1], block.y(), y_signal}, block_(block) {
    for (Source* source : {&x_, &y_})
      if (source->view.column == 0) {
        source->usable = source->side.read(source->view, 0, block.terms, source->with_signal);
        source->side.repeat(block.terms, block.capacity * block.terms);
      }
  }
  bool read(std::size_t first_slot, std::size_t slots) {
    for (Source* source : {&x_, &y_})
      if (source->view.column != 0)
        source->usable = source->side.read(source->view, first_slot, slots * block_.terms, source->with_signal);
    return x_.usable && y_.usable;
  }

 private:
  struct Source {
    const PortView& view;
    Side side;
    bool with_signal, usable = false;
  };
  Source x_, y_;
  const Block& block_;
};

// m_t and v_t of every product.
inline void form_products(const Block& block, std::size_t slots) {
  const Side x = block.x(), y = block.y();
  double *const mean = block.mean(), *const variance = block.variance();
  DMA_INDEPENDENT
  for (std::size_t t = 0; t < slots * block.terms; ++t) {
    const double mx = x.mean[t], vx = x.variance[t], my = y.mean[t], vy = y.variance[t];
    mean[t] = mx * my;
    variance[t] = (vx + mx * mx) * vy + my * my * vx;
  }
}

}  // namespace dma::inner_product
